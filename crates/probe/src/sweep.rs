//! Listed depths, or 1, 2, 4 ...: measured in passes, the load line read where the pooled shares of misses cross what
//! is allowed.

use crate::answer::{LoadLine, Outcome};
use crate::block::Block;
use crate::confirm::{mib_per_io, statistic_us};
use crate::search::Finding;
use crate::session::{Halt, SETTLE_LEAST_S, Session};
use record::{Doubt, DoubtId, LatencyLimit, Phase, Weight};
use stats::{bootstrap, isotonic, series};

/// A window of a sweep is no longer than this.
const WINDOW_MAX_S: f64 = 5.0;
/// Windows shorter than this are not worth a second pass.
const WINDOW_LEAST_S: f64 = 0.5;
/// Share of the budget for the sweep; the rest pays for settling that takes longer than the least.
const SHARE: f64 = 0.9;
/// The same where rates were asked for: they are the question, and the depths only say what the unloaded path does.
const SHARE_BESIDE_RATES: f64 = 0.2;
/// The first pass ascends, so that the guard can stop it; the later ones are shuffled, so that drift does not look
/// like depth.
const PASSES_MAX: usize = 3;
const REPLICATES: usize = 400;

/// Sweeps.
pub(crate) fn sweep(session: &mut Session) -> Result<Finding, Halt> {
    let depths = listed(session);
    let (passes, window_s) = plan(session, depths.len());
    let mut cut = None;
    for pass in 0..passes {
        let mut order: Vec<u32> = depths.iter().copied().filter(|d| *d <= session.ceiling).collect();
        if pass > 0 {
            session.random.shuffle(&mut order);
        }
        if let Err(halt) = one_pass(session, &order, window_s) {
            cut = Some(halt);
            break;
        }
    }
    match cut {
        Some(halt) if session.windows.is_empty() => return Err(halt),
        Some(halt @ (Halt::Failed(_) | Halt::Interrupted | Halt::Refused(_) | Halt::PathsChanged(_))) => {
            return Err(halt);
        }
        Some(Halt::Budget | Halt::Trouble(_)) | None => {}
    }
    let doubts = left_out(session, &depths).into_iter().collect();
    Ok(Finding { load_line: line(session), doubts, ..Finding::of(Outcome::Swept) })
}

/// Listed depths that were not measured, because devices answered with trouble there or below.
fn left_out(session: &Session, depths: &[u32]) -> Option<Doubt> {
    let stop = session.stops.first()?;
    let out: Vec<String> = depths.iter().filter(|d| **d > session.ceiling).map(u32::to_string).collect();
    let text = format!("depths {} are left out: the guard stopped the load, {}", out.join(", "), stop.why);
    (!out.is_empty()).then_some(Doubt { id: DoubtId::CutShort, weight: Weight::Caution, text })
}

fn one_pass(session: &mut Session, order: &[u32], window_s: f64) -> Result<(), Halt> {
    for &depth in order.iter() {
        if depth > session.ceiling {
            continue;
        }
        let window = session.closed(depth, window_s, Phase::Sweep)?;
        if window.guarded && !window.troubled {
            session.ceiling = session.ceiling.min(depth.max(2) - 1);
        }
    }
    Ok(())
}

fn listed(session: &Session) -> Vec<u32> {
    let mut depths = session.options.depths.clone();
    if session.options.sweep {
        depths.extend((0..32).map(|i| 1u32 << i).filter(|d| *d <= session.ceiling));
        depths.push(session.ceiling);
    }
    depths.retain(|d| *d >= 1 && *d <= session.ceiling);
    depths.sort_unstable();
    depths.dedup();
    depths
}

/// (passes, seconds of a window): two or three passes when each window stays worth it.
fn plan(session: &Session, depths: usize) -> (usize, f64) {
    let share = if session.options.rates_iops.is_empty() { SHARE } else { SHARE_BESIDE_RATES };
    let each_s =
        |passes: usize| share * session.options.budget_s / (passes * depths.max(1)) as f64 - SETTLE_LEAST_S;
    let passes = (2..=PASSES_MAX).rev().find(|p| each_s(*p) >= WINDOW_LEAST_S).unwrap_or(1);
    (passes, each_s(passes).clamp(0.1, WINDOW_MAX_S))
}

/// The load line from the listed depths; absent when the first is broken, none is, or nothing was seen.
fn line(session: &Session) -> Option<LoadLine> {
    let limit = session.options.limit;
    let (class, x) = session
        .classes()
        .into_iter()
        .filter_map(|c| Some((c, crossing(&grouped(session.class_blocks(c)), &limit, None)?)))
        .min_by(|a, b| a.1.total_cmp(&b.1))?;
    let groups = grouped(session.class_blocks(class));
    let replicates = resampled(&groups, &limit, session.options.seed);
    let n_ci = bootstrap::interval(replicates.iter().map(|r| r.0).collect(), 0.95)?;
    let x_ci = bootstrap::interval(replicates.iter().map(|r| r.1).collect(), 0.95)?;
    let iops = throughput(&groups, x, None);
    let depth = x.exp().floor().max(1.0) as u32;
    // Between two listed depths nothing was measured: the crossing may lie anywhere there.
    let (left, right) = neighbours(&groups, x);
    let interval = [n_ci[0].min(x).max(left), n_ci[1].max(x).min(right)];
    let seconds = groups.iter().flatten().filter(|b| b.x <= x).map(|b| b.seconds).fold(0.0, f64::max);
    Some(LoadLine {
        iops,
        mib_per_s: iops * mib_per_io(session, depth),
        concurrency: depth,
        limit,
        ci95: [x_ci[0].min(iops), x_ci[1].max(iops)],
        concurrency_ci95: interval.map(f64::exp),
        confirmed_us: statistic_us(session, class, &limit, |s| s.concurrency() == Some(depth)),
        steady_s: seconds,
        wide: interval[1] - interval[0] > 0.2,
    })
}

fn grouped(blocks: &[Block]) -> Vec<Vec<&Block>> {
    let mut depths: Vec<u32> = blocks.iter().map(|b| b.concurrency).collect();
    depths.sort_unstable();
    depths.dedup();
    depths
        .into_iter()
        .map(|d| blocks.iter().filter(|b| b.concurrency == d && b.ios > 0.0).collect())
        .collect()
}

fn picked<'a>(group: &'a [&'a Block], pick: Option<&'a [usize]>) -> impl Iterator<Item = &'a Block> + 'a {
    (0..group.len()).map(move |i| group[pick.map_or(i, |p| p[i])])
}

/// ln N where the isotonic curve of ln(statistic / limit) crosses 0; absent when the first depth is above or none is.
fn crossing(groups: &[Vec<&Block>], limit: &LatencyLimit, picks: Option<&[Vec<usize>]>) -> Option<f64> {
    let mut points = Vec::new();
    for (g, group) in groups.iter().enumerate().filter(|(_, g)| !g.is_empty()) {
        let blocks: Vec<&Block> = picked(group, picks.map(|p| p[g].as_slice())).collect();
        let ios: f64 = blocks.iter().map(|b| b.ios).sum();
        points.push((group[0].x, crate::estimate::pooled_scale(&blocks, limit), ios));
    }
    let values: Vec<f64> = points.iter().map(|p| p.1).collect();
    let weights: Vec<f64> = points.iter().map(|p| p.2).collect();
    let fitted = isotonic::non_decreasing(&values, &weights);
    let curve: Vec<(f64, f64)> = points.iter().zip(fitted).map(|(p, y)| (p.0, y)).collect();
    isotonic::crossing(&curve, 0.0).filter(|x| *x > curve[0].0 || curve[0].1 == 0.0)
}

/// Throughput at ln N = `x`, interpolated between the depths on both sides.
fn throughput(groups: &[Vec<&Block>], x: f64, picks: Option<&[Vec<usize>]>) -> f64 {
    let mut points: Vec<(f64, f64)> = Vec::new();
    for (g, group) in groups.iter().enumerate().filter(|(_, g)| !g.is_empty()) {
        let values: Vec<f64> = picked(group, picks.map(|p| p[g].as_slice())).map(|b| b.iops).collect();
        points.push((group[0].x, series::mean(&values).unwrap_or(0.0)));
    }
    let above = points.iter().position(|p| p.0 >= x).unwrap_or(points.len().saturating_sub(1));
    let Some(&(x1, y1)) = points.get(above) else { return 0.0 };
    if above == 0 || x1 <= x {
        return y1;
    }
    let (x0, y0) = points[above - 1];
    y0 + (y1 - y0) * (x - x0) / (x1 - x0)
}

fn neighbours(groups: &[Vec<&Block>], x: f64) -> (f64, f64) {
    let xs = || groups.iter().filter(|g| !g.is_empty()).map(|g| g[0].x);
    let left = xs().filter(|v| *v < x).fold(f64::NEG_INFINITY, f64::max);
    let right = xs().filter(|v| *v >= x).fold(f64::INFINITY, f64::min);
    // The bootstrap may reach one listed depth further on each side.
    let further_left = xs().filter(|v| *v < left).fold(f64::NEG_INFINITY, f64::max);
    let further_right = xs().filter(|v| *v > right).fold(f64::INFINITY, f64::min);
    (
        if further_left.is_finite() { further_left } else { left },
        if further_right.is_finite() { further_right } else { right },
    )
}

/// (ln N, X) of bootstrap replicates: blocks of each depth drawn anew.
fn resampled(groups: &[Vec<&Block>], limit: &LatencyLimit, seed: u64) -> Vec<(f64, f64)> {
    let mut random = stats::Random::new(seed);
    let mut found = Vec::new();
    for _ in 0..REPLICATES {
        let picks: Vec<Vec<usize>> =
            groups.iter().map(|g| (0..g.len()).map(|_| random.below(g.len())).collect()).collect();
        if let Some(x) = crossing(groups, limit, Some(&picks)) {
            found.push((x, throughput(groups, x, Some(&picks))));
        }
    }
    found
}
