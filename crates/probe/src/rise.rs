//! From one I/O outstanding upwards, doubling, until the path shows where it ends.

use crate::session::{Halt, Session, Window};
use record::Phase;

/// Misses above this many times the allowed end the rise: the limit lies well below.
const BROKEN: f64 = 3.0;
/// A mean above this many times the limit ends it too.
const BROKEN_MEAN: f64 = 1.25;
/// Bunches of this many misses are no proof in a short window.
const MISSES_LEAST: f64 = 3.0;
/// Less gain than this when N doubles is no gain.
pub const GAIN_LEAST: f64 = 0.03;
/// When a saturated path stays below this share of the limit, the limit does not stop it: it would take four times as
/// many waiting I/Os, and give nothing for them.
pub const FAR_BELOW: f64 = 0.25;
/// A window of the rise.
const WINDOW_S: f64 = 0.3;
/// The same on a small budget.
const WINDOW_SHORT_S: f64 = 0.2;
/// Budgets below this are small.
const BUDGET_SMALL_S: f64 = 12.0;

/// How the rise ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Top {
    /// The limit is clearly broken, or near enough to be estimated from here.
    Near,
    /// Throughput stopped growing far below the limit.
    Saturated,
    /// The largest concurrency was reached and holds.
    Edge,
}

/// Response time of the unloaded path, s, or why there is none.
pub fn reference(session: &mut Session) -> Result<Option<f64>, Halt> {
    let small = session.options.budget_s < BUDGET_SMALL_S;
    let measure_s = if small { 0.3 } else { 0.5 };
    let mut window = session.closed(1, measure_s, Phase::Reference)?;
    if window.troubled {
        window = session.closed(1, measure_s, Phase::Reference)?;
    }
    Ok(window.response_s)
}

/// Whether the limit is broken with one I/O outstanding. A doubtful start is measured for up to 4 s more.
pub fn broken_at_one(session: &mut Session) -> Result<bool, Halt> {
    let until_s = session.spent_s + (0.25 * session.options.budget_s).min(4.0);
    loop {
        let Some(verdict) = session.verdict(1, 0.0) else { return Ok(false) };
        match verdict.clear {
            Some(held) => return Ok(!held),
            None if verdict.ratio <= 1.0 => return Ok(false),
            None if session.spent_s >= until_s => return Ok(verdict.ratio > 1.5),
            None => session.closed(1, 0.5, Phase::Reference)?,
        };
    }
}

/// Doubles until the limit breaks, throughput stops growing, the guard fires or the range ends.
pub fn rise(session: &mut Session, unloaded_s: f64) -> Result<Top, Halt> {
    let small = session.options.budget_s < BUDGET_SMALL_S;
    let measure_s = if small { WINDOW_SHORT_S } else { WINDOW_S };
    let mut flat = 0;
    loop {
        let Some(last) = highest(session) else { return Ok(Top::Edge) };
        let next = last.concurrency.saturating_mul(2).min(session.ceiling);
        if next <= last.concurrency {
            return Ok(if flat > 0 && far_below(session, &last) { Top::Saturated } else { Top::Edge });
        }
        // Against the best so far: on a noisy path every other window gains something on the one before.
        let best = session.windows.iter().map(|w| w.iops).fold(0.0, f64::max);
        let mut window = session.closed(next, measure_s, Phase::Rise)?;
        if window.guarded && !window.troubled {
            window = session.closed(next, measure_s, Phase::Rise)?;
        }
        if window.troubled {
            // The ceiling stands at what was taken without trouble.
            return Ok(Top::Edge);
        }
        if window.guarded {
            session.ceiling = next.max(2) - 1;
            return Ok(Top::Near);
        }
        if broken(session, next) {
            return Ok(Top::Near);
        }
        let gained = window.iops >= best * (1.0 + GAIN_LEAST);
        let crowded = window.response_s.is_some_and(|r| r > 2.0 * unloaded_s);
        flat = if gained || !crowded { 0 } else { flat + 1 };
        if flat > 0 && !far_below(session, &window) {
            return Ok(Top::Near);
        }
        if flat > 1 {
            return Ok(Top::Saturated);
        }
    }
}

/// The latest window at the largest concurrency so far.
fn highest(session: &Session) -> Option<Window> {
    session.windows.iter().max_by_key(|w| w.concurrency).cloned()
}

/// Whether a depth breaks the limit so clearly that there is nothing to look for above.
fn broken(session: &Session, concurrency: u32) -> bool {
    let mean = session.options.limit.allowed_misses().is_none();
    session.verdict(concurrency, 0.0).is_some_and(|v| {
        if mean { v.ratio > BROKEN_MEAN } else { v.ratio > BROKEN && v.misses >= MISSES_LEAST }
    })
}

/// Whether the limit's statistic is far below the limit at this window's depth, so that four times as many I/Os would
/// still hold it.
pub fn far_below(session: &Session, window: &Window) -> bool {
    let scales: Vec<f64> = session
        .classes()
        .into_iter()
        .flat_map(|class| {
            session
                .class_blocks(class)
                .iter()
                .filter(|b| b.concurrency == window.concurrency)
                .filter_map(|b| b.quantile)
                .collect::<Vec<_>>()
        })
        .collect();
    scales.iter().copied().fold(0.0, f64::max) < FAR_BELOW
}
