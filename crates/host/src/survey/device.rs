//! One device as the survey knows it between samples.

use super::counters::Counters;
use super::topology::{self, Look, Place};
use crate::root::Root;
use record::DeviceSample;
use std::ops::Range;
use std::sync::Arc;

/// What is kept of a device.
#[derive(Debug)]
pub(crate) struct Device {
    pub major: u32,
    pub minor: u32,
    /// Its row in the present text, newline left out.
    pub row: Range<usize>,
    /// Counters before and now.
    pub before: Counters,
    pub now: Counters,
    /// There is a first end: the device was there at the reading before.
    pub has_before: bool,
    pub place: Place,
    pub look: Look,
    /// Places of the devices directly below in the table.
    pub below: Vec<usize>,
    /// Intervals since it last did anything.
    pub quiet_for: u32,
    /// Its place among the devices that are read closely.
    pub followed: Option<usize>,
    /// Reading of the counters in which it was met last.
    pub round: u64,
}

impl Device {
    /// Meets a device for the first time.
    pub fn meet(root: &Root, major: u32, minor: u32, name: &str) -> (Self, DeviceSample) {
        let place = topology::place(root, name);
        let look = topology::look(root, &place);
        let mut sample = DeviceSample::empty(Arc::new(topology::facts(name, &place, &look)));
        sample.limits = look.limits;
        let device = Self {
            major,
            minor,
            row: 0..0,
            before: Counters::default(),
            now: Counters::default(),
            has_before: false,
            place,
            look,
            below: Vec::new(),
            quiet_for: 0,
            followed: None,
            round: 0,
        };
        (device, sample)
    }

    /// A whole device with a host queue of its own.
    pub fn splits(&self) -> bool {
        self.place.request_based && self.place.disk.is_none()
    }

    /// Whether requests go to the driver without a scheduler.
    pub fn unscheduled(&self) -> bool {
        self.look.scheduler.as_deref().is_none_or(|s| s == "none")
    }

    /// Looks again at what may have changed; true when the stack did.
    pub fn look_again(&mut self, root: &Root, sample: &mut DeviceSample) -> bool {
        let look = topology::look(root, &self.place);
        // Counters of failures are 32 bits wide and wrap.
        let delta = |before: Option<u64>, now: Option<u64>| {
            before.zip(now).map(|(b, n)| u64::from((n as u32).wrapping_sub(b as u32)))
        };
        sample.failed = delta(self.look.failed, look.failed);
        sample.timed_out = delta(self.look.timed_out, look.timed_out);
        let highest = [sample.limits.queue_depth_highest, look.limits.queue_depth];
        sample.limits = look.limits;
        sample.limits.queue_depth_highest = highest.into_iter().flatten().reduce(f64::max);
        let restacked = look.below != self.look.below;
        let changed = restacked || look.scheduler != self.look.scheduler;
        self.look = look;
        if changed {
            let above = sample.facts.above.clone();
            let mut facts = topology::facts(&sample.facts.name, &self.place, &self.look);
            facts.above = above;
            sample.facts = Arc::new(facts);
        }
        restacked
    }
}
