//! The tables of sar, by their headers.

use super::dialect::of_host;
use crate::clock::time_of_day;
use crate::format::columns::{Column, Table};
use crate::out::Out;
use crate::text::number::decimal;
use crate::text::words;

/// A table that a header begins.
#[derive(Clone, Debug)]
pub(super) enum Activity {
    /// A row per device, path or adapter: the names of its columns. What they mean depends on the platform.
    Devices(Vec<String>),
    /// A row for the host, or one per processor: its numbers, whether a processor is named first, and the text columns in
    /// which `swpq-sz` begins, where empty cells are printed as blanks.
    Host { table: Table, per_processor: bool, blank_from: Option<usize> },
    /// Something that is no matter here.
    Skipped,
}

impl Activity {
    /// Of the names of a header; `line` is the header as it stands.
    pub fn new(names: &[&str], line: &str, out: &mut Out<'_>) -> Self {
        if is_device_header(names) {
            return Self::Devices(names.iter().map(|n| (*n).to_owned()).collect());
        }
        // HP-UX with processor sets (-P): rows of a set and a processor.
        if names.contains(&"pset") {
            return Self::Skipped;
        }
        let columns: Vec<Column> = names.iter().map(|n| of_host(n)).collect();
        let table = Table::new(&columns, out);
        if !table.keeps() {
            return Self::Skipped;
        }
        let per_processor = columns.first() == Some(&Column::Name);
        Self::Host { table, per_processor, blank_from: line.find("swpq-sz") }
    }

    /// Whether these cells have the shape of a row.
    pub fn fits(&self, cells: &[&str]) -> bool {
        let numeric = |cells: &[&str]| cells.iter().all(|c| decimal(c).is_some());
        match self {
            Self::Devices(names) => cells.len() == names.len() && cells.get(1..).is_some_and(numeric),
            Self::Host { table, per_processor: true, .. } => {
                cells.len() == table.len() + 1 && cells.get(1..).is_some_and(numeric)
            }
            Self::Host { table, blank_from, .. } => {
                (cells.len() == table.len() || blank_from.is_some() && cells.len() == 2) && numeric(cells)
            }
            Self::Skipped => false,
        }
    }

    /// What a row should be.
    pub fn expected(&self) -> String {
        match self {
            Self::Devices(names) => format!("a device and {} numbers", names.len().saturating_sub(1)),
            Self::Host { table, per_processor: true, .. } => {
                format!("a processor and {} numbers", table.len())
            }
            Self::Host { table, .. } => format!("{} numbers", table.len()),
            Self::Skipped => String::new(),
        }
    }
}

/// Whether these are the names of the device table: `device %busy avque r+w/s blks/s avwait avserv`, of adapters, of paths.
pub(super) fn is_device_header(names: &[&str]) -> bool {
    matches!(names.first(), Some(&("device" | "lunpath" | "ctlr")))
        && names.contains(&"avwait")
        && names.contains(&"avserv")
}

/// The time that begins a line: hours, minutes and seconds. With less, it may be a sentence that begins with a time.
pub(super) fn time(word: &str) -> Option<f64> {
    time_of_day(word).filter(|_| word.matches(':').count() == 2)
}

/// The time and the names of a header. Untimed headers follow others: several activities were asked for.
pub(super) fn header(line: &str, after_header: bool) -> Option<(Option<f64>, Vec<&str>)> {
    if line.len() > 400 {
        return None;
    }
    let mut names = words(line);
    let time = names.first().and_then(|w| time(w));
    if time.is_some() {
        names.remove(0);
    } else if !after_header && !is_device_header(&names) {
        return None;
    }
    let plain = names.len() >= 2 && names.iter().all(|n| decimal(n).is_none() && time_of_day(n).is_none());
    // Under a time any names will do: `freemem freeswap`.
    let marked = time.is_some() || names.iter().any(|n| n.contains(['/', '%']) || n.ends_with("-sz"));
    let told = names.iter().any(|n| {
        let n = n.to_ascii_lowercase();
        n.contains("restart") || n.contains("change") || n.contains('<')
    });
    (plain && marked && !told).then_some((time, names))
}

/// The line of units under the header of HP-UX `sar -H`.
pub(super) fn is_units(line: &str) -> bool {
    let words = words(line);
    words.len() > 2
        && words.iter().all(|w| matches!(*w, "%age" | "%" | "MB/s" | "MB" | "num" | "msec" | "ms"))
}
