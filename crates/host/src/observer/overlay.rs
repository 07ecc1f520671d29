//! What the tracer saw of a device, laid over what its counters say.

use crate::trace::{Class, ClassWindow, DeviceWindow, Lost, ScsiCounts, TraceWindow};
use record::{DeviceSample, LostEvents, QueueSample, ScsiAnswers, SplitBy, TracedClass, TracedDevice};
use std::collections::HashMap;
use std::sync::Arc;

/// Where more than this share of the requests carried no times, or was not seen at all, the counters are the better
/// witness of the split.
const UNSEEN_MAX: f64 = 0.05;

/// Requests that may complete between the end of the counters' interval and that of the tracer's.
const EDGE: u64 = 64;

/// A window with its devices by name, and nothing looked for twice.
pub(crate) struct Overlay<'w> {
    devices: HashMap<&'w str, &'w DeviceWindow>,
    scsi: Option<HashMap<&'w str, ScsiAnswers>>,
    /// What devices share of which nothing was seen: any device, and SCSI disks.
    nothing: [Arc<TracedDevice>; 2],
}

impl<'w> Overlay<'w> {
    pub(crate) fn new(window: &'w TraceWindow) -> Self {
        let scsi = window
            .scsi
            .as_ref()
            .map(|all| all.iter().filter_map(|w| Some((w.device.as_deref()?, answers(&w.counts)))).collect());
        let good =
            TracedDevice { scsi: scsi.as_ref().map(|_| ScsiAnswers::default()), ..TracedDevice::default() };
        let nothing = [Arc::default(), Arc::new(good)];
        Self { devices: window.devices.iter().map(|d| (d.name.as_str(), d)).collect(), scsi, nothing }
    }

    /// Lays what was seen over the sample of a device with a host queue of its own. `name` as in sysfs; `lun`: whether
    /// it is a SCSI disk.
    pub(crate) fn lay(&self, name: &str, lun: bool, sample: &mut DeviceSample) {
        let seen = self.devices.get(name).copied();
        let scsi = self.scsi.as_ref().filter(|_| lun).map(|s| s.get(name).copied().unwrap_or_default());
        if let Some(scsi) = scsi {
            sample.task_set_full = Some(scsi.task_set_full);
            sample.failed = Some(scsi.failed());
            sample.timed_out = Some(scsi.timeouts);
        }
        if !sample.is_counted() {
            return;
        }
        let traced = match seen.map(device) {
            None if scsi.is_none_or(|s| s == ScsiAnswers::default()) => {
                Arc::clone(&self.nothing[usize::from(lun)])
            }
            traced => Arc::new(TracedDevice { scsi, ..traced.unwrap_or_default() }),
        };
        let agrees = agrees(&traced, sample);
        let (host, at_device) = (traced.host_queue(), traced.device_queue());
        sample.traced = Some(traced);
        if !agrees || sample.split_by == SplitBy::Idle {
            return;
        }
        // Instants are read now and then: a largest one below the mean says nothing.
        let with_peak = |mean: f64, peak: Option<f64>| QueueSample {
            peak: peak.filter(|p| *p >= mean),
            ..QueueSample::known(mean)
        };
        sample.host_queue = with_peak(host, sample.host_queue.peak);
        sample.device_queue = with_peak(at_device, sample.device_queue.peak);
        sample.inside = with_peak(host + at_device, sample.inside.peak);
        sample.split_by = SplitBy::Traced;
    }
}

/// Whether the tracer saw and timed what the counters counted; a remark where it did not.
fn agrees(traced: &TracedDevice, sample: &mut DeviceSample) -> bool {
    let classes = [&traced.read, &traced.write, &traced.discard, &traced.flush];
    let seen: u64 = classes.iter().filter_map(|c| c.as_ref()).map(|c| c.ios).sum();
    let untimed: u64 = classes.iter().filter_map(|c| c.as_ref()).map(|c| c.untimed).sum();
    let counted = sample.requests();
    let unseen = counted.saturating_sub(seen.saturating_add(EDGE)) + untimed;
    if unseen as f64 <= UNSEEN_MAX * counted.max(seen) as f64 {
        return true;
    }
    sample.remarks.push(format!(
        "the tracer timed {} of {counted} I/Os: the queues are those of the counters",
        seen.saturating_sub(untimed)
    ));
    false
}

fn device(seen: &DeviceWindow) -> TracedDevice {
    let of = |which| seen.class(which).map(class);
    TracedDevice {
        read: of(Class::Read),
        write: of(Class::Write),
        discard: of(Class::Discard),
        flush: of(Class::Flush),
        other: of(Class::Other),
        requeues: seen.requeues,
        splits: seen.splits,
        front_merges: seen.front_merges,
        back_merges: seen.back_merges,
        scsi: None,
    }
}

fn class(seen: &ClassWindow) -> TracedClass {
    TracedClass {
        ios: seen.ios,
        bytes: seen.bytes,
        errors: seen.errors,
        untimed: seen.untimed,
        host_queue: seen.host_queue,
        device_queue: seen.device_queue,
        host_wait: seen.host_wait.clone(),
        service: seen.service.clone(),
        sizes: seen.sizes,
        oldest_in_flight_s: seen.oldest_in_flight_ns.map(|ns| ns as f64 / 1e9),
    }
}

fn answers(counts: &ScsiCounts) -> ScsiAnswers {
    ScsiAnswers {
        task_set_full: counts.task_set_full,
        busy: counts.busy,
        check_condition: counts.check_condition,
        other_status: counts.other_status,
        host_error: counts.host_error,
        refused_host_busy: counts.refused_host_busy,
        refused_device_busy: counts.refused_device_busy,
        refused_other: counts.refused_other,
        timeouts: counts.timeouts,
    }
}

pub(super) fn lost(lost: &Lost) -> LostEvents {
    LostEvents {
        ios_of_unfollowed_devices: lost.ios_of_unfollowed_devices,
        completions: lost.completions,
        in_flight: lost.in_flight,
        askers: lost.asked,
        scsi: lost.scsi,
        counts: lost.counts,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::{ClassTotals, Counted, DeviceFacts, LatencyHistogram, LayerKind};

    fn sample(reads: u64) -> DeviceSample {
        let mut sample = DeviceSample::empty(Arc::new(DeviceFacts {
            name: "sda".to_owned(),
            kind: LayerKind::Scsi,
            label: None,
            disk: None,
            below: Vec::new(),
            above: Vec::new(),
            scheduler: None,
        }));
        (sample.counted, sample.length_s) = (Counted::Yes, 1.0);
        sample.read = ClassTotals { count: reads, ..ClassTotals::default() };
        sample.split_by = if reads > 0 { SplitBy::Bounds } else { SplitBy::Idle };
        sample.device_queue = QueueSample { peak: Some(8.0), ..QueueSample::between(0.0, 32.0) };
        sample.host_queue = QueueSample { peak: Some(1.0), ..QueueSample::between(0.0, 32.0) };
        sample
    }

    fn window(ios: u64, untimed: u64, scsi: Option<ScsiCounts>) -> TraceWindow {
        let mut host_wait = LatencyHistogram::new();
        host_wait.record_many_ns(4_000_000, ios - untimed);
        let class = ClassWindow {
            class: Class::Read,
            ios,
            bytes: ios * 4096,
            errors: 0,
            untimed,
            service: host_wait.clone(),
            host_wait,
            sizes: [0; 16],
            host_queue: 2.0,
            device_queue: 6.0,
            host_queue_at_end: 0,
            device_queue_at_end: 0,
            oldest_in_flight_ns: None,
        };
        let device = DeviceWindow {
            name: "sda".to_owned(),
            device_number: (8, 0),
            classes: vec![class],
            requeues: 5,
            splits: 0,
            front_merges: 0,
            back_merges: 0,
            flush_waits: 0,
        };
        let answers = |counts| crate::trace::ScsiWindow {
            address: "0:0:0:0".to_owned(),
            device: Some("sda".to_owned()),
            counts,
        };
        TraceWindow {
            start_monotonic_ns: 0,
            end_monotonic_ns: 1_000_000_000,
            devices: if ios > 0 { vec![device] } else { Vec::new() },
            scsi: Some(scsi.map(answers).into_iter().collect()),
            askers: None,
            bios_of_others: 0,
            lost: Lost::default(),
        }
    }

    #[test]
    fn what_every_request_told_replaces_bounds() {
        let mut sample = sample(1000);
        let full = ScsiCounts { task_set_full: 3, busy: 1, ..ScsiCounts::default() };
        Overlay::new(&window(1000, 0, Some(full))).lay("sda", true, &mut sample);
        assert_eq!(sample.split_by, SplitBy::Traced);
        assert_eq!((sample.host_queue.mean, sample.device_queue.mean), (Some(2.0), Some(6.0)));
        assert_eq!((sample.host_queue.peak, sample.device_queue.peak), (None, Some(8.0)));
        assert_eq!((sample.task_set_full, sample.failed), (Some(3), Some(4)));
        assert_eq!(sample.host_wait_us(), Some(4000.0));
        assert!(sample.remarks.is_empty());
    }

    #[test]
    fn a_disk_of_which_nothing_was_seen_has_no_failures_and_others_know_of_none() {
        let mut lun = sample(0);
        Overlay::new(&window(0, 0, None)).lay("sda", true, &mut lun);
        assert_eq!((lun.task_set_full, lun.failed, lun.split_by), (Some(0), Some(0), SplitBy::Idle));
        assert_eq!(lun.traced.unwrap().scsi, Some(ScsiAnswers::default()));
        let mut disk = sample(0);
        Overlay::new(&window(0, 0, None)).lay("vda", false, &mut disk);
        assert_eq!((disk.task_set_full, disk.failed), (None, None));
        assert_eq!(disk.traced.unwrap().scsi, None);
    }

    #[test]
    fn where_the_tracer_missed_too_much_the_counters_stand() {
        for (seen, untimed, counted, trusted) in
            [(1000, 49, 1000, true), (1000, 60, 1000, false), (900, 0, 1000, true), (1000, 0, 2000, false)]
        {
            let mut sample = sample(counted);
            Overlay::new(&window(seen, untimed, None)).lay("sda", true, &mut sample);
            assert_eq!(sample.split_by == SplitBy::Traced, trusted, "{seen} {untimed} {counted}");
            assert_eq!(sample.remarks.is_empty(), trusted);
        }
    }
}
