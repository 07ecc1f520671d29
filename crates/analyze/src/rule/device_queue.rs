//! The LUN queue depth: the device queue stands at its limit and added I/Os wait in the host.

use crate::bound_by::{Advice, BoundBy, BoundLayer};
use crate::case::{Case, device_limit};
use crate::rule::{STANDS, is_flat, time};
use crate::split::{PINNED_SHARE, queue_of};
use record::{Layer, LayerSeen, LimitKind};

/// Every device stands at its LUN queue depth, and what is added stands in the host queue.
pub fn lun_depth(case: &Case) -> Option<BoundBy> {
    let growth = case.growth.as_ref()?;
    let devices = case.devices();
    let pinned = !devices.is_empty()
        && devices.iter().all(|(seen, layer)| {
            device_limit(seen, layer)
                .is_some_and(|(limit, kind)| kind == LimitKind::LunQueueDepth && is_pinned(seen, limit))
        });
    if !pinned || growth.gain >= crate::rule::SCALES || growth.host_queue.is_some_and(|s| s < STANDS) {
        return None;
    }
    let (seen, layer) = devices[0];
    let (limit, _) = device_limit(seen, layer)?;
    let names: Vec<&str> = devices.iter().map(|(_, l)| l.name.as_str()).collect();
    let host = case.last()?.host_queue.high_or_mean();
    Some(BoundBy {
        layer: BoundLayer::DeviceQueueLimit,
        headline: format!(
            "the LUN queue depth of {} ({limit:.0}): the device queue is full and {host:.1} I/Os wait in the host",
            names.join(", ")
        ),
        evidence: vec![
            format!("device queue {:.1} of {limit:.0} on {}", queue_of(&seen.device_queue).high_or_mean(), seen.name),
            format!("a request spends {} in the host queue and {} at the device", opt_time(seen.host_wait_us), opt_time(seen.service_us)),
        ],
        refuted_by: "throughput that does not rise when queue_depth is raised one step: then the array is full and the wait only moves into it".to_owned(),
        runner_up: is_flat(growth).then(|| (BoundLayer::Device, "the array may be full at this depth too; only raising it tells".to_owned())),
        advice: devices.iter().filter_map(|(seen, layer)| raise(case, seen, layer)).collect(),
    })
}

/// Whether a device queue stands at a limit.
pub fn is_pinned(seen: &LayerSeen, limit: f64) -> bool {
    queue_of(&seen.device_queue).high_or_mean() >= PINNED_SHARE * limit
}

fn opt_time(us: Option<f64>) -> String {
    us.map_or("-".to_owned(), time)
}

/// Twice the depth within what the adapter takes; the model: the device serves each command in the same time.
fn raise(case: &Case, seen: &LayerSeen, layer: &Layer) -> Option<Advice> {
    let now = layer.limit(LimitKind::LunQueueDepth)?;
    let most = layer.limit(LimitKind::HostCanQueue).map_or(f64::INFINITY, |l| l.value);
    let limit = seen.device_queue_limit.unwrap_or(now.value);
    let wanted = (2.0 * limit).min(most);
    let outstanding = f64::from(case.last()?.concurrency);
    let at_once = wanted.min(outstanding);
    (wanted > limit).then(|| Advice {
        text: format!("Raise the LUN queue depth of {}, after checking what the array port allows for all hosts together.", layer.name),
        file: Some(now.file.clone()),
        now: Some(format!("{limit:.0}")),
        try_value: Some(format!("{wanted:.0}")),
        expected: seen.service_us.map(|service_us| {
            format!(
                "{:.0} requests/s at {outstanding:.0} outstanding if the service time stays {}",
                at_once / service_us * 1e6,
                time(service_us)
            )
        }),
    })
}
