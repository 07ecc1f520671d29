//! What `plimsoll export` offers, as OpenMetrics 1.0 or in the older text format of Prometheus.
//!
//! Names follow the conventions of Prometheus: base units (seconds, bytes), `_total` for counters, one meaning per
//! name. Mean queues are counters too: `plimsoll_device_queue_seconds_total` grows by one per second and I/O that stands
//! there, so its rate is the time-weighted mean over whatever range is asked for, whoever scrapes and how often. Where
//! host queue and device queue could not be told apart it stands still, and so does
//! `plimsoll_device_split_seconds_total`: the mean is the one rate over the other.

use analyze::totals::{CLASSES, ClassTimes, DeviceTotals, Totals};
use record::{ClassTotals, LatencyHistogram};
use std::fmt::Write;

/// Which text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// OpenMetrics 1.0.
    OpenMetrics,
    /// Prometheus text 0.0.4.
    Prometheus,
}

impl Format {
    /// What an `Accept` header prefers among the two.
    pub fn accepted(accept: &str) -> Self {
        if accept.contains("application/openmetrics-text") { Self::OpenMetrics } else { Self::Prometheus }
    }

    /// The `Content-Type`.
    pub fn content_type(self) -> &'static str {
        match self {
            Self::OpenMetrics => "application/openmetrics-text; version=1.0.0; charset=utf-8",
            Self::Prometheus => "text/plain; version=0.0.4; charset=utf-8",
        }
    }
}

/// Upper edges of the buckets are powers of two of a second, from 2^FIRST to 2^LAST, about 31 us to 8 s: those of a
/// native histogram of schema 0, so that a scraper that converts loses nothing.
const BUCKET_FIRST: i32 = -15;
const BUCKET_LAST: i32 = 3;

/// All metrics. `interval_s`: how often counters are read.
pub fn text(totals: &Totals, interval_s: f64, version: &str, format: Format) -> String {
    let mut out = Page { text: String::with_capacity(4096), format };
    out.info("plimsoll_build", "The version of Plimsoll.");
    out.sample("plimsoll_build_info", &[("version", version)], 1.0);
    out.gauge("plimsoll_sample_interval_seconds", "seconds", "How often counters are read.");
    out.sample("plimsoll_sample_interval_seconds", &[], interval_s);
    out.gauge("plimsoll_sampled_timestamp_seconds", "seconds", "When they were read last.");
    out.sample("plimsoll_sampled_timestamp_seconds", &[], totals.at_s);
    out.gauge("plimsoll_traced", "", "1 while a tracer sees every request, 0 by counters alone.");
    out.sample("plimsoll_traced", &[], f64::from(u8::from(totals.traced)));
    out.counter("plimsoll_trace_lost_events", "", "Events that the tracer could not keep.");
    out.sample("plimsoll_trace_lost_events_total", &[], totals.lost_events as f64);
    out.gauge(
        "plimsoll_devices_left_out",
        "",
        "Devices that did I/O and are not offered: there are more than --max-devices.",
    );
    out.sample("plimsoll_devices_left_out", &[], totals.left_out as f64);
    devices(&mut out, totals);
    if format == Format::OpenMetrics {
        out.text.push_str("# EOF\n");
    }
    out.text
}

fn devices(out: &mut Page, totals: &Totals) {
    out.info("plimsoll_device", "What a device is.");
    for d in totals.devices() {
        let facts = &d.facts;
        let layer = serde_json::to_value(facts.kind).unwrap_or_default();
        let labels = [
            ("device", facts.name.as_str()),
            ("label", facts.label.as_deref().unwrap_or("")),
            ("layer", layer.as_str().unwrap_or("")),
            ("scheduler", facts.scheduler.as_deref().unwrap_or("")),
        ];
        out.sample("plimsoll_device_info", &labels, 1.0);
    }
    by_class(out, totals, "plimsoll_device_ios", "", "I/Os completed.", |c| Some(c.count as f64));
    by_class(out, totals, "plimsoll_device_io_bytes", "bytes", "Bytes of completed I/Os.", |c| {
        Some(c.bytes as f64)
    });
    by_class(out, totals, "plimsoll_device_merged_ios", "", "I/Os merged into others on arrival.", |c| {
        Some(c.merges as f64)
    });
    by_class(
        out,
        totals,
        "plimsoll_device_response_seconds",
        "seconds",
        "Time from acceptance to completion, summed over completed I/Os.",
        |c| Some(c.time_s),
    );
    let seconds = "seconds";
    counter(
        out,
        totals,
        "plimsoll_device_counted_seconds",
        seconds,
        "Time in which counters could be used.",
        |d| Some(d.counted_s),
    );
    counter(
        out,
        totals,
        "plimsoll_device_inside_seconds",
        seconds,
        "I/Os outstanding, integrated over time: the rate is their mean number.",
        |d| Some(d.inside_s),
    );
    counter(
        out,
        totals,
        "plimsoll_device_split_seconds",
        seconds,
        "Time in which host queue and device queue were told apart.",
        |d| Some(d.split_s),
    );
    out.counter(
        "plimsoll_device_queue_seconds",
        seconds,
        "I/Os in the host queue and at the device, integrated over the time in which the two were told apart.",
    );
    for d in totals.devices() {
        let name = d.facts.name.as_str();
        for (queue, value) in [("host", d.host_queue_s), ("device", d.device_queue_s)] {
            out.sample("plimsoll_device_queue_seconds_total", &[("device", name), ("queue", queue)], value);
        }
    }
    counter(
        out,
        totals,
        "plimsoll_device_busy_seconds",
        seconds,
        "Time with at least one I/O outstanding. It says nothing about how much more the device could do.",
        |d| Some(d.busy_s),
    );
    gauge(out, totals, "plimsoll_device_in_flight_ios", "I/Os in flight at the last reading.", |d| {
        Some(d.in_flight as f64)
    });
    gauge(out, totals, "plimsoll_device_queue_limit_ios", "I/Os at the device at most.", |d| {
        d.limits.device_queue
    });
    gauge(out, totals, "plimsoll_device_lun_queue_depth_ios", "LUN queue depth in force (SCSI).", |d| {
        d.limits.queue_depth
    });
    gauge(
        out,
        totals,
        "plimsoll_device_lun_queue_depth_highest_ios",
        "Highest LUN queue depth seen since the start; one in force below it is the mark of a QUEUE FULL.",
        |d| d.limits.queue_depth_highest,
    );
    let count = |v: Option<u64>| v.map(|v| v as f64);
    counter(
        out,
        totals,
        "plimsoll_device_failed_commands",
        "",
        "SCSI commands that ended in anything but success.",
        |d| count(d.failed),
    );
    counter(out, totals, "plimsoll_device_timed_out_commands", "", "SCSI commands that timed out.", |d| {
        count(d.timed_out)
    });
    counter(
        out,
        totals,
        "plimsoll_device_task_set_full",
        "",
        "TASK SET FULL answers (needs the tracer).",
        |d| count(d.task_set_full),
    );
    counter(
        out,
        totals,
        "plimsoll_device_requeued_requests",
        "",
        "Requests that the driver gave back to the host queue (needs the tracer).",
        |d| count(d.requeues),
    );
    histogram(
        out,
        totals,
        "plimsoll_device_host_wait_seconds",
        "Time from acceptance to dispatch (needs the tracer).",
        |t| &t.host_wait,
    );
    histogram(
        out,
        totals,
        "plimsoll_device_service_seconds",
        "Time from dispatch to completion, queueing in the device included (needs the tracer).",
        |t| &t.service,
    );
}

fn by_class(
    out: &mut Page,
    totals: &Totals,
    name: &str,
    unit: &str,
    help: &str,
    of: impl Fn(&ClassTotals) -> Option<f64>,
) {
    out.counter(name, unit, help);
    let sample = format!("{name}_total");
    for d in totals.devices() {
        for (class, totals) in CLASSES.iter().zip(&d.classes) {
            if let Some(value) = totals.as_ref().and_then(&of) {
                out.sample(&sample, &[("device", &d.facts.name), ("class", class)], value);
            }
        }
    }
}

fn counter(
    out: &mut Page,
    totals: &Totals,
    name: &str,
    unit: &str,
    help: &str,
    of: impl Fn(&DeviceTotals) -> Option<f64>,
) {
    // A family without a member would be noise.
    if totals.devices().all(|d| of(d).is_none()) {
        return;
    }
    out.counter(name, unit, help);
    let sample = format!("{name}_total");
    for d in totals.devices() {
        if let Some(value) = of(d) {
            out.sample(&sample, &[("device", &d.facts.name)], value);
        }
    }
}

fn gauge(out: &mut Page, totals: &Totals, name: &str, help: &str, of: impl Fn(&DeviceTotals) -> Option<f64>) {
    if totals.devices().all(|d| of(d).is_none()) {
        return;
    }
    out.gauge(name, "", help);
    for d in totals.devices() {
        if let Some(value) = of(d) {
            out.sample(name, &[("device", &d.facts.name)], value);
        }
    }
}

fn histogram(
    out: &mut Page,
    totals: &Totals,
    name: &str,
    help: &str,
    of: impl Fn(&ClassTimes) -> &LatencyHistogram,
) {
    if totals.devices().all(|d| d.times.is_none()) {
        return;
    }
    out.head(name, "histogram", "seconds", help);
    let names = [format!("{name}_bucket"), format!("{name}_sum"), format!("{name}_count")];
    for d in totals.devices() {
        for (class, times) in CLASSES.iter().zip(d.times.iter().flat_map(|t| t.iter())) {
            let times = of(times);
            let labels = [("device", d.facts.name.as_str()), ("class", *class)];
            for (edge, count) in cumulated(times) {
                out.sample(&names[0], &[labels[0], labels[1], ("le", &edge)], count as f64);
            }
            out.sample(&names[1], &labels, times.sum_ns() as f64 / 1e9);
            out.sample(&names[2], &labels, times.count() as f64);
        }
    }
}

/// I/Os up to each edge, and up to infinity.
fn cumulated(times: &LatencyHistogram) -> Vec<(String, u64)> {
    let mut buckets = times.buckets().peekable();
    let mut count = 0;
    let mut edges = Vec::new();
    for power in BUCKET_FIRST..=BUCKET_LAST {
        let edge_s = 2f64.powi(power);
        while let Some((_, more)) = buckets.next_if(|(highest_ns, _)| *highest_ns as f64 <= edge_s * 1e9) {
            count += more;
        }
        // A whole number must look like a floating one in OpenMetrics.
        let edge = if power >= 0 { format!("{edge_s:.1}") } else { format!("{edge_s}") };
        edges.push((edge, count));
    }
    edges.push(("+Inf".to_owned(), times.count()));
    edges
}

struct Page {
    text: String,
    format: Format,
}

impl Page {
    fn head(&mut self, name: &str, kind: &str, unit: &str, help: &str) {
        let (text, open) = (&mut self.text, self.format == Format::OpenMetrics);
        // The older format types the name of the samples, OpenMetrics that of the family.
        let shown = match kind {
            "counter" if !open => format!("{name}_total"),
            "info" if !open => format!("{name}_info"),
            _ => name.to_owned(),
        };
        let kind = if kind == "info" && !open { "gauge" } else { kind };
        // Writing to a string cannot fail.
        let _ = writeln!(text, "# HELP {shown} {help}\n# TYPE {shown} {kind}");
        if open && !unit.is_empty() {
            let _ = writeln!(text, "# UNIT {name} {unit}");
        }
    }

    fn counter(&mut self, name: &str, unit: &str, help: &str) {
        self.head(name, "counter", unit, help);
    }

    fn gauge(&mut self, name: &str, unit: &str, help: &str) {
        self.head(name, "gauge", unit, help);
    }

    fn info(&mut self, name: &str, help: &str) {
        self.head(name, "info", "", help);
    }

    fn sample(&mut self, name: &str, labels: &[(&str, &str)], value: f64) {
        self.text.push_str(name);
        for (index, (label, text)) in labels.iter().enumerate() {
            self.text.push(if index == 0 { '{' } else { ',' });
            self.text.push_str(label);
            self.text.push_str("=\"");
            escaped(text, &mut self.text);
            self.text.push('"');
        }
        if !labels.is_empty() {
            self.text.push('}');
        }
        let _ = if value.fract() == 0.0 && value.abs() < 9e15 {
            writeln!(self.text, " {}", value as i64)
        } else {
            writeln!(self.text, " {value}")
        };
    }
}

/// Labels of devices come from outside.
fn escaped(text: &str, into: &mut String) {
    for c in text.chars() {
        match c {
            '\\' => into.push_str("\\\\"),
            '"' => into.push_str("\\\""),
            '\n' => into.push_str("\\n"),
            c if c.is_control() => into.push('?'),
            c => into.push(c),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_cumulate_to_the_count() {
        let mut times = LatencyHistogram::new();
        times.record_many_ns(20_000, 3);
        times.record_many_ns(900_000, 4);
        times.record_many_ns(20_000_000_000, 1);
        let edges = cumulated(&times);
        assert_eq!(edges.len(), 20);
        assert_eq!(edges[0], ("0.000030517578125".to_owned(), 3));
        let of = |edge: &str| edges.iter().find(|(e, _)| e == edge).unwrap().1;
        assert_eq!((of("0.0009765625"), of("0.00048828125"), of("8.0"), of("+Inf")), (7, 3, 7, 8));
    }

    #[test]
    fn labels_are_escaped() {
        let mut out = Page { text: String::new(), format: Format::OpenMetrics };
        out.sample("x", &[("label", "a\"b\\c\nd\x1b")], 1.5);
        assert_eq!(out.text, "x{label=\"a\\\"b\\\\c\\nd?\"} 1.5\n");
    }

    #[test]
    fn the_newer_format_is_given_to_who_asks_for_it() {
        let prometheus = "application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.3";
        assert_eq!(Format::accepted(prometheus), Format::OpenMetrics);
        assert_eq!(Format::accepted("*/*"), Format::Prometheus);
    }
}
