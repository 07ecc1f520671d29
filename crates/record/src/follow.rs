//! Where the I/Os stood during a step, as counters of each layer tell.

use crate::doubt::Doubt;
use crate::incident::Trouble;
use serde::{Deserialize, Serialize};

/// Follows the queue while a load runs. The load generator calls it around each measured window.
pub trait Follow: Send {
    /// The window begins now.
    fn begin(&mut self);
    /// The window ends now; `window` says what the generator itself counted in it.
    fn end(&mut self, window: &Window) -> Followed;

    /// A load is about to be put on, before settling and `begin`.
    fn load_on(&mut self) {}

    /// What devices answered besides success since the load was put on; quiet devices are left out. Cheap enough to be
    /// asked every 100 ms.
    fn troubles(&mut self) -> Vec<Trouble> {
        Vec::new()
    }
}

/// What the generator counted between `begin` and `end`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Window {
    /// Length in seconds.
    pub length_s: f64,
    /// Reads and writes completed.
    pub ios: u64,
    /// Bytes moved.
    pub bytes: u64,
    /// Time-weighted mean of outstanding I/Os.
    pub outstanding_mean: f64,
}

/// What was seen beside the generator's own counts.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Followed {
    /// Layers of the path, top first.
    pub layers: Vec<LayerSeen>,
    /// Cores and process.
    pub cpu: Option<CpuSeen>,
    /// The rest of the host.
    pub host: Option<HostSeen>,
    /// What the counters themselves give cause to doubt.
    pub doubts: Vec<Doubt>,
}

/// A mean number of I/Os standing somewhere, and how well it is known.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Standing {
    /// The best value; absent when only the bound is known.
    pub mean: Option<f64>,
    /// It was at least this many.
    pub low: f64,
    /// It was at most this many; infinite, null in JSON, when nothing bounds it.
    #[serde(deserialize_with = "null_is_unbounded")]
    pub high: f64,
    /// How it is known.
    pub how: How,
}

/// Where a number comes from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "from")]
pub enum How {
    /// A counter of the kernel, exact for requests completed in the window.
    Counter {
        /// The file.
        file: String,
    },
    /// Instant values read many times.
    Sampled {
        /// The file.
        file: String,
        /// How often it was read in the window.
        samples: u64,
    },
    /// Difference of other numbers, named in words.
    Derived {
        /// The rule.
        rule: String,
    },
    /// Cannot be known with these rights on this kernel; only the bound holds.
    Bounded {
        /// Why.
        why: String,
    },
}

/// JSON has no infinity and writes null.
fn null_is_unbounded<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    Ok(Option::<f64>::deserialize(deserializer)?.unwrap_or(f64::INFINITY))
}

impl Standing {
    /// A number that is known.
    pub fn known(mean: f64, how: How) -> Self {
        Self { mean: Some(mean), low: mean, high: mean, how }
    }

    /// Only a bound.
    pub fn between(low: f64, high: f64, why: impl Into<String>) -> Self {
        Self { mean: None, low, high, how: How::Bounded { why: why.into() } }
    }
}

/// One layer of the path during one window. Absent means not known here, never zero.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LayerSeen {
    /// Kernel name of the device (`vda`, `dm-3`), the key into the path.
    pub name: String,
    /// Requests completed per second (after merges and splits at this layer).
    pub requests_per_s: f64,
    /// MiB (2^20) per second.
    pub mib_per_s: f64,
    /// Mean size of a request.
    pub request_bytes_mean: Option<f64>,
    /// Merges per second.
    pub merges_per_s: f64,
    /// I/Os inside this layer and all below it: from acceptance by the block layer to completion.
    pub inside: Standing,
    /// Of those, in this layer's own host queue: accepted, not yet sent to the driver.
    pub host_queue: Standing,
    /// Of those, sent to this layer's driver and not completed. For the lowest layer this is the device queue.
    pub device_queue: Standing,
    /// Largest number seen sent and not completed at one instant.
    pub device_queue_peak: Option<f64>,
    /// Mean time from acceptance to completion.
    pub response_us: Option<f64>,
    /// Mean time in the host queue.
    pub host_wait_us: Option<f64>,
    /// Mean time at the device, queueing inside it included.
    pub service_us: Option<f64>,
    /// The limit on the device queue in force during the window (LUN queue depth, tags), read while it ran.
    pub device_queue_limit: Option<f64>,
    /// Lowest and highest value of that limit seen in the window; they differ when the kernel moved it.
    pub device_queue_limit_range: Option<(f64, f64)>,
    /// |N - X R| / N between this layer's independent counters; absent where they are not independent.
    pub little_error: Option<f64>,
    /// SCSI commands sent and completed by count during the window, and failed ones.
    pub scsi: Option<ScsiSeen>,
    /// Who shared the host adapter's tags with this LUN; absent where nobody can.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tag_sharing: Option<TagSharing>,
}

/// LUNs of one SCSI host share its tags: each that sent a command in the last seconds keeps an equal part for itself.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TagSharing {
    /// Other LUNs of the same host.
    pub siblings: u32,
    /// Those that sent commands in the window or in the seconds before.
    pub active: Vec<String>,
    /// LUNs that the kernel itself counted as active, this one included; only root may read it.
    pub counted: Option<u32>,
}

/// SCSI's own counters over one window.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ScsiSeen {
    /// Commands dispatched (`iorequest_cnt`).
    pub requested: u64,
    /// Commands completed (`iodone_cnt`).
    pub done: u64,
    /// Commands that ended in anything but success (`ioerr_cnt`): QUEUE FULL and check conditions too.
    pub errors: u64,
    /// Commands that timed out (`iotmo_cnt`), absent on older kernels.
    pub timeouts: Option<u64>,
}

/// Processor use of the load.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CpuSeen {
    /// User time of the load threads per I/O.
    pub user_us_per_io: f64,
    /// System time of the load threads and their kernel workers per I/O.
    pub sys_us_per_io: f64,
    /// Interrupt and softirq time of the cores used, per I/O.
    pub irq_us_per_io: Option<f64>,
    /// Share of one core that the busiest load thread used (0 to 1, user and system, not iowait).
    pub busiest_worker: f64,
    /// I/Os per second that one whole core would carry at this cost.
    pub iops_per_core: Option<f64>,
    /// The cores the workers were allowed on.
    pub cores: Vec<CoreSeen>,
}

/// One core over one window; shares of wall time, 0 to 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CoreSeen {
    /// Logical CPU number.
    pub cpu: u32,
    /// User and nice.
    pub user: f64,
    /// System.
    pub system: f64,
    /// Hardware interrupts.
    pub irq: f64,
    /// Soft interrupts.
    pub softirq: f64,
    /// Idle with I/O outstanding: idle, not busy.
    pub iowait: f64,
    /// Taken by the hypervisor.
    pub steal: f64,
    /// Idle.
    pub idle: f64,
}

impl CoreSeen {
    /// Share of time the core did work: iowait and idle are not work.
    pub fn busy(&self) -> f64 {
        self.user + self.system + self.irq + self.softirq
    }
}

/// The rest of the host over one window.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HostSeen {
    /// Share of time in which some task waited for a core (PSI), 0 to 1; absent without PSI.
    pub psi_cpu_some: Option<f64>,
    /// Share of time in which some task waited for memory.
    pub psi_memory_some: Option<f64>,
    /// Share of time in which some task waited for I/O (ours included).
    pub psi_io_some: Option<f64>,
    /// Share of the machine's time taken by the hypervisor.
    pub steal: Option<f64>,
    /// Mean tasks ready to run, ours included.
    pub run_queue_mean: Option<f64>,
    /// Processor time of everything that is not this process, in cores.
    pub foreign_cores_busy: Option<f64>,
    /// Time the load threads were ready to run but had no core, as a share of the window, worst thread.
    pub worker_run_delay: Option<f64>,
    /// I/Os per second on the lowest device that are not ours.
    pub foreign_iops: Option<f64>,
    /// MiB per second on the lowest device that are not ours.
    pub foreign_mib_per_s: Option<f64>,
}
