//! Queues that stand: in the host above a full device queue, or refused by a full one.

use super::accident;
use super::alike::fold;
use crate::finding::{Evidence, Finding, Severity};
use crate::reading::DevicePoint;
use crate::reading::case::{ReadCase, computed};
use crate::reading::series::Series;
use crate::rulebook::{Rule, rule as rule_of};
use record::imported::{Origin, PlaceId, PlaceKind, Platform};

/// Findings of disks that are told one by one; more are told as one.
const TOLD_APART: usize = 4;

/// PL101: I/Os wait in the host while the device queue stands at its depth.
pub(super) fn standing_host_queue(case: &ReadCase<'_>, rule: &Rule) -> Vec<Finding> {
    let disks = case.devices().filter(|(_, kind, _)| matches!(kind, PlaceKind::Device | PlaceKind::Path));
    let mut found: Vec<(f64, Finding)> = disks
        .filter_map(|(place, _, series)| {
            standing(case, rule, place, series).or_else(|| held_above(case, rule, place, series))
        })
        .collect();
    // Where a text has one report alone, its means say less about peaks and as much about what stands there.
    found.extend(case.since_boot_only().filter_map(|(place, series)| {
        let (host, mut finding) = standing(case, rule, place, &series)?;
        finding.title += ", on average over the one report there is (most often since boot)";
        finding.severity = finding.severity.min(Severity::Medium);
        finding.evidence.insert(0, case.line(series.points().first()?.origin));
        finding.evidence.dedup();
        Some((host, finding))
    }));
    found.sort_by(|a, b| b.0.total_cmp(&a.0));
    fold(found.into_iter().map(|(_, f)| f).collect(), TOLD_APART)
}

/// The host queue of a point: told, or what must at least stand there when more is outstanding than the device takes.
fn host_queue(point: &DevicePoint, depth: Option<f64>) -> f64 {
    if point.host_queue.is_nan() {
        depth.map_or(f64::NAN, |depth| (point.outstanding - depth).max(0.0))
    } else {
        point.host_queue
    }
}

/// Means over intervals, by time.
fn mean(points: &[&DevicePoint], of: impl Fn(&DevicePoint) -> f64) -> f64 {
    let known = points.iter().filter(|p| !of(p).is_nan());
    let (sum, weight) = known.fold((0.0, 0.0), |(s, w), p| (s + of(p) * p.weight(), w + p.weight()));
    sum / weight
}

fn waiting<'s>(series: &'s Series, rule: &Rule, depth: Option<f64>) -> Option<(Vec<&'s DevicePoint>, f64)> {
    let least = rule.threshold("host_queue");
    let waiting: Vec<_> = series.busy().filter(|p| host_queue(p, depth) >= least).collect();
    let share = waiting.len() as f64 / series.busy().count() as f64;
    (share >= rule.threshold("share")).then_some((waiting, share))
}

/// Whether PL101 tells of this disk.
pub(super) fn is_standing(case: &ReadCase<'_>, rule: &Rule, place: PlaceId, series: &Series) -> bool {
    standing(case, rule, place, series).is_some()
}

/// How strongly it stands there, and the finding.
fn standing(case: &ReadCase<'_>, rule: &Rule, place: PlaceId, series: &Series) -> Option<(f64, Finding)> {
    let told = case.queue_depth(place);
    let depth = told.map(|(d, _)| d);
    let (waiting, share) = waiting(series, rule, depth)?;
    let host = mean(&waiting, |p| host_queue(p, depth));
    let device = mean(&waiting, |p| p.device_queue);
    let is_split = waiting.iter().any(|p| !p.host_queue.is_nan());
    // Without the setting itself, a device queue that comes to the same highest value again and again shows it.
    let pinned_at = pinned(&waiting, rule.threshold("pinned"));
    let (limit, how) = match (depth, pinned_at) {
        (Some(depth), _) if !is_split => (depth, "queue_depth says so"),
        (Some(depth), _) if device >= rule.threshold("pinned") * depth => (depth, "queue_depth says so"),
        // A limit of the hypervisor, not of the LUN: PL112 tells that.
        (None, Some(limit)) if !is_shared_limit(case, place, limit) => (limit, "its queue never gets longer"),
        (None, None) if is_never_empty(&waiting, device, rule) => {
            (device.round(), "the host queue was never empty, so the device queue stood at its limit")
        }
        _ => return None,
    };
    let name = &case.digest.place_of(place).name;
    let about = if is_split { "" } else { "at least " };
    let title = format!(
        "{about}{host:.1} I/Os wait in the host for {name}, whose own queue is full at {limit:.0} ({how}): the LUN queue depth is too low for this load",
    );
    let mut evidence =
        if is_split { case.lines(series.most_host_queue()) } else { case.lines(series.most_outstanding()) };
    evidence.extend(told.map(|(_, origin)| case.line(origin)));
    let [host_wait, service] = [mean(&waiting, |p| p.host_wait_us), mean(&waiting, |p| p.service_us)];
    evidence.push(if is_split {
        computed(format!(
            "in {:.0} % of the busy intervals: host queue {host:.1}, device queue {device:.1}, host wait {:.1} ms, service {:.1} ms",
            share * 100.0,
            host_wait / 1e3,
            service / 1e3
        ))
    } else {
        computed(format!(
            "in {:.0} % of the busy intervals {:.1} are outstanding and the device takes {limit:.0}: the mean of what waits is at least the difference",
            share * 100.0,
            mean(&waiting, |p| p.outstanding)
        ))
    });
    let mut finding = with_guard(case, case.finding(rule, place, title, evidence), place);
    let is_mild = if is_split {
        host_wait < service * rule.threshold("mild")
    } else {
        // Times share the wait as the numbers do.
        host < limit * rule.threshold("mild")
    };
    if is_mild {
        finding.severity = Severity::Medium;
    }
    Some((host, finding))
}

/// I/Os wait although the device could take more: something between the two holds them.
///
/// A mean below the depth proves nothing, since bursts fill the queue for a moment. Two things do: the host queue was
/// occupied for a share of time in which the device queue would have had to stand at its depth, and was not (Solaris `%w`);
/// or it is counted that the device queue was never full (AIX `sqfull`).
fn held_above(case: &ReadCase<'_>, rule: &Rule, place: PlaceId, series: &Series) -> Option<(f64, Finding)> {
    let (depth, origin) = case.queue_depth(place)?;
    let (waiting, share) = waiting(series, rule, Some(depth))?;
    let slack = rule.threshold("slack");
    let occupied = mean(&waiting, |p| p.host_queue_busy_percent / 100.0);
    let device = mean(&waiting, |p| p.device_queue);
    let never_full = waiting.iter().all(|p| p.queue_full_per_s == 0.0);
    // A queue that stands at a lower number stands at a limit of its own: PL112 tells that.
    if rule_of("PL112")
        .is_some_and(|r| pinned(&waiting, r.threshold("stands")).is_some_and(|n| n >= r.threshold("least")))
    {
        return None;
    }
    let by_time = occupied >= rule.threshold("occupied") && device < slack * occupied * depth;
    let by_count = never_full && device < slack * depth;
    if !by_time && !by_count {
        return None;
    }
    let host = mean(&waiting, |p| p.host_queue);
    let name = &case.digest.place_of(place).name;
    let title = format!(
        "{host:.1} I/Os wait in the host for {name} although only {device:.1} of its {depth:.0} places are taken: something between them holds back"
    );
    let mut evidence = case.lines(series.most_host_queue());
    evidence.push(case.line(origin));
    let why = if by_time {
        format!(
            "the host queue is occupied {:.0} % of the time, in which the device queue would stand at {depth:.0} if its depth were the limit",
            occupied * 100.0
        )
    } else {
        "no I/O ever found the device queue full".to_owned()
    };
    evidence.push(computed(format!("in {:.0} % of the busy intervals: {why}", share * 100.0)));
    let mut finding = case.finding(rule, place, title, evidence);
    rule.text("held_cause").clone_into(&mut finding.cause);
    finding.advice = vec![rule.text("held_advice").to_owned()];
    rule.text("held_refuted_by").clone_into(&mut finding.refuted_by);
    finding.severity = Severity::Medium;
    Some((host, finding))
}

/// On ESXi a queue that stands at 32 stands at a limit that machines share, unless the device's own is told.
fn is_shared_limit(case: &ReadCase<'_>, place: PlaceId, limit: f64) -> bool {
    let shared = rule_of("PL112").map_or(f64::NAN, |r| r.threshold("shared_limit"));
    case.platform(case.host(place)) == Platform::Esxi && limit == shared
}

/// The highest device queue, when most of the waiting intervals stand there.
pub(super) fn pinned(waiting: &[&DevicePoint], share: f64) -> Option<f64> {
    let highest = waiting.iter().map(|p| p.device_queue).fold(f64::NAN, f64::max);
    let limit = highest.round();
    let near = waiting.iter().filter(|p| p.device_queue >= share * highest).count();
    let is_pinned =
        limit >= 1.0 && (highest - limit).abs() <= 0.05 * limit && near >= 3 && near * 2 >= waiting.len();
    is_pinned.then_some(limit)
}

/// While I/Os wait in the host the device queue is full; where they always wait, its mean is its limit.
fn is_never_empty(waiting: &[&DevicePoint], device: f64, rule: &Rule) -> bool {
    let occupied = mean(waiting, |p| p.host_queue_busy_percent / 100.0);
    occupied >= rule.threshold("always") && device >= 0.95 && (device - device.round()).abs() <= 0.05 * device
}

/// Where an accident of this kind is known, raising the depth is not the first thing to do.
fn with_guard(case: &ReadCase<'_>, mut finding: Finding, place: PlaceId) -> Finding {
    if let Some(first) = accident::before_raising(case, case.host(place)) {
        finding.advice.insert(0, first);
    }
    finding
}

/// PL102: the device queue was full when I/Os came (AIX `sqfull`).
pub(super) fn full_queue(case: &ReadCase<'_>, rule: &Rule) -> Vec<Finding> {
    let standing_rule = rule_of("PL101");
    let mut found: Vec<(f64, Finding)> = Vec::new();
    for (place, _, series) in case.devices() {
        let often = series.mean(|p| p.queue_full_per_s);
        let share = often / series.mean(|p| p.iops);
        if !(often >= rule.threshold("per_s")) || !(share >= rule.threshold("share")) {
            continue;
        }
        // A host queue that stands is the same cause, and more of it.
        if standing_rule.is_some_and(|r| is_standing(case, r, place, series)) {
            continue;
        }
        let name = &case.digest.place_of(place).name;
        let depth: Option<(f64, Origin)> = case.queue_depth(place);
        let at = depth.map_or(String::new(), |(d, _)| format!(" of {d:.0}"));
        let title = format!(
            "the queue{at} of {name} was full for {:.0} % of the I/Os that came ({often:.1} per second)",
            share.min(1.0) * 100.0
        );
        let mut evidence: Vec<Evidence> = case.lines(series.most_queue_full());
        evidence.extend(depth.map(|(_, origin)| case.line(origin)));
        found.push((often, with_guard(case, case.finding(rule, place, title, evidence), place)));
    }
    found.sort_by(|a, b| b.0.total_cmp(&a.0));
    fold(found.into_iter().map(|(_, f)| f).collect(), TOLD_APART)
}
