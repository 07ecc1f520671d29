//! Means of correlated series: effective size, batch means, intervals.

use crate::distribution::{normal_quantile, student_t_quantile};

/// Arithmetic mean; absent when empty.
pub fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// Unbiased variance; absent below two values.
pub fn variance(values: &[f64]) -> Option<f64> {
    let middle = mean(values)?;
    (values.len() > 1)
        .then(|| values.iter().map(|v| (v - middle).powi(2)).sum::<f64>() / (values.len() - 1) as f64)
}

/// Median; absent when empty. NaN sorts last.
pub fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let half = sorted.len() / 2;
    match sorted.len() {
        0 => None,
        n if n % 2 == 1 => Some(sorted[half]),
        _ => Some(0.5 * (sorted[half - 1] + sorted[half])),
    }
}

/// Autocorrelation at `lag`; 0 for a constant or too short series.
pub fn autocorrelation(values: &[f64], lag: usize) -> f64 {
    let Some(middle) = mean(values) else { return 0.0 };
    let power: f64 = values.iter().map(|v| (v - middle).powi(2)).sum();
    if power <= 0.0 || lag >= values.len() {
        return 0.0;
    }
    let product: f64 = values.windows(lag + 1).map(|w| (w[0] - middle) * (w[lag] - middle)).sum();
    product / power
}

/// Variance inflation 1 + 2 sum rho_j by Geyer's initial positive sequence (1992): pairs of autocorrelations are
/// added while their sum stays positive. Never below 1: a claim of negative correlation is not believed.
pub fn variance_inflation(values: &[f64]) -> f64 {
    let mut inflation = 1.0 + 2.0 * autocorrelation(values, 1);
    let mut lag = 2;
    while lag + 1 < values.len() / 2 {
        let pair = autocorrelation(values, lag) + autocorrelation(values, lag + 1);
        if pair <= 0.0 {
            break;
        }
        inflation += 2.0 * pair;
        lag += 2;
    }
    inflation.clamp(1.0, values.len().max(1) as f64)
}

/// n / (1 + 2 sum rho_j): how many independent values the series is worth.
pub fn effective_size(values: &[f64]) -> f64 {
    values.len() as f64 / variance_inflation(values)
}

/// Von Neumann's ratio (1941): mean squared successive difference over the variance; 2 for independent values, less
/// for positively correlated ones. Absent below three values or without variance.
pub fn von_neumann_ratio(values: &[f64]) -> Option<f64> {
    let spread = variance(values)?;
    let n = values.len() as f64;
    let steps: f64 = values.windows(2).map(|w| (w[1] - w[0]).powi(2)).sum();
    (values.len() > 2 && spread > 0.0).then(|| steps / (n - 1.0) / spread)
}

/// Whether von Neumann's ratio is too low for independent values, one-sided at 5 % (Bartels 1982, normal form).
pub fn looks_correlated(values: &[f64]) -> bool {
    let n = values.len() as f64;
    let Some(ratio) = von_neumann_ratio(values) else { return false };
    let sd = (4.0 * (n - 2.0) / (n * n - 1.0)).sqrt();
    (ratio - 2.0) / sd < normal_quantile(0.05)
}

/// A mean with its interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MeanInterval {
    /// The mean.
    pub mean: f64,
    /// Two-sided interval at the level asked.
    pub interval: [f64; 2],
    /// Standard error.
    pub se: f64,
    /// Batches used.
    pub batches: usize,
    /// Degrees of freedom.
    pub df: f64,
}

/// Batch means (Conway 1963; batch size by von Neumann's test): batches grow until neighbours look independent, at
/// least `MIN_BATCHES` staying. What correlation is left at that point widens the interval. Absent below four values.
pub fn mean_interval(values: &[f64], level: f64) -> Option<MeanInterval> {
    const MIN_BATCHES: usize = 8;
    const MAX_BATCHES: usize = 30;
    if values.len() < 4 {
        return None;
    }
    let mut size = values.len().div_ceil(MAX_BATCHES);
    let mut batches = batch_means(values, size);
    while looks_correlated(&batches) && values.len() / (size + 1) >= MIN_BATCHES {
        size += 1;
        batches = batch_means(values, size);
    }
    let inflation = if looks_correlated(&batches) { variance_inflation(&batches) } else { 1.0 };
    let n = batches.len() as f64;
    let df = (n / inflation - 1.0).max(1.0);
    let se = (variance(&batches)? * inflation / n).sqrt();
    let middle = mean(values)?;
    let half = student_t_quantile(0.5 + level / 2.0, df) * se;
    Some(MeanInterval {
        mean: middle,
        interval: [middle - half, middle + half],
        se,
        batches: batches.len(),
        df,
    })
}

/// Means of consecutive batches of `size`; a rest that fills no batch is left out.
pub fn batch_means(values: &[f64], size: usize) -> Vec<f64> {
    values.chunks_exact(size.max(1)).map(|c| c.iter().sum::<f64>() / c.len() as f64).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    fn ar1(rho: f64, n: usize, random: &mut Random) -> Vec<f64> {
        let mut x = random.normal();
        let step = (1.0 - rho * rho).sqrt();
        (0..n)
            .map(|_| {
                x = rho * x + step * random.normal();
                x
            })
            .collect()
    }

    fn coverage(rho: f64, n: usize) -> f64 {
        let mut random = Random::new(11);
        let runs = 1000;
        let hits = (0..runs)
            .filter(|_| {
                let [low, high] = mean_interval(&ar1(rho, n, &mut random), 0.95).unwrap().interval;
                low <= 0.0 && 0.0 <= high
            })
            .count();
        hits as f64 / f64::from(runs)
    }

    #[test]
    fn the_interval_covers_the_mean_of_independent_values_95_times_in_100() {
        let c = coverage(0.0, 100);
        assert!((0.93..=0.97).contains(&c), "{c}");
    }

    #[test]
    fn the_interval_covers_the_mean_of_correlated_values_at_least_90_times_in_100() {
        let c = coverage(0.7, 300);
        assert!((0.90..=0.98).contains(&c), "{c}");
    }

    #[test]
    fn effective_size_of_an_autoregression_is_n_times_one_minus_rho_over_one_plus_rho() {
        let mut random = Random::new(5);
        let n = effective_size(&ar1(0.5, 30_000, &mut random));
        assert!((n / 10_000.0 - 1.0).abs() < 0.15, "{n}");
    }

    #[test]
    fn von_neumanns_ratio_is_two_for_noise_and_small_for_a_ramp() {
        let mut random = Random::new(2);
        let noise = ar1(0.0, 2000, &mut random);
        assert!((von_neumann_ratio(&noise).unwrap() - 2.0).abs() < 0.1);
        let ramp: Vec<f64> = (0..50).map(f64::from).collect();
        assert!(looks_correlated(&ramp) && !looks_correlated(&noise[..100]));
    }

    #[test]
    fn too_little_data_gives_no_interval() {
        assert!(mean_interval(&[1.0, 2.0, 3.0], 0.95).is_none());
        assert_eq!(variance(&[1.0]), None);
        assert_eq!(median(&[3.0, 1.0, 2.0, 4.0]), Some(2.5));
    }
}
