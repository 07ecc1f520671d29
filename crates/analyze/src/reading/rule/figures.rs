//! What the texts themselves cannot bear: figures that contradict each other, averages, gaps, damage.

use super::words::{median_of, names, seconds, sorted};
use crate::finding::{Evidence, Finding, Severity};
use crate::reading::case::{ReadCase, computed};
use crate::reading::digest::SourceSeen;
use crate::reading::point::DevicePoint;
use crate::rulebook::Rule;
use record::imported::{EventKind, HostId, Origin, PlaceKind, SourceId};
use std::collections::{BTreeMap, BTreeSet};

/// Sources of a host, with their numbers.
fn sources<'d>(case: &ReadCase<'d>, host: HostId) -> Vec<(SourceId, &'d SourceSeen)> {
    let all = case.digest.sources.iter().enumerate().map(|(id, s)| (id as SourceId, s));
    all.filter(|(_, s)| s.host.is_some_and(|h| case.joined(h) == host)).collect()
}

fn at(source: SourceId) -> Origin {
    Origin { source, ..Origin::default() }
}

/// PL601: number, rate and time of the same row contradict each other.
pub(super) fn little(case: &ReadCase<'_>, rule: &Rule) -> Vec<Finding> {
    let mut found = Vec::new();
    for host in case.hosts() {
        let mut broken = Vec::new();
        for (place, kind, series) in case.devices() {
            let is_disk =
                matches!(kind, PlaceKind::Device | PlaceKind::Volume | PlaceKind::Path | PlaceKind::Pool);
            if !is_disk || case.host(place) != host {
                continue;
            }
            let tested: Vec<&DevicePoint> = series
                .busy()
                .filter(|p| p.little > 0.0 && p.outstanding >= rule.threshold("outstanding"))
                .collect();
            let off: Vec<&DevicePoint> = tested.iter().copied().filter(|p| is_off(p, rule)).collect();
            let enough = tested.len() as f64 >= rule.threshold("intervals")
                && off.len() as f64 >= rule.threshold("share") * tested.len() as f64;
            if enough {
                broken.push((place, off, tested.len()));
            }
        }
        broken.sort_by_key(|(_, off, _)| std::cmp::Reverse(off.len()));
        let Some((place, off, tested)) = broken.first() else { continue };
        let name = |p| case.digest.place_of(p).name.as_str();
        let others: Vec<&str> = broken.iter().skip(1).map(|(p, _, _)| name(*p)).collect();
        let beside =
            if others.is_empty() { String::new() } else { format!("; also of {}", names(&others, 4)) };
        let ratio = median_of(off.iter().map(|p| p.little));
        let title = format!(
            "the figures of {} contradict each other in {} of {tested} intervals: the number outstanding is {ratio:.2} times rate by \
             response time{beside}",
            name(*place),
            off.len()
        );
        let mut evidence: Vec<Evidence> = off.iter().take(3).map(|p| case.line(p.origin)).collect();
        evidence.push(computed(
            "by Little's law the ratio is 1; these intervals cannot be averaged over".to_owned(),
        ));
        let mut finding = case.finding(rule, *place, title, evidence);
        finding.host = case.host_name(host).map(str::to_owned);
        found.push(finding);
    }
    found
}

/// Off by more than the rule allows and more than two decimals explain.
fn is_off(p: &DevicePoint, rule: &Rule) -> bool {
    let of_number = 0.006 / p.outstanding;
    let of_time = rule.threshold("time_grain_us") / p.response_us;
    let of_rate = 0.006 / p.iops;
    (p.little - 1.0).abs() > rule.threshold("off") + of_number + of_time + of_rate
}

/// PL602: nothing but sums since boot, or averages.
pub(super) fn only_averages(case: &ReadCase<'_>, rule: &Rule) -> Vec<Finding> {
    let found = case.hosts().filter_map(|host| {
        // Some text with intervals of its disks is enough.
        if case.devices().any(|(place, _, _)| case.host(place) == host) {
            return None;
        }
        let of_host = sources(case, host);
        let empty: Vec<&(SourceId, &SourceSeen)> = of_host
            .iter()
            .filter(|(_, s)| s.span.interval_rows == 0 && s.span.since_boot_rows + s.span.average_rows > 0)
            .collect();
        let (source, seen) = **empty.first()?;
        let what = match (seen.span.since_boot_rows, seen.span.average_rows) {
            (0, _) => "averages over the whole run",
            (_, 0) => "averages since boot",
            _ => "averages since boot and over the whole run",
        };
        let mut others: Vec<&str> = empty.iter().skip(1).map(|(_, s)| s.source.path.as_str()).collect();
        others.dedup();
        let beside =
            if others.is_empty() { String::new() } else { format!("; likewise {}", names(&others, 3)) };
        let title = format!(
            "{} ({}) holds only {what}: nothing can be said about peaks, queues or their times{beside}",
            seen.source.path, seen.source.format
        );
        let evidence = vec![case.line(at(source))];
        Some(case.finding_of_host(rule, host, title, evidence))
    });
    found.collect()
}

/// PL603: intervals too long for bursts, gaps, restarts, clocks that go back or do not join.
pub(super) fn coarse_or_torn_time(case: &ReadCase<'_>, rule: &Rule) -> Vec<Finding> {
    let mut found = Vec::new();
    for host in case.hosts() {
        let of_host = sources(case, host);
        let mut said: Vec<(String, Option<Origin>, Severity)> = Vec::new();
        said.extend(long_intervals(&of_host, rule));
        said.extend(gaps(case, host, rule));
        let restarts: Vec<_> = case
            .digest
            .events
            .iter()
            .filter(|e| e.kind == EventKind::Restart && case.host(e.place) == host)
            .collect();
        if let Some(first) = restarts.first() {
            let times =
                if restarts.len() == 1 { "once".to_owned() } else { format!("{} times", restarts.len()) };
            said.push((
                format!("the host or the tool was started anew {times}"),
                Some(first.origin),
                Severity::Info,
            ));
        }
        for (id, seen) in &of_host {
            if seen.span.went_back > 0 {
                let text =
                    format!("the clock of {} goes back {} times", seen.source.path, seen.span.went_back);
                said.push((text, Some(at(*id)), Severity::Low));
            }
            if case.clocks().apart().contains(id) {
                let text = format!(
                    "{} cannot be joined with the other texts: no one time zone or day makes them overlap",
                    seen.source.path
                );
                said.push((text, Some(at(*id)), Severity::Info));
            }
        }
        let Some((first, _, _)) = said.first() else { continue };
        let more =
            if said.len() > 1 { "; its evidence tells more about times".to_owned() } else { String::new() };
        let title = format!("{first}{more}");
        let severity = said.iter().map(|s| s.2).max().unwrap_or(rule.severity);
        let mut evidence = Vec::new();
        for (text, origin, _) in said.iter().take(8) {
            evidence.extend(origin.map(|o| case.line(o)));
            evidence.push(computed(text.clone()));
        }
        let mut finding = case.finding_of_host(rule, host, title, evidence);
        finding.severity = severity;
        found.push(finding);
    }
    found
}

fn long_intervals(
    of_host: &[(SourceId, &SourceSeen)],
    rule: &Rule,
) -> Option<(String, Option<Origin>, Severity)> {
    let long = |s: &SourceSeen| s.span.mean_interval_s() >= rule.threshold("interval_s");
    // Another text with short intervals sees what these do not.
    let has_short = of_host.iter().any(|(_, s)| s.span.interval_rows > 0 && !long(s));
    let (id, seen) = of_host.iter().find(|(_, s)| s.span.interval_rows > 0 && long(s))?;
    if has_short {
        return None;
    }
    let text = format!(
        "intervals of {} in {}: bursts and queues that last for seconds are averaged away",
        seconds(seen.span.mean_interval_s()),
        seen.source.path
    );
    Some((text, Some(at(*id)), Severity::Info))
}

/// Pauses within a text, seen at its busiest devices.
fn gaps(case: &ReadCase<'_>, host: HostId, rule: &Rule) -> Option<(String, Option<Origin>, Severity)> {
    let mut pauses: BTreeMap<u64, (f64, Origin)> = BTreeMap::new();
    for (_, _, series) in case.devices().filter(|(p, _, s)| case.host(*p) == host && s.stride() == 1).take(8)
    {
        for pair in series.points().windows(2) {
            let [before, after] = pair else { continue };
            let pause = after.at_s - before.at_s - after.length_s;
            let is_gap = pause > rule.threshold("gap_intervals") * after.length_s.max(1.0);
            if is_gap && before.origin.source == after.origin.source {
                pauses.insert(before.at_s as u64, (pause, after.origin));
            }
        }
    }
    // A device without I/O may be left out of an interval (iostat -z): a pause of one device is none of the text.
    if pauses.is_empty() {
        return None;
    }
    let own = case.devices().filter(|(p, _, _)| case.host(*p) == host);
    let times = sorted(own.flat_map(|(_, _, s)| s.points().iter().map(|p| p.at_s)));
    let whole: Vec<&(f64, Origin)> = pauses
        .iter()
        .filter(|(from, (pause, _))| {
            let (from, to) = (**from as f64 + 1.0, **from as f64 + pause - 1.0);
            let next = times.partition_point(|at| *at <= from);
            times.get(next).is_none_or(|at| *at >= to)
        })
        .map(|(_, v)| v)
        .collect();
    let longest = whole.iter().max_by(|a, b| a.0.total_cmp(&b.0))?;
    let length = seconds(longest.0);
    let text = match whole.len() {
        1 => format!("a gap of {length} in which nothing was measured"),
        n => format!("{n} gaps, the longest of {length}, in which nothing was measured"),
    };
    Some((text, Some(longest.1), Severity::Info))
}

/// PL604: the text is cut or torn.
pub(super) fn torn(case: &ReadCase<'_>, rule: &Rule) -> Vec<Finding> {
    let mut found = Vec::new();
    let mut seen_paths = BTreeSet::new();
    for seen in &case.digest.sources {
        // Prose around a pasted table belongs to no format; a damaged line belongs to one.
        let damaged: Vec<_> =
            seen.complaints.iter().filter(|c| !c.expected.starts_with("a line of ")).collect();
        let least = rule.threshold("lines").max(rule.threshold("share") * seen.samples as f64);
        // In an article with a few lines of a format among its prose, prose is easily taken for damage.
        let is_prose = (seen.complaints.len() - damaged.len()) as u64 > seen.samples;
        if is_prose || (damaged.len() as f64) < least || !seen_paths.insert(&seen.source.path) {
            continue;
        }
        let Some(first) = damaged.first() else { continue };
        let title = format!(
            "{} of {} lines of {} are cut or torn; what they held is missing here",
            damaged.len(),
            damaged.len() as u64 + seen.samples,
            seen.source.path
        );
        let mut evidence: Vec<Evidence> = damaged
            .iter()
            .take(3)
            .map(|c| Evidence {
                file: Some(seen.source.path.clone()),
                line: Some(c.line).filter(|l| *l > 0),
                text: c.found.clone(),
            })
            .collect();
        evidence.push(computed(format!("expected there: {}", first.expected)));
        let host = seen.host.map(|h| case.joined(h));
        let finding = match host {
            Some(host) => case.finding_of_host(rule, host, title, evidence),
            None => continue,
        };
        found.push(finding);
    }
    found
}
