//! Stretches of load: neighbouring intervals in which a device was used, without the part intervals at both ends.

use super::words::{median_of, quantile, sorted};
use crate::reading::point::DevicePoint;
use crate::reading::series::Series;

/// Below this share of the usual throughput an interval ends a stretch.
const IDLE_SHARE: f64 = 0.05;
/// An interval at the end of a stretch in which the device was used for a smaller part of the time is a part interval.
const PART_SHARE: f64 = 0.9;
/// Where load is not continuous, its share of time says nothing about part intervals.
const CONTINUOUS_PERCENT: f64 = 50.0;

/// Neighbouring intervals under load.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stretch<'s> {
    /// The intervals.
    pub points: &'s [DevicePoint],
    /// Length of one; NaN when neither the text nor its numbers tell.
    pub interval_s: f64,
    /// The length follows from whole numbers in the rates, not from the text.
    pub is_assumed: bool,
}

/// What a device moves: bytes where they are told, else I/Os.
pub(super) fn rate(point: &DevicePoint) -> f64 {
    if point.bytes_per_s.is_nan() { point.iops } else { point.bytes_per_s }
}

/// All stretches of a device.
pub(super) fn stretches(series: &Series) -> Vec<Stretch<'_>> {
    let points = series.points();
    let rates = sorted(points.iter().map(rate).filter(|r| *r > 0.0));
    let idle = IDLE_SHARE * quantile(&rates, 0.9);
    let told = median_of(points.iter().map(|p| p.length_s));
    let (interval_s, is_assumed) = if told.is_nan() { (whole_seconds(points), true) } else { (told, false) };
    let mut found = Vec::new();
    let mut from = 0;
    for at in 0..=points.len() {
        let ends = points.get(at).is_none_or(|p| !(rate(p) > idle) || breaks(points, at));
        if !ends {
            continue;
        }
        if at > from {
            let part = trimmed(&points[from..at]);
            if !part.is_empty() {
                found.push(Stretch { points: part, interval_s, is_assumed });
            }
        }
        // An interval after a gap begins the next stretch itself.
        let is_used = points.get(at).is_some_and(|p| rate(p) > idle);
        from = if is_used { at } else { at + 1 };
    }
    found
}

/// Whether something lies between an interval and the one before: another text, or a pause.
fn breaks(points: &[DevicePoint], at: usize) -> bool {
    let Some(before) = at.checked_sub(1).and_then(|b| points.get(b)) else { return false };
    let Some(point) = points.get(at) else { return false };
    let pause = point.at_s - before.at_s - point.length_s;
    point.origin.source != before.origin.source
        || (point.length_s > 0.0 && (pause > 0.5 * point.length_s + 1.0 || pause < -1.0 - point.length_s))
}

fn trimmed(mut points: &[DevicePoint]) -> &[DevicePoint] {
    let busy = median_of(points.iter().map(|p| p.busy_percent));
    let is_part = |p: &DevicePoint, next: Option<&DevicePoint>| {
        if p.busy_percent.is_nan() || !(busy > CONTINUOUS_PERCENT) {
            busy.is_nan() && next.is_some_and(|n| rate(p) < 0.5 * rate(n))
        } else {
            p.busy_percent < PART_SHARE * busy
        }
    };
    for _ in 0..2 {
        if let [first, rest @ ..] = points
            && is_part(first, rest.first())
        {
            points = rest;
        }
        if let [rest @ .., last] = points
            && is_part(last, rest.last())
        {
            points = rest;
        }
    }
    points
}

/// Intervals of a second show in their rates: these are whole numbers, give or take the odd late interval.
fn whole_seconds(points: &[DevicePoint]) -> f64 {
    let rates: Vec<f64> = points.iter().map(|p| p.read_iops).filter(|r| *r >= 5.0).collect();
    let whole = rates.iter().filter(|r| (*r - r.round()).abs() < 0.004).count();
    if rates.len() >= 5 && whole * 10 >= rates.len() * 8 { 1.0 } else { f64::NAN }
}

impl<'s> Stretch<'s> {
    /// Whether it lasted for at least so many intervals.
    pub fn has(&self, intervals: f64) -> bool {
        self.points.len() as f64 >= intervals
    }

    /// Mean of a number over its intervals.
    pub fn mean(&self, of: impl Fn(&DevicePoint) -> f64) -> f64 {
        let known = self.points.iter().map(|p| (of(p), p.weight())).filter(|(v, _)| v.is_finite());
        let (sum, weight) = known.fold((0.0, 0.0), |(s, w), (v, pw)| (s + v * pw, w + pw));
        sum / weight
    }

    /// Its intervals as one.
    pub fn whole(&self) -> Option<DevicePoint> {
        DevicePoint::together(self.points)
    }

    /// `after 3 s`, or, where seconds are not known, `after 3 intervals`.
    pub fn after(&self, intervals: usize) -> String {
        if self.interval_s.is_nan() {
            return format!("after {intervals} intervals");
        }
        let s = super::words::seconds(intervals as f64 * self.interval_s);
        if self.is_assumed { format!("after {intervals} intervals, about {s}") } else { format!("after {s}") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::imported::{Interval, Origin, RowsKind};

    fn series(rates: &[(f64, f64)]) -> Series {
        let mut series = Series::default();
        for (iops, busy_percent) in rates {
            let interval = Interval::unknown(RowsKind::Interval);
            let point = DevicePoint {
                iops: *iops,
                read_iops: *iops,
                busy_percent: *busy_percent,
                ..DevicePoint::unknown(&interval, Origin::default())
            };
            series.add(&point);
        }
        series
    }

    #[test]
    fn part_intervals_and_pauses_are_left_out() {
        let one = series(&[
            (1.0, 0.1),
            (570.0, 20.0),
            (1800.0, 97.0),
            (1700.0, 98.0),
            (900.0, 99.0),
            (800.0, 99.0),
            (850.0, 99.0),
            (150.0, 14.0),
            (6.0, 0.5),
            (2500.0, 67.0),
            (2800.0, 99.0),
        ]);
        let found = stretches(&one);
        let rates: Vec<Vec<f64>> = found.iter().map(|s| s.points.iter().map(|p| p.iops).collect()).collect();
        assert_eq!(rates, [vec![1800.0, 1700.0, 900.0, 800.0, 850.0], vec![2800.0]]);
        assert_eq!((found[0].interval_s, found[0].is_assumed), (1.0, true));
        assert_eq!(found[0].after(3), "after 3 intervals, about 3 s");
    }

    #[test]
    fn rates_with_fractions_tell_no_interval() {
        let one = series(&[(570.3, 99.0), (580.7, 99.0), (590.1, 99.0), (571.9, 99.0), (577.7, 99.0)]);
        assert!(stretches(&one)[0].interval_s.is_nan());
        assert!(stretches(&series(&[])).is_empty());
    }
}
