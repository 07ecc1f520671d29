//! Settings that have ended in accidents: a guard for advice, and findings of their own.

use super::alike::{counted, names};
use crate::finding::{Evidence, Finding, Severity};
use crate::reading::case::{ReadCase, computed};
use crate::rulebook::{Rule, rule as rule_of};
use record::imported::{EventKind, HostId, Origin, PlaceId, PlaceKind, Platform, facts};
use std::collections::BTreeMap;

const MIB: f64 = 1024.0 * 1024.0;

/// A number, and the line that tells it.
type Told = (f64, Origin);

/// An adapter with many command elements and large transfers.
struct Deep<'d> {
    adapter: &'d str,
    elements: (f64, Origin),
    transfer: (f64, Origin),
}

fn deep<'d>(case: &ReadCase<'d>, rule: &Rule, host: HostId) -> Vec<Deep<'d>> {
    let transfers = case.numbers(host, facts::MAX_TRANSFER_BYTES);
    let all = case.numbers(host, facts::ADAPTER_COMMANDS).into_iter();
    all.filter_map(|(adapter, elements)| Some(Deep { adapter, elements, transfer: *transfers.get(adapter)? }))
        .filter(|d| d.elements.0 >= rule.threshold("elements"))
        .filter(|d| d.transfer.0 > rule.threshold("transfer_mib") * MIB)
        .collect()
}

/// What stands before any advice to raise the LUN queue depth of this host; nothing where no accident is known.
pub(super) fn before_raising(case: &ReadCase<'_>, host: HostId) -> Option<String> {
    let rule = rule_of("PL108")?;
    let known = !deep(case, rule, host).is_empty() || !virtual_adapters(case, rule, host).is_empty();
    (known && is_aix(case, host)).then(|| rule.text("before_raising").to_owned())
}

fn is_aix(case: &ReadCase<'_>, host: HostId) -> bool {
    case.platform(host) == Platform::Aix
}

/// PL108: command elements and transfers with which hosts were lost before.
pub(super) fn adapters(case: &ReadCase<'_>, rule: &Rule) -> Vec<Finding> {
    let hosts = case.hosts().filter(|h| is_aix(case, *h));
    hosts
        .flat_map(|host| [accident_of_depth(case, rule, host), accident_of_virtual(case, rule, host)])
        .flatten()
        .collect()
}

fn accident_of_depth(case: &ReadCase<'_>, rule: &Rule, host: HostId) -> Option<Finding> {
    let deep = deep(case, rule, host);
    let first = deep.first()?;
    let adapters: Vec<&str> = deep.iter().map(|d| d.adapter).collect();
    let mut evidence: Vec<Evidence> =
        deep.iter().flat_map(|d| [d.elements.1, d.transfer.1]).map(|o| case.line(o)).collect();
    // Depths of disks; adapters have none.
    let raised: Vec<(f64, Origin)> = case
        .numbers(host, facts::QUEUE_DEPTH)
        .into_values()
        .filter(|(depth, _)| *depth >= rule.threshold("depth"))
        .collect();
    let errors =
        case.digest.events.iter().filter(|e| e.kind == EventKind::AdapterError && case.host(e.place) == host);
    let errors: Vec<Origin> = errors.map(|e| e.origin).collect();
    evidence.extend(raised.iter().take(3).map(|r| case.line(r.1)));
    evidence.extend(errors.iter().rev().take(3).map(|o| case.line(*o)));
    let also = match (raised.is_empty(), errors.is_empty()) {
        (false, false) => format!(
            ", {} at a depth of {:.0} or more, and {} in the log",
            counted(raised.len(), "disk"),
            rule.threshold("depth"),
            counted(errors.len(), "adapter error")
        ),
        (false, true) => {
            format!(
                ", and {} at a depth of {:.0} or more",
                counted(raised.len(), "disk"),
                rule.threshold("depth")
            )
        }
        (true, false) => format!(", and {} in the log", counted(errors.len(), "adapter error")),
        (true, true) => String::new(),
    };
    let title = format!(
        "{} with num_cmd_elems {:.0} and max_xfer_size of {:.0} MiB{also}: with this, raised depths have ended in writes of many seconds",
        names(&adapters),
        first.elements.0,
        first.transfer.0 / MIB
    );
    let mut finding = case.finding_of_host(rule, host, title, evidence);
    finding.device = Some(names(&adapters));
    if raised.is_empty() && errors.is_empty() {
        finding.severity = Severity::Medium;
    }
    Some(finding)
}

/// Virtual adapters with more command elements than some levels stand.
fn virtual_adapters<'d>(case: &ReadCase<'d>, rule: &Rule, host: HostId) -> Vec<(&'d str, f64, Origin)> {
    let products = case.told(host, facts::PRODUCT);
    let is_virtual = |adapter: &str| {
        let text = products.get(adapter).map(|(v, _)| v.text().to_ascii_lowercase());
        text.is_some_and(|t| t.contains("virtual"))
    };
    // Levels at which this is known to be repaired, or was never broken.
    if case.release(host).is_some_and(|r| !["6.1", "6100", "61"].iter().any(|l| r.starts_with(l))) {
        return Vec::new();
    }
    let all = case.numbers(host, facts::ADAPTER_COMMANDS).into_iter();
    all.filter(|(name, (n, _))| is_virtual(name) && *n > rule.threshold("virtual_elements"))
        .map(|(name, (n, origin))| (name, n, origin))
        .collect()
}

fn accident_of_virtual(case: &ReadCase<'_>, rule: &Rule, host: HostId) -> Option<Finding> {
    let found = virtual_adapters(case, rule, host);
    let (_, elements, _) = *found.first()?;
    let adapters: Vec<&str> = found.iter().map(|f| f.0).collect();
    let release = case.release(host);
    let which = match release {
        Some(release) => format!("on AIX {release}"),
        None => "(the level of AIX is not told: 6100-09 before its repair is affected)".to_owned(),
    };
    let title = format!(
        "virtual Fibre Channel {} with num_cmd_elems {elements:.0}, above {:.0}, {which}: DMA errors and undetected loss of data are known",
        names(&adapters),
        rule.threshold("virtual_elements")
    );
    let mut evidence: Vec<Evidence> = found.iter().map(|f| case.line(f.2)).collect();
    evidence.push(computed(rule.text("virtual_evidence")));
    let mut finding = case.finding_of_host(rule, host, title, evidence);
    finding.device = Some(names(&adapters));
    finding.advice.insert(0, rule.text("virtual_advice").to_owned());
    if release.is_none() {
        finding.severity = Severity::Low;
    }
    Some(finding)
}

/// PL110: what a map, its paths and its adapter take at once does not agree.
pub(super) fn transfers(case: &ReadCase<'_>, rule: &Rule) -> Vec<Finding> {
    case.hosts().flat_map(|host| transfers_of(case, rule, host)).collect()
}

fn transfers_of(case: &ReadCase<'_>, rule: &Rule, host: HostId) -> Vec<Finding> {
    let sizes = case.numbers(host, facts::MAX_TRANSFER_BYTES);
    let mut paths: BTreeMap<String, Vec<(&str, Told)>> = BTreeMap::new();
    for (path, (map, _)) in case.told(host, facts::PART_OF) {
        if let Some(size) = sizes.get(path) {
            paths.entry(map.text()).or_default().push((path, *size));
        }
    }
    let mut found = Vec::new();
    for (map, paths) in paths {
        // sysfs has the map by the kernel's name (dm-3), multipath by its alias.
        let kernel_name = case.fact_named(host, &map, "kernel_name").map(|(v, _)| v.text());
        let map_size = sizes.get(map.as_str()).or_else(|| sizes.get(kernel_name?.as_str()));
        let least = paths.iter().map(|(_, (s, _))| *s).fold(f64::INFINITY, f64::min);
        let most = paths.iter().map(|(_, (s, _))| *s).fold(0.0, f64::max);
        let kib = |bytes: f64| format!("{:.0} KiB", bytes / 1024.0);
        let (title, severity) = match map_size {
            Some((size, _)) if *size > least => (
                format!(
                    "{map} sends up to {} at once, and its path {} takes only {}: such a request fails on it",
                    kib(*size),
                    paths.iter().find(|p| p.1.0 == least).map_or("", |p| p.0),
                    kib(least)
                ),
                Severity::High,
            ),
            _ if least < most => (
                format!("the paths of {map} take different sizes at once: {} and {}", kib(least), kib(most)),
                Severity::Medium,
            ),
            _ => continue,
        };
        let mut evidence: Vec<Evidence> = map_size.into_iter().map(|(_, o)| case.line(*o)).collect();
        evidence.extend(paths.iter().take(8).map(|(_, (_, o))| case.line(*o)));
        let finding = case.finding_of_host(rule, host, title, evidence);
        found.push(Finding { severity, device: Some(map), ..finding });
    }
    found.extend(large_with_timeouts(case, rule, host));
    found.extend(more_than_adapter(case, rule, host, &sizes));
    super::alike::fold(found, 3)
}

/// AIX: disks that send more at once than an adapter takes.
fn more_than_adapter(
    case: &ReadCase<'_>,
    rule: &Rule,
    host: HostId,
    sizes: &BTreeMap<&str, (f64, Origin)>,
) -> Option<Finding> {
    if !is_aix(case, host) {
        return None;
    }
    let adapters = sizes.iter().filter(|(name, _)| name.starts_with("fcs"));
    let (adapter, (takes, told)) = adapters.min_by(|a, b| a.1.0.total_cmp(&b.1.0))?;
    let above: Vec<_> =
        sizes.iter().filter(|(name, size)| name.starts_with("hdisk") && size.0 > *takes).collect();
    let (disk, (sends, _)) = above.first()?;
    let title = format!(
        "{disk} may send {:.0} KiB at once (max_transfer) and {adapter} takes {:.0} KiB (max_xfer_size)",
        sends / 1024.0,
        takes / 1024.0
    );
    let mut evidence: Vec<Evidence> = above.iter().take(4).map(|d| case.line(d.1.1)).collect();
    evidence.push(case.line(*told));
    let mut finding = case.finding_of_host(rule, host, title, evidence);
    finding.device = Some(names(&above.iter().map(|d| *d.0).collect::<Vec<_>>()));
    Some(Finding { severity: Severity::Medium, ..finding })
}

/// Transfers of 4 MiB, and commands that time out at the same disks.
fn large_with_timeouts(case: &ReadCase<'_>, rule: &Rule, host: HostId) -> Option<Finding> {
    if case.platform(host) != Platform::Linux {
        return None;
    }
    let large = case.numbers(host, facts::MAX_TRANSFER_BYTES);
    let is_large = |place: PlaceId| {
        let about = case.digest.place_of(place);
        let size = large.get(about.name.as_str()).filter(|s| s.0 >= rule.threshold("large_mib") * MIB)?;
        matches!(about.kind, PlaceKind::Device | PlaceKind::Path).then_some(size.1)
    };
    let timeouts =
        case.digest.events.iter().filter(|e| e.kind == EventKind::Timeout && case.host(e.place) == host);
    let mut disks: BTreeMap<&str, (usize, Origin, Origin)> = BTreeMap::new();
    for event in timeouts {
        if let Some(size) = is_large(event.place) {
            let name = case.digest.place_of(event.place).name.as_str();
            disks.entry(name).or_insert((0, size, event.origin)).0 += 1;
        }
    }
    let count: usize = disks.values().map(|d| d.0).sum();
    if count == 0 {
        return None;
    }
    let told: Vec<&str> = disks.keys().copied().collect();
    let title = format!(
        "{} at {}, to which up to {:.0} MiB are sent at once",
        counted(count, "command timeout"),
        names(&told),
        rule.threshold("large_mib")
    );
    let evidence = disks.values().take(4).flat_map(|d| [case.line(d.2), case.line(d.1)]).collect();
    let mut finding = case.finding_of_host(rule, host, title, evidence);
    finding.device = Some(names(&told));
    finding.advice.insert(0, rule.text("large_advice").to_owned());
    Some(Finding { severity: Severity::Medium, ..finding })
}
