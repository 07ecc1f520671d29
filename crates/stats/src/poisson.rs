//! Ridge quasi-Poisson regression: how the share of misses grows with the logarithm of load.
//!
//! ln E[misses / ios] = level + slope (x - center), fitted by iteratively reweighted least squares (McCullagh &
//! Nelder 1989, ch. 2 and 6). Misses of storage come in bunches, so the variance is `dispersion` times the mean.

/// One window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Window {
    /// Logarithm of load.
    pub x: f64,
    /// I/Os.
    pub ios: f64,
    /// I/Os over the limit.
    pub misses: f64,
    /// How much this window counts, 1 normally.
    pub weight: f64,
}

/// What is believed of the slope beforehand.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ridge {
    /// Expected slope.
    pub slope: f64,
    /// Standard deviation of that belief.
    pub sd: f64,
}

/// The fitted curve.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fit {
    /// Reference load (logarithm).
    pub center: f64,
    /// ln of the share of misses at `center`.
    pub level: f64,
    /// Growth of that logarithm with x; positive.
    pub slope: f64,
    /// Covariance of (level, slope), dispersion included.
    pub covariance: [[f64; 2]; 2],
    /// Pearson's dispersion, at least 1.
    pub dispersion: f64,
    /// Degrees of freedom left.
    pub df: f64,
}

/// Smallest slope: misses are not believed to fall with load.
const SLOPE_MIN: f64 = 0.05;
/// IRLS settles in about 8 steps; a bound against cycles.
const ITERATIONS_MAX: usize = 60;

/// Fits windows; absent without I/Os. Without any miss the level is drawn to half a miss.
pub fn fit(windows: &[Window], ridge: Ridge) -> Option<Fit> {
    let used: Vec<Window> = windows.iter().copied().filter(|w| w.ios > 0.0 && w.weight > 0.0).collect();
    let ios: f64 = used.iter().map(|w| w.ios * w.weight).sum();
    if used.is_empty() {
        return None;
    }
    let misses: f64 = used.iter().map(|w| w.misses * w.weight).sum();
    let center = used.iter().map(|w| w.x * w.ios * w.weight).sum::<f64>() / ios;
    let precision = 1.0 / ridge.sd.powi(2);
    let (mut level, mut slope) = (((misses + 0.5) / (ios + 1.0)).ln(), ridge.slope);
    // Half a miss at the center keeps an all-clean series from running to minus infinity.
    let (prior_ios, prior_misses) = if misses > 0.0 { (0.0, 0.0) } else { (1.0, 0.5) };
    let mut information = [[0.0; 2]; 2];
    for _ in 0..ITERATIONS_MAX {
        let mut gradient = [0.0, -precision * (slope - ridge.slope)];
        information = [[1e-9, 0.0], [0.0, precision]];
        let prior_mean = prior_ios * level.exp();
        gradient[0] += prior_misses - prior_mean;
        information[0][0] += prior_mean.max(prior_misses);
        for w in &used {
            let arm = w.x - center;
            let mean = (w.ios * (level + slope * arm).clamp(-60.0, 3.0).exp()) * w.weight;
            let residual = w.misses * w.weight - mean;
            gradient[0] += residual;
            gradient[1] += residual * arm;
            information[0][0] += mean;
            information[0][1] += mean * arm;
            information[1][1] += mean * arm * arm;
        }
        information[1][0] = information[0][1];
        let inverse = invert(information)?;
        let step = [
            (inverse[0][0] * gradient[0] + inverse[0][1] * gradient[1]).clamp(-2.0, 2.0),
            (inverse[1][0] * gradient[0] + inverse[1][1] * gradient[1]).clamp(-3.0, 3.0),
        ];
        level += step[0];
        slope = (slope + step[1]).max(SLOPE_MIN);
        if step[0].abs() + step[1].abs() < 1e-9 {
            break;
        }
    }
    let df = (used.len() as f64 - 2.0).max(1.0);
    let pearson: f64 = used
        .iter()
        .map(|w| {
            let mean = w.ios * (level + slope * (w.x - center)).clamp(-60.0, 3.0).exp();
            w.weight * (w.misses - mean).powi(2) / mean.max(0.1)
        })
        .sum();
    let dispersion = (pearson / df).max(1.0);
    let covariance = invert(information)?.map(|row| row.map(|v| v * dispersion));
    Some(Fit { center, level, slope, covariance, dispersion, df })
}

impl Fit {
    /// Share of misses at load `x` (logarithm).
    pub fn share_at(&self, x: f64) -> f64 {
        (self.level + self.slope * (x - self.center)).exp()
    }

    /// Load (logarithm) at which the share of misses is `allowed`, and its standard error by the delta method.
    pub fn crossing(&self, allowed: f64) -> (f64, f64) {
        let arm = (allowed.ln() - self.level) / self.slope;
        let [[a, b], [_, d]] = self.covariance;
        let variance = (a + 2.0 * arm * b + arm * arm * d) / self.slope.powi(2);
        (self.center + arm, variance.max(0.0).sqrt())
    }
}

fn invert([[a, b], [c, d]]: [[f64; 2]; 2]) -> Option<[[f64; 2]; 2]> {
    let det = a * d - b * c;
    (det.abs() > 1e-300 && det.is_finite()).then(|| [[d / det, -b / det], [-c / det, a / det]])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{distribution::student_t_quantile, random::Random};

    const RIDGE: Ridge = Ridge { slope: 4.0, sd: 4.0 };

    fn poisson(mean: f64, random: &mut Random) -> f64 {
        let (mut clock, mut count) = (random.exponential(), 0.0);
        while clock < mean {
            clock += random.exponential();
            count += 1.0;
        }
        count
    }

    fn windows(n: usize, bunch: f64, random: &mut Random) -> Vec<Window> {
        (0..n)
            .map(|i| {
                let x = [-0.16, 0.0, 0.16][i % 3];
                let mean = 2000.0 * 0.01 * (3.0f64 * x).exp();
                Window { x, ios: 2000.0, misses: bunch * poisson(mean / bunch, random), weight: 1.0 }
            })
            .collect()
    }

    fn coverage(bunch: f64) -> f64 {
        let mut random = Random::new(8);
        let runs = 800;
        let hits = (0..runs)
            .filter(|_| {
                let fit = fit(&windows(24, bunch, &mut random), RIDGE).unwrap();
                let (x, se) = fit.crossing(0.01);
                x.abs() <= student_t_quantile(0.975, fit.df) * se
            })
            .count();
        hits as f64 / f64::from(runs)
    }

    #[test]
    fn the_crossing_is_covered_95_times_in_100_for_single_and_for_bunched_misses() {
        for bunch in [1.0, 4.0] {
            let c = coverage(bunch);
            assert!((0.92..=0.985).contains(&c), "bunches of {bunch}: {c}");
        }
    }

    #[test]
    fn dispersion_is_the_size_of_the_bunches() {
        let mut random = Random::new(1);
        let fit = fit(&windows(600, 5.0, &mut random), RIDGE).unwrap();
        assert!((fit.dispersion / 5.0 - 1.0).abs() < 0.2, "{}", fit.dispersion);
        assert!((fit.slope - 3.0).abs() < 0.6, "{}", fit.slope);
    }

    #[test]
    fn no_miss_at_all_still_gives_a_curve_that_rises() {
        let clean = [0.0, 0.7, 1.4].map(|x| Window { x, ios: 500.0, misses: 0.0, weight: 1.0 });
        let fit = fit(&clean, RIDGE).unwrap();
        assert!(fit.slope > 0.0 && fit.share_at(0.0) < 0.01 && fit.crossing(0.01).0 > 0.7);
    }

    #[test]
    fn nothing_measured_gives_nothing() {
        assert!(fit(&[], RIDGE).is_none());
        assert!(fit(&[Window { x: 0.0, ios: 0.0, misses: 0.0, weight: 1.0 }], RIDGE).is_none());
    }
}
