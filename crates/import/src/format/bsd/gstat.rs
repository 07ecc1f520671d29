//! `gstat` of FreeBSD in batch mode: reads, writes and, with options, deletes (-d), other commands (-o) and sizes (-s).
//!
//! Option -C prints the same between commas, with a time in each row.
//!
//! `dT` is the true length of the interval. `L(q)` is the queue at its end, an instant. %busy may go above 100. A column
//! `kBps`, `kB` or `ms/x` belongs to the rate before it (gstat(8)).

use super::device;
use crate::clock::Clock;
use crate::format::columns::{Column, KIB, Table, US_PER_MS, numbers, unread};
use crate::format::{Format, LineFormat, Reads, Took, stamp};
use crate::out::Out;
use crate::recognise::{Head, Likeness};
use crate::text::number::decimal;
use crate::text::{words, words_at};
use record::imported::Quantity::*;
use record::imported::{Basis, Interval, Platform, RowsKind};

/// This format.
pub(super) const FORMAT: Format = Format {
    name: "freebsd-gstat",
    title: "gstat of FreeBSD, batch mode",
    recognise,
    reads: Reads::Lines { new: || Box::new(Gstat::default()), begins },
};

fn recognise(head: &Head<'_>) -> Option<Likeness> {
    Likeness::by_line(96, "header", head.find(|l| is_header(l) || is_csv_header(l))?)
}

fn begins(line: &str) -> bool {
    is_header(line) || is_csv_header(line) || interval_s(line).is_some()
}

/// The header of option -C.
fn is_csv_header(line: &str) -> bool {
    line.starts_with("timestamp,name,q-depth,")
}

fn is_header(line: &str) -> bool {
    let line = line.trim();
    line.starts_with("L(q)") && line.ends_with("Name") && line.contains("ops/s")
}

/// `dT: 1.002s  w: 1.000s`.
fn interval_s(line: &str) -> Option<f64> {
    let rest = line.trim_start().strip_prefix("dT:")?;
    let (seconds, rest) = rest.trim_start().split_once('s')?;
    rest.trim_start().starts_with("w:").then(|| decimal(seconds)).flatten()
}

/// Columns of a header: what a rate's own columns are depends on the rate before them.
fn columns(header: &str) -> Vec<Column> {
    let mut of = "";
    let mut columns = Vec::new();
    for name in header.split([' ', '\t', ',']).filter(|n| !n.is_empty()) {
        if matches!(name, "ops/s" | "r/s" | "w/s" | "d/s" | "o/s") {
            of = name;
        }
        columns.push(match (name, of) {
            ("Name" | "name" | "timestamp", _) => Column::Name,
            ("L(q)", _) => Column::Kept(OutstandingInstant, 1.0),
            ("ops/s", _) => Column::Kept(Iops, 1.0),
            ("r/s", _) => Column::Kept(ReadIops, 1.0),
            ("w/s", _) => Column::Kept(WriteIops, 1.0),
            ("d/s", _) => Column::Kept(DiscardIops, 1.0),
            ("kBps", "r/s") => Column::Kept(ReadBytesPerS, KIB),
            ("kBps", "w/s") => Column::Kept(WriteBytesPerS, KIB),
            ("kBps", "d/s") => Column::Kept(DiscardBytesPerS, KIB),
            ("kB", "r/s") => Column::Kept(ReadSizeBytes, KIB),
            ("kB", "w/s") => Column::Kept(WriteSizeBytes, KIB),
            ("kB", "d/s") => Column::Kept(DiscardSizeBytes, KIB),
            ("ms/r", _) => Column::Kept(ReadResponseUs, US_PER_MS),
            ("ms/w", _) => Column::Kept(WriteResponseUs, US_PER_MS),
            ("ms/d", _) => Column::Kept(DiscardResponseUs, US_PER_MS),
            ("%busy", _) => Column::Kept(BusyPercent, 1.0),
            // Option -C.
            ("q-depth", _) => Column::Kept(OutstandingInstant, 1.0),
            ("total_ops/s", _) => Column::Kept(Iops, 1.0),
            ("read/s", _) => Column::Kept(ReadIops, 1.0),
            ("write/s", _) => Column::Kept(WriteIops, 1.0),
            ("delete/s", _) => Column::Kept(DiscardIops, 1.0),
            ("read-KiB/s", _) => Column::Kept(ReadBytesPerS, KIB),
            ("write-KiB/s", _) => Column::Kept(WriteBytesPerS, KIB),
            ("delete-KiB/s", _) => Column::Kept(DiscardBytesPerS, KIB),
            ("read_sz-KiB", _) => Column::Kept(ReadSizeBytes, KIB),
            ("write_sz-KiB", _) => Column::Kept(WriteSizeBytes, KIB),
            ("delete-sz-KiB", _) => Column::Kept(DiscardSizeBytes, KIB),
            ("ms/read", _) => Column::Kept(ReadResponseUs, US_PER_MS),
            ("ms/write", _) => Column::Kept(WriteResponseUs, US_PER_MS),
            ("ms/delete", _) => Column::Kept(DiscardResponseUs, US_PER_MS),
            ("other/s" | "ms/other", _) => Column::Dropped,
            // Other commands: flushes mostly, of no size.
            ("o/s" | "ms/o", _) => Column::Dropped,
            _ => Column::Unread,
        });
    }
    columns
}

/// The reader.
#[derive(Default)]
struct Gstat {
    table: Option<Table>,
    /// Seconds since the text began.
    elapsed_s: f64,
    /// Of option -C: the clock, and the time in the last row.
    clock: Clock,
    moment: String,
    commas: bool,
    /// A line with `dT` stood above.
    begun: bool,
    unread_told: bool,
}

impl LineFormat for Gstat {
    fn line(&mut self, line: &str, out: &mut Out<'_>) -> Took {
        let line = line.trim();
        if line.is_empty() {
            return Took::Yes;
        }
        if let Some(length_s) = interval_s(line) {
            self.elapsed_s += length_s;
            self.begun = true;
            let at_s = self.elapsed_s;
            out.interval(Interval { at_s, length_s, basis: Basis::SinceStart, kind: RowsKind::Interval });
            return Took::Yes;
        }
        if is_header(line) || is_csv_header(line) {
            self.commas = is_csv_header(line);
            if !std::mem::replace(&mut self.begun, false) {
                out.interval(Interval::unknown(RowsKind::Interval));
            }
            out.platform(Platform::FreeBsd);
            let columns = columns(line);
            let names: Vec<&str> = line.split([' ', '\t', ',']).filter(|n| !n.is_empty()).collect();
            if let Some(remark) = unread(&names, &columns).filter(|_| !self.unread_told) {
                self.unread_told = true;
                out.remark(&remark);
            }
            self.table = Some(Table::new(&columns, out));
            return Took::Yes;
        }
        let Some(table) = &self.table else { return Took::No };
        if self.commas {
            let cells: Vec<&str> = line.split(',').map(str::trim).collect();
            let [moment, name, figures @ ..] = cells.as_slice() else { return Took::No };
            let row = numbers(figures.iter().copied()).filter(|n| n.len() == table.len());
            let (Some(row), Some((at_s, basis))) = (row, stamp::moment(moment)) else {
                return self.misfit(figures, line, out);
            };
            if *moment != self.moment {
                let interval = self.clock.moment(at_s, basis, RowsKind::Interval);
                out.interval(interval);
                (*moment).clone_into(&mut self.moment);
            }
            let place = out.place(device::kind(name), name);
            table.push(place, &row, out);
            return Took::Yes;
        }
        // Names may hold blanks: labels of filesystems do.
        let at = words_at(line).get(table.len()).map_or(line.len(), |(at, _)| *at);
        let (figures, name) = match line.split_once('|') {
            Some((figures, name)) => (figures, name.trim()),
            None => line.split_at_checked(at).unwrap_or((line, "")),
        };
        let cells = words(figures);
        if name.is_empty() || cells.len() != table.len() {
            return self.misfit(&cells, line, out);
        }
        match numbers(cells.iter().copied()) {
            Some(row) => {
                let place = out.place(device::kind(name), name);
                table.push(place, &row, out);
                Took::Yes
            }
            None => self.misfit(&cells, line, out),
        }
    }
}

impl Gstat {
    fn misfit(&self, cells: &[&str], line: &str, out: &mut Out<'_>) -> Took {
        let wanted = self.table.as_ref().map_or(0, Table::len);
        if cells.iter().filter(|c| decimal(c).is_some()).count() * 2 < wanted {
            return Took::No;
        }
        out.complain(&format!("{wanted} numbers and a name"), line);
        Took::Yes
    }
}
