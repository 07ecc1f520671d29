//! The stationary bootstrap (Politis & Romano 1994): intervals for any statistic of a correlated series.

use crate::random::Random;

/// `replicates` values of `statistic`, each over indices 0..`n` resampled in blocks of geometric length (mean
/// `mean_block`) that wrap around. Deterministic for a seed. Replicates whose statistic is not finite are left out.
pub fn stationary(
    n: usize,
    mean_block: f64,
    replicates: usize,
    seed: u64,
    mut statistic: impl FnMut(&[usize]) -> f64,
) -> Vec<f64> {
    let mut random = Random::new(seed);
    let mut indices = vec![0usize; n];
    let mut values = Vec::with_capacity(replicates);
    if n == 0 {
        return values;
    }
    for _ in 0..replicates {
        let mut at = random.below(n);
        for slot in &mut indices {
            *slot = at;
            at = if random.uniform() * mean_block.max(1.0) < 1.0 { random.below(n) } else { (at + 1) % n };
        }
        let value = statistic(&indices);
        if value.is_finite() {
            values.push(value);
        }
    }
    values
}

/// Percentile interval of replicates; absent below 20 of them.
pub fn interval(mut replicates: Vec<f64>, level: f64) -> Option<[f64; 2]> {
    if replicates.len() < 20 {
        return None;
    }
    replicates.sort_by(f64::total_cmp);
    let last = (replicates.len() - 1) as f64;
    let at = |p: f64| replicates[(p * last).round() as usize];
    Some([at((1.0 - level) / 2.0), at((1.0 + level) / 2.0)])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::series::mean;

    fn width(series: &[f64], block: f64) -> f64 {
        let replicates = stationary(series.len(), block, 400, 1, |pick| {
            pick.iter().map(|&i| series[i]).sum::<f64>() / pick.len() as f64
        });
        let [low, high] = interval(replicates, 0.95).unwrap();
        assert!(low < mean(series).unwrap() && mean(series).unwrap() < high);
        high - low
    }

    #[test]
    fn blocks_see_the_correlation_that_single_draws_miss() {
        let mut random = Random::new(4);
        let mut x = 0.0;
        let series: Vec<f64> = (0..400)
            .map(|_| {
                x = 0.8 * x + random.normal();
                x
            })
            .collect();
        assert!(width(&series, 20.0) > 1.8 * width(&series, 1.0));
    }

    #[test]
    fn an_empty_series_has_no_interval() {
        assert!(interval(stationary(0, 5.0, 100, 1, |_| 0.0), 0.95).is_none());
    }
}
