//! The waterline search: one stage after another, each of which may end it.
//!
//! reference (concurrency 1) -> rise (doubling) -> refine (windows around the estimate) -> check (without a model) ->
//! confirm (a longer window) -> beyond (where do added I/Os stand?) -> sentinel (concurrency 1 again) -> open loop.
//! Whatever ends it early, what was measured is kept.

use crate::answer::{Comfort, Knee, LoadLine, OpenPoint, Outcome};
use crate::confirm::{Confirmed, confirm};
use crate::estimate::Estimate;
use crate::options::{BUDGET_LEAST_S, Options, ProbeError, Progress};
use crate::refine::{Refined, check, refine};
use crate::rise::{Top, broken_at_one, reference, rise};
use crate::session::{Halt, Session};
use crate::shift::{self, Shift};
use crate::{beyond, marks, open, sweep};
use record::{Doubt, DoubtId, IoClass, LatencyLimit, Phase, Step, Subject, Weight};

/// Everything of an [`crate::Answer`] that does not need the counters of the layers.
#[derive(Clone, Debug)]
pub struct Searched {
    /// The limit asked.
    pub limit: LatencyLimit,
    /// How the search ended.
    pub outcome: Outcome,
    /// The headline; for `NeverReached` the saturated throughput, for `EdgeOfRange` what was reached.
    pub load_line: Option<LoadLine>,
    /// Where more concurrency buys latency.
    pub knee: Option<Knee>,
    /// Further marks.
    pub comfort: Comfort,
    /// Rates tried in an open loop, ascending.
    pub open_loop: Vec<OpenPoint>,
    /// Doubts of the search itself; those of the steps are left to whoever reads the steps.
    pub doubts: Vec<Doubt>,
    /// The class of I/O that breaks the limit first, when one was estimated.
    pub class: Option<IoClass>,
    /// Seconds of load spent.
    pub spent_s: f64,
    /// Every window in the order it was measured.
    pub steps: Vec<Step>,
}

/// What the closed part found.
pub(crate) struct Finding {
    pub outcome: Outcome,
    pub load_line: Option<LoadLine>,
    pub doubts: Vec<Doubt>,
    pub class: Option<IoClass>,
}

impl Finding {
    pub(crate) fn of(outcome: Outcome) -> Self {
        Self { outcome, load_line: None, doubts: Vec::new(), class: None }
    }
}

/// Finds the load line of `subject` under `options.limit`, or sweeps the depths asked for.
///
/// # Errors
/// Only when nothing could be measured: see [`ProbeError`]. A target that fails later, a spent budget and an
/// interruption are answers.
pub fn search(
    subject: &mut dyn Subject,
    options: &Options,
    progress: &mut dyn Progress,
) -> Result<Searched, ProbeError> {
    if options.depths.contains(&0) {
        return Err(ProbeError::DepthZero);
    }
    if options.budget_s.is_nan() || options.budget_s < BUDGET_LEAST_S {
        return Err(ProbeError::BudgetTooSmall { budget_s: options.budget_s, least_s: BUDGET_LEAST_S });
    }
    let mut session = Session::new(subject, options, progress);
    let sweeping = options.sweep || !options.depths.is_empty();
    let found = if sweeping { sweep::sweep(&mut session) } else { closed(&mut session) };
    let mut finding = match found {
        Ok(finding) => finding,
        Err(Halt::Refused(cause)) if session.steps.is_empty() => {
            return Err(ProbeError::FirstWindow { concurrency: 1, cause });
        }
        Err(halt) => halted(&session, halt),
    };
    let mut open_loop = Vec::new();
    if !matches!(finding.outcome, Outcome::CannotTell { .. }) {
        let line = finding.load_line.clone();
        if let Err(halt) = open::open_loop(&mut session, line.as_ref(), &mut open_loop) {
            finding.doubts.extend(cut_short(&halt));
        }
    }
    finding.doubts.extend(rates_left_out(&session, &open_loop));
    finding.outcome = guarded(&session, finding.outcome);
    finding.doubts.sort_by_key(|d| std::cmp::Reverse(d.weight));
    let (knee, comfort) = marks::marks(&session);
    Ok(Searched {
        limit: options.limit,
        outcome: finding.outcome,
        load_line: finding.load_line,
        knee,
        comfort,
        open_loop,
        doubts: finding.doubts,
        class: finding.class,
        spent_s: session.spent_s,
        steps: session.steps,
    })
}

/// The search in a closed loop.
fn closed(session: &mut Session) -> Result<Finding, Halt> {
    let Some(unloaded_s) = reference(session)? else {
        return Ok(cannot_tell("no I/O completed with one outstanding"));
    };
    if let Some(class) = missing_class(session) {
        return Ok(class);
    }
    if broken_at_one(session)? {
        return Ok(broken(session));
    }
    loop {
        // Each round starts at a higher concurrency than the one before, so this ends.
        match rise(session, unloaded_s)? {
            Top::Near => return near(session),
            Top::Edge => return edge_or_refine(session),
            Top::Saturated => {
                if let Some(finding) = marks::saturated(session)? {
                    return after(session, finding, None);
                }
            }
        }
    }
}

/// The limit breaks within the range: refine, check, confirm.
fn near(session: &mut Session) -> Result<Finding, Halt> {
    match refine(session)? {
        Refined::Nothing => Ok(cannot_tell("no I/O was seen that the limit could be judged on")),
        Refined::Shifted(shift) => Ok(Finding::of(outcome_of(shift))),
        Refined::Edge => edge(session),
        Refined::Estimate(class, estimate) => settle(session, class, estimate),
    }
}

/// From an estimate to a finding.
fn settle(session: &mut Session, class: IoClass, estimate: Estimate) -> Result<Finding, Halt> {
    if session.highest() <= 1 && estimate.concurrency() < 1.0 {
        return Ok(broken(session));
    }
    let left_s = (session.left_s() - 4.0).min(0.12 * session.options.budget_s);
    let bracket = check(session, estimate, left_s)?;
    match confirm(session, class, estimate, bracket)? {
        Confirmed::BrokenAtOne => Ok(broken(session)),
        Confirmed::Shifted(shift) => Ok(Finding::of(outcome_of(shift))),
        Confirmed::Line(line, estimate, mut doubts) => {
            let change = shift::near_the_line(session, estimate.x);
            if let Some((size, shift)) = change {
                if shift::forbids(size) {
                    return Ok(Finding::of(outcome_of(shift)));
                }
                doubts.push(unsteady(&shift));
            }
            if marks::far_beyond(session, line.concurrency, line.iops) {
                return marks::never_reached(session, line.iops);
            }
            let finding =
                Finding { outcome: Outcome::Found, load_line: Some(line), doubts, class: Some(class) };
            after(session, finding, Some(estimate))
        }
    }
}

/// The windows after the answer: they add evidence and cannot take the answer away.
fn after(session: &mut Session, mut finding: Finding, estimate: Option<Estimate>) -> Result<Finding, Halt> {
    let depth = finding.load_line.as_ref().map_or(1, |l| l.concurrency);
    let extra = beyond::beyond(session, depth).and_then(|()| beyond::sentinel(session));
    match extra {
        Ok(doubts) => finding.doubts.extend(doubts),
        Err(Halt::Budget) => {}
        Err(halt) => finding.doubts.extend(cut_short(&halt)),
    }
    if let (Some(line), Some(estimate)) = (&mut finding.load_line, estimate) {
        line.wide = line.wide || estimate.half_width() > session.options.half_width;
    }
    Ok(finding)
}

/// The rise reached the largest concurrency. The estimate may still lie below it.
fn edge_or_refine(session: &mut Session) -> Result<Finding, Halt> {
    let ceiling = session.ceiling;
    let verdict = session.verdict(ceiling, 0.0);
    if verdict.is_some_and(|v| v.ratio > 1.0 || v.clear != Some(true)) {
        session.closed(ceiling, 0.5, Phase::Rise)?;
    }
    match session.verdict(ceiling, 0.0) {
        Some(v) if v.ratio > 1.0 && ceiling > 1 => near(session),
        Some(_) => edge(session),
        None => Ok(cannot_tell("no I/O was seen that the limit could be judged on")),
    }
}

fn edge(session: &mut Session) -> Result<Finding, Halt> {
    let mut concurrency = session.ceiling;
    let mut line = marks::line_at(session, concurrency, 2.0)?;
    // Devices may answer even this with trouble when it lasts; each time the ceiling goes down, so this ends.
    while session.ceiling < concurrency {
        concurrency = session.ceiling;
        line = marks::line_at(session, concurrency, 2.0)?;
    }
    let outcome = Outcome::EdgeOfRange { concurrency };
    let mut finding = Finding { outcome, load_line: line, doubts: Vec::new(), class: None };
    if let Ok(doubts) = beyond::sentinel(session) {
        finding.doubts = doubts;
    }
    Ok(finding)
}

fn broken(session: &Session) -> Finding {
    let limit = session.options.limit;
    let measured_us = session
        .classes()
        .into_iter()
        .filter_map(|c| crate::confirm::statistic_us(session, c, &limit, |s| s.concurrency() == Some(1)))
        .fold(0.0, f64::max);
    Finding::of(Outcome::BrokenAtOne { measured_us })
}

fn missing_class(session: &Session) -> Option<Finding> {
    let class = session.options.limit.class?;
    let seen: f64 = session.class_blocks(class).iter().map(|b| b.ios).sum();
    let word = match class {
        IoClass::Read => "reads",
        IoClass::Write => "writes",
        IoClass::Flush => "flushes",
    };
    let percent = session.facts.write_percent;
    (seen <= 0.0).then(|| {
        cannot_tell(&format!(
            "the limit is on {word}, and the workload ({percent} % writes) made none of them"
        ))
    })
}

fn outcome_of(shift: Shift) -> Outcome {
    match shift {
        Shift::Burst { before_iops, after_iops, after_s } => {
            Outcome::Burst { before_iops, after_iops, after_s }
        }
        Shift::Drift { why } => Outcome::NotSteady { why },
    }
}

fn unsteady(shift: &Shift) -> Doubt {
    let text = match shift {
        Shift::Burst { before_iops, after_iops, after_s } => {
            format!(
                "throughput stepped from {before_iops:.0} to {after_iops:.0} IOPS after {after_s:.0} s of load"
            )
        }
        Shift::Drift { why } => why.clone(),
    };
    Doubt { id: DoubtId::NotSteady, weight: Weight::Caution, text }
}

/// The largest concurrency tried was no end of the range, but where devices began to answer with trouble.
fn guarded(session: &Session, outcome: Outcome) -> Outcome {
    let stop = session.stops.iter().filter_map(|s| Some((s.concurrency?, &s.why))).min();
    match (outcome, stop) {
        (Outcome::EdgeOfRange { concurrency }, Some((stopped_at, why))) if stopped_at > concurrency => {
            Outcome::Guarded { concurrency, stopped_at, why: why.clone() }
        }
        (outcome, _) => outcome,
    }
}

pub(crate) fn cannot_tell(why: &str) -> Finding {
    Finding::of(Outcome::CannotTell { why: why.to_owned() })
}

/// The search ended before its answer.
fn halted(session: &Session, halt: Halt) -> Finding {
    let depth = session.highest();
    let why = match &halt {
        Halt::Budget => format!(
            "the budget of {} s was spent before the limit was located (tried up to concurrency {depth}); allow more time",
            session.options.budget_s
        ),
        Halt::Failed(why) => format!("the target failed: {why}"),
        Halt::Interrupted => "interrupted".to_owned(),
        Halt::Refused(cause) => format!("the load could not be offered: {cause}"),
        Halt::Trouble(why) => format!("the guard stopped the load: {why}"),
        Halt::PathsChanged(why) => why.clone(),
    };
    let mut finding = match halt {
        Halt::PathsChanged(_) => Finding::of(Outcome::NotSteady { why }),
        _ => cannot_tell(&why),
    };
    finding.doubts.extend(cut_short(&halt));
    finding
}

fn cut_short(halt: &Halt) -> Option<Doubt> {
    let text = match halt {
        Halt::Budget => return None,
        Halt::Failed(why) => format!("the target failed before all was measured: {why}"),
        Halt::Interrupted => "interrupted before all was measured".to_owned(),
        Halt::Refused(cause) => format!("a load was refused before all was measured: {cause}"),
        Halt::Trouble(why) => format!("the guard stopped the load before all was measured: {why}"),
        Halt::PathsChanged(why) => format!("stopped before all was measured: {why}"),
    };
    Some(Doubt { id: DoubtId::CutShort, weight: Weight::Caution, text })
}

/// Rates that were asked for and not tried: never dropped in silence.
fn rates_left_out(session: &Session, tried: &[OpenPoint]) -> Option<Doubt> {
    let asked = session.options.rates_iops.iter();
    let left: Vec<String> = asked
        .filter(|rate| !tried.iter().any(|p| p.share.is_none() && p.asked_iops == **rate))
        .map(|rate| format!("{rate:.0}"))
        .collect();
    (!left.is_empty()).then(|| Doubt {
        id: DoubtId::CutShort,
        weight: Weight::Caution,
        text: format!(
            "the open loop at {} IOPS was not tried ({:.0} of the budget of {} s were spent)",
            left.join(" and "),
            session.spent_s,
            session.options.budget_s
        ),
    })
}
