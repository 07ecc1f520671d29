//! Throughput that steps or drifts in time, told apart from the noise of a device and from a curve that falls with depth.
//!
//! More I/Os outstanding never lower the throughput of a path that stays the same, but for retrograde ones. So a window that does less than an earlier
//! one at the same or lower concurrency is suspect; the earlier depth is then measured again. Still as fast: the curve falls. Slower too: time
//! changed it, and a step is a spent credit or cache (burst) while a slope is drift.

use crate::session::{Halt, Session, Window};
use record::Phase;
use stats::{change, line, series};

/// Falls smaller than this are not looked into.
const FALL_LEAST: f64 = 0.15;
/// Standard errors a fall must have.
const SIGMAS: f64 = 3.5;
/// Slices are worth half their number: noise of devices is correlated over some 200 ms.
const SLICE_INFLATION: f64 = 2.0;
/// Length of the window that looks again.
const AGAIN_S: f64 = 0.5;
/// Length of the window that makes a fall sure (a step needs 2 s on both sides).
const SURE_S: f64 = 2.0;
/// Slices on each side of a step: 2 s.
const SIDE_SLICES: usize = 20;

/// What time did to throughput.
#[derive(Clone, Debug, PartialEq)]
pub enum Shift {
    /// A fast phase ended.
    Burst {
        /// IOPS before, at the depth that was measured twice.
        before_iops: f64,
        /// IOPS after.
        after_iops: f64,
        /// Seconds of load until then.
        after_s: f64,
    },
    /// Throughput drifts, or rose in mid-search.
    Drift {
        /// What was seen, with numbers.
        why: String,
    },
}

/// Looks at the latest window; measures again when it is suspect.
pub fn look(session: &mut Session) -> Result<Option<Shift>, Halt> {
    let Some(earlier) = suspect(session) else { return Ok(None) };
    let again = session.closed(earlier.concurrency, AGAIN_S, Phase::Refine)?;
    if !fell(session, &earlier, &again) {
        return Ok(None);
    }
    session.closed(earlier.concurrency, SURE_S, Phase::Refine)?;
    let last = session.windows[session.windows.len() - 1].clone();
    if !fell(session, &earlier, &last) {
        return Ok(None);
    }
    Ok(Some(describe(session, &earlier, last.iops)))
}

/// The fastest earlier window at no higher concurrency that the latest one falls short of.
fn suspect(session: &Session) -> Option<Window> {
    let (latest, before) = session.windows.split_last()?;
    let earlier = before
        .iter()
        .filter(|w| w.concurrency <= latest.concurrency && !w.guarded)
        .max_by(|a, b| a.iops.total_cmp(&b.iops))?;
    // A curve that falls with depth was already looked into: the low depth was measured again since, and was as fast.
    let cleared = before
        .iter()
        .any(|w| w.at_s > earlier.at_s && w.concurrency == earlier.concurrency && !fell(session, earlier, w))
        && before.iter().any(|w| w.concurrency >= latest.concurrency && fell(session, earlier, w));
    (!cleared && fell(session, earlier, latest)).then(|| earlier.clone())
}

/// Whether `later` is slower than `earlier` beyond the noise.
fn fell(session: &Session, earlier: &Window, later: &Window) -> bool {
    if earlier.iops <= 0.0 {
        return false;
    }
    let fall = (earlier.iops / later.iops.max(1e-9)).ln();
    let cv = slice_cv(session);
    let se = |w: &Window| cv * (SLICE_INFLATION / w.course.len().max(1) as f64).sqrt();
    fall > FALL_LEAST.max(SIGMAS * se(earlier).hypot(se(later)))
}

/// Scatter of slices within windows, pooled: robust, since one window may hold the step itself.
fn slice_cv(session: &Session) -> f64 {
    let each: Vec<f64> = session
        .windows
        .iter()
        .filter(|w| w.iops > 0.0)
        .filter_map(|w| {
            let values: Vec<f64> = w.course.iter().map(|p| p.1 / w.iops).collect();
            series::variance(&values)
        })
        .collect();
    // A median of variances of few slices lies below their mean; 1.3 is what three to five slices need.
    1.3 * series::median(&each).unwrap_or(0.0).max(0.0).sqrt()
}

/// Step or slope? The slices since the first window, each in units of what its depth did before the fall.
fn describe(session: &Session, earlier: &Window, after_iops: f64) -> Shift {
    let course = normalised(session, earlier);
    let values: Vec<f64> = course.iter().map(|p| p.1).collect();
    let steps = change::steps(&values, SIDE_SLICES.min(values.len() / 4).max(2));
    let biggest = steps.iter().max_by(|a, b| (a.before - a.after).total_cmp(&(b.before - b.after)));
    let at = biggest.map_or(0, |s| s.at);
    let points: Vec<_> = course.iter().map(|(t, z)| (*t, *z, 1.0)).collect();
    let sloped = line::fit(&points, None).map_or(f64::INFINITY, |l| rss(&course, |t| l.at(t)));
    let stepped = biggest.map_or(f64::INFINITY, |s| {
        let when = course[s.at].0;
        let mean = |late: bool| {
            let side: Vec<f64> = course.iter().filter(|p| (p.0 >= when) == late).map(|p| p.1).collect();
            series::mean(&side).unwrap_or(0.0)
        };
        let (before, after) = (mean(false), mean(true));
        rss(&course, |t| if t < when { before } else { after })
    });
    if stepped < sloped {
        Shift::Burst { before_iops: earlier.iops, after_iops, after_s: course[at].0 }
    } else {
        let seconds = session.spent_s - earlier.at_s;
        Shift::Drift {
            why: format!(
                "throughput at concurrency {} fell from {:.0} to {:.0} IOPS within {:.0} s, without a single step",
                earlier.concurrency, earlier.iops, after_iops, seconds
            ),
        }
    }
}

fn rss(course: &[(f64, f64)], model: impl Fn(f64) -> f64) -> f64 {
    course.iter().map(|(t, z)| (z - model(*t)).powi(2)).sum()
}

/// (seconds of load, ln of throughput over what that depth should do) of all slices at the concurrency of `earlier` or above, where the path was as busy.
fn normalised(session: &Session, earlier: &Window) -> Vec<(f64, f64)> {
    session
        .windows
        .iter()
        .filter(|w| 2 * w.concurrency >= earlier.concurrency)
        .flat_map(|w| {
            let expected = if w.concurrency >= earlier.concurrency {
                earlier.iops
            } else {
                first_at(session, w.concurrency)
            };
            w.course.iter().map(move |(t, x)| (*t, (x.max(1e-3) / expected).ln()))
        })
        .collect()
}

fn first_at(session: &Session, concurrency: u32) -> f64 {
    session.windows.iter().find(|w| w.concurrency == concurrency && w.iops > 0.0).map_or(1.0, |w| w.iops)
}

/// Falls or rises below this are left to a doubt.
const OUTCOME_LEAST: f64 = 0.15;

/// After the search: a step or slope among the windows near the load line, each carried to its depth along `slope` = d ln X / d ln N.
pub fn near_the_line(session: &Session, x: f64, slope: f64) -> Option<(f64, Shift)> {
    let near: Vec<&Window> = session
        .windows
        .iter()
        .filter(|w| (f64::from(w.concurrency).ln() - x).abs() < 0.4 && !w.guarded)
        .collect();
    let mut course: Vec<(f64, f64)> = Vec::new();
    for w in &near {
        let carried = slope * (x - f64::from(w.concurrency).ln());
        course.extend(w.course.iter().map(|(t, v)| (*t, v.max(1e-3).ln() + carried)));
    }
    if course.len() < 2 * SIDE_SLICES + 10 {
        return None;
    }
    step_near(&course).or_else(|| slope_near(&course))
}

fn step_near(course: &[(f64, f64)]) -> Option<(f64, Shift)> {
    let values: Vec<f64> = course.iter().map(|p| p.1).collect();
    let step = change::steps(&values, SIDE_SLICES)
        .into_iter()
        .max_by(|a, b| (a.before - a.after).abs().total_cmp(&(b.before - b.after).abs()))?;
    let size = step.before - step.after;
    let (before, after) = (step.before.exp(), step.after.exp());
    let when = course[step.at].0;
    let shift = if size > 0.0 {
        Shift::Burst { before_iops: before, after_iops: after, after_s: when }
    } else {
        Shift::Drift {
            why: format!("throughput rose from {before:.0} to {after:.0} IOPS after {when:.0} s of load"),
        }
    };
    // Half a second of correlated noise must not make a step: four standard errors with a doubled variance.
    let spread = series::variance(&values).unwrap_or(0.0) - size * size / 4.0;
    let sides = (step.at.min(values.len() - step.at)) as f64;
    let se = (2.0 * SLICE_INFLATION * spread.max(0.0) / sides).sqrt();
    (size.abs() > (4.0 * se).max(0.05)).then_some((size.abs(), shift))
}

fn slope_near(course: &[(f64, f64)]) -> Option<(f64, Shift)> {
    let batches: Vec<(f64, f64, f64)> = course
        .chunks(5)
        .filter(|c| c.len() == 5)
        .map(|c| (c[2].0, c.iter().map(|p| p.1).sum::<f64>() / 5.0, 1.0))
        .collect();
    let line = line::fit(&batches, None)?;
    let (first, last) = (batches.first()?.0, batches.last()?.0);
    let change = line.slope * (last - first);
    let sure = line.slope.abs() > 4.0 * line.slope_se;
    let why = format!(
        "throughput near the load line {} by {:.0} % in {:.0} s",
        if change > 0.0 { "rose" } else { "fell" },
        (change.exp() - 1.0).abs() * 100.0,
        last - first
    );
    (sure && change.abs() > 0.05).then_some((change.abs(), Shift::Drift { why }))
}

/// Whether a change of this size (of ln X) forbids a number.
pub fn forbids(size: f64) -> bool {
    size > OUTCOME_LEAST
}
