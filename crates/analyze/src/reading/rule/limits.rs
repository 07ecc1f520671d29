//! Depths against what stands around them: arrays and their ports, adapters, limits that nobody sees, and depths that are none.

use super::alike::{counted, fold, names};
use super::arrays::{Lun, arrays, luns};
use super::queue::pinned;
use crate::finding::{Evidence, Finding, Severity};
use crate::reading::DevicePoint;
use crate::reading::case::{ReadCase, computed};
use crate::rulebook::Rule;
use record::imported::{EventKind, HostId, Origin, PlaceKind, Platform, facts};
use std::collections::{BTreeMap, BTreeSet};

/// PL104: depths beyond what the array is published to take.
pub(super) fn array(case: &ReadCase<'_>, rule: &Rule) -> Vec<Finding> {
    let hosts: Vec<(HostId, Vec<Lun>)> =
        case.hosts().map(|h| (h, luns(case, h))).filter(|(_, l)| !l.is_empty()).collect();
    let mut found = Vec::new();
    for number in 0..arrays().len() {
        let of_array: Vec<(HostId, Vec<&Lun>)> = hosts
            .iter()
            .map(|(h, luns)| (*h, luns.iter().filter(|l| l.array == number).collect::<Vec<_>>()))
            .filter(|(_, luns)| !luns.is_empty())
            .collect();
        found.extend(port_sum(case, rule, number, &of_array));
        found.extend(of_array.iter().filter_map(|(host, luns)| lun_limit(case, rule, number, *host, luns)));
    }
    found
}

/// Depths of all LUNs at a port, of all hosts that share them.
fn port_sum(
    case: &ReadCase<'_>,
    rule: &Rule,
    number: usize,
    hosts: &[(HostId, Vec<&Lun>)],
) -> Option<Finding> {
    let array = &arrays()[number];
    // The fullest port of each host: by SCSI address, else as if one path of every LUN went there.
    let fullest = |luns: &[&Lun]| {
        let mut ports: BTreeMap<&str, f64> = BTreeMap::new();
        for way in luns.iter().flat_map(|l| &l.ways) {
            if let Some(port) = &way.port {
                *ports.entry(port).or_default() += way.depth;
            }
        }
        let by_address = ports.into_iter().max_by(|a, b| a.1.total_cmp(&b.1));
        match by_address {
            Some((port, sum)) => (sum, format!("target {port}")),
            None => (
                luns.iter().map(|l| l.ways.iter().map(|w| w.depth).fold(0.0, f64::max)).sum(),
                "one path of every LUN taken to end at the same port".to_owned(),
            ),
        }
    };
    let mut sums: Vec<(HostId, f64, String, usize)> = hosts
        .iter()
        .map(|(host, luns)| {
            let (sum, how) = fullest(luns);
            (*host, sum, how, luns.len())
        })
        .collect();
    sums.sort_by(|a, b| b.1.total_cmp(&a.1));
    let (worst, most, how, count) = sums.first()?.clone();
    let total: f64 = sums.iter().map(|s| s.1).sum();
    let limit = array.per_port;
    let (sum, whose) = if most > limit {
        (most, format!("{} of {}", counted(count, "LUN"), array.name))
    } else if total > limit && sums.len() > 1 {
        let shared = share_luns(hosts);
        let how = if shared { "which share LUNs" } else { "taken to use the same ports" };
        (total, format!("the LUNs of {} of {} hosts, {how},", array.name, sums.len()))
    } else {
        return None;
    };
    let title = format!(
        "the depths of {whose} sum to {sum:.0} at one {}, which takes {limit:.0}: TASK SET FULL or BUSY when they are all used",
        array.unit
    );
    let luns = hosts.iter().find(|(h, _)| *h == worst).map(|(_, l)| l.as_slice()).unwrap_or_default();
    let mut evidence: Vec<Evidence> =
        luns.iter().filter_map(|l| l.ways.first()).take(4).map(|w| case.line(w.origin)).collect();
    evidence.push(computed(format!("{}: {how}", computed_sums(case, &sums))));
    evidence.push(computed(format!("per {} of {limit:.0}: {}", array.unit, array.assumed)));
    let allowed = (limit * rule.threshold("plan") / count.max(1) as f64).floor();
    evidence.push(computed(if allowed >= 1.0 {
        format!(
            "with {} and {:.0} % of the limit, each could have a depth of {allowed:.0} for this host alone",
            counted(count, "LUN"),
            rule.threshold("plan") * 100.0
        )
    } else {
        "no depth of 1 or more keeps within it: fewer LUNs per port, or a limit of the target".to_owned()
    }));
    let mut finding = case.finding_of_host(rule, worst, title, evidence);
    let is_refused = |h: &HostId| {
        case.digest.events.iter().any(|e| e.kind == EventKind::QueueFull && case.host(e.place) == *h)
    };
    if hosts.iter().any(|(h, _)| is_refused(h)) {
        finding.severity = Severity::High;
    }
    Some(finding)
}

fn computed_sums(case: &ReadCase<'_>, sums: &[(HostId, f64, String, usize)]) -> String {
    let each = sums.iter().map(|(host, sum, _, luns)| {
        format!("{} {sum:.0} over {}", case.host_name(*host).unwrap_or("this host"), counted(*luns, "LUN"))
    });
    names(&each.collect::<Vec<_>>())
}

fn share_luns(hosts: &[(HostId, Vec<&Lun>)]) -> bool {
    let mut seen = BTreeSet::new();
    hosts.iter().any(|(_, luns)| {
        let of_host: BTreeSet<&str> = luns.iter().filter_map(|l| l.wwid.as_deref()).collect();
        let is_shared = of_host.iter().any(|w| seen.contains(w));
        seen.extend(of_host);
        is_shared
    })
}

/// LUNs with more than the array takes per LUN.
fn lun_limit(
    case: &ReadCase<'_>,
    rule: &Rule,
    number: usize,
    host: HostId,
    luns: &[&Lun],
) -> Option<Finding> {
    let array = &arrays()[number];
    let limit = array.per_lun?;
    let deep = |l: &&&Lun| l.ways.iter().any(|w| w.depth > limit);
    let wide = |l: &&&Lun| l.ways.iter().map(|w| w.depth).sum::<f64>() > limit;
    let over: Vec<&&Lun> = luns.iter().filter(deep).collect();
    let is_deep = !over.is_empty();
    let over = if is_deep { over } else { luns.iter().filter(wide).collect() };
    let first = over.first()?;
    let way = first.ways.iter().max_by(|a, b| a.depth.total_cmp(&b.depth))?;
    let sum: f64 = first.ways.iter().map(|w| w.depth).sum();
    let title = if is_deep {
        format!(
            "{} of {} may be sent {:.0} at once, and the array takes {limit:.0} per LUN",
            counted(over.len(), "LUN"),
            array.name,
            way.depth
        )
    } else {
        format!(
            "{} of {} may be sent {:.0} over each of {} paths, {sum:.0} together, and the array takes {limit:.0} per LUN",
            counted(over.len(), "LUN"),
            array.name,
            way.depth,
            first.ways.len()
        )
    };
    let all: Vec<&str> = over.iter().map(|l| l.name.as_str()).collect();
    let mut evidence: Vec<Evidence> =
        over.iter().filter_map(|l| l.ways.first()).take(4).map(|w| case.line(w.origin)).collect();
    evidence.push(computed(format!("assumed: {}", array.assumed)));
    let finding = case.finding_of_host(rule, host, title, evidence);
    let severity = if is_deep { finding.severity } else { Severity::Low };
    Some(Finding { device: Some(names(&all)), severity, ..finding })
}

/// PL105: LUN depths sum to more than the adapters take.
pub(super) fn adapters(case: &ReadCase<'_>, rule: &Rule) -> Vec<Finding> {
    case.hosts().flat_map(|host| adapters_of(case, rule, host)).collect()
}

fn adapters_of(case: &ReadCase<'_>, rule: &Rule, host: HostId) -> Vec<Finding> {
    let commands = case.numbers(host, facts::ADAPTER_COMMANDS);
    let depths = case.numbers(host, facts::QUEUE_DEPTH);
    let mut found = Vec::new();
    if case.platform(host) == Platform::Aix {
        let is_fibre = |name: &str| name.starts_with("fcs");
        // An adapter whose setting is not told would take some, too.
        let untold = case.places(host, PlaceKind::Adapter).map(|p| case.digest.place_of(p).name.as_str());
        let is_complete = untold.filter(|n| is_fibre(n)).all(|n| commands.contains_key(n));
        let fibre: Vec<_> = commands.iter().filter(|(n, _)| is_fibre(n)).map(|(n, v)| (*n, *v)).collect();
        let disks: Vec<_> =
            depths.iter().filter(|(n, _)| n.starts_with("hdisk")).map(|(n, v)| (*n, *v)).collect();
        if is_complete {
            found.extend(over(case, rule, host, &fibre, &disks, "num_cmd_elems"));
        }
    } else {
        let addresses = case.told(host, facts::SCSI_ADDRESS);
        for (adapter, takes) in &commands {
            let at = |disk: &&str| {
                let number = addresses.get(*disk).map(|(a, _)| a.text());
                number.is_some_and(|a| {
                    let number = a.trim_start_matches('[').split(':').next().unwrap_or("");
                    adapter.strip_prefix("host") == Some(number)
                })
            };
            let disks: Vec<_> = depths.iter().filter(|(n, _)| at(n)).map(|(n, v)| (*n, *v)).collect();
            found.extend(over(case, rule, host, &[(*adapter, *takes)], &disks, "can_queue"));
        }
    }
    found
}

fn over(
    case: &ReadCase<'_>,
    rule: &Rule,
    host: HostId,
    adapters: &[(&str, (f64, Origin))],
    disks: &[(&str, (f64, Origin))],
    setting: &str,
) -> Option<Finding> {
    let takes: f64 = adapters.iter().map(|a| a.1.0).sum();
    let asked: f64 = disks.iter().map(|d| d.1.0).sum();
    if !(takes > 0.0) || !(asked > takes * rule.threshold("times")) {
        return None;
    }
    let who: Vec<&str> = adapters.iter().map(|a| a.0).collect();
    // How much of it the load asks for, where that is told: the mean of each disk at its longest, at the same time or not.
    let peak: f64 = disks.iter().filter_map(|(disk, _)| peak_of(case, host, disk)).sum();
    let title = format!(
        "the depths of {} sum to {asked:.0}, and {} take {takes:.0} ({setting}): raising a LUN queue depth adds nothing once that is reached",
        counted(disks.len(), "LUN"),
        names(&who)
    );
    let mut evidence: Vec<Evidence> = adapters.iter().map(|a| case.line(a.1.1)).collect();
    let mut deepest: Vec<_> = disks.iter().collect();
    deepest.sort_by(|a, b| b.1.0.total_cmp(&a.1.0));
    evidence.extend(deepest.iter().take(3).map(|d| case.line(d.1.1)));
    if peak > 0.0 {
        evidence.push(computed(format!("the longest device queues of these LUNs sum to {peak:.0}")));
    }
    let mut finding = case.finding_of_host(rule, host, title, evidence);
    finding.device = Some(names(&who));
    if peak >= rule.threshold("reached") * takes {
        finding.severity = Severity::Medium;
    }
    Some(finding)
}

fn peak_of(case: &ReadCase<'_>, host: HostId, disk: &str) -> Option<f64> {
    let series =
        case.devices().find(|(p, _, _)| case.host(*p) == host && case.digest.place_of(*p).name == disk)?.2;
    let longest = series.points().iter().map(|p| p.device_queue).fold(f64::NAN, f64::max);
    longest.is_finite().then_some(longest)
}

/// PL112: a device queue that stands at a number below its depth.
pub(super) fn hidden(case: &ReadCase<'_>, rule: &Rule) -> Vec<Finding> {
    let disks = case.devices().filter(|(_, kind, _)| matches!(kind, PlaceKind::Device | PlaceKind::Path));
    let found = disks.filter_map(|(place, _, series)| {
        let waiting: Vec<&DevicePoint> =
            series.busy().filter(|p| p.host_queue >= rule.threshold("host_queue")).collect();
        if (waiting.len() as f64) < rule.threshold("share") * series.busy().count() as f64 {
            return None;
        }
        let limit = pinned(&waiting, rule.threshold("stands"))?;
        let depth = case.queue_depth(place);
        let is_esxi = case.platform(case.host(place)) == Platform::Esxi;
        let is_shared = is_esxi && limit == rule.threshold("shared_limit");
        let below = |(d, _): (f64, Origin)| limit <= rule.threshold("below") * d && limit >= rule.threshold("least");
        let is_hidden = match depth {
            Some(depth) => below(depth),
            None => is_shared,
        };
        if !is_hidden {
            return None;
        }
        let name = &case.digest.place_of(place).name;
        let host = waiting.iter().map(|p| p.host_queue).sum::<f64>() / waiting.len() as f64;
        let own = depth.map_or(String::new(), |(d, _)| format!(", below its depth of {d:.0},"));
        let title = format!(
            "the queue of {name} stands at {limit:.0}{own} while {host:.1} I/Os wait in the host: a limit that is not the LUN queue depth"
        );
        let mut evidence = case.lines(series.most_host_queue());
        evidence.extend(depth.map(|(_, o)| case.line(o)));
        evidence.push(computed(format!(
            "{} of the {} intervals in which I/Os wait have a device queue within {:.0} % of {limit:.0}",
            waiting.iter().filter(|p| p.device_queue >= rule.threshold("stands") * limit).count(),
            waiting.len(),
            (1.0 - rule.threshold("stands")) * 100.0
        )));
        Some(case.finding(rule, place, title, evidence))
    });
    fold(found.collect(), 3)
}

/// PL114: a LUN in use takes next to nothing at once.
pub(super) fn shallow(case: &ReadCase<'_>, rule: &Rule) -> Vec<Finding> {
    let standing = crate::rulebook::rule("PL101");
    let mut found = Vec::new();
    for (place, kind, series) in case.devices() {
        if !matches!(kind, PlaceKind::Device | PlaceKind::Path) {
            continue;
        }
        let iops = series.mean(|p| p.iops);
        if !(iops >= rule.threshold("iops")) {
            continue;
        }
        let untagged = ["q_type", "queue_type"]
            .iter()
            .filter_map(|n| case.fact_of(place, n))
            .find(|(v, _)| matches!(v.text().as_str(), "none" | "no" | "untagged"));
        let depth = case.queue_depth(place).filter(|(d, _)| *d <= rule.threshold("depth"));
        let Some(origin) = depth.map(|d| d.1).or(untagged.map(|u| u.1)) else { continue };
        // Where I/Os are seen to wait for it, PL101 says so with numbers.
        if standing.is_some_and(|r| super::queue::is_standing(case, r, place, series)) {
            continue;
        }
        let name = &case.digest.place_of(place).name;
        let what = match (depth, untagged) {
            (Some((depth, _)), None) => format!("a queue depth of {depth:.0}"),
            _ => "no tagged queue: one I/O at a time".to_owned(),
        };
        let title = format!("{name} does {iops:.0} I/Os per second and has {what}");
        let evidence = [case.lines(series.most_outstanding()), vec![case.line(origin)]].concat();
        found.push((iops, case.finding(rule, place, title, evidence)));
    }
    found.sort_by(|a, b| b.0.total_cmp(&a.0));
    fold(found.into_iter().map(|(_, f)| f).collect(), 2)
}
