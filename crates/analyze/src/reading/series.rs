//! The course of a device in bounded memory: neighbours are merged when there are too many points.

use super::point::DevicePoint;

/// Points kept of one device.
pub(super) const POINTS_MAX: usize = 2048;
/// Points of extremes kept, each.
const PEAKS: usize = 3;

/// Points in the order of time, and the extremes of all of them as they were.
#[derive(Clone, Debug, Default)]
pub struct Series {
    points: Vec<DevicePoint>,
    /// Rows that go into one point.
    stride: usize,
    /// Rows in the point that is being merged.
    open: usize,
    /// Rows added.
    rows: u64,
    most_host_queue: Vec<DevicePoint>,
    most_outstanding: Vec<DevicePoint>,
    most_response: Vec<DevicePoint>,
    most_queue_full: Vec<DevicePoint>,
    longest: Vec<DevicePoint>,
}

impl Series {
    /// Adds a row.
    pub fn add(&mut self, point: &DevicePoint) {
        self.rows += 1;
        keep(&mut self.most_host_queue, point, |p| p.host_queue);
        keep(&mut self.most_outstanding, point, |p| p.outstanding);
        keep(&mut self.most_response, point, |p| p.response_us);
        keep(&mut self.most_queue_full, point, |p| p.queue_full_per_s);
        keep(&mut self.longest, point, |p| p.longest_us);
        let stride = self.stride.max(1);
        match self.points.last_mut() {
            Some(last) if self.open < stride && self.open > 0 => *last = last.merged(point),
            _ => {
                self.points.push(*point);
                self.open = 0;
            }
        }
        self.open += 1;
        if self.points.len() > POINTS_MAX {
            self.halve();
        }
    }

    /// Merges neighbours: half as many points.
    pub(super) fn halve(&mut self) {
        let merged = self.points.chunks(2).map(|pair| match pair {
            [a, b] => a.merged(b),
            other => other[0],
        });
        self.points = merged.collect();
        self.stride = self.stride.max(1) * 2;
        self.open = self.stride;
    }

    /// The course.
    pub fn points(&self) -> &[DevicePoint] {
        &self.points
    }

    /// Rows that were added.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Rows that one point stands for.
    pub fn stride(&self) -> usize {
        self.stride.max(1)
    }

    /// Rows with the longest host queue, longest first.
    pub fn most_host_queue(&self) -> &[DevicePoint] {
        &self.most_host_queue
    }

    /// Rows with most I/Os outstanding.
    pub fn most_outstanding(&self) -> &[DevicePoint] {
        &self.most_outstanding
    }

    /// Rows with the longest mean response.
    pub fn most_response(&self) -> &[DevicePoint] {
        &self.most_response
    }

    /// Rows with most full queues.
    pub fn most_queue_full(&self) -> &[DevicePoint] {
        &self.most_queue_full
    }

    /// Rows with the longest single I/O told.
    pub fn longest(&self) -> &[DevicePoint] {
        &self.longest
    }

    /// Points that did I/O.
    pub fn busy(&self) -> impl Iterator<Item = &DevicePoint> {
        self.points.iter().filter(|p| p.iops > 0.0)
    }

    /// Mean of a number over time, where it is known; NaN where it never is.
    pub fn mean(&self, of: impl Fn(&DevicePoint) -> f64) -> f64 {
        let known = self.points.iter().map(|p| (of(p), p.weight())).filter(|(v, _)| !v.is_nan());
        let (sum, weight) = known.fold((0.0, 0.0), |(s, w), (v, pw)| (s + v * pw, w + pw));
        sum / weight
    }

    /// Mean of a time per I/O, each point by its I/Os.
    pub fn mean_per_io(&self, of: impl Fn(&DevicePoint) -> f64) -> f64 {
        let known =
            self.points.iter().map(|p| (of(p), p.weight() * p.iops)).filter(|(v, w)| !v.is_nan() && *w > 0.0);
        let (sum, weight) = known.fold((0.0, 0.0), |(s, w), (v, pw)| (s + v * pw, w + pw));
        sum / weight
    }
}

fn keep(peaks: &mut Vec<DevicePoint>, point: &DevicePoint, by: impl Fn(&DevicePoint) -> f64) {
    let value = by(point);
    if !(value > 0.0) || (peaks.len() == PEAKS && value <= by(&peaks[PEAKS - 1])) {
        return;
    }
    let place = peaks.partition_point(|p| by(p) >= value);
    peaks.insert(place, *point);
    peaks.truncate(PEAKS);
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::imported::{Interval, Origin, RowsKind};

    fn point(iops: f64) -> DevicePoint {
        let interval = Interval { length_s: 1.0, ..Interval::unknown(RowsKind::Interval) };
        DevicePoint { iops, outstanding: iops / 100.0, ..DevicePoint::unknown(&interval, Origin::default()) }
    }

    #[test]
    fn means_and_peaks_outlive_the_merging() {
        let mut series = Series::default();
        let rows = POINTS_MAX as u64 * 5 + 3;
        for n in 0..rows {
            series.add(&point(if n == 777 { 1e6 } else { 100.0 }));
        }
        assert!(series.points().len() <= POINTS_MAX && series.rows() == rows);
        let wanted = 100.0 + (1e6 - 100.0) / rows as f64;
        assert!((series.mean(|p| p.iops) - wanted).abs() < 1e-6 * wanted);
        assert_eq!(series.most_outstanding()[0].iops, 1e6);
        let seconds: f64 = series.points().iter().map(|p| p.length_s).sum();
        assert_eq!(seconds, rows as f64);
    }
}
