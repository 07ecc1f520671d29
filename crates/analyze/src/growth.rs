//! What more concurrency bought: throughput, and where the added I/Os stand (dQ/dN).

use crate::point::{Point, Queue};

/// Points below this share of the largest concurrency are too far from the end of the curve to say what stops it.
const NEAR_END: f64 = 0.2;
/// At least this ratio of concurrencies is needed between the first and the last point used.
const SPAN_MIN: f64 = 1.3;

/// The end of the curve in figures.
#[derive(Clone, Debug, PartialEq)]
pub struct Growth {
    /// First concurrency used.
    pub from: u32,
    /// Last concurrency used: the largest measured.
    pub to: u32,
    /// Throughput at both.
    pub iops: (f64, f64),
    /// Mean response time at both, us.
    pub response_us: (f64, f64),
    /// Share of the added concurrency that became throughput: 1 doubles with N, 0 flat, below 0 falls.
    pub gain: f64,
    /// Of each added I/O, the share that stands above the block layer; absent when not known.
    pub above: Option<f64>,
    /// Share that stands in host queues.
    pub host_queue: Option<f64>,
    /// Share that stands at the device.
    pub device_queue: Option<f64>,
}

/// The points near the end of the curve.
pub fn end_of(points: &[Point]) -> &[Point] {
    let Some(last) = points.last() else { return points };
    let near = f64::from(last.concurrency) * NEAR_END;
    let first = points.iter().position(|p| f64::from(p.concurrency) >= near).unwrap_or(0);
    // One point alone has no slope; take the one before it, however far.
    let first = if first + 1 == points.len() { first.saturating_sub(1) } else { first };
    &points[first..]
}

/// Growth over the end of the curve; absent with fewer than two points apart.
pub fn growth(points: &[Point]) -> Option<Growth> {
    let end = end_of(points);
    let (first, last) = (end.first()?, end.last()?);
    if f64::from(last.concurrency) < SPAN_MIN * f64::from(first.concurrency) || first.iops <= 0.0 {
        return None;
    }
    let response = |p: &Point| p.response.mean_ns().map_or(f64::NAN, |ns| ns / 1e3);
    let by_n = |of: fn(&Point) -> Queue| slope(end, of);
    Some(Growth {
        from: first.concurrency,
        to: last.concurrency,
        iops: (first.iops, last.iops),
        response_us: (response(first), response(last)),
        gain: gain(first, last),
        above: by_n(|p| p.above),
        host_queue: by_n(|p| p.host_queue),
        device_queue: by_n(|p| p.device_queue),
    })
}

/// (X2/X1 - 1) / (N2/N1 - 1).
pub fn gain(first: &Point, last: &Point) -> f64 {
    let added = f64::from(last.concurrency) / f64::from(first.concurrency) - 1.0;
    (last.iops / first.iops - 1.0) / added
}

/// Least squares slope of a queue over N, windows weighted by their length.
fn slope(points: &[Point], of: fn(&Point) -> Queue) -> Option<f64> {
    let known: Option<Vec<(f64, f64, f64)>> =
        points.iter().map(|p| Some((p.seconds, f64::from(p.concurrency), of(p).mean?))).collect();
    let known = known?;
    let weight: f64 = known.iter().map(|k| k.0).sum();
    let mean = |read: fn(&(f64, f64, f64)) -> f64| known.iter().map(|k| k.0 * read(k)).sum::<f64>() / weight;
    let (n_mean, q_mean) = (mean(|k| k.1), mean(|k| k.2));
    let spread: f64 = known.iter().map(|(w, n, _)| w * (n - n_mean).powi(2)).sum();
    let together: f64 = known.iter().map(|(w, n, q)| w * (n - n_mean) * (q - q_mean)).sum();
    (spread > 0.0).then(|| together / spread)
}
