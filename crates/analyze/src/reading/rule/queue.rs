//! Queues that stand: in the host above a full device queue, or refused by a full one.

use crate::finding::{Finding, Severity};
use crate::reading::case::{ReadCase, computed};
use crate::reading::series::Series;
use crate::rulebook::Rule;
use record::imported::{PlaceId, PlaceKind};

/// PL101: I/Os wait in the host while the device queue stands at its depth.
pub(super) fn standing_host_queue(case: &ReadCase<'_>, rule: &Rule) -> Vec<Finding> {
    let disks = case.devices().filter(|(_, kind, _)| matches!(kind, PlaceKind::Device | PlaceKind::Path));
    disks.filter_map(|(place, _, series)| standing(case, rule, place, series)).collect()
}

fn standing(case: &ReadCase<'_>, rule: &Rule, place: PlaceId, series: &Series) -> Option<Finding> {
    let least = rule.threshold("host_queue");
    let waiting: Vec<_> = series.busy().filter(|p| p.host_queue >= least).collect();
    let busy = series.busy().count();
    if waiting.is_empty() || (waiting.len() as f64) < rule.threshold("share") * busy as f64 {
        return None;
    }
    let weight: f64 = waiting.iter().map(|p| p.weight()).sum();
    let mean = |of: fn(&crate::reading::DevicePoint) -> f64| {
        waiting.iter().map(|p| of(p) * p.weight()).sum::<f64>() / weight
    };
    let (host, device) = (mean(|p| p.host_queue), mean(|p| p.device_queue));
    let depth = case.queue_depth(place);
    // Without the setting itself, a device queue that comes to the same highest value again and again shows it.
    let pinned_at = pinned(&waiting, rule.threshold("pinned"));
    let (limit, how) = match (depth, pinned_at) {
        (Some((depth, _)), _) if device >= rule.threshold("pinned") * depth => (depth, "queue_depth says so"),
        (None, Some(limit)) => (limit, "its queue never gets longer"),
        _ => return None,
    };
    let name = &case.digest.place_of(place).name;
    let title = format!(
        "{host:.1} I/Os wait in the host for {name}, whose own queue is full at {limit:.0} ({how}): the LUN queue depth is too low for this load",
    );
    let share = waiting.len() as f64 / busy as f64 * 100.0;
    let mut evidence = case.lines(series.most_host_queue());
    if let Some((_, origin)) = depth {
        evidence.push(case.line(origin));
    }
    evidence.push(computed(format!(
        "in {share:.0} % of the busy intervals: host queue {host:.1}, device queue {device:.1}, host wait {:.1} ms, service {:.1} ms",
        mean(|p| p.host_wait_us) / 1e3,
        mean(|p| p.service_us) / 1e3
    )));
    let mut finding = case.finding(rule, place, title, evidence);
    if mean(|p| p.host_wait_us) < mean(|p| p.service_us) * rule.threshold("mild") {
        finding.severity = Severity::Medium;
    }
    Some(finding)
}

/// The highest device queue, when most of the waiting intervals stand there.
fn pinned(waiting: &[&crate::reading::DevicePoint], share: f64) -> Option<f64> {
    let highest = waiting.iter().map(|p| p.device_queue).fold(f64::NAN, f64::max);
    let limit = highest.round();
    let near = waiting.iter().filter(|p| p.device_queue >= share * highest).count();
    let is_pinned =
        limit >= 1.0 && (highest - limit).abs() <= 0.05 * limit && near >= 3 && near * 2 >= waiting.len();
    is_pinned.then_some(limit)
}

/// PL102: the device queue was full when I/Os came (AIX `sqfull`).
pub(super) fn full_queue(case: &ReadCase<'_>, rule: &Rule) -> Vec<Finding> {
    let found = case.devices().filter_map(|(place, _, series)| {
        let often = series.mean(|p| p.queue_full_per_s);
        let share = often / series.mean(|p| p.iops);
        if !(often >= rule.threshold("per_s")) || !(share >= rule.threshold("share")) {
            return None;
        }
        let name = &case.digest.place_of(place).name;
        let depth = case.queue_depth(place);
        let at = depth.map_or(String::new(), |(d, _)| format!(" of {d:.0}"));
        let title = format!(
            "the queue{at} of {name} was full for {:.0} % of the I/Os that came ({often:.1} per second)",
            share.min(1.0) * 100.0
        );
        let mut evidence = case.lines(series.most_queue_full());
        evidence.extend(depth.map(|(_, origin)| case.line(origin)));
        Some(case.finding(rule, place, title, evidence))
    });
    found.collect()
}
