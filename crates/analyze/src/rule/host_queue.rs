//! The host queue: nr_requests, host tags or the scheduler hold I/Os back while the device has room.

use crate::bound_by::{Advice, BoundBy, BoundLayer};
use crate::case::{Case, device_limit};
use crate::rule::{SCALES, STANDS, time};
use crate::split::{TAGS_TAKEN, queue_of, tags_of};
use record::{Layer, LayerSeen, Limit, LimitKind};

/// Added I/Os stand in the host queue: at a request limit, or held by the scheduler.
pub fn requests(case: &Case) -> Option<BoundBy> {
    let growth = case.growth.as_ref()?;
    let devices = case.devices();
    let (seen, layer) = devices.first().copied()?;
    if growth.gain >= SCALES || growth.host_queue.is_none_or(|s| s < STANDS) {
        return None;
    }
    let inside = queue_of(&seen.inside).high_or_mean();
    let at_tags = tags_of(layer).filter(|tags| inside >= TAGS_TAKEN * tags);
    let scheduler = layer.tunable("scheduler").map_or("none", |t| t.value.as_str()).to_owned();
    let device = queue_of(&seen.device_queue).high_or_mean();
    let what = match (at_tags, hidden_slots(seen, layer)) {
        (Some(tags), None) => format!("all {tags:.0} requests (nr_requests) are taken"),
        (_, Some(slots)) => {
            format!("its driver never had more than {slots:.0} I/Os sent, a limit that no file shows")
        }
        (None, None) => format!("scheduler {scheduler} holds I/Os back while the device has room"),
    };
    let headline = format!("the host queue of {}: {what}", layer.name);
    let mut evidence = vec![format!(
        "{} held {inside:.1} requests, {device:.1} of them at the device; a request waits {} in the host queue",
        layer.name,
        waits(case, seen)
    )];
    if let Some((limit, kind)) = device_limit(seen, layer) {
        evidence.push(format!("the device takes {limit:.0} ({})", limit_word(kind)));
    }
    Some(BoundBy {
        layer: BoundLayer::HostQueue,
        headline,
        evidence,
        refuted_by: format!(
            "throughput that stays when nr_requests of {} is doubled or its scheduler is set to none",
            layer.name
        ),
        runner_up: None,
        advice: advice(case, seen, layer, at_tags, &scheduler),
    })
}

/// Time in the host queue: the layer's own figure, else Little's law on what was found to stand there.
fn waits(case: &Case, seen: &LayerSeen) -> String {
    let last = case.last();
    let derived = last.and_then(|p| Some(p.host_queue.mean? / p.iops.max(1e-9) * 1e6));
    seen.host_wait_us.or(derived).map_or("an unknown time".to_owned(), time)
}

/// A peak that the mean nearly reaches, clearly below every limit in a file: slots of the driver or of a virtual queue.
fn hidden_slots(seen: &LayerSeen, layer: &Layer) -> Option<f64> {
    let peak = seen.device_queue_peak?;
    let mean = queue_of(&seen.device_queue).high_or_mean();
    let (limit, _) = device_limit(seen, layer)?;
    // bfq and kyber hold I/Os back by themselves; none and mq-deadline send what the driver takes.
    let sends_all =
        layer.tunable("scheduler").is_none_or(|t| matches!(t.value.as_str(), "none" | "mq-deadline"));
    // Requests must wait before those slots: a device that has all that were let in is not what holds them back.
    let waiting = queue_of(&seen.inside).high_or_mean() >= 1.25 * peak;
    (waiting && sends_all && peak >= 4.0 && mean >= 0.8 * peak && peak < 0.9 * limit).then_some(peak)
}

fn limit_word(kind: LimitKind) -> &'static str {
    match kind {
        LimitKind::LunQueueDepth => "LUN queue depth",
        _ => "requests per hardware queue times queues",
    }
}

fn advice(
    case: &Case,
    seen: &LayerSeen,
    layer: &Layer,
    at_tags: Option<f64>,
    scheduler: &str,
) -> Vec<Advice> {
    let mut list = Vec::new();
    if let (Some(tags), Some(limit)) = (at_tags, layer.limit(LimitKind::RequestsPerQueue)) {
        list.extend(raise(case, seen, layer, tags, limit));
    }
    if scheduler != "none"
        && let Some(tunable) = layer.tunable("scheduler")
    {
        list.push(Advice {
            text: format!("Try scheduler none on {} and compare, commit latency included.", layer.name),
            file: Some(tunable.file.clone()),
            now: Some(scheduler.to_owned()),
            try_value: Some("none".to_owned()),
            expected: None,
        });
    }
    list
}

/// Twice the requests, if the driver would send more of them. The model: each is served in the same time.
fn raise(case: &Case, seen: &LayerSeen, layer: &Layer, tags: f64, limit: &Limit) -> Option<Advice> {
    let last = case.last()?;
    let outstanding = f64::from(last.concurrency);
    let sent = queue_of(&seen.device_queue).high_or_mean();
    let sendable = hidden_slots(seen, layer).or(driver_takes(layer)).unwrap_or(f64::INFINITY);
    // With an elevator the driver's own limit stands below nr_requests; without one they are the same.
    let at_once = if sendable <= tags && layer.tunable("scheduler").is_some_and(|t| t.value != "none") {
        sendable
    } else {
        2.0 * tags
    };
    let at_once = at_once.min(outstanding);
    (at_once > 1.1 * sent).then(|| Advice {
        text: format!(
            "Raise nr_requests of {}; with scheduler none it cannot exceed the driver's tags.",
            layer.name
        ),
        file: Some(limit.file.clone()),
        now: Some(format!("{:.0}", limit.value)),
        try_value: Some(format!("{:.0}", 2.0 * limit.value)),
        expected: seen.service_us.map(|us| {
            format!(
                "{:.0} requests/s at {outstanding:.0} outstanding if the service time stays {}",
                at_once / us * 1e6,
                time(us)
            )
        }),
    })
}

/// What the driver may be sent, nr_requests left aside.
fn driver_takes(layer: &Layer) -> Option<f64> {
    let queues = layer.limit(LimitKind::HardwareQueues).map_or(1.0, |l| l.value.max(1.0));
    let lun = layer.limit(LimitKind::LunQueueDepth).map(|l| l.value);
    lun.or(layer.limit(LimitKind::TagsPerQueue).map(|l| l.value * queues))
}
