//! One line of JSON per sample: `plimsoll.watch/1`.

use super::NOT_COUNTED;
use super::view::View;
use analyze::Happening;
use record::traced::size_of_bucket_bytes;
use record::{
    AskerSample, ClassTotals, DeviceSample, HostSample, LatencyHistogram, LostEvents, QueueSample,
    ScsiAnswers, TracedClass,
};
use serde::Serialize;
use std::collections::HashSet;

#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    at: String,
    interval_s: f64,
    source: &'static str,
    not_shown: Vec<&'static str>,
    unseen: &'a [String],
    lost: Option<LostEvents>,
    devices: Vec<Device<'a>>,
    askers: Option<Vec<Asker<'a>>>,
    ios_of_other_askers: Option<u64>,
    happenings: Vec<Happened<'a>>,
}

#[derive(Serialize)]
struct Asker<'a> {
    device: &'a str,
    pid: u32,
    process: &'a str,
    cgroup: Option<&'a str>,
    reads: u64,
    writes: u64,
    others: u64,
    per_s: Option<f64>,
    mib_per_s: Option<f64>,
    read_bytes: u64,
    write_bytes: u64,
}

/// Percentiles of times in microseconds.
#[derive(Serialize)]
struct Percentiles {
    p50: Option<f64>,
    p90: Option<f64>,
    p99: Option<f64>,
    p999: Option<f64>,
    max: Option<f64>,
}

#[derive(Serialize)]
struct Happened<'a> {
    device: &'a str,
    kind: &'static str,
    text: &'a str,
}

#[derive(Serialize)]
struct Device<'a> {
    name: &'a str,
    layer: record::LayerKind,
    label: Option<&'a str>,
    partition_of: Option<&'a str>,
    below: &'a [String],
    above: &'a [String],
    counted: record::Counted,
    iops: Option<f64>,
    mib_per_s: Option<f64>,
    request_bytes: Option<f64>,
    inside: Option<f64>,
    host_queue: Option<f64>,
    host_queue_range: Option<[Option<f64>; 2]>,
    host_queue_peak: Option<f64>,
    device_queue: Option<f64>,
    device_queue_range: Option<[Option<f64>; 2]>,
    device_queue_peak: Option<f64>,
    device_queue_limit: Option<f64>,
    split_by: record::SplitBy,
    host_wait_us: Option<f64>,
    service_us: Option<f64>,
    response_us: Option<f64>,
    host_wait_percentiles_us: Option<Percentiles>,
    service_percentiles_us: Option<Percentiles>,
    in_flight: u64,
    busy_share: Option<f64>,
    read: Option<Class>,
    write: Option<Class>,
    discard: Option<Class>,
    flush: Option<Class>,
    queue_depth: Option<f64>,
    queue_depth_highest: Option<f64>,
    nr_requests: Option<f64>,
    hardware_queues: Option<f64>,
    host_can_queue: Option<f64>,
    scheduler: Option<&'a str>,
    failed: Option<u64>,
    timed_out: Option<u64>,
    task_set_full: Option<u64>,
    scsi: Option<ScsiAnswers>,
    requeues: Option<u64>,
    splits: Option<u64>,
    front_merges: Option<u64>,
    back_merges: Option<u64>,
    oldest_in_flight_s: Option<f64>,
    remarks: &'a [String],
}

#[derive(Serialize)]
struct Class {
    count: u64,
    bytes: u64,
    per_s: f64,
    mib_per_s: f64,
    request_bytes: Option<f64>,
    merges_per_s: f64,
    response_us: Option<f64>,
    traced: Option<Traced>,
}

/// What a tracer saw of a class.
#[derive(Serialize)]
struct Traced {
    count: u64,
    errors: u64,
    untimed: u64,
    host_queue: f64,
    device_queue: f64,
    host_wait_us: Option<f64>,
    service_us: Option<f64>,
    host_wait_percentiles_us: Option<Percentiles>,
    service_percentiles_us: Option<Percentiles>,
    sizes: Vec<Size>,
}

#[derive(Serialize)]
struct Size {
    to_bytes: u64,
    count: u64,
}

/// One sample as one line, newline included.
pub fn line(sample: &HostSample, happened: &[Happening], view: &View) -> String {
    let at = jiff::Timestamp::from_microsecond((sample.at_s * 1e6) as i64).unwrap_or_default();
    let host = sample.traced.as_ref();
    let lines = view.lines(sample);
    let names: HashSet<&str> = lines.iter().map(|l| sample.devices[l.place].facts.name.as_str()).collect();
    let document = Document {
        schema: "plimsoll.watch/1",
        at: at.to_string(),
        interval_s: sample.length_s,
        source: super::source(sample),
        not_shown: not_shown(sample),
        unseen: &sample.unseen,
        lost: host.map(|h| h.lost),
        devices: lines.iter().map(|l| device(&sample.devices[l.place])).collect(),
        askers: host.and_then(|h| h.askers.as_ref()).map(|all| {
            let shown = |a: &&AskerSample| view.named.is_empty() || names.contains(a.device.as_str());
            all.iter().filter(shown).map(|a| asker(a, sample.length_s)).collect()
        }),
        ios_of_other_askers: host.filter(|h| h.askers.is_some()).map(|h| h.ios_of_other_askers),
        happenings: happened
            .iter()
            .map(|h| Happened { device: &h.device, kind: h.kind.word(), text: &h.text })
            .collect(),
    };
    // Every value is a number, a text or a list of these: nothing that JSON cannot hold.
    let mut line = serde_json::to_string(&document).unwrap_or_default();
    line.push('\n');
    line
}

/// Names of what this sample cannot tell.
fn not_shown(sample: &HostSample) -> Vec<&'static str> {
    let names = NOT_COUNTED.map(|(name, _)| name);
    let Some(host) = &sample.traced else { return names.to_vec() };
    let lacks = |name: &&'static str| match *name {
        "task_set_full" => !host.scsi,
        "io_by_process_and_device" => host.askers.is_none(),
        _ => false,
    };
    names.into_iter().filter(lacks).collect()
}

fn asker(a: &AskerSample, length_s: f64) -> Asker<'_> {
    let per_s = |number: f64| (length_s > 0.0).then(|| number / length_s);
    Asker {
        device: &a.device,
        pid: a.pid,
        process: &a.name,
        cgroup: a.cgroup.as_deref(),
        reads: a.reads,
        writes: a.writes,
        others: a.others,
        per_s: per_s(a.ios() as f64),
        mib_per_s: per_s((a.read_bytes + a.write_bytes) as f64 / f64::from(1 << 20)),
        read_bytes: a.read_bytes,
        write_bytes: a.write_bytes,
    }
}

fn percentiles(times: Option<&LatencyHistogram>) -> Option<Percentiles> {
    let times = times.filter(|t| !t.is_empty())?;
    let at = |quantile| times.quantile_ns(quantile).map(|ns| ns as f64 / 1e3);
    Some(Percentiles {
        p50: at(0.5),
        p90: at(0.9),
        p99: at(0.99),
        p999: at(0.999),
        max: times.max_ns().map(|ns| ns as f64 / 1e3),
    })
}

fn traced(class: &TracedClass) -> Traced {
    let mean_us = |times: &LatencyHistogram| times.mean_ns().map(|ns| ns / 1e3);
    let sizes = class.sizes.iter().enumerate().filter(|(_, count)| **count > 0);
    Traced {
        count: class.ios,
        errors: class.errors,
        untimed: class.untimed,
        host_queue: class.host_queue,
        device_queue: class.device_queue,
        host_wait_us: mean_us(&class.host_wait),
        service_us: mean_us(&class.service),
        host_wait_percentiles_us: percentiles(Some(&class.host_wait)),
        service_percentiles_us: percentiles(Some(&class.service)),
        sizes: sizes.map(|(b, count)| Size { to_bytes: size_of_bucket_bytes(b), count: *count }).collect(),
    }
}

fn device(d: &DeviceSample) -> Device<'_> {
    let counted = d.is_counted();
    let seen = d.traced.as_deref();
    let oldest = seen.and_then(|t| t.classes().filter_map(|c| c.oldest_in_flight_s).reduce(f64::max));
    Device {
        name: &d.facts.name,
        layer: d.facts.kind,
        label: d.facts.label.as_deref(),
        partition_of: d.facts.disk.as_deref(),
        below: &d.facts.below,
        above: &d.facts.above,
        counted: d.counted,
        iops: d.iops(),
        mib_per_s: d.mib_per_s(),
        request_bytes: d.ios().bytes_mean().filter(|_| counted),
        inside: d.inside.mean,
        host_queue: d.host_queue.mean,
        host_queue_range: range(&d.host_queue, counted),
        host_queue_peak: d.host_queue.peak,
        device_queue: d.device_queue.mean,
        device_queue_range: range(&d.device_queue, counted),
        device_queue_peak: d.device_queue.peak,
        device_queue_limit: d.limits.device_queue,
        split_by: d.split_by,
        host_wait_us: d.host_wait_us(),
        service_us: d.service_us(),
        response_us: d.response_us(),
        host_wait_percentiles_us: percentiles(seen.and_then(|t| t.host_wait()).as_ref()),
        service_percentiles_us: percentiles(seen.and_then(|t| t.service()).as_ref()),
        in_flight: d.in_flight,
        busy_share: counted.then_some(d.busy),
        read: class(d, Some(d.read), seen.and_then(|t| t.read.as_ref())),
        write: class(d, Some(d.write), seen.and_then(|t| t.write.as_ref())),
        discard: class(d, d.discard, seen.and_then(|t| t.discard.as_ref())),
        flush: class(d, d.flush, seen.and_then(|t| t.flush.as_ref())),
        queue_depth: d.limits.queue_depth,
        queue_depth_highest: d.limits.queue_depth_highest,
        nr_requests: d.limits.nr_requests,
        hardware_queues: d.limits.hardware_queues,
        host_can_queue: d.limits.host_can_queue,
        scheduler: d.facts.scheduler.as_deref(),
        failed: d.failed,
        timed_out: d.timed_out,
        task_set_full: d.task_set_full,
        scsi: seen.and_then(|t| t.scsi),
        requeues: seen.map(|t| t.requeues),
        splits: seen.map(|t| t.splits),
        front_merges: seen.map(|t| t.front_merges),
        back_merges: seen.map(|t| t.back_merges),
        oldest_in_flight_s: oldest,
        remarks: &d.remarks,
    }
}

/// JSON has no infinity: an end that nothing bounds is null.
fn range(queue: &QueueSample, counted: bool) -> Option<[Option<f64>; 2]> {
    let finite = |v: f64| v.is_finite().then_some(v);
    counted.then(|| [finite(queue.low), finite(queue.high)])
}

fn class(d: &DeviceSample, totals: Option<ClassTotals>, seen: Option<&TracedClass>) -> Option<Class> {
    let totals = totals?;
    let per_s = d.per_s(totals.count as f64)?;
    Some(Class {
        count: totals.count,
        bytes: totals.bytes,
        per_s,
        mib_per_s: totals.bytes as f64 / f64::from(1 << 20) / d.length_s,
        request_bytes: totals.bytes_mean(),
        merges_per_s: totals.merges as f64 / d.length_s,
        response_us: totals.response_us(),
        traced: seen.map(traced),
    })
}
