//! What devices and adapters refused, failed or ran out of.

use super::alike::{counted, names};
use crate::finding::{Evidence, Finding, Severity};
use crate::reading::case::{ReadCase, computed};
use crate::rulebook::Rule;
use record::imported::{Event, EventKind, Fact, HostId, Origin, PlaceKind, Platform, facts};
use std::collections::BTreeMap;

/// Lines of a log told of one finding: the first and the last.
const LINES_MAX: usize = 3;

/// PL103: the device or array answered that it can take no more.
pub(super) fn refused(case: &ReadCase<'_>, rule: &Rule) -> Vec<Finding> {
    let mut found = Vec::new();
    for host in case.hosts() {
        found.extend(refused_by_log(case, rule, host));
        found.extend(refused_by_counter(case, rule, host));
        found.extend(depth_fell(case, rule, host));
    }
    found
}

fn says_full(event: &Event) -> bool {
    let text = event.text.to_ascii_uppercase();
    event.kind == EventKind::QueueFull
        || ["TASK SET FULL", "TASK_SET_FULL", "QUEUE FULL", "QUEUE_FULL"].iter().any(|t| text.contains(t))
}

fn refused_by_log(case: &ReadCase<'_>, rule: &Rule, host: HostId) -> Option<Finding> {
    let events: Vec<&Event> =
        case.digest.events.iter().filter(|e| case.host(e.place) == host && says_full(e)).collect();
    if events.is_empty() {
        return None;
    }
    let where_ = places(case, &events);
    let title = format!(
        "TASK SET FULL, QUEUE FULL or BUSY was answered {} at {}{}",
        times(events.len()),
        names(&where_),
        span(&events)
    );
    let mut evidence = lines(case, &events);
    evidence.extend(rate(&events));
    let mut finding = case.finding_of_host(rule, host, title, evidence);
    finding.device = Some(names(&where_));
    Some(finding)
}

fn refused_by_counter(case: &ReadCase<'_>, rule: &Rule, host: HostId) -> Option<Finding> {
    let is_count = |f: &&Fact| {
        let is_named = ["queue_full", "task_set_full", "scsi_busy"].iter().any(|n| f.name.contains(n));
        is_named && !f.name.ends_with("_s") && f.value.number().is_some_and(|n| n > 0.0)
    };
    let mut counts: BTreeMap<(&str, &str), &Fact> = BTreeMap::new();
    for fact in case.digest.facts.iter().filter(|f| case.host(f.place) == host).filter(is_count) {
        counts.insert((case.digest.place_of(fact.place).name.as_str(), fact.name.as_str()), fact);
    }
    let worst = counts.iter().max_by(|a, b| number(a.1).total_cmp(&number(b.1)))?;
    let ((device, name), fact) = worst;
    let title = format!("{device} counts {:.0} answers of a full queue ({name})", number(fact));
    let evidence = counts.values().take(LINES_MAX * 2).map(|f| case.line(f.origin)).collect();
    Some(case.finding(rule, fact.place, title, evidence))
}

fn number(fact: &Fact) -> f64 {
    fact.value.number().unwrap_or(f64::NAN)
}

/// Linux and ESXi lower the depth by themselves when the queue is answered to be full.
fn depth_fell(case: &ReadCase<'_>, rule: &Rule, host: HostId) -> Option<Finding> {
    if !matches!(case.platform(host), Platform::Linux | Platform::Esxi) {
        return None;
    }
    let mut readings: BTreeMap<&str, Vec<&Fact>> = BTreeMap::new();
    for fact in case.digest.facts_named(facts::QUEUE_DEPTH).filter(|f| case.host(f.place) == host) {
        readings.entry(case.digest.place_of(fact.place).name.as_str()).or_default().push(fact);
    }
    let mut all: Vec<(&str, (&Fact, &Fact))> = Vec::new();
    for (device, of_device) in &readings {
        if let [first, .., last] = of_device.as_slice()
            && number(last) < number(first)
            && number(last) > 0.0
        {
            all.push((device, (first, last)));
        }
    }
    let (device, (first, last)) = *all.first()?;
    let devices: Vec<&str> = all.iter().map(|a| a.0).collect();
    let title = format!(
        "queue_depth of {device} fell from {:.0} to {:.0} between two readings{}: the host lowers it when QUEUE FULL is answered",
        number(first),
        number(last),
        if devices.len() > 1 {
            format!(" ({} in all)", counted(devices.len(), "device"))
        } else {
            String::new()
        }
    );
    let evidence = vec![
        case.line(first.origin),
        case.line(last.origin),
        computed(format!("read in the order in which the texts were given: {}", names(&devices))),
    ];
    let mut finding = case.finding_of_host(rule, host, title, evidence);
    finding.device = Some(names(&devices));
    finding.severity = Severity::Medium;
    finding.refuted_by = rule.text("fell_refuted_by").to_owned();
    Some(finding)
}

/// PL106: an adapter had no command element or no DMA memory when an I/O came.
pub(super) fn exhausted(case: &ReadCase<'_>, rule: &Rule) -> Vec<Finding> {
    let mut adapters: BTreeMap<(HostId, &str), Vec<&Fact>> = BTreeMap::new();
    for fact in &case.digest.facts {
        let of = case.digest.place_of(fact.place);
        if of.kind == PlaceKind::Adapter {
            adapters.entry((case.host(fact.place), of.name.as_str())).or_default().push(fact);
        }
    }
    let mut found = Vec::new();
    for ((host, adapter), facts_of) in &adapters {
        let elements = [facts::NO_COMMAND_RESOURCE, facts::NO_ADAPTER_ELEMENTS];
        for (what, counters) in [("elements", &elements[..]), ("dma", &[facts::NO_DMA_RESOURCE][..])] {
            found.extend(ran_out(case, rule, (*host, adapter), facts_of, what, counters));
        }
    }
    found
}

fn ran_out(
    case: &ReadCase<'_>,
    rule: &Rule,
    (host, adapter): (HostId, &str),
    facts_of: &[&Fact],
    what: &str,
    counters: &[&str],
) -> Option<Finding> {
    let readings = |name: &str| facts_of.iter().filter(|f| f.name == name).copied().collect::<Vec<_>>();
    let counted: Vec<Vec<&Fact>> = counters.iter().map(|c| readings(c)).filter(|r| !r.is_empty()).collect();
    let sum = |of: fn(&[&Fact]) -> Option<f64>| counted.iter().filter_map(|r| of(r)).sum::<f64>();
    let last = sum(|r| r.last().map(|f| number(f)));
    if !(last > 0.0) {
        return None;
    }
    let growth = sum(|r| Some(number(r.last()?) - number(r.first()?)));
    let is_read_twice = counted.iter().any(|r| r.len() > 1) && growth >= 0.0;
    let resets = readings(facts::SINCE_RESET_S);
    let since = resets.last().map_or(f64::NAN, |f| number(f));
    let between = resets.first().map_or(f64::NAN, |f| since - number(f));
    let (per_hour, over) = if is_read_twice && between > 0.0 {
        (
            growth / between * 3600.0,
            format!("{growth:.0} of them in the {} between two readings", lasting(between)),
        )
    } else if is_read_twice {
        (f64::NAN, format!("{growth:.0} of them between two readings"))
    } else if since > 0.0 {
        (last / since * 3600.0, format!("in the {} since its counters were reset", lasting(since)))
    } else {
        (f64::NAN, "since its counters were reset, and when that was is not told".to_owned())
    };
    let thing = rule.text(&format!("{what}_thing"));
    let who = if adapter.is_empty() { "an adapter that is not named" } else { adapter };
    let title = format!("{who} had no {thing} {last:.0} times, {over}");
    let mut evidence: Vec<Evidence> = counted
        .iter()
        .filter_map(|r| r.last())
        .filter(|f| number(f) > 0.0)
        .map(|f| case.line(f.origin))
        .collect();
    evidence.extend(resets.last().map(|f| case.line(f.origin)));
    for setting in [facts::ADAPTER_COMMANDS, facts::MAX_TRANSFER_BYTES] {
        evidence.extend(case.fact_named(host, adapter, setting).map(|(_, o)| case.line(o)));
    }
    if per_hour.is_finite() {
        evidence.push(computed(format!("{per_hour:.2} per hour")));
    }
    let place = counted.first()?.first()?.place;
    let mut finding = case.finding(rule, place, title, evidence);
    finding.advice.insert(0, rule.text(&format!("{what}_advice")).to_owned());
    if let Some(first) = super::accident::before_raising(case, host) {
        finding.advice.insert(0, first);
    }
    let is_still = is_read_twice && growth == 0.0;
    if per_hour >= rule.threshold("often_per_hour") {
        finding.severity = Severity::High;
    } else if is_still || per_hour < rule.threshold("seldom_per_hour") {
        finding.severity = Severity::Low;
    }
    Some(finding)
}

fn lasting(seconds: f64) -> String {
    match seconds {
        s if s >= 2.0 * 86_400.0 => format!("{:.0} days", s / 86_400.0),
        s if s >= 7200.0 => format!("{:.0} hours", s / 3600.0),
        s if s >= 120.0 => format!("{:.0} minutes", s / 60.0),
        s => format!("{s:.0} s"),
    }
}

/// PL107: errors of disks, adapters, links; commands that timed out; resets.
pub(super) fn errors(case: &ReadCase<'_>, rule: &Rule) -> Vec<Finding> {
    case.hosts()
        .flat_map(|host| {
            [logged(case, rule, host), counted_errors(case, rule, host), in_intervals(case, rule, host)]
        })
        .flatten()
        .collect()
}

/// Drives for removable media and networks: their errors say nothing of storage.
pub(super) fn is_storage(name: &str) -> bool {
    let prefix = name.trim_end_matches(|c: char| c.is_ascii_digit()).to_ascii_lowercase();
    !matches!(
        prefix.as_str(),
        "cd" | "fd" | "loop" | "ram" | "zram" | "rmt" | "ent" | "en" | "sr" | "scd" | "tty" | "lp" | "st"
    )
}

fn logged(case: &ReadCase<'_>, rule: &Rule, host: HostId) -> Option<Finding> {
    let kinds = [
        (EventKind::AdapterError, "adapter or link error"),
        (EventKind::DiskError, "disk error"),
        (EventKind::Timeout, "timeout, abort or reset"),
    ];
    let of = |kind: EventKind| -> Vec<&Event> {
        let all = case.digest.events.iter().filter(|e| e.kind == kind && case.host(e.place) == host);
        all.filter(|e| !says_full(e) && is_storage(&case.digest.place_of(e.place).name)).collect()
    };
    let groups: Vec<(&str, Vec<&Event>)> =
        kinds.iter().map(|(k, t)| (*t, of(*k))).filter(|(_, e)| !e.is_empty()).collect();
    let all: Vec<&Event> = groups.iter().flat_map(|(_, e)| e.iter().copied()).collect();
    if all.is_empty() {
        return None;
    }
    let told: Vec<String> = groups
        .iter()
        .map(|(thing, events)| {
            let thing = if events.len() == 1 { (*thing).to_owned() } else { plural(thing) };
            format!("{} {thing} at {}", events.len(), names(&places(case, events)))
        })
        .collect();
    let title = format!("{}{}", told.join("; "), span(&all));
    let mut evidence: Vec<Evidence> = groups.iter().flat_map(|(_, e)| lines(case, e)).collect();
    evidence.extend(rate(&all));
    let mut finding = case.finding_of_host(rule, host, title, evidence);
    finding.device = Some(names(&places(case, &all)));
    if (all.len() as f64) >= rule.threshold("many") {
        finding.severity = Severity::High;
    }
    Some(finding)
}

fn plural(thing: &str) -> String {
    match thing {
        "timeout, abort or reset" => "timeouts, aborts or resets".to_owned(),
        other => format!("{other}s"),
    }
}

/// Counts since boot, as `iostat -E` tells them.
fn counted_errors(case: &ReadCase<'_>, rule: &Rule, host: HostId) -> Option<Finding> {
    let of = |name: &str| case.numbers(host, name);
    let [hard, transport, media, predicted, absent, unready] = [
        facts::HARD_ERRORS,
        facts::TRANSPORT_ERRORS,
        "media_errors",
        "predictive_failures",
        "no_device_errors",
        "device_not_ready_errors",
    ]
    .map(of);
    let products = case.told(host, facts::PRODUCT);
    let is_drive = |disk: &str| {
        let product = products.get(disk).map(|(v, _)| v.text().to_ascii_uppercase()).unwrap_or_default();
        !["CD", "DVD", "ROM", "TAPE", "VIRTUAL FLOPPY"].iter().any(|p| product.contains(p))
            && is_storage(disk)
    };
    let count = |all: &BTreeMap<&str, (f64, Origin)>, disk: &str| all.get(disk).map_or(0.0, |n| n.0);
    let mut bad: Vec<(f64, &str, String, Origin, Severity)> = Vec::new();
    let disks: Vec<&str> = hard.keys().chain(transport.keys()).copied().collect();
    let disks: std::collections::BTreeSet<&str> = disks.into_iter().filter(|d| is_drive(d)).collect();
    for disk in disks {
        let real = count(&hard, disk) - count(&absent, disk) - count(&unready, disk);
        let [lost, medium, soon] = [&transport, &media, &predicted].map(|all| count(all, disk));
        let dying = medium > 0.0 || soon > 0.0;
        if !dying && real <= 0.0 && lost < rule.threshold("transport") {
            continue;
        }
        let parts = [(real, "hard"), (lost, "transport"), (medium, "media"), (soon, "predicted failure")];
        let told: Vec<String> =
            parts.iter().filter(|p| p.0 > 0.0).map(|(n, what)| format!("{n:.0} {what}")).collect();
        let origin = hard.get(disk).or(transport.get(disk)).map_or_else(Origin::default, |n| n.1);
        let severity = if dying { Severity::High } else { rule.severity };
        bad.push((real + lost + medium + soon, disk, told.join(", "), origin, severity));
    }
    bad.sort_by(|a, b| b.4.cmp(&a.4).then_with(|| b.0.total_cmp(&a.0)));
    let (_, disk, told, _, severity) = bad.first()?;
    let more = if bad.len() > 1 {
        format!("; errors at {} more", counted(bad.len() - 1, "disk"))
    } else {
        String::new()
    };
    let title = format!("{disk} has counted {told} errors since boot{more}");
    let mut evidence: Vec<Evidence> = bad.iter().take(6).map(|b| case.line(b.3)).collect();
    evidence.extend(bad.iter().skip(1).take(6).map(|b| computed(format!("{}: {}", b.1, b.2))));
    let all: Vec<&str> = bad.iter().map(|b| b.1).collect();
    let finding = case.finding_of_host(rule, host, title, evidence);
    Some(Finding { device: Some(names(&all)), severity: *severity, ..finding })
}

/// I/Os that failed or timed out, as interval tools count them (AIX iostat -D). Not on ESXi: there commands that a device
/// does not know count as failed, too.
fn in_intervals(case: &ReadCase<'_>, rule: &Rule, host: HostId) -> Option<Finding> {
    if case.platform(host) == Platform::Esxi {
        return None;
    }
    let mut failing: Vec<(f64, &str, Origin)> = Vec::new();
    for (place, _, series) in case.devices().filter(|(p, _, _)| case.host(*p) == host) {
        let bad = series.points().iter().filter(|p| p.failures > 0.0);
        let (sum, first) =
            bad.fold((0.0, None), |(sum, first), p| (sum + p.failures, first.or(Some(p.origin))));
        failing.extend(first.map(|origin| (sum, case.digest.place_of(place).name.as_str(), origin)));
    }
    failing.sort_by(|a, b| b.0.total_cmp(&a.0));
    let (count, worst, _) = failing.first()?;
    let title = format!(
        "{count:.0} I/Os failed, were aborted or timed out at {worst} while it was watched{}",
        if failing.len() > 1 {
            format!("; such I/Os at {} more", counted(failing.len() - 1, "device"))
        } else {
            String::new()
        }
    );
    let evidence = failing.iter().take(6).map(|f| case.line(f.2)).collect();
    let finding = case.finding_of_host(rule, host, title, evidence);
    Some(Finding { device: Some(names(&failing.iter().map(|f| f.1).collect::<Vec<_>>())), ..finding })
}

fn times(count: usize) -> String {
    if count == 1 { "once".to_owned() } else { format!("{count} times") }
}

/// Names of what events happened to, the most afflicted first.
fn places<'d>(case: &ReadCase<'d>, events: &[&Event]) -> Vec<&'d str> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for event in events {
        *counts.entry(case.digest.place_of(event.place).name.as_str()).or_default() += 1;
    }
    let mut all: Vec<(&str, usize)> = counts.into_iter().collect();
    all.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    all.into_iter().map(|(name, _)| if name.is_empty() { "the host" } else { name }).collect()
}

/// The first and the last lines.
fn lines(case: &ReadCase<'_>, events: &[&Event]) -> Vec<Evidence> {
    let line = |e: &&Event| {
        let mut line = case.line(e.origin);
        if line.text.is_empty() {
            line.text.clone_from(&e.text);
        }
        line
    };
    if events.len() <= LINES_MAX * 2 {
        return events.iter().map(line).collect();
    }
    let last = &events[events.len() - LINES_MAX..];
    events[..LINES_MAX].iter().chain(last).map(line).collect()
}

fn times_of(events: &[&Event]) -> Option<(f64, f64)> {
    let known = events.iter().map(|e| e.at_s).filter(|t| t.is_finite());
    let (first, last) = known.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), t| (a.min(t), b.max(t)));
    (last > first).then_some((first, last))
}

fn span(events: &[&Event]) -> String {
    times_of(events).map_or(String::new(), |(first, last)| format!(", within {}", lasting(last - first)))
}

fn rate(events: &[&Event]) -> Option<Evidence> {
    let (first, last) = times_of(events)?;
    let per_hour = events.len() as f64 / (last - first) * 3600.0;
    (events.len() > 2).then(|| computed(format!("{per_hour:.1} per hour between the first and the last")))
}
