//! One device among equals that carries most.

use super::words::{median_of, time};
use crate::finding::{Evidence, Finding, Severity};
use crate::reading::case::{ReadCase, computed};
use crate::rulebook::Rule;
use record::imported::{HostId, PlaceId, PlaceKind, facts};
use std::collections::BTreeMap;

/// A device with its means.
#[derive(Clone, Copy)]
struct Member {
    place: PlaceId,
    iops: f64,
    bytes_per_s: f64,
    outstanding: f64,
    response_us: f64,
}

/// PL203: one of several like devices carries much more than the others, and has a queue.
pub(super) fn hot(case: &ReadCase<'_>, rule: &Rule) -> Vec<Finding> {
    let mut found = Vec::new();
    for host in case.hosts() {
        let mut groups: BTreeMap<(u8, String), Vec<Member>> = BTreeMap::new();
        for (place, kind, series) in case.devices() {
            if kind != PlaceKind::Device || case.host(place) != host {
                continue;
            }
            let Some(key) = group(case, place) else { continue };
            let member = Member {
                place,
                iops: series.mean(|p| p.iops),
                bytes_per_s: series.mean(|p| p.bytes_per_s),
                outstanding: series.mean(|p| p.outstanding),
                response_us: series.mean_per_io(|p| p.response_us),
            };
            groups.entry(key).or_default().push(member);
        }
        for ((certainty, what), members) in groups {
            found.extend(of_group(case, rule, host, certainty, &what, &members));
        }
    }
    found
}

/// What a device is one of: the members of a group by facts first, then like products, then names.
fn group(case: &ReadCase<'_>, place: PlaceId) -> Option<(u8, String)> {
    let text = |name: &str| case.fact_of(place, name).map(|(v, _)| v.text());
    if let Some(volume_group) = text(facts::PART_OF) {
        return Some((0, format!("the disks of {volume_group}")));
    }
    if let (Some(product), Some(size)) = (text(facts::PRODUCT), text(facts::SIZE_BYTES)) {
        let vendor = text(facts::VENDOR).unwrap_or_default();
        return Some((1, format!("the {} disks of {size} bytes", format!("{vendor} {product}").trim())));
    }
    let name = &case.digest.place_of(place).name;
    let family = family(name)?;
    Some((2, format!("the disks named {family}")))
}

/// `hdisk4` -> `hdisk`, `sdab` -> `sd`, `c3t5006..d4` -> `c3t`, `emcpowera` -> `emcpower`.
fn family(name: &str) -> Option<String> {
    for letters in ["sd", "vd", "xvd", "emcpower"] {
        let rest = name.strip_prefix(letters);
        if rest.is_some_and(|r| !r.is_empty() && r.len() <= 3 && r.bytes().all(|b| b.is_ascii_lowercase())) {
            return Some(format!("{letters}*"));
        }
    }
    let at = name.find(|c: char| c.is_ascii_digit())?;
    // Controller and target are parts of the name: c1t0d0 and c3t5006...d0 are different storage.
    let end = match name.get(at..)?.find('t') {
        Some(t) if name.starts_with('c') => at + t + 1,
        _ => at,
    };
    (at > 0).then(|| format!("{}*", &name[..end]))
}

fn of_group(
    case: &ReadCase<'_>,
    rule: &Rule,
    host: HostId,
    certainty: u8,
    what: &str,
    members: &[Member],
) -> Option<Finding> {
    let least = if certainty == 2 { rule.threshold("named") } else { rule.threshold("members") };
    if (members.len() as f64) < least {
        return None;
    }
    let hot = members.iter().max_by(|a, b| a.iops.total_cmp(&b.iops))?;
    let others = || members.iter().filter(|m| m.place != hot.place);
    let usual = |of: fn(&Member) -> f64| median_of(others().map(of));
    let (iops, bytes) = (usual(|m| m.iops), usual(|m| m.bytes_per_s));
    let times = hot.iops / iops;
    // Larger pieces elsewhere would make up for fewer.
    let in_bytes = hot.bytes_per_s / bytes;
    let working = others().filter(|m| m.iops >= 0.02 * hot.iops).count() as f64;
    let (queue, response) = (usual(|m| m.outstanding), usual(|m| m.response_us));
    let suffers = hot.outstanding
        >= rule.threshold("outstanding").max(rule.threshold("times") * queue * 0.66)
        && hot.response_us >= rule.threshold("slower") * response;
    let carries = times >= rule.threshold("times")
        && !(in_bytes < rule.threshold("times") * 0.66)
        && hot.iops >= rule.threshold("iops")
        && working >= rule.threshold("working") * (members.len() - 1) as f64;
    if !carries || !suffers {
        return None;
    }
    let name = &case.digest.place_of(hot.place).name;
    let title = format!(
        "{name} carries {times:.1} times as much as {what} usually do ({:.0} against {iops:.0} I/Os per second), and its I/Os \
         queue: {:.1} outstanding against {queue:.1}",
        hot.iops, hot.outstanding
    );
    let series = case.digest.devices.get(&hot.place)?;
    let mut evidence = case.lines(series.most_outstanding());
    evidence.push(computed(format!(
        "{} disks are compared, {working:.0} of the others do I/O; response {} against {} (median)",
        members.len(),
        time(hot.response_us),
        time(response)
    )));
    evidence.extend(partitions(case, host, name, members));
    if certainty == 2 {
        evidence.push(computed(
            "they are compared by their names only: nothing in these texts says that they belong together"
                .to_owned(),
        ));
    }
    let mut finding = case.finding(rule, hot.place, title, evidence);
    finding.host = case.host_name(host).map(str::to_owned);
    if certainty == 2 {
        finding.severity = Severity::Low;
    }
    Some(finding)
}

/// What the volume manager says of it: logical volumes that lie mostly on this disk, and others that are full (AIX).
fn partitions(case: &ReadCase<'_>, host: HostId, hot: &str, members: &[Member]) -> Vec<Evidence> {
    let mut said = Vec::new();
    let on_hot = format!("partitions_on_{hot}");
    for fact in case.digest.facts_named(&on_hot).filter(|f| case.host(f.place) == host) {
        let of_volume = case
            .digest
            .facts
            .iter()
            .filter(|f| f.place == fact.place && f.name.starts_with("partitions_on_"));
        let all: f64 = of_volume.filter_map(|f| f.value.number()).sum();
        let here = fact.value.number().unwrap_or(0.0);
        if here > 0.0 && here >= 0.5 * all && said.len() < 6 {
            said.push(case.line(fact.origin));
            let volume = &case.digest.place_of(fact.place).name;
            said.push(computed(format!("{here:.0} of {all:.0} partitions of {volume} lie on it")));
        }
    }
    let free = |place: PlaceId| case.fact_of(place, "free_partitions").and_then(|(v, _)| v.number());
    let others: Vec<f64> = members
        .iter()
        .filter(|m| case.digest.place_of(m.place).name != hot)
        .filter_map(|m| free(m.place))
        .collect();
    let own = members.iter().find(|m| case.digest.place_of(m.place).name == hot).and_then(|m| free(m.place));
    if others.len() >= 2 && median_of(others.iter().copied()) < 0.5 && own.is_some_and(|f| f >= 1.0) {
        said.push(computed(
            "the other disks of the group have no free partitions and it has: it was added later, and all that is new goes there"
                .to_owned(),
        ));
    }
    said
}

#[cfg(test)]
mod tests {
    use super::family;

    #[test]
    fn families_of_names() {
        let of = |name: &str| family(name).unwrap_or_default();
        assert_eq!(
            (of("hdisk12"), of("sdab"), of("c3t50060E8d4")),
            ("hdisk*".into(), "sd*".into(), "c3t*".into())
        );
        assert_eq!((of("c1t0d0"), of("nvme0n1"), of("md")), ("c1t*".into(), "nvme*".into(), String::new()));
    }
}
