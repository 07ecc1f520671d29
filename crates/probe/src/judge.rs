//! Does one depth hold the limit? What its own windows say, without any model.

use crate::block::Block;
use crate::session::Session;
use record::LatencyLimit;
use stats::{order, student_t_quantile};

/// What the windows of one depth say of the limit, for the class that breaks it most.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Verdict {
    /// Misses over allowed misses, or mean over limit: above 1 the limit is broken.
    pub ratio: f64,
    /// I/Os over the limit.
    pub misses: f64,
    /// I/Os.
    pub ios: f64,
    /// Some(true): held beyond doubt (one-sided 95 %); Some(false): broken beyond doubt.
    pub clear: Option<bool>,
}

/// How much misses are taken to bunch before blocks can tell.
const INFLATION_UNKNOWN: f64 = 3.0;

/// Judges blocks of one class and depth; absent without I/Os.
pub fn judge(blocks: &[&Block], limit: &LatencyLimit) -> Option<Verdict> {
    let ios: f64 = blocks.iter().map(|b| b.ios).sum();
    if ios <= 0.0 {
        return None;
    }
    let misses: f64 = blocks.iter().map(|b| b.misses).sum();
    let sum: f64 = blocks.iter().map(|b| b.sum).sum();
    let ratio = match limit.allowed_misses() {
        Some(allowed) => misses / ios / allowed,
        None => sum / ios,
    };
    Some(Verdict { ratio, misses, ios, clear: clear(blocks, limit, misses, ios) })
}

fn clear(blocks: &[&Block], limit: &LatencyLimit, misses: f64, ios: f64) -> Option<bool> {
    let by_blocks = blocks_t(blocks, limit);
    let Some(allowed) = limit.allowed_misses() else { return by_blocks };
    let [low, high] = order::rate_interval(misses, ios, 0.90, INFLATION_UNKNOWN);
    let by_count = if low > allowed {
        Some(false)
    } else if high < allowed {
        Some(true)
    } else {
        None
    };
    // Both must agree once blocks can tell: counts alone believe a bunch, blocks alone believe a run of luck.
    if blocks.len() < 4 || by_blocks == by_count { by_count } else { None }
}

/// One-sided t test of the mean excess over blocks.
fn blocks_t(blocks: &[&Block], limit: &LatencyLimit) -> Option<bool> {
    let n = blocks.len() as f64;
    if n < 3.0 {
        return None;
    }
    let excess: Vec<f64> = blocks.iter().map(|b| b.excess(limit, 0.0)).collect();
    let mean = stats::series::mean(&excess)?;
    let se = (stats::series::variance(&excess)? / n).sqrt();
    let t = student_t_quantile(0.95, n - 1.0);
    (mean.abs() > t * se).then_some(mean <= 0.0)
}

impl Session<'_> {
    /// The verdict on a depth from all its windows, or from those since `since_s` seconds of load; the class that
    /// breaks most speaks.
    pub fn verdict(&self, concurrency: u32, since_s: f64) -> Option<Verdict> {
        self.classes()
            .into_iter()
            .filter_map(|class| {
                let here: Vec<&Block> = self
                    .class_blocks(class)
                    .iter()
                    .filter(|b| b.concurrency == concurrency && b.at_s >= since_s)
                    .collect();
                judge(&here, &self.options.limit)
            })
            .max_by(|a, b| a.ratio.total_cmp(&b.ratio))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block::blocks;
    use crate::simulated::{Model, Simulated};
    use record::{Demand, IoClass, Load, Phase, Subject};

    fn judged(concurrency: u32, measure_s: f64) -> Verdict {
        let limit: LatencyLimit = "p99<50ms".parse().unwrap();
        let load = Load { demand: Demand::Closed { concurrency }, measure_s, phase: Phase::Refine };
        let step = Simulated::new(Model::station(24, 0.007), 1).measure(&load, &mut ()).unwrap();
        let found = blocks(&step, IoClass::Read, &limit, 0.0);
        judge(&found.iter().collect::<Vec<_>>(), &limit).unwrap()
    }

    #[test]
    fn depths_far_from_the_line_are_clear_and_the_line_itself_is_not() {
        assert_eq!(judged(60, 3.0).clear, Some(true));
        assert_eq!(judged(110, 3.0).clear, Some(false));
        let at_the_line = judged(84, 1.0);
        assert!(at_the_line.clear.is_none() && (0.3..3.0).contains(&at_the_line.ratio));
    }

    #[test]
    fn nothing_measured_is_no_verdict() {
        assert_eq!(judge(&[], &LatencyLimit::default()), None);
    }
}
