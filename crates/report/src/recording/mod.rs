//! A recording and what it says about each device: text and JSON drawn from one struct, [`RecordingReport`].

mod json;
mod text;

pub use json::{SCHEMA, document};
pub use text::text;

use analyze::passive::{DeviceLine, ProbeShare};
use record::LatencyLimit;
use record::recording::Tally;
use record::run::{Complaint, RunDocument};

/// A recording with what was concluded from it.
#[derive(Clone, Debug)]
pub struct RecordingReport {
    /// Where it stands.
    pub folder: String,
    /// Its document; of an unfinished one what was known at the start.
    pub document: RunDocument,
    /// Whether it was ended.
    pub finished: bool,
    /// Start and end of what was kept, seconds since 1970; absent when nothing was.
    pub span_s: Option<[f64; 2]>,
    /// What was kept, dropped and lost.
    pub tally: Tally,
    /// Rows read.
    pub rows: u64,
    /// What could not be read.
    pub complaints: Vec<Complaint>,
    /// Limit on the mean response time, when one was asked for.
    pub limit: Option<LatencyLimit>,
    /// One per device, the busiest first.
    pub devices: Vec<DeviceReport>,
}

/// One device.
#[derive(Clone, Debug)]
pub struct DeviceReport {
    /// What its load says.
    pub line: DeviceLine,
    /// Throughput at which the limit on the mean is reached, by the curve; absent without limit or curve.
    pub iops_at_limit: Option<f64>,
    /// How far it came in the terms of a probe, or why that cannot be said; absent without a probe of this device.
    pub probed: Option<Result<ProbeShare, String>>,
}
