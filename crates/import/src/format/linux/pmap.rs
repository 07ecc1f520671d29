//! `pmap` of Linux (procps: plain, -x, -X, -XX, -d) and of Solaris (plain, -x, -s, -xs): the mappings of a process.
//!
//! A row stands on the process and what it maps: `812: ora_pmon_DB1 [ anon ]`. Solaris `Pgsz` is the page size in use.

use crate::format::{Format, LineFormat, Reads, Took};
use crate::out::Out;
use crate::recognise::{Head, Likeness};
use crate::text::number::{decimal, scaled};
use crate::text::words;
use record::imported::Quantity::{self, HugeBytes, MappedBytes, PageBytes, ResidentBytes, SwapUsedBytes};
use record::imported::{Interval, PlaceKind, Platform, RowsKind};

/// This format.
pub(super) const FORMAT: Format = Format {
    name: "pmap",
    title: "pmap of Linux and Solaris",
    recognise,
    reads: Reads::Lines { new: || Box::new(Pmap::default()), begins: is_header },
};

fn recognise(head: &Head<'_>) -> Option<Likeness> {
    if let Some(line) = head.find(is_header) {
        return Likeness::by_line(94, "header", line);
    }
    let rows = head.count(is_row);
    let first = head.find(is_row)?;
    Likeness::by_line(if rows > 1 { 82 } else { 70 }, "mapping", first)
}

/// `Address Kbytes RSS Dirty Mode Mapping`, and of Solaris `Address Kbytes RSS Anon Locked Pgsz Mode Mapped File`.
fn is_header(line: &str) -> bool {
    let names = words(line);
    let has = |wanted: &[&str]| names.iter().any(|n| wanted.contains(n));
    names.first() == Some(&"Address")
        && has(&["Kbytes", "Bytes", "Perm", "Size"])
        && has(&["Mode", "Perm"])
        && has(&["Mapping", "Mapped"])
}

fn is_address(word: &str) -> bool {
    word.len() >= 8 && word.len() <= 16 && word.bytes().all(|b| b.is_ascii_hexdigit())
}

/// `r-x--`, `rw-s-`, `rwxp`, `rw---R`.
fn is_mode(word: &str) -> bool {
    let known = word.len() >= 4 && word.len() <= 7 && word.bytes().all(|b| b"rwxspRI-".contains(&b));
    known && word.starts_with(['r', '-']) && (word.contains('-') || word.starts_with("rwx"))
}

/// An address, sizes, and a mode: a row where no header stands above.
fn is_row(line: &str) -> bool {
    let cells = words(line);
    let mode = cells.iter().position(|c| is_mode(c) && *c != "-").unwrap_or(0);
    cells.first().is_some_and(|c| is_address(c))
        && (2..=6).contains(&mode)
        && cells.iter().take(mode).skip(1).all(|c| size(c, 1.0).is_some())
}

/// A size in kilobytes, or with its own letter; `-` is none.
fn size(cell: &str, unit: f64) -> Option<f64> {
    if cell == "-" {
        return Some(0.0);
    }
    decimal(cell).map(|n| n * unit).or_else(|| scaled(cell, 1024.0))
}

/// `812: ora_pmon_DB1` and `812:   oracleDB1 (LOCAL=NO)`.
fn process(line: &str) -> Option<(&str, &str)> {
    let (number, command) = line.split_once(':')?;
    let is_number = !number.is_empty() && number.len() <= 10 && number.bytes().all(|b| b.is_ascii_digit());
    let is_command = command.starts_with([' ', '\t']) && !command.trim().is_empty();
    (is_number && is_command).then_some((number, command.trim()))
}

/// The reader.
#[derive(Default)]
struct Pmap {
    /// Number and command; empty where the text has none.
    process: String,
    columns: Vec<String>,
    guessed_told: bool,
    platform_told: bool,
    unread_told: bool,
    begun: bool,
}

impl LineFormat for Pmap {
    fn line(&mut self, line: &str, out: &mut Out<'_>) -> Took {
        let trimmed = line.trim();
        let is_rule = trimmed.bytes().all(|b| matches!(b, b'-' | b'=' | b' '));
        if trimmed.is_empty() || is_rule {
            return Took::Yes;
        }
        if !std::mem::replace(&mut self.begun, true) {
            out.interval(Interval::unknown(RowsKind::Instant));
        }
        if is_header(trimmed) {
            return self.header(trimmed, out);
        }
        let cells = words(trimmed);
        if cells.first().is_some_and(|c| is_address(c)) && cells.len() > 1 {
            return self.row(trimmed, &cells, out);
        }
        if let Some((number, command)) = process(trimmed) {
            self.process = format!("{number}: {command}");
            self.columns.clear();
            return Took::Yes;
        }
        // Sums: `total kB`, `total Kb`, `mapped: 5576K ...`, and under -X a row of numbers.
        let is_sum =
            trimmed.starts_with("total") || trimmed.starts_with("mapped:") || trimmed.ends_with("KB");
        if is_sum { Took::Yes } else { Took::No }
    }

    fn command(&mut self, _: &str) {
        self.process.clear();
    }
}

impl Pmap {
    fn header(&mut self, line: &str, out: &mut Out<'_>) -> Took {
        self.columns = words(line).into_iter().filter(|w| *w != "File").map(str::to_owned).collect();
        let names = |wanted: &[&str]| self.columns.iter().any(|c| wanted.contains(&c.as_str()));
        if names(&["Mapped", "Pgsz", "Bytes"]) {
            self.platform(Platform::Solaris, out);
        } else if names(&["Perm", "Dirty", "Offset"]) {
            self.platform(Platform::Linux, out);
        }
        Took::Yes
    }

    fn platform(&mut self, platform: Platform, out: &mut Out<'_>) {
        if !std::mem::replace(&mut self.platform_told, true) {
            out.platform(platform);
        }
    }

    /// Columns of rows without a header: by how many sizes stand before the mode, as Solaris and Linux print them.
    fn guess(&mut self, cells: &[&str], out: &mut Out<'_>) -> Option<Vec<String>> {
        let mode = cells.iter().skip(1).position(|c| is_mode(c) && *c != "-")? + 1;
        let is_lettered =
            |n: usize| cells.get(n).is_some_and(|c| c.ends_with(|l: char| l.is_ascii_alphabetic()));
        let names: &[&str] = match mode - 1 {
            1 => &["Address", "Kbytes"],
            2 if is_lettered(2) => &["Address", "Bytes", "Pgsz"],
            3 => &["Address", "Kbytes", "RSS", "Dirty"],
            4 => &["Address", "Kbytes", "RSS", "Anon", "Locked"],
            5 => &["Address", "Kbytes", "RSS", "Anon", "Locked", "Pgsz"],
            _ => return None,
        };
        if mode > 2 && !std::mem::replace(&mut self.guessed_told, true) {
            out.remark(&format!("no header: sizes were read as {}", names.join(" ")));
        }
        Some(names.iter().copied().chain(["Mode", "Mapping"]).map(str::to_owned).collect())
    }

    fn row(&mut self, line: &str, cells: &[&str], out: &mut Out<'_>) -> Took {
        let columns =
            if self.columns.is_empty() { self.guess(cells, out) } else { Some(self.columns.clone()) };
        let Some(columns) = columns else {
            out.complain("an address, sizes and a mode", line);
            return Took::Yes;
        };
        let mut row: Vec<(Quantity, f64)> = Vec::new();
        let mut huge = f64::NAN;
        let mut hugetlb = 0.0;
        let mut bad = false;
        // What is mapped stands last and may hold blanks.
        let last = columns.len().saturating_sub(1);
        let mut flags = 0;
        for (at, column) in columns.iter().enumerate().take(last) {
            // VmFlags are several words.
            if column == "VmFlags" {
                let left = cells.get(at..).unwrap_or_default();
                flags = left.iter().take_while(|c| c.len() == 2).count().saturating_sub(1);
                continue;
            }
            let Some(cell) = cells.get(at) else {
                bad = true;
                break;
            };
            let mut kept = |quantity: Quantity, unit: f64| match size(cell, unit) {
                Some(bytes) => row.push((quantity, bytes)),
                None => bad = true,
            };
            match column.as_str() {
                "Kbytes" | "Size" => kept(MappedBytes, 1024.0),
                "Bytes" => kept(MappedBytes, 1.0),
                "RSS" | "Rss" => kept(ResidentBytes, 1024.0),
                "KernelPageSize" => kept(PageBytes, 1024.0),
                "Swap" => kept(SwapUsedBytes, 1024.0),
                // A page size of nothing that is in memory is not told.
                "Pgsz" if *cell == "-" => row.push((PageBytes, f64::NAN)),
                "Pgsz" => kept(PageBytes, 1.0),
                "Mode" | "Perm" => bad |= !is_mode(cell),
                "AnonHugePages" | "ShmemPmdMapped" | "FilePmdMapped" => {
                    huge = size(cell, 1024.0).map_or(huge, |b| if huge.is_nan() { b } else { huge + b });
                }
                "Shared_Hugetlb" | "Private_Hugetlb" => hugetlb += size(cell, 1024.0).unwrap_or(0.0),
                _ => self.unread_told |= self.unread(column, out),
            }
        }
        if bad || row.is_empty() {
            out.complain(&format!("a mapping: {}", columns.join(" ")), line);
            return Took::Yes;
        }
        // As in /proc/PID/smaps: pages of hugetlbfs are not in Rss.
        for (quantity, bytes) in &mut row {
            if *quantity == ResidentBytes {
                *bytes += hugetlb;
            }
        }
        if huge.is_finite() {
            row.push((HugeBytes, huge));
        }
        let mapped = cells.get(last + flags..).unwrap_or_default().join(" ");
        let mapped = if mapped.is_empty() { "[ anon ]" } else { &mapped };
        let name =
            if self.process.is_empty() { mapped.to_owned() } else { format!("{} {mapped}", self.process) };
        let place = out.place(PlaceKind::Process, &name);
        out.put(place, &row);
        Took::Yes
    }

    fn unread(&self, column: &str, out: &mut Out<'_>) -> bool {
        const KNOWN: [&str; 24] = [
            "Address",
            "Offset",
            "Device",
            "Inode",
            "Pss",
            "Pss_Dirty",
            "Referenced",
            "Anonymous",
            "KSM",
            "LazyFree",
            "SwapPss",
            "Locked",
            "THPeligible",
            "Dirty",
            "Anon",
            "Pgsz",
            "MMUPageSize",
            "Shared_Clean",
            "Shared_Dirty",
            "Private_Clean",
            "Private_Dirty",
            "VmFlags",
            "Pss_Anon",
            "Swapped",
        ];
        if KNOWN.contains(&column) || self.unread_told {
            return false;
        }
        out.remark(&format!("columns that are not known here were left unread: {column}"));
        true
    }
}
