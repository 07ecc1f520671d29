//! The host adapter's tags: all LUNs of one SCSI host share them.

use crate::bound_by::{Advice, BoundBy, BoundLayer};
use crate::case::Case;
use crate::ceiling::{Ceiling, Slots, share};
use crate::outlook::Model;
use crate::rule::{SCALES, STANDS, time};
use crate::split::{at_peak, is_pinned, queue_of};
use record::{Layer, LayerSeen};

/// A device queue this close to a part of the tags stands at it.
const NEAR_SHARE: f64 = 0.06;

/// Other LUNs of the same host keep tags for themselves, and the device queue stands at what is left.
pub fn shared(case: &Case) -> Option<BoundBy> {
    let devices = waiting_devices(case)?;
    let found: Vec<_> =
        devices.iter().filter_map(|(seen, layer)| Some((*seen, *layer, part(seen, layer)?))).collect();
    let (seen, layer, part) = found.first()?;
    if found.len() < devices.len() {
        return None;
    }
    let host = host_of(layer);
    let (siblings, sure) = siblings(seen);
    let mut evidence = vec![
        format!(
            "{} holds {:.1} at the device: {} of {host} are shared by {} active LUNs, which leaves {:.0} to each, though its LUN queue depth is {}",
            seen.name,
            queue_of(&seen.device_queue).high_or_mean(),
            tags_words(part.tags),
            part.users,
            part.each,
            Ceiling::of(seen, layer)
                .value(Slots::LunDepth)
                .map_or("not known".to_owned(), |d| format!("{d:.0}"))
        ),
        sure,
    ];
    evidence.extend(spent(case));
    let model = Model::of(case).map(|model| {
        found.iter().fold(model, |m, (seen, _, _)| m.changed(&seen.name, |c| c.without(Slots::SharedTags)))
    });
    let mut quiet = Advice::words(format!(
        "Keep {siblings} quiet while {} works, or move it to another adapter: a LUN counts as active for about 5 s after a single command, and no setting changes that.",
        seen.name
    ));
    if let Some(model) = &model {
        quiet = quiet.expecting(&model.outlook());
    }
    let mut advice = vec![quiet];
    advice.extend(adapter_advice(layer));
    Some(BoundBy {
        layer: BoundLayer::HostQueue,
        headline: format!(
            "the shared tags of {host}: {siblings} did I/O beside {}, which leaves it {:.0} of {:.0}",
            seen.name, part.each, part.tags
        ),
        evidence,
        refuted_by: format!("throughput that stays when {siblings} does no I/O at all for ten seconds"),
        runner_up: None,
        advice,
    })
}

/// The device queue stands at what the adapter takes: `can_queue`.
pub fn adapter(case: &Case) -> Option<BoundBy> {
    let devices = waiting_devices(case)?;
    let full = devices.iter().all(|(seen, layer)| {
        Ceiling::of(seen, layer)
            .lowest()
            .is_some_and(|(limit, slots)| slots == Slots::HostTags && is_pinned(seen, limit))
    });
    let (seen, layer) = devices.first().copied().filter(|_| full)?;
    let (limit, _) = Ceiling::of(seen, layer).lowest()?;
    let host = host_of(layer);
    let mut evidence = vec![format!(
        "device queue {:.1} of {limit:.0} on {}; {} (can_queue {limit:.0}) takes no more, and the kernel refuses a larger LUN queue depth or nr_requests",
        queue_of(&seen.device_queue).high_or_mean(),
        seen.name,
        driver_of(layer).map_or(host.clone(), |driver| format!("the adapter {host} ({driver})"))
    )];
    evidence.extend(spent(case));
    let mut advice = adapter_advice(layer);
    if advice.is_empty() {
        advice.push(Advice::words(format!(
            "Spread the I/O over LUNs of another adapter, or look up how many commands the driver of {host} can be given: no setting of {} gets past can_queue.",
            layer.name
        )));
    }
    Some(BoundBy {
        layer: BoundLayer::HostQueue,
        headline: format!(
            "the host adapter: {host} takes {limit:.0} commands (can_queue), and {} has them all",
            layer.name
        ),
        evidence,
        refuted_by: "throughput that rises with a larger LUN queue depth or nr_requests alone".to_owned(),
        runner_up: Some((
            BoundLayer::Device,
            "the array may be full at this depth too; only more commands at it would tell".to_owned(),
        )),
        advice,
    })
}

/// Devices of a curve that stopped growing with its added I/Os in the host queue.
fn waiting_devices<'a>(case: &Case<'a>) -> Option<Vec<(&'a LayerSeen, &'a Layer)>> {
    let growth = case.growth.as_ref()?;
    let devices = case.devices();
    let waiting = growth.gain < SCALES && growth.host_queue.is_some_and(|s| s >= STANDS);
    (waiting && !devices.is_empty()).then_some(devices)
}

/// A LUN's part of its host's tags.
struct Part {
    tags: f64,
    users: u32,
    each: f64,
}

/// The part that the device queue stands at: by those seen active, else by what it stands at alone.
fn part(seen: &LayerSeen, layer: &Layer) -> Option<Part> {
    let sharing = seen.tag_sharing.as_ref().filter(|s| s.siblings > 0)?;
    let ceiling = Ceiling::of(seen, layer);
    let tags = ceiling.value(Slots::HostTags)?;
    let lowest = ceiling.without(Slots::SharedTags).lowest().map_or(tags, |(limit, _)| limit);
    let standing = queue_of(&seen.device_queue).high_or_mean();
    let near = |users: &u32| (standing / share(tags, *users) - 1.0).abs() <= NEAR_SHARE;
    let below = |users: &u32| share(tags, *users) < lowest;
    let at_work = Some(sharing.active.len() as u32 + 1).filter(|n| *n > 1);
    let known = [sharing.counted, at_work].into_iter().flatten().find(|u| near(u) && below(u));
    // Siblings may go quiet and wake up between readings; a queue that never moved from one part tells by itself.
    let by_queue = || at_peak(seen).and_then(|_| (2..=sharing.siblings + 1).find(|u| near(u) && below(u)));
    let users = known.or_else(by_queue)?;
    Some(Part { tags, users, each: share(tags, users) })
}

/// The active siblings in words, and how it is known that they are active.
fn siblings(seen: &LayerSeen) -> (String, String) {
    let sharing = seen.tag_sharing.clone().unwrap_or_default();
    let counted = sharing.counted.filter(|n| *n > 1);
    match (sharing.active.is_empty(), counted) {
        (false, Some(n)) => {
            let names = sharing.active.join(", ");
            (
                names.clone(),
                format!(
                    "commands of {names} were counted during the run, and the kernel counts {n} active LUNs"
                ),
            )
        }
        (false, None) => {
            let names = sharing.active.join(", ");
            (names.clone(), format!("commands of {names} were counted during the run"))
        }
        (true, Some(n)) => (
            "another LUN of the same host".to_owned(),
            format!("the kernel counts {n} active LUNs, though no command of a sibling was seen"),
        ),
        (true, None) => (
            "another LUN of the same host".to_owned(),
            "no command of a sibling was seen, but the device queue never left that part".to_owned(),
        ),
    }
}

/// What the adapter's driver can be told, where that is known.
fn adapter_advice(layer: &Layer) -> Vec<Advice> {
    let fact = |name: &str| layer.facts.iter().find(|(n, _)| n == name).map(|(_, v)| v.as_str());
    let Some(parameter) = fact("host_parameter") else { return Vec::new() };
    let now = fact("host_parameter_value").map_or(String::new(), |v| format!(" (now {v})"));
    vec![Advice::words(format!(
        "Give the adapter more commands: {parameter}{now} of its driver {}. It holds for all LUNs of the adapter and takes effect when the driver is loaded or the session is made anew.",
        driver_of(layer).unwrap_or_default()
    ))]
}

fn spent(case: &Case) -> Option<String> {
    let last = case.last()?;
    let service_s = Model::of(case)?.service_s;
    let waits_us = last.host_queue.mean? / last.iops.max(1e-9) * 1e6;
    Some(format!(
        "a request waits {} in the host and spends {} at the device",
        time(waits_us),
        time(1e6 * service_s)
    ))
}

fn tags_words(tags: f64) -> String {
    format!("the {tags:.0} tags")
}

fn host_of(layer: &Layer) -> String {
    let found = layer.facts.iter().find(|(n, _)| n == "host").map(|(_, v)| v.clone());
    found.unwrap_or_else(|| "the SCSI host".to_owned())
}

fn driver_of(layer: &Layer) -> Option<String> {
    layer.facts.iter().find(|(n, _)| n == "host_driver").map(|(_, v)| v.clone())
}
