//! Views of the curve that all forms of the report share.

use analyze::{Point, Queue};
use probe::{Answer, LoadLine, Outcome};
use record::{IoClass, LatencyHistogram, LatencyLimit, Statistic};

/// The statistic of the limit at a point, us. Without a class, reads and writes count each and the worse is shown.
pub fn limit_statistic_us(limit: &LatencyLimit, point: &Point) -> Option<f64> {
    let of = |histogram: &LatencyHistogram| match limit.statistic {
        Statistic::Mean => histogram.mean_ns().map(|ns| ns / 1e3),
        Statistic::Quantile(q) => histogram.quantile_ns(q).map(|ns| ns as f64 / 1e3),
    };
    match limit.class {
        Some(IoClass::Read) => of(&point.read),
        Some(IoClass::Write) => of(&point.write),
        Some(IoClass::Flush) => of(&point.flush),
        None => {
            let worst = [&point.read, &point.write].into_iter().filter_map(of).reduce(f64::max);
            worst.or_else(|| of(&point.response))
        }
    }
}

/// A quantile of the response time at a point, us.
pub fn quantile_us(point: &Point, quantile: f64) -> Option<f64> {
    point.response.quantile_ns(quantile).map(|ns| ns as f64 / 1e3)
}

/// Mean response time at a point, us.
pub fn mean_us(point: &Point) -> Option<f64> {
    point.response.mean_ns().map(|ns| ns / 1e3)
}

/// Index of the point nearest to a concurrency, by ratio; absent without points.
pub fn nearest(points: &[Point], concurrency: f64) -> Option<usize> {
    let distance = |p: &Point| (f64::from(p.concurrency.max(1)) / concurrency.max(1e-9)).ln().abs();
    let better = |a: &(usize, &Point), b: &(usize, &Point)| distance(a.1).total_cmp(&distance(b.1));
    points.iter().enumerate().min_by(better).map(|(index, _)| index)
}

/// Index of the point that may be called this concurrency: no further from it than between two doublings, else none.
pub fn marked(points: &[Point], concurrency: f64) -> Option<usize> {
    let near = |i: &usize| {
        let ratio = f64::from(points[*i].concurrency.max(1)) / concurrency;
        (0.7..=1.42).contains(&ratio)
    };
    nearest(points, concurrency).filter(near)
}

/// The queue's best value or, without one, its bounds; absent when neither is known.
pub enum Known {
    /// Nothing is known.
    Absent,
    /// Between these.
    Between(f64, f64),
    /// This many.
    Mean(f64),
}

impl Known {
    /// How well a queue is known. A queue that was never filled in has neither a value nor a bound above zero; one
    /// that lies somewhere between nothing and everything is not known either.
    pub fn of(queue: &Queue) -> Self {
        match queue.mean {
            Some(mean) => Self::Mean(mean),
            None if queue.low > 0.0 || (queue.high > 0.0 && queue.high.is_finite()) => {
                Self::Between(queue.low, queue.high)
            }
            None => Self::Absent,
        }
    }
}

/// What the load line is called: only a search that ended at the limit, or a list of depths, found one in full.
pub fn line_name(answer: &Answer) -> &'static str {
    match answer.outcome {
        Outcome::NeverReached { .. } => "saturation",
        Outcome::EdgeOfRange { .. } | Outcome::Guarded { .. } => "at least",
        _ => "load line",
    }
}

/// The load line, if it has a number worth drawing.
pub fn load_line(answer: &Answer) -> Option<&LoadLine> {
    answer.load_line.as_ref().filter(|line| line.iops.is_finite() && line.iops > 0.0)
}

/// Largest of some values; absent when there is none that is finite.
pub fn largest(values: impl IntoIterator<Item = f64>) -> Option<f64> {
    values.into_iter().filter(|v| v.is_finite()).reduce(f64::max)
}

/// Whether the limit held at a rate, in a word.
pub fn open_word(rate: &probe::OpenPoint) -> &'static str {
    match rate.holds {
        Some(true) => "holds",
        Some(false) => "breaks",
        None => "not known",
    }
}

/// Neighbouring concurrencies at less than this ratio tell the same story twice.
const RATIO_SHOWN: f64 = 1.35;
/// Up to this many points all are shown.
const SHOWN_ALL: usize = 12;

/// Points worth a row on a screen: all that a user listed; of a search the first, the last, the load line, and others
/// no closer to each other than a factor. The page and `--json` have them all.
pub fn shown(answer: &Answer) -> Vec<usize> {
    let points = &answer.points;
    if points.len() <= SHOWN_ALL || answer.outcome == Outcome::Swept {
        return (0..points.len()).collect();
    }
    let line = load_line(answer).and_then(|l| marked(points, f64::from(l.concurrency)));
    let far = |a: usize, b: usize| {
        let (a, b) = (f64::from(points[a].concurrency), f64::from(points[b].concurrency));
        (b / a.max(1.0)).max(a / b.max(1.0)) >= RATIO_SHOWN
    };
    let last = points.len() - 1;
    let mut kept: Vec<usize> = Vec::new();
    for index in 0..points.len() {
        let marked = Some(index) == line || index == last;
        let apart = kept.last().is_none_or(|k| far(*k, index))
            && line.is_none_or(|l| far(l, index))
            && far(last, index);
        if marked || apart {
            kept.push(index);
        }
    }
    kept
}
