//! What only a tracer can tell of devices and of those who asked: every request was seen.

use crate::histogram::LatencyHistogram;

/// Buckets of request sizes.
pub const SIZE_BUCKETS: usize = 16;

/// Upper edge of a bucket of request sizes, in bytes; the last one holds all above too.
pub fn size_of_bucket_bytes(bucket: usize) -> u64 {
    512 << bucket
}

/// One class of requests on one device. Counts and histograms are of requests completed in the interval.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TracedClass {
    /// Completed.
    pub ios: u64,
    /// Bytes of those.
    pub bytes: u64,
    /// Completed with an error.
    pub errors: u64,
    /// Of `ios`, those whose times are not known.
    pub untimed: u64,
    /// Time-weighted mean number in the host queue.
    pub host_queue: f64,
    /// Time-weighted mean number at the device.
    pub device_queue: f64,
    /// From acceptance to the last dispatch.
    pub host_wait: LatencyHistogram,
    /// From the last dispatch to completion.
    pub service: LatencyHistogram,
    /// Requests by size, see [`size_of_bucket_bytes`].
    pub sizes: [u64; SIZE_BUCKETS],
    /// Age of the oldest request in flight at the end of the interval, seconds.
    pub oldest_in_flight_s: Option<f64>,
}

/// SCSI answers other than GOOD, and commands that got none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct ScsiAnswers {
    /// TASK SET FULL: the queue of the LUN or of its port was full.
    pub task_set_full: u64,
    /// BUSY.
    pub busy: u64,
    /// CHECK CONDITION.
    pub check_condition: u64,
    /// Other statuses (reservation conflict, task aborted ...).
    pub other_status: u64,
    /// The adapter or its driver failed the command (host byte).
    pub host_error: u64,
    /// The driver refused a command because the adapter was full.
    pub refused_host_busy: u64,
    /// The driver refused a command because the LUN was full.
    pub refused_device_busy: u64,
    /// The driver refused a command for another reason.
    pub refused_other: u64,
    /// Commands that timed out; the kernel aborts these.
    pub timeouts: u64,
}

impl ScsiAnswers {
    /// Commands that were answered, and not with success.
    pub fn failed(&self) -> u64 {
        self.task_set_full + self.busy + self.check_condition + self.other_status + self.host_error
    }
}

/// One device as the tracer saw it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TracedDevice {
    /// Reads.
    pub read: Option<TracedClass>,
    /// Writes.
    pub write: Option<TracedClass>,
    /// Discards.
    pub discard: Option<TracedClass>,
    /// Flushes as sent to the device.
    pub flush: Option<TracedClass>,
    /// Commands passed through to the driver, and zone management.
    pub other: Option<TracedClass>,
    /// Requests that the driver gave back to the host queue.
    pub requeues: u64,
    /// I/Os split because they were larger than a request may be.
    pub splits: u64,
    /// I/Os merged to the front of a waiting request.
    pub front_merges: u64,
    /// I/Os merged to the back of a waiting request.
    pub back_merges: u64,
    /// SCSI answers; absent where the device is no SCSI disk or these are not traced.
    pub scsi: Option<ScsiAnswers>,
}

impl TracedDevice {
    /// All classes that were seen.
    pub fn classes(&self) -> impl Iterator<Item = &TracedClass> {
        [&self.read, &self.write, &self.discard, &self.flush, &self.other].into_iter().flatten()
    }

    /// Time-weighted mean number in the host queue, all classes.
    pub fn host_queue(&self) -> f64 {
        self.classes().map(|c| c.host_queue).sum()
    }

    /// Time-weighted mean number at the device, all classes.
    pub fn device_queue(&self) -> f64 {
        self.classes().map(|c| c.device_queue).sum()
    }

    /// Host wait of reads and writes; absent when none was timed.
    pub fn host_wait(&self) -> Option<LatencyHistogram> {
        self.times(|c| &c.host_wait)
    }

    /// Service time of reads and writes; absent when none was timed.
    pub fn service(&self) -> Option<LatencyHistogram> {
        self.times(|c| &c.service)
    }

    /// Exact mean host wait of reads and writes, microseconds.
    pub fn host_wait_us(&self) -> Option<f64> {
        self.mean_us(|c| &c.host_wait)
    }

    /// Exact mean service time of reads and writes, microseconds.
    pub fn service_us(&self) -> Option<f64> {
        self.mean_us(|c| &c.service)
    }

    fn times(&self, of: impl Fn(&TracedClass) -> &LatencyHistogram) -> Option<LatencyHistogram> {
        let parts = [&self.read, &self.write].into_iter().flatten().map(of);
        let all = parts.fold(LatencyHistogram::new(), |mut all, part| {
            all.merge(part);
            all
        });
        (!all.is_empty()).then_some(all)
    }

    fn mean_us(&self, of: impl Fn(&TracedClass) -> &LatencyHistogram) -> Option<f64> {
        let parts = || [&self.read, &self.write].into_iter().flatten().map(&of);
        let count: u64 = parts().map(LatencyHistogram::count).sum();
        let sum_ns: u64 = parts().map(LatencyHistogram::sum_ns).sum();
        (count > 0).then(|| sum_ns as f64 / count as f64 / 1e3)
    }
}

/// What one process asked of one device within the interval.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AskerSample {
    /// Process number.
    pub pid: u32,
    /// Name of the thread that asked last (15 characters).
    pub name: String,
    /// Its control group, as a path below the top of the unified hierarchy; absent where that is not known.
    pub cgroup: Option<String>,
    /// Kernel name of the device.
    pub device: String,
    /// I/Os that read. One becomes one request, a part of one (merge) or several (split).
    pub reads: u64,
    /// I/Os that write.
    pub writes: u64,
    /// Discards, flushes and others.
    pub others: u64,
    /// Bytes asked to be read.
    pub read_bytes: u64,
    /// Bytes asked to be written.
    pub write_bytes: u64,
}

impl AskerSample {
    /// I/Os of all classes.
    pub fn ios(&self) -> u64 {
        self.reads + self.writes + self.others
    }
}

/// What the tracer could not count within the interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct LostEvents {
    /// Requests of devices that are not followed: plugged in within the interval, or beyond the memory allowed.
    pub ios_of_unfollowed_devices: u64,
    /// Completions that the kernel handed to no eBPF program; found again when the request's memory is used anew.
    pub completions: u64,
    /// Requests without a place in the table of requests in flight.
    pub in_flight: u64,
    /// I/Os whose asker was not counted.
    pub askers: u64,
    /// SCSI answers.
    pub scsi: u64,
    /// Requeues, merges, splits.
    pub counts: u64,
}

impl LostEvents {
    /// All together.
    pub fn sum(&self) -> u64 {
        let Self { ios_of_unfollowed_devices, completions, in_flight, askers, scsi, counts } = *self;
        ios_of_unfollowed_devices + completions + in_flight + askers + scsi + counts
    }
}

/// What the tracer saw of the host as a whole.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TracedHost {
    /// Who asked, most I/Os first, bounded; absent where that is not traced.
    pub askers: Option<Vec<AskerSample>>,
    /// I/Os of those who are not listed.
    pub ios_of_other_askers: u64,
    /// Whether SCSI answers are traced.
    pub scsi: bool,
    /// What was lost.
    pub lost: LostEvents,
}
