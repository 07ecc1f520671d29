//! The device is full: it takes longer in proportion to what stands at it.
//!
//! A host queue that grows says only that the device was sent no more. Whether more would help shows in the service
//! time: if it stayed while the device queue grew, the device had room and the limit above it binds; if it grew in
//! proportion, the device was full, and more room at it would only move the wait (Lazowska et al. 1984, ch. 5).

use crate::bound_by::{Advice, BoundBy, BoundLayer};
use crate::case::Case;
use crate::point::Point;
use crate::rule::standing::where_bound;
use crate::rule::{SCALES, STANDS, time};
use stats::line::Line;

/// The service time's share of the device queue's growth, both as logarithms, from which the device counts as full.
const FULL: f64 = 0.6;
/// The device queue must have grown by this factor between the points compared.
const GROWN: f64 = 1.6;
/// A queue of less than this is too small to compare.
const QUEUE_MIN: f64 = 1.5;

/// How the service time answered the device queue's growth before the end of the curve.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Response {
    /// Device queue and service time (us) at the earlier point.
    pub before: (f64, f64),
    /// The same at the end.
    pub after: (f64, f64),
    /// ln(service) over ln(queue): 0 the device had room, 1 it was full.
    pub elasticity: f64,
}

/// Compares the last point with the nearest earlier one whose device queue was clearly smaller.
pub fn response(points: &[Point]) -> Option<Response> {
    let last = at_device(points.last()?)?;
    let before = points
        .iter()
        .rev()
        .skip(1)
        .filter_map(at_device)
        .find(|(queue, _)| *queue >= QUEUE_MIN && last.0 >= GROWN * queue)?;
    let elasticity = (last.1 / before.1).ln() / (last.0 / before.0).ln();
    Some(Response { before, after: last, elasticity })
}

/// A point with no more than this share of its I/Os outside the device shows the device alone.
const ELSEWHERE: f64 = 0.1;
/// Times that grew by less may be noise.
const GREW_LEAST: f64 = 1.05;

/// Whether nearly all of a point's I/Os stood at the device.
pub fn is_at_device(p: &Point) -> bool {
    let n = f64::from(p.concurrency);
    p.device_queue.mean.is_some_and(|queue| queue >= (1.0 - ELSEWHERE) * n)
}

/// Time at the device (s) as a straight line over the device queue, from points whose I/Os all stood there; absent
/// when it did not grow. In the line of a target that is never idle an I/O takes the time of all that stand in it, those
/// of other hosts included: R(n) = (others + n) / rate.
pub fn line(points: &[Point]) -> Option<Line> {
    let course: Vec<(f64, f64, f64)> = points
        .iter()
        .filter(|p| is_at_device(p))
        .filter_map(|p| at_device(p).map(|(queue, us)| (queue, us / 1e6, p.seconds)))
        .collect();
    let (first, last) = (course.first()?, course.last()?);
    if last.0 < GROWN * first.0 || last.1 < GREW_LEAST * first.1 {
        return None;
    }
    stats::line::fit(&course, None).filter(|line| line.slope > 0.0 && line.at(0.0) >= 0.0)
}

/// How the service time goes on as the device queue grows.
#[derive(Clone, Copy, Debug)]
pub enum Law {
    /// In proportion to the queue to this power.
    Power(f64),
    /// Along a straight line: [`line`].
    Line(Line),
}

impl Law {
    /// The form that lies closer to the points measured; steady when neither is known.
    pub fn of(points: &[Point]) -> Self {
        let power = Self::Power(response(points).map_or(0.0, |r| r.elasticity).max(0.0));
        let Some(line) = line(points) else { return power };
        let course: Vec<(f64, f64)> =
            points.iter().filter(|p| is_at_device(p)).filter_map(at_device).collect();
        let Some(&last) = course.last() else { return power };
        let off = |law: &Self| -> f64 {
            course.iter().map(|at| (last.1 / at.1 / law.factor(at.0, last.0)).ln().powi(2)).sum()
        };
        let straight = Self::Line(line);
        if off(&straight) < off(&power) { straight } else { power }
    }

    /// Service time at a queue of `to` against that at `from`.
    pub fn factor(&self, from: f64, to: f64) -> f64 {
        match self {
            Self::Power(power) => (to / from).powf(*power),
            Self::Line(line) => line.at(to) / line.at(from),
        }
    }
}

/// Device queue and the time an I/O spends there, by Little's law.
fn at_device(point: &Point) -> Option<(f64, f64)> {
    let queue = point.device_queue.mean?;
    (point.iops > 0.0 && queue > 0.0).then(|| (queue, queue / point.iops * 1e6))
}

/// Added I/Os stand in the host queue, but the device was full before.
pub fn full_device(case: &Case) -> Option<BoundBy> {
    let growth = case.growth.as_ref()?;
    if growth.gain >= SCALES || growth.host_queue.is_none_or(|s| s < STANDS) {
        return None;
    }
    let seen = response(case.points).filter(|r| r.elasticity >= FULL)?;
    let devices = case.last()?.devices.join(", ");
    Some(BoundBy {
        layer: BoundLayer::Device,
        headline: format!(
            "{}: it is full, and what is added waits before it in the host",
            where_bound(&case.devices(), &devices)
        ),
        evidence: vec![format!(
            "with {:.0} I/Os at the device each took {} there, with {:.0} {}: the time grew with the queue, so more of them at once bring little",
            seen.before.0,
            time(seen.before.1),
            seen.after.0,
            time(seen.after.1)
        )],
        refuted_by: format!(
            "clearly more throughput after raising the limit on what {devices} is sent (nr_requests, queue depth)"
        ),
        runner_up: Some((
            BoundLayer::HostQueue,
            "added I/Os stand there, but only because the device takes no more".to_owned(),
        )),
        advice: vec![Advice::words(
            "Keep concurrency at or below the load line, spread the data over more devices, or use a faster one: a longer queue at the device would only move the wait.",
        )],
    })
}
