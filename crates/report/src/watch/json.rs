//! One line of JSON per sample: `plimsoll.watch/1`.

use super::NOT_COUNTED;
use super::view::View;
use analyze::Happening;
use record::{ClassTotals, DeviceSample, HostSample, QueueSample};
use serde::Serialize;

#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    at: String,
    interval_s: f64,
    source: &'a str,
    not_shown: Vec<&'static str>,
    devices: Vec<Device<'a>>,
    happenings: Vec<Happened<'a>>,
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
}

/// One sample as one line, newline included. `source` names what the numbers come from: `counters` or `tracer`.
pub fn line(sample: &HostSample, happened: &[Happening], view: &View, source: &str) -> String {
    let at = jiff::Timestamp::from_microsecond((sample.at_s * 1e6) as i64).unwrap_or_default();
    let document = Document {
        schema: "plimsoll.watch/1",
        at: at.to_string(),
        interval_s: sample.length_s,
        source,
        not_shown: if source == "counters" { NOT_COUNTED.map(|(name, _)| name).to_vec() } else { Vec::new() },
        devices: view.lines(sample).iter().map(|l| device(&sample.devices[l.place])).collect(),
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

fn device(d: &DeviceSample) -> Device<'_> {
    let counted = d.is_counted();
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
        in_flight: d.in_flight,
        busy_share: counted.then_some(d.busy),
        read: class(d, Some(d.read)),
        write: class(d, Some(d.write)),
        discard: class(d, d.discard),
        flush: class(d, d.flush),
        queue_depth: d.limits.queue_depth,
        queue_depth_highest: d.limits.queue_depth_highest,
        nr_requests: d.limits.nr_requests,
        hardware_queues: d.limits.hardware_queues,
        host_can_queue: d.limits.host_can_queue,
        scheduler: d.facts.scheduler.as_deref(),
        failed: d.failed,
        timed_out: d.timed_out,
        task_set_full: d.task_set_full,
        remarks: &d.remarks,
    }
}

/// JSON has no infinity: an end that nothing bounds is null.
fn range(queue: &QueueSample, counted: bool) -> Option<[Option<f64>; 2]> {
    let finite = |v: f64| v.is_finite().then_some(v);
    counted.then(|| [finite(queue.low), finite(queue.high)])
}

fn class(d: &DeviceSample, totals: Option<ClassTotals>) -> Option<Class> {
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
    })
}
