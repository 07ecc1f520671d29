//! The share of busy time, which says less than it seems, and figures that are known to be wrong.

use super::words::{bytes_per_s, names, quantile, sorted};
use crate::finding::Finding;
use crate::reading::case::{ReadCase, computed};
use crate::reading::point::DevicePoint;
use crate::reading::series::Series;
use crate::rulebook::Rule;
use record::imported::{HostId, PlaceId, PlaceKind, Platform};

/// PL204: busy all the time at very different throughputs, or with several outstanding.
pub(super) fn util_trap(case: &ReadCase<'_>, rule: &Rule) -> Vec<Finding> {
    case.hosts().filter_map(|host| trap_of(case, rule, host)).collect()
}

struct Trap<'d> {
    place: PlaceId,
    lowest: &'d DevicePoint,
    highest: &'d DevicePoint,
    growth: f64,
    outstanding: f64,
}

fn trap<'d>(place: PlaceId, series: &'d Series, rule: &Rule) -> Option<Trap<'d>> {
    let full: Vec<&DevicePoint> = series
        .points()
        .iter()
        .filter(|p| p.busy_percent >= rule.threshold("busy_percent") && p.iops > 0.0)
        .collect();
    if (full.len() as f64) < rule.threshold("intervals") {
        return None;
    }
    let by = |of: fn(&DevicePoint) -> f64| sorted(full.iter().map(|p| of(p)));
    let (iops, bytes) = (by(|p| p.iops), by(|p| p.bytes_per_s));
    // In numbers and in bytes: larger pieces alone are no growth.
    let grown = |v: &[f64]| if v.is_empty() { f64::INFINITY } else { quantile(v, 0.95) / quantile(v, 0.05) };
    let growth = grown(&iops).min(grown(&bytes));
    let outstanding = quantile(&by(|p| p.outstanding), 0.5);
    let (least, most) = (quantile(&iops, 0.05), quantile(&iops, 0.95));
    let at = |iops: f64| full.iter().copied().find(|p| p.iops == iops);
    let tells = growth >= rule.threshold("growth") || outstanding >= rule.threshold("outstanding");
    tells.then_some(Trap { place, lowest: at(least)?, highest: at(most)?, growth, outstanding })
}

fn trap_of(case: &ReadCase<'_>, rule: &Rule, host: HostId) -> Option<Finding> {
    let disks = case.devices().filter(|(p, kind, _)| {
        matches!(kind, PlaceKind::Device | PlaceKind::Volume | PlaceKind::Path) && case.host(*p) == host
    });
    let mut all: Vec<Trap<'_>> = disks.filter_map(|(place, _, series)| trap(place, series, rule)).collect();
    all.sort_by(|a, b| b.growth.total_cmp(&a.growth));
    let best = all.first()?;
    let name = |t: &Trap<'_>| case.digest.place_of(t.place).name.as_str();
    let show = |p: &DevicePoint| {
        if p.bytes_per_s.is_nan() {
            format!("{:.0} I/Os per second", p.iops)
        } else {
            bytes_per_s(p.bytes_per_s)
        }
    };
    let others: Vec<&str> = all.iter().skip(1).map(name).collect();
    let beside =
        if others.is_empty() { String::new() } else { format!("; the same holds for {}", names(&others, 4)) };
    let title = if best.growth >= rule.threshold("growth") {
        format!(
            "{} was busy {:.0} % of the time at {} and at {} alike: %util does not tell how full it is{beside}",
            name(best),
            best.highest.busy_percent.min(100.0),
            show(best.lowest),
            show(best.highest)
        )
    } else {
        format!(
            "{} is busy {:.0} % of the time with {:.1} I/Os outstanding: %util does not tell how full it is{beside}",
            name(best),
            best.highest.busy_percent.min(100.0),
            best.outstanding
        )
    };
    let mut evidence = vec![case.line(best.lowest.origin), case.line(best.highest.origin)];
    evidence.push(computed(format!(
        "over the intervals that were busy all the time throughput varied by a factor of {:.1}, with {:.1} I/Os outstanding \
         (median)",
        best.growth, best.outstanding
    )));
    Some(case.finding(rule, best.place, title, evidence))
}

/// PL605: figures of a kernel or tool that are known to be wrong.
pub(super) fn known_wrong(case: &ReadCase<'_>, rule: &Rule) -> Vec<Finding> {
    let mut found = Vec::new();
    for host in case.hosts() {
        let busy: Vec<(PlaceId, &Series)> = case
            .devices()
            .filter(|(p, kind, _)| {
                matches!(kind, PlaceKind::Device | PlaceKind::Volume | PlaceKind::Path)
                    && case.host(*p) == host
            })
            .filter(|(_, _, s)| s.points().iter().any(|p| p.busy_percent > rule.threshold("busy_percent")))
            .map(|(p, _, s)| (p, s))
            .collect();
        if busy.is_empty() {
            continue;
        }
        let mut said: Vec<String> = Vec::new();
        let mut lines = Vec::new();
        let release = case.digest.hosts.get(host as usize).and_then(|h| h.release.as_deref());
        if case.platform(host) == Platform::Linux {
            said.extend(release.and_then(|r| of_kernel(case, r, &busy)));
        }
        let beyond = busy
            .iter()
            .find_map(|(_, s)| s.points().iter().find(|p| p.busy_percent > rule.threshold("beyond_percent")));
        // Elsewhere a share above 100 is how the tool counts (gstat of FreeBSD).
        if let Some(point) = beyond.filter(|_| case.platform(host) == Platform::Linux) {
            said.push(format!(
                "a share of busy time of {:.0} % cannot be: the counter jumped",
                point.busy_percent
            ));
            lines.push(case.line(point.origin));
        }
        let Some(first) = said.first() else { continue };
        let title = format!("%util is not to be believed here: {first}");
        lines.extend(said.iter().skip(1).map(|s| computed(s.clone())));
        if lines.is_empty() {
            let busiest = busy
                .iter()
                .flat_map(|(_, s)| s.points())
                .max_by(|a, b| a.busy_percent.total_cmp(&b.busy_percent));
            lines.extend(busiest.map(|p| case.line(p.origin)));
        }
        found.push(case.finding_of_host(rule, host, title, lines));
    }
    found
}

/// What is known of a kernel's `io_ticks`.
fn of_kernel(case: &ReadCase<'_>, release: &str, busy: &[(PlaceId, &Series)]) -> Option<String> {
    let mut parts = release.split(['.', '-']);
    let (major, minor): (u32, u32) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
    let is_nvme = busy.iter().any(|(p, _)| case.digest.place_of(*p).name.starts_with("nvme"));
    // Distributions with long support carry the repairs back.
    let patched = release.contains(".el") || release.contains("amzn");
    match (major, minor) {
        (4, 17..=20) if is_nvme && !patched => {
            Some(format!("kernel {release} counts busy time of NVMe devices far too high for tiny loads"))
        }
        (5, 0..=6) if !patched => Some(format!(
            "kernel {release} counts busy time in ticks of its clock: far too low for one slow request at a time, too high for \
             sparse small ones, unless the distribution has repaired it"
        )),
        (5, 7..) | (6, 0..=9) if !patched && sparse(busy) => Some(format!(
            "kernel {release} shows a high share of busy time for sparse small I/Os (about 90 % where it is 10), unless the \
             distribution has repaired it"
        )),
        _ => None,
    }
}

/// Busy for much of the time while next to nothing is outstanding: what that error looks like.
fn sparse(busy: &[(PlaceId, &Series)]) -> bool {
    busy.iter().flat_map(|(_, s)| s.points()).any(|p| {
        p.busy_percent > 50.0 && p.outstanding >= 0.0 && p.outstanding < 0.2 * p.busy_percent / 100.0
    })
}
