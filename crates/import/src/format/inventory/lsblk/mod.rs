//! `lsblk` of util-linux: the tree and the list, `-P` pairs; [`json`] reads `-J`.
//!
//! Sizes are rounded to three digits unless `-b` was given. A multipath device stands below each of its paths, a logical
//! volume below each of its disks; so one device may be told several times.

mod device;
pub(super) mod json;
mod tree;

use crate::format::{Format, LineFormat, Reads, Took};
use crate::out::Out;
use crate::recognise::{Head, Likeness};
use crate::text::words;
use device::{Device, column};
use record::imported::PlaceId;
use tree::Header;

/// This format.
pub(super) const FORMAT: Format = Format {
    name: "lsblk",
    title: "lsblk of util-linux: tree, list, pairs (-P)",
    recognise,
    reads: Reads::Lines { new: || Box::new(Lsblk::default()), begins },
};

/// Columns that lsblk can print, for recognition.
const COLUMNS: [&str; 48] = [
    "KNAME",
    "PATH",
    "MAJ:MIN",
    "FSAVAIL",
    "FSSIZE",
    "FSTYPE",
    "FSUSED",
    "FSUSE%",
    "FSVER",
    "MOUNTPOINT",
    "MOUNTPOINTS",
    "LABEL",
    "UUID",
    "PTUUID",
    "PTTYPE",
    "PARTTYPE",
    "PARTLABEL",
    "PARTUUID",
    "RA",
    "RO",
    "RM",
    "HOTPLUG",
    "MODEL",
    "SERIAL",
    "SIZE",
    "STATE",
    "OWNER",
    "GROUP",
    "MODE",
    "ALIGNMENT",
    "MIN-IO",
    "OPT-IO",
    "PHY-SEC",
    "LOG-SEC",
    "ROTA",
    "SCHED",
    "RQ-SIZE",
    "TYPE",
    "DISC-ALN",
    "DISC-GRAN",
    "DISC-MAX",
    "DISC-ZERO",
    "WWN",
    "PKNAME",
    "HCTL",
    "TRAN",
    "ZONED",
    "RAND",
];

fn recognise(head: &Head<'_>) -> Option<Likeness> {
    if let Some(line) = head.find(is_pairs) {
        return Likeness::by_line(92, "pairs", line);
    }
    let line = head.find(is_header)?;
    let score = if words(line.1).len() > 2 { 92 } else { 75 };
    Likeness::by_line(score, "header", line)
}

fn begins(line: &str) -> bool {
    is_pairs(line) || is_header(line) && words(line).len() > 2
}

/// `NAME  MAJ:MIN RM ...`: more than half of the columns are known, for new versions add some.
fn is_header(line: &str) -> bool {
    let names = words(line);
    let known = names.iter().filter(|n| COLUMNS.contains(n)).count();
    names.iter().any(|n| matches!(*n, "NAME" | "KNAME"))
        && names.first().is_some_and(|n| matches!(*n, "NAME" | "KNAME" | "PATH"))
        && names.len() > 1
        && known * 2 >= names.len()
        && (known >= 2
            || names.get(1).is_some_and(|n| matches!(*n, "MAJ:MIN" | "ZONED" | "SCHED" | "RQ-SIZE" | "ROTA")))
}

/// `NAME="sda" KNAME="sda" ...`, in any order of keys.
fn is_pairs(line: &str) -> bool {
    let first = line
        .split_once("=\"")
        .is_some_and(|(key, _)| COLUMNS.contains(&key) || matches!(key, "NAME" | "MAJ_MIN" | "FSUSE_PCT"));
    first && (line.starts_with("NAME=\"") || line.contains(" NAME=\"") || line.contains(" KNAME=\""))
}

/// The reader.
#[derive(Default)]
pub(crate) struct Lsblk {
    header: Option<Header>,
    /// The devices above the line, by depth of the tree.
    above: Vec<(String, PlaceId)>,
    /// The tree stands on its head (`-s`): what is below is what carries.
    inverse: bool,
    failed_told: bool,
}

impl LineFormat for Lsblk {
    fn line(&mut self, line: &str, out: &mut Out<'_>) -> Took {
        let trimmed = line.trim();
        if trimmed.is_empty() {
            return Took::Yes;
        }
        if is_header(trimmed) {
            self.header = Some(Header::new(line));
            self.above.clear();
            return Took::Yes;
        }
        if is_pairs(trimmed) {
            let cells = pairs(trimmed, out);
            Device { cells: &cells, parent: None }.tell(out);
            return Took::Yes;
        }
        if trimmed.starts_with("lsblk:") {
            if !std::mem::replace(&mut self.failed_told, true) {
                out.remark(&format!("lsblk reported: {trimmed}"));
            }
            return Took::Yes;
        }
        let Some(header) = &self.header else { return Took::No };
        if crate::reader::prompted(trimmed).is_some() {
            return Took::No;
        }
        let Some(row) = header.row(line) else { return Took::No };
        if header.has("TYPE") && !row.cells.iter().any(|(name, _)| name == "TYPE") {
            out.complain("a device with all columns of the header", trimmed);
        }
        self.above.truncate(row.depth);
        let parent = self.above.last().filter(|_| !self.inverse && row.depth > 0);
        if let Some(told) = (Device { cells: &row.cells, parent }).tell(out) {
            self.above.push(told);
        }
        Took::Yes
    }

    fn command(&mut self, command: &str) {
        self.inverse = command
            .split_ascii_whitespace()
            .any(|w| w == "--inverse" || w.starts_with('-') && !w.starts_with("--") && w.contains('s'));
    }
}

/// Keys and values of a line of `-P`. `\x20` in a value is a character by its number.
fn pairs(line: &str, out: &mut Out<'_>) -> Vec<(String, String)> {
    let mut cells = Vec::new();
    let mut rest = line;
    while let Some((key, after)) = rest.split_once("=\"") {
        let Some((value, next)) = after.split_once('"') else {
            out.complain("a quotation mark after the value", after);
            break;
        };
        cells.push((column(key), unescaped(value)));
        rest = next.trim_start();
    }
    cells
}

fn unescaped(value: &str) -> String {
    let mut parts = value.split("\\x");
    let mut text = parts.next().unwrap_or("").to_owned();
    for part in parts {
        match part.get(..2).and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            Some(byte) if byte.is_ascii() => {
                text.push(char::from(byte));
                text.push_str(&part[2..]);
            }
            _ => {
                text.push_str("\\x");
                text.push_str(part);
            }
        }
    }
    text
}
