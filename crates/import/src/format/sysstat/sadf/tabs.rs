//! `sadf -p`: tabs, one figure per line, for the pattern processors of a shell.

use super::line::Beginning;
use crate::format::sysstat::activity::{Item, Known as Table, activity};
use crate::format::sysstat::cells::is_sum;
use crate::format::{Format, LineFormat, Reads, Took};
use crate::out::Out;
use crate::recognise::{Head, Likeness};
use crate::text::number::decimal;
use record::imported::{Origin, PlaceId, Quantity};
use std::collections::HashMap;

/// This format.
pub(crate) const FORMAT: Format = Format {
    name: "sadf-tabs",
    title: "sadf -p of sysstat 5 to 12: one figure per line",
    recognise,
    reads: Reads::Lines { new: || Box::new(Tabs::default()), begins: is_line },
};

/// Names of figures that are kept in mind.
const FIGURES_MAX: usize = 1024;

fn recognise(head: &Head<'_>) -> Option<Likeness> {
    let lines = head.count(is_line);
    let line = head.find(is_line).filter(|_| lines >= 2 || head.lines.len() < 3)?;
    Likeness::by_line(92, "line", line)
}

/// `host  5  2011-05-28 01:07:44 UTC  sda  tps  2.20`, between tabs.
fn is_line(line: &str) -> bool {
    let cells: Vec<&str> = line.split('\t').collect();
    match cells.as_slice() {
        [_, interval, time, _, field, value] => {
            let is_name =
                field.contains(['/', '%', '-']) || matches!(*field, "tps" | "await" | "blocked" | "all");
            interval.parse::<i64>().is_ok()
                && super::time::moment(time).is_some()
                && decimal(field).is_none()
                && (is_name || field.starts_with("kb") || field.ends_with("tps"))
                && decimal(value).is_some()
        }
        _ => false,
    }
}

/// What a figure is about, what it is, and what turns its unit into ours.
type Figure = (Item, Quantity, f64);

/// The reader.
#[derive(Default)]
struct Tabs {
    beginning: Beginning,
    /// The item that the figures so far belong to, as written.
    name: String,
    item: Option<Item>,
    /// Its figures, and where the last of them stands.
    values: Vec<(Quantity, f64)>,
    origin: Origin,
    /// What a figure is, by its name and whether it has an item.
    figures: HashMap<(String, bool), Option<Figure>>,
    skipped: usize,
}

impl LineFormat for Tabs {
    fn line(&mut self, line: &str, out: &mut Out<'_>) -> Took {
        if line.trim().is_empty() {
            return Took::Yes;
        }
        let rest = match self.beginning.same(line) {
            Some(rest) => rest,
            None => {
                self.push(out);
                match self.beginning.read(line, '\t', out) {
                    Some((rest, _)) => rest,
                    None => return Took::No,
                }
            }
        };
        if self.beginning.event(rest, out) {
            return Took::Yes;
        }
        let mut cells = rest.split('\t');
        let (Some(name), Some(field), Some(value), None) =
            (cells.next(), cells.next(), cells.next().and_then(decimal), cells.next())
        else {
            out.complain("an item, a figure's name and a number", rest);
            return Took::Yes;
        };
        let Some((item, quantity, factor)) = self.figure(name, field, out) else {
            self.skipped += 1;
            return Took::Yes;
        };
        let is_again = self.values.iter().any(|(q, _)| *q == quantity) && !is_sum(quantity);
        if self.name != name || self.item != Some(item) || is_again {
            self.push(out);
            self.name = name.to_owned();
            self.item = Some(item);
        }
        match self.values.iter_mut().find(|(q, _)| *q == quantity) {
            Some((_, sum)) => *sum += value * factor,
            None => self.values.push((quantity, value * factor)),
        }
        self.origin = out.origin();
        Took::Yes
    }

    fn end(&mut self, out: &mut Out<'_>) {
        self.push(out);
        if std::mem::take(&mut self.skipped) > 0 {
            out.remark("figures that say nothing about storage were left unread");
        }
    }
}

impl Tabs {
    /// What a figure is. The item tells tables apart: `-` is the host, `all` and `cpu0` are processors.
    fn figure(&mut self, name: &str, field: &str, out: &mut Out<'_>) -> Option<Figure> {
        if name == "sum" && matches!(field, "all" | "intr/s") {
            return Some((Item::Interrupt, Quantity::InterruptsPerS, 1.0));
        }
        let has_item = name != "-";
        let key = (field.to_owned(), has_item);
        if let Some(known) = self.figures.get(&key) {
            return *known;
        }
        let columns: &[&str] = match (has_item, field) {
            (false, _) => &[field],
            (true, "intr/s") => &[],
            (true, _) if field.starts_with('%') && field != "%util" => &["CPU", field],
            (true, _) if field.starts_with("fch_") => &["FCHOST", field],
            (true, _) => &["DEV", field],
        };
        let is_device = matches!(
            crate::format::sysstat::device_columns::column(field),
            crate::format::sysstat::device_columns::Column::Kept(..)
        );
        let known = if columns.first() == Some(&"DEV") && !is_device || columns.is_empty() {
            None
        } else {
            match activity(columns, None, out) {
                Table::Kept(table) => {
                    table.columns.iter().flatten().next().map(|(q, f)| (table.item, *q, *f))
                }
                Table::Skipped => None,
            }
        };
        if self.figures.len() < FIGURES_MAX {
            self.figures.insert(key, known);
        }
        known
    }

    /// The figures of one item become a row.
    fn push(&mut self, out: &mut Out<'_>) {
        let Some(item) = self.item.filter(|_| !self.values.is_empty()) else { return };
        let (kind, name) = item.place(&self.name);
        let place: PlaceId = out.place(kind, &name);
        let mut origin = self.origin;
        if origin.block != out.origin().block {
            // Its text has gone.
            (origin.block, origin.start, origin.end) = (out.origin().block, 0, 0);
        }
        out.put_from(origin, place, &self.values);
        self.values.clear();
    }
}
