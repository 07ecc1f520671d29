//! How many I/Os settle a percentile when they are independent (MLPerf LoadGen's early stopping).
//!
//! With at most `misses` of n over the limit, the share over it is below 1 - percentile with the confidence asked.
//! Storage samples are correlated: treat these counts as floors.

use crate::distribution::beta_i;

/// Smallest n such that `misses` over the limit still show, at `confidence`, that the share over it is at most
/// 1 - `percentile`: P(Binomial(n, 1 - percentile) <= misses) <= 1 - confidence.
pub fn queries_needed(percentile: f64, confidence: f64, misses: u64) -> u64 {
    let missing = 1.0 - percentile;
    // P(Bin(n, q) <= k) = I_{1-q}(n - k, k + 1), falling in n.
    let shown = |n: u64| beta_i((n - misses) as f64, misses as f64 + 1.0, 1.0 - missing) <= 1.0 - confidence;
    let mut high = misses + 1;
    while !shown(high) && high < 1 << 50 {
        high *= 2;
    }
    let mut low = misses;
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if shown(middle) { high = middle } else { low = middle }
    }
    high
}

/// Smallest n for which the sample percentile at `percentile` may be reported with one value discarded above it, that
/// is with `misses = 1`: MLPerf's single-stream floors.
pub fn single_stream_floor(percentile: f64, confidence: f64) -> u64 {
    queries_needed(percentile, confidence, 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_published_numbers_come_out() {
        assert_eq!(queries_needed(0.99, 0.99, 0), 459);
        assert_eq!(single_stream_floor(0.90, 0.99), 64);
        assert_eq!(single_stream_floor(0.99, 0.99), 662);
    }

    #[test]
    fn the_usual_95_percent_counts_come_out() {
        assert_eq!(queries_needed(0.99, 0.95, 0), 299);
        assert_eq!(queries_needed(0.999, 0.95, 0), 2995);
    }

    #[test]
    fn more_misses_need_more_queries() {
        let needed: Vec<u64> = (0..5).map(|k| queries_needed(0.99, 0.99, k)).collect();
        assert!(needed.windows(2).all(|w| w[0] < w[1]), "{needed:?}");
    }
}
