//! The host queue: nr_requests, the driver's tags or the scheduler hold I/Os back while the device has room.

use crate::bound_by::{Advice, BoundBy, BoundLayer};
use crate::case::Case;
use crate::ceiling::{Ceiling, Slots, queues_of};
use crate::outlook::Model;
use crate::rule::{SCALES, STANDS, time};
use crate::split::{PINNED_SHARE, TAGS_TAKEN, at_peak, queue_of};
use record::{Layer, LayerSeen, LimitKind};

/// What holds I/Os back in the host queue.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Held {
    /// All requests that may be allocated are taken.
    Requests(f64),
    /// All tags of the driver are taken.
    DriverTags(f64),
    /// The driver never had more sent, and no file says why.
    Hidden(f64),
    /// The scheduler.
    Scheduler,
}

/// Added I/Os stand in the host queue: at a request limit, or held by the scheduler.
pub fn requests(case: &Case) -> Option<BoundBy> {
    let growth = case.growth.as_ref()?;
    let devices = case.devices();
    let (seen, layer) = devices.first().copied()?;
    if growth.gain >= SCALES || growth.host_queue.is_none_or(|s| s < STANDS) {
        return None;
    }
    let inside = queue_of(&seen.inside).high_or_mean();
    let scheduler = layer.tunable("scheduler").map_or("none", |t| t.value.as_str()).to_owned();
    let device = queue_of(&seen.device_queue).high_or_mean();
    let held = held(case, seen, layer);
    let what = match held {
        Held::Requests(n) => format!("all {n:.0} requests (nr_requests) are taken"),
        Held::DriverTags(n) => format!("all {n:.0} tags of its driver are taken"),
        Held::Hidden(n) => {
            format!("its driver never had more than {n:.0} I/Os sent, a limit that no file shows")
        }
        Held::Scheduler => format!("scheduler {scheduler} holds I/Os back while the device has room"),
    };
    let mut evidence = vec![format!(
        "{} held {inside:.1} requests, {device:.1} of them at the device; a request waits {} in the host queue",
        layer.name,
        waits(case, seen)
    )];
    if let Some((limit, slots)) = Ceiling::of(seen, layer).lowest() {
        evidence.push(format!("the device takes {limit:.0} ({})", slots_word(slots)));
    }
    Some(BoundBy {
        layer: BoundLayer::HostQueue,
        headline: format!("the host queue of {}: {what}", layer.name),
        evidence,
        refuted_by: format!(
            "throughput that stays when nr_requests of {} is doubled or its scheduler is set to none",
            layer.name
        ),
        runner_up: None,
        advice: advice(case, seen, layer, held, &scheduler),
    })
}

fn held(case: &Case, seen: &LayerSeen, layer: &Layer) -> Held {
    let standing = queue_of(&seen.device_queue).high_or_mean();
    match Ceiling::of(seen, layer).lowest() {
        Some((limit, slots)) if standing >= TAGS_TAKEN * limit => match slots {
            Slots::Requests => return Held::Requests(limit),
            Slots::DriverTags => return Held::DriverTags(limit),
            _ => {}
        },
        _ => {}
    }
    hidden_slots(case, seen, layer).map_or(Held::Scheduler, Held::Hidden)
}

/// Time in the host queue: the layer's own figure, else Little's law on what was found to stand there.
fn waits(case: &Case, seen: &LayerSeen) -> String {
    let last = case.last();
    let derived = last.and_then(|p| Some(p.host_queue.mean? / p.iops.max(1e-9) * 1e6));
    seen.host_wait_us.or(derived).map_or("an unknown time".to_owned(), time)
}

/// A peak that the mean nearly reaches, clearly below every limit in a file: slots of the driver or of a virtual queue.
fn hidden_slots(case: &Case, seen: &LayerSeen, layer: &Layer) -> Option<f64> {
    let peak = seen.device_queue_peak?;
    let mean = queue_of(&seen.device_queue).high_or_mean();
    let (limit, _) = Ceiling::of(seen, layer).lowest()?;
    // Requests must wait before those slots: a device that has all that were let in is not what holds them back.
    let waiting = case.last()?.host_queue.high_or_mean() >= 0.25 * peak;
    let steady = at_peak(seen).is_some() || (peak >= 4.0 && mean >= 0.8 * peak);
    (waiting && steady && sends_all(layer) && peak < 0.9 * limit).then_some(peak)
}

/// bfq and kyber hold I/Os back by themselves; none and mq-deadline send what the driver takes.
pub fn sends_all(layer: &Layer) -> bool {
    layer.tunable("scheduler").is_none_or(|t| matches!(t.value.as_str(), "none" | "mq-deadline"))
}

fn slots_word(slots: Slots) -> &'static str {
    match slots {
        Slots::LunDepth => "LUN queue depth",
        Slots::HostTags => "can_queue of its host adapter",
        Slots::SharedTags => "its part of the adapter's tags",
        Slots::DriverTags => "tags of its driver",
        Slots::Requests => "nr_requests",
    }
}

fn advice(case: &Case, seen: &LayerSeen, layer: &Layer, held: Held, scheduler: &str) -> Vec<Advice> {
    let mut list = Vec::new();
    match held {
        Held::Requests(taken) => list.extend(raise(case, seen, layer, taken)),
        Held::DriverTags(_) => list.push(Advice::words(format!(
            "No file changes how many requests the driver of {} takes while the device lives: it is set where the device is made ({}).",
            layer.name,
            where_made(layer)
        ))),
        Held::Hidden(_) | Held::Scheduler => {}
    }
    // A scheduler that sends all that the driver takes holds nothing back.
    let sends_what_it_has = matches!(held, Held::Requests(_)) && sends_all(layer);
    let holds = !(matches!(held, Held::DriverTags(_)) || sends_what_it_has);
    if scheduler != "none"
        && holds
        && let Some(tunable) = layer.tunable("scheduler")
    {
        list.push(Advice::change(
            format!("Try scheduler none on {} and compare, commit latency included.", layer.name),
            &tunable.file,
            scheduler,
            "none",
        ));
    }
    list
}

fn where_made(layer: &Layer) -> &'static str {
    match layer.kind {
        record::LayerKind::Nvme => "nvme.io_queue_depth, or the queue size of the fabrics connection",
        record::LayerKind::Virtio => "queue-size of the virtual disk, in the hypervisor",
        record::LayerKind::Loop => "hw_queue_depth of the loop driver",
        _ if layer.name.starts_with("nullb") => "hw_queue_depth of null_blk",
        _ => "a module parameter, or the server it belongs to",
    }
}

/// Twice the requests, as far as the driver takes them.
fn raise(case: &Case, seen: &LayerSeen, layer: &Layer, taken: f64) -> Option<Advice> {
    let limit = layer.limit(LimitKind::RequestsPerQueue)?;
    let ceiling = Ceiling::of(seen, layer);
    let queues = queues_of(layer);
    // Without a scheduler a request is a driver tag, and the kernel refuses more than there are.
    let unscheduled = layer.tunable("scheduler").is_none_or(|t| t.value == "none");
    let tags = layer.limit(LimitKind::TagsPerQueue).or(layer.limit(LimitKind::HostCanQueue));
    let most = tags.filter(|_| unscheduled).map_or(f64::INFINITY, |l| l.value);
    let goal = (2.0 * limit.value).min(most);
    let next = ceiling.with(Slots::Requests, goal * queues).lowest()?.0;
    if goal <= limit.value || next <= taken / PINNED_SHARE {
        return None;
    }
    let outlook =
        Model::of(case).map(|m| m.changed(&seen.name, |c| c.with(Slots::Requests, goal * queues)).outlook());
    let advice = Advice::change(
        format!(
            "Raise nr_requests of {}; with scheduler none it cannot exceed the driver's tags.",
            layer.name
        ),
        &limit.file,
        format!("{:.0}", limit.value),
        format!("{goal:.0}"),
    );
    Some(match outlook {
        Some(outlook) => advice.expecting(&outlook),
        None => advice,
    })
}
