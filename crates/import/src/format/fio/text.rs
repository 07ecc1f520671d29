//! fio's normal output, versions 2 and 3: a block for each job or group, and the disks below them.

use super::job::{CUT_OFF, Direction, Job, depth};
use super::text_line::{disk, field, issued, microseconds, moment, rates, shares, times};
use crate::format::{Format, LineFormat, Reads, Took};
use crate::out::Out;
use crate::recognise::{Head, Likeness};
use crate::text::number::decimal;
use record::imported::{Basis, Interval, PlaceKind, Quantity, RowsKind};
use std::collections::HashMap;

/// This format.
pub(super) const FORMAT: Format = Format {
    name: "fio-text",
    title: "fio 2 and 3, normal output",
    recognise,
    reads: Reads::Lines { new: || Box::new(Text::default()), begins },
};

fn recognise(head: &Head<'_>) -> Option<Likeness> {
    Likeness::by_line(93, "line of a job", head.find(begins)?)
}

fn begins(line: &str) -> bool {
    is_job(line) || is_options(line)
}

/// `name: (groupid=0, jobs=1): err= 0: pid=77: Tue Mar  1 10:00:00 2016`.
fn is_job(line: &str) -> bool {
    line.contains("(groupid=") && line.contains("jobs=") && line.contains("err=")
}

/// `name: (g=0): rw=randwrite, bs=..., ioengine=libaio, iodepth=128`.
fn is_options(line: &str) -> bool {
    line.contains(": (g=") && line.contains("rw=") && line.contains("ioengine=")
}

/// Jobs whose options are remembered.
const OPTIONS_MAX: usize = 10_000;

/// Which lines the next ones continue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Section {
    #[default]
    None,
    Read,
    Write,
    Trim,
    Mixed,
    Sync,
    Disks,
}

/// The reader.
#[derive(Default)]
struct Text {
    job: Option<Job>,
    /// Engine and depth of each job, by name.
    options: HashMap<String, (Option<String>, Option<f64>)>,
    section: Section,
    /// Microseconds of a unit of the percentiles that follow.
    percentile_us: f64,
    percentiles_of_sync: bool,
    shares: Vec<(f64, f64)>,
    depths: Vec<(f64, f64)>,
    jobs_asked: f64,
    error: f64,
    cut_off: bool,
    seen: bool,
}

impl LineFormat for Text {
    fn line(&mut self, line: &str, out: &mut Out<'_>) -> Took {
        let trimmed = line.trim();
        // Progress is written over itself with carriage returns; the last piece stands.
        let trimmed = trimmed.rsplit('\r').next().unwrap_or(trimmed).trim();
        if trimmed.is_empty() || is_noise(trimmed) {
            return Took::Yes;
        }
        if is_job(trimmed) {
            self.finish(out);
            return self.begin(trimmed, out);
        }
        if is_options(trimmed) {
            self.options(trimmed, out);
            return Took::Yes;
        }
        if trimmed.starts_with("Run status group") || trimmed.starts_with("All clients:") {
            self.finish(out);
            return Took::Yes;
        }
        if trimmed.starts_with("Disk stats") {
            self.finish(out);
            self.section = Section::Disks;
            return Took::Yes;
        }
        if self.section == Section::Disks && trimmed.contains(": ios=") {
            if disk(trimmed).map(|disk| disk.push(out)).is_none() {
                out.complain("a disk with ios, merge, ticks, in_queue and util", trimmed);
            }
            return Took::Yes;
        }
        if self.job.is_some() {
            return self.inside(trimmed, out);
        }
        // The sums of a group (`READ: bw=...`) follow from its jobs.
        if self.seen && (trimmed.contains("bw=") || trimmed.contains("aggrb=")) {
            Took::Yes
        } else {
            Took::No
        }
    }

    fn end(&mut self, out: &mut Out<'_>) {
        self.finish(out);
        if std::mem::take(&mut self.cut_off) {
            out.remark(CUT_OFF);
        }
    }
}

fn is_noise(line: &str) -> bool {
    const STARTS: [&str; 7] =
        ["fio-", "Starting ", "Jobs: ", "...", "Laying out", "fio: ", "note: both iodepth"];
    STARTS.iter().any(|s| line.starts_with(s))
        || line.contains(": Laying out IO file")
        || line.starts_with("hostname=")
}

impl Text {
    fn options(&mut self, line: &str, out: &mut Out<'_>) {
        let Some((name, rest)) = line.split_once(": (g=") else { return };
        let place = out.place(PlaceKind::Job, name.trim());
        self.seen = true;
        let mut engine = None;
        let mut iodepth = None;
        let rest = rest.split_once("): ").map_or(rest, |(_, r)| r);
        // Sizes hold commas: `bs=(R) 4096B-4096B, (W) 4096B-4096B, (T) ..., ioengine=...`.
        let mut pairs: Vec<(&str, String)> = Vec::new();
        for part in rest.split(", ") {
            match (part.split_once('='), pairs.last_mut()) {
                (Some((key, value)), _) => pairs.push((key.trim(), value.trim().to_owned())),
                (None, Some((_, value))) => {
                    value.push_str(", ");
                    value.push_str(part);
                }
                _ => {}
            }
        }
        for (key, value) in &pairs {
            out.fact(place, &format!("fio_{key}"), value.as_str());
            match *key {
                "ioengine" => engine = Some(value.clone()),
                "iodepth" => iodepth = decimal(value),
                _ => {}
            }
        }
        if self.options.len() < OPTIONS_MAX {
            self.options.insert(name.trim().to_owned(), (engine, iodepth));
        }
    }

    fn begin(&mut self, line: &str, out: &mut Out<'_>) -> Took {
        let Some((name, rest)) = line.split_once(": (groupid=") else {
            out.complain("a job's name, group and error", line);
            return Took::Yes;
        };
        let name = name.trim();
        self.seen = true;
        self.jobs_asked =
            field(rest, "jobs=").and_then(|v| decimal(v.trim_end_matches([')', ':']))).unwrap_or(1.0);
        self.error = rest
            .split_once("err=")
            .and_then(|(_, e)| decimal(e.trim_start().split([':', ' ', '(']).next()?))
            .unwrap_or(0.0);
        let mut job = Job { name: name.to_owned(), ..Job::default() };
        if let Some((engine, iodepth)) = self.options.get(name) {
            job.concurrency = depth(engine.as_deref(), *iodepth) * self.jobs_asked;
        }
        if let Some(at_s) = rest.split_once("pid=").and_then(|(_, r)| moment(r.split_once(": ")?.1)) {
            (job.at_s, job.basis) = (at_s, Basis::Local);
        }
        self.job = Some(job);
        self.section = Section::None;
        Took::Yes
    }

    fn inside(&mut self, line: &str, out: &mut Out<'_>) -> Took {
        let Some(job) = &mut self.job else { return Took::No };
        let (label, rest) = match line.split_once(':') {
            Some((label, rest)) => (label.trim(), rest.trim()),
            None => ("", line),
        };
        let section = match label {
            "read" => Some(Section::Read),
            "write" => Some(Section::Write),
            "trim" => Some(Section::Trim),
            "mixed" => Some(Section::Mixed),
            _ => None,
        };
        if let (Some(section), true) = (section, rest.contains('=')) {
            self.section = section;
            match (rates(rest), direction(job, section)) {
                (Some(read), Some(slot)) => *slot = read,
                _ => out.complain("IOPS=, BW= and the time of a direction", line),
            }
            return Took::Yes;
        }
        if line.starts_with('|') {
            return self.percentiles(line, out);
        }
        let (word, unit) =
            label.split_once(" (").map_or((label, None), |(w, u)| (w.trim(), Some(u.trim_end_matches(')'))));
        let to_us = unit.and_then(microseconds);
        match (word, to_us) {
            ("slat" | "clat" | "lat" | "sync", Some(to_us)) if rest.contains("avg=") => {
                let times = times(rest, to_us);
                let section = self.section;
                match (word, direction(job, section)) {
                    ("sync", _) => {
                        job.sync = times;
                        self.section = Section::Sync;
                    }
                    ("slat", Some(of)) => of.submit = times,
                    ("clat", Some(of)) => of.completion = times,
                    ("lat", Some(of)) => of.total = times,
                    _ => {}
                }
            }
            (
                "clat percentiles" | "lat percentiles" | "slat percentiles" | "sync percentiles",
                Some(to_us),
            ) => {
                self.percentile_us = to_us;
                self.percentiles_of_sync = !matches!(word, "clat percentiles" | "lat percentiles");
                if let (false, Some(of)) = (self.percentiles_of_sync, direction(job, self.section)) {
                    of.percentiles.clear();
                }
            }
            ("lat", Some(to_us)) => self.shares.extend(shares(rest, to_us)),
            ("cpu", _) => {
                let percent = |key: &str| {
                    field(rest, key).and_then(|v| decimal(v.trim_end_matches('%'))).unwrap_or(f64::NAN)
                };
                (job.user_percent, job.system_percent) = (percent("usr="), percent("sys="));
            }
            ("IO depths", _) => self.depths = shares(rest, 1.0),
            ("issued" | "issued rwt" | "issued rwts", _) => issued(job, label, rest),
            ("fsync/fdatasync/sync_file_range", _) => self.section = Section::Sync,
            ("latency", _) => {
                let told = field(rest, "depth=").and_then(decimal).filter(|_| job.concurrency.is_nan());
                if let Some(depth) = told {
                    job.concurrency = depth * self.jobs_asked;
                }
            }
            (
                "bw" | "iops" | "submit" | "complete" | "errors" | "zone resets" | "Description" | "cpu_load",
                _,
            ) => {}
            _ => return Took::No,
        }
        Took::Yes
    }

    /// `| 50.00th=[ 163], 60.00th=[ 172],`.
    fn percentiles(&mut self, line: &str, out: &mut Out<'_>) -> Took {
        let to_us = self.percentile_us;
        let of_sync = self.percentiles_of_sync;
        let section = self.section;
        let Some(of) = self.job.as_mut().and_then(|job| direction(job, section)) else { return Took::Yes };
        for part in line.trim_start_matches('|').split("],") {
            let Some((percent, value)) = part.trim().split_once("th=[") else {
                if !part.trim().is_empty() {
                    out.complain("percentiles: 99.00th=[ 2114]", line);
                }
                continue;
            };
            let value = value
                .trim()
                .trim_end_matches([']', ','])
                .trim()
                .trim_start_matches('>')
                .trim_start_matches('=');
            match (decimal(percent.trim()), decimal(value)) {
                (Some(percent), Some(value)) if !of_sync => of.percentiles.push((percent, value * to_us)),
                (Some(_), Some(_)) => {}
                _ => out.complain("percentiles: 99.00th=[ 2114]", line),
            }
        }
        Took::Yes
    }

    fn finish(&mut self, out: &mut Out<'_>) {
        let (shares, depths) = (std::mem::take(&mut self.shares), std::mem::take(&mut self.depths));
        self.section = Section::None;
        let Some(job) = self.job.take() else { return };
        self.cut_off |= job.push(out);
        let place = out.place(PlaceKind::Job, &job.name);
        if self.error != 0.0 {
            out.fact(place, "error", self.error);
        }
        if !shares.is_empty() {
            out.distribution(place, Quantity::ResponseUs, None, shares);
        }
        if !depths.is_empty() {
            out.distribution(place, Quantity::OutstandingInstant, None, depths);
        }
        out.interval(Interval { length_s: f64::NAN, kind: RowsKind::Period, ..out.current_interval() });
    }
}

fn direction(job: &mut Job, section: Section) -> Option<&mut Direction> {
    match section {
        Section::Read => Some(&mut job.read),
        Section::Write => Some(&mut job.write),
        Section::Trim => Some(&mut job.trim),
        Section::Mixed => Some(&mut job.mixed),
        _ => None,
    }
}
