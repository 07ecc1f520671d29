//! Change points: online by CUSUM, offline by optimal partitioning.

use crate::series::{median, variance_inflation};

/// Two-sided CUSUM (Page 1954) with reference `k` and threshold `h`, both in standard deviations. With k = 0.5 and h
/// = 5 one side gives about one false alarm in 930 independent values.
#[derive(Clone, Debug)]
pub struct Cusum {
    level: f64,
    sd: f64,
    k: f64,
    h: f64,
    up: f64,
    down: f64,
}

impl Cusum {
    /// Watches for a shift away from `level`, where values scatter by `sd`.
    pub fn new(level: f64, sd: f64, k: f64, h: f64) -> Self {
        Self { level, sd: sd.max(f64::MIN_POSITIVE), k, h, up: 0.0, down: 0.0 }
    }

    /// Takes one value; +1 for an alarm upwards, -1 downwards, 0 for none. An alarm starts the sum anew.
    pub fn push(&mut self, value: f64) -> i8 {
        let z = (value - self.level) / self.sd;
        self.up = (self.up + z - self.k).max(0.0);
        self.down = (self.down - z - self.k).max(0.0);
        let alarm = i8::from(self.up > self.h) - i8::from(self.down > self.h);
        if alarm != 0 {
            (self.up, self.down) = (0.0, 0.0);
        }
        alarm
    }
}

/// A step of the mean.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    /// Index of the first value after the step.
    pub at: usize,
    /// Mean of the segment before.
    pub before: f64,
    /// Mean of the segment after.
    pub after: f64,
}

/// Steps of the mean by penalised least squares, solved exactly with pruning (PELT: Killick, Fearnhead, Eckley 2012).
/// The noise comes from differences of neighbours and from what is left inside segments; correlation raises the
/// penalty by the variance inflation, so that a correlated series is not seen as full of steps. Segments have at
/// least `shortest` values.
pub fn steps(values: &[f64], shortest: usize) -> Vec<Step> {
    let shortest = shortest.max(2);
    if values.len() < 2 * shortest {
        return Vec::new();
    }
    // Noise and correlation depend on the steps, and the steps on them: two rounds settle it.
    let mut cuts = Vec::new();
    let mut spread = difference_variance(values);
    let mut inflation = 1.0;
    for _ in 0..3 {
        let penalty = 3.0 * (values.len() as f64).ln() * spread * inflation;
        let found = partition(values, shortest, penalty);
        let residuals = residuals(values, &found);
        spread = residuals.iter().map(|r| r * r).sum::<f64>() / values.len() as f64;
        spread = spread.max(difference_variance(values) / 4.0);
        inflation = variance_inflation(&residuals);
        if found == cuts {
            break;
        }
        cuts = found;
    }
    let edges: Vec<usize> = [0].into_iter().chain(cuts).chain([values.len()]).collect();
    edges
        .windows(3)
        .map(|e| Step { at: e[1], before: average(&values[e[0]..e[1]]), after: average(&values[e[1]..e[2]]) })
        .collect()
}

fn average(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

/// Robust variance from differences of neighbours: a step touches one difference only.
fn difference_variance(values: &[f64]) -> f64 {
    let differences: Vec<f64> = values.windows(2).map(|w| (w[1] - w[0]).abs()).collect();
    // The median of |difference| of two independent normals is 0.6745 sqrt(2) sigma.
    let sd = median(&differences).unwrap_or(0.0) / (0.674_489_75 * std::f64::consts::SQRT_2);
    (sd * sd).max(1e-18)
}

fn residuals(values: &[f64], cuts: &[usize]) -> Vec<f64> {
    let edges: Vec<usize> = [0].into_iter().chain(cuts.iter().copied()).chain([values.len()]).collect();
    let mut left = Vec::with_capacity(values.len());
    for e in edges.windows(2) {
        let middle = average(&values[e[0]..e[1]]);
        left.extend(values[e[0]..e[1]].iter().map(|v| v - middle));
    }
    left
}

/// Cuts that minimise the sum of squares plus `penalty` for each cut.
fn partition(values: &[f64], shortest: usize, penalty: f64) -> Vec<usize> {
    let n = values.len();
    let mut sums = vec![(0.0, 0.0)];
    for v in values {
        let (s, q) = sums[sums.len() - 1];
        sums.push((s + v, q + v * v));
    }
    let cost = |from: usize, to: usize| {
        let (s, q) = (sums[to].0 - sums[from].0, sums[to].1 - sums[from].1);
        (q - s * s / (to - from) as f64).max(0.0)
    };
    let mut best = vec![f64::INFINITY; n + 1];
    let mut last = vec![0usize; n + 1];
    best[0] = -penalty;
    let mut candidates = vec![0usize];
    for to in shortest..=n {
        for &from in &candidates {
            let total = best[from] + cost(from, to) + penalty;
            if total < best[to] {
                (best[to], last[to]) = (total, from);
            }
        }
        candidates.retain(|&from| best[from] + cost(from, to) <= best[to] + 1e-12);
        let opened = to + 1 - shortest;
        if opened >= shortest {
            candidates.push(opened);
        }
    }
    let mut cuts = Vec::new();
    let mut at = last[n];
    while at > 0 {
        cuts.push(at);
        at = last[at];
    }
    cuts.reverse();
    cuts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    fn noise(n: usize, rho: f64, random: &mut Random) -> Vec<f64> {
        let mut x = 0.0;
        (0..n)
            .map(|_| {
                x = rho * x + (1.0 - rho * rho).sqrt() * random.normal();
                x
            })
            .collect()
    }

    #[test]
    fn a_step_is_found_where_it_is() {
        let mut random = Random::new(12);
        let series: Vec<f64> = noise(200, 0.0, &mut random)
            .iter()
            .enumerate()
            .map(|(i, e)| e * 0.1 + if i < 80 { 2.0 } else { 1.0 })
            .collect();
        let found = steps(&series, 20);
        assert_eq!(found.len(), 1);
        assert!((78..=82).contains(&found[0].at) && (found[0].before - found[0].after - 1.0).abs() < 0.06);
    }

    #[test]
    fn two_steps_are_two() {
        let series: Vec<f64> = (0..150).map(|i| [1.0, 3.0, 2.0][i / 50] + 0.01 * (i % 3) as f64).collect();
        assert_eq!(steps(&series, 10).iter().map(|s| s.at).collect::<Vec<_>>(), [50, 100]);
    }

    #[test]
    fn noise_has_no_steps_even_when_correlated() {
        let mut random = Random::new(13);
        for rho in [0.0, 0.6] {
            let wrong = (0..200).filter(|_| !steps(&noise(150, rho, &mut random), 20).is_empty()).count();
            assert!(wrong <= 10, "rho {rho}: {wrong} of 200");
        }
    }

    #[test]
    fn too_short_a_series_has_no_steps() {
        assert!(steps(&[1.0, 9.0, 1.0], 2).is_empty() && steps(&[], 5).is_empty());
    }

    #[test]
    fn cusum_alarms_soon_after_a_shift_and_rarely_without_one() {
        let mut random = Random::new(14);
        let mut quiet = Cusum::new(0.0, 1.0, 0.5, 5.0);
        let false_alarms = (0..20_000).filter(|_| quiet.push(random.normal()) != 0).count();
        assert!((20..=70).contains(&false_alarms), "{false_alarms}");
        let mut shifted = Cusum::new(0.0, 1.0, 0.5, 5.0);
        let delay = (1..100).find(|_| shifted.push(random.normal() - 1.5) == -1).unwrap();
        assert!(delay < 20, "{delay}");
    }
}
