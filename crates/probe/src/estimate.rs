//! The concurrency at which the limit is just held, with its interval, from all blocks near it.
//!
//! Latencies of a loaded path grow like N^growth near the load line. So a block measured at N_i says what it would
//! have missed at N: the I/Os above limit x (N_i / N)^growth. N_sla is where these excesses, summed over blocks,
//! vanish:
//!
//! ```text
//! S(N) = sum w_i [ misses_i(limit (N_i / N)^growth) - allowed ios_i ] = 0
//! ```
//!
//! That is an estimating equation for the long-run share of misses, slow epochs of the device included; it needs no
//! distribution, works for the smooth tail of a busy device and for the step of a throttle alike, and since windows
//! lie on both sides of N_sla an error in `growth` cancels to first order. The interval is the set of N with |S|
//! below t standard errors of S, the blocks being the independent units (a score interval: it is lopsided where the
//! data are). A ridge Poisson regression of misses on ln N over all blocks was the rival: it loses its footing on
//! steps, and windows far up, which hold most misses, bend it; here they weigh little. It gives the first guess when
//! no block is near.
//!
//! Throughput at N_sla comes from the same blocks, carried along the local slope of ln X on ln N.

use crate::block::Block;
use record::LatencyLimit;
use stats::{line, student_t_quantile};

/// Bandwidth of the weights in ln N: blocks 35 % away count 0.6, blocks a factor of two away 0.14.
const BANDWIDTH: f64 = 0.35;
/// Blocks further than this in ln N are not asked.
const REACH: f64 = 1.1;
/// Error of the local model and of the 1 % buckets, in ln N.
const MODEL_ERROR: f64 = 0.004;
/// Powers of (blocks / bunches of misses) by which the lower and upper reach of the interval grow.
const SKEW_LOW: f64 = 1.1;
const SKEW_HIGH: f64 = 0.6;
/// What is believed of growth before data: between flat (below the knee) and proportional (beyond it).
const GROWTH_BELIEF: (f64, f64) = (0.8, 0.4);
/// Growth is kept within these: latency does not fall with load, and steeper than cubic is noise.
const GROWTH_RANGE: (f64, f64) = (0.1, 3.0);

/// Where the limit breaks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// ln of N_sla.
    pub x: f64,
    /// 95 % interval of it.
    pub interval: [f64; 2],
    /// Throughput there, reads and writes.
    pub iops: f64,
    /// 95 % interval of it, the doubt in N_sla included.
    pub iops_interval: [f64; 2],
    /// d ln X / d ln N there.
    pub iops_slope: f64,
    /// d ln latency / d ln N there.
    pub growth: f64,
    /// Independent blocks that carry it (Kish's effective number).
    pub blocks: f64,
    /// Blocks lie on both sides of N_sla, near it.
    pub bracketed: bool,
}

impl Estimate {
    /// N_sla.
    pub fn concurrency(&self) -> f64 {
        self.x.exp()
    }

    /// Half the interval in ln N: 0.1 means +-10 %.
    pub fn half_width(&self) -> f64 {
        0.5 * (self.interval[1] - self.interval[0])
    }
}

/// Estimates N_sla from blocks of one class. Absent without I/Os, or when no block reaches within the grid of the
/// limit.
pub fn estimate(blocks: &[Block], limit: &LatencyLimit) -> Option<Estimate> {
    let used: Vec<&Block> = blocks.iter().filter(|b| b.ios > 0.0).collect();
    let mut x = first_guess(&used, limit)?;
    let mut local = Local::around(&used, limit, x)?;
    for _ in 0..4 {
        let next = local.root()?;
        let moved = (next - x).abs();
        x = next;
        local = Local::around(&used, limit, x)?;
        if moved < 0.005 {
            break;
        }
    }
    Some(local.conclude(x))
}

/// Throughput at ln N = `x`, from the blocks near it.
pub fn throughput_at(blocks: &[Block], limit: &LatencyLimit, x: f64) -> Option<f64> {
    let used: Vec<&Block> = blocks.iter().filter(|b| b.ios > 0.0).collect();
    Local::around(&used, limit, x).map(|l| l.throughput(x).0)
}

/// Where the curve of the blocks' own statistic crosses the limit: isotonic per depth, interpolated, or carried on
/// along the believed growth.
fn first_guess(blocks: &[&Block], limit: &LatencyLimit) -> Option<f64> {
    let mut depths: Vec<u32> = blocks.iter().map(|b| b.concurrency).collect();
    depths.sort_unstable();
    depths.dedup();
    let mut points = Vec::with_capacity(depths.len());
    for n in depths {
        let here: Vec<&Block> = blocks.iter().copied().filter(|b| b.concurrency == n).collect();
        let ios: f64 = here.iter().map(|b| b.ios).sum();
        points.push((f64::from(n.max(1)).ln(), pooled_scale(&here, limit), ios));
    }
    let values: Vec<f64> = points.iter().map(|p| p.1).collect();
    let weights: Vec<f64> = points.iter().map(|p| p.2).collect();
    let fitted = stats::isotonic::non_decreasing(&values, &weights);
    let curve: Vec<(f64, f64)> = points.iter().zip(fitted).map(|(p, y)| (p.0, y)).collect();
    let (first, last) = (*curve.first()?, *curve.last()?);
    let growth = GROWTH_BELIEF.0;
    Some(match stats::isotonic::crossing(&curve, 0.0) {
        Some(x) if x > first.0 => x,
        Some(_) => first.0 - first.1 / growth,
        None => last.0 - last.1 / growth,
    })
}

/// ln(statistic / limit) of blocks of one depth pooled.
pub(crate) fn pooled_scale(blocks: &[&Block], limit: &LatencyLimit) -> f64 {
    let excess = |log_scale: f64| blocks.iter().map(|b| b.excess(limit, log_scale)).sum::<f64>();
    let (mut low, mut high) = (-2.0, 2.0);
    for _ in 0..30 {
        let middle = 0.5 * (low + high);
        if excess(middle) > 0.0 { high = middle } else { low = middle }
    }
    // At this scale the limit would just be held, so the statistic is the limit divided by it.
    -0.5 * (low + high)
}

/// Blocks near a guess, with weights and local slopes.
struct Local<'a> {
    limit: &'a LatencyLimit,
    near: Vec<(&'a Block, f64)>,
    /// Where `growth` holds exactly.
    center: f64,
    growth: f64,
}

impl<'a> Local<'a> {
    fn around(blocks: &[&'a Block], limit: &'a LatencyLimit, x: f64) -> Option<Self> {
        let mut near = weighted(blocks, x);
        if near.is_empty() {
            // Nothing near: the closest depth speaks for all.
            let closest = blocks.iter().min_by(|a, b| (a.x - x).abs().total_cmp(&(b.x - x).abs()))?;
            near =
                blocks.iter().filter(|b| b.concurrency == closest.concurrency).map(|b| (*b, 1.0)).collect();
        }
        let growth = growth(&near);
        Some(Self { limit, near, center: x, growth })
    }

    /// Sum of weighted excesses at ln N = `x`, and their standard error with the blocks as units.
    fn score(&self, x: f64) -> (f64, f64) {
        let terms: Vec<f64> = self
            .near
            .iter()
            .map(|(b, w)| w * b.excess(self.limit, log_scale(self.growth, self.center, b.x, x)))
            .collect();
        let sum: f64 = terms.iter().sum();
        let n = terms.len() as f64;
        let weights: f64 = self.near.iter().map(|(b, w)| w * b.ios).sum();
        // Centred by the share each block has of the whole: a ratio estimator's variance.
        let squares: f64 =
            terms.iter().zip(&self.near).map(|(t, (b, w))| (t - sum * w * b.ios / weights).powi(2)).sum();
        let inflation = if stats::series::looks_correlated(&terms) {
            stats::series::variance_inflation(&terms).min(4.0)
        } else {
            1.0
        };
        (sum, (squares * n / (n - 1.0).max(1.0) * inflation).sqrt())
    }

    /// ln N with a score of zero, within the grid's reach of the blocks.
    fn root(&self) -> Option<f64> {
        let span = (1.9 / self.growth).min(REACH);
        let lowest = self.near.iter().map(|(b, _)| b.x).fold(f64::INFINITY, f64::min) - span;
        let highest = self.near.iter().map(|(b, _)| b.x).fold(f64::NEG_INFINITY, f64::max) + span;
        Some(bisect(lowest, highest, |x| self.score(x).0 > 0.0))
    }

    fn conclude(&self, x: f64) -> Estimate {
        let total: f64 = self.near.iter().map(|(_, w)| w).sum();
        let squares: f64 = self.near.iter().map(|(_, w)| w * w).sum();
        let blocks = total * total / squares;
        let bunches = self.bunches(x).min(blocks);
        // Where misses come in a few bunches (a slow epoch of the device holds most of them) the blocks that hold
        // them are what counts: degrees of freedom are the geometric mean of both numbers. And such sums are skewed:
        // a search that happened to meet no bunch knows too little of its scatter, so the interval reaches further,
        // most of all downwards. Both powers are calibrated on the simulated paths of the tests.
        let t = student_t_quantile(0.975, ((blocks * bunches).sqrt() - 1.5).max(1.0));
        let skew = blocks / bunches;
        let beyond = |x: f64| {
            let (sum, se) = self.score(x);
            sum / se.max(1e-9)
        };
        let far = 2.0;
        let mut low = bisect(x - far, x, |y| beyond(y) > -t * skew.powf(SKEW_LOW));
        let mut high = bisect(x, x + far, |y| beyond(y) > t * skew.powf(SKEW_HIGH));
        let arm: f64 = self.near.iter().map(|(b, w)| w * (b.x - x).abs()).sum::<f64>() / total;
        let lean: f64 = self.near.iter().map(|(b, w)| w * (b.x - x)).sum::<f64>().abs() / total;
        // One-sided data rest on the growth believed; two-sided on the curve being straight over `arm`.
        let model = MODEL_ERROR.hypot(0.03 * arm).hypot(0.4 * lean) * 2.0;
        low = x - (x - low).hypot(model);
        high = x + (high - x).hypot(model);
        let reach = 0.5f64;
        let bracketed = self.near.iter().any(|(b, _)| b.x <= x && b.x > x - reach)
            && self.near.iter().any(|(b, _)| b.x >= x && b.x < x + reach);
        let (iops, iops_se, iops_slope) = self.throughput(x);
        let n_se = (high - low) / (2.0 * t);
        let half = student_t_quantile(0.975, (blocks - 1.5).max(1.0)) * iops_se.hypot(iops_slope * n_se);
        Estimate {
            x,
            interval: [low, high],
            iops,
            iops_interval: [iops * (-half).exp(), iops * half.exp()],
            iops_slope,
            growth: self.growth,
            blocks,
            bracketed,
        }
    }

    /// How many blocks the misses at ln N = `x` are spread over (inverse Simpson index).
    fn bunches(&self, x: f64) -> f64 {
        let hits: Vec<f64> = self
            .near
            .iter()
            .map(|(b, w)| match self.limit.allowed_misses() {
                Some(_) => w * b.above(-log_scale(self.growth, self.center, b.x, x)),
                None => w * b.ios,
            })
            .collect();
        let sum: f64 = hits.iter().sum();
        let squares: f64 = hits.iter().map(|h| h * h).sum();
        if squares > 0.0 { (sum * sum / squares).max(1.0) } else { 1.0 }
    }

    /// (X, standard error of ln X, d ln X / d ln N) at ln N = `x`. The mean is arithmetic: the long-run throughput is
    /// I/Os over time.
    fn throughput(&self, x: f64) -> (f64, f64, f64) {
        let points: Vec<_> =
            self.near.iter().filter(|(b, _)| b.iops > 0.0).map(|(b, w)| (b.x, b.iops.ln(), *w)).collect();
        let fitted = line::fit(&points, Some((0.3, 5.0)));
        let slope = fitted.map_or(0.0, |l| l.slope.clamp(-1.0, 1.0));
        let tilt =
            fitted.map_or(0.0, |l| if l.slope_se.is_finite() { l.slope_se * (x - l.center) } else { 0.0 });
        let total: f64 = self.near.iter().map(|(_, w)| w).sum();
        let carry = |b: &Block| (x - b.x) - log_scale(1.0 - slope, x, b.x, x);
        let carried: Vec<f64> = self.near.iter().map(|(b, _)| b.iops * carry(b).exp()).collect();
        let mean = carried.iter().zip(&self.near).map(|(v, (_, w))| v * w).sum::<f64>() / total;
        let n = total * total / self.near.iter().map(|(_, w)| w * w).sum::<f64>();
        let squares: f64 =
            carried.iter().zip(&self.near).map(|(v, (_, w))| (w / total * (v / mean - 1.0)).powi(2)).sum();
        (mean, (squares * n / (n - 1.0).max(1.0)).sqrt().hypot(tilt).max(0.002), slope)
    }
}

/// ln of how many times as long latencies are at ln N = `to` than at `from`, when they grow like N^`growth` at
/// `center`. In a closed system response is an affine function of N on both sides of the knee (R = N / X_max beyond
/// it), so an affine curve through the center is followed; growth above 1 is followed as a power.
fn log_scale(growth: f64, center: f64, from: f64, to: f64) -> f64 {
    if growth > 1.0 {
        return growth * (to - from);
    }
    let affine = |x: f64| (1.0 + growth * ((x - center).exp() - 1.0)).max(1e-3).ln();
    affine(to) - affine(from)
}

fn weighted<'a>(blocks: &[&'a Block], x: f64) -> Vec<(&'a Block, f64)> {
    blocks
        .iter()
        .filter(|b| (b.x - x).abs() < REACH)
        .map(|b| {
            (
                *b,
                (-0.5 * ((b.x - x) / BANDWIDTH).powi(2)).exp() * (b.seconds / crate::block::BLOCK_S).min(1.0),
            )
        })
        .collect()
}

/// Local growth of the limit's statistic with N, drawn to what is believed beforehand.
fn growth(near: &[(&Block, f64)]) -> f64 {
    let points: Vec<_> =
        near.iter().filter_map(|(b, w)| Some((b.x, b.quantile.filter(|q| *q > 0.0)?.ln(), *w))).collect();
    let fitted = line::fit(&points, Some((GROWTH_BELIEF.0, 4.0)));
    fitted.map_or(GROWTH_BELIEF.0, |l| l.slope).clamp(GROWTH_RANGE.0, GROWTH_RANGE.1)
}

/// The point between `low` and `high` where `above` turns true.
fn bisect(mut low: f64, mut high: f64, above: impl Fn(f64) -> bool) -> f64 {
    for _ in 0..40 {
        let middle = 0.5 * (low + high);
        if above(middle) {
            high = middle
        } else {
            low = middle
        }
        if high - low < 1e-5 {
            break;
        }
    }
    0.5 * (low + high)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block::blocks;
    use crate::simulated::{Bucket, Model, Simulated};
    use record::{Demand, IoClass, Load, Phase, Subject};

    fn estimated(model: &Model, limit: &str, depths: &[u32]) -> Option<Estimate> {
        let limit: LatencyLimit = limit.parse().unwrap();
        let mut subject = Simulated::new(model.clone(), 3);
        let mut seen = Vec::new();
        for &concurrency in depths {
            let load = Load { demand: Demand::Closed { concurrency }, measure_s: 0.5, phase: Phase::Refine };
            let step = subject.measure(&load, &mut ()).unwrap();
            seen.extend(blocks(&step, IoClass::Read, &limit, 0.0));
        }
        estimate(&seen, &limit)
    }

    #[test]
    fn windows_on_both_sides_locate_the_line_of_theory() {
        let depths = [71, 84, 99, 84, 71, 99, 84, 99, 71];
        let found = estimated(&Model::station(24, 0.007), "p99<50ms", &depths).unwrap();
        assert!((found.concurrency() / 83.6).ln().abs() < 0.06 && found.bracketed);
        assert!((found.iops / 3428.6 - 1.0).abs() < 0.03 && found.half_width() < 0.1);
    }

    #[test]
    fn windows_on_one_side_know_less() {
        let model = Model::station(24, 0.007);
        let around = estimated(&model, "p99<50ms", &[71, 84, 99, 71, 84, 99]).unwrap();
        let below = estimated(&model, "p99<50ms", &[44, 50, 56, 44, 50, 56]).unwrap();
        assert!(!below.bracketed && below.half_width() > 1.5 * around.half_width());
        assert!((below.concurrency() / 83.6).ln().abs() < 0.4);
    }

    #[test]
    fn a_throttle_is_a_step_and_is_located_all_the_same() {
        let bucket = Bucket { rate_iops: 3000.0, credit: 1.0 };
        let model = Model { bucket: Some(bucket), ..Model::station(64, 0.0001) };
        // R = (N - 1) / 3000 s and a tail of 0.46 ms at its 99th percentile: 25 ms at N = 74.
        let found = estimated(&model, "p99<25ms", &[32, 64, 128, 60, 90]).unwrap();
        assert!((found.concurrency() / 74.0).ln().abs() < 0.02, "{}", found.concurrency());
    }

    #[test]
    fn an_affine_curve_is_carried_exactly_and_a_steep_one_as_a_power() {
        let (growth, center) = (0.4, 3.0f64);
        let affine = |x: f64| (0.6 + 0.4 * (x - center).exp()).ln();
        assert!((log_scale(growth, center, 2.5, 3.6) - (affine(3.6) - affine(2.5))).abs() < 1e-12);
        assert!((log_scale(2.0, center, 2.5, 3.0) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn nothing_measured_is_no_estimate() {
        assert!(estimated(&Model::station(4, 0.001), "p99<5ms", &[]).is_none());
        assert!(estimated(&Model::station(4, 0.001), "write.p99<5ms", &[]).is_none());
    }
}
