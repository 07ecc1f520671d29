//! A longer window at the depth to be reported; if the limit does not hold there, 6 % down and again.

use crate::answer::LoadLine;
use crate::estimate::{Estimate, throughput_at};
use crate::session::{Halt, Session};
use crate::shift::{self, Shift};
use record::{Doubt, DoubtId, IoClass, LatencyHistogram, LatencyLimit, Phase, Statistic, Step, Weight};

/// Length of the confirming window.
pub const CONFIRM_S: f64 = 3.0;
/// A further one, after a failure.
const AGAIN_S: f64 = 2.0;
/// A shorter one is no confirmation.
const CONFIRM_LEAST_S: f64 = 0.5;
/// One step back.
const STEP_BACK: f64 = 0.94;
/// Confirming windows at most.
const ATTEMPTS_MAX: usize = 5;
/// Seconds and share of the budget that confirming may take.
const CONFIRM_ALL_S: f64 = 8.5;
const SHARE: f64 = 0.3;

/// How confirming ended.
pub enum Confirmed {
    /// A line with the final estimate and doubts.
    Line(LoadLine, Estimate, Vec<Doubt>),
    /// Even one I/O outstanding breaks the limit.
    BrokenAtOne,
    /// Throughput stepped meanwhile.
    Shifted(Shift),
}

/// Confirms the estimate, or the bracket that replaced it.
pub fn confirm(
    session: &mut Session,
    class: IoClass,
    estimate: Estimate,
    bracket: Option<(u32, u32)>,
) -> Result<Confirmed, Halt> {
    let first = bracket.map_or(estimate.concurrency(), |(low, _)| f64::from(low));
    let mut depth = (first.floor().max(1.0) as u32).min(session.ceiling);
    let until_s = session.spent_s + (SHARE * session.options.budget_s).min(CONFIRM_ALL_S);
    let mut held = false;
    let (mut failed_here, mut begun_s) = (false, session.spent_s);
    for attempt in 0..ATTEMPTS_MAX {
        let room_s = (until_s - session.spent_s).min(session.left_s() - 0.25);
        if room_s < CONFIRM_LEAST_S {
            break;
        }
        let wanted_s = if attempt == 0 { CONFIRM_S } else { AGAIN_S };
        session.closed(depth, wanted_s.min(room_s), Phase::Confirm)?;
        if let Some(shift) = shift::look(session)? {
            return Ok(Confirmed::Shifted(shift));
        }
        let verdict = session.verdict(depth, begun_s);
        held = verdict.is_none_or(|v| v.ratio <= 1.0);
        if held {
            break;
        }
        // One failure may be chance: the depth is given up when both windows together fail, or the first fails beyond
        // doubt.
        let doubtful = verdict.is_some_and(|v| v.clear.is_none());
        if !failed_here && doubtful {
            failed_here = true;
            continue;
        }
        if depth == 1 {
            return Ok(Confirmed::BrokenAtOne);
        }
        depth = step_back(session, depth);
        (failed_here, begun_s) = (false, session.spent_s);
    }
    Ok(line(session, class, estimate, bracket, depth, held))
}

/// 6 % down, or to what the estimate has become if that is lower; at least one.
fn step_back(session: &Session, depth: u32) -> u32 {
    let stepped = (f64::from(depth) * STEP_BACK).floor();
    let learnt = session.estimate().map_or(stepped, |(_, e)| e.concurrency().floor());
    stepped.min(learnt).min(f64::from(depth - 1)).max(f64::from(depth) * 0.5).max(1.0) as u32
}

fn line(
    session: &Session,
    class: IoClass,
    before: Estimate,
    bracket: Option<(u32, u32)>,
    depth: u32,
    held: bool,
) -> Confirmed {
    let mut estimate = session.estimate().map_or(before, |(_, e)| e);
    let mut doubts = Vec::new();
    if let Some((low, high)) = bracket {
        // The measured depths contradicted the model: the bracket is the interval, the model's own doubt on top.
        let [a, b] = [f64::from(low).ln(), f64::from(high).ln()];
        estimate.interval = [a.min(estimate.interval[0]), b.max(estimate.interval[1])];
    }
    if !held {
        doubts.push(Doubt {
            id: DoubtId::NotSteady,
            weight: Weight::Caution,
            text: format!(
                "the limit did not hold in a longer window down to concurrency {depth}, \
                 though shorter ones around it held"
            ),
        });
    }
    let x = f64::from(depth).ln();
    let blocks = session.class_blocks(class);
    let iops = throughput_at(blocks, &session.options.limit, x).unwrap_or(estimate.iops);
    let (confirmed_us, steady_s) = confirming(session, class, depth);
    let [low, high] = estimate.iops_interval;
    let [n_low, n_high] = estimate.interval.map(f64::exp);
    let n = f64::from(depth);
    let line = LoadLine {
        iops,
        mib_per_s: iops * mib_per_io(session, depth),
        concurrency: depth,
        limit: session.options.limit,
        ci95: [low.min(iops), high.max(iops)],
        concurrency_ci95: [n_low.min(n), n_high.max(n)],
        confirmed_us,
        steady_s,
        wide: !held || bracket.is_some() || estimate.half_width() > session.options.half_width,
    };
    Confirmed::Line(line, estimate, doubts)
}

/// The limit's statistic over the confirming windows at a depth, us, and their seconds.
fn confirming(session: &Session, class: IoClass, depth: u32) -> (Option<f64>, f64) {
    let last = |s: &Step| s.load.phase == Phase::Confirm && s.concurrency() == Some(depth);
    let seconds = session.steps.iter().filter(|s| last(s)).map(|s| s.measured_s).sum();
    (statistic_us(session, class, &session.options.limit, last), seconds)
}

/// A limit's statistic over chosen steps, us; absent without I/Os of the class.
pub fn statistic_us(
    session: &Session,
    class: IoClass,
    limit: &LatencyLimit,
    chosen: impl Fn(&Step) -> bool,
) -> Option<f64> {
    let mut whole = LatencyHistogram::new();
    for step in session.steps.iter().filter(|s| chosen(s)) {
        whole.merge(&step.latency(class));
    }
    match limit.statistic {
        Statistic::Mean => whole.mean_ns().map(|ns| ns / 1e3),
        Statistic::Quantile(q) => whole.quantile_ns(q).map(|ns| ns as f64 / 1e3),
    }
}

/// MiB (2^20 bytes) moved per I/O at a depth, or at all depths when there were none.
pub fn mib_per_io(session: &Session, depth: u32) -> f64 {
    let of = |here: &dyn Fn(&Step) -> bool| {
        let (mut bytes, mut ios) = (0u64, 0u64);
        for slice in session.steps.iter().filter(|s| here(s)).flat_map(|s| &s.slices) {
            bytes += slice.bytes();
            ios += slice.ios();
        }
        (ios > 0).then(|| bytes as f64 / ios as f64 / f64::from(1 << 20))
    };
    of(&|s| s.concurrency() == Some(depth)).or_else(|| of(&|_| true)).unwrap_or(0.0)
}
