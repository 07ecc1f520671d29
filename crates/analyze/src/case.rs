//! What a verdict is reached from.

use crate::growth::{Growth, growth};
use crate::point::Point;
use crate::trouble::DeviceTrouble;
use record::{IoPath, LatencyLimit, Layer, LayerSeen, Statistic, Step, SubjectFacts};

/// A probe's measurements, as the rules see them.
pub struct Case<'a> {
    /// The curve, ascending in concurrency.
    pub points: &'a [Point],
    /// What was loaded.
    pub subject: &'a SubjectFacts,
    /// The limit asked.
    pub limit: &'a LatencyLimit,
    /// What the end of the curve shows.
    pub growth: Option<Growth>,
    /// Devices that answered something besides success.
    pub troubles: Vec<DeviceTrouble>,
}

impl<'a> Case<'a> {
    /// Looks at the curve once.
    pub fn new(points: &'a [Point], subject: &'a SubjectFacts, limit: &'a LatencyLimit) -> Self {
        Self { points, subject, limit, growth: growth(points), troubles: Vec::new() }
    }

    /// With what devices answered besides success in the steps that the points were made of.
    pub fn with_troubles(mut self, steps: &[Step]) -> Self {
        self.troubles = crate::trouble::devices(steps, self.path());
        self
    }

    /// The path, when known.
    pub fn path(&self) -> Option<&'a IoPath> {
        self.subject.path.as_ref()
    }

    /// The point of largest concurrency.
    pub fn last(&self) -> Option<&'a Point> {
        self.points.last()
    }

    /// The devices of the last point, as seen there and as described by the path.
    pub fn devices(&self) -> Vec<(&'a LayerSeen, &'a Layer)> {
        let (Some(last), Some(path)) = (self.last(), self.path()) else { return Vec::new() };
        last.devices
            .iter()
            .filter_map(|name| Some((last.layers.iter().find(|l| &l.name == name)?, path.layer(name)?)))
            .collect()
    }

    /// Whether a point holds the limit by its plain statistic, no interval.
    pub fn holds(&self, point: &Point) -> bool {
        let histogram = match self.limit.class {
            Some(record::IoClass::Read) => &point.read,
            Some(record::IoClass::Write) => &point.write,
            Some(record::IoClass::Flush) => &point.flush,
            None => &point.response,
        };
        let value = match self.limit.statistic {
            Statistic::Mean => histogram.mean_ns(),
            Statistic::Quantile(q) => histogram.quantile_ns(q).map(|ns| ns as f64),
        };
        value.is_none_or(|ns| ns < self.limit.limit_ns as f64)
    }

    /// Throughput over all points where it stopped growing: the mean of the end of the curve.
    pub fn plateau_iops(&self) -> Option<f64> {
        let end = crate::growth::end_of(self.points);
        let seconds: f64 = end.iter().map(|p| p.seconds).sum();
        (seconds > 0.0).then(|| end.iter().map(|p| p.iops * p.seconds).sum::<f64>() / seconds)
    }
}
