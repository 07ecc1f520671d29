//! Isotonic regression by pooling adjacent violators (Ayer et al. 1955).

/// The non-decreasing values nearest to `values` in weighted least squares, in the same order. Weights are positive;
/// a weight of 0 takes the value of its neighbours' pool.
pub fn non_decreasing(values: &[f64], weights: &[f64]) -> Vec<f64> {
    assert_eq!(values.len(), weights.len(), "each value has its weight");
    let mut pools: Vec<Pool> = Vec::with_capacity(values.len());
    for (&value, &weight) in values.iter().zip(weights) {
        let weight = weight.max(1e-12);
        pools.push(Pool { sum: value * weight, weight, length: 1 });
        while let [.., left, right] = pools[..] {
            if left.level() <= right.level() {
                break;
            }
            pools.truncate(pools.len() - 2);
            pools.push(left.with(right));
        }
    }
    pools.iter().flat_map(|p| std::iter::repeat_n(p.level(), p.length)).collect()
}

/// Where the non-decreasing piecewise-linear curve through (x, y) first exceeds `level`: None when it never does, the
/// first x when it begins above. `points` ascend in x.
pub fn crossing(points: &[(f64, f64)], level: f64) -> Option<f64> {
    let above = points.iter().position(|p| p.1 > level)?;
    let (x1, y1) = points[above];
    if above == 0 {
        return Some(x1);
    }
    let (x0, y0) = points[above - 1];
    Some(x0 + (x1 - x0) * ((level - y0) / (y1 - y0)).clamp(0.0, 1.0))
}

#[derive(Clone, Copy)]
struct Pool {
    sum: f64,
    weight: f64,
    length: usize,
}

impl Pool {
    fn level(self) -> f64 {
        self.sum / self.weight
    }

    fn with(self, other: Self) -> Self {
        Self {
            sum: self.sum + other.sum,
            weight: self.weight + other.weight,
            length: self.length + other.length,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    #[test]
    fn violators_are_pooled_by_weight() {
        assert_eq!(non_decreasing(&[1.0, 3.0, 2.0, 4.0], &[1.0; 4]), [1.0, 2.5, 2.5, 4.0]);
        assert_eq!(non_decreasing(&[4.0, 1.0], &[1.0, 3.0]), [1.75, 1.75]);
        assert!(non_decreasing(&[], &[]).is_empty());
    }

    #[test]
    fn the_result_never_falls_and_keeps_the_weighted_mean() {
        let mut random = Random::new(9);
        for _ in 0..200 {
            let n = 1 + random.below(20);
            let values: Vec<f64> = (0..n).map(|_| random.normal()).collect();
            let weights: Vec<f64> = (0..n).map(|_| random.uniform() + 0.1).collect();
            let fit = non_decreasing(&values, &weights);
            assert!(fit.windows(2).all(|w| w[0] <= w[1] + 1e-12));
            let mean = |v: &[f64]| v.iter().zip(&weights).map(|(a, w)| a * w).sum::<f64>();
            assert!((mean(&values) - mean(&fit)).abs() < 1e-9);
        }
    }

    #[test]
    fn a_crossing_is_interpolated_or_absent() {
        let points = [(1.0, 0.0), (2.0, 1.0), (4.0, 3.0)];
        assert_eq!(crossing(&points, 2.0), Some(3.0));
        assert_eq!(crossing(&points, 3.0), None);
        assert_eq!(crossing(&points, -1.0), Some(1.0));
    }
}
