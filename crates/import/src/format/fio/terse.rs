//! fio's terse lines (`--minimal`, `--output-format=terse`), versions 2 to 5: fields by `;`, one line for each job.
//!
//! After a head come blocks of a direction (reads, writes, since version 4 trims), each with percentiles between its
//! completion and total times; version 5 has six fields more in each. Latencies are microseconds in every version.

use super::job::{CUT_OFF, Direction, Disk, Job, Times};
use crate::format::{Format, LineFormat, Reads, Took};
use crate::out::Out;
use crate::recognise::{Head, Likeness};
use crate::text::number::decimal;
use record::imported::{Interval, PlaceKind, Quantity, RowsKind};

/// This format.
pub(super) const FORMAT: Format = Format {
    name: "fio-terse",
    title: "fio, terse lines of versions 2 to 5",
    recognise,
    reads: Reads::Lines { new: || Box::new(Terse::default()), begins: is_terse },
};

fn recognise(head: &Head<'_>) -> Option<Likeness> {
    Likeness::by_line(95, "fields", head.find(is_terse)?)
}

/// A version, then fio's (or, in version 2, the job), and numbers by semicolons.
fn is_terse(line: &str) -> bool {
    let mut fields = line.trim_start().split(';');
    match (fields.next(), fields.next()) {
        (Some("3" | "4" | "5"), Some(version)) => version.starts_with("fio"),
        (Some("2"), Some(_)) => fields.filter(|f| decimal(f.trim_end_matches('%')).is_some()).count() > 20,
        _ => false,
    }
}

/// Fields left of a line.
struct Fields<'l> {
    all: Vec<&'l str>,
    at: usize,
}

impl<'l> Fields<'l> {
    fn next(&mut self) -> Option<&'l str> {
        let field = self.all.get(self.at).copied()?;
        self.at += 1;
        Some(field)
    }

    fn peek(&self) -> &'l str {
        self.all.get(self.at).copied().unwrap_or("")
    }

    /// A number, with or without a percent sign.
    fn number(&mut self) -> Option<f64> {
        decimal(self.next()?.trim().trim_end_matches('%'))
    }

    /// Whether the line has this field and one after it, so that it is whole.
    fn is_cut(&self) -> bool {
        self.at >= self.all.len()
    }
}

/// The reader.
#[derive(Default)]
struct Terse {
    cut_off_told: bool,
    /// The disks said last: every line of a run repeats them.
    disks: String,
}

impl LineFormat for Terse {
    fn line(&mut self, line: &str, out: &mut Out<'_>) -> Took {
        let line = line.trim();
        if line.is_empty() {
            return Took::Yes;
        }
        if !is_terse(line) {
            return Took::No;
        }
        let mut fields = Fields { all: line.split(';').collect(), at: 0 };
        let version = fields.next().unwrap_or("");
        let fio = if version == "2" { None } else { fields.next() };
        let mut job = Job { name: fields.next().unwrap_or("").to_owned(), ..Job::default() };
        fields.next();
        let error = fields.number();
        let whole = self.rest(version, &mut fields, &mut job, out);
        if whole.is_none() {
            out.complain(
                "the fields of a terse line of fio",
                line.get(line.len().saturating_sub(60)..).unwrap_or(line),
            );
        }
        let place = out.place(PlaceKind::Job, &job.name);
        if let Some(fio) = fio {
            out.fact(place, "fio_version", fio);
        }
        if let Some(error) = error.filter(|e| *e != 0.0) {
            out.fact(place, "error", error);
        }
        Took::Yes
    }
}

impl Terse {
    /// Directions, processor, distributions, disks; `None` when the line is cut off or damaged. What came before is said.
    fn rest(
        &mut self,
        version: &str,
        fields: &mut Fields<'_>,
        job: &mut Job,
        out: &mut Out<'_>,
    ) -> Option<()> {
        let mut whole = Some(());
        for number in 0..3 {
            match direction(fields, version == "5") {
                Some(read) if number == 0 => job.read = read,
                Some(write) if number == 1 => job.write = write,
                Some(trim) => job.trim = trim,
                None => {
                    whole = None;
                    break;
                }
            }
            // The share of user time follows the last direction.
            if fields.peek().ends_with('%') {
                break;
            }
        }
        if whole.is_some() {
            job.user_percent = fields.number().unwrap_or(f64::NAN);
            job.system_percent = fields.number().unwrap_or(f64::NAN);
        }
        if job.push(out) && !std::mem::replace(&mut self.cut_off_told, true) {
            out.remark(CUT_OFF);
        }
        whole?;
        for _ in 0..3 {
            fields.number()?;
        }
        let place = out.place(PlaceKind::Job, &job.name);
        let depths = shares(fields, &[1.0, 2.0, 4.0, 8.0, 16.0, 32.0, f64::INFINITY], 1.0)?;
        out.distribution(place, Quantity::OutstandingInstant, None, depths);
        const STEPS: [f64; 12] =
            [2.0, 4.0, 10.0, 20.0, 50.0, 100.0, 250.0, 500.0, 750.0, 1000.0, 2000.0, f64::INFINITY];
        let mut times = shares(fields, &STEPS[..10], 1.0)?;
        times.extend(shares(fields, &STEPS, 1e3)?);
        out.distribution(place, Quantity::ResponseUs, None, times);
        out.interval(Interval::unknown(RowsKind::Period));
        let is_disk = |f: &Fields<'_>| f.all.get(f.at + 8).is_some_and(|busy| busy.ends_with('%'));
        let text = fields.all.get(fields.at..).unwrap_or_default().join(";");
        let is_new = self.disks != text;
        while is_disk(fields) {
            let disk = disk(fields)?;
            if is_new {
                disk.push(out);
            }
        }
        self.disks = text;
        // What may follow is an error's text and the description of the job.
        Some(())
    }
}

/// `io KiB; bw KiB/s; iops; runtime ms; slat; clat; percentiles; lat; bw: min max share mean deviation`.
fn direction(fields: &mut Fields<'_>, has_samples: bool) -> Option<Direction> {
    let kib = fields.number()?;
    let mut read =
        Direction { bytes_per_s: fields.number()? * 1024.0, iops: fields.number()?, ..Direction::default() };
    read.runtime_s = fields.number()? / 1e3;
    read.submit = times(fields)?;
    read.completion = times(fields)?;
    while let Some((percent, us)) = fields.peek().split_once("%=") {
        if fields.is_cut() {
            return None;
        }
        let (percent, us) = (decimal(percent)?, decimal(us)?);
        if percent > 0.0 {
            read.percentiles.push((percent, us));
        }
        fields.at += 1;
    }
    read.total = times(fields)?;
    let more = if has_samples { 11 } else { 5 };
    for _ in 0..more {
        // A line that ends here has told all that is kept.
        if fields.next().is_none() {
            break;
        }
    }
    if kib == 0.0 && read.iops == 0.0 {
        read.ios = 0.0;
    }
    Some(read)
}

/// `min; max; mean; deviation`, microseconds.
fn times(fields: &mut Fields<'_>) -> Option<Times> {
    let times = Times { min_us: fields.number()?, max_us: fields.number()?, mean_us: fields.number()? };
    fields.number()?;
    Some(times)
}

fn shares(fields: &mut Fields<'_>, bounds: &[f64], factor: f64) -> Option<Vec<(f64, f64)>> {
    let mut all = Vec::with_capacity(bounds.len());
    for bound in bounds {
        all.push((bound * factor, fields.number()? / 100.0));
    }
    Some(all)
}

/// `name; reads; writes; read merges; write merges; read ms; write ms; ms in queue; busy %`.
fn disk(fields: &mut Fields<'_>) -> Option<Disk> {
    Some(Disk {
        name: fields.next()?.to_owned(),
        reads: fields.number()?,
        writes: fields.number()?,
        read_sectors: f64::NAN,
        write_sectors: f64::NAN,
        read_merges: fields.number()?,
        write_merges: fields.number()?,
        read_ms: fields.number()?,
        write_ms: fields.number()?,
        in_queue_ms: fields.number()?,
        busy_percent: fields.number()?,
    })
}
