//! Knee, saturation and power from the fitted curve, and the answer of a path that its throughput limits.

use crate::answer::{Comfort, Knee, LoadLine, Outcome};
use crate::block::BLOCK_S;
use crate::confirm::{CONFIRM_S, mib_per_io, statistic_us};
use crate::rise::{GAIN_LEAST, far_below};
use crate::search::Finding;
use crate::session::{Halt, Session, Window};
use crate::shift;
use record::{Phase, Step};
use stats::{closed, series};

/// Fits the closed model to all closed windows that the guard did not end.
pub fn fit(session: &Session) -> Option<closed::Fit> {
    let points: Vec<closed::Point> = session
        .windows
        .iter()
        .filter(|w| !w.guarded && w.iops > 0.0 && w.seconds > 0.0)
        .map(|w| closed::Point {
            concurrency: f64::from(w.concurrency),
            throughput: w.iops,
            weight: (w.seconds / BLOCK_S).min(2.0),
        })
        .collect();
    closed::fit(&points)
}

/// Knee and comfort marks. A mark that lies beyond what was measured is left out.
pub fn marks(session: &Session) -> (Option<Knee>, Comfort) {
    let Some(fit) = fit(session) else { return (None, Comfort::default()) };
    let model = fit.model;
    let knee = (model.knee() <= fit.concurrency_measured).then(|| Knee {
        concurrency: model.knee().max(1.0),
        ci95: fit.knee_interval(),
        iops_max: model.throughput_max,
        response_unloaded_us: model.response_unloaded_s * 1e6,
    });
    let comfort = Comfort {
        saturation_concurrency: saturation(session),
        power_concurrency: power(session),
        retrograde: (model.kappa > 0.0).then_some(model.kappa),
    };
    (knee, comfort)
}

/// Throughput stopped growing far below the limit: measured again with longer windows, and answered if it is so.
/// None: it still grows, or the limit is near.
pub(crate) fn saturated(session: &mut Session) -> Result<Option<Finding>, Halt> {
    let top = session.highest();
    let half = (top / 2).max(1);
    let low = session.closed(half, 1.0, Phase::Refine)?;
    let high = session.closed(top, 1.0, Phase::Refine)?;
    let grows = (high.iops / low.iops.max(1e-9)).ln()
        > (2.0 * GAIN_LEAST).max(2.0 * shift::log_se(session, &low, &high));
    if grows || high.guarded || high.troubled || !far_below(session, &high) {
        return Ok(None);
    }
    never_reached(session, high.iops.max(low.iops)).map(Some)
}

/// A line this many times deeper than where throughput ends is no line of the limit's: the rise, held up by noise,
/// went past the end of throughput.
const FAR_BEYOND: u32 = 32;

/// Whether a load line of `depth` and `iops` lies far beyond the depth that already gives all of that.
pub(crate) fn far_beyond(session: &Session, depth: u32, iops: f64) -> bool {
    saturation_depth(session, iops).saturating_mul(FAR_BEYOND) < depth
}

/// The answer of a path that its throughput limits, with a line at 95 % of it.
pub(crate) fn never_reached(session: &mut Session, iops_max: f64) -> Result<Finding, Halt> {
    let depth = saturation_depth(session, iops_max);
    let line = line_at(session, depth, CONFIRM_S)?;
    let iops_max = line.as_ref().map_or(iops_max, |l| l.iops.max(iops_max));
    let outcome = Outcome::NeverReached { saturation_concurrency: depth, iops_max };
    Ok(Finding { outcome, load_line: line, doubts: Vec::new(), class: None })
}

/// Smallest depth with 95 % of `iops_max`, interpolated between measured depths.
fn saturation_depth(session: &Session, iops_max: f64) -> u32 {
    let at = stats::isotonic::crossing(&rising(session), 0.95 * iops_max);
    at.map_or(session.highest(), |x| x.exp().ceil() as u32).clamp(1, session.highest().max(1))
}

/// Depth with 95 % of the largest throughput measured. Read from the measured curve: the fitted one bends in one place,
/// and many a path bends in two. Absent when the largest depth alone has it: then nobody knows what is beyond.
fn saturation(session: &Session) -> Option<f64> {
    let curve = rising(session);
    let most = curve.last()?.1;
    let before = curve.iter().rev().find(|(x, _)| *x < curve[curve.len() - 1].0)?.1;
    (before >= 0.95 * most).then(|| stats::isotonic::crossing(&curve, 0.95 * most)).flatten().map(f64::exp)
}

/// The measured depth with the most throughput per response time (Kleinrock's power): X / R = X^2 / N. Absent at the
/// ends of what was measured, which are no optimum.
fn power(session: &Session) -> Option<f64> {
    let mut pooled: std::collections::BTreeMap<u32, (f64, f64)> = std::collections::BTreeMap::new();
    for w in session.windows.iter().filter(|w| !w.guarded && w.seconds > 0.0) {
        let (ios, seconds) = pooled.entry(w.concurrency).or_default();
        *ios += w.iops * w.seconds;
        *seconds += w.seconds;
    }
    let power = |(n, (ios, seconds)): (&u32, &(f64, f64))| (ios / seconds).powi(2) / f64::from(*n);
    let best = *pooled.iter().max_by(|a, b| power(*a).total_cmp(&power(*b)))?.0;
    let ends = [*pooled.keys().next()?, *pooled.keys().next_back()?];
    (!ends.contains(&best)).then_some(f64::from(best))
}

/// (ln N, X) of the measured depths, made non-decreasing.
fn rising(session: &Session) -> Vec<(f64, f64)> {
    let mut windows: Vec<&Window> = session.windows.iter().filter(|w| w.iops > 0.0).collect();
    windows.sort_by_key(|w| w.concurrency);
    let values: Vec<f64> = windows.iter().map(|w| w.iops).collect();
    let weights: Vec<f64> = windows.iter().map(|w| w.seconds.max(1e-3)).collect();
    let fitted = stats::isotonic::non_decreasing(&values, &weights);
    windows.iter().zip(fitted).map(|(w, x)| (f64::from(w.concurrency).ln(), x)).collect()
}

/// A line at a given depth, with a window there: for answers where no limit breaks.
pub(crate) fn line_at(session: &mut Session, depth: u32, measure_s: f64) -> Result<Option<LoadLine>, Halt> {
    let room_s = session.left_s() - 0.25;
    if room_s > 0.3 {
        session.closed(depth, measure_s.min(room_s), Phase::Confirm)?;
    }
    let here = |s: &Step| s.concurrency() == Some(depth);
    let mut slices = Vec::new();
    let (mut ios, mut seconds, mut steady_s) = (0.0, 0.0, 0.0);
    for window in session.windows.iter().filter(|w| w.concurrency == depth) {
        slices.extend(window.course.iter().map(|p| p.1));
        ios += window.iops * window.seconds;
        seconds += window.seconds;
        steady_s += if window.phase == Phase::Confirm { window.seconds } else { 0.0 };
    }
    if seconds <= 0.0 || ios <= 0.0 {
        return Ok(None);
    }
    let iops = ios / seconds;
    let interval = series::mean_interval(&slices, 0.95).map(|m| m.interval);
    let [low, high] = interval.unwrap_or([0.0, f64::MAX]);
    let confirmed_us = session
        .classes()
        .into_iter()
        .filter_map(|c| statistic_us(session, c, &session.options.limit, here))
        .fold(None, |worst: Option<f64>, us| Some(worst.map_or(us, |w| w.max(us))));
    let n = f64::from(depth);
    Ok(interval.map(|_| LoadLine {
        iops,
        mib_per_s: iops * mib_per_io(session, depth),
        concurrency: depth,
        limit: session.options.limit,
        ci95: [low.max(0.0).min(iops), high.max(iops)],
        concurrency_ci95: [n, n],
        confirmed_us,
        steady_s,
        wide: high - low > 0.2 * iops,
    }))
}
