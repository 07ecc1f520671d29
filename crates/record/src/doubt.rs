//! What weakens or spoils a measurement.

use serde::{Deserialize, Serialize};

/// One reason to doubt, with its evidence.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Doubt {
    /// Which kind.
    pub id: DoubtId,
    /// How much it weighs.
    pub weight: Weight,
    /// One sentence with numbers, for the reader.
    pub text: String,
}

/// How much a doubt weighs, lightest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Weight {
    /// Good to know.
    Note,
    /// The answer stands with care.
    Caution,
    /// The answer is refused.
    Spoils,
}

/// Kinds of doubt. The name in JSON is the kebab-case word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DoubtId {
    /// Other work on this host took processor time (PSI, steal, run queue).
    HostDisturbed,
    /// Somebody else's I/O on the device.
    ForeignIo,
    /// Requests were handed to kernel worker threads (io-wq).
    PuntedRequests,
    /// Reads came out of this host's page cache.
    PageCacheHits,
    /// The region is small enough for a cache of the host below or of the array to hold it.
    CacheSuspected,
    /// The file has unwritten or sparse extents, which are read without touching the device.
    UnwrittenExtents,
    /// The first windows were unlike the later ones.
    ColdStart,
    /// Little's law does not hold between counters.
    CountersDisagree,
    /// Throughput stepped during the measurement.
    NotSteady,
    /// Some I/Os were passed over while others were served.
    Starved,
    /// The generator did not keep what was asked (concurrency, rate).
    GeneratorLag,
    /// A split cannot be known here.
    SplitUnknown,
    /// The device answered QUEUE FULL or its queue depth changed during the run.
    QueueDepthChanged,
    /// I/O errors.
    IoErrors,
    /// The device answered TASK SET FULL or BUSY: it was offered more than it takes.
    QueueFull,
    /// Commands timed out.
    Timeouts,
    /// Commands ended in something other than success, and yet no I/O failed.
    RecoveredErrors,
    /// A path of a multipath device failed or came back during the run.
    PathsChanged,
    /// A part of the path is hidden (virtual disk, array).
    PathHidden,
    /// A setting made the measurement impossible (iostats off ...).
    CountersOff,
    /// The measurement ended before its time.
    CutShort,
}

/// Heaviest first, each kind once with its heaviest text (the first of equals).
pub fn heaviest_of_each(mut doubts: Vec<Doubt>) -> Vec<Doubt> {
    doubts.sort_by(|a, b| b.weight.cmp(&a.weight).then(a.id.cmp(&b.id)));
    let mut kept: Vec<Doubt> = Vec::new();
    for doubt in doubts {
        if !kept.iter().any(|k| k.id == doubt.id) {
            kept.push(doubt);
        }
    }
    kept
}
