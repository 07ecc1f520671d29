//! Windows after the answer: beyond the load line, so that the analyser sees where added I/Os stand, and at
//! concurrency 1 again.

use crate::session::{Halt, Session};
use record::{Doubt, DoubtId, Phase, Weight};

/// Multiples of the load line worth a look.
const MULTIPLES: [f64; 2] = [1.5, 2.0];
const WINDOW_S: f64 = 0.5;
/// A measured depth this near (in ln N) counts as seen.
const SEEN: f64 = 0.15;
/// Beyond needs this much seen there in all.
const SEEN_LEAST_S: f64 = 0.29;
/// A response time at concurrency 1 that changed by this factor is worth a doubt.
const DRIFT: f64 = 1.3;

/// Measures at 1.5 and 2 times the load line unless the rise did; never where the guard fired.
pub fn beyond(session: &mut Session, depth: u32) -> Result<(), Halt> {
    for multiple in MULTIPLES {
        let target = ((f64::from(depth) * multiple).round() as u32).max(depth + 1);
        if target > session.ceiling || seen(session, target) {
            continue;
        }
        let window = session.closed(target, WINDOW_S, Phase::Beyond)?;
        if window.guarded || window.troubled {
            break;
        }
    }
    Ok(())
}

fn seen(session: &Session, target: u32) -> bool {
    let seconds: f64 = session
        .windows
        .iter()
        .filter(|w| (f64::from(w.concurrency) / f64::from(target)).ln().abs() < SEEN)
        .map(|w| w.seconds)
        .sum();
    seconds >= SEEN_LEAST_S
}

/// Concurrency 1 again; a doubt when the unloaded path changed.
pub fn sentinel(session: &mut Session) -> Result<Vec<Doubt>, Halt> {
    let last = session.closed(1, WINDOW_S, Phase::Sentinel)?;
    let first = session.windows.iter().find(|w| w.phase == Phase::Reference || w.concurrency == 1);
    let (Some(before_s), Some(after_s)) = (first.and_then(|w| w.response_s), last.response_s) else {
        return Ok(Vec::new());
    };
    let ratio = after_s / before_s;
    if (1.0 / DRIFT..=DRIFT).contains(&ratio) {
        return Ok(Vec::new());
    }
    let id = if ratio < 1.0 { DoubtId::ColdStart } else { DoubtId::NotSteady };
    let text = format!(
        "with one I/O outstanding the response time was {:.0} us at the start and {:.0} us at the end",
        before_s * 1e6,
        after_s * 1e6
    );
    Ok(vec![Doubt { id, weight: Weight::Caution, text }])
}
