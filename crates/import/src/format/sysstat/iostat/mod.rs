//! `iostat` of sysstat, text, versions 5 to 12: basic, extended, short, human-readable, in any unit and locale.
//!
//! `aqu-sz` is the mean number in host queue and device together and cannot be split from this text alone; `svctm` means
//! nothing and is dropped (sysstat's manual says so since 9.1.5).

mod moment;
mod row;
mod split;
mod version;

use super::banner::Banner;
use super::device_columns::{Column, column};
use crate::clock::{Clock, time_of_day};
use crate::format::linux::collector;
use crate::format::{Format, LineFormat, Reads, Took};
use crate::out::{Layout, Out};
use crate::recognise::{Head, Likeness};
use crate::text::number::decimal;
use crate::text::words;
pub(super) use moment::Moments;
use record::imported::{Basis, Interval, PlaceId, PlaceKind, Quantity, RowsKind, facts};
use row::{Devices, Row};

/// This format.
pub(super) const FORMAT: Format = Format {
    name: "linux-iostat",
    title: "iostat of sysstat 5 to 12 (Linux), text",
    recognise,
    reads: Reads::Lines { new: || Box::new(Iostat::default()), begins },
};

fn recognise(head: &Head<'_>) -> Option<Likeness> {
    let device = head.find(is_device_header);
    let processor = head.find(|l| l.starts_with("avg-cpu:"));
    match (device, processor) {
        (Some(line), _) => Likeness::by_line(95, "header", line),
        (None, Some(line)) => Likeness::by_line(90, "header", line),
        _ => None,
    }
}

fn begins(line: &str) -> bool {
    line.starts_with("avg-cpu:") || is_device_header(line)
}

/// `Device` first or last, and at least one rate that only this iostat has.
fn is_device_header(line: &str) -> bool {
    let line = line.trim();
    let named = line.starts_with("Device") || line.ends_with("Device");
    named
        && words(line).iter().any(|w| {
            matches!(*w, "tps" | "rrqm/s" | "rqm/s" | "wrqm/s" | "aqu-sz" | "avgqu-sz")
                || matches!(*w, "rkB/s" | "rMB/s" | "rsec/s" | "drqm/s" | "d_await" | "f_await" | "%util")
        })
}

/// Which table the next rows belong to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Table {
    #[default]
    None,
    Processor,
    Device,
    /// Rows of network filesystems.
    Skipped,
}

/// The reader.
#[derive(Default)]
struct Iostat {
    clock: Clock,
    moments: Moments,
    /// A time line stood above the report that follows.
    timed: bool,
    /// Reports seen since the banner; the first is since boot.
    reports: u64,
    table: Table,
    /// The header line of the device table, to recognise it again at once.
    header: String,
    /// Headers of this report: with --pretty there are several, and one that comes again begins the next report.
    headers: Vec<String>,
    devices: Devices,
    processor: Option<(Layout, Vec<Option<usize>>)>,
    /// Place of the host, once asked for.
    host: Option<PlaceId>,
    /// Whether the text began with a banner: without one it may be cut, and its first report an interval.
    has_banner: bool,
    skips_boot: bool,
    /// The time that a collector put above the run.
    snapshot: Option<(f64, Basis)>,
    /// `Average:` reports of an interrupted run.
    average: bool,
    unread_told: bool,
    version_told: bool,
    date_told: bool,
}

impl LineFormat for Iostat {
    fn line(&mut self, line: &str, out: &mut Out<'_>) -> Took {
        // The usual case first: one more row of the table.
        if self.table == Table::Device && !line.is_empty() && line == self.header {
            self.begin_devices(out);
            return Took::Yes;
        }
        if self.table == Table::Device {
            match self.devices.row(line, out) {
                Row::Taken => return Took::Yes,
                Row::Again => {
                    self.begin_filtered(out);
                    self.devices.row(line, out);
                    return Took::Yes;
                }
                Row::None => {}
            }
        }
        let trimmed = line.trim();
        if trimmed.is_empty() {
            if matches!(self.table, Table::Processor | Table::Skipped) {
                self.table = Table::None;
            }
            return Took::Yes;
        }
        if let Some(snapshot) = collector::snapshot(trimmed) {
            self.snapshot(snapshot, out);
            return Took::Yes;
        }
        if trimmed == "^C" || collector::is_noise(trimmed) {
            return Took::Yes;
        }
        if self.table == Table::Skipped && !is_device_header(line) && !trimmed.starts_with("avg-cpu:") {
            return Took::Yes;
        }
        if trimmed.starts_with("Filesystem") && trimmed.contains("_nor/s") {
            self.table = Table::Skipped;
            out.remark("the table of network filesystems (option -n) was left unread");
            return Took::Yes;
        }
        if self.table == Table::Processor {
            self.table = Table::None;
            return self.processor_row(trimmed, out);
        }
        if trimmed.starts_with("avg-cpu:") {
            return self.processor_header(trimmed, out);
        }
        if is_device_header(line) {
            return self.device_header(line, out);
        }
        if let Some(banner) = Banner::read(trimmed) {
            return self.banner(&banner, out);
        }
        if let Some(took) = self.time_line(trimmed, out) {
            return took;
        }
        if self.table == Table::Device && self.devices.looks_like_row(trimmed) {
            out.complain(&format!("a device and {} numbers", self.devices.columns()), trimmed);
            return Took::Yes;
        }
        Took::No
    }

    fn end(&mut self, out: &mut Out<'_>) {
        self.devices.end_report(out);
    }

    fn command(&mut self, command: &str) {
        let mut numbers = Vec::new();
        for word in words(command.split(['|', '>', ';']).next().unwrap_or("")) {
            if word.starts_with('-') && !word.starts_with("--") && word.contains('y') {
                self.skips_boot = true;
            }
            numbers.extend(decimal(word).filter(|n| *n > 0.0));
        }
        if let Some(interval) = numbers.first() {
            self.clock.asked(*interval);
        }
    }
}

impl Iostat {
    fn banner(&mut self, banner: &Banner, out: &mut Out<'_>) -> Took {
        self.devices.end_report(out);
        out.host(banner.host.clone());
        self.headers.clear();
        self.host = None;
        self.devices.forget();
        self.has_banner = true;
        self.reports = 0;
        self.average = false;
        self.table = Table::None;
        self.clock.restarted();
        if let Some(date) = banner.date_in(self.moments.order(banner.date.as_deref().unwrap_or_default())) {
            self.clock.set_date(date);
        }
        Took::Yes
    }

    /// `02/10/2020 11:20:39 AM`, `Time: 03:49:57 PM`, `2010-07-27T12:46:07+1000`, and averages.
    fn time_line(&mut self, line: &str, out: &mut Out<'_>) -> Option<Took> {
        if line == "Average:" {
            self.average = true;
            self.begin_report(out);
            return Some(Took::Yes);
        }
        let moment = if let Some(time) = line.strip_prefix("Time:") {
            let seconds = time_of_day(time)?;
            self.reported(out);
            let kind = self.kind();
            Some(self.clock.time_of_day(seconds, kind))
        } else {
            let (at_s, basis) = self.moments.read(line)?;
            if self.moments.doubtful && !std::mem::replace(&mut self.date_told, true) {
                out.remark(&format!("the date of {line} was read as month/day: nothing tells the order"));
            }
            self.reported(out);
            let kind = self.kind();
            Some(self.clock.moment(at_s, basis, kind))
        };
        out.interval(moment?);
        self.timed = true;
        self.table = Table::None;
        Some(Took::Yes)
    }

    /// A report begins, and the one before has ended.
    fn reported(&mut self, out: &mut Out<'_>) {
        self.reports += 1;
        self.headers.clear();
        self.devices.end_report(out);
    }

    fn kind(&self) -> RowsKind {
        if self.average {
            RowsKind::Average
        } else if self.reports <= 1 && self.has_banner && !self.skips_boot {
            RowsKind::SinceBoot
        } else {
            RowsKind::Interval
        }
    }

    /// A collector begins another run: its first report is since boot.
    fn snapshot(&mut self, snapshot: (f64, Basis), out: &mut Out<'_>) {
        self.devices.end_report(out);
        self.headers.clear();
        self.snapshot = Some(snapshot);
        self.has_banner = true;
        self.reports = 0;
        self.average = false;
        self.timed = false;
        self.table = Table::None;
        self.clock.restarted();
    }

    /// A report without a time line of its own.
    fn begin_report(&mut self, out: &mut Out<'_>) {
        self.reported(out);
        let interval = match self.kind() {
            RowsKind::Average => Interval::unknown(RowsKind::Average),
            kind => match self.snapshot {
                // Within seconds of the snapshot.
                Some((at_s, basis)) => Interval { at_s, length_s: f64::NAN, basis, kind },
                None => self.clock.next(kind),
            },
        };
        out.interval(interval);
    }

    fn processor_header(&mut self, line: &str, out: &mut Out<'_>) -> Took {
        if !self.timed && !self.average {
            self.begin_report(out);
        }
        self.timed = true;
        let kept = |name: &str| match name {
            "%user" => Some(Quantity::CpuUserPercent),
            "%nice" => Some(Quantity::CpuNicePercent),
            "%system" | "%sys" => Some(Quantity::CpuSystemPercent),
            "%iowait" => Some(Quantity::CpuIowaitPercent),
            "%steal" => Some(Quantity::CpuStealPercent),
            "%idle" => Some(Quantity::CpuIdlePercent),
            _ => None,
        };
        let quantities: Vec<Option<Quantity>> = words(line).into_iter().skip(1).map(kept).collect();
        let known: Vec<Quantity> = quantities.iter().copied().flatten().collect();
        let mut next = 0;
        let columns = quantities
            .iter()
            .map(|q| {
                next += usize::from(q.is_some());
                q.map(|_| next - 1)
            })
            .collect();
        self.processor = Some((out.layout(&known), columns));
        self.table = Table::Processor;
        Took::Yes
    }

    fn processor_row(&mut self, line: &str, out: &mut Out<'_>) -> Took {
        let Some((layout, columns)) = &self.processor else { return Took::No };
        let cells = words(line);
        let numbers: Option<Vec<f64>> = cells.iter().map(|c| decimal(c.trim_end_matches('%'))).collect();
        let Some(numbers) = numbers.filter(|n| n.len() == columns.len()) else {
            out.complain(&format!("{} percentages of processor time", columns.len()), line);
            return Took::Yes;
        };
        let mut row = vec![f64::NAN; columns.iter().flatten().count()];
        for (number, column) in numbers.iter().zip(columns) {
            if let Some(column) = column {
                row[*column] = *number;
            }
        }
        let host = *self.host.get_or_insert_with(|| out.place(PlaceKind::Host, ""));
        out.row(*layout, host, &row);
        Took::Yes
    }

    fn device_header(&mut self, line: &str, out: &mut Out<'_>) -> Took {
        let columns: Vec<Column> = words(line).into_iter().map(column).collect();
        let unread: Vec<&str> = words(line)
            .into_iter()
            .zip(&columns)
            .filter(|(_, c)| **c == Column::Unread)
            .map(|(w, _)| w)
            .collect();
        if !unread.is_empty() && !std::mem::replace(&mut self.unread_told, true) {
            out.remark(&format!("columns that are not known here were left unread: {}", unread.join(" ")));
        }
        if !std::mem::replace(&mut self.version_told, true) {
            let host = out.place(PlaceKind::Host, "");
            out.fact(host, facts::TOOL_VERSION, version::of(&words(line)));
        }
        self.devices.set_columns(line, &columns, out);
        self.header = line.to_owned();
        self.begin_devices(out);
        Took::Yes
    }

    /// A report whose header was filtered out.
    #[cold]
    fn begin_filtered(&mut self, out: &mut Out<'_>) {
        if !self.timed && !self.average {
            self.begin_report(out);
        }
        self.timed = false;
        self.devices.begin_table(out);
    }

    fn begin_devices(&mut self, out: &mut Out<'_>) {
        // A line of time or the processor table above has begun the report, unless there was none (option -d).
        let goes_on = !self.headers.is_empty() && !self.headers.contains(&self.header);
        if !self.timed && !self.average && !goes_on {
            self.begin_report(out);
        }
        if self.headers.len() < 8 {
            self.headers.push(self.header.clone());
        }
        self.timed = false;
        self.table = Table::Device;
        self.devices.begin_table(out);
    }
}
