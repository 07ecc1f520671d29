//! Verdicts on paths as they were seen in a guest with real SCSI LUNs: who holds the I/Os back, what is advised, and what
//! the model expects of it.
#![allow(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

mod support;

use analyze::{BoundBy, BoundLayer, Case, bound_by, points};
use record::{IoPath, LatencyLimit, Layer, LayerKind, LayerSeen, LimitKind, Step, TagSharing};
use support::*;

const S: f64 = 0.001;

fn judge(steps: &[Step], path: IoPath) -> BoundBy {
    let subject = subject(path);
    let limit: LatencyLimit = "p99<10ms".parse().unwrap();
    let points = points(steps, subject.path.as_ref());
    bound_by(&Case::new(&points, &subject, &limit))
}

/// What the first advice expects.
fn expected(verdict: &BoundBy) -> (f64, u32) {
    let first = &verdict.advice[0];
    (first.expected_iops.unwrap(), first.expected_concurrency.unwrap())
}

#[track_caller]
fn near(actual: f64, wanted: f64) {
    assert!((actual / wanted - 1.0).abs() < 0.01, "{actual} against {wanted}");
}

fn set(layer: &mut Layer, kind: LimitKind, value: f64) {
    layer.limits.retain(|l| l.kind != kind);
    layer.limits.push(limit(kind, value, &format!("/sys/class/scsi_host/host0/{kind:?}")));
}

fn fact(layer: &mut Layer, name: &str, value: &str) {
    layer.facts.push((name.into(), value.into()));
}

/// A LUN as scsi_debug shows it: its first queue depth, nr_requests and tags are all its host's `can_queue`.
fn lun(name: &str, depth: f64, can_queue: f64) -> Layer {
    let mut lun = scsi(name, depth, can_queue, "none");
    set(&mut lun, LimitKind::HostCanQueue, can_queue);
    set(&mut lun, LimitKind::TagsPerQueue, can_queue);
    fact(&mut lun, "host", "host0");
    fact(&mut lun, "host_driver", "scsi_debug");
    lun
}

/// `slots` at once for 1 ms each. What waits is in no counter, as on kernels before 6.16 without a scheduler.
fn curve(depths: &[u32], slots: f64, change: impl Fn(&mut LayerSeen)) -> Vec<Step> {
    let one = |&n: &u32| {
        let device = f64::from(n).min(slots);
        let mut seen = layer_seen("sda", device / S, 0.0, device, None);
        change(&mut seen);
        step(n, device / S, 0.1, vec![seen])
    };
    depths.iter().map(one).collect()
}

const DEPTHS: [u32; 5] = [1, 4, 8, 16, 32];

#[test]
fn a_lun_of_depth_one_is_told_even_though_its_one_slot_is_empty_now_and_then() {
    let steps = curve(&[1, 2, 4, 8], 1.0, |seen| seen.device_queue = known(0.9));
    let verdict = judge(&steps, path(vec![lun("sda", 1.0, 192.0)]));
    assert_eq!(verdict.layer, BoundLayer::DeviceQueueLimit, "{verdict:?}");
    assert_eq!(verdict.advice[0].try_value.as_deref(), Some("2"));
}

#[test]
fn a_deeper_lun_gives_no_more_than_the_next_limit() {
    let steps = curve(&DEPTHS, 4.0, |_| {});
    let verdict = judge(&steps, path(vec![lun("sda", 4.0, 192.0)]));
    assert_eq!(verdict.advice[0].try_value.as_deref(), Some("8"));
    assert_eq!(expected(&verdict), (8000.0, 32));
    // The adapter takes 6: the kernel would not let the depth be raised further.
    let verdict = judge(&steps, path(vec![lun("sda", 4.0, 6.0)]));
    assert_eq!(verdict.advice[0].try_value.as_deref(), Some("6"));
    assert_eq!(expected(&verdict), (6000.0, 32));
    // Only 6 were outstanding at most.
    let steps = curve(&[1, 2, 4, 6], 4.0, |_| {});
    let verdict = judge(&steps, path(vec![lun("sda", 4.0, 192.0)]));
    assert_eq!(verdict.layer, BoundLayer::DeviceQueueLimit, "{verdict:?}");
    assert_eq!(expected(&verdict), (6000.0, 6));
}

#[test]
fn requests_at_the_same_value_must_be_raised_as_well() {
    let mut sda = lun("sda", 8.0, 192.0);
    set(&mut sda, LimitKind::RequestsPerQueue, 8.0);
    let verdict = judge(&curve(&DEPTHS, 8.0, |_| {}), path(vec![sda]));
    assert_eq!(verdict.layer, BoundLayer::DeviceQueueLimit, "{verdict:?}");
    // One alone gives nothing, both together twice as much.
    assert_eq!(expected(&verdict), (8000.0, 32));
    let second = &verdict.advice[1];
    assert_eq!((second.try_value.as_deref(), second.expected_iops), (Some("16"), Some(16000.0)));
}

#[test]
fn a_service_time_that_grew_with_the_queue_is_carried_on_or_left_open() {
    let grown = |power: f64| {
        let one = |&n: &u32| {
            let device = f64::from(n).min(8.0);
            let iops = device.powf(1.0 - power) / S;
            let mut step = step(n, iops, 0.1, vec![layer_seen("sda", iops, 0.0, device, None)]);
            some_quick(&mut step, S);
            step
        };
        let verdict = judge(&DEPTHS.iter().map(one).collect::<Vec<_>>(), path(vec![lun("sda", 8.0, 192.0)]));
        assert_eq!(verdict.layer, BoundLayer::DeviceQueueLimit, "{verdict:?}");
        verdict.advice[0].expected_iops
    };
    near(grown(0.2).unwrap(), 16_f64.powf(0.8) / S);
    assert_eq!(grown(0.4), None);
}

/// Three in ten I/Os find an idle server and take `quick_s`; the mean stays.
fn some_quick(step: &mut Step, quick_s: f64) {
    for slice in &mut step.slices {
        let all = slice.read.latency.take().unwrap();
        let quick = 3 * all.count() / 10;
        let rest_ns = (all.sum_ns() as f64 - quick as f64 * quick_s * 1e9) / (all.count() - quick) as f64;
        let mut latency = record::LatencyHistogram::new();
        latency.record_many_ns((quick_s * 1e9) as u64, quick);
        latency.record_many_ns(rest_ns as u64, all.count() - quick);
        slice.read.latency = Some(latency);
    }
}

/// `others` I/Os of other hosts in line at a target of 16 slots of 0.4 ms, behind a LUN of depth `depth`.
fn in_line(others: f64, depth: f64, quick_s: Option<f64>) -> BoundBy {
    let one = |&n: &u32| {
        let device = f64::from(n).min(depth);
        let iops = device / ((others + device) / 16.0 * 0.0004);
        let mut step = step(n, iops, 0.1, vec![layer_seen("sda", iops, 0.0, device, None)]);
        if let Some(quick_s) = quick_s {
            some_quick(&mut step, quick_s);
        }
        step
    };
    judge(&DEPTHS.iter().map(one).collect::<Vec<_>>(), path(vec![lun("sda", depth, 192.0)]))
}

#[test]
fn a_line_at_the_target_is_told_from_a_shallow_lun() {
    let verdict = in_line(48.0, 16.0, None);
    assert_eq!(verdict.layer, BoundLayer::Device, "{verdict:?}");
    assert!(verdict.headline.contains("bound at the target, not in this host"), "{verdict:?}");
    let figures: Vec<f64> = verdict.evidence[1].split(' ').filter_map(|word| word.parse().ok()).collect();
    assert!((figures[0] - 48.0).abs() < 2.0 && (figures[1] / 40_000.0 - 1.0).abs() < 0.03, "{verdict:?}");
    assert!(verdict.advice.iter().all(|a| a.file.is_none()), "{verdict:?}");
    // Many disks behind one LUN lengthen the mean too, but some I/O always finds an idle one.
    let disks = in_line(15.0, 4.0, Some(0.0004));
    assert_eq!(disks.layer, BoundLayer::DeviceQueueLimit, "{disks:?}");
    // What a deeper queue gives is read off the line: 8 of 23 in it.
    near(disks.advice[0].expected_iops.unwrap(), 8.0 / (23.0 / 16.0 * 0.0004));
}

#[test]
fn nothing_is_promised_beyond_what_the_processors_carry() {
    let mut steps = curve(&DEPTHS, 8.0, |_| {});
    for step in &mut steps {
        step.cpu.as_mut().unwrap().sys_us_per_io = 60.0;
    }
    let verdict = judge(&steps, path(vec![lun("sda", 8.0, 192.0)]));
    assert_eq!((verdict.layer, verdict.advice[0].expected_iops), (BoundLayer::DeviceQueueLimit, None));
    assert!(verdict.advice[0].expected.as_deref().unwrap().contains("processors"), "{verdict:?}");
}

#[test]
fn a_lun_as_deep_as_its_adapter_is_bound_by_the_adapter_and_no_file_helps() {
    let mut sda = lun("sda", 16.0, 16.0);
    fact(&mut sda, "host_parameter", "max_queue");
    fact(&mut sda, "host_parameter_value", "16");
    let verdict = judge(&curve(&DEPTHS, 16.0, |_| {}), path(vec![sda]));
    assert_eq!(verdict.layer, BoundLayer::HostQueue, "{verdict:?}");
    assert!(verdict.headline.contains("host0") && verdict.headline.contains("can_queue"));
    assert!(verdict.advice.iter().all(|a| a.file.is_none()), "{verdict:?}");
    assert!(verdict.advice[0].text.contains("max_queue (now 16)"), "{verdict:?}");
}

fn shared(active: &[&str], counted: Option<u32>) -> Option<TagSharing> {
    Some(TagSharing { siblings: 3, active: active.iter().map(|a| (*a).to_owned()).collect(), counted })
}

#[test]
fn one_read_on_an_idle_neighbour_halves_the_tags_and_the_neighbour_is_named() {
    let steps = curve(&DEPTHS, 8.0, |seen| seen.tag_sharing = shared(&["sdb"], Some(2)));
    let verdict = judge(&steps, path(vec![lun("sda", 16.0, 16.0)]));
    assert_eq!(verdict.layer, BoundLayer::HostQueue, "{verdict:?}");
    assert!(verdict.headline.contains("sdb") && verdict.headline.contains("8 of 16"), "{verdict:?}");
    assert!(verdict.advice.iter().all(|a| a.file.is_none()));
    assert_eq!(expected(&verdict), (16000.0, 32));
}

#[test]
fn a_neighbour_that_was_not_seen_is_told_by_the_queue_that_never_left_its_part() {
    for counted in [None, Some(4)] {
        let steps = curve(&DEPTHS, 4.0, |seen| seen.tag_sharing = shared(&[], counted));
        let verdict = judge(&steps, path(vec![lun("sda", 16.0, 16.0)]));
        assert_eq!(verdict.layer, BoundLayer::HostQueue, "{verdict:?}");
        assert!(verdict.headline.contains("shared tags"), "{verdict:?}");
    }
}

#[test]
fn neighbours_that_were_at_work_earlier_take_nothing_from_a_queue_that_has_all_the_tags() {
    let steps = curve(&DEPTHS, 16.0, |seen| seen.tag_sharing = shared(&["sdb"], Some(1)));
    let verdict = judge(&steps, path(vec![lun("sda", 16.0, 16.0)]));
    assert!(verdict.headline.contains("can_queue"), "{verdict:?}");
    // And a LUN of depth 8 below 32 tags is at its own depth, whoever is active.
    let steps = curve(&DEPTHS, 8.0, |seen| seen.tag_sharing = shared(&["sdb"], Some(2)));
    let verdict = judge(&steps, path(vec![lun("sda", 8.0, 32.0)]));
    assert_eq!(verdict.layer, BoundLayer::DeviceQueueLimit, "{verdict:?}");
}

#[test]
fn the_window_of_an_iscsi_target_is_bound_at_the_target() {
    let mut sda = lun("sda", 32.0, 113.0);
    fact(&mut sda, "transport", "iscsi");
    fact(&mut sda, "iscsi_target", "iqn.2001-04.example:t");
    let one = |&n: &u32| {
        let device = f64::from(n).min(16.0);
        let mut step = step(n, device / S, 0.1, vec![layer_seen("sda", device / S, 0.0, device, None)]);
        step.layers[0].inside = known(device + (f64::from(n) - device) / 4.0);
        step.layers[0].host_queue = known((f64::from(n) - device) / 4.0);
        // The rest of what waits was passed over for the whole window.
        let (took_ns, count) = (2_000_000, (device / S / 10.0) as u64);
        for slice in step.slices.iter_mut().filter(|_| n > 16) {
            let mut latency = record::LatencyHistogram::new();
            latency.record_many_ns(took_ns, count);
            slice.read.latency = Some(latency);
        }
        let ios = u64::from(n.saturating_sub(16));
        step.starved = record::Starved { ios, waited_s: ios as f64 * step.measured_s };
        step
    };
    let steps: Vec<Step> = [1, 4, 8, 16, 32, 64].iter().map(one).collect();
    let verdict = judge(&steps, path(vec![sda]));
    assert_eq!(verdict.layer, BoundLayer::Device, "{verdict:?}");
    assert!(verdict.headline.contains("bound at the target, not in this host"), "{verdict:?}");
    assert!(verdict.headline.contains("command window"), "{verdict:?}");
    assert!(verdict.advice.iter().all(|a| a.file.is_none()), "{verdict:?}");
}

#[test]
fn ios_that_stand_at_a_lun_while_throughput_is_flat_are_bound_at_the_target() {
    let one = |&n: &u32| {
        let iops = f64::from(n).min(15.0) / S;
        step(n, iops, 0.1, vec![layer_seen("sda", iops, 0.0, f64::from(n), None)])
    };
    let steps: Vec<Step> = [1, 4, 16, 32, 64].iter().map(one).collect();
    let verdict = judge(&steps, path(vec![lun("sda", 1024.0, 1024.0)]));
    assert_eq!(verdict.layer, BoundLayer::Device, "{verdict:?}");
    assert!(verdict.headline.contains("bound at the target, not in this host"), "{verdict:?}");
}

#[test]
fn a_hot_lun_among_idle_ones_is_named_and_deepened_or_spread() {
    let volume = other(LayerKind::DeviceMapper, "dm-0", &["sda", "sdb", "sdc"], true);
    let path = path(vec![volume, lun("sda", 8.0, 64.0), lun("sdb", 8.0, 64.0), lun("sdc", 8.0, 64.0)]);
    let one = |&n: &u32| {
        let n_f = f64::from(n);
        let iops = (n_f / S).min(8.0 / 0.9 / S);
        let on = |share: f64| (share * iops * S).min(8.0);
        let waiting = n_f - on(0.9) - 2.0 * on(0.05);
        let lun = |name, share: f64, host| layer_seen(name, share * iops, host, on(share), Some(8.0));
        let layers = vec![
            layer_seen("dm-0", iops, 0.0, n_f, None),
            lun("sda", 0.9, waiting),
            lun("sdb", 0.05, 0.0),
            lun("sdc", 0.05, 0.0),
        ];
        step(n, iops, 0.1, layers)
    };
    let steps: Vec<Step> = [1, 4, 8, 16, 32, 64].iter().map(one).collect();
    let verdict = judge(&steps, path);
    assert_eq!(verdict.layer, BoundLayer::DeviceQueueLimit, "{verdict:?}");
    assert!(verdict.headline.contains("hot LUN: sda"), "{verdict:?}");
    assert_eq!(verdict.advice[0].file.as_deref(), Some("/sys/block/sda/device/queue_depth"));
    near(expected(&verdict).0, 16.0 / 0.9 / S);
    assert!(verdict.advice[1].text.contains("Spread the data"), "{verdict:?}");
}

/// Two paths of depth 4 and 16, `standing` I/Os on each at the end.
fn two_paths(selector: Option<&str>, queue_kind: &str, standing: (f64, f64)) -> BoundBy {
    let mut multipath = other(LayerKind::Multipath, "dm-0", &["sda", "sdb"], true);
    fact(&mut multipath, "queue_kind", queue_kind);
    if let Some(selector) = selector {
        fact(&mut multipath, "path_selector", selector);
    }
    let path = path(vec![multipath, lun("sda", 4.0, 64.0), lun("sdb", 16.0, 64.0)]);
    let one = |&n: &u32| {
        let n_f = f64::from(n);
        let a = (n_f / 2.0).min(standing.0);
        let b = (n_f / 2.0).min(standing.1);
        let iops = (a + b) / S;
        // Request-based multipath counts the I/Os that a full path sent back as well.
        let layers = vec![
            layer_seen("dm-0", iops, n_f - a - b, a + b, None),
            layer_seen("sda", 3.0 * iops, 0.0, a, Some(4.0)),
            layer_seen("sdb", b / S, 0.0, b, Some(16.0)),
        ];
        step(n, iops, 0.1, layers)
    };
    judge(&[4, 8, 16, 32, 64].iter().map(one).collect::<Vec<_>>(), path)
}

#[test]
fn uneven_paths_name_the_path_the_selector_and_what_is_lost() {
    for (selector, kind, standing, lost) in [
        ("service-time", "request-based", (4.0, 5.0), "costs 55 %"),
        ("round-robin", "bio-based", (4.0, 4.0), "costs 60 %"),
    ] {
        let verdict = two_paths(Some(selector), kind, standing);
        assert_eq!(verdict.layer, BoundLayer::Path, "{verdict:?}");
        assert!(verdict.headline.contains("sda") && verdict.headline.contains(selector), "{verdict:?}");
        assert!(verdict.headline.contains(lost), "{verdict:?}");
        assert!(verdict.evidence.iter().any(|e| e.contains("could carry 20000")), "{verdict:?}");
        assert_eq!(verdict.advice[0].try_value.as_deref(), Some("16"));
        near(expected(&verdict).0, 32.0 / S);
    }
}

#[test]
fn without_root_the_selector_is_not_invented() {
    let verdict = two_paths(None, "request-based", (4.0, 5.0));
    assert_eq!(verdict.layer, BoundLayer::Path, "{verdict:?}");
    assert!(verdict.evidence.iter().any(|e| e.contains("cannot be read without root")), "{verdict:?}");
}

#[test]
fn full_paths_are_bound_by_their_depths_however_uneven_and_the_shallow_one_is_raised_first() {
    let verdict = two_paths(Some("round-robin"), "request-based", (4.0, 16.0));
    assert_eq!(verdict.layer, BoundLayer::DeviceQueueLimit, "{verdict:?}");
    assert!(verdict.headline.contains("sda (4), sdb (16)"), "{verdict:?}");
    assert_eq!(verdict.advice.len(), 1, "{verdict:?}");
    assert_eq!(verdict.advice[0].file.as_deref(), Some("/sys/block/sda/device/queue_depth"));
    near(expected(&verdict).0, 32.0 / S);
}

#[test]
fn the_tags_of_a_driver_that_is_no_scsi_are_the_host_queue_and_no_file_helps() {
    for (scheduler, requests) in [("none", 8.0), ("mq-deadline", 16.0)] {
        let mut null = scsi("sda", 0.0, requests, scheduler);
        null.kind = LayerKind::OtherBlock;
        null.limits.retain(|l| matches!(l.kind, LimitKind::RequestsPerQueue | LimitKind::HardwareQueues));
        set(&mut null, LimitKind::TagsPerQueue, 8.0);
        let verdict = judge(&curve(&DEPTHS, 8.0, |_| {}), path(vec![null]));
        assert_eq!(verdict.layer, BoundLayer::HostQueue, "{verdict:?}");
        assert!(verdict.headline.contains("all 8 tags of its driver"), "{verdict:?}");
        assert!(verdict.advice.iter().all(|a| a.file.is_none()), "{verdict:?}");
    }
}

#[test]
fn nr_requests_below_the_tags_is_raised_within_them() {
    let mut sda = lun("sda", 64.0, 192.0);
    set(&mut sda, LimitKind::RequestsPerQueue, 8.0);
    let verdict = judge(&curve(&DEPTHS, 8.0, |_| {}), path(vec![sda.clone()]));
    assert_eq!(verdict.layer, BoundLayer::HostQueue, "{verdict:?}");
    assert_eq!(verdict.advice[0].try_value.as_deref(), Some("16"));
    assert_eq!(expected(&verdict), (16000.0, 32));
    // A LUN depth of 12 would bind next.
    set(&mut sda, LimitKind::LunQueueDepth, 12.0);
    let verdict = judge(&curve(&DEPTHS, 8.0, |_| {}), path(vec![sda]));
    assert_eq!(expected(&verdict), (12000.0, 32));
}

#[test]
fn a_device_served_in_bursts_at_one_rate_is_throttled_where_no_file_shows() {
    let one = |&n: &u32| {
        let iops = (f64::from(n) / S).min(5100.0);
        let device = (f64::from(n)).min(5.1);
        let mut seen = layer_seen("sda", iops, f64::from(n) - device, device, Some(64.0));
        seen.device_queue_peak = Some(f64::from(n));
        step(n, iops, 0.1, vec![seen])
    };
    let steps: Vec<Step> = DEPTHS.iter().map(one).collect();
    let verdict = judge(&steps, path(vec![lun("sda", 64.0, 192.0)]));
    assert_eq!(verdict.layer, BoundLayer::Throttle, "{verdict:?}");
    assert!(verdict.headline.contains("5100 IOPS"), "{verdict:?}");
}

fn capped(group: Layer, cap: f64) -> BoundBy {
    let one = |&n: &u32| {
        let iops = (f64::from(n) / S).min(cap);
        step(n, iops, 0.1, vec![layer_seen("sda", iops, 0.0, iops * S, Some(64.0))])
    };
    judge(&DEPTHS.iter().map(one).collect::<Vec<_>>(), path(vec![group, lun("sda", 64.0, 192.0)]))
}

#[test]
fn a_cap_of_a_control_group_is_raised_in_the_words_of_its_file() {
    let mut group = other(LayerKind::Cgroup, "/job", &["sda"], false);
    group.dev = Some("8:16".into());
    group.limits = vec![limit(LimitKind::ReadIops, 2000.0, "/sys/fs/cgroup/job/io.max")];
    // Windows of a second miss most of a slice of 100 ms.
    for seen in [2000.0, 1820.0] {
        let verdict = capped(group.clone(), seen);
        assert_eq!(verdict.layer, BoundLayer::Throttle, "{verdict:?}");
        assert_eq!(verdict.advice[0].try_value.as_deref(), Some("8:16 riops=4000"));
        assert_eq!(expected(&verdict), (4000.0, 32));
    }
    assert_ne!(capped(group, 1500.0).layer, BoundLayer::Throttle);
}

#[test]
fn the_cost_model_of_control_groups_is_named_where_it_is_on() {
    let mut group = other(LayerKind::Cgroup, "/", &["sda"], false);
    group.dev = Some("8:32".into());
    fact(&mut group, "io.cost.qos", "enable=1 ctrl=user min=100.00 max=100.00");
    fact(&mut group, "io.cost.model", "ctrl=user model=linear rrandiops=4000");
    fact(&mut group, "io.cost.qos_file", "/sys/fs/cgroup/io.cost.qos");
    let verdict = capped(group, 4300.0);
    assert_eq!(verdict.layer, BoundLayer::Throttle, "{verdict:?}");
    assert!(verdict.headline.contains("io.cost"), "{verdict:?}");
    assert_eq!(verdict.advice[0].file.as_deref(), Some("/sys/fs/cgroup/io.cost.qos"));
    assert_eq!(verdict.advice[0].try_value.as_deref(), Some("8:32 enable=0"));
}
