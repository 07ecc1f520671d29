//! Paths: failed, uneven, without end, or one at a time.

use super::alike::{counted, fold, names};
use crate::finding::{Evidence, Finding, Severity};
use crate::reading::case::{ReadCase, computed};
use crate::reading::series::Series;
use crate::rulebook::Rule;
use record::imported::{EventKind, HostId, Origin, PlaceId, PlaceKind, Platform, facts};
use std::collections::{BTreeMap, BTreeSet};

/// PL109: paths that failed, and paths that carry unlike loads.
pub(super) fn unwell(case: &ReadCase<'_>, rule: &Rule) -> Vec<Finding> {
    let mut found = Vec::new();
    for host in case.hosts() {
        match failed(case, rule, host) {
            Some(finding) => found.push(finding),
            None => found.extend(failed_by_log(case, rule, host)),
        }
        found.extend(fold(uneven(case, rule, host), 2));
    }
    found
}

/// Paths of each LUN of a host: the LUN's name, and its paths.
fn paths_of<'d>(case: &ReadCase<'d>, host: HostId) -> BTreeMap<String, BTreeSet<&'d str>> {
    let mut paths: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
    let with_state = [facts::PATH_STATE, "path_status"].map(|name| case.told(host, name));
    for (path, (lun, _)) in case.told(host, facts::PART_OF) {
        // Partitions are part of their disk, files of their tablespace: only what has a state or a kind is a path.
        let has_state = with_state.iter().any(|s| s.contains_key(path));
        let is_path = case.places(host, PlaceKind::Path).any(|p| case.digest.place_of(p).name == path);
        if has_state || is_path {
            paths.entry(lun.text()).or_default().insert(path);
        }
    }
    for place in case.places(host, PlaceKind::Path) {
        let name = case.digest.place_of(place).name.as_str();
        if let Some((lun, _)) = name.rsplit_once('/') {
            paths.entry(lun.to_owned()).or_default().insert(name);
        }
    }
    paths
}

/// Words of a state that mean trouble. `ghost`, `standby` and `Non` (not preferred) are the other controller's paths.
fn is_bad(state: &str) -> bool {
    const BAD: [&str; 12] = [
        "failed",
        "faulty",
        "missing",
        "dead",
        "offline",
        "unavailable",
        "closed",
        "fai",
        "clo",
        "deg",
        "degraded",
        "shaky",
    ];
    let state = state.to_ascii_lowercase();
    state.split(|c: char| !c.is_ascii_alphanumeric()).any(|word| BAD.contains(&word))
}

fn failed(case: &ReadCase<'_>, rule: &Rule, host: HostId) -> Option<Finding> {
    let states = [facts::PATH_STATE, "path_status"].map(|name| case.told(host, name));
    let bad_state = |path: &str| {
        states
            .iter()
            .filter_map(|s| s.get(path))
            .find(|(v, _)| is_bad(&v.text()))
            .map(|(v, o)| (v.text(), *o))
    };
    let mut bad: Vec<(String, &str, String, Origin)> = Vec::new();
    let (mut all, mut alone) = (0, Vec::new());
    for (lun, paths) in paths_of(case, host) {
        all += paths.len();
        let of_lun: Vec<_> =
            paths.iter().filter_map(|p| bad_state(p).map(|(s, o)| (lun.clone(), *p, s, o))).collect();
        if !of_lun.is_empty() && paths.len() - of_lun.len() <= 1 {
            alone.push(lun);
        }
        bad.extend(of_lun);
    }
    let (_, path, state, _) = bad.first()?;
    let luns: BTreeSet<&str> = bad.iter().map(|b| b.0.as_str()).collect();
    let left = match alone.as_slice() {
        [] => String::new(),
        luns => format!(
            "; {} left with one path or none: {}",
            if luns.len() == 1 { "a LUN is" } else { "LUNs are" },
            names(luns)
        ),
    };
    let title = format!(
        "{} of {} of {} not usable ({path}: {state}){left}",
        bad.len(),
        counted(all, "path"),
        if luns.len() == 1 {
            format!("{} are", names(&luns.iter().collect::<Vec<_>>()))
        } else {
            format!("{} are", counted(luns.len(), "LUN"))
        }
    );
    let evidence = bad.iter().take(8).map(|b| case.line(b.3)).collect();
    let mut finding = case.finding_of_host(rule, host, title, evidence);
    finding.device = Some(names(&luns.into_iter().collect::<Vec<_>>()));
    if !alone.is_empty() {
        finding.severity = Severity::High;
    }
    Some(finding)
}

/// Failures in the log without a line that says the path came back.
fn failed_by_log(case: &ReadCase<'_>, rule: &Rule, host: HostId) -> Option<Finding> {
    let mut open: BTreeMap<PlaceId, (usize, Origin)> = BTreeMap::new();
    let mut events: Vec<_> = case.digest.events.iter().filter(|e| case.host(e.place) == host).collect();
    // Logs are read newest first (errpt) or oldest first: by time where it is told.
    events.sort_by(|a, b| a.at_s.total_cmp(&b.at_s));
    let timed = events.iter().all(|e| e.at_s.is_finite());
    for event in events {
        match event.kind {
            EventKind::PathFailed => open.entry(event.place).or_insert((0, event.origin)).0 += 1,
            EventKind::PathRestored if timed => {
                open.remove(&event.place);
            }
            _ => {}
        }
    }
    let count: usize = open.values().map(|o| o.0).sum();
    let devices: Vec<&str> = open.keys().map(|p| case.digest.place_of(*p).name.as_str()).collect();
    if devices.is_empty() {
        return None;
    }
    let title = format!(
        "{} in the log at {}, and no line says that it came back",
        counted(count, "path failure"),
        names(&devices)
    );
    let evidence = open.values().take(6).map(|o| case.line(o.1)).collect();
    let finding = case.finding_of_host(rule, host, title, evidence);
    Some(Finding { device: Some(names(&devices)), ..finding })
}

fn uneven(case: &ReadCase<'_>, rule: &Rule, host: HostId) -> Vec<Finding> {
    let mut found = Vec::new();
    let loads: BTreeMap<&str, &Series> = case
        .devices()
        .filter(|(p, kind, _)| case.host(*p) == host && matches!(kind, PlaceKind::Device | PlaceKind::Path))
        .map(|(p, _, s)| (case.digest.place_of(p).name.as_str(), s))
        .collect();
    for (lun, paths) in paths_of(case, host) {
        let told: Vec<(&str, &Series)> = paths.iter().filter_map(|p| Some((*p, *loads.get(p)?))).collect();
        let used: Vec<(&str, f64, f64, &Series)> = told
            .iter()
            .map(|(p, s)| (*p, s.mean(|p| p.iops), s.mean_per_io(|p| p.response_us) / 1e3, *s))
            .filter(|u| u.1 > 0.0)
            .collect();
        let iops: f64 = used.iter().map(|u| u.1).sum();
        // The idle paths of the other controller are no trouble: only paths in use are compared.
        if used.len() < 2 || iops < rule.threshold("iops") {
            continue;
        }
        let busiest = used.iter().max_by(|a, b| a.1.total_cmp(&b.1));
        let idlest = used.iter().min_by(|a, b| a.1.total_cmp(&b.1));
        let slowest = used.iter().filter(|u| u.2 > 0.0).max_by(|a, b| a.2.total_cmp(&b.2));
        let fastest = used.iter().filter(|u| u.2 > 0.0).min_by(|a, b| a.2.total_cmp(&b.2));
        let (Some(busiest), Some(idlest)) = (busiest, idlest) else { continue };
        let is_slow =
            |s: f64, f: f64| s >= rule.threshold("slower") * f && s - f >= rule.threshold("slower_ms");
        let title = match (slowest, fastest) {
            (Some(slow), Some(fast))
                if is_slow(slow.2, fast.2) && slow.1 >= rule.threshold("part") * iops / used.len() as f64 =>
            {
                format!(
                    "path {} of {lun} answers in {:.1} ms and path {} in {:.1} ms, and both are used",
                    slow.0, slow.2, fast.0, fast.2
                )
            }
            _ if busiest.1 >= rule.threshold("ratio") * idlest.1
                && idlest.1 >= rule.threshold("least_iops") =>
            {
                format!(
                    "the paths of {lun} carry unlike loads: {} {:.0} I/Os per second, {} {:.0}",
                    busiest.0, busiest.1, idlest.0, idlest.1
                )
            }
            _ => continue,
        };
        let mut evidence: Vec<Evidence> =
            used.iter().take(4).filter_map(|u| u.3.points().first()).map(|p| case.line(p.origin)).collect();
        let selector = case.fact_named(host, &lun, facts::PATH_SELECTOR);
        evidence.extend(selector.map(|(_, o)| case.line(o)));
        let each: Vec<String> =
            used.iter().map(|u| format!("{} {:.0}/s at {:.1} ms", u.0, u.1, u.2)).collect();
        evidence.push(computed(names(&each)));
        let mut finding = case.finding_of_host(rule, host, title, evidence);
        let is_round = selector.is_some_and(|(v, _)| v.text().replace('_', "-").contains("round-robin"));
        finding.severity = if is_round { Severity::Medium } else { Severity::Low };
        found.push(Finding { device: Some(lun), ..finding });
    }
    found
}

/// Whether a text shows ASM on this host: a file in a disk group, its processes or waits.
fn asm_line(case: &ReadCase<'_>, host: HostId) -> Option<&'static str> {
    let mut places = case.digest.places.iter().enumerate().filter(|(n, _)| case.host(*n as PlaceId) == host);
    let is_asm = |kind: PlaceKind, name: &str| match kind {
        PlaceKind::DatabaseFile | PlaceKind::Tablespace => name.starts_with('+'),
        PlaceKind::WaitEvent => name.starts_with("ASM ") || name.starts_with("ASMB") || name.contains("PST "),
        PlaceKind::Process => name.starts_with("asm_") || name.starts_with("ora_asmb"),
        _ => false,
    };
    places.any(|(_, p)| is_asm(p.kind, &p.name)).then_some("ASM is in use on this host")
}

/// PL111: I/O that waits longer than those above it live.
pub(super) fn endless(case: &ReadCase<'_>, rule: &Rule) -> Vec<Finding> {
    let hosts = case.hosts();
    hosts
        .flat_map(|host| [queues_for_ever(case, rule, host), late_timeouts(case, rule, host)])
        .flatten()
        .collect()
}

fn queues_for_ever(case: &ReadCase<'_>, rule: &Rule, host: HostId) -> Option<Finding> {
    let retries = case.told(host, "no_path_retry");
    let features = case.told(host, "features");
    let mut maps: BTreeMap<&str, Origin> = BTreeMap::new();
    for (map, (value, origin)) in features {
        // A number of tries may have taken its place: then the kernel's word is only for the moment.
        let counted = retries.get(map).is_some_and(|(v, _)| v.number().is_some());
        if value.text().contains("queue_if_no_path") && !counted {
            maps.insert(map, origin);
        }
    }
    for (map, (value, origin)) in retries {
        if value.text().trim() == "queue" {
            maps.insert(map, origin);
        }
    }
    if maps.is_empty() {
        return None;
    }
    let asm = asm_line(case, host);
    let all: Vec<&str> = maps.keys().copied().map(|m| if m.is_empty() { "all maps" } else { m }).collect();
    let title = format!(
        "{} without end when all paths are lost: whoever waits for it hangs until a path comes back",
        if all.len() == 1 {
            format!("I/O to {} is queued", all[0])
        } else {
            format!("I/O to {} is queued", counted(all.len(), "map"))
        }
    );
    let mut evidence: Vec<Evidence> = maps.values().take(4).map(|o| case.line(*o)).collect();
    evidence.extend(asm.map(computed));
    let mut finding = case.finding_of_host(rule, host, title, evidence);
    finding.device = Some(names(&all));
    finding.severity = if asm.is_some() { Severity::Medium } else { Severity::Info };
    Some(finding)
}

/// A single lost I/O outlasts the heartbeat of ASM.
fn late_timeouts(case: &ReadCase<'_>, rule: &Rule, host: HostId) -> Option<Finding> {
    let asm = asm_line(case, host)?;
    let releases =
        case.places(host, PlaceKind::Database).filter_map(|p| case.fact_of(p, facts::DATABASE_RELEASE));
    // Later releases wait 120 s by themselves.
    let (release, told) = releases
        .map(|(v, o)| (v.text(), o))
        .find(|(r, _)| r.starts_with("11.2.0.3") || r.starts_with("11.2.0.4") || r.starts_with("12.1.0.1"))?;
    let limit = rule.threshold("heartbeat_s");
    let mut late: Vec<(&str, f64, Origin)> = Vec::new();
    for name in ["rw_timeout_s", "timeout_s"] {
        late.extend(
            case.numbers(host, name)
                .into_iter()
                .filter(|(_, (s, _))| *s >= limit)
                .map(|(d, (s, o))| (d, s, o)),
        );
    }
    let (disk, seconds, _) = *late.first()?;
    let title = format!(
        "a command lost at {disk} is given up after {seconds:.0} s, and ASM of {release} takes a disk offline after {limit:.0} s without its heartbeat"
    );
    let mut evidence: Vec<Evidence> = late.iter().take(3).map(|l| case.line(l.2)).collect();
    evidence.push(case.line(told));
    evidence.push(computed(format!(
        "{asm}; it holds for normal and high redundancy, unless _asm_hbeatiowait is raised"
    )));
    let mut finding = case.finding_of_host(rule, host, title, evidence);
    let disks: Vec<&str> = late.iter().map(|l| l.0).collect();
    finding.device = Some(names(&disks));
    finding.advice = vec![rule.text("heartbeat_advice").to_owned()];
    Some(finding)
}

/// PL115: several paths, and settings that use one.
pub(super) fn one_at_a_time(case: &ReadCase<'_>, rule: &Rule) -> Vec<Finding> {
    let mut found = Vec::new();
    for host in case.hosts().filter(|h| case.platform(*h) == Platform::Aix) {
        let paths = paths_of(case, host);
        let several = |disk: &str| paths.get(disk).map_or(0, BTreeSet::len);
        let mut disks: BTreeMap<&str, Vec<(String, Origin)>> = BTreeMap::new();
        for (name, bad) in [
            (facts::PATH_SELECTOR, "fail_over"),
            (facts::PATH_SELECTOR, "failover"),
            ("reserve_policy", "single_path"),
        ] {
            for (disk, (value, origin)) in case.told(host, name) {
                if value.text() == bad && several(disk) >= 2 {
                    let attribute = if name == facts::PATH_SELECTOR { "algorithm" } else { name };
                    disks.entry(disk).or_default().push((format!("{attribute}={bad}"), origin));
                }
            }
        }
        for (disk, (seconds, origin)) in case.numbers(host, "hcheck_interval_s") {
            if seconds == 0.0 && several(disk) >= 2 {
                disks.entry(disk).or_default().push(("hcheck_interval=0".to_owned(), origin));
            }
        }
        let Some((disk, settings)) = disks.iter().next() else { continue };
        let told: Vec<&str> = settings.iter().map(|s| s.0.as_str()).collect();
        let serial = told.iter().any(|s| !s.starts_with("hcheck"));
        let more = if disks.len() > 1 {
            format!(" (and {} more)", counted(disks.len() - 1, "disk"))
        } else {
            String::new()
        };
        let what = if serial {
            "all I/O takes one path at a time"
        } else {
            "a failed path is not tried again by itself"
        };
        let title = format!("{disk}{more} has {} paths and {}: {what}", several(disk), told.join(", "));
        let evidence = disks.values().flatten().take(6).map(|s| case.line(s.1)).collect();
        let mut finding = case.finding_of_host(rule, host, title, evidence);
        let all: Vec<&str> = disks.keys().copied().collect();
        finding.device = Some(names(&all));
        found.push(finding);
    }
    found
}
