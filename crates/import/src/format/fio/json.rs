//! fio's JSON (`--output-format=json`, `json+`), versions 2 and 3, alone or from a server (`client_stats`), with whatever
//! stands before and after it.
//!
//! Latencies are microseconds in version 2 (`clat`) and nanoseconds since 3.0 (`clat_ns`); `bw` is KiB/s in both.

use super::job::{CUT_OFF, Direction, Disk, Job, Times, depth};
use super::json_scan::Scan;
use crate::format::{DocumentFormat, Format, Reads};
use crate::out::Out;
use crate::recognise::{Head, Likeness};
use crate::source::DocumentInput;
use record::IoClass;
use record::imported::{Basis, Host, Interval, PlaceKind, Quantity, RowsKind};
use serde_json::{Map, Value};
use std::collections::HashMap;

/// Text beyond this is not looked at.
const TEXT_MAX_BYTES: usize = 64 << 20;

/// This format.
pub(super) const FORMAT: Format = Format {
    name: "fio-json",
    title: "fio 2 and 3, JSON",
    recognise,
    reads: Reads::Document { new: || Box::new(Json) },
};

fn recognise(head: &Head<'_>) -> Option<Likeness> {
    if let Some(line) = head.find(|l| l.contains("\"fio version\"")) {
        return Likeness::by_line(97, "key", line);
    }
    // The whole document may stand in one line, or its head be lost.
    let job = head.find(|l| l.contains("\"jobname\""))?;
    head.text.contains("\"clat").then_some(())?;
    Likeness::by_line(90, "key", job)
}

struct Json;

impl DocumentFormat for Json {
    fn read(&mut self, input: &mut DocumentInput<'_>, out: &mut Out<'_>) {
        let (text, whole) = input.text(TEXT_MAX_BYTES);
        let mut scan = Scan::new(&text);
        let mut documents = 0;
        while scan.enter_object() {
            let mut document = Document::default();
            document.read(&mut scan, out);
            documents += u32::from(!document.jobs.is_empty());
            document.finish(out);
        }
        if !whole {
            out.complain_at(0, "at most 64 MiB of JSON", "more; the rest was left unread");
        }
        if documents > 1 {
            out.remark(&format!(
                "{documents} reports stand one after the other; with --status-interval each holds all since the start"
            ));
        }
    }
}

/// One document: kept small until its end, because how many jobs share a name tells what an entry is.
#[derive(Default)]
struct Document {
    options: Map<String, Value>,
    timestamp_s: Option<f64>,
    jobs: Vec<(u64, Entry)>,
    disks: Vec<(u64, Option<String>, Disk)>,
    summed: Option<(u64, Entry)>,
}

/// One entry of `jobs` or `client_stats`.
struct Entry {
    job: Job,
    host: Option<String>,
    group: f64,
    jobs_asked: f64,
    options: Map<String, Value>,
    error: f64,
    /// Shares by upper bound of response, microseconds.
    shares: Vec<(f64, f64)>,
    bins: Vec<(IoClass, Vec<(f64, f64)>)>,
    depths: Vec<(f64, f64)>,
}

impl Document {
    fn read(&mut self, scan: &mut Scan<'_>, out: &mut Out<'_>) {
        while let Some(key) = scan.key() {
            let told = match key {
                "jobs" | "client_stats" | "disk_util" if scan.enter_array() => self.elements(key, scan, out),
                "global options" => scan.value().map(|text| {
                    self.options = object(text).unwrap_or_default();
                }),
                "timestamp" => scan.value().map(|text| self.timestamp_s = text.parse().ok()),
                "timestamp_ms" => scan.value().map(|text| {
                    self.timestamp_s = text.parse().ok().map(|ms: f64| ms / 1e3).or(self.timestamp_s);
                }),
                "fio version" => scan.value().map(|text| {
                    let host = out.place(PlaceKind::Host, "");
                    out.fact(host, "fio_version", text.trim_matches('"'));
                }),
                _ => scan.value().map(|_| ()),
            };
            if told.is_none() {
                let line = scan.line();
                out.complain_at(line, &format!("the rest of '{key}'"), "the end of the text");
                return;
            }
        }
        if !scan.end() && !self.jobs.is_empty() {
            let line = scan.line();
            out.complain_at(line, "'}'", "the end of the text, or something else");
        }
    }

    fn elements(&mut self, key: &str, scan: &mut Scan<'_>, out: &mut Out<'_>) -> Option<()> {
        loop {
            let line = scan.line();
            let Some(text) = scan.element().ok()? else { return Some(()) };
            let Some(element) = object(text) else {
                out.complain_at(line, &format!("an object of '{key}'"), text);
                continue;
            };
            if key == "disk_util" {
                let host = text_of(&element, "hostname");
                self.disks.extend(disk(&element).map(|disk| (line, host, disk)));
            } else if let Some(entry) = entry(&element, &self.options) {
                if entry.job.name == "All clients" {
                    self.summed = Some((line, entry));
                } else {
                    self.jobs.push((line, entry));
                }
            }
        }
    }

    fn finish(self, out: &mut Out<'_>) {
        let Self { mut jobs, disks, summed, timestamp_s, .. } = self;
        match summed {
            Some(sum) if jobs.is_empty() => jobs.push(sum),
            Some(_) => out.remark("the entry 'All clients' sums up the others and was left out"),
            None => {}
        }
        let of = |e: &Entry| (e.host.clone(), e.job.name.clone(), e.group.to_bits());
        let mut same: HashMap<_, u32> = HashMap::new();
        for (_, entry) in &jobs {
            *same.entry(of(entry)).or_default() += 1;
        }
        let last_group = jobs.iter().map(|(_, e)| e.group).fold(f64::NAN, f64::max);
        let mut seen: HashMap<_, u32> = HashMap::new();
        let mut cut_off = false;
        for (line, mut entry) in jobs {
            out.at_line(line);
            let number = seen.entry(of(&entry)).or_default();
            *number += 1;
            // Reported together (option group_reporting) the entry stands for all its threads.
            let is_alone = same.get(&of(&entry)).copied().unwrap_or(1) == 1;
            if is_alone {
                entry.job.concurrency *= entry.jobs_asked;
            } else {
                entry.job.name = format!("{} #{number}", entry.job.name);
            }
            // Groups run one after the other; the time of the text is that of the last.
            if entry.job.at_s.is_nan() && entry.group >= last_group {
                entry.job.at_s = timestamp_s.unwrap_or(f64::NAN);
            }
            entry.job.basis = Basis::Utc;
            host(entry.host.as_deref(), out);
            cut_off |= entry.job.push(out);
            about(&entry, out);
        }
        let at_s = timestamp_s.unwrap_or(f64::NAN);
        out.interval(Interval { at_s, basis: Basis::Utc, ..Interval::unknown(RowsKind::Period) });
        for (line, of_host, disk) in disks {
            out.at_line(line);
            host(of_host.as_deref(), out);
            disk.push(out);
        }
        if cut_off {
            out.remark(CUT_OFF);
        }
    }
}

fn host(name: Option<&str>, out: &mut Out<'_>) {
    if let Some(name) = name {
        out.host(Host { name: Some(name.to_owned()), ..Host::default() });
    }
}

/// Options and distributions of a job.
fn about(entry: &Entry, out: &mut Out<'_>) {
    let place = out.place(PlaceKind::Job, &entry.job.name);
    for (name, value) in &entry.options {
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        out.fact(place, &format!("fio_{}", name.replace(' ', "_")), text);
    }
    if entry.error != 0.0 && entry.error.is_finite() {
        out.fact(place, "error", entry.error);
    }
    if !entry.shares.is_empty() {
        out.distribution(place, Quantity::ResponseUs, None, entry.shares.clone());
    }
    for (class, bins) in &entry.bins {
        out.distribution(place, Quantity::ResponseUs, Some(*class), bins.clone());
    }
    if !entry.depths.is_empty() {
        out.distribution(place, Quantity::OutstandingInstant, None, entry.depths.clone());
    }
}

/// An object; numbers that are none (`-nan`) are read as absent.
fn object(text: &str) -> Option<Map<String, Value>> {
    if let Ok(object) = serde_json::from_str(text) {
        return Some(object);
    }
    let mut repaired = text.to_owned();
    for bad in ["-nan", "nan", "-inf", "inf"] {
        repaired = repaired.replace(&format!(": {bad}"), ": null").replace(&format!(":{bad}"), ":null");
    }
    serde_json::from_str(&repaired).ok()
}

fn number(of: &Map<String, Value>, key: &str) -> f64 {
    of.get(key).and_then(Value::as_f64).unwrap_or(f64::NAN)
}

fn text_of(of: &Map<String, Value>, key: &str) -> Option<String> {
    of.get(key).and_then(Value::as_str).map(str::to_owned)
}

fn entry(element: &Map<String, Value>, global: &Map<String, Value>) -> Option<Entry> {
    let name = text_of(element, "jobname")?;
    let mut options = global.clone();
    let own = element.get("job options").and_then(Value::as_object);
    options.extend(own.into_iter().flatten().map(|(k, v)| (k.clone(), v.clone())));
    let direction = |key: &str| element.get(key).and_then(Value::as_object).map(read_direction);
    let sync = element.get("sync").and_then(Value::as_object);
    let sync_times = sync.map(|sync| times(sync, "lat")).unwrap_or_default();
    let asked = |key: &str| text_of(&options, key).and_then(|text| text.trim().parse::<f64>().ok());
    let engine = text_of(&options, "ioengine");
    let told = Some(number(element, "latency_depth")).filter(|d| *d > 0.0);
    // Version 2 prints no options unless they stand in the job itself.
    let concurrency = if options.is_empty() {
        told.unwrap_or(f64::NAN)
    } else {
        depth(engine.as_deref(), asked("iodepth").or(told))
    };
    let mut job = Job {
        name,
        read: direction("read").unwrap_or_default(),
        write: direction("write").unwrap_or_default(),
        trim: direction("trim").unwrap_or_default(),
        mixed: direction("mixed").unwrap_or_default(),
        syncs: sync.map_or(f64::NAN, |sync| number(sync, "total_ios")),
        sync: sync_times,
        concurrency,
        user_percent: number(element, "usr_cpu"),
        system_percent: number(element, "sys_cpu"),
        ..Job::default()
    };
    let runtime_s = [&job.read, &job.write, &job.trim, &job.mixed].map(|d| d.runtime_s);
    job.at_s = number(element, "job_start") / 1e3 + runtime_s.into_iter().fold(f64::NAN, f64::max);
    let bins = [(IoClass::Read, "read"), (IoClass::Write, "write")]
        .into_iter()
        .filter_map(|(class, key)| Some((class, bins(element.get(key)?.as_object()?)?)))
        .collect();
    Some(Entry {
        job,
        host: text_of(element, "hostname").filter(|h| !h.is_empty()),
        group: number(element, "groupid"),
        jobs_asked: asked("numjobs").filter(|n| *n >= 1.0).unwrap_or(1.0),
        options,
        error: number(element, "error"),
        shares: shares(element),
        bins,
        depths: buckets(element.get("iodepth_level"), 1.0),
    })
}

fn read_direction(of: &Map<String, Value>) -> Direction {
    let rate = Some(number(of, "bw_bytes")).filter(|bw| bw.is_finite());
    let mut percentiles = Vec::new();
    // What the user asked for: of submission and completion together, or of completion.
    for (key, to_us) in [("lat_ns", 1e-3), ("clat_ns", 1e-3), ("lat", 1.0), ("clat", 1.0)] {
        let given = of.get(key).and_then(|v| v.get("percentile")).and_then(Value::as_object);
        if let (true, Some(given)) = (percentiles.is_empty(), given) {
            let one = |(p, v): (&String, &Value)| {
                Some((p.trim_start_matches('>').parse().ok()?, v.as_f64()? * to_us))
            };
            percentiles = given.iter().filter_map(one).filter(|(p, _): &(f64, f64)| *p > 0.0).collect();
        }
    }
    Direction {
        ios: number(of, "total_ios"),
        iops: number(of, "iops"),
        bytes_per_s: rate.unwrap_or_else(|| number(of, "bw") * 1024.0),
        runtime_s: number(of, "runtime") / 1e3,
        submit: times(of, "slat"),
        completion: times(of, "clat"),
        total: times(of, "lat"),
        percentiles,
    }
}

/// Times of `clat_ns` or, of version 2, `clat`.
fn times(of: &Map<String, Value>, key: &str) -> Times {
    let named = |key: &str| of.get(key).and_then(Value::as_object);
    let (given, to_us) = match named(&format!("{key}_ns")) {
        Some(given) => (given, 1e-3),
        None => match named(key) {
            Some(given) => (given, 1.0),
            None => return Times::default(),
        },
    };
    let time = |key: &str| number(given, key) * to_us;
    Times { min_us: time("min"), max_us: time("max"), mean_us: time("mean") }
}

/// Shares of I/Os by upper bound of their response, of the three tables by unit.
fn shares(element: &Map<String, Value>) -> Vec<(f64, f64)> {
    let mut all = Vec::new();
    for (key, to_us) in [("latency_ns", 1e-3), ("latency_us", 1.0), ("latency_ms", 1e3)] {
        all.extend(buckets(element.get(key), to_us));
    }
    all
}

/// Buckets in percent by upper bound; none when all are empty.
fn buckets(of: Option<&Value>, factor: f64) -> Vec<(f64, f64)> {
    let one = |(bound, share): (&String, &Value)| {
        let bound = if bound.starts_with('>') { f64::INFINITY } else { bound.parse::<f64>().ok()? * factor };
        Some((bound, share.as_f64()? / 100.0))
    };
    let mut found: Vec<(f64, f64)> = of
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
        .filter_map(one)
        .filter(|(_, share)| *share > 0.0)
        .collect();
    found.sort_by(|a, b| a.0.total_cmp(&b.0));
    found
}

/// Counts by response, of json+.
fn bins(of: &Map<String, Value>) -> Option<Vec<(f64, f64)>> {
    let given = |key: &str| of.get(key)?.get("bins")?.as_object().filter(|b| !b.is_empty());
    let (given, to_us) = given("lat_ns")
        .or_else(|| given("clat_ns"))
        .map(|b| (b, 1e-3))
        .or_else(|| Some((given("clat")?, 1.0)))?;
    let one = |(value, count): (&String, &Value)| Some((value.parse::<f64>().ok()? * to_us, count.as_f64()?));
    let mut all: Vec<(f64, f64)> = given.iter().filter_map(one).collect();
    all.sort_by(|a, b| a.0.total_cmp(&b.0));
    Some(all)
}

fn disk(of: &Map<String, Value>) -> Option<Disk> {
    let number = |key: &str| number(of, key);
    Some(Disk {
        name: text_of(of, "name")?,
        reads: number("read_ios"),
        writes: number("write_ios"),
        read_sectors: number("read_sectors"),
        write_sectors: number("write_sectors"),
        read_merges: number("read_merges"),
        write_merges: number("write_merges"),
        read_ms: number("read_ticks"),
        write_ms: number("write_ticks"),
        in_queue_ms: number("in_queue"),
        busy_percent: number("util"),
    })
}
