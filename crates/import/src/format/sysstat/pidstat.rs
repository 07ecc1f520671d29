//! `pidstat` of sysstat, text: tables per activity, or one flat table (option -h).

use super::banner::Banner;
use super::process;
use super::report::Figures;
use super::sar::stamp::{Stamp, split};
use crate::clock::{Clock, DateOrder};
use crate::format::{Format, LineFormat, Reads, Took};
use crate::out::Out;
use crate::recognise::{Head, Likeness};
use crate::text::number::decimal;
use crate::text::words;
use record::imported::{Basis, Interval, PlaceKind, Quantity, RowsKind};
use std::collections::HashMap;

/// This format.
pub(super) const FORMAT: Format = Format {
    name: "linux-pidstat",
    title: "pidstat of sysstat 8 to 12 (Linux), text",
    recognise,
    reads: Reads::Lines { new: || Box::new(Pidstat::default()), begins: is_header },
};

fn recognise(head: &Head<'_>) -> Option<Likeness> {
    head.find(is_header).and_then(|line| Likeness::by_line(94, "header", line))
}

fn is_header(line: &str) -> bool {
    let names = words(line);
    let has = |name: &str| names.contains(&name);
    names.last() == Some(&"Command") && (has("PID") || has("TGID")) && (has("UID") || has("USER"))
        || names.last() == Some(&"Command") && has("PID") && has("%CPU") && has("CPU")
}

/// What a column of a row is.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Column {
    /// Time; seconds since 1970, or of the day.
    Time,
    Process,
    Thread,
    Kept(Quantity, f64),
    Other,
    /// The rest of the line, blanks included.
    Command,
}

/// The reader.
#[derive(Default)]
struct Pidstat {
    header: String,
    columns: Vec<Column>,
    /// Option -h: the time is the first column.
    is_flat: bool,
    base: Clock,
    clocks: HashMap<String, Clock>,
    began_s: Option<f64>,
    stamp: String,
    is_average: bool,
    /// Reports met, and whether an interval is known: one report alone may be since boot.
    reports: u64,
    asked: bool,
}

impl LineFormat for Pidstat {
    fn line(&mut self, line: &str, out: &mut Out<'_>) -> Took {
        let trimmed = line.strip_prefix("^C").unwrap_or(line).trim();
        if trimmed.is_empty() {
            return Took::Yes;
        }
        if is_header(trimmed) {
            self.header(trimmed, out);
            return Took::Yes;
        }
        if let Some(banner) = Banner::read(trimmed) {
            self.banner(&banner, out);
            return Took::Yes;
        }
        if self.columns.is_empty() {
            return Took::No;
        }
        if self.is_flat {
            return self.flat(trimmed, out);
        }
        let Some((stamp, rest)) = split(trimmed) else { return Took::No };
        self.begin(stamp, out);
        if !self.row(rest, out) {
            if stamp == Stamp::Average {
                return Took::No;
            }
            out.complain(&format!("{} columns and a command", self.columns.len().saturating_sub(1)), trimmed);
        }
        Took::Yes
    }

    fn command(&mut self, command: &str) {
        if let Some(asked) = words(command).into_iter().find_map(|w| decimal(w).filter(|n| *n > 0.0)) {
            self.base.asked(asked);
            self.asked = true;
        }
    }

    fn end(&mut self, out: &mut Out<'_>) {
        if self.is_flat && self.reports == 1 && !self.asked {
            out.remark(
                "one report: if pidstat was given no interval, its figures are since the processes began",
            );
        }
        self.reports = 0;
    }
}

impl Pidstat {
    fn banner(&mut self, banner: &Banner, out: &mut Out<'_>) {
        out.host(banner.host.clone());
        self.base = Clock::new();
        self.clocks.clear();
        self.columns.clear();
        self.header.clear();
        self.stamp.clear();
        if let Some(date) = banner.date_in(DateOrder::default()) {
            self.base.set_date(date);
        }
    }

    fn header(&mut self, line: &str, out: &mut Out<'_>) {
        let (stamp, rest) = match split(line) {
            Some((stamp, rest)) => (Some(stamp), rest.trim()),
            None => (None, line.trim_start_matches('#').trim()),
        };
        self.is_flat = stamp.is_none();
        if self.header != rest {
            self.header = rest.to_owned();
            self.columns = words(rest)
                .into_iter()
                .map(|name| match name {
                    "Time" => Column::Time,
                    "PID" | "TGID" => Column::Process,
                    "TID" => Column::Thread,
                    "Command" => Column::Command,
                    name => {
                        process::column(name).map_or(Column::Other, |(q, factor)| Column::Kept(q, factor))
                    }
                })
                .collect();
        }
        self.is_average = stamp == Some(Stamp::Average);
        if let Some(Stamp::Time { seconds, .. }) = stamp {
            // The interval of the first row begins here.
            self.began_s = Some(seconds);
            self.stamp.clear();
            self.clock().time_of_day(seconds, RowsKind::SinceBoot);
        }
        if self.is_average {
            out.interval(Interval::unknown(RowsKind::Average));
        }
    }

    /// The clock of this table: with several activities each goes through the same time.
    fn clock(&mut self) -> &mut Clock {
        let base = self.base.clone();
        if self.clocks.len() > 64 {
            self.clocks.clear();
        }
        self.clocks.entry(self.header.clone()).or_insert(base)
    }

    fn begin(&mut self, stamp: Stamp<'_>, out: &mut Out<'_>) {
        match stamp {
            Stamp::Average => {
                out.interval(Interval::unknown(RowsKind::Average));
                self.stamp.clear();
            }
            Stamp::Time { text, .. } if self.stamp == text => {}
            Stamp::Time { seconds, text } => {
                let since_boot = self.began_s.take() == Some(seconds);
                let kind = if since_boot { RowsKind::SinceBoot } else { RowsKind::Interval };
                self.stamp = text.to_owned();
                let interval = self.clock().time_of_day(seconds, kind);
                out.interval(interval);
            }
        }
    }

    /// A row of option -h. Its time is seconds since 1970 (option -H, and before 11.7), or that of the day.
    fn flat(&mut self, line: &str, out: &mut Out<'_>) -> Took {
        let (text, rest) = line.split_once([' ', '\t']).unwrap_or((line, ""));
        let epoch: Option<f64> = (text.len() >= 8 && text.bytes().all(|b| b.is_ascii_digit()))
            .then(|| text.parse().ok())
            .flatten();
        let (text, rest) = match (epoch, split(line)) {
            (Some(_), _) => (text, rest),
            (None, Some((Stamp::Time { text, .. }, rest))) => (text, rest),
            _ => return Took::No,
        };
        if self.stamp != text {
            self.stamp = text.to_owned();
            self.reports += 1;
            let interval = match (epoch, split(line)) {
                (Some(at_s), _) => self.base.moment(at_s, Basis::Utc, RowsKind::Interval),
                (None, Some((Stamp::Time { seconds, .. }, _))) => {
                    self.base.time_of_day(seconds, RowsKind::Interval)
                }
                _ => Interval::unknown(RowsKind::Interval),
            };
            out.interval(interval);
        }
        if !self.row(rest, out) {
            out.complain(&format!("{} columns and a command", self.columns.len().saturating_sub(1)), line);
        }
        Took::Yes
    }

    /// Columns after the time; false when they are not those of the header.
    fn row(&mut self, rest: &str, out: &mut Out<'_>) -> bool {
        let mut rest = rest.trim_start();
        let (mut process, mut thread, mut command) = ("", "", "");
        let mut figures = Figures::default();
        for column in self.columns.iter().filter(|c| **c != Column::Time) {
            if *column == Column::Command {
                command = rest.trim_end();
                break;
            }
            let end = rest.find([' ', '\t']).unwrap_or(rest.len());
            let cell = &rest[..end];
            rest = rest[end..].trim_start();
            match column {
                Column::Process => process = cell,
                Column::Thread => thread = cell,
                Column::Kept(quantity, factor) => {
                    let Some(number) = figure(cell, *factor) else { return false };
                    figures.put(*quantity, number);
                }
                _ => {}
            }
        }
        let is_id = |text: &str| text == "-" || !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        if command.is_empty() || !is_id(process) || !(thread.is_empty() || is_id(thread)) {
            return false;
        }
        figures.push_to(PlaceKind::Process, &process::name(process, thread, command), out);
        true
    }
}

/// A cell in our unit: `1.50`, `12.5%`, `1.4M` (option --human, in bytes whatever the header says).
fn figure(cell: &str, factor: f64) -> Option<f64> {
    if let Some(number) = decimal(cell.trim_end_matches('%')) {
        return Some(process::figure(number) * factor);
    }
    let bytes = crate::text::number::scaled(cell, 1024.0)?;
    Some(process::figure(bytes))
}
