//! What a probe concludes.

use analyze::{BoundBy, Point};
use record::{Doubt, LatencyLimit, Step};
use serde::{Deserialize, Serialize};

/// The whole answer of a probe.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Answer {
    /// The limit asked.
    pub limit: LatencyLimit,
    /// How the search ended.
    pub outcome: Outcome,
    /// The headline, absent when the outcome is not one that has a number.
    pub load_line: Option<LoadLine>,
    /// Where more concurrency starts to buy latency instead of throughput.
    pub knee: Option<Knee>,
    /// Further marks on the curve.
    pub comfort: Comfort,
    /// Which layer stops it.
    pub bound_by: BoundBy,
    /// The curve: all windows of one concurrency pooled, ascending.
    pub points: Vec<Point>,
    /// Rates tried in an open loop, ascending.
    pub open_loop: Vec<OpenPoint>,
    /// All doubts, heaviest first.
    pub doubts: Vec<Doubt>,
    /// Seconds of load spent, settling included.
    pub spent_s: f64,
    /// Every window in the order it was measured.
    #[serde(skip)]
    pub steps: Vec<Step>,
}

/// How a search ended. Each is an answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "outcome")]
pub enum Outcome {
    /// The load line stands.
    Found,
    /// Throughput stopped growing before latency broke the limit: the path is limited by its throughput.
    NeverReached {
        /// The concurrency at 95 % of the largest throughput, and that throughput.
        saturation_concurrency: u32,
        /// Largest throughput.
        iops_max: f64,
    },
    /// The limit is broken with one I/O outstanding.
    BrokenAtOne {
        /// The statistic of the limit at concurrency 1.
        measured_us: f64,
    },
    /// The largest concurrency allowed still holds the limit and still gains: the load line is at least this.
    EdgeOfRange {
        /// Largest concurrency tried.
        concurrency: u32,
    },
    /// The guard stopped the load because devices refused commands or let them time out. Below that the limit holds: the
    /// load line is at least this, and more was not tried because it hurts.
    Guarded {
        /// Largest concurrency without trouble.
        concurrency: u32,
        /// Smallest concurrency that was answered with trouble.
        stopped_at: u32,
        /// What was answered.
        why: String,
    },
    /// Throughput drifts or swings so that no number stands for it.
    NotSteady {
        /// What was seen.
        why: String,
    },
    /// A fast phase ended during the run (credits, cache): the number before it is a burst.
    Burst {
        /// IOPS before and after.
        before_iops: f64,
        /// After.
        after_iops: f64,
        /// Seconds of load until the step.
        after_s: f64,
    },
    /// Too much doubt, too little time, or a failed target.
    CannotTell {
        /// Why.
        why: String,
    },
    /// The user listed the depths; the load line, if any, is read from the listed points.
    Swept,
}

/// The load line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LoadLine {
    /// Throughput at the load line.
    pub iops: f64,
    /// The same in MiB (2^20) per second.
    pub mib_per_s: f64,
    /// Concurrency at the load line.
    pub concurrency: u32,
    /// The limit it holds.
    pub limit: LatencyLimit,
    /// 95 % interval of `iops`.
    pub ci95: [f64; 2],
    /// 95 % interval of the concurrency.
    pub concurrency_ci95: [f64; 2],
    /// Value of the limit's statistic in the confirming window, us.
    pub confirmed_us: Option<f64>,
    /// How long the confirming window held.
    pub steady_s: f64,
    /// True when the interval is wider than +-10 %.
    pub wide: bool,
}

/// The knee: N* = X_max R_0, where the two asymptotes of the closed system cross.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Knee {
    /// Concurrency at the knee.
    pub concurrency: f64,
    /// 95 % interval.
    pub ci95: Option<[f64; 2]>,
    /// Largest throughput of the fitted curve.
    pub iops_max: f64,
    /// Response time of the unloaded path.
    pub response_unloaded_us: f64,
}

/// Marks beside the load line.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Comfort {
    /// Smallest concurrency with 95 % of the largest throughput.
    pub saturation_concurrency: Option<f64>,
    /// Concurrency with the most throughput per response time.
    pub power_concurrency: Option<f64>,
    /// Fitted retrograde coefficient when it is significant: throughput falls with depth.
    pub retrograde: Option<f64>,
}

/// One rate tried in an open loop.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OpenPoint {
    /// Share of the load line, 0 to 1; absent when the user asked for the rate.
    pub share: Option<f64>,
    /// Asked.
    pub asked_iops: f64,
    /// Done.
    pub iops: f64,
    /// Measured from the intended start.
    pub response_us: Percentiles,
    /// Mean outstanding.
    pub outstanding_mean: f64,
    /// Whether the limit held; absent when it did not hold but the generator itself was late, so nobody knows.
    pub holds: Option<bool>,
    /// The generator was late by more than the path explains, or the path did not keep up.
    pub lag: Option<String>,
    /// Measured seconds.
    pub seconds: f64,
}

/// Statistics of response times in microseconds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Percentiles {
    /// Mean.
    pub mean: f64,
    /// Median.
    pub p50: f64,
    /// 95th percentile.
    pub p95: f64,
    /// 99th percentile.
    pub p99: f64,
    /// 99.9th percentile.
    pub p999: f64,
    /// Largest.
    pub max: f64,
}

impl Percentiles {
    /// From a histogram; absent when it is empty.
    pub fn of(histogram: &record::LatencyHistogram) -> Option<Self> {
        let us = |q| histogram.quantile_ns(q).map(|ns| ns as f64 / 1e3);
        Some(Self {
            mean: histogram.mean_ns()? / 1e3,
            p50: us(0.5)?,
            p95: us(0.95)?,
            p99: us(0.99)?,
            p999: us(0.999)?,
            max: histogram.max_ns()? as f64 / 1e3,
        })
    }
}
