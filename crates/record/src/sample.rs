//! One look at every block device of a host: what completed in an interval, and where the rest stood.
//!
//! A source (counters now, a tracer where there is one) fills a [`HostSample`] again and again; whoever draws, keeps
//! or concludes sees only this. What the source cannot know is `None`, never 0.

use crate::path::LayerKind;
use crate::traced::{TracedDevice, TracedHost};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// All devices over one interval.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HostSample {
    /// End of the interval, seconds since 1970.
    pub at_s: f64,
    /// Its length in seconds, by a clock that nobody sets.
    pub length_s: f64,
    /// Devices in the order of the kernel, partitions included.
    pub devices: Vec<DeviceSample>,
    /// Processes that did I/O, largest first; absent when nobody asked.
    pub processes: Option<ProcessesSample>,
    /// What a tracer saw of the host as a whole; absent where the numbers come from counters alone.
    pub traced: Option<TracedHost>,
    /// What the source cannot see here and why, each in one line.
    pub unseen: Vec<String>,
}

/// What is known of a device without looking at its counters. Shared between samples, made anew when it changes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DeviceFacts {
    /// Kernel name: `sda`, `dm-3`.
    pub name: String,
    /// What it is.
    pub kind: LayerKind,
    /// What a person calls it: LV name, multipath alias; absent when it has no other name.
    pub label: Option<String>,
    /// The disk that a partition is part of.
    pub disk: Option<String>,
    /// Devices directly below (paths of a multipath device, physical volumes of an LV).
    pub below: Vec<String>,
    /// Devices directly above.
    pub above: Vec<String>,
    /// Active I/O scheduler; absent where there is none to choose.
    pub scheduler: Option<String>,
}

/// What bounds a device's queues, as read last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DeviceLimits {
    /// I/Os at the device at most.
    pub device_queue: Option<f64>,
    /// LUN queue depth in force (SCSI).
    pub queue_depth: Option<f64>,
    /// The highest LUN queue depth seen since the source was opened.
    pub queue_depth_highest: Option<f64>,
    /// `nr_requests` of one hardware queue.
    pub nr_requests: Option<f64>,
    /// Hardware queues.
    pub hardware_queues: Option<f64>,
    /// Commands the whole host adapter takes (`can_queue`).
    pub host_can_queue: Option<f64>,
}

/// Whether a device's counters can be used for this interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Counted {
    /// Both ends were read.
    #[default]
    Yes,
    /// The device appeared within the interval: there is no first end.
    Appeared,
    /// Its counters went back: it was set up anew within the interval.
    Reset,
    /// Accounting is switched off (`queue/iostats` is 0).
    Off,
}

/// What happened to requests of one class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ClassTotals {
    /// Completed in the interval.
    pub count: u64,
    /// Bytes of those.
    pub bytes: u64,
    /// Merged into others on arrival.
    pub merges: u64,
    /// Time from acceptance to completion, summed over those that completed, seconds.
    pub time_s: f64,
}

/// A number of I/Os standing somewhere over the interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct QueueSample {
    /// Time-weighted mean; absent when only the bounds are known.
    pub mean: Option<f64>,
    /// At least this many.
    pub low: f64,
    /// At most this many.
    pub high: f64,
    /// Largest number seen at one instant; absent when instants were not read.
    pub peak: Option<f64>,
}

impl QueueSample {
    /// A mean that is known.
    pub fn known(mean: f64) -> Self {
        Self { mean: Some(mean), low: mean, high: mean, peak: None }
    }

    /// Bounds alone.
    pub fn between(low: f64, high: f64) -> Self {
        Self { mean: None, low, high: high.max(low), peak: None }
    }
}

/// How host queue and device queue were told apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SplitBy {
    /// Nothing stood there at any time.
    #[default]
    Idle,
    /// Instants read many times a second.
    Readings,
    /// By the way the device works: it passes on at once what it accepts.
    Passed,
    /// As on the devices directly below it.
    Below,
    /// Every request was traced.
    Traced,
    /// It could not be: only bounds hold.
    Bounds,
    /// No numbers at all.
    Unknown,
}

/// One device over one interval.
#[derive(Clone, Debug, PartialEq)]
pub struct DeviceSample {
    /// What it is.
    pub facts: Arc<DeviceFacts>,
    /// What bounds it.
    pub limits: DeviceLimits,
    /// Whether the numbers below mean anything.
    pub counted: Counted,
    /// Length of its own interval, seconds.
    pub length_s: f64,
    /// Whether it completed any I/O since it was set up.
    pub ever_used: bool,
    /// Reads.
    pub read: ClassTotals,
    /// Writes.
    pub write: ClassTotals,
    /// Discards; absent before kernel 4.18.
    pub discard: Option<ClassTotals>,
    /// Flushes; absent before kernel 5.5. They carry no bytes.
    pub flush: Option<ClassTotals>,
    /// I/Os inside this device and all below it.
    pub inside: QueueSample,
    /// Of those, accepted and not yet sent to the device.
    pub host_queue: QueueSample,
    /// Of those, sent and not completed.
    pub device_queue: QueueSample,
    /// How the two were told apart.
    pub split_by: SplitBy,
    /// In flight at the end of the interval, as the kernel counts it.
    pub in_flight: u64,
    /// Share of the interval in which at least one I/O was outstanding. It says nothing about how much more a device
    /// that serves requests in parallel could do.
    pub busy: f64,
    /// Commands that ended in anything but success: QUEUE FULL, BUSY, check conditions (SCSI).
    pub failed: Option<u64>,
    /// Commands that timed out (SCSI, 5.19 and newer).
    pub timed_out: Option<u64>,
    /// TASK SET FULL answers; needs a tracer.
    pub task_set_full: Option<u64>,
    /// What a tracer saw of it; shared, since its histograms are large.
    pub traced: Option<Arc<TracedDevice>>,
    /// What gives cause to doubt or to look, in words.
    pub remarks: Vec<String>,
}

impl DeviceSample {
    /// An idle device that nothing is known of yet.
    pub fn empty(facts: Arc<DeviceFacts>) -> Self {
        Self {
            facts,
            limits: DeviceLimits::default(),
            counted: Counted::Appeared,
            length_s: 0.0,
            ever_used: false,
            read: ClassTotals::default(),
            write: ClassTotals::default(),
            discard: None,
            flush: None,
            inside: QueueSample::default(),
            host_queue: QueueSample::default(),
            device_queue: QueueSample::default(),
            split_by: SplitBy::Unknown,
            in_flight: 0,
            busy: 0.0,
            failed: None,
            timed_out: None,
            task_set_full: None,
            traced: None,
            remarks: Vec::new(),
        }
    }

    /// Whether the counters of this interval can be used.
    pub fn is_counted(&self) -> bool {
        self.counted == Counted::Yes && self.length_s > 0.0
    }

    /// Reads and writes together.
    pub fn ios(&self) -> ClassTotals {
        let (r, w) = (&self.read, &self.write);
        ClassTotals {
            count: r.count + w.count,
            bytes: r.bytes + w.bytes,
            merges: r.merges + w.merges,
            time_s: r.time_s + w.time_s,
        }
    }

    /// Requests of all classes.
    pub fn requests(&self) -> u64 {
        let others = [self.discard, self.flush].into_iter().flatten().map(|c| c.count).sum::<u64>();
        self.read.count + self.write.count + others
    }

    /// A number per second; absent without counters.
    pub fn per_s(&self, number: f64) -> Option<f64> {
        self.is_counted().then(|| number / self.length_s)
    }

    /// Reads and writes per second.
    pub fn iops(&self) -> Option<f64> {
        self.per_s(self.ios().count as f64)
    }

    /// MiB (2^20) read and written per second.
    pub fn mib_per_s(&self) -> Option<f64> {
        self.per_s(self.ios().bytes as f64 / f64::from(1 << 20))
    }

    /// Mean time from acceptance to completion of reads and writes; absent when none completed.
    pub fn response_us(&self) -> Option<f64> {
        self.ios().response_us().filter(|_| self.is_counted())
    }

    /// Mean time in the host queue: of traced reads and writes, else of all requests by Little's law.
    pub fn host_wait_us(&self) -> Option<f64> {
        match self.traced() {
            Some(traced) => traced.host_wait_us(),
            None => self.per_request_us(&self.host_queue),
        }
    }

    /// Mean time at the device, queueing inside it included: of traced reads and writes, else of all requests by
    /// Little's law.
    pub fn service_us(&self) -> Option<f64> {
        match self.traced() {
            Some(traced) => traced.service_us(),
            None => self.per_request_us(&self.device_queue),
        }
    }

    /// What the tracer saw, where its times were used.
    fn traced(&self) -> Option<&TracedDevice> {
        self.traced.as_deref().filter(|_| self.is_counted() && self.split_by == SplitBy::Traced)
    }

    fn per_request_us(&self, queue: &QueueSample) -> Option<f64> {
        let requests = self.requests();
        let mean = queue.mean.filter(|_| self.is_counted() && requests > 0)?;
        Some(mean * self.length_s / requests as f64 * 1e6)
    }

    /// I/Os that stand here, for sorting: what is known to be inside.
    pub fn standing(&self) -> f64 {
        self.inside.mean.unwrap_or(self.inside.low)
    }

    /// I/Os that wait in the host, for sorting: at least these.
    pub fn waiting(&self) -> f64 {
        self.host_queue.mean.unwrap_or(self.host_queue.low)
    }

    /// Whether the LUN queue depth stands below the highest value seen: the mark of a QUEUE FULL.
    pub fn depth_lowered(&self) -> Option<(f64, f64)> {
        let (now, highest) = (self.limits.queue_depth?, self.limits.queue_depth_highest?);
        (now < highest).then_some((now, highest))
    }
}

impl ClassTotals {
    /// Mean time from acceptance to completion; absent when none completed.
    pub fn response_us(&self) -> Option<f64> {
        (self.count > 0).then(|| self.time_s / self.count as f64 * 1e6)
    }

    /// Mean size; absent when none completed.
    pub fn bytes_mean(&self) -> Option<f64> {
        (self.count > 0).then(|| self.bytes as f64 / self.count as f64)
    }
}

/// Who did I/O.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ProcessesSample {
    /// Largest first, bounded.
    pub top: Vec<ProcessSample>,
    /// Processes looked at.
    pub seen: usize,
    /// Processes whose I/O may not be read with these rights.
    pub hidden: usize,
}

/// One process.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProcessSample {
    /// Process number.
    pub pid: u32,
    /// Its name, as the kernel keeps it (at most 15 characters).
    pub name: String,
    /// MiB (2^20) per second that it caused to be read from storage.
    pub read_mib_per_s: f64,
    /// MiB per second that it caused to be written to storage, less what was truncated before it got there.
    pub write_mib_per_s: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn device() -> DeviceSample {
        let facts = DeviceFacts {
            name: "sda".to_owned(),
            kind: LayerKind::Scsi,
            label: None,
            disk: None,
            below: Vec::new(),
            above: Vec::new(),
            scheduler: None,
        };
        DeviceSample::empty(Arc::new(facts))
    }

    #[test]
    fn times_follow_from_queues_by_littles_law() {
        let mut d = device();
        d.counted = Counted::Yes;
        d.length_s = 2.0;
        d.read = ClassTotals { count: 3000, bytes: 3000 * 8192, merges: 0, time_s: 12.0 };
        d.flush = Some(ClassTotals { count: 1000, ..ClassTotals::default() });
        d.host_queue = QueueSample::known(4.0);
        d.device_queue = QueueSample::known(2.0);
        assert_eq!((d.iops(), d.requests()), (Some(1500.0), 4000));
        assert_eq!((d.host_wait_us(), d.service_us()), (Some(2000.0), Some(1000.0)));
        assert_eq!(d.response_us(), Some(4000.0));
        assert_eq!(d.mib_per_s(), Some(11.718_75));
    }

    #[test]
    fn traced_times_are_those_of_reads_and_writes() {
        let mut d = device();
        d.counted = Counted::Yes;
        d.length_s = 1.0;
        d.flush = Some(ClassTotals { count: 1000, ..ClassTotals::default() });
        d.host_queue = QueueSample::known(4.0);
        let class = |wait_us: u64, count: u64| {
            let mut class = crate::TracedClass { ios: count, ..crate::TracedClass::default() };
            class.host_wait.record_many_ns(wait_us * 1000, count);
            Some(class)
        };
        let (read, write, flush) = (class(100, 3), class(500, 1), class(9000, 100));
        d.traced = Some(Arc::new(TracedDevice { read, write, flush, ..TracedDevice::default() }));
        assert_eq!(d.host_wait_us(), Some(4000.0), "by Little's law where its times are not used");
        d.split_by = SplitBy::Traced;
        assert_eq!((d.host_wait_us(), d.service_us()), (Some(200.0), None));
    }

    #[test]
    fn without_counters_or_requests_there_is_no_rate_and_no_time() {
        let mut d = device();
        d.length_s = 1.0;
        assert_eq!((d.iops(), d.response_us(), d.host_wait_us()), (None, None, None));
        d.counted = Counted::Yes;
        d.host_queue = QueueSample::known(3.0);
        assert_eq!((d.iops(), d.response_us(), d.host_wait_us()), (Some(0.0), None, None));
    }

    #[test]
    fn a_depth_below_the_highest_seen_is_told() {
        let mut d = device();
        d.limits.queue_depth = Some(16.0);
        assert_eq!(d.depth_lowered(), None);
        d.limits.queue_depth_highest = Some(32.0);
        assert_eq!(d.depth_lowered(), Some((16.0, 32.0)));
        d.limits.queue_depth = Some(32.0);
        assert_eq!(d.depth_lowered(), None);
    }
}
