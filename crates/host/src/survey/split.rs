//! From two readings of the counters of a device, and the instants in between, to where its I/Os stood.

use super::closely::Closely;
use super::device::Device;
use crate::sample::layer::Observation;
use crate::sample::sampler::Instants;
use crate::sample::sources::{QueueKind, Source};
use crate::sample::stat::wrapping_delta;
use record::{ClassTotals, Counted, DeviceSample, How, QueueSample, SplitBy, Standing};

/// Most I/Os that can honestly be outstanding on one device: a bound against counters that were reset.
const OUTSTANDING_MAX: f64 = 1e6;

/// Most I/Os per second that one device can honestly complete.
const IOPS_MAX: f64 = 1e9;

/// I/Os in flight at the ends of an interval are counted whole where they complete. Where that may move the number
/// inside by more than this share, readings at instants are the better mean.
const EDGE_SHARE: f64 = 0.02;

/// Fewest readings that replace the durations.
const READINGS_MIN: u64 = 20;

/// Share of readings at the limit from which submitters must have waited for a free request.
const EXHAUSTED_SHARE: f64 = 0.05;

/// Fills the sample of one device. Nothing is allocated for devices that are not followed closely.
pub(crate) fn fill(device: &Device, closely: &Closely, length_s: f64, sample: &mut DeviceSample) {
    sample.length_s = length_s;
    sample.in_flight = device.now.in_flight();
    sample.ever_used = device.now.completed() > 0 || sample.in_flight > 0;
    sample.remarks.clear();
    sample.task_set_full = None;
    sample.traced = None;
    sample.counted = match device.has_before {
        _ if device.look.off => Counted::Off,
        false => Counted::Appeared,
        true if totals(device, length_s, sample).is_some() => Counted::Yes,
        true => Counted::Reset,
    };
    if sample.counted != Counted::Yes {
        blank(sample);
        return;
    }
    if sample.requests() == 0 && device.before.in_flight() == 0 && sample.in_flight == 0 {
        let nothing = QueueSample { peak: None, ..QueueSample::known(0.0) };
        (sample.inside, sample.host_queue, sample.device_queue) = (nothing, nothing, nothing);
        sample.split_by = SplitBy::Idle;
        return;
    }
    sample.inside = inside(device, closely.counts_accepted(), sample);
    if !device.splits() {
        // What it accepts it passes on at once; what that is in the devices below is filled in when these are known.
        sample.host_queue = QueueSample::known(0.0);
        sample.device_queue = sample.inside;
        sample.split_by = SplitBy::Passed;
        return;
    }
    match device.followed.and_then(|f| closely.seen(f)) {
        Some((source, instants)) => followed(device, source, instants, closely.counts_accepted(), sample),
        None => bounded(device, closely.counts_accepted(), sample),
    }
}

fn blank(sample: &mut DeviceSample) {
    let nothing = ClassTotals::default();
    (sample.read, sample.write) = (nothing, nothing);
    (sample.discard, sample.flush) = (None, None);
    let unknown = QueueSample::between(0.0, f64::INFINITY);
    (sample.inside, sample.host_queue, sample.device_queue) = (unknown, unknown, unknown);
    sample.split_by = SplitBy::Unknown;
    sample.busy = 0.0;
}

/// Differences of the counters; `None` when one went back in a way that no wrap explains.
fn totals(device: &Device, length_s: f64, sample: &mut DeviceSample) -> Option<()> {
    let (before, now) = (&device.before, &device.now);
    sample.read = class(before.read(), now.read(), length_s)?;
    sample.write = class(before.write(), now.write(), length_s)?;
    sample.discard = match before.discard().zip(now.discard()) {
        Some((before, now)) => Some(class(before, now, length_s)?),
        None => None,
    };
    sample.flush = match before.flush().zip(now.flush()) {
        Some((before, now)) => Some(class(before, now, length_s)?),
        None => None,
    };
    let busy_ms = wrapping_delta(before.busy_ms(), now.busy_ms(), f64::INFINITY)?;
    sample.busy = if length_s > 0.0 { (busy_ms as f64 / 1e3 / length_s).min(1.0) } else { 0.0 };
    Some(())
}

fn class(before: [u64; 4], now: [u64; 4], length_s: f64) -> Option<ClassTotals> {
    if before == now {
        return Some(ClassTotals::default());
    }
    let counts = (length_s + 1.0) * IOPS_MAX;
    Some(ClassTotals {
        count: wrapping_delta(before[0], now[0], counts)?,
        merges: wrapping_delta(before[1], now[1], counts)?,
        bytes: wrapping_delta(before[2], now[2], counts * 1e3)?.checked_mul(512)?,
        time_s: wrapping_delta(before[3], now[3], (length_s + 1.0) * 1e3 * OUTSTANDING_MAX)? as f64 / 1e3,
    })
}

/// Time spent by all requests that completed, over the length of the interval; and bounds.
fn inside(device: &Device, counts_accepted: bool, sample: &DeviceSample) -> QueueSample {
    let length_s = sample.length_s.max(1e-9);
    let (first, last) = (device.before.in_flight() as f64, device.now.in_flight() as f64);
    let requests = sample.requests();
    if requests == 0 {
        // Nothing completed, so the number can only have grown: whatever it was in between lies between the ends.
        let grown = QueueSample::between(first.min(last), last.max(first));
        return match counts_accepted || !device.splits() {
            true if first == last => QueueSample::known(first),
            true => grown,
            false => QueueSample { high: f64::INFINITY, ..grown },
        };
    }
    let others = [sample.discard, sample.flush].into_iter().flatten().map(|c| c.time_s).sum::<f64>();
    let time_s = sample.ios().time_s + others;
    let mean = time_s / length_s;
    let error = first.max(last) * time_s / requests as f64 / length_s + 4e-3 / length_s;
    QueueSample { mean: Some(mean), low: (mean - error).max(0.0), high: mean + error, peak: None }
}

/// A device with a host queue whose instants were not read: what its limits alone say.
fn bounded(device: &Device, counts_accepted: bool, sample: &mut DeviceSample) {
    let inside = sample.inside;
    if device.unscheduled() && !device.place.lun {
        // Nothing can hold a request back between its driver tag and the driver.
        sample.device_queue = inside;
        sample.host_queue = QueueSample::known(0.0);
        sample.split_by = SplitBy::Passed;
        return;
    }
    let most = sample.limits.device_queue.unwrap_or(f64::INFINITY).min(inside.high);
    // On older kernels the in-flight field counts only what was sent; both ends bound nothing in between.
    let least = if sample.requests() == 0 && !counts_accepted { inside.low } else { 0.0 };
    sample.device_queue = QueueSample::between(least, most);
    sample.host_queue = QueueSample::between((inside.low - most).max(0.0), inside.high);
    sample.split_by = SplitBy::Bounds;
}

/// A device whose instants were read.
fn followed(
    device: &Device,
    source: &Source,
    instants: &Instants,
    counts_accepted: bool,
    sample: &mut DeviceSample,
) {
    let limits = &instants.bounds;
    sample.limits.device_queue = limits.device.or(sample.limits.device_queue);
    if source.lun_depth.is_some() {
        sample.limits.queue_depth = limits.device.or(sample.limits.queue_depth);
        let highest = sample.limits.queue_depth_highest.unwrap_or(0.0);
        sample.limits.queue_depth_highest = Some(highest.max(instants.device_limit.max));
    }
    let observed = Observation {
        name: "",
        kind: QueueKind::RequestBased,
        stat_file: "/proc/diskstats",
        sent_file: String::new(),
        length_s: sample.length_s,
        before: device.before.block_stat(),
        after: device.now.block_stat(),
        scsi: None,
        instants,
        unscheduled: device.unscheduled(),
        counts_accepted,
        lun: source.lun_depth.is_some(),
        outstanding: None,
    }
    .seen();
    let Some(seen) = observed.map(|s| s.layer) else { return bounded(device, counts_accepted, sample) };
    if by_readings(device, instants, counts_accepted, sample) {
        sample.split_by = SplitBy::Readings;
    } else {
        (sample.host_queue, sample.device_queue) = (queue(&seen.host_queue), queue(&seen.device_queue));
        sample.split_by = match (&seen.device_queue.how, seen.device_queue.mean) {
            (_, None) => SplitBy::Bounds,
            (How::Derived { .. }, _) => SplitBy::Passed,
            _ => SplitBy::Readings,
        };
    }
    sample.device_queue.peak = seen.device_queue_peak;
    sample.host_queue.peak = counts_accepted.then_some(instants.host_peak);
    sample.inside.peak = (counts_accepted && instants.inside.count > 0).then_some(instants.inside.max);
    exhausted(instants, sample);
}

/// I/Os that last long beside the interval, or do not end at all: durations are added where they end, so readings
/// say better how many stood there. They are fair, since nothing that lasts long hangs together with the instants.
fn by_readings(
    device: &Device,
    instants: &Instants,
    counts_accepted: bool,
    sample: &mut DeviceSample,
) -> bool {
    let readings = &instants.inside;
    let whole = counts_accepted || (device.unscheduled() && !device.place.lun);
    let inside = sample.inside;
    let error = inside.mean.map_or(f64::INFINITY, |mean| inside.high - mean);
    let hangs = sample.requests() == 0;
    let long = hangs || (error > EDGE_SHARE * readings.mean.max(0.1) && readings.mean > 0.1);
    if !whole || !long || readings.count < READINGS_MIN || instants.pair.count < READINGS_MIN {
        return false;
    }
    let period_s = sample.length_s / readings.count as f64;
    let spread = 2.0 * readings.standard_error(period_s, sample.length_s / 4.0);
    let around = |mean: f64| QueueSample {
        mean: Some(mean),
        low: (mean - spread).max(0.0),
        high: mean + spread,
        peak: None,
    };
    sample.inside = around(readings.mean);
    let gap = instants.pair.gap_mean().max(0.0);
    sample.host_queue = around(gap);
    sample.device_queue = around((readings.mean - gap).max(0.0));
    true
}

fn queue(standing: &Standing) -> QueueSample {
    QueueSample { mean: standing.mean, low: standing.low, high: standing.high, peak: None }
}

/// Requests that wait for a tag are in no counter of the device.
fn exhausted(instants: &Instants, sample: &mut DeviceSample) {
    let share = instants.at_accepted as f64 / instants.inside.count.max(1) as f64;
    let Some(accepted) = instants.bounds.accepted.filter(|_| share >= EXHAUSTED_SHARE) else { return };
    sample.remarks.push(format!(
        "all {accepted:.0} requests that may be accepted were taken in {:.0} % of the readings: more I/Os may wait above, \
         where no counter looks",
        100.0 * share
    ));
}

/// Devices that pass I/Os on: their queues are those of the devices below, in proportion.
pub(crate) fn fill_stacked(devices: &[Device], samples: &mut [DeviceSample], order: &[usize]) {
    for &place in order {
        let below = &devices[place].below;
        let sum = |of: &dyn Fn(&DeviceSample) -> Option<f64>| {
            below.iter().map(|b| of(&samples[*b])).try_fold(0.0, |sum, part| Some(sum + part?))
        };
        let limit = sum(&|s| s.limits.device_queue);
        let inside = sum(&|s| s.inside.mean);
        let host = sum(&|s| s.host_queue.mean);
        let partition = devices[place].place.disk.is_some();
        let sample = &mut samples[place];
        if sample.limits.device_queue.is_none() && !partition {
            sample.limits.device_queue = limit;
        }
        if sample.split_by != SplitBy::Passed || below.is_empty() {
            continue;
        }
        let own = sample.inside;
        let share = inside.zip(host).filter(|(inside, _)| *inside > 0.0).map(|(inside, host)| host / inside);
        if let Some(share) = share.map(|s| s.clamp(0.0, 1.0)) {
            let part = |share: f64| QueueSample {
                mean: own.mean.map(|m| m * share),
                low: own.low * share,
                high: own.high * share,
                peak: None,
            };
            (sample.host_queue, sample.device_queue) = (part(share), part(1.0 - share));
            sample.split_by = SplitBy::Below;
        } else if own.mean.is_none_or(|m| m > 0.0) {
            let most = sample.limits.device_queue.unwrap_or(f64::INFINITY).min(own.high);
            sample.device_queue = QueueSample::between(0.0, most);
            sample.host_queue = QueueSample::between((own.low - most).max(0.0), own.high);
            sample.split_by = SplitBy::Bounds;
        }
    }
}
