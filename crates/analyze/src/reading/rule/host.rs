//! Processors and memory beside I/O.

use super::words::{mean, names, time};
use crate::finding::{Evidence, Finding, Severity};
use crate::reading::case::{ReadCase, computed};
use crate::reading::point::DevicePoint;
use crate::reading::processor::{ProcessorPoint, ProcessorSeries};
use crate::rulebook::Rule;
use record::imported::Quantity::{
    BlockedTasks, CpuIowaitPercent, CpuIrqPercent, CpuSoftirqPercent, CpuStealPercent, PagesScannedPerS,
    SwapInBytesPerS, SwapOutBytesPerS,
};
use record::imported::{HostId, PlaceId, PlaceKind, Platform};

/// Processors of a host, or the host as a whole.
fn processors<'d>(
    case: &ReadCase<'d>,
    host: HostId,
    kind: PlaceKind,
) -> impl Iterator<Item = (PlaceId, &'d ProcessorSeries)> {
    let fits = move |p: &PlaceId, case: &ReadCase<'_>| {
        case.digest.place_of(*p).kind == kind && case.host(*p) == host
    };
    let all: Vec<_> =
        case.digest.processors.iter().filter(|(p, _)| fits(p, case)).map(|(p, s)| (*p, s)).collect();
    all.into_iter()
}

fn is_disk(kind: PlaceKind) -> bool {
    matches!(kind, PlaceKind::Device | PlaceKind::Volume | PlaceKind::Path)
}

/// The device of a host with the longest queue in a stretch of time, or over all where times do not join.
fn longest_queue(case: &ReadCase<'_>, host: HostId, at: &ProcessorPoint) -> Option<(PlaceId, DevicePoint)> {
    let own = || case.devices().filter(|(p, kind, _)| is_disk(*kind) && case.host(*p) == host);
    let longest = |all: Vec<(PlaceId, DevicePoint)>| {
        all.into_iter()
            .filter(|(_, p)| p.outstanding > 0.0)
            .max_by(|a, b| a.1.outstanding.total_cmp(&b.1.outstanding))
    };
    let window = case.window(at.origin, at.at_s, at.length_s);
    let joined = window.map(|w| own().filter_map(|(p, _, _)| Some((p, case.device_in(p, &w)?))).collect());
    joined.and_then(longest).or_else(|| {
        longest(own().filter_map(|(p, _, s)| Some((p, DevicePoint::together(s.busy())?))).collect())
    })
}

/// PL301: processors idle while I/Os queue.
pub(super) fn idle_beside_queues(case: &ReadCase<'_>, rule: &Rule) -> Vec<Finding> {
    let found = case.hosts().filter_map(|host| {
        // One table of processors suffices; where several tools told it, the one with most waiting.
        let of_host = processors(case, host, PlaceKind::Host);
        of_host.filter_map(|(_, series)| idle_of(case, rule, host, series)).next()
    });
    found.collect()
}

fn idle_of(case: &ReadCase<'_>, rule: &Rule, host: HostId, series: &ProcessorSeries) -> Option<Finding> {
    let strangled = |p: &&ProcessorPoint| {
        p.working_percent() <= rule.threshold("working_percent")
            && (p.value(CpuIowaitPercent) >= rule.threshold("iowait_percent")
                || p.value(BlockedTasks) >= rule.threshold("blocked"))
    };
    let points: Vec<&ProcessorPoint> = series.points().iter().filter(strangled).collect();
    let all = series.points().iter().filter(|p| p.working_percent().is_finite()).count();
    let enough = points.len() as f64 >= rule.threshold("intervals").max(rule.threshold("share") * all as f64);
    if !enough {
        return None;
    }
    let worst = points.iter().copied().max_by(|a, b| {
        let waits = |p: &ProcessorPoint| p.value(CpuIowaitPercent).max(p.value(BlockedTasks));
        waits(a).total_cmp(&waits(b))
    })?;
    let (place, device) = longest_queue(case, host, worst)?;
    if !(device.outstanding >= rule.threshold("outstanding"))
        || !(device.response_us >= rule.threshold("response_ms") * 1e3)
    {
        return None;
    }
    let name = &case.digest.place_of(place).name;
    let of = |f: fn(&ProcessorPoint) -> f64| mean(points.iter().map(|p| f(p)));
    let working = of(ProcessorPoint::working_percent);
    let title = format!(
        "processors work only {working:.0} % of the time while {:.1} I/Os stand at {name}, {} each: I/O holds the programs back",
        device.outstanding,
        time(device.response_us)
    );
    let mut evidence = vec![case.line(worst.origin), case.line(device.origin)];
    let (iowait, blocked) = (of(|p| p.value(CpuIowaitPercent)), of(|p| p.value(BlockedTasks)));
    let mut words = format!("in {} of {all} intervals: processors working {working:.0} %", points.len());
    if iowait.is_finite() {
        words += &format!(", idle with I/O pending {iowait:.0} %");
    }
    if blocked.is_finite() {
        words += &format!(", {blocked:.1} tasks blocked");
    }
    evidence.push(computed(words));
    Some(case.finding_of_host(rule, host, title, evidence))
}

/// PL302: processors that work all the time; waiting is not working.
pub(super) fn processor_bound(case: &ReadCase<'_>, rule: &Rule) -> Vec<Finding> {
    let mut found = Vec::new();
    for host in case.hosts() {
        let whole = processors(case, host, PlaceKind::Host).find_map(|(_, s)| all_work(case, rule, host, s));
        let single = if whole.is_none() { one_works(case, rule, host) } else { None };
        found.extend(whole.or(single));
    }
    found
}

/// Intervals in which all of a processor's time was work.
fn full<'d>(series: &'d ProcessorSeries, rule: &Rule) -> Option<Vec<&'d ProcessorPoint>> {
    let known = series.points().iter().filter(|p| p.working_percent().is_finite()).count();
    let full: Vec<&ProcessorPoint> =
        series.points().iter().filter(|p| p.working_percent() >= rule.threshold("working_percent")).collect();
    let enough = full.len() as f64 >= rule.threshold("intervals").max(rule.threshold("share") * known as f64);
    enough.then_some(full)
}

fn all_work(case: &ReadCase<'_>, rule: &Rule, host: HostId, series: &ProcessorSeries) -> Option<Finding> {
    let full = full(series, rule)?;
    let title = format!(
        "all processors worked {:.0} % of the time in {} intervals: slow I/O may be slow scheduling",
        mean(full.iter().map(|p| p.working_percent())),
        full.len()
    );
    let mut evidence: Vec<Evidence> = full.iter().take(3).map(|p| case.line(p.origin)).collect();
    evidence.push(computed(spent(&full)));
    Some(case.finding_of_host(rule, host, title, evidence))
}

fn one_works(case: &ReadCase<'_>, rule: &Rule, host: HostId) -> Option<Finding> {
    let cpus: Vec<(PlaceId, &ProcessorSeries)> = processors(case, host, PlaceKind::Cpu).collect();
    let mut bound: Vec<(PlaceId, Vec<&ProcessorPoint>)> =
        cpus.iter().filter_map(|(place, series)| Some((*place, full(series, rule)?))).collect();
    bound.sort_by_key(|(_, full)| std::cmp::Reverse(full.len()));
    let (place, first) = bound.first()?;
    let name = |p: PlaceId| case.digest.place_of(p).name.as_str();
    let others: Vec<&str> = bound.iter().skip(1).map(|(p, _)| name(*p)).collect();
    let beside = if others.is_empty() { String::new() } else { format!(", so do {}", names(&others, 4)) };
    let title = format!(
        "processor {} of {} worked all the time in {} intervals{beside}: whatever is bound to it waits for it, not for I/O",
        name(*place),
        cpus.len(),
        first.len()
    );
    let mut evidence: Vec<Evidence> = first.iter().take(3).map(|p| case.line(p.origin)).collect();
    evidence.push(computed(spent(first)));
    let mut finding = case.finding_of_host(rule, host, title, evidence);
    let interrupts = mean(first.iter().map(|p| interrupts(p)));
    if !(interrupts >= rule.threshold("irq_percent")) {
        finding.severity = Severity::Low;
    }
    Some(finding)
}

fn interrupts(p: &ProcessorPoint) -> f64 {
    let parts = [p.value(CpuIrqPercent), p.value(CpuSoftirqPercent)];
    parts.into_iter().filter(|v| v.is_finite()).sum()
}

fn spent(full: &[&ProcessorPoint]) -> String {
    let irq = mean(full.iter().map(|p| interrupts(p)));
    let working = mean(full.iter().map(|p| p.working_percent()));
    format!(
        "{working:.0} % user, system and interrupts on average, of it {irq:.0} % interrupts; time in iowait is idle and not counted"
    )
}

/// PL303: memory is short while I/O is slow.
pub(super) fn memory(case: &ReadCase<'_>, rule: &Rule) -> Vec<Finding> {
    let found = case.hosts().filter_map(|host| {
        let of_host = processors(case, host, PlaceKind::Host);
        of_host.filter_map(|(_, series)| memory_of(case, rule, host, series)).next()
    });
    found.collect()
}

fn memory_of(case: &ReadCase<'_>, rule: &Rule, host: HostId, series: &ProcessorSeries) -> Option<Finding> {
    let mib = 1_048_576.0;
    // Linux scans pages for the page cache alone; there only swapping says that memory is short.
    let scans_count = matches!(case.platform(host), Platform::Solaris | Platform::Aix | Platform::HpUx);
    let is_short = |p: &&ProcessorPoint| {
        let swap = [p.value(SwapInBytesPerS), p.value(SwapOutBytesPerS)].into_iter().fold(f64::NAN, f64::max);
        swap >= rule.threshold("swap_mib_per_s") * mib
            || (scans_count && p.value(PagesScannedPerS) >= rule.threshold("scans_per_s"))
    };
    let short: Vec<&ProcessorPoint> = series.points().iter().filter(is_short).collect();
    let enough = short.len() as f64
        >= rule.threshold("intervals").max(rule.threshold("share") * series.points().len() as f64);
    if !enough {
        return None;
    }
    let of = |f: fn(&ProcessorPoint) -> f64| mean(short.iter().map(|p| f(p)));
    let (swap_in, swap_out, scans) = (
        of(|p| p.value(SwapInBytesPerS)) / mib,
        of(|p| p.value(SwapOutBytesPerS)) / mib,
        of(|p| p.value(PagesScannedPerS)),
    );
    let worst = *short.first()?;
    let slow = longest_queue(case, host, worst)
        .filter(|(_, d)| d.response_us >= rule.threshold("response_ms") * 1e3);
    let mut words: Vec<String> = Vec::new();
    if swap_in.max(swap_out) > 0.0 {
        words.push(format!("{:.1} MiB/s swapped in, {:.1} out", swap_in.max(0.0), swap_out.max(0.0)));
    }
    if scans.is_finite() && scans_count {
        words.push(format!("{scans:.0} pages scanned per second"));
    }
    let beside = slow.map_or(String::new(), |(place, d)| {
        format!(", while I/Os of {} take {}", case.digest.place_of(place).name, time(d.response_us))
    });
    let title = format!("memory is short: {} in {} intervals{beside}", words.join(", "), short.len());
    let mut evidence: Vec<Evidence> = short.iter().take(3).map(|p| case.line(p.origin)).collect();
    evidence.extend(slow.map(|(_, d)| case.line(d.origin)));
    let mut finding = case.finding_of_host(rule, host, title, evidence);
    if slow.is_none() {
        finding.severity = Severity::Low;
    }
    Some(finding)
}

/// PL305: the hypervisor gave the processors to others.
pub(super) fn stolen(case: &ReadCase<'_>, rule: &Rule) -> Vec<Finding> {
    let mut found = Vec::new();
    for host in case.hosts() {
        let all = processors(case, host, PlaceKind::Host).chain(processors(case, host, PlaceKind::Cpu));
        let worst = all
            .filter_map(|(place, series)| {
                let stolen: Vec<&ProcessorPoint> = series
                    .points()
                    .iter()
                    .filter(|p| p.value(CpuStealPercent) >= rule.threshold("steal_percent"))
                    .collect();
                let least =
                    rule.threshold("intervals").max(rule.threshold("share") * series.points().len() as f64);
                (stolen.len() as f64 >= least).then_some((place, stolen))
            })
            .next();
        let Some((place, stolen)) = worst else { continue };
        let level = mean(stolen.iter().map(|p| p.value(CpuStealPercent)));
        let name = &case.digest.place_of(place).name;
        let which = if name.is_empty() { "the processors".to_owned() } else { format!("processor {name}") };
        let title = format!(
            "the hypervisor took {level:.0} % of {which} for others in {} intervals: times measured here include waits outside this \
             machine",
            stolen.len()
        );
        let mut evidence: Vec<Evidence> = stolen.iter().take(3).map(|p| case.line(p.origin)).collect();
        evidence.push(computed(format!(
            "steal of at least {:.0} % in {} of {} intervals",
            rule.threshold("steal_percent"),
            stolen.len(),
            case.digest.processors.get(&place).map_or(0, |s| s.points().len())
        )));
        let mut finding = case.finding_of_host(rule, host, title, evidence);
        if level < 2.0 * rule.threshold("steal_percent") {
            finding.severity = Severity::Low;
        }
        found.push(finding);
    }
    found
}
