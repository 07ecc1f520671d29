//! About half a second of one window, judged against the limit: the observations all estimates are made of.
//!
//! Half a second, because the noise of a device has a correlation time of its own (hundreds of ms); neighbouring
//! slices repeat each other, neighbouring blocks hardly do. Each block keeps how many I/Os lie above a grid of
//! latencies around the limit, so that an estimate can ask what the block would have missed at another concurrency
//! without going back to histograms.

use record::{IoClass, LatencyLimit, Slice, Statistic, Step};

/// Nominal length of a block.
pub const BLOCK_S: f64 = 0.5;
/// No slice is an hour long; one that says so is not believed.
const SLICE_MAX_S: f64 = 3600.0;
/// The grid of latencies reaches this factor below and above the limit. Windows used for an estimate lie within a
/// factor of about 2.5 in concurrency, and latency grows no faster than concurrency to the power of 2 there.
const REACH: f64 = 8.0;
/// Steps of the grid per e-fold: 1 % apart, the resolution of the histograms.
const STEPS_PER_E: f64 = 100.0;

/// One class of I/O in one block.
#[derive(Clone, Debug)]
pub struct Block {
    /// I/Os kept outstanding.
    pub concurrency: u32,
    /// ln of it.
    pub x: f64,
    /// Middle of the block, seconds of load since the search began.
    pub at_s: f64,
    /// Measured seconds.
    pub seconds: f64,
    /// I/Os of the class.
    pub ios: f64,
    /// Reads and writes per second, all classes.
    pub iops: f64,
    /// Sum of latencies of the class, in units of the limit.
    pub sum: f64,
    /// I/Os above the limit.
    pub misses: f64,
    /// The quantile of the limit within the block, in units of the limit.
    pub quantile: Option<f64>,
    /// `above[i]`: I/Os above limit x exp((i - middle) / STEPS_PER_E).
    above: Vec<f32>,
}

impl Block {
    /// I/Os that took longer than `ratio` times the limit, interpolated on the grid.
    pub fn above(&self, log_ratio: f64) -> f64 {
        let last = self.above.len() - 1;
        let place = (log_ratio * STEPS_PER_E + 0.5 * last as f64).clamp(0.0, last as f64);
        let low = place.floor() as usize;
        let high = (low + 1).min(last);
        let share = place - low as f64;
        f64::from(self.above[low]) * (1.0 - share) + f64::from(self.above[high]) * share
    }

    /// Excess over the limit had the block's latencies been exp(`log_scale`) times as long: misses minus allowed
    /// misses for a quantile, sum of latencies minus limit times count for a mean (in limits). Zero in expectation at
    /// the load line.
    pub fn excess(&self, limit: &LatencyLimit, log_scale: f64) -> f64 {
        match limit.allowed_misses() {
            Some(allowed) => self.above(-log_scale) - allowed * self.ios,
            None => self.sum * log_scale.exp() - self.ios,
        }
    }
}

/// Cuts a step into blocks of one class, in time order. `load_s` is the load spent before the step. Slices of no
/// length are left out; an open loop has no blocks.
pub fn blocks(step: &Step, class: IoClass, limit: &LatencyLimit, load_s: f64) -> Vec<Block> {
    let Some(concurrency) = step.concurrency() else { return Vec::new() };
    let usable: Vec<&Slice> =
        step.slices.iter().filter(|s| (1e-3..SLICE_MAX_S).contains(&s.length_s)).collect();
    let total_s: f64 = usable.iter().map(|s| s.length_s).sum();
    if total_s <= 0.0 {
        return Vec::new();
    }
    let count = (total_s / BLOCK_S).round().clamp(1.0, usable.len() as f64);
    let each_s = total_s / count;
    let mut found = Vec::new();
    let (mut begin, mut gone_s) = (0, 0.0);
    for block in 0..count as usize {
        let until_s = (block + 1) as f64 * each_s - 1e-6;
        let mut end = begin;
        let from_s = gone_s;
        while end < usable.len() && (gone_s < until_s || block + 1 == count as usize) {
            gone_s += usable[end].length_s;
            end += 1;
        }
        if end > begin {
            let at_s = load_s + step.settle_s.max(0.0) + 0.5 * (from_s + gone_s);
            // An I/O that was passed over counts once, where it would have been counted: at the end.
            let unserved = if block + 1 == count as usize && class == step.starved_class() {
                step.unserved()
            } else {
                0
            };
            found.push(block_of(&usable[begin..end], (class, unserved), limit, concurrency, at_s));
        }
        begin = end;
    }
    found
}

/// `unserved` I/Os of the class did not complete; each is taken to have waited for the block's length.
fn block_of(
    slices: &[&Slice],
    (class, unserved): (IoClass, u64),
    limit: &LatencyLimit,
    concurrency: u32,
    at_s: f64,
) -> Block {
    let half = (REACH.ln() * STEPS_PER_E).ceil() as usize;
    // counts[i + 1]: latencies in the i-th step of the grid; counts[0]: below it; the last: above it.
    let mut counts = vec![0u64; 2 * half + 2];
    let limit_ns = limit.limit_ns as f64;
    let (mut ios, mut sum_ns, mut total, mut misses) = (0u64, 0.0, 0u64, 0u64);
    let mut seconds = 0.0;
    let mut merged = record::LatencyHistogram::new();
    for slice in slices {
        seconds += slice.length_s;
        total += slice.ios();
        let Some(latency) = &slice.class(class).latency else { continue };
        ios += latency.count();
        sum_ns += latency.sum_ns() as f64;
        misses += latency.count_above_ns(limit.limit_ns);
        merged.merge(latency);
    }
    if unserved > 0 {
        let waited_ns = (seconds * 1e9) as u64;
        merged.record_many_ns(waited_ns, unserved);
        ios += unserved;
        sum_ns += waited_ns as f64 * unserved as f64;
        misses += if waited_ns > limit.limit_ns { unserved } else { 0 };
    }
    let mut seen = 0u64;
    let mut quantile = None;
    let wanted = match limit.statistic {
        Statistic::Quantile(q) => (q * ios as f64).ceil().max(1.0) as u64,
        Statistic::Mean => u64::MAX,
    };
    for (latency_ns, count) in merged.buckets() {
        let place = ((bucket_middle_ns(latency_ns) / limit_ns).ln() * STEPS_PER_E).ceil() + half as f64;
        counts[place.clamp(0.0, (2 * half + 1) as f64) as usize] += count;
        seen += count;
        if quantile.is_none() && seen >= wanted {
            quantile = Some(bucket_middle_ns(latency_ns) / limit_ns);
        }
    }
    if limit.statistic == Statistic::Mean && ios > 0 {
        quantile = Some(sum_ns / ios as f64 / limit_ns);
    }
    let mut above = vec![0f32; 2 * half + 1];
    let mut left = ios;
    for (i, slot) in above.iter_mut().enumerate() {
        left = left.saturating_sub(counts[i]);
        *slot = left as f32;
    }
    Block {
        concurrency,
        x: f64::from(concurrency.max(1)).ln(),
        at_s,
        seconds,
        ios: ios as f64,
        iops: total as f64 / seconds,
        sum: sum_ns / limit_ns,
        misses: misses as f64,
        quantile,
        above,
    }
}

/// Middle of the histogram bucket whose largest value is `largest_ns`: with two significant digits HdrHistogram
/// splits each power of two into 128 buckets. The largest value would overstate latency by 0.3 % on average, which is
/// 0.6 % in concurrency where latency grows with its root.
fn bucket_middle_ns(largest_ns: u64) -> f64 {
    let width = (1u64 << largest_ns.max(1).ilog2()) as f64 / 128.0;
    largest_ns as f64 - 0.5 * (width - 1.0).max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulated::{Model, Simulated};
    use record::{Demand, Load, Phase, Subject};

    fn measured(limit: &str) -> (Vec<Block>, Step, LatencyLimit) {
        let limit: LatencyLimit = limit.parse().unwrap();
        let demand = Demand::Closed { concurrency: 60 };
        let load = Load { demand, measure_s: 1.6, phase: Phase::Refine };
        let step = Simulated::new(Model::station(24, 0.007), 1).measure(&load, &mut ()).unwrap();
        (blocks(&step, IoClass::Read, &limit, 10.0), step, limit)
    }

    #[test]
    fn blocks_lose_no_io_and_follow_each_other_half_a_second_apart() {
        let (found, step, _) = measured("p99<30ms");
        assert_eq!(found.len(), 3);
        assert_eq!(found.iter().map(|b| b.ios).sum::<f64>(), step.ios() as f64);
        assert!((found.iter().map(|b| b.seconds).sum::<f64>() - 1.6).abs() < 1e-9);
        assert!(
            found.windows(2).all(|w| (0.4..0.7).contains(&(w[1].at_s - w[0].at_s))) && found[0].at_s > 10.2
        );
    }

    #[test]
    fn the_grid_agrees_with_the_histogram_to_its_resolution() {
        let (found, step, _) = measured("p99<20ms");
        let latency = step.latency(IoClass::Read);
        for ratio in [0.3f64, 0.7, 1.0, 1.5, 3.0] {
            let grid: f64 = found.iter().map(|b| b.above(ratio.ln())).sum();
            let low = latency.count_above_ns((20e6 * ratio * 1.01) as u64) as f64;
            let high = latency.count_above_ns((20e6 * ratio * 0.985) as u64) as f64;
            assert!(low - 1.0 <= grid && grid <= high + 1.0, "{ratio}: {low} {grid} {high}");
        }
    }

    #[test]
    fn excess_vanishes_at_the_scale_that_brings_the_statistic_to_the_limit() {
        let (found, step, limit) = measured("mean<20ms");
        let mean_ns = step.latency(IoClass::Read).mean_ns().unwrap();
        let scale = (20e6 / mean_ns).ln();
        let excess: f64 = found.iter().map(|b| b.excess(&limit, scale)).sum();
        assert!(excess.abs() < 1e-6 * step.ios() as f64);
    }

    #[test]
    fn a_slice_that_claims_an_age_is_not_believed() {
        let (_, mut step, limit) = measured("p99<30ms");
        for (slice, length_s) in step.slices.iter_mut().zip([1e9, f64::NAN, f64::INFINITY, -1.0]) {
            slice.length_s = length_s;
        }
        let found = blocks(&step, IoClass::Read, &limit, 0.0);
        assert_eq!(found.len(), 2);
        assert!(found.iter().all(|b| b.iops.is_finite()));
    }
}
