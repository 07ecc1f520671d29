//! Windows around the estimate until its interval is narrow, and a check of the estimate that needs no model.

use crate::estimate::Estimate;
use crate::options::{REFINE_S, REFINE_THOROUGH_S};
use crate::session::{Halt, Session};
use crate::shift::{self, Shift};
use record::{IoClass, Phase};

/// Length of a window: long against the correlation time of a device's noise (0.1 to 0.3 s), short against the
/// budget.
const WINDOW_S: f64 = 0.5;
/// Windows around the estimate at factors: two sides give the slope, both cancel its error.
const FACTORS: [f64; 3] = [0.85, 1.0, 1.18];
/// Fewer windows than this near the estimate know too little of their own scatter, whatever they say of it.
const WINDOWS_LEAST: usize = 9;
/// Kept of the budget for confirming and for what follows.
const KEPT_SHARE: f64 = 0.35;
/// Most seconds so kept.
const KEPT_S: f64 = 6.0;

/// How refining ended.
#[derive(Clone, Debug)]
pub enum Refined {
    /// An estimate, good or wide.
    Estimate(IoClass, Estimate),
    /// The largest concurrency holds the limit.
    Edge,
    /// Throughput stepped or drifts.
    Shifted(Shift),
    /// No I/O was seen that the limit could be judged on.
    Nothing,
}

/// Refines until the interval is narrow or the time for it is spent.
pub fn refine(session: &mut Session) -> Result<Refined, Halt> {
    let budget_s = session.options.budget_s;
    let usual_s = if session.options.thorough { REFINE_THOROUGH_S } else { REFINE_S };
    let until_s = usual_s.min(budget_s - (KEPT_SHARE * budget_s).min(KEPT_S));
    let mut factors: Vec<f64> = Vec::new();
    let mut windows = 0;
    loop {
        let Some((class, estimate)) = session.estimate() else { return Ok(Refined::Nothing) };
        let enough = windows >= WINDOWS_LEAST && estimate.bracketed;
        if enough && estimate.half_width() <= session.options.half_width {
            return Ok(Refined::Estimate(class, estimate));
        }
        if session.spent_s + WINDOW_S > until_s {
            return Ok(if holds_at_the_edge(session, &estimate) {
                Refined::Edge
            } else {
                Refined::Estimate(class, estimate)
            });
        }
        if holds_at_the_edge(session, &estimate)
            && session.verdict(session.ceiling, 0.0).is_some_and(|v| v.clear == Some(true))
        {
            return Ok(Refined::Edge);
        }
        if factors.is_empty() {
            factors = FACTORS.to_vec();
            session.random.shuffle(&mut factors);
        }
        let factor = factors.pop().unwrap_or(1.0);
        let depth = depth_at(&estimate, factor).min(session.highest().saturating_mul(2).max(1));
        let window = session.closed(depth, WINDOW_S, Phase::Refine)?;
        windows += 1;
        if window.guarded && !window.troubled {
            session.ceiling = session.ceiling.min(depth.max(2) - 1);
        }
        if let Some(shift) = shift::look(session)? {
            return Ok(Refined::Shifted(shift));
        }
    }
}

/// The depth at a factor of the estimate; for small ones the integers on both sides.
fn depth_at(estimate: &Estimate, factor: f64) -> u32 {
    let n = estimate.concurrency().clamp(1.0, 1e9);
    let depth = if factor < 1.0 {
        (n * factor).round().min(n.floor())
    } else if factor > 1.0 {
        (n * factor).round().max(n.floor() + 1.0)
    } else {
        n.round()
    };
    depth.max(1.0) as u32
}

/// The estimate lies beyond the largest concurrency, which was measured and holds.
fn holds_at_the_edge(session: &Session, estimate: &Estimate) -> bool {
    estimate.concurrency() >= f64::from(session.ceiling)
        && session.verdict(session.ceiling, 0.0).is_some_and(|v| v.ratio <= 1.0)
}

/// Where the measured depths themselves contradict the estimate by more than this, they win.
const DISAGREEMENT: f64 = 0.15;
/// Bisection ends after this many windows.
const BISECTIONS_MAX: usize = 10;

/// Checks the estimate against the measured shares of misses: a depth well below it that is broken beyond doubt, or
/// one well above that holds beyond doubt. Then bisects between the depths that hold and those that fail, a failure
/// counting only when it is seen twice. Answers the bracket as the new interval.
pub fn check(session: &mut Session, estimate: Estimate, left_s: f64) -> Result<Option<(u32, u32)>, Halt> {
    let n = estimate.concurrency();
    if !contradicted(session, n) {
        return Ok(None);
    }
    let until_s = session.spent_s + left_s;
    let (mut low, mut high) = bracket(session, n);
    for _ in 0..BISECTIONS_MAX {
        if high <= low + 1 || session.spent_s >= until_s || f64::from(high) < 1.06 * f64::from(low) {
            break;
        }
        let middle = (low + high) / 2;
        let begun_s = session.spent_s;
        session.closed(middle, WINDOW_S, Phase::Refine)?;
        let mut holds = session.verdict(middle, begun_s).is_some_and(|v| v.ratio <= 1.0);
        if !holds {
            let begun_s = session.spent_s;
            session.closed(middle, WINDOW_S, Phase::Refine)?;
            holds = session.verdict(middle, begun_s).is_some_and(|v| v.ratio <= 1.0);
        }
        if holds { low = middle } else { high = middle }
    }
    Ok(Some((low, high)))
}

fn depths(session: &Session) -> Vec<u32> {
    let mut depths: Vec<u32> = session.windows.iter().map(|w| w.concurrency).collect();
    depths.sort_unstable();
    depths.dedup();
    depths
}

fn contradicted(session: &Session, n: f64) -> bool {
    depths(session).into_iter().any(|depth| {
        let clear = session.verdict(depth, 0.0).and_then(|v| v.clear);
        let away = (f64::from(depth) / n).ln();
        (away < -DISAGREEMENT && clear == Some(false)) || (away > DISAGREEMENT && clear == Some(true))
    })
}

/// The largest depth below all failures, and the smallest failing one.
fn bracket(session: &Session, n: f64) -> (u32, u32) {
    let depths = depths(session);
    let points: Vec<(f64, f64, f64)> = depths
        .iter()
        .filter_map(|d| session.verdict(*d, 0.0).map(|v| (f64::from(*d), v.ratio, v.ios)))
        .collect();
    let ratios: Vec<f64> = points.iter().map(|p| p.1).collect();
    let weights: Vec<f64> = points.iter().map(|p| p.2).collect();
    let fitted = stats::isotonic::non_decreasing(&ratios, &weights);
    let fails = points.iter().zip(&fitted).find(|(_, ratio)| **ratio > 1.0).map(|(p, _)| p.0);
    let high = fails.unwrap_or(f64::from(session.ceiling).min(2.0 * n)).max(2.0);
    let low = points.iter().map(|p| p.0).filter(|d| *d < high).fold(1.0, f64::max);
    (low as u32, high as u32)
}
