//! One search under way: measures windows within the budget, under the guard, and keeps all that was seen.

use crate::block::{Block, blocks};
use crate::estimate::{Estimate, estimate};
use crate::options::{Options, Progress, SoFar, State};
use record::{
    Demand, Ended, Flow, IoClass, LatencyHistogram, Load, Phase, Slice, Step, Subject, SubjectError,
    SubjectFacts, Watch,
};
use stats::Random;

/// No search needs more windows than this; a subject that spends no time cannot keep one alive.
pub const STEPS_MAX: usize = 400;
/// A window costs at least this much of the budget, whatever the subject says.
const COST_LEAST_S: f64 = 0.02;
/// Settling takes at least this long before each window (see [`record::subject::settled`]).
pub const SETTLE_LEAST_S: f64 = 0.2;

/// Why measuring cannot go on. None of these loses what was measured.
#[derive(Debug)]
pub enum Halt {
    /// The budget is spent.
    Budget,
    /// The target failed; its words.
    Failed(String),
    /// A signal, or whoever watches, ended it.
    Interrupted,
    /// The subject refused the load.
    Refused(SubjectError),
}

/// A closed window in brief.
#[derive(Clone, Debug)]
pub struct Window {
    /// I/Os kept outstanding.
    pub concurrency: u32,
    /// Stage that asked.
    pub phase: Phase,
    /// Load spent when its measuring began, s.
    pub at_s: f64,
    /// Measured seconds.
    pub seconds: f64,
    /// Reads and writes per second.
    pub iops: f64,
    /// Mean response time, s; absent without I/Os.
    pub response_s: Option<f64>,
    /// (middle of the slice in seconds of load, IOPS) of each slice.
    pub course: Vec<(f64, f64)>,
    /// The guard stopped it.
    pub guarded: bool,
}

/// The search under way.
pub struct Session<'a> {
    subject: &'a mut dyn Subject,
    progress: &'a mut dyn Progress,
    /// What was asked.
    pub options: &'a Options,
    /// What the subject says of itself.
    pub facts: SubjectFacts,
    /// All windows in order.
    pub steps: Vec<Step>,
    /// Closed windows in brief.
    pub windows: Vec<Window>,
    /// Blocks of closed windows by class, in the order of [`IoClass::ALL`].
    pub blocks: [Vec<Block>; 3],
    /// Seconds of load spent.
    pub spent_s: f64,
    /// The largest concurrency that may be asked; the guard lowers it.
    pub ceiling: u32,
    /// Orders windows.
    pub random: Random,
    /// Depths measured again in vain, for suspicion of a shift (see [`crate::shift`]).
    pub looked_again: Vec<u32>,
    latest: Option<Estimate>,
}

/// Ends a window when an I/O is slower than the guard or the watcher wants it.
struct Guard<'a> {
    progress: &'a mut dyn Progress,
    guard_ns: u64,
    tripped: bool,
    stopped: bool,
}

impl Watch for Guard<'_> {
    fn slice(&mut self, slice: &Slice) -> Flow {
        self.stopped |= self.progress.slice(slice) == Flow::Stop;
        let slowest = IoClass::ALL
            .iter()
            .filter_map(|c| slice.class(*c).latency.as_ref().and_then(LatencyHistogram::max_ns))
            .max()
            .unwrap_or(0);
        self.tripped |= slowest > self.guard_ns;
        if self.stopped || self.tripped { Flow::Stop } else { Flow::Continue }
    }
}

impl<'a> Session<'a> {
    /// Nothing measured yet.
    pub fn new(subject: &'a mut dyn Subject, options: &'a Options, progress: &'a mut dyn Progress) -> Self {
        let facts = subject.facts();
        let ceiling = options.concurrency_max.min(facts.concurrency_max).max(1);
        Self {
            subject,
            progress,
            options,
            facts,
            steps: Vec::new(),
            windows: Vec::new(),
            blocks: Default::default(),
            spent_s: 0.0,
            ceiling,
            random: Random::new(options.seed),
            looked_again: Vec::new(),
            latest: None,
        }
    }

    /// Seconds of load left.
    pub fn left_s(&self) -> f64 {
        self.options.budget_s - self.spent_s
    }

    /// Measures a closed window. It is shortened to what the budget holds, to no less than half; below that the
    /// budget counts as spent.
    pub fn closed(&mut self, concurrency: u32, measure_s: f64, phase: Phase) -> Result<Window, Halt> {
        let concurrency = concurrency.clamp(1, self.ceiling);
        let demand = Demand::Closed { concurrency };
        let begun_s = self.spent_s;
        let guarded = self.measure(demand, measure_s, phase)?;
        let step = &self.steps[self.steps.len() - 1];
        for (class, kept) in IoClass::ALL.iter().zip(&mut self.blocks) {
            kept.extend(blocks(step, *class, &self.options.limit, begun_s));
        }
        let window = window_of(step, begun_s, guarded);
        self.windows.push(window.clone());
        self.latest = self.estimate().map(|(_, e)| e).or(self.latest);
        Ok(window)
    }

    /// Measures an open-loop window; the step is the last of [`Self::steps`] then.
    pub fn open(&mut self, rate_iops: f64, outstanding_cap: u32, measure_s: f64) -> Result<(), Halt> {
        let demand = Demand::Open { rate_iops, arrival: self.options.arrival, outstanding_cap };
        self.measure(demand, measure_s, Phase::OpenLoop).map(|_| ())
    }

    /// Measures and keeps a step; whether the guard ended it.
    fn measure(&mut self, demand: Demand, measure_s: f64, phase: Phase) -> Result<bool, Halt> {
        let room_s = self.left_s() - SETTLE_LEAST_S;
        if room_s < 0.5 * measure_s || room_s.is_nan() || self.steps.len() >= STEPS_MAX {
            return Err(Halt::Budget);
        }
        self.tell(demand, phase);
        let load = Load { demand, measure_s: measure_s.min(room_s), phase };
        let guard_ns = self.options.guard_ns();
        let mut guard = Guard { progress: &mut *self.progress, guard_ns, tripped: false, stopped: false };
        let step = self.subject.measure(&load, &mut guard).map_err(Halt::Refused)?;
        let (tripped, stopped) = (guard.tripped, guard.stopped);
        let cost_s = step.spent_s();
        self.spent_s += if cost_s.is_finite() { cost_s.max(COST_LEAST_S) } else { measure_s };
        let ended = step.ended.clone();
        self.steps.push(step);
        match ended {
            Ended::Failed(why) => Err(Halt::Failed(why)),
            Ended::Interrupted => Err(Halt::Interrupted),
            Ended::Stopped if stopped => Err(Halt::Interrupted),
            Ended::Complete | Ended::Stopped => Ok(tripped),
        }
    }

    fn tell(&mut self, demand: Demand, phase: Phase) {
        let rate_iops = match demand {
            Demand::Open { rate_iops, .. } => Some(rate_iops),
            Demand::Closed { .. } => None,
        };
        self.progress.update(&State {
            phase,
            concurrency: demand.concurrency(),
            rate_iops,
            estimate: self.latest.map(|e| SoFar {
                concurrency: e.concurrency(),
                concurrency_ci95: e.interval.map(f64::exp),
                iops: e.iops,
                ci95: e.iops_interval,
            }),
            spent_s: self.spent_s,
            budget_s: self.options.budget_s,
        });
    }

    /// Blocks of one class.
    pub fn class_blocks(&self, class: IoClass) -> &[Block] {
        &self.blocks[class as usize]
    }

    /// The classes the limit is judged on: the one it names, or each of which there are enough (1 % of all I/Os).
    pub fn classes(&self) -> Vec<IoClass> {
        if let Some(class) = self.options.limit.class {
            return vec![class];
        }
        let count = |c: IoClass| self.class_blocks(c).iter().map(|b| b.ios).sum::<f64>();
        let all: f64 = IoClass::ALL.iter().map(|c| count(*c)).sum();
        IoClass::ALL.into_iter().filter(|c| count(*c) > 0.0 && count(*c) >= 0.01 * all).collect()
    }

    /// The estimate of the class that breaks first.
    pub fn estimate(&self) -> Option<(IoClass, Estimate)> {
        self.classes()
            .into_iter()
            .filter_map(|c| Some((c, estimate(self.class_blocks(c), &self.options.limit)?)))
            .min_by(|a, b| a.1.x.total_cmp(&b.1.x))
    }

    /// Largest concurrency measured so far; 0 before any.
    pub fn highest(&self) -> u32 {
        self.windows.iter().map(|w| w.concurrency).max().unwrap_or(0)
    }
}

fn window_of(step: &Step, begun_s: f64, guarded: bool) -> Window {
    let settle_s = if step.settle_s.is_finite() { step.settle_s.max(0.0) } else { 0.0 };
    let course = step
        .slices
        .iter()
        .filter(|s| s.length_s.is_finite() && s.length_s > 1e-3 && s.start_s.is_finite())
        .map(|s| (begun_s + settle_s + s.start_s + 0.5 * s.length_s, s.ios() as f64 / s.length_s))
        .collect();
    Window {
        concurrency: step.concurrency().unwrap_or(1),
        phase: step.load.phase,
        at_s: begun_s + settle_s,
        seconds: step.measured_s,
        iops: step.iops(),
        response_s: step.response().mean_ns().map(|ns| ns * 1e-9),
        course,
        guarded,
    }
}
