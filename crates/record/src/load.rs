//! What is asked of a subject.

use serde::{Deserialize, Serialize};

/// One measurement to make: how much load, for how long, and why.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Load {
    /// Closed loop at a concurrency, or open loop at a rate.
    pub demand: Demand,
    /// Length of the measured window, the settling time ahead of it not included.
    pub measure_s: f64,
    /// Which stage of the search asks.
    pub phase: Phase,
}

/// How the load is offered.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Demand {
    /// Closed loop: `concurrency` I/Os are outstanding at all times; each completion is followed by the next I/O.
    Closed {
        /// I/Os kept outstanding.
        concurrency: u32,
    },
    /// Open loop: I/Os are due at a rate whatever the path does; latency counts from the instant each was due.
    Open {
        /// Asked arrival rate in I/Os per second.
        rate_iops: f64,
        /// How arrivals are spaced.
        arrival: Arrival,
        /// The most I/Os ever outstanding; beyond it arrivals wait, and their wait counts as latency.
        outstanding_cap: u32,
    },
}

impl Demand {
    /// The largest number of I/Os this demand keeps outstanding.
    pub fn outstanding_limit(&self) -> u32 {
        match *self {
            Self::Closed { concurrency } => concurrency,
            Self::Open { outstanding_cap, .. } => outstanding_cap,
        }
    }

    /// The concurrency of a closed loop; absent for an open one.
    pub fn concurrency(&self) -> Option<u32> {
        match *self {
            Self::Closed { concurrency } => Some(concurrency),
            Self::Open { .. } => None,
        }
    }
}

/// Spacing of arrivals in an open loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Arrival {
    /// Exponential gaps, as many independent users make.
    Poisson,
    /// Equal gaps.
    Constant,
}

/// The stage of a probe that asked for a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Phase {
    /// Concurrency 1, for the response time of an unloaded path.
    Reference,
    /// Doubling until the limit breaks or throughput stops growing.
    Rise,
    /// Windows around the estimate of the load line.
    Refine,
    /// A longer window at the reported load line.
    Confirm,
    /// Beyond the load line, to see where added I/Os stand.
    Beyond,
    /// A listed depth, asked for by the user.
    Sweep,
    /// Concurrency 1 again at the end, to see drift.
    Sentinel,
    /// Open loop at a share of the load line.
    OpenLoop,
}
