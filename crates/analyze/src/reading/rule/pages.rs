//! Page sizes: what processes map in pieces, what they ask of the system for it, and what lies on base pages.

use super::words::{bytes, names};
use crate::finding::{Finding, Severity};
use crate::reading::case::{ReadCase, computed};
use crate::reading::requests::OfSize;
use crate::rulebook::Rule;
use record::imported::Quantity::{HugeBytes, MappedBytes, PageBytes, ResidentBytes};
use record::imported::{HostId, Origin, PlaceKind, Platform};
use std::collections::BTreeMap;

/// Sizes of pieces that heaps are mapped in.
const CHUNKS: std::ops::RangeInclusive<u64> = 65_536..=8 << 20;

/// What a host's processes mapped, by size, and for which sizes they asked for larger pages.
#[derive(Default)]
struct Maps {
    mapped: BTreeMap<u64, OfSize>,
    advised: BTreeMap<u64, OfSize>,
    /// Page sizes that were asked for.
    pages: BTreeMap<u64, OfSize>,
    /// Address space was reserved first, as heaps that grow in pieces do.
    reserved: u64,
    all: u64,
}

/// The calls that map memory; a 32-bit Linux has one of its own.
const MAPPING: [&str; 3] = ["mmap", "mmap2", "mmap64"];

impl Maps {
    fn of(case: &ReadCase<'_>, host: HostId, call: &str) -> Self {
        let reserving = format!("{call}(PROT_NONE)");
        let mut maps = Self::default();
        for (place, requests) in &case.digest.requests {
            let about = case.digest.place_of(*place);
            if about.kind != PlaceKind::Call || case.host(*place) != host {
                continue;
            }
            let add = |to: &mut BTreeMap<u64, OfSize>, from: &BTreeMap<u64, OfSize>| {
                for (size, of) in from {
                    to.entry(*size).or_insert(OfSize { count: 0, first: of.first }).count += of.count;
                }
            };
            match about.name.as_str() {
                name if name == call => {
                    maps.all += requests.count;
                    add(&mut maps.mapped, &requests.sizes);
                    add(&mut maps.pages, &requests.page_sizes);
                }
                // Only Linux has mmap2, and only Solaris memcntl.
                "memcntl(MC_HAT_ADVISE)" if call == "mmap2" => {}
                "memcntl(MC_HAT_ADVISE)" | "madvise(MADV_HUGEPAGE)" => {
                    add(&mut maps.advised, &requests.sizes);
                    add(&mut maps.pages, &requests.page_sizes);
                }
                name if name == reserving => maps.reserved += requests.count,
                _ => {}
            }
        }
        maps
    }

    /// Pieces of the sizes that heaps take.
    fn chunks(&self) -> impl Iterator<Item = (u64, OfSize)> + '_ {
        self.mapped
            .iter()
            .filter(|(s, _)| CHUNKS.contains(*s) && s.is_power_of_two())
            .map(|(s, of)| (*s, *of))
    }

    fn advised(&self, size: u64) -> u64 {
        self.advised.get(&size).map_or(0, |of| of.count)
    }
}

fn sizes(all: &[(u64, OfSize)]) -> String {
    let shown: Vec<String> = all.iter().map(|(s, _)| bytes(*s as f64)).collect();
    names(&shown.iter().map(String::as_str).collect::<Vec<_>>(), 4)
}

/// PL501: memory is mapped in pieces without asking for larger pages, or much memory lies on base pages.
pub(super) fn base_pages(case: &ReadCase<'_>, rule: &Rule) -> Vec<Finding> {
    let hosts: Vec<HostId> = case.hosts().collect();
    let calls =
        hosts.iter().flat_map(|host| MAPPING.iter().filter_map(|call| unadvised(case, rule, *host, call)));
    calls.chain(hosts.iter().filter_map(|host| resident(case, rule, *host))).collect()
}

fn unadvised(case: &ReadCase<'_>, rule: &Rule, host: HostId, call: &str) -> Option<Finding> {
    let maps = Maps::of(case, host, call);
    let pieces: u64 = maps.chunks().map(|(_, of)| of.count).sum();
    if maps.reserved == 0 || (pieces as f64) < rule.threshold("share") * maps.all as f64 {
        return None;
    }
    let bare: Vec<(u64, OfSize)> = maps
        .chunks()
        .filter(|(size, of)| of.count as f64 >= rule.threshold("maps") && maps.advised(*size) * 2 < of.count)
        .collect();
    let count: u64 = bare.iter().map(|(_, of)| of.count).sum();
    let first = bare.first()?;
    let title = format!(
        "memory is mapped in {} chunks without page-size advice ({count} calls): it lies on base pages",
        sizes(&bare)
    );
    let mut evidence: Vec<_> = bare.iter().take(3).map(|(_, of)| case.line(of.first)).collect();
    evidence.push(computed(format!(
        "each piece of {} takes one mmap call and one entry of the address translation per base page",
        bytes(first.0 as f64)
    )));
    if case.platform(host) == Platform::Linux {
        evidence.push(computed(
            "on Linux larger chunks save calls, not pages: these stay base pages unless transparent huge pages take them".to_owned(),
        ));
    }
    let mut finding = case.finding_of_host(rule, host, title, evidence);
    if count as f64 >= rule.threshold("many") {
        finding.severity = Severity::Medium;
    }
    Some(finding)
}

/// Memory of a process that lies on base pages.
struct Bare {
    bytes: f64,
    page: f64,
    origin: Origin,
    name: String,
}

fn resident(case: &ReadCase<'_>, rule: &Rule, host: HostId) -> Option<Finding> {
    let mut largest: BTreeMap<String, Bare> = BTreeMap::new();
    for row in &case.digest.reports {
        let place = case.digest.place_of(row.place);
        if place.kind != PlaceKind::Process || case.host(row.place) != host {
            continue;
        }
        let (page, huge) = (row.value(PageBytes), row.value(HugeBytes));
        let size = if row.value(ResidentBytes).is_finite() {
            row.value(ResidentBytes)
        } else {
            row.value(MappedBytes)
        };
        let base = page <= rule.threshold("page_kib") * 1024.0 && !(huge > 0.0);
        if !base || !is_private_or_shared(&place.name) || !(size > 0.0) {
            continue;
        }
        let bare = Bare { bytes: size, page, origin: row.origin, name: place.name.clone() };
        // Processes that share a segment each show it: it counts once.
        let known = largest.entry(what(&place.name).to_owned()).or_insert(Bare { bytes: 0.0, ..bare });
        if size > known.bytes {
            *known = Bare { bytes: size, page, origin: row.origin, name: place.name.clone() };
        }
    }
    let large = rule.threshold("large_mib") * 1_048_576.0;
    let worst =
        largest.into_values().filter(|b| b.bytes >= large).max_by(|a, b| a.bytes.total_cmp(&b.bytes))?;
    let title = format!(
        "{} of {} lie on pages of {}",
        bytes(worst.bytes),
        if worst.name.is_empty() { "anonymous memory" } else { &worst.name },
        bytes(worst.page)
    );
    let entries = worst.bytes / worst.page;
    let evidence = vec![
        case.line(worst.origin),
        computed(format!("that is {entries:.0} page table entries in each process that maps it")),
    ];
    let mut finding = case.finding_of_host(rule, host, title, evidence);
    finding.severity = Severity::Medium;
    Some(finding)
}

/// What is mapped, without the process: `6234: ora_pmon [ ism shmid=0x7 ]` -> `[ ism shmid=0x7 ]`.
fn what(name: &str) -> &str {
    name.find(['[', '/']).and_then(|at| name.get(at..)).unwrap_or(name)
}

/// Anonymous or System V memory: what pages are asked for; files and libraries are not.
fn is_private_or_shared(name: &str) -> bool {
    let what = what(name).to_ascii_lowercase();
    what.is_empty()
        || ["anon", "heap", "shm", "ism", "sysv", "/dev/zero", "/dev/shm"].iter().any(|w| what.contains(w))
}

/// PL502: memory is mapped in pieces with advice for a page size.
pub(super) fn advised_pages(case: &ReadCase<'_>, rule: &Rule) -> Vec<Finding> {
    let all = case.hosts().flat_map(|host| MAPPING.iter().map(move |call| (host, *call)));
    let found = all.filter_map(|(host, call)| {
        let maps = Maps::of(case, host, call);
        let advised: Vec<(u64, OfSize)> = maps
            .chunks()
            .filter(|(size, of)| maps.advised(*size) * 2 >= of.count && maps.advised(*size) > 0)
            .filter(|(size, _)| maps.advised(*size) as f64 >= rule.threshold("calls"))
            .collect();
        if advised.is_empty() {
            return None;
        }
        let how = if case.platform(host) == Platform::Linux { "MADV_HUGEPAGE" } else { "MC_HAT_ADVISE" };
        let title = format!(
            "memory is mapped in {} chunks with {how} for each: pages of that size are asked for",
            sizes(&advised)
        );
        let mut evidence: Vec<_> = advised.iter().take(3).map(|(_, of)| case.line(of.first)).collect();
        let lines = advised.iter().filter_map(|(size, _)| maps.advised.get(size)).take(2);
        evidence.extend(lines.map(|of| case.line(of.first)));
        let pages: Vec<String> = maps.pages.keys().map(|p| bytes(*p as f64)).collect();
        if !pages.is_empty() {
            evidence.push(computed(format!("page sizes asked for: {}", pages.join(", "))));
        }
        Some(case.finding_of_host(rule, host, title, evidence))
    });
    found.collect()
}
