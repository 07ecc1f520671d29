//! Each signature, from figures whose cause is known.
#![allow(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

mod support;

use analyze::{BoundBy, BoundLayer, Case, bound_by, points};
use record::{IoPath, LatencyLimit, LayerKind, LimitKind, Step, SubjectFacts};
use support::*;

const DEPTHS: [u32; 8] = [1, 2, 4, 8, 16, 32, 64, 128];

fn judge(steps: &[Step], subject: &SubjectFacts, limit: &str) -> BoundBy {
    let limit: LatencyLimit = limit.parse().unwrap();
    let points = points(steps, subject.path.as_ref());
    bound_by(&Case::new(&points, subject, &limit))
}

/// A closed station: `slots` served at once in `service_s` each, seen through a one-disk path.
fn station(
    path: &IoPath,
    slots: f64,
    service_s: f64,
    limit: Option<f64>,
    hold: impl Fn(f64) -> (f64, f64),
) -> Vec<Step> {
    DEPTHS
        .iter()
        .map(|&n| {
            let iops = f64::from(n).min(slots) / service_s;
            let (host, device) = hold(f64::from(n));
            step(
                n,
                iops,
                0.2,
                vec![layer_seen(&path.leaves().next().unwrap().name, iops, host, device, limit)],
            )
        })
        .collect()
}

#[test]
fn a_full_lun_queue_names_queue_depth_and_what_twice_as_much_would_give() {
    let path = path(vec![scsi("sda", 16.0, 256.0, "mq-deadline")]);
    let steps = station(&path, 16.0, 0.001, Some(16.0), |n| ((n - 16.0).max(0.0), n.min(16.0)));
    let verdict = judge(&steps, &subject(path), "p99<10ms");
    assert_eq!(verdict.layer, BoundLayer::DeviceQueueLimit, "{verdict:?}");
    let advice = &verdict.advice[0];
    assert_eq!(advice.file.as_deref(), Some("/sys/block/sda/device/queue_depth"));
    assert_eq!((advice.now.as_deref(), advice.try_value.as_deref()), (Some("16"), Some("32")));
    assert!(advice.expected.as_deref().unwrap().starts_with("32000 requests/s"), "{advice:?}");
}

#[test]
fn taken_requests_with_room_at_the_device_are_the_host_queue() {
    let path = path(vec![scsi("sda", 64.0, 8.0, "mq-deadline")]);
    // Eight are let in and all go to the device; the others wait for a request, where no counter looks.
    let steps = station(&path, 8.0, 0.001, Some(64.0), |n| (0.0, n.min(8.0)));
    let verdict = judge(&steps, &subject(path), "p99<10ms");
    assert_eq!(verdict.layer, BoundLayer::HostQueue, "{verdict:?}");
    assert_eq!(verdict.advice[0].file.as_deref(), Some("/sys/block/sda/queue/nr_requests"));
}

#[test]
fn a_scheduler_that_holds_back_is_the_host_queue() {
    let path = path(vec![scsi("sda", 64.0, 256.0, "bfq")]);
    let steps = station(&path, 4.0, 0.001, Some(64.0), |n| ((n - 4.0).max(0.0), n.min(4.0)));
    let verdict = judge(&steps, &subject(path), "p99<10ms");
    assert_eq!(verdict.layer, BoundLayer::HostQueue, "{verdict:?}");
    assert!(verdict.headline.contains("bfq"), "{verdict:?}");
}

#[test]
fn a_device_that_holds_all_added_ios_below_its_limit_is_the_device() {
    let path = path(vec![scsi("sda", 254.0, 256.0, "none")]);
    let steps = station(&path, 12.0, 0.001, Some(254.0), |n| (0.0, n));
    let verdict = judge(&steps, &subject(path), "p99<10ms");
    assert_eq!(verdict.layer, BoundLayer::Device, "{verdict:?}");
}

#[test]
fn one_io_at_a_time_is_too_little_concurrency_and_never_the_processor() {
    let path = path(vec![scsi("sda", 32.0, 64.0, "none")]);
    for busy in [0.02, 0.4, 0.85] {
        let steps = vec![step(1, 292.0, busy, vec![layer_seen("sda", 292.0 * 4.0, 0.0, 3.4, Some(32.0))])];
        let verdict = judge(&steps, &subject(path.clone()), "p99<10ms");
        assert_eq!(verdict.layer, BoundLayer::Concurrency, "{verdict:?}");
    }
}

#[test]
fn throughput_that_follows_concurrency_to_the_end_is_too_little_concurrency() {
    let path = path(vec![scsi("sda", 254.0, 256.0, "none")]);
    let steps = station(&path, 1000.0, 0.001, Some(254.0), |n| (0.0, n));
    assert_eq!(judge(&steps, &subject(path), "p99<10ms").layer, BoundLayer::Concurrency);
}

#[test]
fn a_worker_without_time_left_is_the_processor() {
    let path = path(vec![scsi("sda", 254.0, 256.0, "none")]);
    let steps: Vec<Step> = DEPTHS
        .iter()
        .map(|&n| {
            let iops = (f64::from(n) * 20_000.0).min(100_000.0);
            // Completed I/Os wait to be reaped, so what is added stands above.
            step(
                n,
                iops,
                iops / 100_000.0 * 0.99,
                vec![layer_seen("sda", iops, 0.0, f64::from(n).min(5.0), Some(254.0))],
            )
        })
        .collect();
    let verdict = judge(&steps, &subject(path), "p99<10ms");
    assert_eq!(verdict.layer, BoundLayer::Cpu, "{verdict:?}");
    assert!(verdict.headline.contains("per core"), "{verdict:?}");
}

#[test]
fn a_plateau_at_a_control_groups_cap_is_the_throttle_with_its_file() {
    let mut group = other(LayerKind::Cgroup, "/batch", &["sda"], false);
    group.limits = vec![limit(
        LimitKind::ReadIops,
        1000.0,
        "/sys/fs/cgroup/blkio/batch/blkio.throttle.read_iops_device",
    )];
    let path = path(vec![group, scsi("sda", 254.0, 256.0, "none")]);
    let steps: Vec<Step> = DEPTHS
        .iter()
        .map(|&n| step(n, 1003.0, 0.05, vec![layer_seen("sda", 1003.0, 0.0, 0.1, Some(254.0))]))
        .collect();
    let verdict = judge(&steps, &subject(path), "p99<10ms");
    assert_eq!(verdict.layer, BoundLayer::Throttle, "{verdict:?}");
    assert_eq!(verdict.advice[0].now.as_deref(), Some("1000"));
    assert!(verdict.advice[0].file.as_deref().unwrap().ends_with("read_iops_device"));
}

#[test]
fn a_cap_that_no_file_shows_is_named_only_at_a_number_that_is_sold() {
    let path = path(vec![scsi("sda", 254.0, 256.0, "none")]);
    let at = |iops: f64| -> Vec<Step> {
        DEPTHS
            .iter()
            .map(|&n| {
                step(
                    n,
                    iops.min(f64::from(n) * 2000.0),
                    0.05,
                    vec![layer_seen("sda", iops, 0.0, f64::from(n), Some(254.0))],
                )
            })
            .collect()
    };
    let sold = judge(&at(3000.0), &subject(path.clone()), "p99<10ms");
    assert_eq!(sold.layer, BoundLayer::Throttle, "{sold:?}");
    assert_eq!(sold.runner_up.unwrap().0, BoundLayer::Device);
    assert_eq!(judge(&at(3333.0), &subject(path), "p99<10ms").layer, BoundLayer::Device);
}

#[test]
fn a_narrow_path_under_multipath_is_the_path() {
    let mut mpath = other(LayerKind::Multipath, "dm-0", &["sda", "sdb"], true);
    mpath.limits = Vec::new();
    let path = path(vec![mpath, scsi("sda", 4.0, 64.0, "none"), scsi("sdb", 16.0, 64.0, "none")]);
    let steps: Vec<Step> = DEPTHS
        .iter()
        .map(|&n| {
            let iops = (f64::from(n) * 1000.0).min(8000.0);
            let on_a = f64::from(n).min(4.0);
            let on_b = (f64::from(n) - 4.0).clamp(0.0, 5.0);
            let waiting = f64::from(n) - on_a - on_b;
            let mut a = layer_seen("sda", iops / 2.0, waiting, on_a, Some(4.0));
            a.mib_per_s = iops / 2.0 * BLOCK as f64 / (1 << 20) as f64;
            let b = layer_seen("sdb", iops / 2.0, 0.0, on_b, Some(16.0));
            step(n, iops, 0.1, vec![layer_seen("dm-0", iops, 0.0, f64::from(n), None), a, b])
        })
        .collect();
    let verdict = judge(&steps, &subject(path), "p99<10ms");
    assert_eq!(verdict.layer, BoundLayer::Path, "{verdict:?}");
    assert!(verdict.headline.contains("sda") && verdict.headline.contains("sdb"), "{verdict:?}");
}

#[test]
fn nothing_measured_and_one_deep_point_are_cannot_tell() {
    let path = path(vec![scsi("sda", 254.0, 256.0, "none")]);
    assert_eq!(judge(&[], &subject(path.clone()), "p99<10ms").layer, BoundLayer::Unknown);
    let one = vec![step(32, 5000.0, 0.1, vec![layer_seen("sda", 5000.0, 0.0, 32.0, Some(254.0))])];
    assert_eq!(judge(&one, &subject(path), "p99<10ms").layer, BoundLayer::Unknown);
}

#[test]
fn a_device_that_was_full_before_its_queue_limit_is_the_device() {
    // 8 slots inside the device serve all; the LUN takes 32, and what is beyond waits in the host.
    let path = path(vec![scsi("sda", 32.0, 256.0, "mq-deadline")]);
    let steps = station(&path, 8.0, 0.001, Some(32.0), |n| ((n - 32.0).max(0.0), n.min(32.0)));
    let verdict = judge(&steps, &subject(path), "p99<10ms");
    assert_eq!(verdict.layer, BoundLayer::Device, "{verdict:?}");
    assert_eq!(verdict.runner_up.unwrap().0, BoundLayer::HostQueue);
}

#[test]
fn a_device_queue_that_stops_below_every_known_limit_is_said_to_be_hidden() {
    let path = path(vec![scsi("sda", 64.0, 256.0, "mq-deadline")]);
    let steps = station(&path, 20.0, 0.001, Some(64.0), |n| ((n - 20.0).max(0.0), n.min(20.0)));
    let verdict = judge(&steps, &subject(path), "p99<10ms");
    assert_eq!(verdict.layer, BoundLayer::HostQueue, "{verdict:?}");
    assert!(verdict.headline.contains("no file shows"), "{verdict:?}");
}
