//! The follower on invented counters.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod common;

use common::tree::Tree;
use host::path::{DeviceNumber, trace_device};
use host::sample::PathFollower;
use record::{DoubtId, Follow, Followed, How, LayerSeen, Window};
use std::time::Duration;

/// A volume over one LUN, on a kernel whose in-flight field counts only what was sent (4.18) or all (6.16).
fn lun(release: &str) -> Tree {
    let tree = Tree::of(&format!(
        "/proc/self/mountinfo = 40 1 253:0 / /data rw - xfs /dev/mapper/vg-lv rw
         /proc/sys/kernel/osrelease = {release}
         /proc/loadavg = 1.00 1.00 1.00 3/300 4242
         /proc/stat = cpu  1000 0 1000 8000 0 0 0 0 0 0\\ncpu0 500 0 500 4000 0 0 0 0 0 0\\ncpu1 500 0 500 4000 0 0 0 0\\nintr 1
         /proc/pressure/cpu = some avg10=0.00 avg60=0.00 avg300=0.00 total=1000"
    ));
    tree.scsi(1, "sda", "8:0", "");
    tree.disk("virtual", "dm-0", "253:0", "dm/name = vg-lv\ndm/uuid = LVM-1\nslaves/sda/");
    tree
}

/// One window of about 150 ms; `change` happens in its middle. The answer, and how long the window was.
fn follow(tree: &Tree, window: Window, change: impl FnOnce(&Tree)) -> (Followed, f64) {
    let root = tree.root();
    let path = trace_device(&root, DeviceNumber { major: 253, minor: 0 }, "/data", true);
    let mut follower = PathFollower::new(&root, &path, &[0, 1]).unwrap();
    follower.begin();
    std::thread::sleep(Duration::from_millis(110));
    change(tree);
    std::thread::sleep(Duration::from_millis(110));
    let followed = follower.end(&window);
    assert!(follower.cost().rounds >= 5, "{:?}", follower.cost());
    (followed, follower.cost().windows_s)
}

fn window(ios: u64, block: u64, outstanding: f64) -> Window {
    Window { length_s: 0.22, ios, bytes: ios * block, outstanding_mean: outstanding }
}

/// Reads of 8 KiB: how many, their summed time in ms, and how many are in flight.
fn reads(tree: &Tree, disk: &str, ios: u64, ms: u64, in_flight: u64) {
    let text = format!("{ios} 0 {} {ms} 0 0 0 0 {in_flight} 0 {ms} 0 0 0 0 0 0\n", ios * 16);
    tree.write(&format!("sys/block/{disk}/stat"), text);
}

fn layer<'f>(followed: &'f Followed, name: &str) -> &'f LayerSeen {
    followed.layers.iter().find(|l| l.name == name).unwrap_or_else(|| panic!("{followed:#?}"))
}

fn doubt(followed: &Followed, id: DoubtId) -> Option<&str> {
    followed.doubts.iter().find(|d| d.id == id).map(|d| d.text.as_str())
}

#[track_caller]
fn close(actual: Option<f64>, expected: f64) {
    let actual = actual.unwrap();
    // The clock of the window and the stamps of a layer may be apart by a moment on a busy machine.
    assert!((actual / expected - 1.0).abs() < 0.1, "{actual} is not about {expected}");
}

#[test]
fn a_lun_at_its_depth_leaves_the_rest_in_the_host_queue() {
    for (release, in_flight) in [("4.18.0-553.el8", 32), ("6.16.0", 48)] {
        let tree = lun(release);
        tree.write("sys/block/sda/device/device_busy", "32\n");
        reads(&tree, "sda", 0, 0, in_flight);
        let (followed, length_s) = follow(&tree, window(1000, 8192, 48.0), |tree| {
            // 48 inside for the whole window.
            reads(tree, "sda", 1000, 10_000, in_flight);
            reads(tree, "dm-0", 1000, 10_000, 48);
        });
        let sda = layer(&followed, "sda");
        close(sda.inside.mean, 10.0 / length_s);
        close(sda.response_us, 10_000.0);
        close(Some(sda.requests_per_s), 1000.0 / length_s);
        close(Some(sda.mib_per_s), 1000.0 / 128.0 / length_s);
        assert_eq!(sda.request_bytes_mean, Some(8192.0));
        let device = if in_flight == 32 { 32.0 } else { 10.0 / length_s * 32.0 / 48.0 };
        close(sda.device_queue.mean, device);
        close(sda.host_queue.mean, 10.0 / length_s - device);
        close(sda.service_us, device * length_s / 1000.0 * 1e6);
        assert_eq!((sda.device_queue_limit, sda.device_queue_peak), (Some(32.0), Some(32.0)));
        assert!(matches!(&sda.device_queue.how, How::Sampled { file, .. } if file.ends_with("device_busy")));
        assert!(sda.inside.low < sda.inside.mean.unwrap() && sda.inside.high > sda.inside.mean.unwrap());
    }
}

#[test]
fn a_bio_based_device_has_no_queue_of_its_own() {
    let tree = lun("6.16.0");
    let (followed, length_s) = follow(&tree, window(100, 8192, 4.0), |tree| {
        reads(tree, "dm-0", 100, 800, 4);
        reads(tree, "sda", 100, 800, 4);
    });
    let dm = layer(&followed, "dm-0");
    assert_eq!((dm.host_queue.mean, dm.host_queue.high), (Some(0.0), 0.0));
    close(dm.device_queue.mean, 0.8 / length_s);
    assert_eq!(dm.device_queue_limit, None);
    let names: Vec<&str> = followed.layers.iter().map(|l| l.name.as_str()).collect();
    assert_eq!(names, ["dm-0", "sda"]);
}

#[test]
fn short_requests_under_a_lun_on_an_old_kernel_give_bounds_only() {
    let tree = lun("4.18.0");
    tree.write("sys/block/sda/device/device_busy", "2\n");
    let (followed, _) = follow(&tree, window(22_000, 8192, 4.0), |tree| {
        reads(tree, "sda", 22_000, 880, 2);
        reads(tree, "dm-0", 22_000, 880, 4);
    });
    let sda = layer(&followed, "sda");
    assert_eq!((sda.device_queue.mean, sda.host_queue.mean), (None, None), "{sda:#?}");
    assert!(sda.device_queue.high <= sda.inside.high && sda.device_queue.low <= 2.0);
    assert_eq!(sda.little_error, None);
}

#[test]
fn counters_that_disagree_are_said_with_their_numbers() {
    let tree = lun("6.16.0");
    reads(&tree, "sda", 0, 0, 20);
    let (followed, length_s) =
        follow(&tree, window(500, 8192, 8.0), |tree| reads(tree, "sda", 500, 1000, 20));
    assert!(layer(&followed, "sda").little_error.unwrap() > 0.5);
    let text = doubt(&followed, DoubtId::CountersDisagree).unwrap();
    let inside = text.strip_prefix("sda: ").and_then(|t| t.split(' ').next()).unwrap_or_default();
    close(inside.parse().ok(), 1.0 / length_s);
    assert!(text.contains("20.00 by"), "{text}");
}

#[test]
fn waiters_for_a_tag_widen_the_bound_of_the_host_queue() {
    let tree = lun("6.16.0");
    tree.write("sys/block/sda/queue/nr_requests", "8\n");
    tree.write("sys/block/sda/device/device_busy", "8\n");
    reads(&tree, "sda", 0, 0, 8);
    let (followed, _) = follow(&tree, window(1000, 8192, 30.0), |tree| reads(tree, "sda", 1000, 1760, 8));
    let sda = layer(&followed, "sda");
    assert_eq!(sda.host_queue.mean, None);
    assert!(sda.host_queue.high > 20.0, "{:?}", sda.host_queue);
    let text = doubt(&followed, DoubtId::SplitUnknown).unwrap();
    assert!(text.contains("all 8 driver tags") && text.contains("above the counters"), "{text}");
}

#[test]
fn waiters_are_no_more_than_the_layer_above_holds() {
    let tree = lun("6.16.0");
    tree.write("sys/block/sda/queue/nr_requests", "8\n");
    tree.write("sys/block/sda/device/device_busy", "8\n");
    reads(&tree, "sda", 0, 0, 8);
    let (followed, length_s) = follow(&tree, window(1000, 8192, 30.0), |tree| {
        reads(tree, "sda", 1000, 1760, 8);
        // Of the 30 outstanding only about 12 have come as far as the volume.
        reads(tree, "dm-0", 1000, 2640, 12);
    });
    let high = layer(&followed, "sda").host_queue.high;
    assert!(high < 0.88 / length_s + 2.0, "{high}");
    assert!(high > 0.88 / length_s - 0.5, "{high}");
}

#[test]
fn a_queue_depth_that_moves_is_seen_with_both_values() {
    let tree = lun("6.16.0");
    let (followed, _) = follow(&tree, window(10, 8192, 1.0), |tree| {
        tree.write("sys/block/sda/device/queue_depth", "28\n");
        reads(tree, "sda", 10, 10, 1);
    });
    let sda = layer(&followed, "sda");
    assert_eq!(sda.device_queue_limit_range, Some((28.0, 32.0)));
    assert_eq!(sda.device_queue_limit, Some(28.0));
}

#[test]
fn commands_are_counted_over_a_wrap() {
    let tree = lun("6.16.0");
    tree.add("/sys/block/sda/device/iorequest_cnt = 0xfffffffe\n/sys/block/sda/device/iotmo_cnt = 0x0");
    let (followed, _) = follow(&tree, window(10, 8192, 1.0), |tree| {
        tree.add(
            "/sys/block/sda/device/iorequest_cnt = 0x8
             /sys/block/sda/device/iodone_cnt = 0x1a
             /sys/block/sda/device/ioerr_cnt = 0x4
             /sys/block/sda/device/iotmo_cnt = 0x1",
        );
    });
    let scsi = layer(&followed, "sda").scsi.unwrap();
    assert_eq!((scsi.requested, scsi.done, scsi.errors, scsi.timeouts), (10, 10, 3, Some(1)));
}

/// What a follower tells of a load during which `change` happens.
fn troubles(tree: &Tree, change: impl FnOnce(&Tree)) -> Vec<record::Trouble> {
    let root = tree.root();
    let path = trace_device(&root, DeviceNumber { major: 253, minor: 0 }, "/data", true);
    let mut follower = PathFollower::new(&root, &path, &[0, 1]).unwrap();
    follower.load_on();
    assert_eq!(follower.troubles(), Vec::new());
    change(tree);
    follower.troubles()
}

fn counts(tree: &Tree, done: u64, errors: u64, timeouts: u64) {
    for (file, value) in [("iodone", done), ("ioerr", errors), ("iotmo", timeouts)] {
        tree.write(&format!("sys/block/sda/device/{file}_cnt"), format!("{value:#x}\n"));
    }
}

#[test]
fn commands_that_were_sent_again_without_an_error_were_refused() {
    let tree = lun("6.12.0");
    counts(&tree, 16, 1, 0);
    reads(&tree, "sda", 0, 0, 0);
    let seen = troubles(&tree, |tree| {
        counts(tree, 16 + 1060, 61, 0);
        reads(tree, "sda", 1000, 1000, 0);
        tree.write("sys/block/sda/device/queue_depth", "28\n");
    });
    let [sda] = &seen[..] else { panic!("{seen:?}") };
    assert_eq!((sda.device.as_str(), sda.done, sda.unsuccessful, sda.sent_again), ("sda", 1060, 60, 60));
    assert_eq!((sda.refused(), sda.pushes_back()), (60, true));
    let depth = sda.queue_depth.unwrap();
    assert_eq!((depth.first, depth.low, depth.high, depth.last), (32, 28, 32, 28));
}

#[test]
fn recovered_errors_and_timeouts_are_no_refusals() {
    let tree = lun("6.12.0");
    counts(&tree, 0, 0, 0);
    reads(&tree, "sda", 0, 0, 0);
    let seen = troubles(&tree, |tree| {
        counts(tree, 1000, 10, 2);
        reads(tree, "sda", 1000, 1000, 0);
    });
    assert_eq!((seen[0].refused(), seen[0].unsuccessful, seen[0].timed_out), (0, 10, 2));
}

#[test]
fn a_device_that_goes_offline_or_away_is_said() {
    let tree = lun("6.12.0");
    tree.write("sys/block/sda/device/state", "running\n");
    let seen = troubles(&tree, |tree| tree.write("sys/block/sda/device/state", "offline\n"));
    assert_eq!(seen[0].state, Some(["running".to_owned(), "offline".to_owned()]));
    assert!(seen[0].changes_paths());
}

#[test]
fn counters_that_were_reset_or_torn_or_silent_give_no_numbers() {
    let tree = lun("6.16.0");
    reads(&tree, "sda", 5_000_000, 1, 0);
    let (followed, _) = follow(&tree, window(10, 8192, 1.0), |tree| reads(tree, "sda", 5, 1, 0));
    assert!(followed.layers.iter().all(|l| l.name != "sda"));
    assert!(doubt(&followed, DoubtId::CountersOff).unwrap().contains("went back"));

    let tree = lun("6.16.0");
    let (followed, _) = follow(&tree, window(10, 8192, 1.0), |tree| tree.write("sys/block/sda/stat", "1 2"));
    assert!(doubt(&followed, DoubtId::CountersOff).unwrap().contains("cannot be read"));

    let tree = lun("6.16.0");
    let (followed, _) = follow(&tree, window(1000, 8192, 1.0), |tree| reads(tree, "sda", 1000, 100, 1));
    assert!(followed.layers.iter().all(|l| l.name != "dm-0"));
    let text = doubt(&followed, DoubtId::CountersOff).unwrap();
    assert!(text.starts_with("dm-0") && text.contains("counted nothing"), "{text}");
}

#[test]
fn bytes_beyond_the_generators_own_are_foreign_and_missing_ones_are_cached() {
    let tree = lun("6.16.0");
    let (followed, length_s) = follow(&tree, window(1000, 8192, 4.0), |tree| {
        reads(tree, "dm-0", 1000, 800, 4);
        reads(tree, "sda", 1500, 1200, 4);
    });
    let host = followed.host.unwrap();
    close(host.foreign_mib_per_s, 500.0 / 128.0 / length_s);
    close(host.foreign_iops, 500.0 / length_s);

    let tree = lun("6.16.0");
    let (followed, _) = follow(&tree, window(1000, 8192, 4.0), |tree| {
        reads(tree, "dm-0", 300, 240, 4);
        reads(tree, "sda", 300, 240, 4);
    });
    assert_eq!(followed.host.as_ref().unwrap().foreign_mib_per_s, None);
    let text = doubt(&followed, DoubtId::PageCacheHits).unwrap();
    assert!(text.contains("only 30 %"), "{text}");
}

#[test]
fn cores_pressure_and_run_queue_are_shares_of_the_window() {
    let tree = lun("6.16.0");
    let (followed, length_s) = follow(&tree, window(100, 8192, 4.0), |tree| {
        tree.add(
            "/proc/stat = cpu  1010 0 1010 8010 0 0 10 0 0 0\\ncpu0 510 0 500 4005 0 0 5 0 0 0\\ncpu1 500 0 510 4005 0 0 5 0\\nintr 2
             /proc/pressure/cpu = some avg10=0.00 avg60=0.00 avg300=0.00 total=101000",
        );
    });
    let host = followed.host.unwrap();
    close(host.psi_cpu_some, 0.1 / length_s);
    assert_eq!((host.psi_io_some, host.psi_memory_some), (None, None), "absent is not zero");
    assert_eq!(host.steal, Some(0.0));
    assert_eq!(host.run_queue_mean, Some(2.0), "without the reader itself");
    let cpu = followed.cpu.unwrap();
    assert_eq!(cpu.cores.len(), 2);
    assert_eq!((cpu.cores[0].user, cpu.cores[1].system), (0.5, 0.5));
    assert_eq!((cpu.cores[0].softirq, cpu.cores[0].busy()), (0.25, 0.75));
    // Ten ticks of 10 ms over 100 I/Os.
    assert_eq!(cpu.irq_us_per_io, Some(1000.0));
    // Twenty ticks of all cores, less what this test process used itself.
    assert!((0.0..=0.2 / length_s).contains(&host.foreign_cores_busy.unwrap()));
}

#[test]
fn a_parked_follower_reads_nothing() {
    let tree = lun("6.16.0");
    let root = tree.root();
    let path = trace_device(&root, DeviceNumber { major: 253, minor: 0 }, "/data", true);
    let mut follower = PathFollower::new(&root, &path, &[]).unwrap();
    let measured = |follower: &mut PathFollower| {
        follower.begin();
        std::thread::sleep(Duration::from_millis(60));
        follower.end(&window(0, 0, 0.0));
        follower.cost().rounds
    };
    let first = measured(&mut follower);
    std::thread::sleep(Duration::from_millis(100));
    assert_eq!(follower.cost().rounds, first);
    assert!(measured(&mut follower) > first, "and it wakes up again");
    assert_eq!(follower.layers().collect::<Vec<_>>(), ["dm-0", "sda"]);
    assert!(!follower.course().is_empty());
}

#[test]
fn an_end_without_a_begin_is_empty() {
    let tree = lun("6.16.0");
    let path = trace_device(&tree.root(), DeviceNumber { major: 253, minor: 0 }, "/data", true);
    let mut follower = PathFollower::new(&tree.root(), &path, &[]).unwrap();
    let followed = follower.end(&window(1, 1, 1.0));
    assert!(followed.layers.is_empty() && followed.host.is_none());
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig { cases: 24, ..Default::default() })]

    #[test]
    fn garbage_in_any_counter_never_panics(
        file in 0_usize..9,
        before in "(cpu |cpu0 )?([0-9a-fx \n-]{0,120}|(18446744073709551615 ){17}|(0 ){17})",
        after in "(cpu |cpu0 )?([0-9a-fx \n-]{0,120}|(4294967295 ){17}|([0-9]{1,19} ){17}|(18446744073709551615 ){17})",
        ios in 0_u64..,
        bytes in 0_u64..,
        outstanding in -1e300_f64..1e300,
    ) {
        let files = [
            "sys/block/sda/stat", "sys/block/sda/inflight", "sys/block/sda/device/device_busy",
            "sys/block/sda/device/queue_depth", "sys/block/sda/queue/nr_requests", "sys/block/sda/device/ioerr_cnt",
            "proc/stat", "proc/loadavg", "proc/pressure/cpu",
        ];
        let tree = lun("6.16.0");
        tree.write(files[file], before);
        let path = trace_device(&tree.root(), DeviceNumber { major: 253, minor: 0 }, "/data", true);
        let mut follower = PathFollower::new(&tree.root(), &path, &[0]).unwrap();
        follower.begin();
        std::thread::sleep(Duration::from_millis(12));
        tree.write(files[file], after);
        let window = Window { length_s: 0.0, ios, bytes, outstanding_mean: outstanding };
        let followed = follower.end(&window);
        for layer in &followed.layers {
            proptest::prop_assert!(layer.inside.low <= layer.inside.high && layer.inside.low >= 0.0);
            proptest::prop_assert!(layer.device_queue.low >= 0.0);
        }
        drop(follower);
    }
}
