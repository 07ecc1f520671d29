//! From the rows of a recording to one conclusion per device.

use super::device::{DeviceLine, Gathered};
use super::window::Interval;
use record::run::Table;
use std::collections::BTreeMap;

/// Columns of a recording that are read here; all others can be left out.
pub const COLUMNS: [&str; 15] = [
    "at_s",
    "length_s",
    "device",
    "label",
    "counted",
    "requests",
    "read_ios",
    "read_bytes",
    "write_bytes",
    "discard_bytes",
    "inside",
    "host_queue",
    "device_queue",
    "device_queue_peak",
    "device_queue_limit",
];

/// Devices while their rows are read, in the order of time. Memory is bounded by the number of devices.
#[derive(Clone, Debug, Default)]
pub struct Passive {
    devices: BTreeMap<String, Gathered>,
    first_s: Option<f64>,
    last_s: f64,
}

impl Passive {
    /// Adds the rows of a part of a recording.
    pub fn add(&mut self, rows: &Table) {
        for row in 0..rows.rows() {
            let Some(device) = rows.text(row, "device") else { continue };
            if rows.text(row, "counted") != Some("yes") {
                continue;
            }
            let float = |name| rows.float(row, name);
            let count = |name| rows.int(row, name).map_or(0.0, |v| v as f64);
            let (Some(at_s), Some(length_s)) = (float("at_s"), float("length_s")) else { continue };
            let interval = Interval {
                at_s,
                length_s,
                requests: count("requests"),
                reads: count("read_ios"),
                bytes: count("read_bytes") + count("write_bytes") + count("discard_bytes"),
                inside: float("inside"),
                host_queue: float("host_queue"),
                device_queue: float("device_queue"),
                device_queue_peak: float("device_queue_peak"),
            };
            self.interval(device, &interval);
            if let Some(gathered) = self.devices.get_mut(device) {
                gathered.device_queue_limit = float("device_queue_limit").or(gathered.device_queue_limit);
                if gathered.label.is_none() {
                    gathered.label = rows.text(row, "label").map(str::to_owned);
                }
            }
        }
    }

    /// Adds one interval of one device.
    pub fn interval(&mut self, device: &str, interval: &Interval) {
        if !self.devices.contains_key(device) {
            self.devices.insert(device.to_owned(), Gathered::default());
        }
        if let Some(gathered) = self.devices.get_mut(device) {
            gathered.add(interval);
        }
        self.first_s.get_or_insert(interval.at_s - interval.length_s);
        self.last_s = self.last_s.max(interval.at_s);
    }

    /// Start and end of what was added, seconds since 1970; absent before anything was.
    pub fn span_s(&self) -> Option<[f64; 2]> {
        self.first_s.map(|first| [first, self.last_s])
    }

    /// Names and labels of the devices met.
    pub fn devices(&self) -> impl Iterator<Item = (&str, Option<&str>)> {
        self.devices.iter().map(|(name, d)| (name.as_str(), d.label.as_deref()))
    }

    /// What it all says, the busiest device first. `wanted` chooses by name and label.
    pub fn conclude(&self, wanted: impl Fn(&str, Option<&str>) -> bool) -> Vec<DeviceLine> {
        let chosen = self.devices.iter().filter(|(name, d)| wanted(name, d.label.as_deref()));
        let mut lines: Vec<DeviceLine> = chosen.map(|(name, d)| d.conclude(name, self.last_s)).collect();
        let busy = |line: &DeviceLine| line.highest.map_or(0.0, |m| m.standing);
        lines.sort_by(|a, b| busy(b).total_cmp(&busy(a)).then_with(|| a.device.cmp(&b.device)));
        lines
    }
}
