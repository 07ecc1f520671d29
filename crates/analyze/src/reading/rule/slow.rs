//! Slow I/O, where its time goes, and whether the device is full or has room left.

use super::stretch::stretches;
use super::words::{median_of, names, quantile, sorted, time};
use crate::finding::{Evidence, Finding, Severity};
use crate::passive::{Interval, Passive};
use crate::reading::case::{ReadCase, computed};
use crate::reading::point::DevicePoint;
use crate::reading::series::Series;
use crate::rulebook::Rule;
use record::imported::{HostId, PlaceId, PlaceKind};

fn is_disk(kind: PlaceKind) -> bool {
    matches!(kind, PlaceKind::Device | PlaceKind::Path | PlaceKind::Volume | PlaceKind::Pool)
}

/// A device whose I/Os take long.
struct Slow<'d> {
    place: PlaceId,
    series: &'d Series,
    class: &'static str,
    /// Mean response in the slow intervals, each by its I/Os.
    response_us: f64,
    /// Share of the I/Os of this class that were done in slow intervals.
    share: f64,
    slowest: DevicePoint,
    intervals: usize,
}

/// PL208: reads or writes take long, or single ones take seconds.
pub(super) fn slow(case: &ReadCase<'_>, rule: &Rule) -> Vec<Finding> {
    let mut found = Vec::new();
    for host in case.hosts() {
        let own = || case.devices().filter(|(p, kind, _)| is_disk(*kind) && case.host(*p) == host);
        let mut all: Vec<Slow<'_>> = Vec::new();
        for (place, _, series) in own() {
            let reads =
                of_class(place, series, rule, "reads", "read_ms", |p| (p.read_iops, p.read_response_us));
            let writes =
                of_class(place, series, rule, "writes", "write_ms", |p| (p.write_iops, p.write_response_us));
            // Where classes are not told apart the limit is that of reads, and the load must not be writes.
            let both = match (&reads, &writes) {
                (None, None) if !knows_classes(series) => {
                    of_class(place, series, rule, "I/Os", "write_ms", |p| (p.iops, p.response_us))
                }
                _ => None,
            };
            all.extend([reads, writes, both].into_iter().flatten());
        }
        all.sort_by(|a, b| (b.response_us * b.share).total_cmp(&(a.response_us * a.share)));
        found.extend(finding(case, rule, host, &all));
        found.extend(single(case, rule, &own().map(|(p, _, s)| (p, s)).collect::<Vec<_>>(), &all));
    }
    found
}

fn knows_classes(series: &Series) -> bool {
    series.points().iter().any(|p| p.read_response_us.is_finite() || p.write_response_us.is_finite())
}

fn of_class<'d>(
    place: PlaceId,
    series: &'d Series,
    rule: &Rule,
    class: &'static str,
    limit: &str,
    of: impl Fn(&DevicePoint) -> (f64, f64),
) -> Option<Slow<'d>> {
    let limit_us = rule.threshold(limit) * 1e3;
    let (mut slow_ios, mut all_ios, mut time_us, mut intervals) = (0.0, 0.0, 0.0, 0);
    let mut slowest: Option<DevicePoint> = None;
    for point in series.points() {
        let (iops, response_us) = of(point);
        if !(iops > 0.0) || response_us.is_nan() {
            continue;
        }
        let ios = iops * point.weight();
        all_ios += ios;
        if response_us < limit_us || iops < rule.threshold("iops") {
            continue;
        }
        slow_ios += ios;
        time_us += ios * response_us;
        intervals += 1;
        if slowest.is_none_or(|s| of(&s).1 < response_us) {
            slowest = Some(*point);
        }
    }
    let share = slow_ios / all_ios;
    let sustained = intervals as f64 >= rule.threshold("intervals") && share >= rule.threshold("share");
    let slowest = slowest.filter(|_| sustained)?;
    Some(Slow { place, series, class, response_us: time_us / slow_ios, share, slowest, intervals })
}

/// One finding for all slow devices of a host.
fn finding(case: &ReadCase<'_>, rule: &Rule, host: HostId, all: &[Slow<'_>]) -> Option<Finding> {
    let worst = all.first()?;
    let name = |s: &Slow<'_>| case.digest.place_of(s.place).name.as_str();
    let mut others: Vec<&str> = all.iter().skip(1).map(name).filter(|n| *n != name(worst)).collect();
    others.sort_unstable();
    others.dedup();
    let beside = if others.is_empty() { String::new() } else { format!("; so do {}", names(&others, 4)) };
    let title = format!(
        "{} of {} take {} on average in {} intervals{beside}",
        worst.class,
        name(worst),
        time(worst.response_us),
        worst.intervals
    );
    let mut evidence: Vec<Evidence> = all.iter().take(4).map(|s| case.line(s.slowest.origin)).collect();
    for slow in all.iter().take(4) {
        evidence.push(computed(format!(
            "{}: {:.0} % of the {} were done in intervals with a mean of {}, {} of them{}",
            name(slow),
            slow.share * 100.0,
            slow.class,
            time(slow.response_us),
            slow.intervals,
            spent(slow)
        )));
    }
    let mut finding = case.finding(rule, worst.place, title, evidence);
    finding.host = case.host_name(host).map(str::to_owned);
    finding.severity = severity(rule, worst.response_us, finding.severity);
    Some(finding)
}

fn severity(rule: &Rule, response_us: f64, usual: Severity) -> Severity {
    if response_us >= rule.threshold("high_ms") * 1e3 { Severity::High } else { usual }
}

/// Where the time is spent, where that is told.
fn spent(slow: &Slow<'_>) -> String {
    let (wait, service) =
        (slow.series.mean_per_io(|p| p.host_wait_us), slow.series.mean_per_io(|p| p.service_us));
    if !(wait + service > 0.0) {
        return "; this text does not tell the host queue and the device apart".to_owned();
    }
    let share = wait / (wait + service) * 100.0;
    format!(
        "; of all its I/Os' time {share:.0} % is wait in the host ({}), the rest service ({})",
        time(wait),
        time(service)
    )
}

/// Single I/Os of seconds, where the tool tells the longest.
fn single(
    case: &ReadCase<'_>,
    rule: &Rule,
    own: &[(PlaceId, &Series)],
    told: &[Slow<'_>],
) -> Option<Finding> {
    let least = rule.threshold("single_s") * 1e6;
    let mut long: Vec<(PlaceId, DevicePoint)> = own
        .iter()
        .filter_map(|(place, series)| Some((*place, *series.longest().first()?)))
        .filter(|(_, p)| p.longest_us >= least)
        .collect();
    long.sort_by(|a, b| b.1.longest_us.total_cmp(&a.1.longest_us));
    let (place, point) = *long.first()?;
    // What is slow all the time has been told already.
    if told.iter().any(|s| s.place == place && s.response_us * 3.0 > point.longest_us) {
        return None;
    }
    let name = |p: PlaceId| case.digest.place_of(p).name.as_str();
    let others: Vec<&str> = long.iter().skip(1).map(|(p, _)| name(*p)).collect();
    let beside = if others.is_empty() { String::new() } else { format!("; also on {}", names(&others, 4)) };
    let title = format!("single I/Os of {} took up to {}{beside}", name(place), time(point.longest_us));
    let mut evidence: Vec<Evidence> = long.iter().take(4).map(|(_, p)| case.line(p.origin)).collect();
    evidence.push(computed(format!(
        "the mean response there was {}; a longest value may stem from before this interval (AIX iostat without -R)",
        time(point.response_us)
    )));
    let mut finding = case.finding(rule, place, title, evidence);
    if point.longest_us >= rule.threshold("single_high_s") * 1e6 {
        finding.severity = Severity::High;
    }
    Some(finding)
}

/// PL209: does the response grow with the number outstanding, or is there room left?
pub(super) fn full_or_room(case: &ReadCase<'_>, rule: &Rule) -> Vec<Finding> {
    let mut found = Vec::new();
    for host in case.hosts() {
        let disks = case.devices().filter(|(p, kind, _)| {
            matches!(kind, PlaceKind::Device | PlaceKind::Path) && case.host(*p) == host
        });
        let mut room: Vec<(PlaceId, Growth)> = Vec::new();
        for (place, _, series) in disks {
            let Some(growth) = Growth::of(series, rule) else { continue };
            if growth.elasticity - 2.0 * growth.error >= rule.threshold("full") {
                found.push(growth.full(case, rule, place, series));
            } else if growth.elasticity + 2.0 * growth.error <= rule.threshold("room") {
                room.push((place, growth));
            }
        }
        found.extend(room_left(case, rule, &room));
    }
    found
}

/// How the response (or the time at the device) grows with the number there.
struct Growth {
    /// ln response by ln number: 1 when it grows in proportion, 0 when it stays.
    elasticity: f64,
    error: f64,
    numbers: [f64; 2],
    times_us: [f64; 2],
    iops_max: f64,
    at_device: bool,
    points: usize,
}

impl Growth {
    fn of(series: &Series, rule: &Rule) -> Option<Self> {
        let at_device = series.busy().any(|p| p.device_queue > 0.0 && p.service_us > 0.0);
        let of = |p: &DevicePoint| {
            if at_device { (p.device_queue, p.service_us) } else { (p.outstanding, p.response_us) }
        };
        let least = rule.threshold("ios");
        let used: Vec<&DevicePoint> = series
            .busy()
            .filter(|p| of(p).0 > 0.05 && of(p).1 > 0.0 && p.iops * p.weight() >= least)
            .collect();
        let (numbers, times) = (sorted(used.iter().map(|p| of(p).0)), sorted(used.iter().map(|p| of(p).1)));
        let ends = |v: &[f64]| [quantile(v, 0.1), quantile(v, 0.9)];
        let (n, t) = (ends(&numbers), ends(&times));
        if (used.len() as f64) < rule.threshold("intervals")
            || !(n[1] / n[0] >= rule.threshold("spread"))
            || n[1] < rule.threshold("outstanding")
        {
            return None;
        }
        let points: Vec<(f64, f64, f64)> = used.iter().map(|p| (of(p).0.ln(), of(p).1.ln(), 1.0)).collect();
        let line = stats::line::fit(&points, None)?;
        let left = points.iter().map(|p| (p.1 - line.at(p.0)).powi(2)).sum::<f64>() / points.len() as f64;
        // Where something else than the number decides, the slope says nothing.
        if left.sqrt() > rule.threshold("scatter") {
            return None;
        }
        let iops = sorted(used.iter().map(|p| p.iops));
        Some(Self {
            elasticity: line.slope,
            error: line.slope_se,
            numbers: n,
            times_us: t,
            iops_max: quantile(&iops, 1.0),
            at_device,
            points: used.len(),
        })
    }

    fn words(&self) -> String {
        let (what, time_of) =
            if self.at_device { ("at the device", "service time") } else { ("outstanding", "response") };
        format!(
            "over {} intervals with {:.1} to {:.1} I/Os {what} the {time_of} went from {} to {}: it grows with their number \
             to the power of {:.2} +/- {:.2} (1 is full, 0 is room)",
            self.points,
            self.numbers[0],
            self.numbers[1],
            time(self.times_us[0]),
            time(self.times_us[1]),
            self.elasticity,
            2.0 * self.error
        )
    }

    fn full(&self, case: &ReadCase<'_>, rule: &Rule, place: PlaceId, series: &Series) -> Finding {
        let name = &case.digest.place_of(place).name;
        let title = format!(
            "{name} is full: twice the I/Os outstanding took twice as long; it gave {:.0} I/Os per second at most",
            self.iops_max
        );
        let mut evidence = case.lines(series.most_outstanding());
        evidence.push(computed(self.words()));
        evidence.extend(passive(name, series).map(computed));
        case.finding(rule, place, title, evidence)
    }
}

/// One finding for all devices of a host that had room.
fn room_left(case: &ReadCase<'_>, rule: &Rule, room: &[(PlaceId, Growth)]) -> Option<Finding> {
    let (place, growth) = room.iter().max_by(|a, b| a.1.iops_max.total_cmp(&b.1.iops_max))?;
    let name = |p: PlaceId| case.digest.place_of(p).name.as_str();
    let others: Vec<&str> = room.iter().map(|(p, _)| name(*p)).filter(|n| *n != name(*place)).collect();
    let beside = if others.is_empty() { String::new() } else { format!(", and so do {}", names(&others, 4)) };
    let title = format!(
        "{} has room left{beside}: its time per I/O hardly grows with the number outstanding; the load did not ask for more",
        name(*place)
    );
    let series = case.digest.devices.get(place)?;
    let mut evidence = case.lines(series.most_outstanding());
    evidence.push(computed(growth.words()));
    evidence.extend(passive(name(*place), series).map(computed));
    let mut finding = case.finding(rule, *place, title, evidence);
    finding.severity = Severity::Info;
    Some(finding)
}

/// What the passive load line makes of it.
fn passive(name: &str, series: &Series) -> Option<String> {
    let mut all = Passive::default();
    let length = median_of(series.points().iter().map(|p| p.length_s));
    let mut last = f64::NEG_INFINITY;
    for stretch in stretches(series) {
        for point in stretch.points {
            let length_s = if point.length_s > 0.0 { point.length_s } else { length };
            if !(length_s > 0.0) || !(point.iops > 0.0) || !(point.at_s > last) {
                continue;
            }
            last = point.at_s;
            let known = |v: f64| Some(v).filter(|v| v.is_finite());
            all.interval(
                name,
                &Interval {
                    at_s: point.at_s,
                    length_s,
                    requests: point.iops * length_s,
                    reads: if point.read_iops.is_nan() { 0.0 } else { point.read_iops * length_s },
                    bytes: if point.bytes_per_s.is_nan() { 0.0 } else { point.bytes_per_s * length_s },
                    inside: known(point.outstanding),
                    host_queue: known(point.host_queue),
                    device_queue: known(point.device_queue),
                    device_queue_peak: None,
                },
            );
        }
    }
    let line = all.conclude(|_, _| true).into_iter().next()?;
    match (&line.curve, &line.cannot_tell) {
        (Some(curve), _) => {
            let share = line.peak_share.map_or(String::new(), |s| {
                format!("; the busiest ten seconds reached {:.0} % of it", s * 100.0)
            });
            Some(format!(
                "as a load line: it carries {:.0} I/Os per second at most (95 % interval {:.0} to {:.0}){share}",
                curve.iops_max, curve.iops_max_ci95[0], curve.iops_max_ci95[1]
            ))
        }
        (None, Some(why)) => Some(format!(
            "as a load line: it carried {:.0} I/Os per second; where its limit is cannot be told, as {}",
            why.iops_at_least, why.reason
        )),
        (None, None) => None,
    }
}
