//! The table with a row per device.

use super::header::{Flavour, column, names};
use crate::format::columns::{Column, Table, numbers, unread};
use crate::out::Out;
use crate::text::number::decimal;
use record::imported::{PlaceId, PlaceKind, facts};
use std::collections::HashMap;

/// Devices whose counts of errors are remembered.
const REMEMBERED_MAX: usize = 100_000;

/// How a line fits the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fit {
    /// It was a row, and was pushed.
    Row,
    /// It begins as a row and is too short: the rest may stand on the next line.
    Short,
    /// It was meant as a row and is none.
    Damaged,
    /// It is something else.
    Foreign,
}

/// Reads rows by the columns of their header.
#[derive(Debug)]
pub(super) struct Devices {
    table: Table,
    /// Terminals and processors, which stand on the first row only.
    tail: Option<Table>,
    name_last: bool,
    commas: bool,
    /// Which numbers count errors since boot, with the name of their fact.
    errors: Vec<(usize, &'static str)>,
    told: HashMap<PlaceId, Vec<f64>>,
}

impl Devices {
    /// Takes a header; also the remark about what it holds that is not known.
    pub fn new(flavour: Flavour, header: &str, out: &mut Out<'_>) -> (Self, Option<String>) {
        let (words, commas) = names(header);
        let all: Vec<Column> = words.iter().map(|w| column(flavour, w)).collect();
        let remark = unread(&words, &all);
        let name_last = all.last() == Some(&Column::Name);
        let tail_at = words
            .iter()
            .position(|w| matches!(*w, "tin" | "us"))
            .filter(|at| !name_last && *at > 2)
            .unwrap_or(words.len());
        let (columns, tail) = all.split_at(tail_at);
        let numbered = words.iter().filter(|w| !matches!(**w, "device" | "disk" | "lunpath"));
        let error = |name: &str| match name {
            "s/w" => Some(facts::SOFT_ERRORS),
            "h/w" => Some(facts::HARD_ERRORS),
            "trn" => Some(facts::TRANSPORT_ERRORS),
            _ => None,
        };
        let errors = numbered.enumerate().filter_map(|(n, w)| error(w).map(|e| (n, e))).collect();
        let devices = Self {
            table: Table::new(columns, out),
            tail: (!tail.is_empty()).then(|| Table::new(tail, out)),
            name_last,
            commas,
            errors,
            told: HashMap::new(),
        };
        (devices, remark)
    }

    /// What a row should be.
    pub fn expected(&self) -> String {
        format!("a device and {} numbers", self.table.len())
    }

    /// Reads a line.
    pub fn row(&mut self, line: &str, kind: fn(&str) -> PlaceKind, out: &mut Out<'_>) -> Fit {
        let Some((name, cells)) = self.split(line) else { return self.misfit(line) };
        let all = self.table.len();
        let with_tail = all + self.tail.as_ref().map_or(0, Table::len);
        if cells.len() != all && cells.len() != with_tail {
            return self.misfit(line);
        }
        let Some(numbers) = numbers(cells) else { return self.misfit(line) };
        // Option -m puts the mount point behind the name.
        let (name, mount) = match name.split_once(" (") {
            Some((name, mount)) => (name.trim_end(), mount.strip_suffix(')')),
            None => (name, None),
        };
        let place = out.place(kind(name), name);
        let (own, tail) = numbers.split_at(all);
        self.table.push(place, own, out);
        if let (Some(table), false) = (&self.tail, tail.is_empty()) {
            let host = out.place(PlaceKind::Host, "");
            table.push(host, tail, out);
        }
        self.tell(place, own, mount, out);
        Fit::Row
    }

    /// Name and cells; absent when the line is too short.
    fn split<'l>(&self, line: &'l str) -> Option<(&'l str, Vec<&'l str>)> {
        let count = self.table.len();
        let line = line.trim();
        if self.commas {
            let line = line.trim_end_matches(',');
            if self.name_last {
                let mut parts: Vec<&str> = line.splitn(count + 1, ',').map(str::trim).collect();
                return parts.pop().filter(|_| parts.len() == count).map(|name| (name, parts));
            }
            let (name, rest) = line.split_once(',')?;
            return Some((name, rest.split(',').map(str::trim).collect()));
        }
        if !self.name_last {
            let mut words = line.split_ascii_whitespace();
            return words.next().map(|name| (name, words.collect()));
        }
        // The name is all that follows the numbers: names of network filesystems may hold blanks.
        let mut rest = line;
        let mut cells = Vec::with_capacity(count);
        for _ in 0..count {
            let end = rest.find([' ', '\t'])?;
            let (cell, after) = rest.split_at(end);
            cells.push(cell);
            rest = after.trim_start();
        }
        // More numbers than columns: another row's.
        let surplus = rest.contains(' ') && rest.split(' ').next().and_then(decimal).is_some();
        (!rest.is_empty() && !surplus).then_some((rest, cells))
    }

    fn misfit(&self, line: &str) -> Fit {
        let cells: Vec<&str> = line
            .split(|c: char| c.is_ascii_whitespace() || self.commas && c == ',')
            .filter(|c| !c.is_empty())
            .collect();
        let numeric = cells.iter().filter(|c| decimal(c).is_some()).count();
        let others = cells.len() - numeric;
        let wanted = self.table.len();
        if cells.len() < 2 || numeric * 2 < wanted || numeric * 2 < cells.len() {
            Fit::Foreign
        } else if cells.len() <= wanted && others <= 1 {
            Fit::Short
        } else {
            Fit::Damaged
        }
    }

    /// Counts of errors, when they are new, and the mount point at first.
    fn tell(&mut self, place: PlaceId, numbers: &[f64], mount: Option<&str>, out: &mut Out<'_>) {
        if self.errors.is_empty() && mount.is_none() {
            return;
        }
        let counts: Vec<f64> = self.errors.iter().filter_map(|(at, _)| numbers.get(*at).copied()).collect();
        let before = self.told.get(&place);
        if before == Some(&counts) {
            return;
        }
        if let (None, Some(mount)) = (before, mount) {
            out.fact(place, "mounted_on", mount);
        }
        for ((_, name), count) in self.errors.iter().zip(&counts) {
            out.fact(place, name, *count);
        }
        if self.told.len() < REMEMBERED_MAX {
            self.told.insert(place, counts);
        }
    }
}
