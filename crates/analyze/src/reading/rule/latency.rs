//! Throughput that is bound by how little is asked for at once.

use super::stretch::{Stretch, stretches};
use super::words::{bytes, correlation, count, mean, median_of, quantile, sorted, time, variation};
use crate::finding::{Evidence, Finding, Severity};
use crate::reading::case::{ReadCase, computed};
use crate::reading::series::Series;
use crate::rulebook::Rule;
use record::imported::{HostId, PlaceId, PlaceKind, Quantity};

/// Largest sizes of a request that systems split at, bytes.
const CAPS: [f64; 7] = [65_536.0, 131_072.0, 262_144.0, 524_288.0, 1_048_576.0, 1_310_720.0, 4_194_304.0];
/// What programs that read in one large piece mostly ask for.
const LARGE_READ: f64 = 1_048_576.0;

/// PL201: a few requests at a time, answered one after the other.
pub(super) fn few_outstanding(case: &ReadCase<'_>, rule: &Rule) -> Vec<Finding> {
    let mut found = Vec::new();
    for host in case.hosts() {
        let own = case.devices().filter(|(place, _, _)| case.host(*place) == host);
        let disks = own.filter(|(_, kind, _)| {
            matches!(kind, PlaceKind::Device | PlaceKind::Volume | PlaceKind::Path | PlaceKind::Pool)
        });
        let of_host: Vec<(PlaceKind, Vec<Finding>)> =
            disks.map(|(place, kind, series)| (kind, of_device(case, rule, host, place, series))).collect();
        // A volume and the disks below it show the same I/Os.
        let is_layered = of_host.iter().any(|(kind, f)| *kind == PlaceKind::Volume && !f.is_empty());
        let kept = of_host.into_iter().filter(|(kind, _)| !is_layered || *kind == PlaceKind::Volume);
        found.extend(kept.flat_map(|(_, f)| f));
    }
    found
}

fn of_device(
    case: &ReadCase<'_>,
    rule: &Rule,
    host: HostId,
    place: PlaceId,
    series: &Series,
) -> Vec<Finding> {
    let mut seen: Vec<f64> = Vec::new();
    let mut found = Vec::new();
    for stretch in stretches(series) {
        let Some(few) = Few::of(&stretch, rule) else { continue };
        // The same number again is the same finding.
        if seen.iter().any(|n| *n == few.most.ceil()) {
            continue;
        }
        seen.push(few.most.ceil());
        found.extend(few.finding(case, rule, host, place, &stretch));
    }
    found
}

/// A small number outstanding that stays.
struct Few {
    mean: f64,
    /// The highest mean of an interval.
    most: f64,
    response_us: f64,
    request_bytes: f64,
    busy_percent: f64,
}

impl Few {
    fn of(stretch: &Stretch<'_>, rule: &Rule) -> Option<Self> {
        let points = stretch.points;
        let outstanding = sorted(points.iter().map(|p| p.outstanding));
        if !stretch.has(rule.threshold("intervals")) || outstanding.len() < points.len() {
            return None;
        }
        let [lowest, most] = [quantile(&outstanding, 0.1), quantile(&outstanding, 1.0)];
        let busy = median_of(points.iter().map(|p| p.busy_percent));
        let always = if busy.is_nan() { lowest >= 0.85 } else { busy >= rule.threshold("busy_percent") };
        let spread = variation(outstanding.iter().copied());
        if !always || most > rule.threshold("few") || !(lowest > 0.5) || spread > rule.threshold("spread") {
            return None;
        }
        // A fixed number going round: slower answers mean less throughput. Load from outside would add up instead.
        let pairs: Vec<(f64, f64)> = points
            .iter()
            .filter(|p| p.iops > 0.0 && p.response_us > 0.0)
            .map(|p| (p.iops.ln(), p.response_us.ln()))
            .collect();
        if spread > 0.1 && correlation(&pairs) > -0.5 {
            return None;
        }
        let reads = stretch.mean(|p| p.read_bytes_per_s) / stretch.mean(|p| p.read_iops);
        let is_read = stretch.mean(|p| p.read_iops) >= 0.9 * stretch.mean(|p| p.iops);
        let all = stretch.mean(|p| p.bytes_per_s) / stretch.mean(|p| p.iops);
        Some(Self {
            mean: mean(outstanding.iter().copied()),
            most,
            response_us: stretch.whole()?.response_us,
            request_bytes: if is_read && reads.is_finite() { reads } else { all },
            busy_percent: busy,
        })
    }

    /// The size that requests are cut to, when theirs is just below a known one.
    fn cap(&self) -> Option<f64> {
        CAPS.into_iter().find(|cap| self.request_bytes <= *cap && self.request_bytes >= 0.95 * cap)
    }

    fn finding(
        &self,
        case: &ReadCase<'_>,
        rule: &Rule,
        host: HostId,
        place: PlaceId,
        stretch: &Stretch<'_>,
    ) -> Option<Finding> {
        // Processors that work all the time are another finding.
        let working = working(case, host);
        if working >= rule.threshold("cpu_percent") {
            return None;
        }
        let name = &case.digest.place_of(place).name;
        let asked = case.asked_bytes(place, stretch.points[0].origin);
        let (what, split) = self.words(asked.map(|a| a.0));
        let title = format!(
            "{name} is latency-bound, not CPU-bound, at {what}: more throughput needs more I/Os at a time"
        );
        let mut evidence: Vec<Evidence> = Vec::new();
        evidence.extend(asked.map(|(_, origin)| case.line(origin)));
        let slowest = stretch.points.iter().max_by(|a, b| a.response_us.total_cmp(&b.response_us));
        let fastest = stretch.points.iter().min_by(|a, b| a.response_us.total_cmp(&b.response_us));
        evidence.extend([fastest, slowest].into_iter().flatten().map(|p| case.line(p.origin)));
        let told = if self.request_bytes.is_nan() {
            String::new()
        } else {
            format!(" of {}", bytes(self.request_bytes))
        };
        evidence.push(computed(format!(
            "in {} intervals {:.1} requests{told} were outstanding on average and {:.1} at most; throughput is their number \
             over the mean response of {}, and fell whenever that rose{split}",
            stretch.points.len(),
            self.mean,
            self.most,
            time(self.response_us)
        )));
        if self.busy_percent >= 90.0 {
            evidence.push(computed(format!(
                "%util {:.0} means that something was outstanding all the time, not that the device was full",
                self.busy_percent
            )));
        }
        evidence.extend(processors(case, host, working));
        let mut finding = case.finding(rule, place, title, evidence);
        if self.response_us < rule.threshold("fast_ms") * 1e3 {
            finding.severity = Severity::Low;
        }
        Some(finding)
    }

    /// What is outstanding, in words: whole requests where something tells how they are split.
    fn words(&self, asked: Option<f64>) -> (String, String) {
        let number = self.most.ceil().max(1.0);
        if let (Some(asked), Some(cap)) = (asked, self.cap()) {
            let split = (asked / cap).round();
            if split >= 2.0 {
                let workers = (self.most / split).ceil().max(1.0);
                let requests = if workers > 1.5 { "requests" } else { "request" };
                return (
                    format!(
                        "{} outstanding {requests} of {}, split in {}",
                        count(workers),
                        bytes(asked),
                        count(split)
                    ),
                    format!(
                        "; {} asked for at once are sent as {} of {}",
                        bytes(asked),
                        count(split),
                        bytes(cap)
                    ),
                );
            }
        }
        if number <= 1.0 {
            return ("one outstanding request".to_owned(), String::new());
        }
        let size = if self.request_bytes.is_nan() {
            String::new()
        } else {
            format!(" of {}", bytes(self.request_bytes))
        };
        let about = format!("about {} requests outstanding{size}", count(number));
        let split = self.cap().map_or(1.0, |cap| LARGE_READ / cap);
        let workers = number / split;
        if split < 2.0 || workers.fract() > 0.0 || workers > 4.0 {
            return (about, String::new());
        }
        let reads = if workers > 1.0 { "larger requests, each" } else { "larger request" };
        (
            format!("{about}, as {} {reads} split in {} would give", count(workers), count(split)),
            String::new(),
        )
    }
}

/// Mean share of time in which the processors of a host worked; NaN when nothing tells.
fn working(case: &ReadCase<'_>, host: HostId) -> f64 {
    let own = case.digest.processors.iter().filter(|(place, _)| {
        case.host(**place) == host && case.digest.place_of(**place).kind == PlaceKind::Host
    });
    mean(own.map(|(_, series)| series.mean(|p| p.working_percent())))
}

/// That processors were idle, and that the one in iowait was, too.
fn processors(case: &ReadCase<'_>, host: HostId, working: f64) -> Vec<Evidence> {
    let mut said = Vec::new();
    if working.is_finite() {
        said.push(computed(format!("processors worked {working:.0} % of the time: they are not the limit")));
    }
    let cpus = case.digest.processors.iter().filter(|(place, _)| case.host(**place) == host);
    for (place, series) in cpus {
        let waits = |p: &&crate::reading::ProcessorPoint| {
            p.value(Quantity::CpuIowaitPercent) >= 80.0 && p.working_percent() < 20.0
        };
        if let Some(point) = series.points().iter().find(waits) {
            let name = &case.digest.place_of(*place).name;
            said.push(case.line(point.origin));
            said.push(computed(format!(
                "processor {name} with {:.0} % iowait is idle and waits for a disk: it is no limit",
                point.value(Quantity::CpuIowaitPercent)
            )));
            break;
        }
    }
    said
}
