//! What was seen while one load was offered.

use crate::doubt::Doubt;
use crate::follow::{CpuSeen, HostSeen, LayerSeen};
use crate::histogram::LatencyHistogram;
use crate::incident::Incidents;
use crate::load::Load;
use serde::{Deserialize, Serialize};

/// Nominal length of a slice. All statistics, fits and change points come from slices of this length.
pub const SLICE_S: f64 = 0.1;

/// One measured step: the load asked, and what was seen in slices of about 100 ms.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Step {
    /// What was asked.
    pub load: Load,
    /// Start of the measured window, seconds after the start of the run.
    pub start_s: f64,
    /// Time spent settling before the window; its I/Os are in no slice.
    pub settle_s: f64,
    /// Length of all kept slices together.
    pub measured_s: f64,
    /// Consecutive slices of the window. The last may be shorter; none is counted for more than its length.
    pub slices: Vec<Slice>,
    /// Layers of the path, top first. Empty when nothing follows the queue (simulated subjects may fill it).
    pub layers: Vec<LayerSeen>,
    /// Processor time of the load and of the cores it ran on.
    pub cpu: Option<CpuSeen>,
    /// The rest of the host during the window.
    pub host: Option<HostSeen>,
    /// What the subject itself noticed (punted requests, cache hits ...).
    pub doubts: Vec<Doubt>,
    /// I/Os that were passed over: still outstanding when the window ended, for at least half of it. They are in no slice.
    #[serde(default)]
    pub starved: Starved,
    /// Answers other than success, failed and very late I/Os, from putting the load on to its last I/O.
    #[serde(default)]
    pub incidents: Incidents,
    /// How the window ended.
    pub ended: Ended,
}

/// How a step ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "how", content = "why")]
pub enum Ended {
    /// The whole window was measured.
    Complete,
    /// The watcher ended it early (a guard).
    Stopped,
    /// A signal ended it.
    Interrupted,
    /// The target failed: gone, shrunk, full, or an I/O error. The text says which, with the errno's words.
    Failed(String),
}

/// About 100 ms of I/O.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Slice {
    /// Start, seconds after the start of the measured window.
    pub start_s: f64,
    /// Length in seconds.
    pub length_s: f64,
    /// Reads.
    pub read: ClassSeen,
    /// Writes.
    pub write: ClassSeen,
    /// Flushes (fdatasync, or the wait of a write that is itself durable).
    pub flush: ClassSeen,
    /// Time-weighted mean of the I/Os that the workload had outstanding, as the generator counted them.
    pub outstanding_mean: f64,
}

/// One class of I/O within a slice. I/Os are counted where they complete.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct ClassSeen {
    /// Latencies; absent when no I/O of this class completed.
    pub latency: Option<LatencyHistogram>,
    /// Bytes moved.
    pub bytes: u64,
    /// I/Os that failed; they are in no histogram.
    pub errors: u64,
}

/// A class of I/O.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum IoClass {
    /// Reads.
    Read,
    /// Writes.
    Write,
    /// Making writes durable.
    Flush,
}

impl IoClass {
    /// All classes.
    pub const ALL: [Self; 3] = [Self::Read, Self::Write, Self::Flush];
}

impl ClassSeen {
    /// I/Os completed.
    pub fn count(&self) -> u64 {
        self.latency.as_ref().map_or(0, LatencyHistogram::count)
    }
}

impl Slice {
    /// The class asked for.
    pub fn class(&self, class: IoClass) -> &ClassSeen {
        match class {
            IoClass::Read => &self.read,
            IoClass::Write => &self.write,
            IoClass::Flush => &self.flush,
        }
    }

    /// Reads and writes completed; a flush belongs to its write and is not an I/O of its own.
    pub fn ios(&self) -> u64 {
        self.read.count() + self.write.count()
    }

    /// Bytes read and written.
    pub fn bytes(&self) -> u64 {
        self.read.bytes + self.write.bytes
    }

    /// I/Os of one class over a latency, and I/Os of that class.
    pub fn misses(&self, class: IoClass, limit_ns: u64) -> (u64, u64) {
        let seen = self.class(class);
        seen.latency.as_ref().map_or((0, 0), |h| (h.count_above_ns(limit_ns), h.count()))
    }
}

/// I/Os that others overtook. Many short ones passing a few that are never served is starvation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Starved {
    /// How many.
    pub ios: u64,
    /// How long they had waited in the window, all together.
    pub waited_s: f64,
}

impl Starved {
    /// What each had waited; 0 without any.
    pub fn mean_s(&self) -> f64 {
        if self.ios == 0 { 0.0 } else { self.waited_s / self.ios as f64 }
    }
}

impl Step {
    /// Reads and writes completed in the window.
    pub fn ios(&self) -> u64 {
        self.slices.iter().map(Slice::ios).sum()
    }

    /// Throughput in I/Os per second; zero for an empty window.
    pub fn iops(&self) -> f64 {
        if self.measured_s > 0.0 { self.ios() as f64 / self.measured_s } else { 0.0 }
    }

    /// Throughput in MiB per second (2^20 bytes); zero for an empty window.
    pub fn mib_per_s(&self) -> f64 {
        let bytes: u64 = self.slices.iter().map(Slice::bytes).sum();
        if self.measured_s > 0.0 { bytes as f64 / (1 << 20) as f64 / self.measured_s } else { 0.0 }
    }

    /// Failed I/Os of all classes.
    pub fn errors(&self) -> u64 {
        self.slices.iter().flat_map(|s| IoClass::ALL.map(|c| s.class(c).errors)).sum()
    }

    /// All latencies of one class merged. I/Os that were passed over count with the time that they waited in the window:
    /// left out, the ones never served would make the mean and the tail look better than they are.
    pub fn latency(&self, class: IoClass) -> LatencyHistogram {
        let mut whole = self.completed(class);
        let unserved = self.unserved();
        if unserved > 0 && class == self.starved_class() {
            whole.record_many_ns((self.starved.mean_s() * 1e9) as u64, unserved);
        }
        whole
    }

    /// Latencies of the I/Os of one class that completed in the window.
    fn completed(&self, class: IoClass) -> LatencyHistogram {
        let mut whole = LatencyHistogram::new();
        for histogram in self.slices.iter().filter_map(|s| s.class(class).latency.as_ref()) {
            whole.merge(histogram);
        }
        whole
    }

    /// Of the `starved` I/Os, those that the completed ones do not account for. By Little's law, N times the window's length
    /// is the sum of all response times; what is missing are the I/Os that were passed over. On a device slower than the
    /// window nothing is missing, since the completions carry what was waited before it began.
    pub fn unserved(&self) -> u64 {
        let each_s = self.starved.mean_s();
        if each_s <= 0.0 {
            return 0;
        }
        let held_s = self.outstanding_mean().unwrap_or(0.0) * self.measured_s;
        let sum_ns = |class| self.completed(class).sum_ns();
        let accounted_s = (sum_ns(IoClass::Read) + sum_ns(IoClass::Write)) as f64 * 1e-9;
        let missing = ((held_s - accounted_s) / each_s).round().max(0.0) as u64;
        missing.min(self.starved.ios)
    }

    /// The class that I/Os passed over are counted in: the one the workload has most of.
    pub fn starved_class(&self) -> IoClass {
        let count = |class| self.slices.iter().map(|s| s.class(class).count()).sum::<u64>();
        if count(IoClass::Write) > count(IoClass::Read) { IoClass::Write } else { IoClass::Read }
    }

    /// Reads and writes merged: the response time of the workload's I/Os.
    pub fn response(&self) -> LatencyHistogram {
        let mut whole = self.latency(IoClass::Read);
        whole.merge(&self.latency(IoClass::Write));
        whole
    }

    /// Time-weighted mean of outstanding I/Os; absent for an empty window.
    pub fn outstanding_mean(&self) -> Option<f64> {
        let length_s: f64 = self.slices.iter().map(|s| s.length_s).sum();
        let weighted: f64 = self.slices.iter().map(|s| s.outstanding_mean * s.length_s).sum();
        (length_s > 0.0).then(|| weighted / length_s)
    }

    /// Concurrency asked, absent in an open loop.
    pub fn concurrency(&self) -> Option<u32> {
        self.load.demand.concurrency()
    }

    /// Settling and measuring together: what the step cost of the time budget.
    pub fn spent_s(&self) -> f64 {
        self.settle_s + self.measured_s
    }
}
