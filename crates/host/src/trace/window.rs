//! What the tracer saw in one window.

use record::LatencyHistogram;

/// Classes of requests, sorted as the kernel sorts them for `/proc/diskstats`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Class {
    /// Reads.
    Read,
    /// Writes, zeroing included.
    Write,
    /// Discards and secure erasures.
    Discard,
    /// Flushes of the device's write cache, as sent to it.
    Flush,
    /// Commands passed through to the driver, and zone management.
    Other,
}

impl Class {
    /// All, in the order of the kernel program.
    pub const ALL: [Class; 5] = [Class::Read, Class::Write, Class::Discard, Class::Flush, Class::Other];

    pub(super) fn number(self) -> u32 {
        self as u32
    }

    pub(super) fn of(number: u32) -> Self {
        Self::ALL.get(number as usize).copied().unwrap_or(Class::Other)
    }
}

/// One class of requests on one device. Sums and histograms are of requests completed in the window.
#[derive(Clone, Debug)]
pub struct ClassWindow {
    /// The class.
    pub class: Class,
    /// Requests completed, those that failed included.
    pub ios: u64,
    /// Bytes moved.
    pub bytes: u64,
    /// Requests completed with an error.
    pub errors: u64,
    /// Of `ios`, those whose times are not known (none stamped, or the completion was not seen): they stand in no
    /// histogram of times.
    pub untimed: u64,
    /// From acceptance by the block layer to the (last) dispatch to the driver.
    pub host_wait: LatencyHistogram,
    /// From the (last) dispatch to completion: queueing inside the device is in it.
    pub service: LatencyHistogram,
    /// Requests by size: bucket `b` holds sizes up to [`size_of_bucket_bytes`]`(b)`, the last one all above too.
    pub sizes: [u64; 16],
    /// Time-weighted mean number in the host queue over the window, in I/Os.
    pub host_queue: f64,
    /// Time-weighted mean number at the device over the window, in I/Os.
    pub device_queue: f64,
    /// In the host queue when the window ended.
    pub host_queue_at_end: u64,
    /// At the device when the window ended.
    pub device_queue_at_end: u64,
    /// Age of the oldest request in flight when the window ended, in ns since its acceptance.
    pub oldest_in_flight_ns: Option<u64>,
}

pub use record::traced::size_of_bucket_bytes;

/// One device.
#[derive(Clone, Debug)]
pub struct DeviceWindow {
    /// Kernel name, as in `/sys/block`.
    pub name: String,
    /// Major and minor number.
    pub device_number: (u32, u32),
    /// Classes with requests completed or in flight; absent ones saw none.
    pub classes: Vec<ClassWindow>,
    /// Requests that the driver gave back to the host queue.
    pub requeues: u64,
    /// Bios split because they were larger than a request may be.
    pub splits: u64,
    /// Bios merged to the front of a waiting request.
    pub front_merges: u64,
    /// Bios merged to the back of a waiting request.
    pub back_merges: u64,
    /// Requests that carried no data and waited for a flush, and second completions of writes with flush.
    pub flush_waits: u64,
}

impl DeviceWindow {
    /// One class, where it was seen.
    pub fn class(&self, class: Class) -> Option<&ClassWindow> {
        self.classes.iter().find(|c| c.class == class)
    }

    /// Time-weighted mean number in the host queue, all classes, in I/Os.
    pub fn host_queue(&self) -> f64 {
        self.classes.iter().map(|c| c.host_queue).sum()
    }

    /// Time-weighted mean number at the device, all classes, in I/Os.
    pub fn device_queue(&self) -> f64 {
        self.classes.iter().map(|c| c.device_queue).sum()
    }

    /// Requests completed, all classes.
    pub fn ios(&self) -> u64 {
        self.classes.iter().map(|c| c.ios).sum()
    }
}

/// SCSI answers other than GOOD, and commands that got none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct ScsiCounts {
    /// Status TASK SET FULL: the LUN's or port's queue was full.
    pub task_set_full: u64,
    /// Status BUSY.
    pub busy: u64,
    /// Status CHECK CONDITION.
    pub check_condition: u64,
    /// Other statuses than GOOD (reservation conflict, task aborted ...).
    pub other_status: u64,
    /// Results with a host byte: the HBA or its driver failed the command.
    pub host_error: u64,
    /// The driver refused a command because the HBA was full.
    pub refused_host_busy: u64,
    /// The driver refused a command because the LUN was full.
    pub refused_device_busy: u64,
    /// The driver refused a command for another reason.
    pub refused_other: u64,
    /// Commands that timed out.
    pub timeouts: u64,
}

impl ScsiCounts {
    pub(super) fn from_words(w: &[u64]) -> Self {
        Self {
            task_set_full: w[0],
            busy: w[1],
            check_condition: w[2],
            other_status: w[3],
            host_error: w[4],
            refused_host_busy: w[5],
            refused_device_busy: w[6],
            refused_other: w[7],
            timeouts: w[8],
        }
    }
}

/// One SCSI address with something to tell.
#[derive(Clone, Debug, serde::Serialize)]
pub struct ScsiWindow {
    /// `host:channel:id:lun`.
    pub address: String,
    /// The disk of that address; absent for tapes, enclosures and addresses without a disk.
    pub device: Option<String>,
    /// What was counted.
    pub counts: ScsiCounts,
}

/// Who submitted bios to a device.
#[derive(Clone, Debug, serde::Serialize)]
pub struct Asker {
    /// Process.
    pub pid: u32,
    /// Name of the thread that asked last (15 characters).
    pub comm: String,
    /// Its control group in the unified hierarchy when it was first seen; 1 is the root.
    pub cgroup_id: u64,
    /// Kernel name of the device, or its numbers where it has no name any more.
    pub device: String,
    /// Bios that read. A bio becomes one request, a part of one (merge) or several (split).
    pub reads: u64,
    /// Bios that write.
    pub writes: u64,
    /// Discards, flushes and others.
    pub others: u64,
    /// Bytes asked to be read.
    pub read_bytes: u64,
    /// Bytes asked to be written.
    pub write_bytes: u64,
}

impl Asker {
    /// All bios.
    pub fn bios(&self) -> u64 {
        self.reads + self.writes + self.others
    }
}

/// Events that found no place. All zero: nothing was lost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Lost {
    /// Requests of devices that are not followed: plugged in since the last read, or beyond the memory allowed.
    pub ios_of_unfollowed_devices: u64,
    /// Completions not seen, because the kernel did not run our program (it does not when it interrupted it just
    /// then). They are counted in `ios` and `untimed` as soon as the memory of the request is used again.
    pub completions: u64,
    /// Requests not seen, or without a place, in the table of requests in flight: missing in the queues at the end.
    pub in_flight: u64,
    /// Bios whose asker was not counted.
    pub asked: u64,
    /// SCSI answers that were not counted.
    pub scsi: u64,
    /// Requeues, merges and splits that were not counted.
    pub counts: u64,
}

impl Lost {
    /// Whether nothing was lost.
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }
}

/// What was seen since the last read.
#[derive(Clone, Debug)]
pub struct TraceWindow {
    /// Beginning, ns of the monotonic clock.
    pub start_monotonic_ns: u64,
    /// End, ns of the monotonic clock.
    pub end_monotonic_ns: u64,
    /// Devices with anything to tell, by name.
    pub devices: Vec<DeviceWindow>,
    /// SCSI addresses with anything to tell; `None` where SCSI is not traced ([`super::Parts::scsi`] says why).
    pub scsi: Option<Vec<ScsiWindow>>,
    /// Who asked, most bios first, at most as many as asked for; `None` where it is not traced.
    pub askers: Option<Vec<Asker>>,
    /// Bios of askers that are not listed because others asked for more.
    pub bios_of_others: u64,
    /// What was lost.
    pub lost: Lost,
}

impl TraceWindow {
    /// Length in seconds.
    pub fn seconds(&self) -> f64 {
        (self.end_monotonic_ns - self.start_monotonic_ns) as f64 / 1e9
    }

    /// A device by its kernel name.
    pub fn device(&self, name: &str) -> Option<&DeviceWindow> {
        self.devices.iter().find(|d| d.name == name)
    }
}
