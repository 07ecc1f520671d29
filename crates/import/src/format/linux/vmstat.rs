//! `vmstat` of procps on Linux: any width, with or without time (-t), active memory (-a), and disk mode (-d). vmstat(8).

mod columns;
mod disks;

use super::collector;
use crate::clock::{Clock, DateOrder, date, epoch_s, time_of_day};
use crate::format::{Format, LineFormat, Reads, Took};
use crate::out::{Layout, Out};
use crate::recognise::{Head, Likeness};
use crate::text::number::decimal;
use crate::text::words;
use columns::{Column, column};
use disks::Disks;
use record::imported::{Basis, Interval, PlaceKind, Platform, RowsKind};

/// This format.
pub(super) const FORMAT: Format = Format {
    name: "linux-vmstat",
    title: "vmstat of procps (Linux)",
    recognise,
    reads: Reads::Lines { new: || Box::new(Vmstat::default()), begins },
};

fn recognise(head: &Head<'_>) -> Option<Likeness> {
    head.find(|l| is_header(l) || disks::is_header(l)).and_then(|line| Likeness::by_line(94, "header", line))
}

fn begins(line: &str) -> bool {
    is_header(line) || disks::is_header(line) || is_ruler(line)
}

/// `r b swpd free ... si so bi bo`: AIX, Solaris and HP-UX have `avm`, `swap` or `pi po` instead.
fn is_header(line: &str) -> bool {
    let names = words(line);
    ["r", "b", "swpd", "free", "si", "so", "bi", "bo"].iter().all(|name| names.contains(name))
}

/// `procs -----------memory---------- ---swap-- ...`.
fn is_ruler(line: &str) -> bool {
    let line = line.trim();
    line.contains("memory")
        && line.contains("swap")
        && line.contains("io")
        && line.trim_matches('-').starts_with("procs")
}

/// The reader.
#[derive(Default)]
struct Vmstat {
    header: String,
    columns: Vec<Column>,
    layout: Option<Layout>,
    width: usize,
    /// Bytes of one unit of memory (option -S); swap and blocks are told in kB always.
    unit: Unit,
    clock: Clock,
    reports: u64,
    /// The time that a collector put above the run.
    snapshot: Option<(f64, Basis)>,
    disks: Option<Disks>,
    unread_told: bool,
}

/// Bytes of one unit of memory.
struct Unit(f64);

impl Default for Unit {
    fn default() -> Self {
        Self(1024.0)
    }
}

impl LineFormat for Vmstat {
    fn line(&mut self, line: &str, out: &mut Out<'_>) -> Took {
        let trimmed = line.trim();
        if trimmed.is_empty() || is_ruler(trimmed) {
            return Took::Yes;
        }
        if let Some(snapshot) = collector::snapshot(trimmed) {
            // Another run: its first report is since boot.
            self.snapshot = Some(snapshot);
            self.reports = 0;
            return Took::Yes;
        }
        if collector::is_noise(trimmed) {
            return Took::Yes;
        }
        if disks::is_header(trimmed) {
            self.disks.get_or_insert_default().begin(out);
            self.columns.clear();
            return Took::Yes;
        }
        if is_header(trimmed) {
            self.header(trimmed, out);
            return Took::Yes;
        }
        if self.columns.is_empty() {
            return match &mut self.disks {
                Some(disks) => disks.line(trimmed, out),
                None => Took::No,
            };
        }
        self.row(trimmed, out)
    }

    fn command(&mut self, command: &str) {
        let mut words = words(command).into_iter();
        while let Some(word) = words.next() {
            if word == "-S" || word == "--unit" {
                self.unit = Unit(match words.next() {
                    Some("k") => 1000.0,
                    Some("m") => 1e6,
                    Some("M") => 1_048_576.0,
                    _ => 1024.0,
                });
            } else if let Some(asked) = decimal(word).filter(|n| *n > 0.0) {
                self.clock.asked(asked);
                break;
            }
        }
        // What follows is another run: its first report is since boot.
        self.columns.clear();
        self.reports = 0;
    }
}

impl Vmstat {
    fn header(&mut self, line: &str, out: &mut Out<'_>) {
        if self.header == line && !self.columns.is_empty() {
            return;
        }
        out.platform(Platform::Linux);
        self.header = line.to_owned();
        let names = words(line);
        self.columns = names.iter().map(|name| column(name, self.unit.0)).collect();
        // The last column of option -t is named by the time zone, and there is one for date and time.
        if let (Some(last), Some(name)) = (self.columns.last_mut(), names.last()) {
            let is_zone = *last == Column::Unread
                && name.bytes().all(|b| b.is_ascii_uppercase() || b == b'+' || b == b'-');
            if is_zone || *name == "timestamp" {
                *last = Column::Time { is_utc: matches!(*name, "UTC" | "GMT") };
            }
        }
        let mut unread = Vec::new();
        let mut quantities = Vec::new();
        for (column, name) in self.columns.iter().zip(&names) {
            match column {
                Column::Kept(quantity, _) if !quantities.contains(quantity) => quantities.push(*quantity),
                Column::Unread => unread.push(*name),
                _ => {}
            }
        }
        if !unread.is_empty() && !std::mem::replace(&mut self.unread_told, true) {
            out.remark(&format!("columns that are not known here were left unread: {}", unread.join(" ")));
        }
        self.width = quantities.len();
        self.layout = Some(out.layout(&quantities));
    }

    fn row(&mut self, line: &str, out: &mut Out<'_>) -> Took {
        let Some(layout) = self.layout else { return Took::No };
        let cells = words(line);
        let is_time = |c: &Column| matches!(c, Column::Time { .. });
        let numbers = self.columns.iter().filter(|c| !is_time(c)).count();
        let values: Vec<f64> = cells.iter().take(numbers).map_while(|c| decimal(c)).collect();
        if values.len() < numbers || cells.len() > numbers + 3 {
            if values.len() * 2 < numbers {
                return Took::No;
            }
            out.complain(&format!("{numbers} numbers"), line);
            return Took::Yes;
        }
        let kind = if self.reports == 0 { RowsKind::SinceBoot } else { RowsKind::Interval };
        self.reports += 1;
        let stamp = cells.get(numbers..).unwrap_or_default();
        // Old versions put the zone into the row.
        let is_utc = stamp.contains(&"UTC") || self.columns.contains(&Column::Time { is_utc: true });
        let moment = match stamp {
            [day, time] => joined(day, time, ""),
            [day, time, half @ ("AM" | "PM")] => joined(day, time, half),
            [day, time, _zone] => joined(day, time, ""),
            _ => None,
        };
        let interval = match moment {
            Some(at_s) => {
                let basis = if is_utc { Basis::Utc } else { Basis::Local };
                self.clock.moment(at_s, basis, kind)
            }
            None => match self.snapshot {
                // Within seconds of the snapshot.
                Some((at_s, basis)) => Interval { at_s, length_s: f64::NAN, basis, kind },
                None => self.clock.next(kind),
            },
        };
        out.interval(interval);
        let mut row = vec![f64::NAN; self.width];
        let mut seen = Vec::with_capacity(self.width);
        for (column, value) in self.columns.iter().filter(|c| !is_time(c)).zip(values) {
            let Column::Kept(quantity, factor) = column else { continue };
            match seen.iter().position(|q| q == quantity) {
                // `buff` and `cache` together.
                Some(known) => row[known] += value * factor,
                None => {
                    if let Some(place) = row.get_mut(seen.len()) {
                        *place = value * factor;
                    }
                    seen.push(*quantity);
                }
            }
        }
        let host = out.place(PlaceKind::Host, "");
        out.row(layout, host, &row);
        Took::Yes
    }
}

fn joined(day: &str, time: &str, half: &str) -> Option<f64> {
    Some(epoch_s(date(day, DateOrder::MonthFirst)?, time_of_day(&format!("{time} {half}"))?))
}
