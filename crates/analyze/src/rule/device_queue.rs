//! The LUN queue depth: the device queue stands at its limit and added I/Os wait in the host.

use crate::bound_by::{Advice, BoundBy, BoundLayer};
use crate::case::Case;
use crate::ceiling::{Ceiling, Slots};
use crate::outlook::Model;
use crate::rule::{STANDS, is_flat, time};
use crate::split::{is_pinned, queue_of};
use record::{Layer, LayerKind, LayerSeen, LimitKind};

/// A device with this share of its limit in use or less has room.
pub const ROOM: f64 = 0.7;
/// A LUN is hot when it gets this many times its even share of the I/O.
const HOT: f64 = 1.3;

/// Every device stands at its LUN queue depth, and what is added stands in the host queue.
pub fn lun_depth(case: &Case) -> Option<BoundBy> {
    let growth = case.growth.as_ref()?;
    let devices = case.devices();
    let full = !devices.is_empty() && devices.iter().all(|(seen, layer)| at_lun_depth(seen, layer).is_some());
    if !full || growth.gain >= crate::rule::SCALES || growth.host_queue.is_some_and(|s| s < STANDS) {
        return None;
    }
    let (seen, _) = devices[0];
    let names: Vec<String> = devices
        .iter()
        .filter_map(|(seen, layer)| Some(format!("{} ({:.0})", layer.name, at_lun_depth(seen, layer)?)))
        .collect();
    let host = case.last()?.host_queue.high_or_mean();
    let mut evidence: Vec<String> = devices
        .iter()
        .filter_map(|(seen, layer)| {
            let limit = at_lun_depth(seen, layer)?;
            Some(format!(
                "device queue {:.1} of {limit:.0} on {}",
                queue_of(&seen.device_queue).high_or_mean(),
                seen.name
            ))
        })
        .collect();
    evidence.push(format!(
        "a request spends {} in the host queue and {} at the device",
        opt_time(seen.host_wait_us),
        opt_time(Model::of(case).map(|m| 1e6 * m.service_s).or(seen.service_us))
    ));
    Some(BoundBy {
        layer: BoundLayer::DeviceQueueLimit,
        headline: format!(
            "the LUN queue depth of {}: the device queue is full and {host:.1} I/Os wait in the host",
            names.join(", ")
        ),
        evidence,
        refuted_by: "throughput that does not rise when queue_depth is raised one step: then the array is full and the wait only moves into it".to_owned(),
        runner_up: is_flat(growth).then(|| (BoundLayer::Device, "the array may be full at this depth too; only raising it tells".to_owned())),
        advice: raise_all(case, &devices),
    })
}

/// One of several LUNs that are no paths of each other stands at its depth while the others have room.
pub fn hot_lun(case: &Case) -> Option<BoundBy> {
    let growth = case.growth.as_ref()?;
    let path = case.path()?;
    let devices = case.devices();
    if devices.len() < 2
        || growth.gain >= crate::rule::SCALES
        || path.layers.iter().any(|l| l.kind == LayerKind::Multipath)
    {
        return None;
    }
    let whole: f64 = devices.iter().map(|(seen, _)| seen.requests_per_s).sum();
    let share = |seen: &LayerSeen| seen.requests_per_s / whole.max(1e-9);
    let (full, rest): (Vec<_>, Vec<_>) =
        devices.iter().copied().partition(|(seen, layer)| at_lun_depth(seen, layer).is_some());
    let roomy = rest.iter().all(|(seen, layer)| {
        let limit = Ceiling::of(seen, layer).lowest().map_or(f64::INFINITY, |(limit, _)| limit);
        queue_of(&seen.device_queue).high_or_mean() < ROOM * limit
    });
    let hot = full.iter().all(|(seen, _)| share(seen) >= HOT / devices.len() as f64);
    let (seen, layer) = full.first().copied().filter(|_| roomy && hot && !rest.is_empty())?;
    let limit = at_lun_depth(seen, layer)?;
    let names = |list: &[(&LayerSeen, &Layer)]| -> String {
        list.iter().map(|(s, _)| s.name.as_str()).collect::<Vec<_>>().join(", ")
    };
    let part: f64 = full.iter().map(|(seen, _)| share(seen)).sum();
    let mut advice = raise_all(case, &full);
    let mut even = Advice::words(format!(
        "Spread the data evenly over the {} LUNs: {} take the other {:.0} % and stand idle.",
        devices.len(),
        names(&rest),
        100.0 * (1.0 - part)
    ));
    // Spread instead of deeper: not on top of the changes above, so only in words.
    even.expected = Model::of(case).map(|m| m.even().outlook().words);
    advice.push(even);
    Some(BoundBy {
        layer: BoundLayer::DeviceQueueLimit,
        headline: format!(
            "one hot LUN: {} of {} stands at its LUN queue depth ({limit:.0}) while {} have room",
            names(&full),
            devices.len(),
            names(&rest)
        ),
        evidence: vec![
            format!(
                "{} gets {:.0} % of the I/O and holds {:.1} of {limit:.0}",
                names(&full),
                100.0 * part,
                queue_of(&seen.device_queue).high_or_mean()
            ),
            rest.iter()
                .map(|(s, _)| format!("{} holds {:.1}", s.name, queue_of(&s.device_queue).high_or_mean()))
                .collect::<Vec<_>>()
                .join("; "),
        ],
        refuted_by: "the same throughput after the data of the hot LUN is spread over all of them".to_owned(),
        runner_up: None,
        advice,
    })
}

/// The LUN queue depth, when it is the limit that binds and the device queue stands at it.
pub fn at_lun_depth(seen: &LayerSeen, layer: &Layer) -> Option<f64> {
    let (limit, slots) = Ceiling::of(seen, layer).lowest()?;
    (slots == Slots::LunDepth && is_pinned(seen, limit)).then_some(limit)
}

fn opt_time(us: Option<f64>) -> String {
    us.map_or("-".to_owned(), time)
}

/// Raises the depth of all these devices together: shallow ones to the deepest, equal ones to twice as much, as far as
/// the adapter takes it. Each piece of advice says what to expect once it and those before it are done.
fn raise_all(case: &Case, devices: &[(&LayerSeen, &Layer)]) -> Vec<Advice> {
    let depths: Vec<f64> = devices.iter().filter_map(|(seen, layer)| at_lun_depth(seen, layer)).collect();
    let most = depths.iter().copied().fold(0.0, f64::max);
    let even = depths.iter().all(|d| most - d < 0.5);
    let mut model = Model::of(case);
    let mut list = Vec::new();
    for (seen, layer) in devices {
        let (Some(depth), Some(file)) = (at_lun_depth(seen, layer), layer.limit(LimitKind::LunQueueDepth))
        else {
            continue;
        };
        let goal = if even { 2.0 * depth } else { most };
        list.extend(raise(&mut model, seen, layer, (depth, goal), &file.file, devices.len() > 1));
    }
    list
}

fn raise(
    model: &mut Option<Model>,
    seen: &LayerSeen,
    layer: &Layer,
    (depth, goal): (f64, f64),
    file: &str,
    together: bool,
) -> Vec<Advice> {
    let ceiling = Ceiling::of(seen, layer);
    let goal = goal.min(ceiling.value(Slots::HostTags).unwrap_or(f64::INFINITY));
    if goal <= depth {
        return Vec::new();
    }
    let which = if together { ", of all of them together" } else { "" };
    let mut list = vec![Advice::change(
        format!(
            "Raise the LUN queue depth of {}{which}, after checking what the array port allows for all hosts together.",
            layer.name
        ),
        file,
        format!("{depth:.0}"),
        format!("{goal:.0}"),
    )];
    let mut expect = |slots, value| {
        *model = model.take().map(|m| m.changed(&seen.name, |c| c.with(slots, value)));
        model.as_ref().map(Model::outlook)
    };
    if let Some(outlook) = expect(Slots::LunDepth, goal) {
        list = list.into_iter().map(|a| a.expecting(&outlook)).collect();
    }
    // Requests that stand at the same value would bind next.
    let requests = ceiling.value(Slots::Requests).filter(|n| *n <= depth);
    if let (Some(now), Some(limit)) = (requests, layer.limit(LimitKind::RequestsPerQueue)) {
        let mut more = Advice::change(
            format!("Raise nr_requests of {} as well: it stands at the same value.", layer.name),
            &limit.file,
            format!("{:.0}", limit.value),
            format!("{:.0}", limit.value * goal / now),
        );
        if let Some(outlook) = expect(Slots::Requests, goal) {
            more = more.expecting(&outlook);
        }
        list.push(more);
    }
    list
}
