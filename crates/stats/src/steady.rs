//! Where warming up ends, and whether what follows is steady.

use crate::line;
use crate::series::{batch_means, mean};

/// MSER-5 (White 1997): values are batched by five, and d batches cut so that sum (y_i - mean)^2 / (n - d)^2 is
/// least. Answers the number of values to cut, or None when the least lies in the last half: then no steady part is
/// seen.
pub fn mser5(values: &[f64]) -> Option<usize> {
    let batches = batch_means(values, 5);
    let n = batches.len();
    if n < 4 {
        return None;
    }
    let (mut sum, mut squares, mut best) = (0.0, 0.0, (f64::INFINITY, 0));
    for d in (0..n).rev() {
        sum += batches[d];
        squares += batches[d] * batches[d];
        let left = (n - d) as f64;
        if left < 2.0 {
            continue;
        }
        let score = (squares - sum * sum / left).max(0.0) / (left * left);
        // Ties go to the earlier cut: a constant series is steady from its start.
        if score <= best.0 + 1e-12 * squares / (left * left) {
            best = (score, d);
        }
    }
    (best.1 <= n / 2).then_some(5 * best.1)
}

/// SNIA PTS steady state over the last five rounds: spread and drift.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Snia {
    /// (largest - smallest) / mean of the five rounds; at most 0.20 is steady.
    pub spread: f64,
    /// Rise of the fitted line over the five rounds / mean; at most 0.10 is steady.
    pub drift: f64,
}

impl Snia {
    /// The limits of SNIA's Solid State Storage Performance Test Specification.
    pub fn steady(&self) -> bool {
        self.spread <= 0.20 && self.drift.abs() <= 0.10
    }
}

/// Judges the last five of `rounds`; absent with fewer, or with a mean of zero.
pub fn snia(rounds: &[f64]) -> Option<Snia> {
    let last = rounds.len().checked_sub(5).map(|from| &rounds[from..])?;
    let level = mean(last).filter(|m| *m > 0.0)?;
    let low = last.iter().copied().fold(f64::INFINITY, f64::min);
    let high = last.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let points: Vec<_> = last.iter().enumerate().map(|(i, &y)| (i as f64, y, 1.0)).collect();
    let slope = line::fit(&points, None)?.slope;
    Some(Snia { spread: (high - low) / level, drift: slope * 4.0 / level })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    #[test]
    fn a_warm_up_is_cut_where_it_ends() {
        let mut random = Random::new(6);
        let series: Vec<f64> =
            (0..300).map(|i| 100.0 + random.normal() + if i < 40 { 30.0 } else { 0.0 }).collect();
        let cut = mser5(&series).unwrap();
        assert!((40..=60).contains(&cut), "{cut}");
    }

    #[test]
    fn a_steady_series_keeps_nearly_all_and_a_ramp_is_refused() {
        assert_eq!(mser5(&[5.0; 100]), Some(0));
        let ramp: Vec<f64> = (0..100).map(f64::from).collect();
        assert_eq!(mser5(&ramp), None);
        assert_eq!(mser5(&[1.0; 10]), None);
    }

    #[test]
    fn snia_limits_are_20_percent_of_spread_and_10_of_drift() {
        assert!(snia(&[9.0, 100.0, 101.0, 99.0, 100.0, 102.0]).unwrap().steady());
        assert!(!snia(&[100.0, 104.0, 108.0, 112.0, 116.0]).unwrap().steady());
        assert!(!snia(&[100.0, 75.0, 100.0, 125.0, 100.0]).unwrap().steady());
        assert!(snia(&[1.0; 4]).is_none() && snia(&[0.0; 5]).is_none());
    }
}
