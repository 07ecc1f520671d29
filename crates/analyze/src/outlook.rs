//! What a change should give: a model of the path as measured, with one limit moved.
//!
//! The path is taken as a closed network: the largest concurrency measured goes round through devices that serve as
//! many at once as their lowest limit allows, each in the time measured at the end of the curve, and a remainder that
//! nobody waits for. Where the service time grew with the device queue before, it is carried on by its elasticity, or
//! along the straight line of a target that others load too; and where it grew to a high power, nothing is predicted:
//! then the device is nearly full and no one knows how nearly.

use crate::case::Case;
use crate::ceiling::Ceiling;
use crate::point::Point;
use crate::rule::saturation::Law;
use crate::rule::time;
use crate::split::queue_of;
use record::LayerKind;
use stats::network::{Station, throughput};

/// Service time growing faster than the queue to this power is not carried on.
const ELASTICITY_MAX: f64 = 0.25;
/// Smaller ones are taken for none.
const ELASTICITY_MIN: f64 = 0.1;
/// A service time that grows by no more than this factor stays.
const STAYS: f64 = 1.02;
/// Processors may be used up to this share before they, not the device, would bind.
const CPU_SHARE_MAX: f64 = 0.85;

/// What the model says of a change.
#[derive(Clone, Debug, PartialEq)]
pub struct Outlook {
    /// I/Os per second; absent where the model does not hold.
    pub iops: Option<f64>,
    /// At this concurrency, the largest measured.
    pub concurrency: u32,
    /// The same in words.
    pub words: String,
}

/// How a multipath device spreads its I/Os.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spread {
    /// Each path in turn.
    Turns,
    /// To the path with the least standing in it.
    Balanced,
    /// Not known here.
    Unknown,
}

/// One device of the model.
#[derive(Clone, Debug)]
pub struct Device {
    /// Kernel name.
    pub name: String,
    /// Its limits.
    pub ceiling: Ceiling,
    /// Its share of the I/Os.
    pub share: f64,
    /// I/Os standing there at the end of the curve.
    pub standing: f64,
}

/// The path as measured.
#[derive(Clone, Debug)]
pub struct Model {
    /// Devices that carry the I/O.
    pub devices: Vec<Device>,
    /// Time one I/O of the workload spends at a device.
    pub service_s: f64,
    delay_s: f64,
    concurrency: u32,
    law: Law,
    /// A cap on rate before the devices.
    rate_iops: f64,
    /// Throughput at which the processors would be used up.
    cpu_iops: f64,
    /// Under a multipath device: how it spreads, and whether it has a queue of its own.
    paths: Option<(Spread, bool)>,
}

impl Model {
    /// From the end of the curve, where the queue stands; absent where the number at the devices is not known.
    pub fn of(case: &Case) -> Option<Self> {
        let last = case.last().filter(|p| p.iops > 0.0)?;
        let standing: Option<f64> =
            case.devices().iter().map(|(seen, _)| queue_of(&seen.device_queue).mean).sum();
        let service_s = standing.filter(|s| *s > 0.0)? / last.iops;
        Some(Self::with_service(case, last, service_s))
    }

    /// From the shortest response measured: for paths held back before the device, where the few I/Os at the device
    /// say little.
    pub fn unheld(case: &Case) -> Option<Self> {
        let last = case.last().filter(|p| p.iops > 0.0)?;
        let service_s = shortest_response_s(case.points)?;
        Some(Self { law: Law::Power(0.0), ..Self::with_service(case, last, service_s) })
    }

    fn with_service(case: &Case, last: &Point, service_s: f64) -> Self {
        let devices = case.devices();
        let whole: f64 = devices.iter().map(|(seen, _)| seen.requests_per_s).sum();
        let devices = devices
            .iter()
            .map(|(seen, layer)| Device {
                name: seen.name.clone(),
                ceiling: Ceiling::of(seen, layer),
                share: seen.requests_per_s / whole.max(1e-9),
                standing: queue_of(&seen.device_queue).high_or_mean(),
            })
            .collect();
        let cores = f64::from(last.cores.unwrap_or(1).max(1));
        Self {
            devices,
            service_s,
            delay_s: (shortest_response_s(case.points).unwrap_or(service_s) - service_s).max(0.0),
            concurrency: last.concurrency,
            law: Law::of(case.points),
            rate_iops: f64::INFINITY,
            cpu_iops: CPU_SHARE_MAX * cores * 1e6 / last.cpu_us_per_io.unwrap_or(0.0).max(1e-3),
            paths: spread_of(case),
        }
    }

    /// The same with the limits of one device changed.
    pub fn changed(&self, name: &str, change: impl Fn(&Ceiling) -> Ceiling) -> Self {
        let mut model = self.clone();
        for device in model.devices.iter_mut().filter(|d| d.name == name) {
            device.ceiling = change(&device.ceiling);
        }
        model
    }

    /// The same behind a cap on rate.
    pub fn capped(&self, rate_iops: f64) -> Self {
        Self { rate_iops, ..self.clone() }
    }

    /// The same with the I/O spread evenly over the devices.
    pub fn even(&self) -> Self {
        let mut model = self.clone();
        let share = 1.0 / model.devices.len().max(1) as f64;
        model.devices.iter_mut().for_each(|d| d.share = share);
        model
    }

    /// Largest number of I/Os that all devices can be sent together.
    pub fn slots(&self) -> f64 {
        self.devices.iter().filter_map(|d| Some(d.ceiling.lowest()?.0)).sum()
    }

    /// Throughput if every slot of every device were used, as far as the concurrency goes.
    pub fn all_slots_iops(&self) -> f64 {
        (self.slots() / self.service_s).min(f64::from(self.concurrency) / (self.service_s + self.delay_s))
    }

    /// What to expect of this model, against the curve it was made from.
    pub fn outlook(&self) -> Outlook {
        let n = self.concurrency;
        let none = |words: String| Outlook { iops: None, concurrency: n, words };
        let law = match self.law {
            // Smaller ones are what the readings of a queue scatter by.
            Law::Power(power) if power < ELASTICITY_MIN => Law::Power(0.0),
            law => law,
        };
        if matches!(law, Law::Power(power) if power > ELASTICITY_MAX) {
            return none(
                "how much more is open: the service time already grew with the device queue".to_owned(),
            );
        }
        let standing: f64 = self.devices.iter().map(|d| d.standing).sum();
        let grown = (self.slots().min(f64::from(n)) / standing.max(1e-9)).max(1.0);
        let service_s = self.service_s * law.factor(standing, standing * grown);
        let Some(iops) = self.throughput(service_s) else {
            return none("how much is open: how the paths share the I/O is not known".to_owned());
        };
        let iops = iops.min(self.rate_iops);
        if iops > self.cpu_iops {
            return none(format!(
                "up to {:.0} requests/s at {n} outstanding, where the processors would bind first",
                self.cpu_iops
            ));
        }
        Outlook {
            iops: Some(iops),
            concurrency: n,
            words: format!(
                "{iops:.0} requests/s at {n} outstanding if the service time {} {}",
                if service_s > STAYS * self.service_s { "goes on growing, to" } else { "stays" },
                time(1e6 * service_s)
            ),
        }
    }

    fn throughput(&self, service_s: f64) -> Option<f64> {
        let n = f64::from(self.concurrency);
        let limits: Option<Vec<f64>> = self.devices.iter().map(|d| Some(d.ceiling.lowest()?.0)).collect();
        let limits = limits.filter(|l| !l.is_empty())?;
        let unqueued = n / (service_s + self.delay_s);
        if let Some((spread, own_queue)) = self.paths {
            let at_once = paths_at_once(&limits, n, spread, own_queue)?;
            return Some((at_once / service_s).min(unqueued));
        }
        let stations: Vec<Station> = self
            .devices
            .iter()
            .zip(&limits)
            .map(|(device, servers)| Station {
                demand_s: device.share * service_s,
                servers: servers.max(1.0),
            })
            .collect();
        throughput(self.concurrency, self.delay_s, &stations).map(|x| x.min(unqueued))
    }
}

/// I/Os at the devices below a multipath device whose paths take `limits`, with `n` outstanding. Seen in kernels 6.1
/// and 6.12 with one path of depth 4 and one of 16:
///
/// * With a queue of its own (request-based) the selector is asked again while a path refuses. Taking turns then fills
///   all paths; balancing insists on the emptiest path, which is the shallow one as soon as it is full.
/// * Without one (bio-based) each I/O is given to a path for good. Taking turns gives all paths the same throughput,
///   which is the shallow one's; balancing keeps the same number standing in each.
pub fn paths_at_once(limits: &[f64], n: f64, spread: Spread, own_queue: bool) -> Option<f64> {
    let sum: f64 = limits.iter().sum();
    let least = limits.iter().copied().fold(f64::INFINITY, f64::min);
    let even = limits.iter().all(|l| (l - least).abs() < 0.5);
    let each = n / limits.len().max(1) as f64;
    let at_once = match (spread, own_queue) {
        _ if even => sum,
        (Spread::Turns, true) => sum,
        (Spread::Turns, false) => limits.len() as f64 * least,
        (Spread::Balanced, true) => limits.iter().map(|l| l.min(least + 1.0)).sum(),
        (Spread::Balanced, false) => limits.iter().map(|l| l.min(each)).sum(),
        (Spread::Unknown, _) => return None,
    };
    Some(at_once.min(n))
}

/// How the multipath device of the path spreads its I/Os, if there is one.
fn spread_of(case: &Case) -> Option<(Spread, bool)> {
    let multipath = case.path()?.layers.iter().find(|l| l.kind == LayerKind::Multipath)?;
    let fact = |name: &str| multipath.facts.iter().find(|(n, _)| n == name).map(|(_, v)| v.as_str());
    let spread = match fact("path_selector") {
        Some("round-robin") => Spread::Turns,
        Some("queue-length" | "service-time") => Spread::Balanced,
        _ => Spread::Unknown,
    };
    Some((spread, fact("queue_kind") == Some("request-based")))
}

fn shortest_response_s(points: &[Point]) -> Option<f64> {
    points.iter().filter_map(|p| p.response.mean_ns()).reduce(f64::min).map(|ns| ns / 1e9)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uneven_paths_lose_as_was_measured() {
        // One path of 4 and one of 16, 64 outstanding, 1.02 ms: measured 8.8 k, 19.5 k, 7.8 k and 19.6 k.
        let at = |spread, own_queue| paths_at_once(&[4.0, 16.0], 64.0, spread, own_queue).unwrap();
        assert_eq!(at(Spread::Balanced, true), 9.0);
        assert_eq!(at(Spread::Turns, true), 20.0);
        assert_eq!(at(Spread::Turns, false), 8.0);
        assert_eq!(at(Spread::Balanced, false), 20.0);
        // At 16 outstanding a balancing selector keeps 8 in each: 11.7 k were measured.
        assert_eq!(paths_at_once(&[4.0, 16.0], 16.0, Spread::Balanced, false), Some(12.0));
    }

    #[test]
    fn even_paths_need_no_selector_and_uneven_ones_do() {
        assert_eq!(paths_at_once(&[8.0, 8.0], 64.0, Spread::Unknown, true), Some(16.0));
        assert_eq!(paths_at_once(&[4.0, 16.0], 64.0, Spread::Unknown, true), None);
    }
}
