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
