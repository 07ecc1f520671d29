//! Orion (Oracle I/O calibration tool), 10.2 to 19c: summary, standard output, matrices, histograms, trace.

mod matrix;
mod result;

use crate::format::{Format, LineFormat, Reads, Took};
use crate::out::Out;
use crate::recognise::{Head, Likeness};
use crate::text::number::decimal;
use matrix::Matrix;
use record::IoClass;
use record::imported::Quantity::*;
use record::imported::{Interval, Origin, PlaceId, PlaceKind, Quantity, RowsKind};
use result::{Point, What};

/// Orion.
pub(super) const ORION: Format = Format {
    name: "orion",
    title: "Oracle Orion, its summary, output, matrices and histograms (10.2 to 19c)",
    recognise,
    reads: Reads::Lines { new: || Box::<Orion>::default(), begins },
};

const MIB: f64 = 1_048_576.0;
/// Files of a run that are named one by one.
const FILES_MAX: usize = 1000;

fn recognise(head: &Head<'_>) -> Option<Likeness> {
    if let Some(line) = head.find(|l| release(l).is_some()) {
        return Likeness::by_line(97, "heading", line);
    }
    if let Some(line) = head.find(|l| result::split(l).is_some() || matrix::is_head(l)) {
        return Likeness::by_line(92, "result", line);
    }
    Likeness::by_line(
        85,
        "trace",
        head.find(|l| l.starts_with("ran (small):") || l.starts_with("ran (large):"))?,
    )
}

fn begins(line: &str) -> bool {
    line.starts_with("ORION VERSION") || line.starts_with("ORION: ORacle IO Numbers") || matrix::is_head(line)
}

/// The release of a heading. One whose first letters were lost when it was copied counts too.
fn release(line: &str) -> Option<&str> {
    let line = line.trim();
    let after = line.split_once("RION VERSION ").filter(|(before, _)| before.len() <= 1).map(|(_, r)| r);
    let release = after.or_else(|| line.split_once("ORacle IO Numbers -- Version").map(|(_, r)| r))?.trim();
    Some(release).filter(|r| r.contains('.'))
}

/// Reads Orion's output.
#[derive(Default)]
struct Orion {
    /// Name of the test.
    name: String,
    /// Names that earlier runs in the same text had.
    earlier: Vec<String>,
    /// Facts that stood above the name of the test.
    told: Vec<(&'static str, String)>,
    job: Option<PlaceId>,
    files: usize,
    /// Microseconds of a latency without a unit.
    unit_us: Option<f64>,
    point_s: f64,
    /// The data point whose values are being gathered.
    point: Option<Gathering>,
    matrix: Matrix,
    histogram: Option<Histogram>,
    is_command: bool,
}

/// Results of one data point.
struct Gathering {
    origin: Origin,
    point: Option<Point>,
    values: Vec<(Quantity, f64)>,
}

struct Histogram {
    origin: Origin,
    point: Option<Point>,
    is_large: bool,
    reads: Vec<(f64, f64)>,
    writes: Vec<(f64, f64)>,
}

impl LineFormat for Orion {
    fn line(&mut self, line: &str, out: &mut Out<'_>) -> Took {
        let text = line.trim();
        if text.is_empty() {
            return Took::Yes;
        }
        if let Some(histogram) = &mut self.histogram {
            let is_full = histogram.reads.len() >= FILES_MAX;
            if let Some((bound, reads, writes)) = result::bucket(line).filter(|_| !is_full) {
                histogram.reads.push((bound, reads));
                histogram.writes.extend(writes.map(|n| (bound, n)));
                return Took::Yes;
            }
            if text.starts_with("Latency:") {
                return Took::Yes;
            }
            self.end_histogram(out);
        }
        if let Some(release) = release(line) {
            self.begin_run(release, out);
        } else if let Some(results) = result::split(line) {
            for text in results {
                match result::read(text) {
                    Some((what, point)) => self.result(what, point, out),
                    None => out.complain("a result and its data point", text),
                }
            }
        } else if matrix::is_head(line) {
            self.end_matrix(out);
            self.matrix.head(line, out);
        } else if self.matrix.row(line, out) || self.ran(text, out) || self.setting(text, out) {
        } else if let Some(told) = matrix::told(text) {
            self.matrix.told = Some(told);
        } else if text.contains('@') || super::is_foreign(line, &[ORION.name]) {
            return Took::No;
        }
        Took::Yes
    }

    fn end(&mut self, out: &mut Out<'_>) {
        self.end_run(out);
    }
}

impl Orion {
    fn begin_run(&mut self, release: &str, out: &mut Out<'_>) {
        self.end_run(out);
        let earlier = std::mem::take(&mut self.earlier);
        *self = Self { earlier, point_s: f64::NAN, ..Self::default() };
        // `11.1.0.7.0`, `RDBMS_19.3.0.0.0DBRU_...`: up to 11.1 milliseconds.
        let digits = release.trim_start_matches(|c: char| !c.is_ascii_digit());
        let mut parts = digits.split('.').map(|p| p.parse::<u32>().unwrap_or(0));
        let version = (parts.next().unwrap_or(0), parts.next().unwrap_or(0));
        self.unit_us = Some(if version < (11, 2) { 1e3 } else { 1.0 });
        self.told.push(("orion_release", release.to_owned()));
    }

    fn end_run(&mut self, out: &mut Out<'_>) {
        self.end_point(out);
        self.end_histogram(out);
        self.end_matrix(out);
        if !self.told.is_empty() {
            self.job(out);
        }
        if !self.name.is_empty() && self.earlier.len() < FILES_MAX {
            self.earlier.push(std::mem::take(&mut self.name));
        }
    }

    /// The run as a place. A second run of the same name in one text gets a number.
    fn job(&mut self, out: &mut Out<'_>) -> PlaceId {
        let job = match self.job {
            Some(job) => job,
            None => {
                let base = if self.name.is_empty() { "orion".to_owned() } else { self.name.clone() };
                let is_again = |earlier: &&String| {
                    **earlier == base
                        || earlier.strip_prefix(&base).is_some_and(|rest| rest.starts_with(" #"))
                };
                let before = self.earlier.iter().filter(is_again).count();
                self.name = if before == 0 { base } else { format!("{base} #{}", before + 1) };
                let job = out.place(PlaceKind::Job, &self.name);
                self.job = Some(job);
                let length_s = if self.point_s > 0.0 { self.point_s } else { f64::NAN };
                out.interval(Interval { length_s, ..Interval::unknown(RowsKind::Period) });
                job
            }
        };
        for (name, value) in std::mem::take(&mut self.told) {
            match decimal(&value) {
                Some(number) => out.fact(job, name, number),
                None => out.fact(job, name, value),
            }
        }
        job
    }

    /// A line of the description of the test; whether it was one.
    fn setting(&mut self, text: &str, out: &mut Out<'_>) -> bool {
        if std::mem::take(&mut self.is_command) {
            self.told.push(("command", text.to_owned()));
            return true;
        }
        // `mytest_20180404_1250` on a line of its own.
        let mut parts = text.rsplitn(3, '_');
        if let (Some(time), Some(day), Some(name)) = (parts.next(), parts.next(), parts.next()) {
            let digits = |t: &str, n| t.len() == n && t.bytes().all(|b| b.is_ascii_digit());
            if digits(time, 4) && digits(day, 8) && !name.contains(' ') {
                name.clone_into(&mut self.name);
                self.told.push(("started", format!("{day} {time}")));
                return true;
            }
        }
        let Some((label, value)) = text.split_once(':') else {
            return text.ends_with("found.");
        };
        let value = value.trim();
        let kib = || value.split_once(' ').and_then(|(n, unit)| Some((decimal(n)?, unit)));
        match label {
            "Commandline" => self.is_command = value.is_empty(),
            "Test" => value.clone_into(&mut self.name),
            "Small IO size" | "Large IO size" => {
                let name = if label.starts_with('S') { "small_io_bytes" } else { "large_io_bytes" };
                match kib() {
                    Some((size, "KB")) => self.told.push((name, (size * 1024.0).to_string())),
                    _ => out.complain("a size in KB", text),
                }
            }
            "Duration for each Data Point" => match kib() {
                Some((seconds, _)) => {
                    self.point_s = seconds;
                    self.told.push(("data_point_s", seconds.to_string()));
                }
                None => out.complain("seconds of a data point", text),
            },
            "Write" => match decimal(value.trim_end_matches('%')) {
                Some(percent) => self.told.push(("write_percent", percent.to_string())),
                None => out.complain("percent of writes", text),
            },
            "IO Types" | "I/O Types" => self.told.push(("io_types", value.to_owned())),
            "Simulated Array Type" => self.told.push(("simulated_array", value.to_owned())),
            "Cache Size" => self.told.push(("cache_size", value.to_owned())),
            "Stripe Depth" => self.told.push(("stripe_depth", value.to_owned())),
            "Name" => {
                let (name, size) = value.split_once("Size:").unwrap_or((value, ""));
                self.files += 1;
                if self.files <= FILES_MAX {
                    let job = self.job(out);
                    out.fact(job, "file", name.trim());
                    if let Some(size) = decimal(size.trim()) {
                        out.fact(job, "file_size_bytes", size);
                    }
                }
            }
            "Small Columns" | "Large Columns" | "Total Data Points" | "This maps to this test" => {}
            _ => return false,
        }
        true
    }

    fn result(&mut self, what: What, point: Option<Point>, out: &mut Out<'_>) {
        if let What::Histogram { is_large } = what {
            self.end_point(out);
            let (reads, writes) = (Vec::new(), Vec::new());
            self.histogram = Some(Histogram { origin: out.origin(), point, is_large, reads, writes });
            return;
        }
        // Results of the same data point are one row: rate and time belong together.
        if self.point.as_ref().is_none_or(|g| g.point != point || point.is_none()) {
            self.end_point(out);
            self.point = Some(Gathering { origin: out.origin(), point, values: Vec::new() });
        }
        let unit_us = self.unit_us.unwrap_or(1e3);
        let Some(Gathering { values, .. }) = &mut self.point else { return };
        let mut set = |quantity: Quantity, value: f64, best: fn(f64, f64) -> f64| match values
            .iter_mut()
            .find(|(q, _)| *q == quantity)
        {
            Some((_, known)) => *known = best(*known, value),
            None => values.push((quantity, value)),
        };
        let last: fn(f64, f64) -> f64 = |_, new| new;
        match what {
            What::Iops(iops) => set(Iops, iops, last),
            What::Mbps(mbps) => set(BytesPerS, mbps * MIB, last),
            What::Latency(time, unit) => set(ResponseUs, time * unit.unwrap_or(unit_us), last),
            What::Times { is_write, is_large: false, mean_us, min_us, max_us } => {
                set(if is_write { WriteResponseUs } else { ReadResponseUs }, mean_us, last);
                set(ResponseMinUs, min_us, f64::min);
                set(ResponseMaxUs, max_us, f64::max);
            }
            What::Times { is_write: false, mean_us, .. } => set(LargeReadUs, mean_us, last),
            What::Times { .. } | What::Histogram { .. } => {}
        }
    }

    fn end_point(&mut self, out: &mut Out<'_>) {
        let Some(Gathering { origin, point, values }) = self.point.take() else { return };
        let job = self.job(out);
        let Point { small, large } = point.unwrap_or(Point { small: f64::NAN, large: f64::NAN });
        let mut row = vec![(Concurrency, small), (LargeConcurrency, large)];
        row.extend(values);
        out.put_from(origin, job, &row);
    }

    fn end_matrix(&mut self, out: &mut Out<'_>) {
        if self.matrix.is_empty() {
            return;
        }
        let job = self.job(out);
        self.matrix.end(job, self.unit_us, out);
    }

    fn end_histogram(&mut self, out: &mut Out<'_>) {
        let Some(histogram) = self.histogram.take() else { return };
        self.job(out);
        let mut name = self.name.clone();
        if let Some(Point { small, large }) = histogram.point {
            name += &format!(" @ Small={small} and Large={large}");
        }
        if histogram.is_large {
            name += ", large";
        }
        for (class, buckets) in [(IoClass::Read, histogram.reads), (IoClass::Write, histogram.writes)] {
            if buckets.iter().any(|(_, n)| *n > 0.0) {
                let place = out.place(PlaceKind::Job, &name);
                out.distribution_from(histogram.origin, place, ResponseUs, Some(class), buckets);
            }
        }
    }

    /// A line of the trace: `ran (small): my 1 oth 0 iops 173 size 8 K lat 5.76 ms bw = 1.36 MBps dur 59.96 s READ`.
    fn ran(&mut self, text: &str, out: &mut Out<'_>) -> bool {
        let Some(rest) = text.strip_prefix("ran (") else { return false };
        let is_large = rest.starts_with("large");
        let words: Vec<&str> = rest.split_ascii_whitespace().filter(|w| *w != "=").collect();
        let of = |name: &str| {
            let at = words.iter().position(|w| *w == name)?;
            Some((decimal(words.get(at + 1)?)?, words.get(at + 2).copied().unwrap_or("")))
        };
        let (Some((own, _)), Some((other, _)), Some((iops, _))) = (of("my"), of("oth"), of("iops")) else {
            return true;
        };
        let latency = of("lat").and_then(|(time, unit)| Some(time * result::unit_us(unit)?));
        let bytes = of("bw").filter(|(_, unit)| *unit == "MBps").map(|(mb, _)| mb * MIB);
        let (small, large) = if is_large { (other, own) } else { (own, other) };
        let job = self.job(out);
        let values = [
            (Concurrency, small),
            (LargeConcurrency, large),
            (Iops, iops),
            (ResponseUs, latency.unwrap_or(f64::NAN)),
            (BytesPerS, bytes.unwrap_or(f64::NAN)),
        ];
        out.put(job, &values);
        true
    }
}
