//! Throughput that steps or drifts in time, told apart from the noise of a device and from a curve that falls with
//! depth.
//!
//! More I/Os outstanding never lower the throughput of a path that stays the same, but for retrograde ones. So a
//! window that does less than an earlier one at the same or lower concurrency is suspect; the earlier depth is then
//! measured again. Still as fast: the curve falls. Slower too: time changed it, and a step is a spent credit or cache
//! (burst) while a slope is drift.

use crate::session::{Halt, Session, Window};
use record::Phase;
use stats::{change, line, series};

/// Falls smaller than this are not looked into.
const FALL_LEAST: f64 = 0.15;
/// Standard errors a fall must have.
const SIGMAS: f64 = 4.5;
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

/// Looks at the latest windows; measures an earlier depth again when they are suspect.
pub fn look(session: &mut Session) -> Result<Option<Shift>, Halt> {
    let Some((earlier, depth)) = suspect(session) else { return Ok(None) };
    let since_s = session.spent_s;
    session.closed(depth, AGAIN_S, Phase::Refine)?;
    let again = Group::of(session.windows.iter().filter(|w| w.at_s >= since_s));
    if !fell(session, &earlier, &again, SIGMAS / 2.0) {
        session.looked_again.push(depth);
        return Ok(None);
    }
    session.closed(depth, SURE_S, Phase::Refine)?;
    let again = Group::of(session.windows.iter().filter(|w| w.at_s >= since_s));
    if !fell(session, &earlier, &again, SIGMAS) {
        session.looked_again.push(depth);
        return Ok(None);
    }
    Ok(Some(describe(session, &earlier, depth, again.iops())))
}

/// Windows pooled.
#[derive(Clone, Debug, Default)]
struct Group {
    ios: f64,
    seconds: f64,
    slices: usize,
    begin_s: f64,
    end_s: f64,
}

impl Group {
    fn of<'w>(windows: impl Iterator<Item = &'w Window>) -> Self {
        let mut group = Self { begin_s: f64::INFINITY, ..Self::default() };
        for w in windows.filter(|w| w.seconds > 0.0) {
            group.ios += w.iops * w.seconds;
            group.seconds += w.seconds;
            group.slices += w.course.len();
            group.begin_s = group.begin_s.min(w.at_s);
            group.end_s = group.end_s.max(w.at_s + w.seconds);
        }
        group
    }

    fn iops(&self) -> f64 {
        if self.seconds > 0.0 { self.ios / self.seconds } else { 0.0 }
    }
}

/// At most this many of the latest windows are taken together.
const LATEST_MAX: usize = 6;
/// A depth is looked at again this often, and three times as often in all.
const LOOKS_MAX: usize = 2;
/// Earlier windows from this factor below the latest depths up to them are what they are compared with.
const BELOW: f64 = 1.6;

/// Earlier windows that the latest ones fall short of at no lower concurrency, and the depth among them to measure
/// again.
fn suspect(session: &Session) -> Option<(Group, u32)> {
    let all = &session.windows;
    for latest in 1..=LATEST_MAX.min(all.len().saturating_sub(1)) {
        let (before, late) = all.split_at(all.len() - latest);
        let lowest = late.iter().map(|w| w.concurrency).min()?;
        let range = f64::from(lowest) / BELOW..=f64::from(lowest) * 1.02;
        let like = || before.iter().filter(|w| range.contains(&f64::from(w.concurrency)) && !w.guarded);
        let earlier = Group::of(like());
        if lowest < 2 || !fell(session, &earlier, &Group::of(late.iter()), SIGMAS) {
            continue;
        }
        // The depth that was measured best stands for all: only one depth against itself tells time from depth.
        let at = |depth: u32| Group::of(like().filter(move |w| alike(w.concurrency, depth)));
        let depth = like().map(|w| w.concurrency).max_by_key(|d| (at(*d).slices, *d))?;
        // A curve that falls with depth was looked into before.
        let looked = session.looked_again.iter().filter(|d| alike(**d, depth)).count();
        if looked < LOOKS_MAX && session.looked_again.len() < 3 * LOOKS_MAX {
            return Some((at(depth), depth));
        }
    }
    None
}

/// Depths within 8 % of each other are one.
fn alike(one: u32, other: u32) -> bool {
    (f64::from(one) / f64::from(other)).ln().abs() < 0.08
}

/// Whether `later` is slower than `earlier` beyond `sigmas` of noise.
fn fell(session: &Session, earlier: &Group, later: &Group, sigmas: f64) -> bool {
    if earlier.iops() <= 0.0 || later.slices == 0 {
        return false;
    }
    let fall = (earlier.iops() / later.iops().max(1e-9)).ln();
    let cv = slice_cv(session);
    let variance = |g: &Group| SLICE_INFLATION / g.slices.max(1) as f64;
    fall > FALL_LEAST.max(sigmas * cv * (variance(earlier) + variance(later)).sqrt())
}

/// Standard error of ln of the ratio of two windows' throughputs.
pub fn log_se(session: &Session, one: &Window, other: &Window) -> f64 {
    let variance = |w: &Window| SLICE_INFLATION / w.course.len().max(1) as f64;
    slice_cv(session) * (variance(one) + variance(other)).sqrt()
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

/// Step or slope? The slices since the earlier windows began, at depths no lower, where the path was as busy.
fn describe(session: &Session, earlier: &Group, depth: u32, after_iops: f64) -> Shift {
    let lowest = (f64::from(depth) / BELOW) as u32;
    let course: Vec<(f64, f64)> = session
        .windows
        .iter()
        .filter(|w| w.at_s >= earlier.begin_s && w.concurrency >= lowest)
        .flat_map(|w| w.course.iter().map(|(t, x)| (*t, x.max(1e-3).ln())))
        .collect();
    let points: Vec<_> = course.iter().map(|(t, z)| (*t, *z, 1.0)).collect();
    let sloped = line::fit(&points, None).map_or(f64::INFINITY, |l| rss(&course, |t| l.at(t)));
    let values: Vec<f64> = course.iter().map(|p| p.1).collect();
    let step = change::steps(&values, SIDE_SLICES.min(values.len() / 4).max(2))
        .into_iter()
        .max_by(|a, b| (a.before - a.after).total_cmp(&(b.before - b.after)));
    let stepped = step.map_or(f64::INFINITY, |s| {
        let when = course[s.at].0;
        let mean = |late: bool| {
            let side: Vec<f64> = course.iter().filter(|p| (p.0 >= when) == late).map(|p| p.1).collect();
            series::mean(&side).unwrap_or(0.0)
        };
        let (before, after) = (mean(false), mean(true));
        rss(&course, |t| if t < when { before } else { after })
    });
    match step {
        Some(step) if stepped < sloped => {
            let after_s = course[step.at].0;
            Shift::Burst { before_iops: earlier.iops(), after_iops, after_s }
        }
        _ => Shift::Drift {
            why: format!(
                "throughput at concurrency {depth} fell from {:.0} to {after_iops:.0} IOPS within {:.0} s, without a single step",
                earlier.iops(),
                session.spent_s - earlier.begin_s
            ),
        },
    }
}

fn rss(course: &[(f64, f64)], model: impl Fn(f64) -> f64) -> f64 {
    course.iter().map(|(t, z)| (z - model(*t)).powi(2)).sum()
}

/// Falls or rises below this are left to a doubt.
const OUTCOME_LEAST: f64 = 0.15;

/// Windows this near the load line (ln N) tell of time; further away the curve's bend would look like it.
const NEAR: f64 = 0.6;
/// Changes of ln X smaller than this are not told.
const TOLD_LEAST: f64 = 0.05;
/// Standard errors such a change must have: a scan over steps looks at many.
const SCAN_SIGMAS: f64 = 5.0;
/// Seconds of windows that a step needs on each side.
const SIDE_S: f64 = 2.0;

/// After the search: does ln X near the load line depend on time, beside its dependence on ln N? A slope and every
/// step with 2 s on both sides are tried, each fitted together with ln N, since windows wander while the search goes
/// on. Answers the size of the change of ln X.
pub fn near_the_line(session: &Session, x: f64) -> Option<(f64, Shift)> {
    let mut points: Vec<Seen> = session
        .windows
        .iter()
        .filter(|w| !w.guarded && w.iops > 0.0 && (f64::from(w.concurrency).ln() - x).abs() < NEAR)
        .flat_map(seen)
        .collect();
    points.sort_by(|a, b| a.at_s.total_cmp(&b.at_s));
    let (first, last) = (points.first()?.at_s, points.last()?.at_s);
    let slope = effect(&points, |t| t)?;
    let change = slope.0 * (last - first);
    let mut best = (slope.0.abs() / slope.1, change, None);
    let total: f64 = points.iter().map(|p| p.weight).sum();
    let mut gone = 0.0;
    for pair in points.windows(2) {
        gone += pair[0].weight;
        if gone < SIDE_S || total - gone < SIDE_S {
            continue;
        }
        let when = 0.5 * (pair[0].at_s + pair[1].at_s);
        let Some((size, se)) = effect(&points, |t| f64::from(u8::from(t > when))) else { continue };
        // A step must beat the slope by more than luck, for there are many steps to choose from.
        if size.abs() / se > 1.15 * best.0 {
            best = (size.abs() / se, size, Some(when));
        }
    }
    let (sigmas, size, when) = best;
    (sigmas > SCAN_SIGMAS && size.abs() > TOLD_LEAST)
        .then(|| (size.abs(), words(&points, size, when, last - first)))
}

/// Half a second of a window.
#[derive(Clone, Copy, Debug)]
struct Seen {
    at_s: f64,
    x: f64,
    log_iops: f64,
    weight: f64,
}

fn seen(window: &Window) -> Vec<Seen> {
    window
        .course
        .chunks(5)
        .filter_map(|slices| {
            let n = slices.len() as f64;
            let iops = slices.iter().map(|s| s.1).sum::<f64>() / n;
            let at_s = slices.iter().map(|s| s.0).sum::<f64>() / n;
            let x = f64::from(window.concurrency).ln();
            (iops > 0.0).then(|| Seen { at_s, x, log_iops: iops.ln(), weight: 0.1 * n })
        })
        .collect()
}

/// (coefficient, standard error) of a function of time in a regression of ln X on ln N and it, by regressing both on
/// ln N first (Frisch & Waugh 1933).
fn effect(points: &[Seen], time: impl Fn(f64) -> f64) -> Option<(f64, f64)> {
    const LEAST: usize = 10;
    if points.len() < LEAST {
        return None;
    }
    let on_x = |value: &dyn Fn(&Seen) -> f64| -> Option<Vec<f64>> {
        let pairs: Vec<_> = points.iter().map(|p| (p.x, value(p), p.weight)).collect();
        let fitted = line::fit(&pairs, None)?;
        Some(points.iter().map(|p| value(p) - fitted.at(p.x)).collect())
    };
    let (y, t) = (on_x(&|p| p.log_iops)?, on_x(&|p| time(p.at_s))?);
    let pairs: Vec<_> = t.iter().zip(&y).zip(points).map(|((t, y), p)| (*t, *y, p.weight)).collect();
    let fitted = line::fit(&pairs, None)?;
    // Neighbouring half seconds still share some noise; a quiet device must not make a certainty of nothing.
    let se = fitted.slope_se * 1.2;
    (se.is_finite() && se > 0.0).then_some((fitted.slope, se))
}

fn words(points: &[Seen], size: f64, when: Option<f64>, span_s: f64) -> Shift {
    let mean = |chosen: &dyn Fn(&&Seen) -> bool| {
        let logs: Vec<f64> = points.iter().filter(chosen).map(|p| p.log_iops).collect();
        series::mean(&logs).unwrap_or(0.0).exp()
    };
    match when {
        Some(when) if size < 0.0 => {
            let before = mean(&|p| p.at_s <= when);
            Shift::Burst { before_iops: before, after_iops: before * size.exp(), after_s: when }
        }
        Some(when) => {
            let before = mean(&|p| p.at_s <= when);
            let after = before * size.exp();
            Shift::Drift {
                why: format!("throughput rose from {before:.0} to {after:.0} IOPS after {when:.0} s of load"),
            }
        }
        None => Shift::Drift {
            why: format!(
                "throughput near the load line {} by {:.0} % in {span_s:.0} s",
                if size > 0.0 { "rose" } else { "fell" },
                (size.exp() - 1.0).abs() * 100.0
            ),
        },
    }
}

/// Whether a change of this size (of ln X) forbids a number.
pub fn forbids(size: f64) -> bool {
    size > OUTCOME_LEAST
}
