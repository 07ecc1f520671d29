//! Metrics of node_exporter in the text format of Prometheus and OpenMetrics: one scrape or several after each other.
//! Counters stay counters: a row is an instant, and two scrapes make an interval.

mod metrics;

use crate::format::{Format, LineFormat, Reads, Took};
use crate::out::Out;
use crate::recognise::{Head, Likeness};
use metrics::{Metric, Sample, metric, sample};
use record::imported::Quantity::{self, *};
use record::imported::{Basis, Host, Interval, Origin, PlaceKind, Platform, RowsKind, facts};
use std::collections::{BTreeMap, HashSet};

/// This format.
pub(super) const FORMAT: Format = Format {
    name: "node-exporter",
    title: "node_exporter 0.15 and later, text format",
    recognise,
    reads: Reads::Lines { new: || Box::new(NodeExporter::default()), begins },
};

/// Rows of one scrape that are held until it ends.
const ROWS_MAX: usize = 65_536;

fn recognise(head: &Head<'_>) -> Option<Likeness> {
    if let Some(line) = head.find(|l| l.starts_with("node_disk_") && sample(l).is_some()) {
        return Likeness::by_line(97, "metric", line);
    }
    let is_metric = |l: &str| l.starts_with("node_") && sample(l).is_some() || l.starts_with("# TYPE node_");
    if let Some(line) = head.find(is_metric) {
        return Likeness::by_line(92, "metric", line);
    }
    // Metrics of the exporter itself stand before those of the host.
    let is_go = |l: &str| l.starts_with("# TYPE go_") || l.starts_with("# TYPE process_");
    head.find(is_go).and_then(|line| Likeness::by_line(60, "metric", line))
}

fn begins(line: &str) -> bool {
    line.starts_with("# HELP node_") || line.starts_with("# TYPE node_") || line.starts_with("node_disk_")
}

/// Figures of one place.
#[derive(Default)]
struct Row {
    origin: Origin,
    values: Vec<(Quantity, f64)>,
}

/// Processor time by mode, seconds since boot.
type Modes = BTreeMap<String, f64>;

/// The reader.
#[derive(Default)]
struct NodeExporter {
    rows: BTreeMap<(PlaceKind, String), Row>,
    processors: BTreeMap<String, (Origin, Modes)>,
    /// Samples of this scrape, by name and labels: one that comes again begins the next.
    seen: HashSet<String>,
    at_s: Option<f64>,
    /// The label `instance` of samples that a Prometheus server has collected.
    instance: String,
}

impl LineFormat for NodeExporter {
    fn line(&mut self, line: &str, out: &mut Out<'_>) -> Took {
        let line = line.trim();
        if line == "# EOF" {
            self.push(out);
            return Took::Yes;
        }
        if line.is_empty()
            || line.starts_with("# HELP")
            || line.starts_with("# TYPE")
            || line.starts_with("# UNIT")
        {
            return Took::Yes;
        }
        let Some(sample) = sample(line) else {
            if line.starts_with("node_") {
                out.complain("a metric, its labels and a number", line);
                return Took::Yes;
            }
            return Took::No;
        };
        // What other exporters tell is none of ours, and no mistake either.
        if sample.name.starts_with("node_") {
            self.sample(&sample, line, out);
        }
        Took::Yes
    }

    fn end(&mut self, out: &mut Out<'_>) {
        self.push(out);
    }
}

impl NodeExporter {
    fn sample(&mut self, sample: &Sample<'_>, line: &str, out: &mut Out<'_>) {
        let Some(metric) = metric(sample.name) else { return };
        let instance = sample.label("instance").unwrap_or_default();
        let key = line.rfind('}').map_or(sample.name, |end| &line[..=end]);
        if instance != self.instance || self.seen.contains(key) || self.seen.len() >= ROWS_MAX {
            self.push(out);
            if instance != self.instance {
                self.instance = instance.clone();
                out.host(Host { name: Some(instance), platform: Platform::Linux, ..Host::default() });
            }
        }
        self.seen.insert(key.to_owned());
        if let Some(at_s) = sample.at_s {
            self.at_s = self.at_s.or(Some(at_s));
        }
        match metric {
            Metric::Time => self.at_s = Some(sample.value),
            Metric::Device(quantity, factor) => {
                let Some(device) = sample.label("device") else { return };
                self.put(super::device::kind(&device), device, quantity, sample.value * factor, out);
            }
            Metric::Host(quantity) => self.put(PlaceKind::Host, String::new(), quantity, sample.value, out),
            Metric::Port(quantity, factor) => {
                let Some(host) = sample.label("fc_host") else { return };
                self.put(PlaceKind::Adapter, host, quantity, sample.value * factor, out);
            }
            Metric::PortCount => {
                let Some(host) = sample.label("fc_host") else { return };
                let name = sample.name.trim_start_matches("node_fibrechannel_").trim_end_matches("_total");
                let place = out.place(PlaceKind::Adapter, &host);
                out.fact(place, name, sample.value);
            }
            Metric::Processor => {
                let (Some(cpu), Some(mode)) = (sample.label("cpu"), sample.label("mode")) else { return };
                let origin = out.origin();
                let (_, modes) = self.processors.entry(cpu).or_insert_with(|| (origin, Modes::new()));
                modes.insert(mode, sample.value);
            }
            Metric::HostInfo => {
                out.host(Host {
                    name: sample.label("nodename").filter(|n| !n.is_empty()),
                    platform: Platform::Linux,
                    release: sample.label("release"),
                    processors: None,
                });
            }
            Metric::DeviceInfo => {
                let Some(device) = sample.label("device") else { return };
                let kind = super::device::kind(&device);
                for (label, name) in [
                    ("model", facts::PRODUCT),
                    ("wwn", facts::WWID),
                    ("serial", "serial"),
                    ("path", "bus_path"),
                    ("name", "alias"),
                ] {
                    let Some(value) = sample.label(label).filter(|v| !v.is_empty()) else { continue };
                    let place = out.place(kind, &device);
                    out.fact(place, name, value);
                }
            }
            Metric::PortInfo => self.port(sample, out),
        }
    }

    fn port(&mut self, sample: &Sample<'_>, out: &mut Out<'_>) {
        let Some(host) = sample.label("fc_host") else { return };
        let place = out.place(PlaceKind::Adapter, &host);
        let speed = sample.label("speed").unwrap_or_default();
        let gbit = speed.strip_suffix(" Gbit").and_then(|n| n.trim().parse::<f64>().ok());
        if let Some(gbit) = gbit {
            out.fact(place, facts::PORT_SPEED_BITS_PER_S, gbit * 1e9);
        }
        for (label, name) in
            [("port_name", facts::WWID), ("port_state", "port_state"), ("symbolic_name", facts::PRODUCT)]
        {
            if let Some(value) = sample.label(label).filter(|v| !v.is_empty()) {
                out.fact(place, name, value);
            }
        }
    }

    fn put(&mut self, kind: PlaceKind, name: String, quantity: Quantity, value: f64, out: &Out<'_>) {
        if self.rows.len() >= ROWS_MAX {
            return;
        }
        let row = self.rows.entry((kind, name)).or_default();
        if row.values.is_empty() {
            row.origin = out.origin();
        }
        match row.values.iter_mut().find(|(q, _)| *q == quantity) {
            // `Buffers` and `Cached`; total and free swap.
            Some((_, sum)) => *sum += value,
            None => row.values.push((quantity, value)),
        }
    }

    /// The scrape has ended.
    fn push(&mut self, out: &mut Out<'_>) {
        self.seen.clear();
        if self.rows.is_empty() && self.processors.is_empty() {
            return;
        }
        out.platform(Platform::Linux);
        let at_s = self.at_s.take().unwrap_or(f64::NAN);
        let interval = Interval { at_s, length_s: f64::NAN, basis: Basis::Utc, kind: RowsKind::Instant };
        out.interval(interval);
        for ((kind, name), row) in std::mem::take(&mut self.rows) {
            let place = out.place(kind, &name);
            out.put_from(here(row.origin, out), place, &row.values);
        }
        out.interval(Interval { kind: RowsKind::SinceBoot, ..interval });
        let mut all = Modes::new();
        for (_, modes) in self.processors.values() {
            for (mode, seconds) in modes {
                *all.entry(mode.clone()).or_default() += seconds;
            }
        }
        let values = shares(&all);
        if let (Some((origin, _)), false) = (self.processors.values().next(), values.is_empty()) {
            let place = out.place(PlaceKind::Host, "");
            out.put_from(here(*origin, out), place, &values);
        }
        for (cpu, (origin, modes)) in std::mem::take(&mut self.processors) {
            let values = shares(&modes);
            if !values.is_empty() {
                let place = out.place(PlaceKind::Cpu, cpu.trim_start_matches("cpu"));
                out.put_from(here(origin, out), place, &values);
            }
        }
        out.interval(interval);
    }
}

/// An origin whose text may have gone with its block.
fn here(mut origin: Origin, out: &Out<'_>) -> Origin {
    if origin.block != out.origin().block {
        (origin.block, origin.start, origin.end) = (out.origin().block, 0, 0);
    }
    origin
}

/// Shares of processor time since boot, from seconds by mode. Time of guests is part of user time in the kernel.
fn shares(modes: &Modes) -> Vec<(Quantity, f64)> {
    let total: f64 = modes.iter().filter(|(mode, _)| !mode.starts_with("guest")).map(|(_, s)| s).sum();
    if total.is_nan() || total <= 0.0 {
        return Vec::new();
    }
    let quantity = |mode: &str| match mode {
        "user" => Some(CpuUserPercent),
        "nice" => Some(CpuNicePercent),
        "system" => Some(CpuSystemPercent),
        "iowait" => Some(CpuIowaitPercent),
        "irq" => Some(CpuIrqPercent),
        "softirq" => Some(CpuSoftirqPercent),
        "steal" => Some(CpuStealPercent),
        "idle" => Some(CpuIdlePercent),
        _ => None,
    };
    modes.iter().filter_map(|(mode, s)| Some((quantity(mode)?, s * 100.0 / total))).collect()
}
