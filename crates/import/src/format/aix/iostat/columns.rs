//! Columns of AIX iostat, by their names and the group they stand in.
//!
//! In the long layout (`-Dl`) a name is cut in two lines and used in several groups: `avg serv` under `read` is another
//! column than under `write`, and `avg time` stands under `queue`. Each is brought to the name that the block layout
//! (`-D` alone) has for it: `avgserv`, `avgtime`.

use crate::text::number::{decimal, scaled};
use record::imported::Quantity::{self, *};

/// Figures with K, M, G are in steps of a thousand.
const STEP: f64 = 1000.0;
const KIB: f64 = 1024.0;

/// The group of columns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Group {
    /// Transfers, and the plain report.
    #[default]
    Transfers,
    /// Reads.
    Read,
    /// Writes.
    Write,
    /// The wait queue and the service queue.
    Queue,
}

impl Group {
    /// By the word that titles it: `xfers`, `xfer:`, `read:`.
    pub fn titled(word: &str) -> Option<Self> {
        match word.trim_end_matches(':') {
            "xfer" | "xfers" => Some(Self::Transfers),
            "read" => Some(Self::Read),
            "write" => Some(Self::Write),
            "queue" => Some(Self::Queue),
            _ => None,
        }
    }
}

/// How a cell is written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Cell {
    /// A number, perhaps with K, M, G, T; times a factor.
    Number(f64),
    /// A time in milliseconds unless a letter says otherwise.
    Time,
}

/// What a column is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Column {
    /// Kept.
    Kept(Quantity, Cell),
    /// Known, and of no use here (terminal characters, blocks of unknown size).
    Dropped,
    /// Not known here.
    Unread,
}

/// The column of a name in a group.
pub(super) fn column(group: Group, name: &str) -> Column {
    use Column::{Dropped, Kept};
    let number = |quantity, factor| Kept(quantity, Cell::Number(factor));
    let time = |quantity| Kept(quantity, Cell::Time);
    match (group, name.to_ascii_lowercase().as_str()) {
        (_, "%tm_act" | "%tmact") => number(BusyPercent, 1.0),
        (_, "bps") => number(BytesPerS, 1.0),
        (_, "bread") => number(ReadBytesPerS, 1.0),
        (_, "bwrtn") => number(WriteBytesPerS, 1.0),
        (_, "kbps") => number(BytesPerS, KIB),
        (_, "kb_read") => number(ReadBytes, KIB),
        (_, "kb_wrtn") => number(WriteBytes, KIB),
        (_, "tps") => number(Iops, 1.0),
        (_, "rps") => number(ReadIops, 1.0),
        (_, "wps") => number(WriteIops, 1.0),
        (Group::Read, "avgserv") => time(ReadServiceUs),
        (Group::Read, "minserv") => time(ReadServiceMinUs),
        (Group::Read, "maxserv") => time(ReadServiceMaxUs),
        (Group::Write, "avgserv") => time(WriteServiceUs),
        (Group::Write, "minserv") => time(WriteServiceMinUs),
        (Group::Write, "maxserv") => time(WriteServiceMaxUs),
        (Group::Read | Group::Write, "timeouts") => number(Timeouts, 1.0),
        (Group::Read | Group::Write, "fails") => number(Failures, 1.0),
        (Group::Queue, "avgtime") => time(HostWaitUs),
        (Group::Queue, "mintime") => time(HostWaitMinUs),
        (Group::Queue, "maxtime") => time(HostWaitMaxUs),
        (_, "avgwqsz") => number(HostQueue, 1.0),
        (_, "avgsqsz") => number(DeviceQueue, 1.0),
        (_, "sqfull" | "servqfull" | "qfull") => number(QueueFullPerS, 1.0),
        (_, "%user") => number(CpuUserPercent, 1.0),
        (_, "%sys") => number(CpuSystemPercent, 1.0),
        (_, "%idle") => number(CpuIdlePercent, 1.0),
        (_, "%iowait") => number(CpuIowaitPercent, 1.0),
        (_, "tin" | "tout" | "physc" | "%entc" | "bkread" | "bkwrtn" | "partition-id") => Dropped,
        (_, "avgc" | "avfc" | "maxg" | "maxgc" | "maif" | "maxf" | "maxfc" | "maxr" | "maxreqs") => Dropped,
        (_, "read" | "write" | "time") => Dropped,
        _ => Column::Unread,
    }
}

/// A time in microseconds: milliseconds, or seconds or hours where a letter says so. An unknown letter is no time: taken
/// for milliseconds it would be wrong by a factor of a thousand or more.
pub(super) fn time_us(text: &str) -> Option<f64> {
    if let Some(milliseconds) = decimal(text) {
        return Some(milliseconds * 1e3);
    }
    let split = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
    let (number, letter) = text.split_at(split);
    let factor = match letter {
        "S" | "s" => 1e6,
        "H" | "h" => 3.6e9,
        _ => return None,
    };
    decimal(number).map(|n| n * factor)
}

/// The value of a cell.
pub(super) fn value(cell: Cell, text: &str) -> Option<f64> {
    match cell {
        Cell::Number(factor) => decimal(text).or_else(|| scaled(text, STEP)).map(|n| n * factor),
        Cell::Time => time_us(text),
    }
}

/// Names of a header line, where a percent sign may stand apart: `% tm_act`.
pub(super) fn names(line: &str) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    let mut percent = false;
    for word in line.split_ascii_whitespace() {
        if word == "%" {
            percent = true;
        } else {
            names.push(if std::mem::take(&mut percent) { format!("%{word}") } else { word.to_owned() });
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_of_times() {
        assert_eq!(time_us("12.4"), Some(12_400.0));
        assert_eq!(time_us("40.2S"), Some(40_200_000.0));
        assert_eq!(time_us("1.5H"), Some(5.4e9));
        assert_eq!(time_us("7.0X"), None);
        assert_eq!(value(Cell::Number(1.0), "1.2M"), Some(1.2e6));
        assert_eq!(names("Disks:  % tm_act  Kbps"), ["Disks:", "%tm_act", "Kbps"]);
    }
}
