//! A weighted straight line through points.

/// y = `level` + `slope` (x - `center`), `center` being the weighted mean of x, so that level and slope are
/// uncorrelated.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Line {
    /// Weighted mean of x.
    pub center: f64,
    /// Value at `center`.
    pub level: f64,
    /// Change of y per unit of x; 0 when all x are equal.
    pub slope: f64,
    /// Standard error of `level` from the residuals.
    pub level_se: f64,
    /// Standard error of `slope`; infinite when all x are equal.
    pub slope_se: f64,
    /// Degrees of freedom of the residuals.
    pub df: f64,
}

impl Line {
    /// Value at `x`.
    pub fn at(&self, x: f64) -> f64 {
        self.level + self.slope * (x - self.center)
    }

    /// Standard error of the line at `x`.
    pub fn se_at(&self, x: f64) -> f64 {
        let arm = x - self.center;
        let tilt = if arm == 0.0 { 0.0 } else { arm * self.slope_se };
        self.level_se.hypot(tilt)
    }
}

/// Weighted least squares over (x, y, weight); absent without a point of positive weight. With `ridge` =
/// (expected slope, its standard deviation relative to the residual noise of unit weight) the slope is drawn there.
pub fn fit(points: &[(f64, f64, f64)], ridge: Option<(f64, f64)>) -> Option<Line> {
    let total: f64 = points.iter().map(|p| p.2).sum();
    if total.is_nan() || total <= 0.0 {
        return None;
    }
    let center = points.iter().map(|p| p.0 * p.2).sum::<f64>() / total;
    let level = points.iter().map(|p| p.1 * p.2).sum::<f64>() / total;
    let mut sxx: f64 = points.iter().map(|p| p.2 * (p.0 - center).powi(2)).sum();
    let mut sxy: f64 = points.iter().map(|p| p.2 * (p.0 - center) * (p.1 - level)).sum();
    if let Some((expected, relative_sd)) = ridge {
        let precision = 1.0 / relative_sd.powi(2);
        sxx += precision;
        sxy += precision * expected;
    }
    let slope = if sxx > 0.0 { sxy / sxx } else { 0.0 };
    let used = points.iter().filter(|p| p.2 > 0.0).count() as f64;
    let df = (used - 2.0).max(0.0);
    let rss: f64 = points.iter().map(|p| p.2 * (p.1 - level - slope * (p.0 - center)).powi(2)).sum();
    let noise = if df > 0.0 { rss / df } else { f64::INFINITY };
    let slope_se = if sxx > 0.0 { (noise / sxx).sqrt() } else { f64::INFINITY };
    Some(Line { center, level, slope, level_se: (noise / total).sqrt(), slope_se, df })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_exact_line_is_found_without_error() {
        let points: Vec<_> =
            (0..5).map(|i| (f64::from(i), 3.0 - 2.0 * f64::from(i), 1.0 + f64::from(i))).collect();
        let line = fit(&points, None).unwrap();
        assert!((line.at(10.0) + 17.0).abs() < 1e-9 && line.slope_se < 1e-9);
    }

    #[test]
    fn one_abscissa_gives_a_level_and_an_unknown_slope() {
        let line = fit(&[(1.0, 2.0, 1.0), (1.0, 4.0, 1.0), (1.0, 3.0, 1.0)], None).unwrap();
        assert_eq!((line.at(1.0), line.slope_se), (3.0, f64::INFINITY));
        assert!((line.se_at(1.0) - (2.0f64 / 3.0).sqrt()).abs() < 1.0);
        assert!(fit(&[], None).is_none());
    }

    #[test]
    fn a_ridge_supplies_the_slope_that_data_lack() {
        let line = fit(&[(1.0, 2.0, 1.0), (1.0, 4.0, 1.0)], Some((1.5, 0.1))).unwrap();
        assert!((line.slope - 1.5).abs() < 1e-12);
    }
}
