//! `vmstat` of AIX: run queue, paging, processors; also with `-I` (file pages, waiting for raw I/O), `-t`, `-w`.
//!
//! Memory is counted in pages of 4096 bytes. `pi` and `po` are pages of paging space, `fi` and `fo` of files.

use super::device::{arguments, runs};
use crate::clock::{Clock, time_of_day};
use crate::format::{Format, LineFormat, Reads, Took};
use crate::out::{Layout, Out};
use crate::recognise::{Head, Likeness};
use crate::text::number::{decimal, scaled};
use crate::text::words;
use record::imported::Quantity::{self, *};
use record::imported::{Host, PlaceKind, Platform, RowsKind};

const PAGE: f64 = 4096.0;

/// This format.
pub(super) const FORMAT: Format = Format {
    name: "aix-vmstat",
    title: "vmstat of AIX",
    recognise,
    reads: Reads::Lines { new: || Box::new(Vmstat { clock: Clock::new(), ..Vmstat::default() }), begins },
};

fn recognise(head: &Head<'_>) -> Option<Likeness> {
    Likeness::by_line(95, "header", head.find(is_header)?)
}

fn begins(line: &str) -> bool {
    is_header(line) || line.starts_with("System configuration:") && line.contains(" mem=")
}

fn is_header(line: &str) -> bool {
    let names = words(line);
    ["r", "b", "avm", "fre", "us", "id", "wa"].iter().all(|n| names.contains(n))
}

/// The column of a name; `sy` is told twice: system calls, and after `us` system time.
fn column(name: &str, after_user: bool) -> Option<(Quantity, f64)> {
    Some(match name {
        "r" => (RunQueue, 1.0),
        "b" => (BlockedTasks, 1.0),
        "fre" => (FreeBytes, PAGE),
        "pi" => (SwapInBytesPerS, PAGE),
        "po" => (SwapOutBytesPerS, PAGE),
        "fi" => (PageInBytesPerS, PAGE),
        "fo" => (PageOutBytesPerS, PAGE),
        "sr" => (PagesScannedPerS, 1.0),
        "in" => (InterruptsPerS, 1.0),
        "cs" => (SwitchesPerS, 1.0),
        "us" => (CpuUserPercent, 1.0),
        "sy" if after_user => (CpuSystemPercent, 1.0),
        "id" => (CpuIdlePercent, 1.0),
        "wa" => (CpuIowaitPercent, 1.0),
        _ => return None,
    })
}

/// The reader.
#[derive(Default)]
struct Vmstat {
    clock: Clock,
    columns: Vec<Option<(usize, f64)>>,
    layout: Option<Layout>,
    width: usize,
    /// A run was seen to begin: its first row is since boot.
    from_start: bool,
}

impl LineFormat for Vmstat {
    fn line(&mut self, line: &str, out: &mut Out<'_>) -> Took {
        let trimmed = line.trim();
        if let Some(rest) = trimmed.strip_prefix("System configuration:") {
            let processors = words(rest).iter().find_map(|w| w.strip_prefix("lcpu=")?.parse().ok());
            out.host(Host { platform: Platform::Aix, processors, ..Host::default() });
            self.from_start = true;
            self.clock.restarted();
            return Took::Yes;
        }
        if is_header(trimmed) {
            self.header(trimmed, out);
            return Took::Yes;
        }
        let is_title =
            trimmed.starts_with("kthr") || trimmed.bytes().all(|b| matches!(b, b'-' | b' ' | b'\t'));
        if is_title {
            return Took::Yes;
        }
        let Some(layout) = self.layout else { return Took::No };
        let cells = words(trimmed);
        let is_number = |c: &&&str| scaled(c, 1024.0).is_some();
        let Some(figures) = cells.get(..self.columns.len()).filter(|f| f.iter().all(|c| is_number(&c)))
        else {
            if cells.iter().filter(is_number).count() * 2 > self.columns.len() {
                out.complain(&format!("{} numbers", self.columns.len()), trimmed);
                return Took::Yes;
            }
            return Took::No;
        };
        let mut values = vec![f64::NAN; self.width];
        for (text, column) in figures.iter().zip(&self.columns) {
            if let (Some((at, factor)), Some(number)) = (column, decimal(text)) {
                values[*at] = number * factor;
            }
        }
        let time = time_of_day(&cells[self.columns.len()..].join(" "));
        let kind =
            if std::mem::take(&mut self.from_start) { RowsKind::SinceBoot } else { RowsKind::Interval };
        let interval = match time {
            Some(seconds) => self.clock.time_of_day(seconds, kind),
            None => self.clock.next(kind),
        };
        out.interval(interval);
        let host = out.place(PlaceKind::Host, "");
        out.row(layout, host, &values);
        Took::Yes
    }

    fn command(&mut self, command: &str) {
        if runs(command, "vmstat") {
            self.from_start = true;
            if let Some(interval) = arguments(command).find_map(|w| decimal(w).filter(|n| *n > 0.0)) {
                self.clock.asked(interval);
            }
        }
    }
}

impl Vmstat {
    fn header(&mut self, line: &str, out: &mut Out<'_>) {
        out.platform(Platform::Aix);
        let mut quantities = Vec::new();
        let mut after_user = false;
        self.columns.clear();
        for name in words(line) {
            // Option -t titles a column for the time of the day, which stands last and is no number.
            if name.contains("hh") || name == "hr" || name == "mi" || name == "se" || name == "time" {
                continue;
            }
            after_user |= name == "us";
            self.columns.push(column(name, after_user).map(|(quantity, factor)| {
                quantities.push(quantity);
                (quantities.len() - 1, factor)
            }));
        }
        self.width = quantities.len();
        self.layout = Some(out.layout(&quantities));
    }
}
