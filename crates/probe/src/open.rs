//! Open loop: does the load line hold when I/Os come whether or not the path keeps up?
//!
//! Arrivals are Poisson at 50, 70 and 85 % of the load line's throughput, latency counts from the intended start, and
//! the number outstanding is capped at four times the load line's concurrency, so that a path that cannot keep up is
//! not buried.

use crate::answer::{LoadLine, OpenPoint, Percentiles};
use crate::options::{OPEN_LOOP_LEAST_S, OPEN_LOOP_SHARES, OpenLoop};
use crate::session::{Halt, SETTLE_LEAST_S, Session};
use record::{DoubtId, IoClass, LatencyHistogram, LatencyLimit, Statistic, Step};

/// A window when nobody asked for open loops: enough for a p99 of a thousand IOPS.
const AUTO_S: f64 = 5.0;
/// A window when they were asked for.
const ON_S: f64 = 10.0;
/// Shortest window of a rate that was asked for.
const ASKED_LEAST_S: f64 = 0.3;
/// Outstanding I/Os at most, in load lines.
const CAP: f64 = 4.0;
/// The cap without a load line.
const CAP_UNKNOWN: u32 = 256;
/// Throughput below this share of the rate asked, beyond Poisson noise, is a lag.
const KEPT: f64 = 0.98;

/// Tries the shares of the load line and the rates asked for, rising, into `points`. Stops at the first share that
/// does not hold.
pub fn open_loop(
    session: &mut Session,
    line: Option<&LoadLine>,
    points: &mut Vec<OpenPoint>,
) -> Result<(), Halt> {
    let cap = line.map_or(CAP_UNKNOWN, |l| (CAP * f64::from(l.concurrency)).ceil() as u32);
    let cap = cap.clamp(1, session.facts.concurrency_max.max(1));
    // Arrivals bunch: where devices refuse commands, more may not stand than they took without.
    let cap = if session.stops.is_empty() { cap } else { cap.min(session.ceiling) };
    let mut rates = wanted(session, line);
    rates.sort_by(|a, b| a.1.total_cmp(&b.1));
    for (i, (share, rate)) in rates.iter().copied().enumerate() {
        let each_s =
            (session.left_s() / (rates.len() - i) as f64 - SETTLE_LEAST_S - 0.1).min(length_s(session));
        // What nobody asked for is left out where time is short; a rate that was asked for is tried, or its absence said.
        let least_s = if share.is_some() { OPEN_LOOP_LEAST_S } else { ASKED_LEAST_S };
        if each_s < least_s {
            return if share.is_some() { Ok(()) } else { Err(Halt::Budget) };
        }
        session.open(rate, cap, each_s)?;
        let step = &session.steps[session.steps.len() - 1];
        let Some(point) = point_of(step, share, rate, cap, &session.classes(), &session.options.limit) else {
            return Ok(());
        };
        let go_on = point.holds != Some(false) || share.is_none();
        points.push(point);
        if !go_on {
            return Ok(());
        }
    }
    Ok(())
}

fn length_s(session: &Session) -> f64 {
    if session.options.open_loop == OpenLoop::On || !session.options.rates_iops.is_empty() {
        ON_S
    } else {
        AUTO_S
    }
}

fn wanted(session: &Session, line: Option<&LoadLine>) -> Vec<(Option<f64>, f64)> {
    if !session.facts.open_loop {
        return Vec::new();
    }
    let mut rates: Vec<(Option<f64>, f64)> = session
        .options
        .rates_iops
        .iter()
        .filter(|r| r.is_finite() && **r > 0.0)
        .map(|r| (None, *r))
        .collect();
    let shares = OPEN_LOOP_SHARES.len() as f64;
    let room = session.left_s() >= shares * (OPEN_LOOP_LEAST_S + SETTLE_LEAST_S + 0.1);
    let wanted = match session.options.open_loop {
        OpenLoop::Auto if !session.stops.is_empty() => false,
        OpenLoop::Off => false,
        OpenLoop::On => true,
        OpenLoop::Auto => room && rates.is_empty(),
    };
    if let (true, Some(line)) = (wanted, line) {
        rates.extend(OPEN_LOOP_SHARES.map(|s| (Some(s), s * line.iops)));
    }
    rates
}

fn point_of(
    step: &Step,
    share: Option<f64>,
    asked_iops: f64,
    cap: u32,
    classes: &[IoClass],
    limit: &LatencyLimit,
) -> Option<OpenPoint> {
    let response = step.response();
    let held = classes.iter().map(|c| step.latency(*c)).filter(|h| !h.is_empty()).all(|h| holds(&h, limit));
    // A late generator makes latencies longer, never shorter: a limit that holds with it holds.
    let late = step.doubts.iter().find(|d| d.id == DoubtId::GeneratorLag).map(|d| d.text.clone());
    let behind = behind(step, asked_iops, cap);
    let holds = match (held && behind.is_none(), behind.is_some(), late.is_some()) {
        (true, _, _) => Some(true),
        (false, false, true) => None,
        (false, _, _) => Some(false),
    };
    Some(OpenPoint {
        share,
        asked_iops,
        iops: step.iops(),
        response_us: Percentiles::of(&response)?,
        outstanding_mean: step.outstanding_mean().unwrap_or(0.0),
        holds,
        lag: behind.or(late),
        seconds: step.measured_s,
    })
}

fn holds(histogram: &LatencyHistogram, limit: &LatencyLimit) -> bool {
    match limit.statistic {
        Statistic::Mean => histogram.mean_ns().is_some_and(|ns| ns <= limit.limit_ns as f64),
        Statistic::Quantile(q) => {
            histogram.count_above_ns(limit.limit_ns) as f64 <= (1.0 - q) * histogram.count() as f64
        }
    }
}

/// The path did not keep up with the rate.
fn behind(step: &Step, asked_iops: f64, cap: u32) -> Option<String> {
    if step.slices.iter().any(|s| s.outstanding_mean >= 0.95 * f64::from(cap)) {
        return Some(format!("the cap of {cap} outstanding I/Os was reached: the path did not keep up"));
    }
    let expected = asked_iops * step.measured_s;
    let short = step.ios() as f64 + 4.0 * expected.sqrt() < KEPT * expected;
    short.then(|| format!("{:.0} of {asked_iops:.0} IOPS asked were done", step.iops()))
}
