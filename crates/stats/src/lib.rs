//! Numbers with their doubt: intervals, regressions, change points. No I/O, no clock.

/// A two-sided interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// 95 % interval of the mean of a correlated series; absent below four values.
pub fn mean_ci95(values: &[f64]) -> Option<Interval> {
    let n = values.len() as f64;
    if values.len() < 4 {
        return None;
    }
    let mean = values.iter().sum::<f64>() / n;
    let var = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (n - 1.0);
    let h = 1.96 * (var / n).sqrt();
    Some(Interval { low: mean - h, high: mean + h })
}
