//! One device of a recording, concluded.

use super::cells::{Cell, Cells};
use super::curve::{CannotTell, Curve, curve, top};
use super::window::{Gatherer, Interval, Sums};
use serde::Serialize;
use std::collections::VecDeque;

/// The busiest stretch is at least this long.
const PEAK_S: f64 = 10.0;
/// 'Today' is the last day of the recording.
const DAY_S: f64 = 86_400.0;
const HOUR_S: f64 = 3600.0;
/// Neighbouring throughputs further apart than this factor have a range between them that was never visited.
const GAP: f64 = 1.5;
/// A throughput counts as visited from this time on.
const VISIT_S: f64 = 3.0;

/// The busiest ten seconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Moment {
    /// Its end, seconds since 1970.
    pub at_s: f64,
    /// Requests per second.
    pub iops: f64,
    /// MiB (2^20) per second.
    pub mib_per_s: f64,
    /// Mean size of a request, bytes.
    pub request_bytes: f64,
    /// Share of reads.
    pub read_share: f64,
    /// Mean response time, microseconds.
    pub response_us: f64,
    /// Mean I/Os inside.
    pub standing: f64,
    /// Of those, in the host queue; absent where that could not be told.
    pub host_queue: Option<f64>,
    /// Of those, at the device.
    pub device_queue: Option<f64>,
}

/// Which loads were seen.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Visited {
    /// Lowest and highest throughput, requests per second.
    pub iops: [f64; 2],
    /// Fewest and most I/Os inside.
    pub standing: [f64; 2],
    /// Throughputs between these that were never visited.
    pub gaps_iops: Vec<[f64; 2]>,
}

/// Where added I/Os stood in the upper half of the concurrencies that were seen.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Added {
    /// Share of each added I/O that stood in the host queue.
    pub host_share: f64,
    /// Share that stood at the device.
    pub device_share: f64,
}

/// What a recording says about one device.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DeviceLine {
    /// Kernel name.
    pub device: String,
    /// What a person calls it.
    pub label: Option<String>,
    /// Recorded time, seconds.
    pub recorded_s: f64,
    /// Of that, windows with enough I/Os to have a mean.
    pub loaded_s: f64,
    /// The busiest ten seconds of the last day.
    pub peak: Option<Moment>,
    /// The busiest ten seconds of all.
    pub highest: Option<Moment>,
    /// Loads that were seen; absent where there was none.
    pub visited: Option<Visited>,
    /// Throughput, response time and queues over the windows, by throughput.
    pub scatter: Vec<Cell>,
    /// The curve where the recording suffices.
    pub curve: Option<Curve>,
    /// Why there is none.
    pub cannot_tell: Option<CannotTell>,
    /// Throughput of the peak over the largest one.
    pub peak_share: Option<f64>,
    /// Where added I/Os stood; absent where host and device queue could not be told apart.
    pub added: Option<Added>,
    /// As many may be at the device, as read last.
    pub device_queue_limit: Option<f64>,
}

/// A device while its rows are read.
#[derive(Clone, Debug, Default)]
pub(crate) struct Gathered {
    pub label: Option<String>,
    pub device_queue_limit: Option<f64>,
    windows: Gatherer,
    cells: Cells,
    recorded_s: f64,
    stretch: Sums,
    /// Busiest stretch of each hour of the last day: hour and stretch.
    hours: VecDeque<(i64, Sums)>,
    highest: Option<Sums>,
}

impl Gathered {
    pub fn add(&mut self, interval: &Interval) {
        self.recorded_s += interval.length_s;
        if let Some(window) = self.windows.add(interval) {
            self.cells.add(&window);
        }
        if interval.at_s - interval.length_s - self.stretch.at_s > interval.length_s + 1.0 {
            self.stretch = Sums::default();
        }
        self.stretch.add(interval);
        if self.stretch.seconds >= PEAK_S {
            let stretch = std::mem::take(&mut self.stretch);
            self.stretch.at_s = stretch.at_s;
            if stretch.requests > 0.0 {
                self.note_peak(stretch);
            }
        }
    }

    fn note_peak(&mut self, stretch: Sums) {
        let busier = |than: &Sums| stretch.iops() > than.iops();
        if self.highest.as_ref().is_none_or(busier) {
            self.highest = Some(stretch);
        }
        let hour = (stretch.at_s / HOUR_S) as i64;
        match self.hours.back_mut() {
            Some((last, best)) if *last == hour => {
                if busier(best) {
                    *best = stretch;
                }
            }
            _ => self.hours.push_back((hour, stretch)),
        }
        let oldest = hour - (DAY_S / HOUR_S) as i64;
        while self.hours.front().is_some_and(|(h, _)| *h <= oldest) {
            self.hours.pop_front();
        }
    }

    /// What all of it says. `last_s` is the end of the recording.
    pub fn conclude(&self, device: &str, last_s: f64) -> DeviceLine {
        let cells = self.cells.sums(|_| true);
        let (curve, cannot_tell) = match curve(&self.cells) {
            Ok(curve) => (Some(curve), None),
            Err(why) => (None, Some(why)),
        };
        let today = self.hours.iter().map(|(_, s)| s).filter(|s| s.at_s > last_s - DAY_S);
        let peak = today.max_by(|a, b| a.iops().total_cmp(&b.iops())).map(moment);
        let peak_share = peak.zip(curve).map(|(peak, curve): (Moment, Curve)| peak.iops / curve.iops_max);
        DeviceLine {
            device: device.to_owned(),
            label: self.label.clone(),
            recorded_s: self.recorded_s,
            loaded_s: cells.iter().map(|c| c.seconds).sum(),
            peak,
            highest: self.highest.as_ref().map(moment),
            visited: visited(&cells),
            scatter: cells.iter().map(Cell::from).collect(),
            curve,
            cannot_tell,
            peak_share,
            added: added(&cells),
            device_queue_limit: self.device_queue_limit,
        }
    }
}

fn moment(s: &Sums) -> Moment {
    let cell = Cell::from(s);
    Moment {
        at_s: s.at_s,
        iops: cell.iops,
        mib_per_s: cell.mib_per_s,
        request_bytes: s.request_bytes(),
        read_share: s.read_share(),
        response_us: cell.response_us,
        standing: cell.standing,
        host_queue: cell.host_queue,
        device_queue: cell.device_queue,
    }
}

fn visited(cells: &[Sums]) -> Option<Visited> {
    let mut by_iops: Vec<(f64, f64)> = cells.iter().map(|c| (c.iops(), c.seconds)).collect();
    by_iops.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (first, _) = *by_iops.first()?;
    let mut gaps_iops = Vec::new();
    // Time around a throughput counts together, or a load that wanders would be all gaps.
    let (mut last, mut run_s) = (None, 0.0);
    let mut from = first;
    for (iops, seconds) in by_iops {
        if iops > from * 1.1 {
            (from, run_s) = (iops, 0.0);
        }
        run_s += seconds;
        if run_s >= VISIT_S {
            if let Some(last) = last.filter(|last| iops > GAP * *last) {
                gaps_iops.push([last, iops]);
            }
            last = Some(iops);
        }
    }
    let ends = |of: fn(&Sums) -> f64| {
        cells.iter().map(of).fold([f64::INFINITY, 0.0_f64], |[low, high], v| [low.min(v), high.max(v)])
    };
    let [lowest, _] = ends(Sums::iops);
    Some(Visited { iops: [lowest, top(cells)], standing: ends(Sums::standing), gaps_iops })
}

/// Slope of the host queue over the I/Os inside, in the upper half of these.
fn added(cells: &[Sums]) -> Option<Added> {
    let most = cells.iter().map(Sums::standing).fold(0.0, f64::max);
    let points: Vec<(f64, f64, f64)> = cells
        .iter()
        .filter(|c| c.standing() >= 0.5 * most && c.standing() >= 1.0)
        .filter_map(|c| Some((c.standing(), c.host_share()? * c.standing(), c.seconds.sqrt())))
        .collect();
    let lowest = points.iter().map(|p| p.0).fold(f64::INFINITY, f64::min);
    if points.len() < 4 || most < 1.3 * lowest {
        return None;
    }
    let host_share = stats::line::fit(&points, None)?.slope.clamp(0.0, 1.0);
    Some(Added { host_share, device_share: 1.0 - host_share })
}
