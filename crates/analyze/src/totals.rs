//! Counters that only grow, from one sample to the next: what a scraper that comes now and then can take differences of.

use record::{
    ClassTotals, DeviceFacts, DeviceLimits, DeviceSample, HostSample, LatencyHistogram, QueueSample,
};
use std::collections::HashMap;
use std::sync::Arc;

/// Devices with histograms at most: a histogram is tens of series.
const HISTOGRAMS_MAX: usize = 200;

/// Classes in the order in which they are offered.
pub const CLASSES: [&str; 4] = ["read", "write", "discard", "flush"];

/// One device since the first sample.
#[derive(Clone, Debug)]
pub struct DeviceTotals {
    /// What it is.
    pub facts: Arc<DeviceFacts>,
    /// What bounds it.
    pub limits: DeviceLimits,
    /// By class, as [`CLASSES`]; absent where the kernel does not count it.
    pub classes: [Option<ClassTotals>; 4],
    /// Time in which it was counted, s.
    pub counted_s: f64,
    /// I/Os inside, times seconds.
    pub inside_s: f64,
    /// Time in which host queue and device queue were told apart, s.
    pub split_s: f64,
    /// I/Os in the host queue, times seconds, over that time.
    pub host_queue_s: f64,
    /// I/Os at the device, times seconds, over that time.
    pub device_queue_s: f64,
    /// Time in which at least one I/O was outstanding, s.
    pub busy_s: f64,
    /// In flight at the end of the last interval.
    pub in_flight: u64,
    /// SCSI commands without success.
    pub failed: Option<u64>,
    /// SCSI commands that timed out.
    pub timed_out: Option<u64>,
    /// TASK SET FULL answers; needs a tracer.
    pub task_set_full: Option<u64>,
    /// Requests that the driver gave back; needs a tracer.
    pub requeues: Option<u64>,
    /// Host wait and service time of reads and of writes; need a tracer.
    pub times: Option<Box<[ClassTimes; 2]>>,
    seen_in: u64,
}

/// Times of one class.
#[derive(Clone, Debug, Default)]
pub struct ClassTimes {
    /// From acceptance to the last dispatch.
    pub host_wait: LatencyHistogram,
    /// From there to completion.
    pub service: LatencyHistogram,
}

/// All devices since the first sample.
#[derive(Clone, Debug)]
pub struct Totals {
    devices: HashMap<String, DeviceTotals>,
    /// Names in the order of the last sample.
    order: Vec<String>,
    max_devices: usize,
    histograms: usize,
    samples: u64,
    /// Devices of the last sample that did I/O and are not offered: there are too many.
    pub left_out: usize,
    /// End of the last interval, seconds since 1970.
    pub at_s: f64,
    /// Whether a tracer saw the last interval.
    pub traced: bool,
    /// Events that the tracer lost.
    pub lost_events: u64,
}

impl Totals {
    /// Nothing yet; `max_devices` bounds the number of devices.
    pub fn new(max_devices: usize) -> Self {
        Self {
            devices: HashMap::new(),
            order: Vec::new(),
            max_devices,
            histograms: 0,
            samples: 0,
            left_out: 0,
            at_s: 0.0,
            traced: false,
            lost_events: 0,
        }
    }

    /// Devices in the order of the kernel.
    pub fn devices(&self) -> impl Iterator<Item = &DeviceTotals> {
        self.order.iter().filter_map(|name| self.devices.get(name))
    }

    /// Adds one sample: whole devices that ever did I/O. A device that is gone is forgotten.
    pub fn add(&mut self, sample: &HostSample) {
        self.samples += 1;
        (self.left_out, self.at_s) = (0, sample.at_s);
        self.traced = sample.traced.is_some();
        self.lost_events += sample.traced.as_ref().map_or(0, |t| t.lost.sum());
        for d in sample.devices.iter().filter(|d| d.ever_used && d.facts.disk.is_none()) {
            if !self.devices.contains_key(&d.facts.name) {
                if self.devices.len() >= self.max_devices {
                    self.left_out += 1;
                    continue;
                }
                self.devices.insert(d.facts.name.clone(), DeviceTotals::new(d));
            }
            let times_left = self.histograms < HISTOGRAMS_MAX;
            if let Some(totals) = self.devices.get_mut(&d.facts.name) {
                totals.seen_in = self.samples;
                self.histograms += usize::from(totals.add(d, times_left));
            }
        }
        let samples = self.samples;
        if self.devices.values().any(|d| d.seen_in != samples) {
            self.devices.retain(|_, d| d.seen_in == samples);
            self.histograms = self.devices.values().filter(|d| d.times.is_some()).count();
        }
        let same =
            self.order.len() == self.devices.len() && self.order.iter().all(|n| self.devices.contains_key(n));
        if !same {
            let names = sample.devices.iter().map(|d| &d.facts.name);
            self.order = names.filter(|n| self.devices.contains_key(*n)).cloned().collect();
        }
    }
}

impl DeviceTotals {
    fn new(d: &DeviceSample) -> Self {
        Self {
            facts: Arc::clone(&d.facts),
            limits: d.limits,
            classes: [None; 4],
            counted_s: 0.0,
            inside_s: 0.0,
            split_s: 0.0,
            host_queue_s: 0.0,
            device_queue_s: 0.0,
            busy_s: 0.0,
            in_flight: 0,
            failed: None,
            timed_out: None,
            task_set_full: None,
            requeues: None,
            times: None,
            seen_in: 0,
        }
    }

    /// True when it has histograms from now on.
    fn add(&mut self, d: &DeviceSample, times_left: bool) -> bool {
        if !Arc::ptr_eq(&self.facts, &d.facts) {
            self.facts = Arc::clone(&d.facts);
        }
        (self.limits, self.in_flight) = (d.limits, d.in_flight);
        let more = |sum: &mut Option<u64>, part: Option<u64>| {
            if let Some(part) = part {
                *sum = Some(sum.unwrap_or(0) + part);
            }
        };
        more(&mut self.failed, d.failed);
        more(&mut self.timed_out, d.timed_out);
        if !d.is_counted() {
            return false;
        }
        more(&mut self.task_set_full, d.task_set_full);
        for (sum, part) in self.classes.iter_mut().zip([Some(d.read), Some(d.write), d.discard, d.flush]) {
            if let Some(part) = part {
                let sum = sum.get_or_insert_default();
                sum.count += part.count;
                sum.bytes += part.bytes;
                sum.merges += part.merges;
                sum.time_s += part.time_s;
            }
        }
        self.counted_s += d.length_s;
        self.busy_s += d.busy * d.length_s;
        let mean = |q: &QueueSample| q.mean.map(|m| m * d.length_s);
        self.inside_s += mean(&d.inside).unwrap_or(0.0);
        if let (Some(host), Some(device)) = (mean(&d.host_queue), mean(&d.device_queue)) {
            self.split_s += d.length_s;
            self.host_queue_s += host;
            self.device_queue_s += device;
        }
        self.add_times(d, times_left)
    }

    fn add_times(&mut self, d: &DeviceSample, times_left: bool) -> bool {
        let Some(traced) = d.traced.as_deref() else { return false };
        self.requeues = Some(self.requeues.unwrap_or(0) + traced.requeues);
        let any = [&traced.read, &traced.write].into_iter().flatten().any(|c| !c.service.is_empty());
        let new = self.times.is_none();
        if !any || (new && !times_left) {
            return false;
        }
        let times = self.times.get_or_insert_default();
        for (sum, part) in times.iter_mut().zip([&traced.read, &traced.write]) {
            if let Some(part) = part {
                sum.host_wait.merge(&part.host_wait);
                sum.service.merge(&part.service);
            }
        }
        new
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::{Counted, LayerKind, TracedClass, TracedDevice};

    fn device(name: &str) -> DeviceSample {
        let facts = DeviceFacts {
            name: name.to_owned(),
            kind: LayerKind::Scsi,
            label: None,
            disk: None,
            below: Vec::new(),
            above: Vec::new(),
            scheduler: None,
        };
        let mut d = DeviceSample::empty(Arc::new(facts));
        (d.counted, d.length_s, d.ever_used) = (Counted::Yes, 2.0, true);
        d.read = ClassTotals { count: 10, bytes: 81_920, merges: 1, time_s: 0.5 };
        d.host_queue = QueueSample::known(3.0);
        d.device_queue = QueueSample::known(4.0);
        d.inside = QueueSample::known(7.0);
        d
    }

    fn sample(devices: Vec<DeviceSample>) -> HostSample {
        HostSample { at_s: 9.0, length_s: 2.0, devices, ..HostSample::default() }
    }

    #[test]
    fn differences_add_up_and_unknown_times_are_left_out() {
        let mut totals = Totals::new(10);
        totals.add(&sample(vec![device("sda")]));
        let mut bounded = device("sda");
        (bounded.host_queue, bounded.device_queue) =
            (QueueSample::between(0.0, 9.0), QueueSample::between(0.0, 9.0));
        bounded.failed = Some(3);
        totals.add(&sample(vec![bounded]));
        let d = totals.devices().next().unwrap();
        assert_eq!(d.classes[0].unwrap().count, 20);
        assert_eq!((d.counted_s, d.split_s, d.host_queue_s, d.device_queue_s), (4.0, 2.0, 6.0, 8.0));
        assert_eq!((d.failed, d.timed_out, d.classes[3].is_none()), (Some(3), None, true));
    }

    #[test]
    fn the_number_of_devices_is_bounded_and_who_is_gone_is_forgotten() {
        let mut totals = Totals::new(2);
        totals.add(&sample(vec![device("sda"), device("sdb"), device("sdc")]));
        assert_eq!((totals.devices().count(), totals.left_out), (2, 1));
        totals.add(&sample(vec![device("sdc"), device("sdb")]));
        totals.add(&sample(vec![device("sdc"), device("sdb")]));
        let names: Vec<&str> = totals.devices().map(|d| d.facts.name.as_str()).collect();
        assert_eq!((names, totals.left_out), (vec!["sdc", "sdb"], 0));
    }

    #[test]
    fn histograms_of_a_tracer_merge() {
        let mut totals = Totals::new(2);
        for us in [100, 300] {
            let mut d = device("sda");
            let mut class = TracedClass::default();
            class.service.record_many_ns(us * 1000, 5);
            d.traced =
                Some(Arc::new(TracedDevice { read: Some(class), requeues: 2, ..TracedDevice::default() }));
            totals.add(&sample(vec![d]));
        }
        let d = totals.devices().next().unwrap();
        let times = d.times.as_deref().unwrap();
        assert_eq!(
            (times[0].service.count(), times[0].service.sum_ns(), d.requeues),
            (10, 2_000_000, Some(4))
        );
    }
}
