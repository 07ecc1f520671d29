//! Sizes of requests: split, or whole.

use super::stretch::stretches;
use super::words::{bytes, median_of, names, variation};
use crate::finding::{Finding, Severity};
use crate::reading::case::{ReadCase, computed};
use crate::reading::requests::Requests;
use crate::reading::series::Series;
use crate::rulebook::Rule;
use record::imported::{HostId, Origin, PlaceId, PlaceKind, facts};

/// Sizes that systems are known to split at, where nothing in the texts tells one: `max_sectors_kb` of 256, 512 and 1280.
const CAPS: [f64; 3] = [262_144.0, 524_288.0, 1_310_720.0];

/// PL202: requests are as large as something allows, or much smaller than what was asked for.
pub(super) fn split(case: &ReadCase<'_>, rule: &Rule) -> Vec<Finding> {
    let mut found = Vec::new();
    for host in case.hosts() {
        let mut all: Vec<(PlaceKind, Cut)> = Vec::new();
        for (place, kind, series) in case.devices() {
            if matches!(kind, PlaceKind::Device | PlaceKind::Volume | PlaceKind::Path)
                && case.host(place) == host
            {
                all.extend(of_device(case, rule, place, series).map(|cut| (kind, cut)));
            }
        }
        // A volume and the disks below it show the same requests.
        let is_layered = all.iter().any(|(kind, _)| *kind == PlaceKind::Volume);
        let kept: Vec<Cut> =
            all.into_iter().filter(|(k, _)| !is_layered || *k == PlaceKind::Volume).map(|(_, c)| c).collect();
        found.extend(finding(case, rule, host, &kept));
    }
    found
}

/// A device whose requests are cut.
struct Cut {
    place: PlaceId,
    mean: f64,
    origin: Origin,
    /// What was asked for, where a command line tells it.
    asked: Option<(f64, Origin)>,
    /// The limit they are cut at: told, or only like a known one.
    limit: Option<(f64, Option<Origin>)>,
}

fn of_device(case: &ReadCase<'_>, rule: &Rule, place: PlaceId, series: &Series) -> Option<Cut> {
    for stretch in stretches(series) {
        if !stretch.has(rule.threshold("intervals")) {
            continue;
        }
        // Reads where they are nearly all; a few small writes would hide their size.
        let is_read = stretch.mean(|p| p.read_iops) >= 0.9 * stretch.mean(|p| p.iops);
        let size = |p: &crate::reading::DevicePoint| {
            let reads = p.read_bytes_per_s / p.read_iops;
            if is_read && reads.is_finite() { reads } else { p.request_bytes() }
        };
        let mean = median_of(stretch.points.iter().map(size));
        let spread = variation(stretch.points.iter().map(size));
        let fits = |cap: f64| mean <= 1.005 * cap && mean >= 0.94 * cap;
        let told = case.fact_of(place, facts::MAX_TRANSFER_BYTES);
        let told = told.and_then(|(v, origin)| Some((v.number().filter(|n| fits(*n))?, Some(origin))));
        let like = CAPS.into_iter().find(|cap| fits(*cap)).map(|cap| (cap, None));
        let limit = told.or(like.filter(|_| spread <= rule.threshold("even")));
        let asked = case
            .asked_bytes(place, stretch.points[0].origin)
            .filter(|(n, _)| mean * rule.threshold("smaller") <= *n);
        let is_large = mean >= rule.threshold("least_kib") * 1024.0;
        if asked.is_some() || (limit.is_some() && is_large) {
            return Some(Cut { place, mean, origin: stretch.points[0].origin, asked, limit });
        }
    }
    None
}

fn finding(case: &ReadCase<'_>, rule: &Rule, host: HostId, all: &[Cut]) -> Option<Finding> {
    let best = all.iter().max_by_key(|c| (c.asked.is_some(), c.limit.is_some_and(|l| l.1.is_some())))?;
    let name = |c: &Cut| case.digest.place_of(c.place).name.as_str();
    let others: Vec<&str> = all.iter().map(name).filter(|n| *n != name(best)).collect();
    let beside = if others.is_empty() { String::new() } else { format!("; likewise {}", names(&others, 4)) };
    let title = match (best.asked, best.limit) {
        (Some((asked, _)), Some((limit, _))) => format!(
            "{} asked for at once reach {} as requests of {}: they are split at {}{beside}",
            bytes(asked),
            name(best),
            bytes(best.mean),
            bytes(limit)
        ),
        (Some((asked, _)), None) => format!(
            "{} asked for at once reach {} as requests of {}: they are split on the way{beside}",
            bytes(asked),
            name(best),
            bytes(best.mean)
        ),
        (None, limit) => {
            let (limit, told) = limit?;
            let how =
                if told.is_some() { "its largest transfer is" } else { "as with a largest transfer of" };
            format!(
                "requests of {} are {} on average, {how} {}{beside}",
                name(best),
                bytes(best.mean),
                bytes(limit)
            )
        }
    };
    let mut evidence = vec![case.line(best.origin)];
    evidence.extend(best.asked.map(|(_, origin)| case.line(origin)));
    evidence.extend(best.limit.and_then(|l| l.1).map(|origin| case.line(origin)));
    if best.limit.is_none() {
        evidence.push(computed(
            "no known limit has this size: pieces of a fragmented file or of a stripe are the rival explanation".to_owned(),
        ));
    }
    let mut finding = case.finding(rule, best.place, title, evidence);
    finding.host = case.host_name(host).map(str::to_owned);
    if best.asked.is_none() && best.limit.is_none_or(|l| l.1.is_none()) {
        finding.severity = Severity::Info;
    }
    Some(finding)
}

/// PL503: traced requests are whole: none is as small as a filesystem block.
pub(super) fn whole(case: &ReadCase<'_>, rule: &Rule) -> Vec<Finding> {
    let volumes = case.digest.requests.iter().filter(|(p, r)| {
        case.digest.place_of(**p).kind == PlaceKind::Volume
            && r.first.is_some_and(|o| case.digest.format_of(o.source) == "vxtrace")
    });
    let mut found = Vec::new();
    for host in case.hosts() {
        let own: Vec<(PlaceId, &Requests)> =
            volumes.clone().filter(|(p, _)| case.host(**p) == host).map(|(p, r)| (*p, r)).collect();
        found.extend(whole_of(case, rule, host, &own));
    }
    found
}

fn whole_of(case: &ReadCase<'_>, rule: &Rule, host: HostId, own: &[(PlaceId, &Requests)]) -> Option<Finding> {
    let (place, requests) = *own.iter().max_by_key(|(_, r)| r.count)?;
    let smallest = own.iter().filter_map(|(_, r)| r.sizes.keys().next()).min().copied()? as f64;
    let block = case.fact_of(place, facts::FILESYSTEM_BLOCK_BYTES).or_else(|| {
        let mut told =
            case.digest.facts_named(facts::FILESYSTEM_BLOCK_BYTES).filter(|f| case.host(f.place) == host);
        told.next().map(|f| (&f.value, f.origin))
    });
    let block = block.and_then(|(v, origin)| Some((v.number()?, origin)));
    let limit = block.map_or(rule.threshold("block_kib") * 1024.0, |b| b.0);
    if (requests.count as f64) < rule.threshold("requests") || smallest <= limit {
        return None;
    }
    let mut sizes: Vec<(&u64, u64)> = requests.sizes.iter().map(|(size, of)| (size, of.count)).collect();
    sizes.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    sizes.truncate(3);
    sizes.sort();
    let shown: Vec<String> = sizes.iter().map(|(size, _)| bytes(**size as f64)).collect();
    let shown: Vec<&str> = shown.iter().map(String::as_str).collect();
    let name = &case.digest.place_of(place).name;
    let by = match block {
        Some((block, _)) => format!("the filesystem block of {}", bytes(block)),
        None => format!("a filesystem block of {} or less", bytes(limit)),
    };
    let title = format!("requests of {} reach {name} whole: never split by {by}", names(&shown, 3));
    let mut evidence: Vec<_> = requests.sizes.values().take(2).map(|s| case.line(s.first)).collect();
    evidence.extend(block.map(|(_, origin)| case.line(origin)));
    evidence.push(computed(format!("{} requests, the smallest of {}", requests.count, bytes(smallest))));
    let mut finding = case.finding(rule, place, title, evidence);
    finding.host = case.host_name(host).map(str::to_owned);
    Some(finding)
}
