//! One search under way: measures windows within the budget, under the guard, and keeps all that was seen.

use crate::block::{Block, blocks};
use crate::estimate::{Estimate, estimate};
use crate::options::{Options, Progress, SoFar, State};
use record::{
    Demand, DoubtId, Ended, Flow, IoClass, LatencyHistogram, Load, Phase, Slice, Step, Subject, SubjectError,
    SubjectFacts, Trouble, Watch,
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
    /// Devices answer with trouble at any load; what they answered.
    Trouble(String),
    /// A path came or went: what was measured before is of another path.
    PathsChanged(String),
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
    /// A device refused commands or let them time out: the load is not offered again.
    pub troubled: bool,
}

/// Loads that devices answered with trouble before the search gives up, however low it went meanwhile.
const STOPS_MAX: usize = 3;

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
    /// Seconds of load spent when each step began.
    begun_s: Vec<f64>,
    /// Loads that devices answered with trouble.
    pub stops: Vec<Stop>,
}

/// A load that devices answered with trouble.
#[derive(Clone, Debug, PartialEq)]
pub struct Stop {
    /// Concurrency offered; absent in an open loop.
    pub concurrency: Option<u32>,
    /// What they answered.
    pub why: String,
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

    fn troubles(&mut self, troubles: &[Trouble]) -> Flow {
        if troubles.iter().any(|t| t.pushes_back() || t.timed_out > 0 || t.changes_paths()) {
            Flow::Stop
        } else {
            Flow::Continue
        }
    }
}

/// What devices answered to a load that must not be offered again; absent when there is no such thing.
fn trouble_of(step: &Step) -> Option<String> {
    let bad = step.incidents.troubles.iter().filter(|t| t.pushes_back() || t.timed_out > 0);
    let texts: Vec<String> = bad
        .flat_map(Trouble::events)
        .filter(|(id, _)| matches!(id, DoubtId::QueueFull | DoubtId::Timeouts))
        .map(|(_, text)| text)
        .collect();
    (!texts.is_empty()).then(|| texts.join("; "))
}

/// Paths that came or went, in words.
fn paths_of(step: &Step) -> Option<String> {
    let changed = step.incidents.troubles.iter().filter(|t| t.changes_paths());
    let texts: Vec<String> = changed
        .flat_map(Trouble::events)
        .filter(|(id, _)| *id == DoubtId::PathsChanged)
        .map(|(_, text)| text)
        .collect();
    let at = step.concurrency().map_or_else(String::new, |n| format!(", with {n} outstanding"));
    (!texts.is_empty())
        .then(|| format!("path {} in second {:.0} of the run{at}", texts.join("; "), step.start_s))
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
            begun_s: Vec::new(),
            stops: Vec::new(),
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
        let guarded = self.measure(demand, measure_s, phase)?;
        let index = self.steps.len() - 1;
        let step = &self.steps[index];
        let troubled = trouble_of(step).is_some();
        let window = Window { troubled, ..window_of(step, self.begun_s[index], guarded) };
        if step.incidents.pushed_back() {
            // What a device does while it refuses is no point of a curve.
            return Ok(window);
        }
        self.keep(index);
        self.leave_out_other_paths();
        self.latest = self.estimate().map(|(_, e)| e).or(self.latest);
        Ok(window)
    }

    /// Takes a step's blocks and window into what is searched.
    fn keep(&mut self, index: usize) {
        let (step, begun_s) = (&self.steps[index], self.begun_s[index]);
        for (class, kept) in IoClass::ALL.iter().zip(&mut self.blocks) {
            kept.extend(blocks(step, *class, &self.options.limit, begun_s));
        }
        let late_ns = step.incidents.slowest_us.unwrap_or(0.0) * 1e3;
        let guarded = step.ended == Ended::Stopped || late_ns > self.options.guard_ns() as f64;
        let troubled = trouble_of(step).is_some();
        self.windows.push(Window { troubled, ..window_of(step, begun_s, guarded) });
    }

    /// When a limit on a device queue moved, what was measured before is of another path: it is left out, but for windows
    /// that never reached the limit.
    fn leave_out_other_paths(&mut self) {
        let clean = analyze::regime::clean(&self.steps);
        let closed = |i: &usize| self.steps[*i].concurrency().is_some();
        let kept: Vec<usize> = (0..clean.len()).filter(|i| clean[*i]).filter(closed).collect();
        if kept.len() == self.windows.len() {
            return;
        }
        self.windows.clear();
        self.blocks = Default::default();
        kept.into_iter().for_each(|i| self.keep(i));
    }

    /// Notes a load that devices answered with trouble and lowers the ceiling to the deepest one that they took without.
    /// An error when the search cannot go on: a path changed, or there is trouble at any load.
    fn mind_troubles(&mut self) -> Result<(), Halt> {
        let step = &self.steps[self.steps.len() - 1];
        if let Some(why) = paths_of(step) {
            return Err(Halt::PathsChanged(why));
        }
        let Some(why) = trouble_of(step) else { return Ok(()) };
        let concurrency = step.concurrency();
        let at = concurrency.map_or_else(|| " at a rate".to_owned(), |n| format!(" with {n} outstanding"));
        let halt = Halt::Trouble(format!("{why}{at}"));
        self.stops.push(Stop { concurrency, why });
        let Some(refused) = concurrency else { return Err(halt) };
        if refused == 1 && self.stops.len() == 1 && step.incidents.timed_out() == 0 {
            // A burst of refusals with one I/O outstanding may be another host's doing: it is looked at once more.
            return Ok(());
        }
        let clean = |s: &&Step| trouble_of(s).is_none() && s.ios() > 0;
        let below = self.steps.iter().filter(clean).filter_map(Step::concurrency).filter(|n| *n < refused);
        match below.max() {
            Some(clean) if self.stops.len() < STOPS_MAX => self.ceiling = self.ceiling.min(clean),
            _ => return Err(halt),
        }
        Ok(())
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
        let begun_s = self.spent_s;
        let load = Load { demand, measure_s: measure_s.min(room_s), phase };
        let guard_ns = self.options.guard_ns();
        let mut guard = Guard { progress: &mut *self.progress, guard_ns, tripped: false, stopped: false };
        let step = self.subject.measure(&load, &mut guard).map_err(Halt::Refused)?;
        let (tripped, stopped) = (guard.tripped, guard.stopped);
        let cost_s = step.spent_s();
        self.spent_s += if cost_s.is_finite() { cost_s.max(COST_LEAST_S) } else { measure_s };
        let ended = step.ended.clone();
        let late = step.incidents.slowest_us.is_some_and(|us| us * 1e3 > guard_ns as f64);
        self.steps.push(step);
        self.begun_s.push(begun_s);
        match ended {
            Ended::Failed(why) => Err(Halt::Failed(why)),
            Ended::Interrupted => Err(Halt::Interrupted),
            Ended::Stopped if stopped => Err(Halt::Interrupted),
            Ended::Complete | Ended::Stopped => self.mind_troubles().map(|()| tripped || late),
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
        troubled: false,
    }
}
