//! Whatever can be put under load.

use crate::incident::Trouble;
use crate::load::Load;
use crate::path::IoPath;
use crate::step::{Slice, Step};
use serde::{Deserialize, Serialize};

/// Something that can be loaded at a chosen concurrency or rate and answers with a measured step.
///
/// The search for the load line knows only this trait, so it is tested on simulated subjects whose truth is known.
/// The same subject is measured many times in a row; it keeps its files open and its workers warm between steps,
/// and settles by itself before each window: at least [`settled`] must hold.
pub trait Subject {
    /// What this is, for reports.
    fn facts(&self) -> SubjectFacts;

    /// Offers `load`, settles, measures, and answers. `watch` sees each slice as it ends and may stop the step.
    ///
    /// A target that fails in mid-step (gone, shrunk, full) is not an error: the step says so in [`Step::ended`]
    /// and keeps the slices measured before.
    fn measure(&mut self, load: &Load, watch: &mut dyn Watch) -> Result<Step, SubjectError>;
}

/// What a subject is and how far it goes.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SubjectFacts {
    /// The target as the user named it.
    pub target: String,
    /// What kind: `file`, `directory`, `block-device`, `simulated` ...
    pub kind: String,
    /// Workload in words, one line.
    pub workload: String,
    /// Bytes of one I/O.
    pub block_bytes: u64,
    /// Share of writes, 0 to 100.
    pub write_percent: f64,
    /// Engine: `io_uring`, `libaio`, `sync`, or `simulated`.
    pub engine: String,
    /// Worker threads at full concurrency.
    pub workers: u32,
    /// Logical CPUs the workers are pinned to, empty when not pinned.
    pub cores: Vec<u32>,
    /// Bytes of the target that the workload touches.
    pub region_bytes: u64,
    /// Direct I/O, past the page cache.
    pub direct: bool,
    /// The largest concurrency this subject can be asked for.
    pub concurrency_max: u32,
    /// Whether it can be loaded at a rate.
    pub open_loop: bool,
    /// The path the I/Os take, when known.
    pub path: Option<IoPath>,
}

/// Sees slices as they end.
pub trait Watch {
    /// Called about every 100 ms from the measuring thread, never from a worker.
    fn slice(&mut self, slice: &Slice) -> Flow;

    /// Called about every 100 ms while the load is on, settling included, with what devices answered besides success
    /// since it was put on.
    fn troubles(&mut self, _troubles: &[Trouble]) -> Flow {
        Flow::Continue
    }
}

/// Watches nothing.
impl Watch for () {
    fn slice(&mut self, _: &Slice) -> Flow {
        Flow::Continue
    }
}

/// What a watcher wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flow {
    /// Go on.
    Continue,
    /// End the step now and keep what was measured.
    Stop,
}

/// Why a subject could not be measured at all.
#[derive(Debug, thiserror::Error)]
pub enum SubjectError {
    /// The load asked is beyond this subject.
    #[error("{target}: asked for {asked}, can do {can}")]
    Beyond {
        /// The target.
        target: String,
        /// What was asked.
        asked: String,
        /// What is possible.
        can: String,
    },
    /// The operating system refused something.
    #[error("{doing}: {cause}")]
    System {
        /// What was being done, with the file or call.
        doing: String,
        /// What the system said.
        #[source]
        cause: std::io::Error,
    },
}

/// Whether the transient after a change of load is over: at least 2N completions, five response times and 200 ms.
pub fn settled(completions: u64, concurrency: u32, response_mean_s: f64, elapsed_s: f64) -> bool {
    completions >= 2 * u64::from(concurrency) && elapsed_s >= (5.0 * response_mean_s).max(0.2)
}
