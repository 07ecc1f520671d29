//! The survey on invented kernel folders, in steps of time.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod common;

use common::tree::Tree;
use host::survey::{Survey, SurveyOptions};
use record::{Counted, DeviceSample, HostSample, LayerKind, SplitBy};
use std::time::Duration;

/// Counters of one row as a test sets them.
#[derive(Clone, Copy, Default)]
struct Row {
    number: (u32, u32),
    name: &'static str,
    reads: u64,
    read_ms: u64,
    writes: u64,
    write_ms: u64,
    in_flight: u64,
    busy_ms: u64,
    discards: u64,
    flushes: u64,
    flush_ms: u64,
}

fn row(major: u32, minor: u32, name: &'static str) -> Row {
    Row { number: (major, minor), name, ..Row::default() }
}

/// Reads of 8 KiB, writes of 4 KiB, discards of 1 MiB; one merge for ten I/Os.
fn write_rows(tree: &Tree, rows: &[Row]) {
    let text: String = rows
        .iter()
        .map(|r| {
            format!(
                "{:4} {:7} {} {} {} {} {} {} {} {} {} {} {} {} {} 0 {} 0 {} {}\n",
                r.number.0,
                r.number.1,
                r.name,
                r.reads,
                r.reads / 10,
                r.reads * 16,
                r.read_ms % (1 << 32),
                r.writes,
                r.writes / 10,
                r.writes * 8,
                r.write_ms % (1 << 32),
                r.in_flight,
                r.busy_ms,
                r.read_ms + r.write_ms,
                r.discards,
                r.discards * 2048,
                r.flushes,
                r.flush_ms
            )
        })
        .collect();
    tree.write("proc/diskstats", text);
}

/// A LUN with two partitions on a kernel that counts accepted and sent requests apart.
fn host(release: &str) -> Tree {
    let tree = Tree::of(&format!("/proc/sys/kernel/osrelease = {release}"));
    tree.scsi(1, "sda", "8:0", "");
    tree.partition("pci0000:00/0000:00:03.0/host1/target1:0:0/1:0:0:1", "sda", "sda1", "8:1");
    tree.add("/sys/class/scsi_host/host1/can_queue = 512");
    tree
}

fn device<'s>(sample: &'s HostSample, name: &str) -> &'s DeviceSample {
    sample.devices.iter().find(|d| d.facts.name == name).unwrap_or_else(|| panic!("{name}: {sample:#?}"))
}

fn closely(closely: usize) -> SurveyOptions {
    SurveyOptions { closely, ..SurveyOptions::default() }
}

fn pause() {
    std::thread::sleep(Duration::from_millis(120));
}

#[track_caller]
fn close(actual: Option<f64>, expected: f64) {
    let actual = actual.unwrap();
    assert!((actual - expected).abs() <= 1e-9 * expected.abs().max(1.0), "{actual} instead of {expected}");
}

#[test]
fn rates_sizes_and_times_are_differences_of_counters() {
    let tree = host("6.18.0");
    let (a, p) = (row(8, 0, "sda"), row(8, 1, "sda1"));
    write_rows(&tree, &[a, p]);
    let mut survey = Survey::open(&tree.root(), closely(0)).unwrap();
    pause();
    let a = Row {
        reads: 1001,
        read_ms: 2002,
        writes: 33,
        write_ms: 660,
        flushes: 7,
        flush_ms: 14,
        discards: 3,
        busy_ms: 60,
        ..a
    };
    write_rows(&tree, &[a, p]);
    let sample = survey.next().unwrap();
    assert!((0.12..2.0).contains(&sample.length_s));
    let sda = device(sample, "sda");
    assert_eq!((sda.counted, sda.facts.kind), (Counted::Yes, LayerKind::Scsi));
    assert_eq!((sda.read.count, sda.write.count, sda.read.merges), (1001, 33, 100));
    assert_eq!((sda.flush.unwrap().count, sda.discard.unwrap().count), (7, 3));
    assert_eq!(sda.discard.unwrap().bytes, 3 << 20);
    close(sda.iops(), 1034.0 / sample.length_s);
    close(sda.read.response_us(), 2000.0);
    close(sda.write.response_us(), 20_000.0);
    close(sda.read.bytes_mean(), 8192.0);
    close(sda.write.bytes_mean(), 4096.0);
    close(sda.flush.unwrap().response_us(), 2000.0);
    close(sda.inside.mean, 2.676 / sample.length_s);
    close(Some(sda.busy), 0.06 / sample.length_s);
    let part = device(sample, "sda1");
    assert_eq!(part.facts.disk.as_deref(), Some("sda"));
    assert_eq!((part.iops(), part.response_us(), part.split_by), (Some(0.0), None, SplitBy::Idle));
}

#[test]
fn without_readings_the_split_is_a_bound_by_the_queue_depth() {
    let tree = host("6.18.0");
    let a = row(8, 0, "sda");
    write_rows(&tree, &[a]);
    let mut survey = Survey::open(&tree.root(), closely(0)).unwrap();
    pause();
    let sda = Row { reads: 1000, read_ms: 1000 * 50, ..a };
    write_rows(&tree, &[sda]);
    let sample = survey.next().unwrap();
    let sda = device(sample, "sda");
    let inside = 50.0 / sample.length_s;
    assert!(inside > 32.0, "the test needs more inside than the LUN takes");
    assert_eq!((sda.split_by, sda.host_queue.mean, sda.device_queue.mean), (SplitBy::Bounds, None, None));
    assert_eq!((sda.device_queue.low, sda.device_queue.high), (0.0, 32.0));
    assert!((sda.host_queue.low - (inside - 32.0)).abs() < 0.2, "{:?} of {inside}", sda.host_queue);
    assert_eq!((sda.host_wait_us(), sda.service_us()), (None, None));
    assert_eq!((sda.limits.device_queue, sda.limits.nr_requests), (Some(32.0), Some(64.0)));
    assert_eq!((sda.limits.host_can_queue, sda.task_set_full), (Some(512.0), None));
}

/// 40 accepted, 30 sent, as the files of one LUN show it.
fn standing(tree: &Tree, a: Row) -> Row {
    let busy = Row { in_flight: 40, ..a };
    tree.write("sys/block/sda/device/device_busy", "30\n");
    tree.write("sys/block/sda/stat", "1 0 0 0 0 0 0 0 40 0 0 0 0 0 0 0 0\n");
    write_rows(tree, &[busy]);
    busy
}

#[test]
fn readings_tell_host_and_device_queue_apart() {
    let tree = host("6.18.0");
    let a = Row { reads: 1, ..row(8, 0, "sda") };
    let busy = standing(&tree, a);
    let mut survey = Survey::open(&tree.root(), SurveyOptions::default()).unwrap();
    std::thread::sleep(Duration::from_millis(300));
    // 4000 reads of 3 ms in an interval of 0.3 s are 40 inside; the edges are small beside that.
    let busy = Row { reads: 4001, read_ms: 12_000, ..busy };
    write_rows(&tree, &[busy]);
    let sample = survey.next().unwrap();
    let sda = device(sample, "sda");
    let inside = 12.0 / sample.length_s;
    assert_eq!(sda.split_by, SplitBy::Readings, "{sda:#?}");
    let share =
        sda.device_queue.mean.unwrap() / (sda.device_queue.mean.unwrap() + sda.host_queue.mean.unwrap());
    assert!((share - 0.75).abs() < 0.02, "{sda:#?}, {inside} inside");
    assert_eq!((sda.device_queue.peak, sda.host_queue.peak), (Some(30.0), Some(10.0)));
    assert!(survey.cost().readings_s > 0.0);
}

#[test]
fn a_device_that_hangs_shows_what_stands_there_though_nothing_completes() {
    let tree = host("6.18.0");
    let a = Row { reads: 1, ..row(8, 0, "sda") };
    standing(&tree, a);
    for closely in [0, 16] {
        let mut survey = Survey::open(&tree.root(), self::closely(closely)).unwrap();
        std::thread::sleep(Duration::from_millis(300));
        let sample = survey.next().unwrap();
        let sda = device(sample, "sda");
        assert_eq!((sda.iops(), sda.response_us()), (Some(0.0), None));
        assert_eq!(sda.inside.mean, Some(40.0), "closely {closely}: {sda:#?}");
        if closely > 0 {
            let queues = (sda.host_queue.mean.unwrap(), sda.device_queue.mean.unwrap());
            assert!((queues.0 - 10.0).abs() < 0.01 && (queues.1 - 30.0).abs() < 0.01, "{queues:?}");
        } else {
            assert_eq!((sda.host_queue.mean, sda.host_queue.low), (None, 8.0));
        }
    }
}

#[test]
fn counters_that_wrap_go_on_and_counters_that_fall_are_refused() {
    let tree = host("6.18.0");
    let a = Row { reads: 5000, read_ms: (1 << 32) - 50, ..row(8, 0, "sda") };
    write_rows(&tree, &[a]);
    let mut survey = Survey::open(&tree.root(), closely(0)).unwrap();
    pause();
    let a = Row { reads: 5100, read_ms: a.read_ms + 200, ..a };
    write_rows(&tree, &[a]);
    close(device(survey.next().unwrap(), "sda").response_us(), 2000.0);
    pause();
    write_rows(&tree, &[Row { reads: 3, read_ms: 3, ..a }]);
    let sample = survey.next().unwrap();
    let sda = device(sample, "sda");
    assert_eq!((sda.counted, sda.iops(), sda.response_us()), (Counted::Reset, None, None));
    assert_eq!((sda.inside.mean, sda.host_queue.mean), (None, None));
    pause();
    write_rows(&tree, &[Row { reads: 13, read_ms: 23, ..a }]);
    let sample = survey.next().unwrap();
    assert_eq!(device(sample, "sda").read.count, 10, "the interval after a reset counts again");
}

#[test]
fn devices_come_and_go_between_samples_and_the_others_go_on() {
    let tree = host("6.18.0");
    tree.scsi(2, "sdb", "8:16", "");
    let (a, b) = (Row { reads: 100, ..row(8, 0, "sda") }, Row { reads: 500, ..row(8, 16, "sdb") });
    write_rows(&tree, &[a, b]);
    let mut survey = Survey::open(&tree.root(), SurveyOptions::default()).unwrap();
    pause();
    let (a, b) = (Row { reads: 110, ..a }, Row { reads: 505, ..b });
    tree.disk("virtual", "loop3", "7:3", "");
    let new = Row { reads: 1_000_000, ..row(7, 3, "loop3") };
    write_rows(&tree, &[new, a, b]);
    let sample = survey.next().unwrap();
    assert_eq!((device(sample, "sda").read.count, device(sample, "sdb").read.count), (10, 5));
    assert_eq!((device(sample, "loop3").counted, device(sample, "loop3").iops()), (Counted::Appeared, None));
    pause();
    let (b, new) = (Row { reads: 507, ..b }, Row { reads: 1_000_001, ..new });
    write_rows(&tree, &[new, b]);
    let sample = survey.next().unwrap();
    assert_eq!(sample.devices.len(), 2);
    assert_eq!((device(sample, "loop3").read.count, device(sample, "sdb").read.count), (1, 2));
    pause();
    // Another disk took the name: its counters say nothing about the former one.
    tree.remove("sys/dev/block/8:16");
    write_rows(&tree, &[new, Row { number: (8, 32), reads: 508, ..b }]);
    let sample = survey.next().unwrap();
    assert_eq!((device(sample, "sdb").counted, device(sample, "loop3").read.count), (Counted::Appeared, 0));
}

#[test]
fn unchanged_rows_between_changed_ones_count_nothing_twice() {
    let tree = host("6.18.0");
    let (a, b) = (Row { reads: 10, ..row(8, 0, "sda") }, Row { reads: 20, ..row(8, 16, "sdb") });
    write_rows(&tree, &[a, b]);
    let mut survey = Survey::open(&tree.root(), closely(0)).unwrap();
    pause();
    write_rows(&tree, &[a, Row { reads: 25, ..b }]);
    let sample = survey.next().unwrap();
    assert_eq!((device(sample, "sda").read.count, device(sample, "sdb").read.count), (0, 5));
    // Now a row vanishes in front, and what is left did nothing more.
    write_rows(&tree, &[Row { reads: 25, ..b }]);
    assert_eq!(device(survey.next().unwrap(), "sdb").read.count, 0);
    write_rows(&tree, &[Row { reads: 26, ..b }]);
    assert_eq!(device(survey.next().unwrap(), "sdb").read.count, 1);
}

#[test]
fn torn_rows_are_left_out_and_the_rest_is_read() {
    let tree = host("6.18.0");
    tree.write("proc/diskstats", "garbage\n 8 0 sda 1 2 3\n\n 8 16 sdb 5 0 40 5 0 0 0 0 0 5 5\n");
    let mut survey = Survey::open(&tree.root(), SurveyOptions::default()).unwrap();
    tree.write("proc/diskstats", "garbage\n 8 0 sda 1 2 3\n\n 8 16 sdb 9 0 72 9 0 0 0 0 0 9 9\n");
    let sample = survey.next().unwrap();
    assert_eq!(sample.devices.len(), 1);
    let sdb = device(sample, "sdb");
    assert_eq!((sdb.read.count, sdb.discard, sdb.flush), (4, None, None));
}

#[test]
fn accounting_that_is_off_gives_no_numbers() {
    let tree = host("6.18.0");
    tree.write("sys/block/sda/queue/iostats", "0\n");
    let a = Row { reads: 10, ..row(8, 0, "sda") };
    write_rows(&tree, &[a]);
    let mut survey = Survey::open(&tree.root(), SurveyOptions::default()).unwrap();
    let sample = survey.next().unwrap();
    let sda = device(sample, "sda");
    assert_eq!((sda.counted, sda.iops(), sda.inside.mean), (Counted::Off, None, None));
    tree.write("sys/block/sda/queue/iostats", "1\n");
    assert_eq!(device(survey.next().unwrap(), "sda").counted, Counted::Yes);
}

#[test]
fn failed_commands_and_a_falling_queue_depth_are_told() {
    let tree = host("6.18.0");
    let a = Row { reads: 10, ..row(8, 0, "sda") };
    write_rows(&tree, &[a]);
    tree.write("sys/block/sda/device/ioerr_cnt", "0xffffffff\n");
    tree.write("sys/block/sda/device/iotmo_cnt", "0x2\n");
    let mut survey = Survey::open(&tree.root(), closely(0)).unwrap();
    tree.write("sys/block/sda/device/ioerr_cnt", "0x4\n");
    tree.write("sys/block/sda/device/queue_depth", "16\n");
    let sample = survey.next().unwrap();
    let sda = device(sample, "sda");
    assert_eq!((sda.failed, sda.timed_out), (Some(5), Some(0)));
    assert_eq!(sda.depth_lowered(), Some((16.0, 32.0)));
    let sample = survey.next().unwrap();
    let sda = device(sample, "sda");
    assert_eq!((sda.failed, sda.depth_lowered()), (Some(0), Some((16.0, 32.0))));
}

#[test]
fn a_multipath_device_stands_as_its_paths() {
    let tree = host("6.18.0");
    tree.scsi(2, "sdb", "8:16", "");
    tree.disk("virtual", "dm-0", "253:0", "dm/name = data01\ndm/uuid = mpath-3600\nslaves/sda/\nslaves/sdb/");
    let (a, b, dm) = (row(8, 0, "sda"), row(8, 16, "sdb"), row(253, 0, "dm-0"));
    let used = |r: Row| Row { reads: 1, ..r };
    let (a, b, dm) = (used(a), used(b), used(dm));
    for (disk, busy) in [("sda", 30), ("sdb", 10)] {
        tree.write(&format!("sys/block/{disk}/device/device_busy"), format!("{busy}\n"));
        tree.write(&format!("sys/block/{disk}/stat"), "1 0 0 0 0 0 0 0 40 0 0 0 0 0 0 0 0\n");
    }
    let paths = |a: Row, b: Row, dm: Row| {
        write_rows(
            &tree,
            &[Row { in_flight: 40, ..a }, Row { in_flight: 40, ..b }, Row { in_flight: 80, ..dm }],
        );
    };
    paths(a, b, dm);
    let mut survey = Survey::open(&tree.root(), SurveyOptions::default()).unwrap();
    std::thread::sleep(Duration::from_millis(300));
    let sample = survey.next().unwrap();
    let dm = device(sample, "dm-0");
    assert_eq!((dm.facts.kind, dm.facts.label.as_deref()), (LayerKind::Multipath, Some("data01")));
    assert_eq!(dm.facts.below, ["sda", "sdb"]);
    assert_eq!(device(sample, "sda").facts.above, ["dm-0"]);
    assert_eq!((dm.split_by, dm.limits.device_queue), (SplitBy::Below, Some(64.0)));
    let queues = (dm.host_queue.mean.unwrap(), dm.device_queue.mean.unwrap());
    assert!((queues.0 - 40.0).abs() < 0.01 && (queues.1 - 40.0).abs() < 0.01, "{queues:?}");
}

#[test]
fn a_host_without_counters_is_an_error() {
    let tree = Tree::new();
    let error = Survey::open(&tree.root(), SurveyOptions::default()).unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::NotFound);
}

#[test]
fn the_busiest_devices_are_followed_when_there_are_many() {
    let tree = Tree::of("/proc/sys/kernel/osrelease = 6.18.0");
    let names: Vec<&'static str> = vec!["sda", "sdb", "sdc", "sdd", "sde", "sdf"];
    let rows: Vec<Row> = names
        .iter()
        .enumerate()
        .map(|(n, name)| {
            tree.scsi(n as u32, name, &format!("8:{n}"), "");
            Row { reads: 1, in_flight: n as u64, ..row(8, n as u32, name) }
        })
        .collect();
    write_rows(&tree, &rows);
    let mut survey = Survey::open(&tree.root(), closely(2)).unwrap();
    pause();
    let sample = survey.next().unwrap();
    let peaks: Vec<bool> = sample.devices.iter().map(|d| d.device_queue.peak.is_some()).collect();
    assert_eq!(peaks, [false, false, false, false, true, true]);
}
