//! Percentiles and rates with their doubt, without assuming a distribution.

use crate::distribution::{beta_i, normal_quantile};

/// Ranks (1-based, of `n` sorted values) whose values enclose the `p` quantile at `level`: n p -/+ z sqrt(n p (1-p)
/// VIF) (binomial view of order statistics, Hahn & Meeker 1991, with the variance inflation of correlated samples).
/// Absent when a rank falls outside the sample: then the sample is too small for this quantile.
pub fn quantile_ranks(n: u64, p: f64, level: f64, variance_inflation: f64) -> Option<(u64, u64)> {
    let count = n as f64;
    let z = normal_quantile(0.5 + level / 2.0);
    let half = z * (count * p * (1.0 - p) * variance_inflation.max(1.0)).sqrt();
    let low = (count * p - half).floor();
    let high = (count * p + half).ceil() + 1.0;
    (low >= 1.0 && high <= count).then_some((low as u64, high as u64))
}

/// Interval of the `p` quantile of `values`; absent when the sample is too small for it.
pub fn quantile_interval(values: &[f64], p: f64, level: f64, variance_inflation: f64) -> Option<[f64; 2]> {
    let (low, high) = quantile_ranks(values.len() as u64, p, level, variance_inflation)?;
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    Some([sorted[low as usize - 1], sorted[high as usize - 1]])
}

/// Two-sided interval of a rate from `misses` in `n` (Clopper & Pearson 1934). Correlated samples count for
/// `n / variance_inflation`.
pub fn rate_interval(misses: f64, n: f64, level: f64, variance_inflation: f64) -> [f64; 2] {
    let inflation = variance_inflation.max(1.0);
    let (k, n) = (misses / inflation, n / inflation);
    if n.is_nan() || n <= 0.0 {
        return [0.0, 1.0];
    }
    let alpha = (1.0 - level) / 2.0;
    let low = if k <= 0.0 { 0.0 } else { bisect(|p| beta_i(k, n - k + 1.0, p) < alpha) };
    let high = if k >= n { 1.0 } else { bisect(|p| beta_i(k + 1.0, n - k, p) < 1.0 - alpha) };
    [low, high]
}

/// The largest p in 0..1 with `below(p)`.
fn bisect(below: impl Fn(f64) -> bool) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if below(middle) { low = middle } else { high = middle }
    }
    0.5 * (low + high)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    #[test]
    fn the_interval_of_a_p99_covers_it_95_times_in_100() {
        let mut random = Random::new(3);
        let truth = 100f64.ln();
        let runs = 600;
        let hits = (0..runs)
            .filter(|_| {
                let values: Vec<f64> = (0..2000).map(|_| random.exponential()).collect();
                let [low, high] = quantile_interval(&values, 0.99, 0.95, 1.0).unwrap();
                low <= truth && truth <= high
            })
            .count();
        let c = hits as f64 / f64::from(runs);
        assert!((0.925..=0.985).contains(&c), "{c}");
    }

    #[test]
    fn a_p999_does_not_exist_below_thousands_of_samples() {
        assert!(quantile_ranks(3000, 0.999, 0.95, 1.0).is_none());
        assert!(quantile_ranks(6000, 0.999, 0.95, 1.0).is_some());
        assert!(quantile_ranks(6000, 0.999, 0.95, 4.0).is_none());
    }

    #[test]
    fn exact_rates_match_the_tables() {
        let [low, high] = rate_interval(0.0, 100.0, 0.95, 1.0);
        assert!(low == 0.0 && (high - 0.036_217).abs() < 1e-5, "{high}");
        let [low, high] = rate_interval(10.0, 100.0, 0.95, 1.0);
        assert!((low - 0.049_005).abs() < 1e-5 && (high - 0.176_223).abs() < 1e-5, "{low} {high}");
    }
}
