//! The closed loop: each completion is followed by the next I/O at once.

use super::lane::{After, Lane};
use super::meter::Progress;
use crate::clock::now_ns;
use crate::engine::{Engine, Wait};
use std::io;
use std::sync::atomic::Ordering;

/// Keeps `slots` I/Os outstanding until the step's control releases the worker, then drains.
pub fn run<E: Engine>(lane: &mut Lane<'_, E>, slots: u32, progress: &Progress) -> io::Result<()> {
    let start_ns = now_ns();
    for slot in 0..slots {
        lane.issue(slot, start_ns);
    }
    lane.meter.set_outstanding(start_ns, slots);
    progress.in_flight.store(slots, Ordering::Relaxed);
    while !lane.control.released() {
        lane.engine.enter(Wait::Completion)?;
        let taken = lane.engine.reap(&mut lane.done);
        let now_ns = now_ns();
        lane.meter.tick(now_ns);
        for i in 0..taken {
            let completion = lane.done[i];
            if lane.complete(completion, now_ns) == After::Free {
                lane.issue(completion.slot, now_ns);
            }
        }
    }
    let (starved, starved_ns) = lane.starved();
    progress.starved.store(starved, Ordering::Relaxed);
    progress.starved_ns.store(starved_ns, Ordering::Relaxed);
    lane.meter.finish(now_ns());
    lane.drain(slots, |left| progress.in_flight.store(left, Ordering::Relaxed))
}
