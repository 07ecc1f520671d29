//! No limit of this host is reached: the layer is where the added I/Os stand.

use crate::bound_by::{Advice, BoundBy, BoundLayer};
use crate::case::Case;
use crate::ceiling::Ceiling;
use crate::growth::Growth;
use crate::rule::{STANDS, time};
use record::{Layer, LayerKind, LayerSeen};

/// The layer that holds most of each added I/O, if one holds at least half.
pub fn where_added_ios_stand(case: &Case) -> Option<BoundBy> {
    let growth = case.growth.as_ref()?;
    let shares = [
        (BoundLayer::Above, growth.above?),
        (BoundLayer::HostQueue, growth.host_queue?),
        (BoundLayer::Device, growth.device_queue?),
    ];
    let (layer, share) = shares.into_iter().max_by(|a, b| a.1.total_cmp(&b.1))?;
    if share < STANDS {
        return None;
    }
    match layer {
        BoundLayer::Device => Some(device(case, growth)),
        BoundLayer::Above => Some(above(case)),
        _ => None,
    }
}

fn device(case: &Case, growth: &Growth) -> BoundBy {
    let devices = case.devices();
    let names: Vec<&str> = devices.iter().map(|(seen, _)| seen.name.as_str()).collect();
    let name = if names.is_empty() { "the device".to_owned() } else { names.join(", ") };
    let room = devices.first().and_then(|(seen, layer)| {
        let (limit, _) = Ceiling::of(seen, layer).lowest()?;
        Some(format!(
            "{} holds {:.1} of the {limit:.0} it may be sent, so no queue of this host holds I/Os back",
            layer.name,
            crate::split::queue_of(&seen.device_queue).high_or_mean()
        ))
    });
    let service = devices.first().and_then(|(seen, _)| seen.service_us);
    let mut evidence: Vec<String> = room.into_iter().collect();
    if let Some(us) = service {
        evidence.push(format!("a request spends {} at the device at {} outstanding", time(us), growth.to));
    }
    BoundBy {
        layer: BoundLayer::Device,
        headline: format!("{}: added I/Os stand there, and it answers later, not more", where_bound(&devices, &name)),
        evidence,
        refuted_by: "a second device behind the same port or controller that does not carry its own load beside this one".to_owned(),
        runner_up: None,
        advice: vec![Advice::words("No setting of this host holds I/Os back. Keep concurrency at or below the load line, spread the data over more devices, or use a faster one.")],
    }
}

/// A LUN is the end of a way through ports, caches and pools that hosts share; a disk is itself.
pub fn where_bound(devices: &[(&LayerSeen, &Layer)], name: &str) -> String {
    let lun = !devices.is_empty() && devices.iter().all(|(_, layer)| layer.kind == LayerKind::Scsi);
    if lun {
        format!("bound at the target, not in this host ({name}; its array port, controller or media)")
    } else {
        format!("the device itself ({name})")
    }
}

fn above(case: &Case) -> BoundBy {
    let waiting = case.last().and_then(|p| p.above.mean).unwrap_or(0.0);
    let buffered = !case.subject.direct;
    let writes = case.subject.write_percent > 0.0;
    let mut advice = Vec::new();
    let mut add = |text: &str| {
        advice.push(Advice::words(text));
    };
    if buffered {
        add("Probe with direct I/O: the page cache and its locks are between the workload and the device.");
    }
    if writes && !buffered {
        add(
            "Writes to one file may take turns on the file's lock: spread them over several files, or write within the file's initialised size only.",
        );
    }
    add(
        "Probe the block device itself (read-only): if it carries more, the wait is in the filesystem or volume manager.",
    );
    BoundBy {
        layer: BoundLayer::Above,
        headline: format!("above the block layer: {waiting:.1} I/Os wait before any device counts them"),
        evidence: vec!["the layers below have room".to_owned()],
        refuted_by: "the block device probed directly giving the same throughput".to_owned(),
        runner_up: None,
        advice,
    }
}
