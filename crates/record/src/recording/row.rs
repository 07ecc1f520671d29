//! One row per interval and device: its columns, and how a sample becomes one.

use crate::run::Cell;
use crate::run::Kind::{self, Float, Int, Text};
use crate::sample::{ClassTotals, DeviceSample, HostSample, QueueSample};
use crate::traced::TracedDevice;
use serde::Serialize;

/// Schema of the segments. Columns may be added within a version; a renamed or reinterpreted one raises it.
pub const DEVICE_SAMPLES_SCHEMA: &str = "plimsoll.device_samples/1";

/// Columns in order. The first three are the same for all rows of an interval. Queues are means over the interval with
/// their bounds; `host_wait_us`, `service_us` and `response_us` are those of `plimsoll watch`. Percentiles and requeues need
/// the tracer.
pub(crate) const COLUMNS: [(&str, Kind); 59] = [
    ("interval_number", Int),
    ("at_s", Float),
    ("length_s", Float),
    ("device", Text),
    ("layer", Text),
    ("label", Text),
    ("partition_of", Text),
    ("scheduler", Text),
    ("counted", Text),
    ("requests", Int),
    ("iops", Float),
    ("mib_per_s", Float),
    ("read_ios", Int),
    ("read_bytes", Int),
    ("read_merges", Int),
    ("read_time_s", Float),
    ("write_ios", Int),
    ("write_bytes", Int),
    ("write_merges", Int),
    ("write_time_s", Float),
    ("discard_ios", Int),
    ("discard_bytes", Int),
    ("discard_merges", Int),
    ("discard_time_s", Float),
    ("flush_ios", Int),
    ("flush_time_s", Float),
    ("inside", Float),
    ("inside_low", Float),
    ("inside_high", Float),
    ("inside_peak", Float),
    ("host_queue", Float),
    ("host_queue_low", Float),
    ("host_queue_high", Float),
    ("host_queue_peak", Float),
    ("device_queue", Float),
    ("device_queue_low", Float),
    ("device_queue_high", Float),
    ("device_queue_peak", Float),
    ("split_by", Text),
    ("host_wait_us", Float),
    ("service_us", Float),
    ("response_us", Float),
    ("in_flight", Int),
    ("busy_share", Float),
    ("device_queue_limit", Float),
    ("queue_depth", Float),
    ("queue_depth_highest", Float),
    ("nr_requests", Float),
    ("hardware_queues", Float),
    ("host_can_queue", Float),
    ("failed", Int),
    ("timed_out", Int),
    ("task_set_full", Int),
    ("requeues", Int),
    ("host_wait_p50_us", Float),
    ("host_wait_p99_us", Float),
    ("service_p50_us", Float),
    ("service_p99_us", Float),
    ("remarks", Text),
];

/// The row of one device. Where the counters could not be used, only what the device is and its limits are filled in.
pub(crate) fn row_of(interval: u64, sample: &HostSample, d: &DeviceSample) -> Vec<Cell> {
    let counted = d.is_counted();
    let seen = |value: Option<f64>| Cell::from(value.filter(|_| counted));
    let count = |value: u64| Cell::from(counted.then_some(value));
    let class = |c: Option<ClassTotals>| c.filter(|_| counted);
    let mut row = Vec::with_capacity(COLUMNS.len());
    row.extend([interval.into(), sample.at_s.into(), d.length_s.into()]);
    row.extend([d.facts.name.as_str().into(), word(&d.facts.kind)]);
    row.extend([&d.facts.label, &d.facts.disk, &d.facts.scheduler].map(optional));
    row.extend([word(&d.counted), count(d.requests()), seen(d.iops()), seen(d.mib_per_s())]);
    for totals in [Some(d.read), Some(d.write), d.discard] {
        let totals = class(totals);
        row.extend(
            [totals.map(|t| t.count), totals.map(|t| t.bytes), totals.map(|t| t.merges)].map(Cell::from),
        );
        row.push(totals.map(|t| t.time_s).into());
    }
    row.extend([class(d.flush).map(|t| t.count).into(), class(d.flush).map(|t| t.time_s).into()]);
    for queue in [d.inside, d.host_queue, d.device_queue] {
        row.extend(queue_cells(&queue, counted));
    }
    row.push(word(&d.split_by));
    row.extend([d.host_wait_us(), d.service_us(), d.response_us()].map(Cell::from));
    row.extend([d.in_flight.into(), seen(Some(d.busy))]);
    let limits = &d.limits;
    row.extend([limits.device_queue, limits.queue_depth, limits.queue_depth_highest].map(Cell::from));
    row.extend([limits.nr_requests, limits.hardware_queues, limits.host_can_queue].map(Cell::from));
    row.extend([d.failed, d.timed_out, d.task_set_full].map(Cell::from));
    let traced = d.traced.as_deref().filter(|_| counted);
    row.push(traced.map(|t| t.requeues).into());
    for times in [traced.and_then(TracedDevice::host_wait), traced.and_then(TracedDevice::service)] {
        let us = |quantile| times.as_ref()?.quantile_ns(quantile).map(|ns| ns as f64 / 1e3);
        row.extend([us(0.5), us(0.99)].map(Cell::from));
    }
    row.push(if d.remarks.is_empty() { Cell::Null } else { d.remarks.join("; ").into() });
    row
}

/// An end that nothing bounds is null, as in JSON.
fn queue_cells(queue: &QueueSample, counted: bool) -> [Cell; 4] {
    let seen = |value: Option<f64>| Cell::from(value.filter(|_| counted));
    [seen(queue.mean), seen(Some(queue.low)), seen(Some(queue.high)), seen(queue.peak)]
}

fn optional(text: &Option<String>) -> Cell {
    text.as_deref().map_or(Cell::Null, Cell::from)
}

/// The word under which serde writes a plain enum.
fn word(value: &impl Serialize) -> Cell {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(word)) => Cell::Text(word),
        _ => Cell::Null,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::path::LayerKind;
    use crate::sample::{Counted, DeviceFacts};
    use std::sync::Arc;

    fn device() -> DeviceSample {
        let facts = DeviceFacts {
            name: "sda".to_owned(),
            kind: LayerKind::Scsi,
            label: None,
            disk: None,
            below: Vec::new(),
            above: Vec::new(),
            scheduler: Some("none".to_owned()),
        };
        let mut d = DeviceSample::empty(Arc::new(facts));
        (d.counted, d.length_s) = (Counted::Yes, 2.0);
        d.read = ClassTotals { count: 100, bytes: 819_200, merges: 3, time_s: 0.5 };
        d.device_queue = QueueSample::between(0.0, f64::INFINITY);
        d
    }

    fn cell<'r>(row: &'r [Cell], name: &str) -> &'r Cell {
        &row[COLUMNS.iter().position(|(n, _)| *n == name).unwrap()]
    }

    #[test]
    fn each_value_stands_under_its_name() {
        let sample = HostSample { at_s: 7.5, length_s: 2.0, ..HostSample::default() };
        let row = row_of(9, &sample, &device());
        assert_eq!(row.len(), COLUMNS.len());
        for ((name, kind), cell) in COLUMNS.iter().zip(&row) {
            assert!(crate::run::fits(*kind, cell), "{name}");
        }
        assert_eq!(cell(&row, "interval_number"), &Cell::Int(9));
        assert_eq!(cell(&row, "layer"), &Cell::Text("scsi".to_owned()));
        assert_eq!(cell(&row, "iops"), &Cell::Float(50.0));
        assert_eq!(cell(&row, "read_merges"), &Cell::Int(3));
        assert_eq!(cell(&row, "response_us"), &Cell::Float(5000.0));
        assert_eq!(cell(&row, "device_queue_low"), &Cell::Float(0.0));
        assert_eq!(cell(&row, "device_queue_high"), &Cell::Null);
        assert_eq!(cell(&row, "discard_ios"), &Cell::Null);
        assert_eq!(cell(&row, "scheduler"), &Cell::Text("none".to_owned()));
    }

    #[test]
    fn without_counters_there_are_no_numbers() {
        let mut d = device();
        d.counted = Counted::Reset;
        let row = row_of(0, &HostSample::default(), &d);
        for name in ["requests", "iops", "read_ios", "inside_low", "busy_share", "response_us"] {
            assert_eq!(cell(&row, name), &Cell::Null, "{name}");
        }
        assert_eq!(cell(&row, "counted"), &Cell::Text("reset".to_owned()));
    }
}
