//! Columns of `zpool iostat`: groups in the title above, halves of a group in the header.

use crate::text::number::{decimal, scaled};
use crate::text::words;
use record::imported::Quantity::{self, *};

/// What a cell counts towards.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Cell {
    /// A number in steps of 1024.
    Count(Quantity),
    /// A time; microseconds of it are kept.
    Time(Quantity),
    /// Space that is free: with what is used, the capacity.
    Free,
    /// I/Os in a queue of the vdev at that instant, waiting or issued.
    Queued,
    /// Waits of one class of I/O, which have no place of their own.
    Dropped,
    /// Not known here.
    Unread,
}

const WAITS: [&str; 7] = ["total_wait", "disk_wait", "syncq_wait", "asyncq_wait", "scrub", "trim", "rebuild"];
const QUEUES: [&str; 7] = [
    "syncq_read",
    "syncq_write",
    "asyncq_read",
    "asyncq_write",
    "scrubq_read",
    "trimq_write",
    "rebuildq_write",
];

/// The groups of a title: `capacity operations bandwidth total_wait ...`; absent when the line is none.
pub(super) fn title(line: &str) -> Option<Vec<&'static str>> {
    let known = ["capacity", "operations", "bandwidth"].iter().chain(&WAITS).chain(&QUEUES);
    let words = words(line);
    let groups: Option<Vec<&str>> = words.iter().map(|w| known.clone().find(|k| *k == w).copied()).collect();
    groups.filter(|g| g.starts_with(&["capacity", "operations", "bandwidth"]))
}

/// The cells of a header below these groups.
pub(super) fn cells(groups: &[&'static str], header: &[&str]) -> Vec<Cell> {
    let mut groups = groups.iter().copied();
    let mut left = 0;
    let mut group = "";
    let mut cells = Vec::new();
    for name in header {
        if left == 0 {
            group = groups.next().unwrap_or("");
            left = width(group);
        }
        left = left.saturating_sub(1);
        cells.push(cell(group, name));
    }
    cells
}

/// The groups that option -H prints without a title, by the number of cells.
pub(super) fn groups_of(count: usize) -> Option<Vec<&'static str>> {
    let base = ["capacity", "operations", "bandwidth"];
    let with = |more: &[&'static str]| base.iter().chain(more).copied().collect::<Vec<_>>();
    // Older releases have no rebuild, and no trim before that.
    let rest = count.checked_sub(6)?;
    let candidates = [(7, 0), (6, 0), (5, 0), (0, 7), (0, 6), (0, 5), (7, 7), (6, 6), (5, 5), (0, 0)];
    let total = |list: &[&'static str]| list.iter().map(|g| width(g)).sum::<usize>();
    candidates.iter().find_map(|(waits, queues)| {
        let more = [WAITS.get(..*waits)?, QUEUES.get(..*queues)?].concat();
        (total(&more) == rest).then(|| with(&more))
    })
}

/// The names below a group, as the tool would print them.
pub(super) fn names_below(groups: &[&'static str]) -> Vec<&'static str> {
    let below = |group: &&str| match *group {
        "capacity" => vec!["alloc", "free"],
        g if width(g) == 1 => vec!["wait"],
        g if QUEUES.contains(&g) => vec!["pend", "activ"],
        _ => vec!["read", "write"],
    };
    groups.iter().flat_map(below).collect()
}

fn width(group: &str) -> usize {
    if matches!(group, "scrub" | "trim" | "rebuild") { 1 } else { 2 }
}

/// `total_wait` is the whole stay, `disk_wait` the time at the device without ZFS's queues (zpool-iostat(8)).
fn cell(group: &str, name: &str) -> Cell {
    match (group, name) {
        ("capacity", "alloc" | "used") => Cell::Count(UsedBytes),
        ("capacity", "free" | "avail") => Cell::Free,
        ("operations", "read") => Cell::Count(ReadIops),
        ("operations", "write") => Cell::Count(WriteIops),
        ("bandwidth", "read") => Cell::Count(ReadBytesPerS),
        ("bandwidth", "write") => Cell::Count(WriteBytesPerS),
        ("total_wait", "read") => Cell::Time(ReadResponseUs),
        ("total_wait", "write") => Cell::Time(WriteResponseUs),
        ("disk_wait", "read") => Cell::Time(ReadServiceUs),
        ("disk_wait", "write") => Cell::Time(WriteServiceUs),
        (_, "pend" | "activ") => Cell::Queued,
        (group, _) if WAITS.contains(&group) => Cell::Dropped,
        _ => Cell::Unread,
    }
}

/// A cell's number; a dash is NaN. Absent when it is none.
pub(super) fn number(cell: Cell, text: &str) -> Option<f64> {
    match (cell, text) {
        (_, "-") => Some(f64::NAN),
        (Cell::Time(_), _) => microseconds(text),
        // A column that is not kept may hold anything.
        (Cell::Dropped | Cell::Unread, _) => Some(f64::NAN),
        _ => scaled(text, 1024.0),
    }
}

/// `131us`, `9ms`, `1.5s`; without a unit nanoseconds (option -p).
pub(super) fn microseconds(text: &str) -> Option<f64> {
    let at = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
    let (figure, unit) = text.split_at_checked(at)?;
    let factor = match unit {
        "" | "ns" => 1e-3,
        "us" => 1.0,
        "ms" => 1e3,
        "s" => 1e6,
        "m" => 60e6,
        _ => return None,
    };
    decimal(figure).map(|n| n * factor)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_sizes() {
        assert_eq!(number(Cell::Time(ReadResponseUs), "9ms"), Some(9000.0));
        assert_eq!(number(Cell::Time(ReadResponseUs), "131072"), Some(131.072));
        assert_eq!(number(Cell::Count(UsedBytes), "1.5K"), Some(1536.0));
        assert!(number(Cell::Count(UsedBytes), "-").unwrap().is_nan());
        assert_eq!(number(Cell::Time(ReadResponseUs), "9x"), None);
    }

    #[test]
    fn groups_without_a_title() {
        for count in [6, 16, 17, 18, 20, 28] {
            let groups = groups_of(count);
            let names = groups.as_deref().map(names_below);
            if let Some(names) = names {
                assert_eq!(names.len(), count);
            }
        }
        assert_eq!(groups_of(6).map(|g| g.len()), Some(3));
        assert_eq!(groups_of(5), None);
    }
}
