//! What a probe is asked, and what it says while it runs.

use record::{Flow, LatencyLimit, Phase, Slice, SubjectError};

/// What to look for and how far to go.
#[derive(Clone, Debug)]
pub struct Options {
    /// The limit on response time.
    pub limit: LatencyLimit,
    /// Seconds of load, settling included, that may be spent at most.
    pub budget_s: f64,
    /// Spend up to [`REFINE_THOROUGH_S`] instead of [`REFINE_S`] on the estimate before calling it wide.
    pub thorough: bool,
    /// Measure these depths instead of searching. Empty: search.
    pub depths: Vec<u32>,
    /// Measure 1, 2, 4 ... up to the largest concurrency instead of searching.
    pub sweep: bool,
    /// The largest concurrency to try; the subject's own largest holds as well.
    pub concurrency_max: u32,
    /// Whether to try the load line in an open loop afterwards.
    pub open_loop: OpenLoop,
    /// Rates to try in an open loop besides, in I/Os per second.
    pub rates_iops: Vec<f64>,
    /// Orders windows; the same seed on the same simulated subject gives the same answer.
    pub seed: u64,
    /// An I/O slower than this stops the growth of the load; absent: see [`Options::guard_ns`].
    pub guard_ns: Option<u64>,
    /// The estimate is good enough when its 95 % interval in ln N is narrower than this on each side.
    pub half_width: f64,
}

/// Whether to confirm in an open loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpenLoop {
    /// When the subject can and the budget leaves at least [`OPEN_LOOP_LEAST_S`] for each share.
    Auto,
    /// With longer windows, as long as the budget lasts.
    On,
    /// Never.
    Off,
}

/// Seconds of load after which an ordinary search stops refining.
pub const REFINE_S: f64 = 12.0;
/// The same for a thorough one.
pub const REFINE_THOROUGH_S: f64 = 30.0;
/// Shares of the load line's throughput tried in an open loop.
pub const OPEN_LOOP_SHARES: [f64; 3] = [0.50, 0.70, 0.85];
/// Shortest open-loop window worth having.
pub const OPEN_LOOP_LEAST_S: f64 = 2.0;

impl Default for Options {
    fn default() -> Self {
        Self {
            limit: LatencyLimit::default(),
            budget_s: 60.0,
            thorough: false,
            depths: Vec::new(),
            sweep: false,
            concurrency_max: 4096,
            open_loop: OpenLoop::Auto,
            rates_iops: Vec::new(),
            seed: 1,
            guard_ns: None,
            half_width: 0.10,
        }
    }
}

impl Options {
    /// The hard guard: 100 times the limit or 1 s, whichever is less, but never below four times the limit.
    pub fn guard_ns(&self) -> u64 {
        let limit_ns = self.limit.limit_ns;
        let usual = limit_ns.saturating_mul(100).min(1_000_000_000).max(limit_ns.saturating_mul(4));
        self.guard_ns.unwrap_or(usual)
    }
}

/// Sees how the search goes.
pub trait Progress {
    /// Before each window.
    fn update(&mut self, state: &State);

    /// Each slice as it ends; `Stop` ends the whole search, and what was measured is kept.
    fn slice(&mut self, _slice: &Slice) -> Flow {
        Flow::Continue
    }
}

/// Shows nothing.
impl Progress for () {
    fn update(&mut self, _: &State) {}
}

/// Where the search stands.
#[derive(Clone, Debug, PartialEq)]
pub struct State {
    /// Stage.
    pub phase: Phase,
    /// Concurrency about to be measured; absent in an open loop.
    pub concurrency: Option<u32>,
    /// Rate about to be offered, in an open loop.
    pub rate_iops: Option<f64>,
    /// Best estimate of the load line so far.
    pub estimate: Option<SoFar>,
    /// Seconds of load spent.
    pub spent_s: f64,
    /// Seconds of load allowed.
    pub budget_s: f64,
}

/// The estimate so far.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SoFar {
    /// Concurrency at the load line.
    pub concurrency: f64,
    /// 95 % interval of it.
    pub concurrency_ci95: [f64; 2],
    /// Throughput there.
    pub iops: f64,
    /// 95 % interval of it.
    pub ci95: [f64; 2],
}

/// Why there is no answer at all. Whatever happens after the first window is an answer.
#[derive(Debug, thiserror::Error)]
pub enum ProbeError {
    /// The subject could not be measured even once.
    #[error("measuring the first window at concurrency {concurrency}")]
    FirstWindow {
        /// What was asked.
        concurrency: u32,
        /// What it said.
        #[source]
        cause: SubjectError,
    },
    /// The budget holds no window.
    #[error("a budget of {budget_s} s holds no measurement; give at least {least_s} s")]
    BudgetTooSmall {
        /// Asked.
        budget_s: f64,
        /// Needed.
        least_s: f64,
    },
    /// A depth of 0 was listed.
    #[error("depth 0 was listed: a depth is the number of I/Os kept outstanding, 1 or more")]
    DepthZero,
}

/// The least budget: a reference window and some of a rise.
pub const BUDGET_LEAST_S: f64 = 1.0;
