//! What changes in the course of a load, and what stays as if it were held.

use super::stretch::{Stretch, rate, stretches};
use super::words::{bytes_per_s, mean, median_of, quantile, sorted, time, variation};
use crate::finding::{Finding, Severity};
use crate::reading::case::{ReadCase, computed};
use crate::reading::point::DevicePoint;
use crate::reading::series::Series;
use crate::rulebook::{Rule, rules};
use record::imported::{PlaceId, PlaceKind};
use stats::change::steps;

/// Limits that vendors publish, in I/Os per second and in bytes per second: a hint, never more.
const CATALOGUE_IOPS: [(f64, &str); 9] = [
    (3000.0, "the base of an EBS gp3 volume or the burst of gp2"),
    (16_000.0, "the most of an EBS gp2 or classic gp3 volume"),
    (64_000.0, "the most of an EBS io1 volume"),
    (500.0, "an Azure P10 or standard disk"),
    (1100.0, "an Azure P15 disk"),
    (2300.0, "an Azure P20 disk"),
    (5000.0, "an Azure P30 disk"),
    (7500.0, "an Azure P40 or P50 disk"),
    (20_000.0, "an Azure P80 disk"),
];
const MIB: f64 = 1_048_576.0;
const CATALOGUE_MIB: [(f64, &str); 7] = [
    (125.0, "the base of an EBS gp3 volume or an Azure P15 disk"),
    (250.0, "an EBS gp2 volume or an Azure P40 disk"),
    (1000.0, "the most of a classic EBS gp3 or io1 volume"),
    (100.0, "an Azure P10 disk"),
    (150.0, "an Azure P20 disk"),
    (200.0, "an Azure P30 disk"),
    (60.0, "an Azure standard disk"),
];

/// Regime changes of one device that are told.
const OF_ONE_DEVICE_MAX: usize = 2;

fn is_disk(kind: PlaceKind) -> bool {
    matches!(kind, PlaceKind::Device | PlaceKind::Volume | PlaceKind::Path | PlaceKind::Pool)
}

/// PL205: throughput stays at one value while what waits for it varies.
pub(super) fn plateau(case: &ReadCase<'_>, rule: &Rule) -> Vec<Finding> {
    let disks = case.devices().filter(|(_, kind, _)| is_disk(*kind));
    disks.filter_map(|(place, _, series)| plateau_of(case, rule, place, series)).collect()
}

/// A throughput that is never exceeded and mostly reached.
struct Held<'p> {
    at: f64,
    within: f64,
    points: Vec<&'p DevicePoint>,
    share: f64,
}

fn held<'p>(
    stretch: &Stretch<'p>,
    rule: &Rule,
    of: fn(&DevicePoint) -> f64,
    is_known: impl Fn(f64) -> bool,
) -> Option<Held<'p>> {
    let evenly = |within: &str, varies: &str| {
        held_within(stretch, rule, of, rule.threshold(within) / 100.0, rule.threshold(varies))
    };
    // Near a published limit less evenness is needed.
    let loosely = || evenly("near_within_percent", "near_varies").filter(|h| is_known(h.at));
    evenly("within_percent", "varies").or_else(loosely)
}

fn held_within<'p>(
    stretch: &Stretch<'p>,
    rule: &Rule,
    of: fn(&DevicePoint) -> f64,
    within: f64,
    varies: f64,
) -> Option<Held<'p>> {
    let all = sorted(stretch.points.iter().map(of));
    if (all.len() as f64) < rule.threshold("intervals") || all.len() < stretch.points.len() {
        return None;
    }
    let at = quantile(&all, 0.9);
    let near = |p: &&DevicePoint| (of(p) / at - 1.0).abs() <= within;
    let points: Vec<&DevicePoint> = stretch.points.iter().filter(near).collect();
    let share = points.len() as f64 / all.len() as f64;
    let above = all.iter().filter(|v| **v > at * (1.0 + 2.0 * within)).count();
    let enough = points.len() as f64 >= rule.threshold("intervals");
    if !enough || share < rule.threshold("share") || above > 0 {
        return None;
    }
    let of_held = |of: fn(&DevicePoint) -> f64| sorted(points.iter().map(|p| of(p)));
    let (outstanding, response) = (of_held(|p| p.outstanding), of_held(|p| p.response_us));
    let is_varied = |v: &[f64]| quantile(v, 0.9) / quantile(v, 0.1) >= varies;
    let waits = quantile(&outstanding, 0.5) >= rule.threshold("outstanding");
    if !waits || !(is_varied(&outstanding) || is_varied(&response)) {
        return None;
    }
    let at = median_of(points.iter().map(|p| of(p)));
    Some(Held { at, within, points, share })
}

fn plateau_of(case: &ReadCase<'_>, rule: &Rule, place: PlaceId, series: &Series) -> Option<Finding> {
    // Merged intervals are smoother than what was measured.
    if series.stride() > 1 {
        return None;
    }
    let name = &case.digest.place_of(place).name;
    for stretch in stretches(series) {
        let by_bytes = held(&stretch, rule, |p| p.bytes_per_s, |at| near(at / MIB, &CATALOGUE_MIB).is_some());
        let by_ios = held(&stretch, rule, |p| p.iops, |at| near(at, &CATALOGUE_IOPS).is_some());
        let (held, what, hint) = match (by_ios, by_bytes) {
            (Some(held), other) if other.as_ref().is_none_or(|o| o.share <= held.share) => {
                let hint = near(held.at, &CATALOGUE_IOPS);
                let what = format!("{:.0} I/Os per second", held.at);
                (held, what, hint)
            }
            (_, Some(held)) => {
                let hint = near(held.at / MIB, &CATALOGUE_MIB);
                let what = bytes_per_s(held.at);
                (held, what, hint)
            }
            _ => continue,
        };
        let outstanding = sorted(held.points.iter().map(|p| p.outstanding));
        let response = sorted(held.points.iter().map(|p| p.response_us));
        let is_loose = held.within * 100.0 > rule.threshold("within_percent");
        let title = match hint {
            Some(hint) if is_loose => {
                format!("{name} keeps to {what}, near the published limit of {hint}: it may be that")
            }
            _ => {
                format!("{name} is held at {what}: a limit that is set somewhere, not a device that is full")
            }
        };
        let mut evidence = Vec::new();
        let by_queue = |p: &&&DevicePoint| (p.outstanding * 1e6) as u64;
        evidence.extend(held.points.iter().min_by_key(by_queue).map(|p| case.line(p.origin)));
        evidence.extend(held.points.iter().max_by_key(by_queue).map(|p| case.line(p.origin)));
        evidence.push(computed(format!(
            "{:.0} % of {} intervals lie within {:.1} % of it and none above, while {:.1} to {:.1} I/Os were outstanding and \
             the response varied from {} to {}",
            held.share * 100.0,
            stretch.points.len(),
            held.within * 100.0,
            quantile(&outstanding, 0.0),
            quantile(&outstanding, 1.0),
            time(quantile(&response, 0.0)),
            time(quantile(&response, 1.0)),
        )));
        if let Some(hint) = hint.filter(|_| !is_loose) {
            evidence.push(computed(format!("that is near the published limit of {hint}: a hint, no proof")));
        }
        let mut finding = case.finding(rule, place, title, evidence);
        if is_loose {
            finding.severity = Severity::Low;
        }
        return Some(finding);
    }
    None
}

fn near(value: f64, catalogue: &[(f64, &'static str)]) -> Option<&'static str> {
    catalogue.iter().find(|(n, _)| (value / n - 1.0).abs() <= 0.03).map(|(_, name)| *name)
}

/// A step of the throughput that the load does not explain.
struct Step {
    at: usize,
    before: DevicePoint,
    after: DevicePoint,
    /// Where the neighbouring steps are.
    from: usize,
    to: usize,
}

/// Steps of a stretch, the largest fall first.
fn falls(stretch: &Stretch<'_>, rule: &Rule) -> Vec<Step> {
    let seconds = rule.threshold("seconds");
    let shortest = if stretch.interval_s > 0.0 { (seconds / stretch.interval_s).ceil() } else { 2.0 };
    let rates: Vec<f64> = stretch.points.iter().map(rate).collect();
    let found = steps(&rates, (shortest as usize).max(2));
    let mut edges = vec![0];
    edges.extend(found.iter().map(|s| s.at));
    edges.push(rates.len());
    let whole = |from: usize, to: usize| DevicePoint::together(&stretch.points[from..to]);
    let mut all: Vec<Step> = edges
        .windows(3)
        .filter_map(|e| {
            let (before, after) = (whole(e[0], e[1])?, whole(e[1], e[2])?);
            Some(Step { at: e[1], before, after, from: e[0], to: e[2] })
        })
        .filter(|s| is_slowed(s, rule.threshold("size_percent") / 100.0))
        .collect();
    let size = |s: &Step| rate(&s.after) / rate(&s.before);
    all.sort_by(|a, b| size(a).total_cmp(&size(b)));
    all
}

/// Whether throughput fell because answers took longer, and not because less, or something else, was asked for.
fn is_slowed(step: &Step, least: f64) -> bool {
    let (before, after) = (&step.before, &step.after);
    let fell = rate(before) / rate(after);
    let slowed = after.response_us / before.response_us;
    let kept = after.outstanding / before.outstanding;
    let same_kind = {
        let size = after.request_bytes() / before.request_bytes();
        !size.is_finite() || (0.75..=1.33).contains(&size)
    };
    let busy = before.busy_percent.is_nan() || before.busy_percent >= 60.0 || before.outstanding >= 1.0;
    fell >= 1.0 / (1.0 - least) && same_kind && busy && kept >= 0.8 && slowed.ln() >= 0.5 * fell.ln()
}

/// PL206: throughput steps down under the same load.
pub(super) fn regime(case: &ReadCase<'_>, rule: &Rule) -> Vec<Finding> {
    let cliff = rules().get("PL207");
    let disks: Vec<(PlaceId, PlaceKind, &Series)> =
        case.devices().filter(|(_, kind, _)| is_disk(*kind)).collect();
    let mut found = Vec::new();
    let mut of_volumes: Vec<(record::imported::HostId, u64)> = Vec::new();
    // Volumes first: the disks below them show the same step.
    for volumes in [true, false] {
        for (place, kind, series) in &disks {
            if (*kind == PlaceKind::Volume) != volumes {
                continue;
            }
            let host = case.host(*place);
            let all = stretches(series);
            let mut steps: Vec<(&Stretch<'_>, Step)> =
                all.iter().filter_map(|s| Some((s, falls(s, rule).into_iter().next()?))).collect();
            if steps.is_empty() || cliff.is_some_and(|r| cliff_of(case, r, *place, series).is_some()) {
                continue;
            }
            // The largest of a long course; the others are of the same kind.
            let left = |s: &Step| rate(&s.after) / rate(&s.before);
            steps.sort_by(|a, b| left(&a.1).total_cmp(&left(&b.1)));
            steps.truncate(OF_ONE_DEVICE_MAX);
            for (stretch, step) in steps {
                let line = stretch.points[step.at].origin.line;
                if !volumes && of_volumes.iter().any(|(h, l)| *h == host && l.abs_diff(line) < 64) {
                    continue;
                }
                of_volumes.push((host, line));
                found.push(regime_of(case, rule, *place, stretch, &step));
            }
        }
    }
    found
}

fn regime_of(
    case: &ReadCase<'_>,
    rule: &Rule,
    place: PlaceId,
    stretch: &Stretch<'_>,
    step: &Step,
) -> Finding {
    let name = &case.digest.place_of(place).name;
    let (before, after) = (&step.before, &step.after);
    let show = |p: &DevicePoint| match (p.bytes_per_s, p.read_bytes_per_s) {
        (all, _) if all.is_nan() => format!("{:.0} I/Os per second", p.iops),
        (all, reads) if reads > 0.95 * all => bytes_per_s(reads),
        (all, _) => bytes_per_s(all),
    };
    let cut = &stretch.points[step.at..step.to];
    let is_held = cut.len() >= 5 && variation(cut.iter().map(rate)) <= 0.02;
    let why = if is_held { "something holds it there" } else { "the device answers slower" };
    let after_how_long = stretch.after(step.at);
    let title = format!(
        "{name} changed its regime {after_how_long}: {} -> {} under the same load; {why}",
        show(before),
        show(after)
    );
    let mut evidence: Vec<_> = [step.at - 1, step.at].map(|at| case.line(stretch.points[at].origin)).into();
    evidence.push(computed(format!(
        "{} intervals before, {} after: response {} -> {}, outstanding {:.1} -> {:.1}: the load did not go away",
        step.at - step.from,
        step.to - step.at,
        time(before.response_us),
        time(after.response_us),
        before.outstanding,
        after.outstanding
    )));
    if !stretch.is_assumed && stretch.interval_s.is_nan() {
        evidence.push(computed("the text tells no length of its intervals".to_owned()));
    } else if stretch.is_assumed {
        evidence.push(computed(
            "the text tells no length of its intervals; its rates are whole numbers, so they were of one second".to_owned(),
        ));
    }
    let mut finding = case.finding(rule, place, title, evidence);
    if rate(after) > (1.0 - rule.threshold("large_percent") / 100.0) * rate(before) {
        finding.severity = Severity::Low;
    }
    finding
}

/// PL207: writes step down once while they get slow: a write cache is full.
pub(super) fn cliff(case: &ReadCase<'_>, rule: &Rule) -> Vec<Finding> {
    let disks = case.devices().filter(|(_, kind, _)| is_disk(*kind));
    disks.filter_map(|(place, _, series)| cliff_of(case, rule, place, series)).collect()
}

fn cliff_of(case: &ReadCase<'_>, rule: &Rule, place: PlaceId, series: &Series) -> Option<Finding> {
    for stretch in stretches(series) {
        let least = rule.threshold("mib_per_s") * MIB;
        let writes: Vec<f64> = stretch.points.iter().map(|p| p.write_bytes_per_s).collect();
        let ordered = sorted(writes.iter().copied());
        let may_fall = quantile(&ordered, 0.0)
            <= (1.0 - rule.threshold("fall_percent") / 100.0) * quantile(&ordered, 1.0);
        if ordered.len() < writes.len() || !may_fall || quantile(&ordered, 1.0) < least {
            continue;
        }
        let shortest = if stretch.interval_s > 0.0 { (2.0 / stretch.interval_s).ceil() as usize } else { 2 };
        for step in steps(&writes, shortest.max(2)) {
            let (before, after) = (&stretch.points[..step.at], &stretch.points[step.at..]);
            let level = |part: &[DevicePoint]| median_of(part.iter().map(|p| p.write_bytes_per_s));
            let slow = |part: &[DevicePoint]| median_of(part.iter().map(|p| p.write_response_us));
            let fell = 1.0 - level(after) / level(before);
            let slowed = slow(after) / slow(before);
            // Once: it does not come back to half of what it was.
            let back = after.iter().filter(|p| p.write_bytes_per_s > 0.8 * level(before)).count();
            let waits =
                mean(after.iter().map(|p| p.outstanding)) >= 0.8 * mean(before.iter().map(|p| p.outstanding));
            if level(before) < least
                || fell < rule.threshold("fall_percent") / 100.0
                || !(slowed >= rule.threshold("slower"))
                || !waits
                || back * 10 > after.len()
            {
                continue;
            }
            let name = &case.digest.place_of(place).name;
            let title = format!(
                "writes to {name} fell off a cliff {}: {} -> {} while a write went from {} to {}; a write cache is full",
                stretch.after(step.at),
                bytes_per_s(level(before)),
                bytes_per_s(level(after)),
                time(slow(before)),
                time(slow(after))
            );
            let mut evidence: Vec<_> =
                [step.at - 1, step.at].map(|at| case.line(stretch.points[at].origin)).into();
            let reads = |part: &[DevicePoint]| median_of(part.iter().map(|p| p.read_response_us));
            let read_change = reads(after) / reads(before);
            if read_change.is_finite() && read_change > 1.5 {
                evidence.push(computed(format!(
                    "reads follow: {} -> {}",
                    time(reads(before)),
                    time(reads(after))
                )));
            }
            if stretch.interval_s > 0.0 {
                let taken: f64 = before.iter().map(|p| (p.write_bytes_per_s - level(after)).max(0.0)).sum();
                evidence.push(computed(format!(
                    "until then {} more came in than went out later: about the size of that cache",
                    super::words::bytes(taken * stretch.interval_s)
                )));
            }
            return Some(case.finding(rule, place, title, evidence));
        }
    }
    None
}
