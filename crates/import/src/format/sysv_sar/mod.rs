//! `sar` of System V, which Solaris, HP-UX and AIX have inherited: processors (-u), disks (-d), run queue (-q) and what else
//! is told by the same columns. Other activities are left out, with one remark.
//!
//! The header of `sar -d` is the same on all three and its columns are not (see [`dialect`]). The banner decides; where
//! there is none, the first row that only one platform prints does, and that is said. Rows before it wait.

mod activity;
mod banner;
mod dialect;
mod recognition;

use super::columns::{Table, numbers, unread};
use super::{Format, LineFormat, Reads, Took};
use crate::clock::Clock;
use crate::out::Out;
use crate::text::number::decimal;
use crate::text::{words, words_at};
use activity::{Activity, header, is_units};
use banner::Banner;
use dialect::{Dialect, evidence};
use recognition::{BARE, begins, is_bare_row, recognise};
use record::imported::{EventKind, Interval, Origin, PlaceKind, Platform, RowsKind};
use std::collections::BTreeSet;

/// The formats of this family.
pub static FORMATS: &[Format] = &[Format {
    name: "sysv-sar",
    title: "sar of Solaris, HP-UX and AIX",
    recognise,
    reads: Reads::Lines { new: || Box::new(Sar::default()), begins },
}];

/// Rows that may wait for the platform to show.
const WAITING_MAX: usize = 4096;
/// Restarts that are remembered as told.
const EVENTS_MAX: usize = 1000;
/// Names of activities that are listed.
const SKIPPED_MAX: usize = 40;

/// A row whose platform has not shown yet.
struct Waiting {
    origin: Origin,
    interval: Interval,
    header: Vec<String>,
    name: String,
    numbers: Vec<f64>,
}

/// The reader.
#[derive(Default)]
struct Sar {
    clock: Clock,
    /// The clock as the banner set it: each table of a report begins with the same day.
    day: Clock,
    dialect: Option<Dialect>,
    /// Tables of the report, one after the other in each interval.
    tables: Vec<Activity>,
    /// The text of their headers.
    headers: Vec<String>,
    /// Which of them the last row was of.
    current: usize,
    /// The line above was a header.
    after_header: bool,
    /// An average ended the last table.
    averaged: bool,
    /// The table of the devices: the names of its columns, and how they are read.
    devices: Option<(Vec<String>, Table)>,
    waiting: Vec<Waiting>,
    skipped: BTreeSet<String>,
    /// When restarts were told.
    events: Vec<f64>,
    unread_told: bool,
    old_told: bool,
}

impl LineFormat for Sar {
    fn line(&mut self, line: &str, out: &mut Out<'_>) -> Took {
        let trimmed = line.trim();
        if trimmed.is_empty() {
            return Took::Yes;
        }
        if let Some(banner) = Banner::read(trimmed) {
            return self.banner(&banner, out);
        }
        // AIX iostat prints such a line too, and tells the number of drives.
        if trimmed.to_ascii_lowercase().starts_with("system configuration") && !trimmed.contains("drives=") {
            return self.configuration(trimmed, out);
        }
        if self.after_header && is_units(trimmed) {
            return Took::Yes;
        }
        if let Some((time, names)) = header(trimmed, self.after_header) {
            return self.header(time, &names, line, out);
        }
        self.after_header = false;
        let mut cells = words_at(line);
        let time = cells.first().and_then(|(_, w)| activity::time(w));
        let average = cells.first().is_some_and(|(_, w)| matches!(*w, "Average" | "Average:"));
        if time.is_some() || average {
            cells.remove(0);
        }
        if let Some(took) = time.and_then(|t| self.told(t, trimmed, out)) {
            return took;
        }
        if self.tables.is_empty() && !self.adopt(&cells, out) {
            return Took::No;
        }
        if let Some(time) = time {
            let interval = self.clock.time_of_day(time, RowsKind::Interval);
            out.interval(interval);
            (self.current, self.averaged) = (0, false);
        } else if average {
            out.interval(Interval::unknown(RowsKind::Average));
            (self.current, self.averaged) = (0, true);
        }
        self.row(&cells, time.is_some() || average, line, out)
    }

    fn command(&mut self, command: &str) {
        let number = words(command).into_iter().skip(1).find_map(|w| decimal(w).filter(|n| *n > 0.0));
        if let Some(seconds) = number {
            self.clock.asked(seconds);
            self.day.asked(seconds);
        }
    }

    fn end(&mut self, out: &mut Out<'_>) {
        if !self.waiting.is_empty() {
            out.remark(
                "no banner and no row tells whether this is sar of Solaris, HP-UX or AIX: avque and avwait, which mean \
                 different things there, were left unread",
            );
            self.release(Dialect::new(Platform::Unknown, None), out);
        }
        if !self.skipped.is_empty() {
            let list: Vec<String> = std::mem::take(&mut self.skipped).into_iter().collect();
            out.remark(&format!("tables of other activities were left out: {}", list.join("; ")));
        }
    }
}

impl Sar {
    fn banner(&mut self, banner: &Banner, out: &mut Out<'_>) -> Took {
        self.end(out);
        let dialect = Dialect::new(banner.host.platform, banner.host.release.as_deref());
        out.host(banner.host.clone());
        self.day.restarted();
        if let Some(date) = banner.date {
            self.day.set_date(date);
        }
        self.clock = self.day.clone();
        self.dialect = Some(dialect);
        self.devices = None;
        self.events.clear();
        self.tables.clear();
        self.headers.clear();
        Took::Yes
    }

    /// `System configuration: lcpu=8 ent=0.50 mode=Uncapped`: only AIX prints it.
    fn configuration(&mut self, line: &str, out: &mut Out<'_>) -> Took {
        if self.dialect.is_none() {
            self.release(Dialect::new(Platform::Aix, None), out);
            out.platform(Platform::Aix);
        }
        let host = out.place(PlaceKind::Host, "");
        for word in words(line) {
            match word.split_once('=') {
                Some(("lcpu", count)) if decimal(count).is_some() => {
                    out.fact(host, "logical_processors", decimal(count).unwrap_or(f64::NAN));
                }
                Some(("mode", mode)) => out.fact(host, "partition_mode", mode),
                Some(("ent", _)) | Some(_) | None => {}
            }
        }
        Took::Yes
    }

    fn header(&mut self, time: Option<f64>, names: &[&str], line: &str, out: &mut Out<'_>) -> Took {
        let text = names.join(" ");
        if !self.after_header {
            // A header repeats after a restart; another one begins another table of the same day.
            let repeats = self.headers.contains(&text) && !self.averaged;
            if !repeats {
                self.clock = self.day.clone();
            }
            self.tables.clear();
            self.headers.clear();
        }
        if let Some(time) = time {
            let start = self.clock.time_of_day(time, RowsKind::Interval);
            out.interval(start);
        }
        (self.current, self.averaged, self.after_header) = (0, false, true);
        let table = Activity::new(names, line, out);
        if matches!(table, Activity::Skipped) && self.skipped.len() < SKIPPED_MAX {
            self.skipped.insert(text.clone());
        }
        self.tables.push(table);
        self.headers.push(text);
        Took::Yes
    }

    /// Lines with a time that are no rows: `08:00:05  unix restarts`, `09:10:11  <State change>`.
    fn told(&mut self, time: f64, line: &str, out: &mut Out<'_>) -> Option<Took> {
        let lower = line.to_ascii_lowercase();
        let restart = lower.contains("restart");
        if !restart && !lower.contains("state change") && !lower.contains("configuration change") {
            return None;
        }
        // The counters began at this time: it is where the next interval begins.
        let at_s = self.clock.time_of_day(time, RowsKind::Instant).at_s;
        let kind = if restart { EventKind::Restart } else { EventKind::Other };
        // Each table tells it anew.
        if !self.events.contains(&at_s) {
            if self.events.len() < EVENTS_MAX {
                self.events.push(at_s);
            }
            let host = out.place(PlaceKind::Host, "");
            let text = line.split_once(' ').map_or(line, |(_, text)| text.trim());
            out.event(host, kind, at_s, text);
        }
        Some(Took::Yes)
    }

    /// Takes rows of the disks whose header was cut off, where a name tells the platform: the order of the columns is the
    /// same everywhere, and only the unit of the fourth is lost.
    fn adopt(&mut self, cells: &[(usize, &str)], out: &mut Out<'_>) -> bool {
        let texts: Vec<&str> = cells.iter().map(|(_, c)| *c).collect();
        if !is_bare_row(&texts) {
            return false;
        }
        out.remark("the header of the disks is missing: the columns were taken in the order that sar -d prints everywhere");
        self.tables = vec![Activity::Devices(BARE.iter().map(|n| (*n).to_owned()).collect())];
        self.current = 0;
        true
    }

    /// A row, or what follows the time of one.
    fn row(&mut self, cells: &[(usize, &str)], timed: bool, line: &str, out: &mut Out<'_>) -> Took {
        let texts: Vec<&str> = cells.iter().map(|(_, c)| *c).collect();
        if texts.is_empty() {
            return Took::Yes;
        }
        // Without a time a row is one more device, or of a table further on.
        let is_next = |n: usize, t: &Activity| {
            t.fits(&texts)
                && (timed || n > self.current || !matches!(t, Activity::Host { per_processor: false, .. }))
        };
        let found =
            self.tables.iter().enumerate().skip(self.current).find(|(n, t)| is_next(*n, t)).map(|(n, _)| n);
        let Some(at) = found else { return self.misfit(&texts, timed, line, out) };
        self.current = at;
        match self.tables.get(at).cloned() {
            Some(Activity::Devices(names)) => self.device(names, &texts, out),
            Some(Activity::Host { table, per_processor, blank_from }) => {
                let (place, texts) = match texts.split_first() {
                    Some((cpu, rest)) if per_processor => (processor(cpu, out), rest),
                    _ => (out.place(PlaceKind::Host, ""), texts.as_slice()),
                };
                // Two cells of four: the run queue, unless they stand further right.
                let is_swap = texts.len() == 2
                    && table.len() > 2
                    && blank_from.is_some_and(|from| cells.first().is_some_and(|(at, _)| *at + 1 >= from));
                if let Some(row) = numbers(texts.iter().copied()).filter(|_| !is_swap) {
                    table.push(place, &row, out);
                }
            }
            _ => {}
        }
        Took::Yes
    }

    fn misfit(&mut self, texts: &[&str], timed: bool, line: &str, out: &mut Out<'_>) -> Took {
        let numeric = texts.iter().filter(|c| decimal(c).is_some()).count();
        let skips = self.tables.iter().any(|t| matches!(t, Activity::Skipped));
        if skips && (timed || numeric > 0) {
            return Took::Yes;
        }
        if !timed && numeric * 2 < texts.len() {
            return Took::No;
        }
        let expected = self.tables.get(self.current).map(Activity::expected).unwrap_or_default();
        out.complain(&expected, line);
        Took::Yes
    }

    fn device(&mut self, names: Vec<String>, texts: &[&str], out: &mut Out<'_>) {
        let Some((name, cells)) = texts.split_first() else { return };
        let Some(row) = numbers(cells.iter().copied()) else { return };
        if self.dialect.is_none() {
            let header: Vec<&str> = names.iter().map(String::as_str).collect();
            let found = evidence(&header, name, cells);
            if let Some(found) = found {
                out.remark(&format!(
                    "no banner: read as sar of {} because of {}; avque and avwait mean other things elsewhere",
                    found.platform.title(),
                    found.why
                ));
                self.release(Dialect::new(found.platform, None), out);
                out.platform(found.platform);
            } else if self.waiting.len() < WAITING_MAX {
                let (origin, interval) = (out.origin(), out.current_interval());
                let name = (*name).to_owned();
                self.waiting.push(Waiting { origin, interval, header: names, name, numbers: row });
                return;
            } else {
                self.end(out);
            }
        }
        self.push_device(&names, name, &row, out);
    }

    fn push_device(&mut self, names: &[String], name: &str, row: &[f64], out: &mut Out<'_>) {
        let Some(dialect) = self.dialect else { return };
        if self.devices.as_ref().is_none_or(|(known, _)| known != names) {
            let texts: Vec<&str> = names.iter().map(String::as_str).collect();
            let columns: Vec<_> = texts.iter().map(|n| dialect.column(n)).collect();
            if let Some(remark) =
                unread(&texts, &columns).filter(|_| !std::mem::replace(&mut self.unread_told, true))
            {
                out.remark(&remark);
            }
            if !dialect.measures_queues && !std::mem::replace(&mut self.old_told, true) {
                out.remark("AIX before 5.3 prints avque, avwait and avserv as 0.0 and measures none: they were left unread");
            }
            self.devices = Some((names.to_vec(), Table::new(&columns, out)));
        }
        let column = names.first().map_or("", String::as_str);
        let place = out.place(dialect.kind(column, name), name);
        if let Some((_, table)) = &self.devices {
            table.push(place, row, out);
        }
    }

    /// The platform has shown: rows that waited for it are pushed.
    fn release(&mut self, dialect: Dialect, out: &mut Out<'_>) {
        self.dialect = Some(dialect);
        self.devices = None;
        let now = out.current_interval();
        for waiting in std::mem::take(&mut self.waiting) {
            out.interval(waiting.interval);
            let texts: Vec<&str> = waiting.header.iter().map(String::as_str).collect();
            let columns: Vec<_> = texts.iter().map(|n| dialect.column(n)).collect();
            let table = Table::new(&columns, out);
            let column = texts.first().copied().unwrap_or("");
            let place = out.place(dialect.kind(column, &waiting.name), &waiting.name);
            table.push_from(waiting.origin, place, &waiting.numbers, out);
        }
        out.interval(now);
    }
}

/// A processor by its number; `-`, `U` and words stand for all of them.
fn processor(name: &str, out: &mut Out<'_>) -> record::imported::PlaceId {
    // AIX marks those of a partition's resource set.
    let name = name.trim_start_matches('*');
    match decimal(name) {
        Some(_) => out.place(PlaceKind::Cpu, name),
        None => out.place(PlaceKind::Host, ""),
    }
}
