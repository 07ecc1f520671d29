//! N = N_above + Q_host + Q_device: where the outstanding I/Os of one window stood.
//!
//! The layers' counters overlap: what is inside a partition is inside its disk, what a multipath device has sent is
//! inside one of its paths. The split counts each I/O once: at the lowest layer that really carries the I/O it is
//! either in that layer's host queue or at the device; in a layer above it counts only while it stands in that
//! layer's own host queue; all else is above (process, filesystem, device mapper, a driver between two layers).

use crate::ceiling::Ceiling;
use crate::point::Queue;
use record::{IoPath, LayerKind, LayerSeen, LimitKind};

/// A layer that moved less than this share of the workload's bytes did not carry it: something above answered.
const CARRIES_SHARE: f64 = 0.5;
/// Standing at this share of a limit counts as pinned at it: the mean of a full queue is a little below its limit,
/// because each completion leaves a slot empty until the next dispatch.
pub const PINNED_SHARE: f64 = 0.95;

/// The mean of a full queue may miss its limit by this much of one I/O.
const SLOT_GAP: f64 = 0.12;

/// All tags of a device count as taken at this share of them. Completions and dispatch come in batches, and between them
/// tags are free for a moment.
pub const TAGS_TAKEN: f64 = 0.88;

/// Where the I/Os of one window stood.
#[derive(Clone, Debug, PartialEq)]
pub struct Split {
    /// Above the block layer or between layers.
    pub above: Queue,
    /// In host queues, all layers.
    pub host_queue: Queue,
    /// At the device.
    pub device_queue: Queue,
    /// Names of the layers that count as the device: the lowest that carry the I/O.
    pub devices: Vec<String>,
}

/// What the generator itself knows of one window.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Offered {
    /// Mean I/Os outstanding.
    pub outstanding: f64,
    /// Its rate.
    pub mib_per_s: f64,
    /// I/Os that were passed over and stood somewhere all the time (`Step::unserved`).
    pub unserved: f64,
}

/// Splits the outstanding I/Os over the layers seen.
pub fn split(path: &IoPath, layers: &[LayerSeen], offered: Offered) -> Split {
    let Offered { outstanding, mib_per_s, unserved } = offered;
    let devices = carrying_devices(path, layers, mib_per_s);
    if devices.is_empty() {
        let all = Queue { mean: None, low: 0.0, high: outstanding };
        return Split { above: all, host_queue: all, device_queue: all, devices: Vec::new() };
    }
    let mut at_device = sum(devices.iter().map(|l| queue_of(&l.device_queue)));
    // The counters add an I/O's whole time where it ends: one that hung before the window began comes to more than is
    // outstanding.
    at_device.mean = at_device.mean.map(|mean| mean.min(outstanding));
    at_device.low = at_device.low.min(outstanding);
    let own_queues = own_host_queues(path, layers, &devices);
    let counted_host = sum(own_queues.iter().map(|l| counted_host_queue(l)));
    let taken =
        waits_for_tags(path, &devices) || stands_full(path, &devices) || stands_at_peak(path, &devices);
    let hidden = outstanding - at_device.high_or_mean() - counted_host.mean.unwrap_or(counted_host.high);
    let tag_waiters = match taken {
        true => hidden.max(0.0),
        false if devices.iter().all(|seen| at_peak(seen).is_some()) => hidden.min(unserved).max(0.0),
        false => 0.0,
    };
    let mut host_queue = counted_host.plus(tag_waiters);
    // The follower says that some waited for a tag, but not all tags were taken all the time: who waits there and who
    // waits above cannot be told, so only the bound is given.
    if !taken && own_queues.iter().any(|l| l.host_queue.mean.is_none()) {
        host_queue.mean = None;
    }
    if let (Some(host), Some(device)) = (host_queue.mean, at_device.mean) {
        host_queue.mean = Some(host.min((outstanding - device).max(0.0)));
        host_queue.low = host_queue.low.min(host);
    }
    let above = Queue {
        mean: match (host_queue.mean, at_device.mean) {
            (Some(host), Some(device)) => Some((outstanding - host - device).max(0.0)),
            _ => None,
        },
        low: (outstanding - host_queue.high - at_device.high).max(0.0),
        high: (outstanding - host_queue.low - at_device.low).max(0.0),
    };
    let devices = devices.iter().map(|l| l.name.clone()).collect();
    Split { above, host_queue, device_queue: at_device, devices }
}

/// The lowest layers that carry the workload. Partitions stand for nothing of their own, so a disk under its
/// partition is the device.
fn carrying_devices<'a>(path: &IoPath, layers: &'a [LayerSeen], mib_per_s: f64) -> Vec<&'a LayerSeen> {
    let seen = |name: &str| layers.iter().find(|l| l.name == name);
    let mut level: Vec<&str> = path.leaves().map(|l| l.name.as_str()).collect();
    // At most as many levels as layers: each round goes up at least one.
    for _ in 0..=path.layers.len() {
        let found: Vec<&LayerSeen> = level.iter().filter_map(|name| seen(name)).collect();
        let moved: f64 = found.iter().map(|l| l.mib_per_s).sum();
        if !found.is_empty() && moved >= CARRIES_SHARE * mib_per_s {
            return found;
        }
        let mut above: Vec<&str> = path
            .counted()
            .filter(|l| l.kind != LayerKind::Partition && reaches(path, l.name.as_str(), &level))
            .map(|l| l.name.as_str())
            .collect();
        above.dedup();
        if above.is_empty() {
            return Vec::new();
        }
        level = above;
    }
    Vec::new()
}

/// Whether one of `below` is directly below `name`, partitions and filesystems between them passed over.
fn reaches(path: &IoPath, name: &str, below: &[&str]) -> bool {
    let Some(layer) = path.layer(name) else { return false };
    layer.below.iter().any(|child| {
        below.contains(&child.as_str())
            || path.layer(child).is_some_and(|c| {
                (c.kind == LayerKind::Partition || !c.has_counters) && reaches(path, &c.name, below)
            })
    })
}

/// Layers whose own host queue holds I/Os that are in no other count: the devices, and request-based layers above
/// them (multipath, loop). A partition's counters are its disk's.
fn own_host_queues<'a>(
    path: &IoPath,
    layers: &'a [LayerSeen],
    devices: &[&'a LayerSeen],
) -> Vec<&'a LayerSeen> {
    layers
        .iter()
        .filter(|l| {
            let kind = path.layer(&l.name).map(|p| p.kind);
            devices.iter().any(|d| d.name == l.name)
                || (kind != Some(LayerKind::Partition)
                    && devices.iter().any(|d| is_above(path, &l.name, &d.name)))
        })
        .collect()
}

/// What the counters themselves hold in a layer's host queue. Where waiters for a tag may stand above the counters, the
/// follower gives only a bound for both; what was accepted and not sent is known all the same.
fn counted_host_queue(seen: &LayerSeen) -> Queue {
    let whole = queue_of(&seen.host_queue);
    match (whole.mean, seen.inside.mean, seen.device_queue.mean) {
        (None, Some(inside), Some(device)) => {
            let counted = (inside - device).max(0.0);
            Queue { mean: Some(counted), low: whole.low.min(counted), high: whole.high.max(counted) }
        }
        _ => whole,
    }
}

fn is_above(path: &IoPath, upper: &str, lower: &str) -> bool {
    let Some(layer) = path.layer(upper) else { return false };
    layer.below.iter().any(|child| child == lower || is_above(path, child, lower))
}

/// A request that finds no tag (the driver's with scheduler `none`, the scheduler's own otherwise) waits where no
/// counter looks. When all tags of every device are taken, what is missing from the counters stands there.
fn waits_for_tags(path: &IoPath, devices: &[&LayerSeen]) -> bool {
    devices.iter().all(|seen| {
        let Some(layer) = path.layer(&seen.name) else { return false };
        let Some(tags) = tags_of(layer) else { return false };
        queue_of(&seen.inside).high_or_mean() >= TAGS_TAKEN * tags
    })
}

/// While a device has all the I/Os it can be sent, whatever else is outstanding stands before it. Not all of that is in
/// the counters, which know of a request only when it is sent or completes: with a very short device queue Linux lets
/// late requests overtake early ones for as long as the load lasts (seen on 6.12 with a LUN queue depth of 1 and 2).
fn stands_full(path: &IoPath, devices: &[&LayerSeen]) -> bool {
    devices.iter().any(|seen| {
        let lowest = path.layer(&seen.name).and_then(|layer| Ceiling::of(seen, layer).lowest());
        lowest.is_some_and(|(limit, _)| is_pinned(seen, limit))
    })
}

/// Whether a bare device never left its largest number, below every limit known here (the window of an iSCSI target, slots
/// of a driver). Nothing that could hold I/Os back stands above it, so whatever else is outstanding waits before it.
fn stands_at_peak(path: &IoPath, devices: &[&LayerSeen]) -> bool {
    let holds = |kind| {
        use LayerKind::{Cgroup, DeviceMapper, Filesystem, Loop, Md};
        matches!(kind, Cgroup | DeviceMapper | Filesystem | Loop | Md)
    };
    let bare = path.layers.iter().all(|l| !holds(l.kind));
    bare && devices.iter().all(|seen| at_peak(seen).is_some())
}

/// Whether a device queue stands at a limit. The mean of a queue of one or two misses its limit by more than the share:
/// the slot is empty from each completion to the next dispatch.
pub fn is_pinned(seen: &LayerSeen, limit: f64) -> bool {
    let standing = queue_of(&seen.device_queue).high_or_mean();
    standing >= (PINNED_SHARE * limit).min(limit - SLOT_GAP)
}

/// The most seen at the device, when it stood there nearly all the time.
pub fn at_peak(seen: &LayerSeen) -> Option<f64> {
    let peak = seen.device_queue_peak?;
    (peak >= 1.0 && queue_of(&seen.device_queue).high_or_mean() >= PINNED_SHARE * peak).then_some(peak)
}

/// Requests a device can have allocated: per hardware queue times hardware queues.
pub fn tags_of(layer: &record::Layer) -> Option<f64> {
    let per_queue = layer.limit(LimitKind::RequestsPerQueue)?.value;
    let queues = layer.limit(LimitKind::HardwareQueues).map_or(1.0, |l| l.value.max(1.0));
    Some(per_queue * queues)
}

/// A layer's number as a queue.
pub fn queue_of(standing: &record::Standing) -> Queue {
    Queue { mean: standing.mean, low: standing.low, high: standing.high }
}

fn sum(queues: impl Iterator<Item = Queue>) -> Queue {
    queues.fold(Queue { mean: Some(0.0), low: 0.0, high: 0.0 }, |a, b| Queue {
        mean: a.mean.zip(b.mean).map(|(x, y)| x + y),
        low: a.low + b.low,
        high: a.high + b.high,
    })
}

impl Queue {
    /// The value, or the upper bound where only a bound is known.
    pub fn high_or_mean(&self) -> f64 {
        self.mean.unwrap_or(self.high)
    }

    fn plus(self, more: f64) -> Self {
        let mean = self.mean.map(|m| m + more);
        Self { mean, low: self.low, high: self.high.max(mean.unwrap_or(self.high)) }
    }
}
