//! The horizontal layout: one row per interval, a group of columns per disk, processors at the end.

use super::header::{Flavour, of_group, processor};
use crate::format::columns::{Column, Table};
use crate::out::Out;
use crate::text::words;
use record::imported::PlaceKind;

/// Most disks in a row: the tools print four unless told.
const GROUPS_MAX: usize = 1024;

/// Reads rows of the horizontal layout.
#[derive(Debug, Default)]
pub(super) struct Plain {
    /// Disks in order, each with the columns of its group.
    groups: Vec<(String, Table)>,
    /// Columns before the first group and after the last.
    host: Option<(Table, usize)>,
    after: usize,
}

impl Plain {
    /// Takes a header, and the names in the line above it.
    pub fn new(flavour: Flavour, title: &str, header: &str, out: &mut Out<'_>) -> Self {
        let names: Vec<&str> = words(title).into_iter().filter(|w| !matches!(*w, "tty" | "cpu")).collect();
        let (mut before, mut groups, mut after) = (Vec::new(), Vec::<Vec<Column>>::new(), Vec::new());
        let mut first = "";
        for word in words(header) {
            match of_group(flavour, word) {
                Column::Unread if groups.is_empty() => before.push(processor(word)),
                Column::Unread => after.push(processor(word)),
                column => {
                    if groups.is_empty() || word == first {
                        first = word;
                        groups.push(Vec::new());
                    }
                    if let Some(group) = groups.last_mut() {
                        group.push(column);
                    }
                }
            }
        }
        if !groups.is_empty() && names.len() != groups.len() {
            let told = format!("names of {} disks above the columns of each", groups.len());
            out.complain(&told, title);
        }
        let before_count = before.len();
        before.extend(&after);
        let host = (!before.is_empty()).then(|| (Table::new(&before, out), before_count));
        let name = |n: usize| names.get(n).map_or_else(|| format!("disk {}", n + 1), |n| (*n).to_owned());
        let groups: Vec<(String, Table)> =
            groups.iter().take(GROUPS_MAX).enumerate().map(|(n, g)| (name(n), Table::new(g, out))).collect();
        Self { groups, host, after: after.len() }
    }

    /// Numbers in a row.
    pub fn len(&self) -> usize {
        let host = self.host.as_ref().map_or(0, |(table, _)| table.len());
        host + self.groups.iter().map(|(_, t)| t.len()).sum::<usize>()
    }

    /// Whether there are processors and no disks: the table above that of the devices.
    pub fn is_host_only(&self) -> bool {
        self.groups.is_empty()
    }

    /// Pushes a row of as many numbers as there are columns.
    pub fn push(&self, numbers: &[f64], kind: fn(&str) -> PlaceKind, out: &mut Out<'_>) {
        let mut rest = numbers;
        if let Some((table, before)) = &self.host {
            let (head, tail) = rest.split_at((*before).min(rest.len()));
            let (groups, last) = tail.split_at(tail.len().saturating_sub(self.after));
            if table.keeps() {
                let host = out.place(PlaceKind::Host, "");
                table.push(host, &[head, last].concat(), out);
            }
            rest = groups;
        }
        for (name, table) in &self.groups {
            let (own, others) = rest.split_at(table.len().min(rest.len()));
            let place = out.place(kind(name), name);
            table.push(place, own, out);
            rest = others;
        }
    }
}
