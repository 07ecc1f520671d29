//! The device refuses commands: the queue of the port or LUN is full, so more depth in this host is the wrong way.

use crate::bound_by::{Advice, BoundBy, BoundLayer};
use crate::case::Case;
use crate::trouble::{DeviceTrouble, refused_words};

/// A device answered TASK SET FULL or BUSY more often than by accident.
pub fn task_set_full(case: &Case) -> Option<BoundBy> {
    let refusing: Vec<&DeviceTrouble> = case.troubles.iter().filter(|d| d.pushes_back).collect();
    let worst = refusing.iter().max_by_key(|d| d.refused)?;
    let names: Vec<&str> = refusing.iter().map(|d| d.device.as_str()).collect();
    let what = match worst.answers {
        Some(a) if a.busy == 0 => "TASK SET FULL",
        Some(a) if a.task_set_full == 0 => "BUSY",
        _ => "TASK SET FULL or BUSY",
    };
    Some(BoundBy {
        layer: BoundLayer::Device,
        headline: format!(
            "the target behind {}: its queue (port or LUN) is full and it refuses more ({what})",
            names.join(", ")
        ),
        evidence: refusing.iter().filter_map(|d| refused_words(d)).collect(),
        refuted_by: "no refused command (ioerr_cnt) in a run at the same concurrency while other hosts are quiet: then \
                     they fill the target, not this one"
            .to_owned(),
        runner_up: None,
        advice: refusing.iter().map(|d| lower(case, d)).collect(),
    })
}

/// Commands timed out: whatever else the curve shows, no more load belongs on it.
pub fn timed_out(case: &Case) -> Option<BoundBy> {
    let late: Vec<&DeviceTrouble> = case.troubles.iter().filter(|d| d.timed_out > 0).collect();
    let names: Vec<&str> = late.iter().map(|d| d.device.as_str()).collect();
    let first = names.first()?;
    Some(BoundBy {
        layer: BoundLayer::Device,
        headline: format!(
            "{}: commands time out, the device or the way to it is not sound",
            names.join(", ")
        ),
        evidence: late
            .iter()
            .map(|d| format!("{}: {} commands timed out and were aborted", d.device, d.timed_out))
            .collect(),
        refuted_by: format!("iotmo_cnt of {first} standing still during another run"),
        runner_up: None,
        advice: vec![Advice {
            text: format!(
                "Put no more load on {} before the cause is known: look into the kernel log for aborts and resets, then at \
                 cables, ports and the array's own log.",
                names.join(", ")
            ),
            ..Advice::default()
        }],
    })
}

/// The depth that was never refused, for each device: what it held at the largest clean concurrency.
fn lower(case: &Case, d: &DeviceTrouble) -> Advice {
    let held = d.clean_up_to.and_then(|n| {
        let point = case.points.iter().find(|p| p.concurrency == n)?;
        let seen = point.layers.iter().find(|l| l.name == d.device)?;
        let queue = seen.device_queue_peak.map_or(seen.device_queue.high, |peak| peak.min(f64::from(n)));
        queue.is_finite().then_some(queue.ceil().max(1.0) as u32)
    });
    let now = d.queue_depth.map(|[_, _, last]| last).or_else(|| {
        let limit = case.path()?.layer(&d.device)?.limit(record::LimitKind::LunQueueDepth)?;
        Some(limit.value as u32)
    });
    let before = d.queue_depth.map(|[first, ..]| first).or(now);
    let to = held.or(d.clean_up_to).filter(|to| now.is_none_or(|n| *to < n));
    let lowered = now.zip(before).is_some_and(|(now, before)| now < before);
    let what = match (to, lowered) {
        (None, true) => "Leave the LUN queue depth where the kernel has lowered it",
        _ => "Lower the LUN queue depth",
    };
    Advice {
        text: format!(
            "{what} for {} (and lower it in the other hosts on the same port), or keep concurrency lower: the wait then \
             stands in this host, where it harms nobody, and the target refuses nothing. Do not raise a depth.",
            d.device
        ),
        file: d.depth_file.clone(),
        now: now.map(|n| n.to_string()),
        try_value: to.map(|n| n.to_string()),
        expected: to
            .map(|n| format!("no refused command with up to {n} at the device; none was seen with that")),
        expected_iops: None,
        expected_concurrency: None,
    }
}
