//! Mean and spread of values read at instants.

/// Running moments (Welford 1962), with the extremes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Moments {
    pub count: u64,
    pub mean: f64,
    squares: f64,
    pub max: f64,
    pub min: f64,
}

impl Moments {
    pub fn add(&mut self, value: f64) {
        (self.min, self.max) = match self.count {
            0 => (value, value),
            _ => (self.min.min(value), self.max.max(value)),
        };
        self.count += 1;
        let step = value - self.mean;
        self.mean += step / self.count as f64;
        self.squares += step * (value - self.mean);
    }

    /// Standard error of the mean when values read less than about `memory_s` apart hang together: an I/O seen at
    /// one instant is seen again at the next one if it lasts longer than the time between. The number in a queue
    /// forgets over about one response time, so each side of a reading spoils that much.
    pub fn standard_error(&self, period_s: f64, memory_s: f64) -> f64 {
        if self.count < 2 {
            return f64::INFINITY;
        }
        let independent = self.count as f64 * period_s / (period_s + 2.0 * memory_s.max(0.0));
        (self.squares / (self.count - 1) as f64 / independent.max(1.0)).sqrt()
    }
}

/// Two numbers read at the same instants, and the ratio of their sums.
///
/// The instants at which a thread gets to read are not fair: on busy cores they hang together with submissions and
/// completions, and both means may be off by tens of percent (seen on 6.18 with requests of 0.1 ms). The share of
/// one in the other suffers far less, and their common swing cancels in its error (ratio estimator, Cochran 1977).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Pair {
    pub count: u64,
    x: f64,
    y: f64,
    xx: f64,
    xy: f64,
    yy: f64,
}

impl Pair {
    pub fn add(&mut self, x: f64, y: f64) {
        self.count += 1;
        self.x += x;
        self.y += y;
        self.xx += x * x;
        self.xy += x * y;
        self.yy += y * y;
    }

    /// Sum of `y` over sum of `x` and its standard error; `None` when all `x` were 0. The arguments are those of
    /// [`Moments::standard_error`].
    pub fn ratio(&self, period_s: f64, memory_s: f64) -> Option<(f64, f64)> {
        if self.x <= 0.0 || self.count < 2 {
            return None;
        }
        let ratio = self.y / self.x;
        let residual = (self.yy - 2.0 * ratio * self.xy + ratio * ratio * self.xx).max(0.0);
        let count = self.count as f64;
        let independent = (count * period_s / (period_s + 2.0 * memory_s.max(0.0))).max(1.0);
        let error = (residual / (count - 1.0) / independent).sqrt() / (self.x / count);
        Some((ratio, error))
    }

    /// Mean of `x - y`.
    pub fn gap_mean(&self) -> f64 {
        (self.x - self.y) / self.count.max(1) as f64
    }

    /// Mean of `x`.
    pub fn x_mean(&self) -> f64 {
        self.x / self.count.max(1) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_agree_with_the_sums() {
        let mut m = Moments::default();
        for v in [2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0] {
            m.add(v);
        }
        assert_eq!((m.mean, m.min, m.max), (5.0, 2.0, 9.0));
        let expected = (32.0_f64 / 7.0 / 8.0).sqrt();
        assert!((m.standard_error(1.0, 0.0) - expected).abs() < 1e-12);
        assert!(m.standard_error(1.0, 10.0) > 2.0 * expected, "long I/Os make samples hang together");
    }

    #[test]
    fn one_value_says_nothing_about_its_spread() {
        let mut m = Moments::default();
        m.add(3.0);
        assert_eq!(m.standard_error(1.0, 0.0), f64::INFINITY);
    }

    #[test]
    fn a_constant_share_is_found_without_error_however_the_total_swings() {
        let mut pair = Pair::default();
        for x in [1.0, 100.0, 3.0, 40.0] {
            pair.add(x, x / 4.0);
        }
        let (ratio, error) = pair.ratio(1.0, 0.0).unwrap();
        assert!((ratio - 0.25).abs() < 1e-12 && error < 1e-6);
        assert_eq!(Pair::default().ratio(1.0, 0.0), None);
    }
}
