//! Samples as a survey gives them, made up: the same numbers on every run.
#![allow(dead_code, reason = "each test file uses its own part")]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use record::recording::{Kept, RecordingWriter, Room};
use record::run::RunDocument;
use record::*;
use std::path::Path;
use std::sync::Arc;

pub const MIB: u64 = 1 << 20;
pub const START_S: f64 = 1.7e9;

pub fn head() -> RunDocument {
    let mut head = RunDocument::new("record", "0.1.0", "2026-01-02T03:04:05Z");
    head.options = serde_json::json!({"interval_s": 1.0});
    head
}

pub fn room(keep_bytes: u64) -> Room {
    Room { keep_bytes, leave_free_bytes: 0 }
}

pub fn create(dir: &Path, keep_bytes: u64) -> RecordingWriter {
    RecordingWriter::create(dir, room(keep_bytes), head()).unwrap()
}

/// A host with some disks, whose numbers change from interval to interval as real ones do.
pub struct MadeUp {
    pub sample: HostSample,
    state: u64,
}

impl MadeUp {
    pub fn new(devices: usize) -> Self {
        let device = |index: usize| {
            let mut d = DeviceSample::empty(Arc::new(DeviceFacts {
                name: format!("sd{}", char::from(b'a' + (index % 26) as u8)),
                kind: LayerKind::Scsi,
                label: None,
                disk: None,
                below: Vec::new(),
                above: Vec::new(),
                scheduler: Some("mq-deadline".to_owned()),
            }));
            d.counted = Counted::Yes;
            d.limits.device_queue = Some(32.0);
            d.limits.queue_depth = Some(32.0);
            d
        };
        let devices = (0..devices).map(device).collect();
        Self {
            sample: HostSample { at_s: START_S, length_s: 1.0, devices, ..HostSample::default() },
            state: 7,
        }
    }

    fn random(&mut self) -> f64 {
        self.state =
            self.state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.state >> 11) as f64 / (1u64 << 53) as f64
    }

    pub fn next(&mut self) -> &HostSample {
        self.sample.at_s += 1.0;
        for index in 0..self.sample.devices.len() {
            let (count, us) = ((self.random() * 9000.0) as u64, 100.0 + self.random() * 5000.0);
            let host = self.random() * 4.0;
            let d = &mut self.sample.devices[index];
            d.length_s = 1.0;
            d.ever_used = true;
            let class = |count: u64| ClassTotals {
                count,
                bytes: count * 8192,
                merges: count / 50,
                time_s: count as f64 * us / 1e6,
            };
            (d.read, d.write) = (class(count), class(count / 4));
            (d.discard, d.flush) = (Some(ClassTotals::default()), Some(ClassTotals::default()));
            let inside = d.read.time_s + d.write.time_s;
            d.inside = QueueSample::known(inside);
            d.host_queue = QueueSample::known(host.min(inside));
            d.device_queue =
                QueueSample { peak: Some(31.0), ..QueueSample::known(inside - host.min(inside)) };
            d.split_by = SplitBy::Readings;
            d.in_flight = count % 40;
            d.busy = 0.5;
            d.failed = Some(0);
        }
        &self.sample
    }
}

pub fn all(_: &DeviceSample) -> bool {
    true
}

/// Appends and fails when the interval was lost.
pub fn keep(writer: &mut RecordingWriter, sample: &HostSample) -> u64 {
    match writer.append(sample, all) {
        Kept::Yes { dropped } => dropped,
        Kept::Lost(error) => panic!("an interval was lost: {error}"),
    }
}

/// Length of all files in a folder.
pub fn folder_bytes(dir: &Path) -> u64 {
    std::fs::read_dir(dir).unwrap().map(|e| e.unwrap().metadata().unwrap().len()).sum()
}
