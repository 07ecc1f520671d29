//! What bounds the number of I/Os that a device is sent at once: several limits, of which the lowest binds.

use crate::split::queue_of;
use record::{Layer, LayerKind, LayerSeen, LimitKind};

/// The kernel never leaves a LUN that shares tags fewer than this (`hctx_may_queue`).
const SHARE_MIN: f64 = 4.0;

/// A device queue this far over its part of the tags is not held to it.
const OVER_SHARE: f64 = 1.1;

/// What kind of limit it is. The order is that of blame: where several stand at one value, the first of them is the
/// one that no setting of the others gets past.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Slots {
    /// Commands the host adapter takes (`can_queue`), for all its LUNs together.
    HostTags,
    /// What the driver of a device that is no LUN takes: its tags, fixed while the device lives.
    DriverTags,
    /// This LUN's equal part of the adapter's tags while other LUNs are active.
    SharedTags,
    /// The LUN queue depth.
    LunDepth,
    /// Requests that may be allocated (`nr_requests`).
    Requests,
}

/// All limits of one device.
#[derive(Clone, Debug, PartialEq)]
pub struct Ceiling {
    all: Vec<(Slots, f64)>,
}

impl Ceiling {
    /// As the path describes them and the follower saw them.
    pub fn of(seen: &LayerSeen, layer: &Layer) -> Self {
        let mut all = Vec::new();
        let value = |kind| layer.limit(kind).map(|l| l.value);
        if let Some(depth) = value(LimitKind::LunQueueDepth) {
            all.push((Slots::LunDepth, seen.device_queue_limit.unwrap_or(depth)));
        }
        let queues = queues_of(layer);
        all.extend(value(LimitKind::RequestsPerQueue).map(|n| (Slots::Requests, n * queues)));
        let tags = value(LimitKind::TagsPerQueue).map(|n| n * queues);
        if layer.kind == LayerKind::Scsi {
            // can_queue holds for the whole host, or for each of its queues: what is there tells which.
            let standing = queue_of(&seen.device_queue).high_or_mean();
            let whole = |n: f64| if standing > 1.02 * n { n * queues } else { n };
            let per_queue = value(LimitKind::HostCanQueue).or(value(LimitKind::TagsPerQueue)).map(whole);
            all.extend(per_queue.map(|n| (Slots::HostTags, n)));
            if let (Some(tags), Some(users)) = (per_queue, users(seen).filter(|n| *n > 1)) {
                let share = share(tags, users);
                // Beyond its part the siblings were not active all the time: then it bounds nothing.
                if standing <= OVER_SHARE * share {
                    all.push((Slots::SharedTags, share));
                }
            }
        } else {
            all.extend(tags.map(|n| (Slots::DriverTags, n)));
        }
        Self { all }
    }

    /// The limit that binds first, and its kind.
    pub fn lowest(&self) -> Option<(f64, Slots)> {
        let lowest = self.all.iter().min_by(|a, b| a.1.total_cmp(&b.1).then(a.0.cmp(&b.0)))?;
        Some((lowest.1, lowest.0))
    }

    /// The value of one kind.
    pub fn value(&self, slots: Slots) -> Option<f64> {
        self.all.iter().find(|(kind, _)| *kind == slots).map(|(_, value)| *value)
    }

    /// The same with one limit changed.
    pub fn with(&self, slots: Slots, value: f64) -> Self {
        let all = self.all.iter().map(|(kind, old)| (*kind, if *kind == slots { value } else { *old }));
        Self { all: all.collect() }
    }

    /// The same without one kind.
    pub fn without(&self, slots: Slots) -> Self {
        Self { all: self.all.iter().filter(|(kind, _)| *kind != slots).copied().collect() }
    }
}

/// Hardware queues that carry the load: no more than the path says.
pub fn queues_of(layer: &Layer) -> f64 {
    layer.limit(LimitKind::HardwareQueues).map_or(1.0, |l| l.value.max(1.0))
}

/// LUNs that kept tags for themselves, this one included: the kernel's own count, else those seen at work.
pub fn users(seen: &LayerSeen) -> Option<u32> {
    let sharing = seen.tag_sharing.as_ref()?;
    let at_work = sharing.active.len() as u32 + 1;
    Some(sharing.counted.map_or(at_work, |n| n.max(at_work)))
}

/// An equal part of the tags.
pub fn share(tags: f64, users: u32) -> f64 {
    (tags / f64::from(users.max(1))).ceil().max(SHARE_MIN).min(tags)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_are_shared_as_the_kernel_does() {
        assert_eq!([1, 2, 3, 4, 8].map(|users| share(16.0, users)), [16.0, 8.0, 6.0, 4.0, 4.0]);
        assert_eq!(share(2.0, 4), 2.0);
    }
}
