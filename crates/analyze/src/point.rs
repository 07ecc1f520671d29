//! All windows of one concurrency pooled: a point of the curve.

use crate::split::{Offered, Split, split};
use record::{
    CpuSeen, How, IoClass, IoPath, LatencyHistogram, LayerSeen, ScsiSeen, Standing, Step, TagSharing,
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A point of the curve.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Point {
    /// I/Os kept outstanding.
    pub concurrency: u32,
    /// Measured seconds, all windows together.
    pub seconds: f64,
    /// Windows pooled.
    pub windows: u32,
    /// I/Os per second.
    pub iops: f64,
    /// 95 % interval of `iops`, from slices with their autocorrelation; absent with too few slices.
    pub iops_ci95: Option<[f64; 2]>,
    /// MiB (2^20) per second.
    pub mib_per_s: f64,
    /// Response times of reads and writes together.
    #[serde(skip)]
    pub response: LatencyHistogram,
    /// Reads alone.
    #[serde(skip)]
    pub read: LatencyHistogram,
    /// Writes alone.
    #[serde(skip)]
    pub write: LatencyHistogram,
    /// Flushes alone.
    #[serde(skip)]
    pub flush: LatencyHistogram,
    /// I/Os above the block layer.
    pub above: Queue,
    /// I/Os in host queues.
    pub host_queue: Queue,
    /// I/Os at the device.
    pub device_queue: Queue,
    /// Names of the layers that count as the device.
    pub devices: Vec<String>,
    /// Layers, top first, averaged over the windows by time.
    pub layers: Vec<LayerSeen>,
    /// Processor time per I/O, user and system of the load and interrupts of its cores.
    pub cpu_us_per_io: Option<f64>,
    /// User part.
    pub cpu_user_us_per_io: Option<f64>,
    /// System part.
    pub cpu_sys_us_per_io: Option<f64>,
    /// Interrupt part, where known.
    pub cpu_irq_us_per_io: Option<f64>,
    /// Share of a core used by the busiest load thread.
    pub busiest_worker: Option<f64>,
    /// Share of time that the busiest core of the workers did work, interrupts included.
    pub busiest_core: Option<f64>,
    /// Cores that the load was seen on.
    pub cores: Option<u32>,
    /// Share of the window that the worst load thread was ready to run and had no core.
    pub worker_run_delay: Option<f64>,
    /// I/Os per second that one core carries.
    pub iops_per_core: Option<f64>,
    /// Failed I/Os.
    pub errors: u64,
    /// The longest that any I/O took, those that came back after their window included; absent without I/Os.
    #[serde(default)]
    pub slowest_us: Option<f64>,
    /// Throughput of each slice in order, for the time course: (seconds since the run began, IOPS).
    pub course: Vec<(f64, f64)>,
}

/// A mean number of I/Os and its bounds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Queue {
    /// Best value, absent when only the bound is known.
    pub mean: Option<f64>,
    /// At least.
    pub low: f64,
    /// At most.
    pub high: f64,
}

impl Point {
    /// Takes the latencies of this concurrency from `steps`: they are not part of a stored point.
    pub fn take_latencies(&mut self, steps: &[Step]) {
        let windows: Vec<&Step> =
            steps.iter().filter(|s| s.concurrency() == Some(self.concurrency)).collect();
        (self.read, self.write, self.flush) = (
            merged(&windows, IoClass::Read),
            merged(&windows, IoClass::Write),
            merged(&windows, IoClass::Flush),
        );
        self.response = self.read.clone();
        self.response.merge(&self.write);
    }
}

fn merged(windows: &[&Step], class: IoClass) -> LatencyHistogram {
    let mut whole = LatencyHistogram::new();
    windows.iter().for_each(|s| whole.merge(&s.latency(class)));
    whole
}

/// Pools all closed-loop windows of one concurrency into points, ascending. Windows that measured nothing are left out,
/// and so are those of another path than the last: see [`crate::regime`].
pub fn points(steps: &[Step], path: Option<&IoPath>) -> Vec<Point> {
    let mut by_concurrency: BTreeMap<u32, Vec<&Step>> = BTreeMap::new();
    let clean = crate::regime::clean(steps);
    let none_clean = !steps.iter().zip(&clean).any(|(s, clean)| *clean && s.ios() > 0);
    let kept = steps.iter().zip(clean).filter(|(_, clean)| *clean || none_clean).map(|(s, _)| s);
    for step in kept.filter(|s| s.measured_s > 0.0 && s.ios() + s.errors() > 0) {
        if let Some(concurrency) = step.concurrency() {
            by_concurrency.entry(concurrency).or_default().push(step);
        }
    }
    by_concurrency.into_iter().map(|(concurrency, windows)| pool(concurrency, &windows, path)).collect()
}

fn pool(concurrency: u32, windows: &[&Step], path: Option<&IoPath>) -> Point {
    let seconds: f64 = windows.iter().map(|s| s.measured_s).sum();
    let ios: u64 = windows.iter().map(|s| s.ios()).sum();
    let (read, write, flush) =
        (merged(windows, IoClass::Read), merged(windows, IoClass::Write), merged(windows, IoClass::Flush));
    let mut response = read.clone();
    response.merge(&write);
    let rates: Vec<f64> = windows.iter().flat_map(|s| full_slices(s)).map(|(_, iops)| iops).collect();
    let splits: Vec<(f64, Split)> =
        windows.iter().filter_map(|s| Some((s.measured_s, split_of(s, path?)?))).collect();
    let cpu = |read: fn(&CpuSeen) -> f64| {
        weighted(windows.iter().filter_map(|s| Some((s.ios() as f64, read(s.cpu.as_ref()?)))))
    };
    let irq = weighted(windows.iter().filter_map(|s| Some((s.ios() as f64, s.cpu.as_ref()?.irq_us_per_io?))));
    let (user, sys) = (cpu(|c| c.user_us_per_io), cpu(|c| c.sys_us_per_io));
    Point {
        concurrency,
        seconds,
        windows: windows.len() as u32,
        iops: ios as f64 / seconds,
        iops_ci95: stats::series::mean_interval(&rates, 0.95).map(|ci| ci.interval),
        mib_per_s: windows.iter().map(|s| s.mib_per_s() * s.measured_s).sum::<f64>() / seconds,
        above: mean_queue(&splits, |s| s.above),
        host_queue: mean_queue(&splits, |s| s.host_queue),
        device_queue: mean_queue(&splits, |s| s.device_queue),
        devices: splits.first().map(|(_, s)| s.devices.clone()).unwrap_or_default(),
        layers: mean_layers(windows),
        cpu_us_per_io: user.zip(sys).map(|(u, s)| u + s + irq.unwrap_or(0.0)),
        cpu_user_us_per_io: user,
        cpu_sys_us_per_io: sys,
        cpu_irq_us_per_io: irq,
        busiest_worker: weighted(
            windows.iter().filter_map(|s| Some((s.measured_s, s.cpu.as_ref()?.busiest_worker))),
        ),
        busiest_core: busiest_core(windows),
        cores: windows.iter().filter_map(|s| Some(s.cpu.as_ref()?.cores.len() as u32)).max(),
        worker_run_delay: weighted(
            windows.iter().filter_map(|s| Some((s.measured_s, s.host.as_ref()?.worker_run_delay?))),
        ),
        iops_per_core: user.zip(sys).map(|(u, s)| 1e6 / (u + s + irq.unwrap_or(0.0)).max(1e-6)),
        errors: windows.iter().map(|s| s.errors()).sum(),
        slowest_us: windows.iter().filter_map(|s| s.incidents.slowest_us).reduce(f64::max),
        course: windows
            .iter()
            .flat_map(|s| {
                s.slices.iter().map(|sl| (s.start_s + sl.start_s, sl.ios() as f64 / sl.length_s.max(1e-9)))
            })
            .collect(),
        response,
        read,
        write,
        flush,
    }
}

/// Start and rate of slices that are whole: the shorter last one would be noisier than its fellows.
fn full_slices(step: &Step) -> impl Iterator<Item = (f64, f64)> + '_ {
    let shortest = 0.5 * record::step::SLICE_S;
    step.slices
        .iter()
        .filter(move |s| s.length_s >= shortest)
        .map(|s| (step.start_s + s.start_s, s.ios() as f64 / s.length_s))
}

fn split_of(step: &Step, path: &IoPath) -> Option<Split> {
    let offered = Offered {
        outstanding: step.outstanding_mean().unwrap_or(0.0),
        mib_per_s: step.mib_per_s(),
        unserved: step.unserved() as f64 * step.starved.mean_s() / step.measured_s.max(1e-9),
    };
    (!step.layers.is_empty()).then(|| split(path, &step.layers, offered))
}

/// Mean weighted by the first figure; absent when there is nothing.
fn weighted(pairs: impl Iterator<Item = (f64, f64)>) -> Option<f64> {
    let (weight, total) = pairs.fold((0.0, 0.0), |(w, t), (weight, value)| (w + weight, t + weight * value));
    (weight > 0.0).then(|| total / weight)
}

fn mean_queue(splits: &[(f64, Split)], of: impl Fn(&Split) -> Queue) -> Queue {
    let part = |read: fn(&Queue) -> f64| weighted(splits.iter().map(|(w, s)| (*w, read(&of(s)))));
    let known = !splits.is_empty() && splits.iter().all(|(_, s)| of(s).mean.is_some());
    Queue {
        mean: if known { part(|q| q.mean.unwrap_or(0.0)) } else { None },
        low: part(|q| q.low).unwrap_or(0.0),
        high: part(|q| q.high).unwrap_or(0.0),
    }
}

fn busiest_core(windows: &[&Step]) -> Option<f64> {
    let cores = windows.iter().filter_map(|s| {
        let busiest = s.cpu.as_ref()?.cores.iter().map(record::CoreSeen::busy).reduce(f64::max)?;
        Some((s.measured_s, busiest))
    });
    weighted(cores)
}

/// Layers of the windows averaged by time; limits keep their extremes.
fn mean_layers(windows: &[&Step]) -> Vec<LayerSeen> {
    let Some(first) = windows.iter().find(|s| !s.layers.is_empty()) else { return Vec::new() };
    first
        .layers
        .iter()
        .map(|pattern| {
            let all: Vec<(f64, &LayerSeen)> = windows
                .iter()
                .filter_map(|s| Some((s.measured_s, s.layers.iter().find(|l| l.name == pattern.name)?)))
                .collect();
            mean_layer(pattern, &all)
        })
        .collect()
}

fn mean_layer(pattern: &LayerSeen, all: &[(f64, &LayerSeen)]) -> LayerSeen {
    let mean = |read: fn(&LayerSeen) -> f64| weighted(all.iter().map(|(w, l)| (*w, read(l)))).unwrap_or(0.0);
    let known =
        |read: fn(&LayerSeen) -> Option<f64>| weighted(all.iter().filter_map(|(w, l)| Some((*w, read(l)?))));
    // Times are per request, so a window counts by its requests, not by its length.
    let per_request = |read: fn(&LayerSeen) -> Option<f64>| {
        weighted(all.iter().filter_map(|(w, l)| Some((w * l.requests_per_s, read(l)?))))
    };
    let range = all
        .iter()
        .filter_map(|(_, l)| l.device_queue_limit_range)
        .reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)));
    LayerSeen {
        name: pattern.name.clone(),
        requests_per_s: mean(|l| l.requests_per_s),
        mib_per_s: mean(|l| l.mib_per_s),
        request_bytes_mean: per_request(|l| l.request_bytes_mean),
        merges_per_s: mean(|l| l.merges_per_s),
        inside: mean_standing(all, |l| &l.inside),
        host_queue: mean_standing(all, |l| &l.host_queue),
        device_queue: mean_standing(all, |l| &l.device_queue),
        device_queue_peak: all.iter().filter_map(|(_, l)| l.device_queue_peak).reduce(f64::max),
        response_us: per_request(|l| l.response_us),
        host_wait_us: per_request(|l| l.host_wait_us),
        service_us: per_request(|l| l.service_us),
        device_queue_limit: known(|l| l.device_queue_limit),
        device_queue_limit_range: range,
        little_error: known(|l| l.little_error),
        scsi: sum_scsi(all),
        tag_sharing: all_sharing(all),
    }
}

fn mean_standing(all: &[(f64, &LayerSeen)], of: fn(&LayerSeen) -> &Standing) -> Standing {
    let mean =
        |read: fn(&Standing) -> f64| weighted(all.iter().map(|(w, l)| (*w, read(of(l))))).unwrap_or(0.0);
    let known = all.iter().all(|(_, l)| of(l).mean.is_some());
    let how = all.iter().map(|(_, l)| of(l).how.clone()).next_back();
    Standing {
        mean: known.then(|| mean(|s| s.mean.unwrap_or(0.0))),
        low: mean(|s| s.low),
        high: mean(|s| s.high),
        how: how.unwrap_or(How::Bounded { why: "not seen".to_owned() }),
    }
}

/// Whoever shared in any of the windows.
fn all_sharing(all: &[(f64, &LayerSeen)]) -> Option<TagSharing> {
    all.iter().filter_map(|(_, l)| l.tag_sharing.clone()).reduce(|mut a, b| {
        a.siblings = a.siblings.max(b.siblings);
        a.counted = a.counted.max(b.counted);
        let new: Vec<String> = b.active.into_iter().filter(|name| !a.active.contains(name)).collect();
        a.active.extend(new);
        a
    })
}

fn sum_scsi(all: &[(f64, &LayerSeen)]) -> Option<ScsiSeen> {
    all.iter().filter_map(|(_, l)| l.scsi).reduce(|a, b| ScsiSeen {
        requested: a.requested + b.requested,
        done: a.done + b.done,
        errors: a.errors + b.errors,
        timeouts: a.timeouts.zip(b.timeouts).map(|(x, y)| x + y),
    })
}
