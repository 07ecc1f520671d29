//! All windows of one concurrency pooled: a point of the curve.

use record::{LatencyHistogram, LayerSeen};
use serde::{Deserialize, Serialize};

/// A point of the curve.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Point {
    /// I/Os kept outstanding.
    pub concurrency: u32,
    /// Measured seconds, all windows together.
    pub seconds: f64,
    /// Windows pooled.
    pub windows: u32,
    /// I/Os per second.
    pub iops: f64,
    /// 95 % interval of `iops`, from slices with their autocorrelation; absent with too few slices.
    pub iops_ci95: Option<[f64; 2]>,
    /// MiB (2^20) per second.
    pub mib_per_s: f64,
    /// Response times of reads and writes together.
    #[serde(skip)]
    pub response: LatencyHistogram,
    /// Reads alone.
    #[serde(skip)]
    pub read: LatencyHistogram,
    /// Writes alone.
    #[serde(skip)]
    pub write: LatencyHistogram,
    /// Flushes alone.
    #[serde(skip)]
    pub flush: LatencyHistogram,
    /// I/Os above the block layer.
    pub above: Queue,
    /// I/Os in host queues.
    pub host_queue: Queue,
    /// I/Os at the device.
    pub device_queue: Queue,
    /// Layers, top first, averaged over the windows by time.
    pub layers: Vec<LayerSeen>,
    /// Processor time per I/O, user and system of the load and interrupts of its cores.
    pub cpu_us_per_io: Option<f64>,
    /// User part.
    pub cpu_user_us_per_io: Option<f64>,
    /// System part.
    pub cpu_sys_us_per_io: Option<f64>,
    /// Interrupt part, where known.
    pub cpu_irq_us_per_io: Option<f64>,
    /// Share of a core used by the busiest load thread.
    pub busiest_worker: Option<f64>,
    /// I/Os per second that one core carries.
    pub iops_per_core: Option<f64>,
    /// Failed I/Os.
    pub errors: u64,
    /// Throughput of each slice in order, for the time course: (seconds since the run began, IOPS).
    pub course: Vec<(f64, f64)>,
}

/// A mean number of I/Os and its bounds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Queue {
    /// Best value, absent when only the bound is known.
    pub mean: Option<f64>,
    /// At least.
    pub low: f64,
    /// At most.
    pub high: f64,
}
