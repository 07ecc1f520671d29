//! Every outstanding I/O is counted once, whatever the stack.

mod support;

use analyze::{Offered, split};
use record::LayerKind;
use support::*;

fn offered(outstanding: f64, mib_per_s: f64) -> Offered {
    Offered { outstanding, mib_per_s, unserved: 0.0 }
}

fn mib(iops: f64) -> f64 {
    iops * BLOCK as f64 / (1 << 20) as f64
}

#[test]
fn a_disk_under_its_partition_is_counted_once() {
    let path = path(vec![
        other(LayerKind::Filesystem, "ext4", &["sda1"], false),
        other(LayerKind::Partition, "sda1", &["sda"], true),
        scsi("sda", 32.0, 64.0, "mq-deadline"),
    ]);
    let layers =
        [layer_seen("sda1", 1000.0, 0.0, 10.0, None), layer_seen("sda", 1000.0, 4.0, 6.0, Some(32.0))];
    let split = split(&path, &layers, offered(12.0, mib(1000.0)));
    assert_eq!(split.devices, ["sda"]);
    assert_eq!(
        (split.above.mean, split.host_queue.mean, split.device_queue.mean),
        (Some(2.0), Some(4.0), Some(6.0))
    );
}

#[test]
fn striped_disks_add_up() {
    let path = path(vec![
        other(LayerKind::DeviceMapper, "dm-0", &["sda", "sdb"], true),
        scsi("sda", 32.0, 64.0, "mq-deadline"),
        scsi("sdb", 32.0, 64.0, "mq-deadline"),
    ]);
    let half = |name| layer_seen(name, 500.0, 1.0, 7.0, Some(32.0));
    let split = split(
        &path,
        &[layer_seen("dm-0", 1000.0, 0.0, 16.0, None), half("sda"), half("sdb")],
        offered(16.0, mib(1000.0)),
    );
    assert_eq!(
        (split.above.mean, split.host_queue.mean, split.device_queue.mean),
        (Some(0.0), Some(2.0), Some(14.0))
    );
}

#[test]
fn a_backing_file_in_the_page_cache_leaves_the_loop_device_as_the_device() {
    let path = path(vec![
        other(LayerKind::Loop, "loop0", &["ext4"], true),
        other(LayerKind::Filesystem, "ext4", &["sda"], false),
        scsi("sda", 32.0, 64.0, "none"),
    ]);
    let layers = [layer_seen("loop0", 1000.0, 1.0, 7.0, None), layer_seen("sda", 2.0, 0.0, 0.0, Some(32.0))];
    let split = split(&path, &layers, offered(8.0, mib(1000.0)));
    assert_eq!(split.devices, ["loop0"]);
    assert_eq!(split.device_queue.mean, Some(7.0));
}

#[test]
fn a_loop_device_counts_its_own_queue_and_the_disk_below_its() {
    let path = path(vec![
        other(LayerKind::Loop, "loop0", &["ext4"], true),
        other(LayerKind::Filesystem, "ext4", &["sda"], false),
        scsi("sda", 32.0, 64.0, "mq-deadline"),
    ]);
    let layers =
        [layer_seen("loop0", 1000.0, 10.0, 20.0, None), layer_seen("sda", 1000.0, 3.0, 12.0, Some(32.0))];
    let split = split(&path, &layers, offered(32.0, mib(1000.0)));
    // 10 wait before the loop driver, 3 before the disk, 12 are at the disk; 7 are between them or above.
    assert_eq!(
        (split.above.mean, split.host_queue.mean, split.device_queue.mean),
        (Some(7.0), Some(13.0), Some(12.0))
    );
}

#[test]
fn without_counters_all_is_bounded_by_what_is_outstanding() {
    let split = split(&path(vec![other(LayerKind::Filesystem, "nfs", &[], false)]), &[], offered(8.0, 10.0));
    assert_eq!((split.above.mean, split.above.low, split.above.high), (None, 0.0, 8.0));
}

#[test]
fn waiters_for_a_tag_stand_in_the_host_queue() {
    let path = path(vec![scsi("sda", 128.0, 256.0, "mq-deadline")]);
    let mut seen = layer_seen("sda", 1000.0, 166.0, 80.0, Some(128.0));
    seen.host_queue = record::Standing::between(158.0, 400.0, "all 256 scheduler tags were taken");
    let split = split(&path, &[seen], offered(512.0, mib(1000.0)));
    assert_eq!(
        (split.above.mean, split.host_queue.mean, split.device_queue.mean),
        (Some(0.0), Some(432.0), Some(80.0))
    );
}

#[test]
fn ios_passed_over_at_a_full_lun_stand_in_the_host_queue() {
    let path = path(vec![scsi("sda", 2.0, 192.0, "none")]);
    let full = || layer_seen("sda", 1965.0, 2.0, 2.0, Some(2.0));
    let passed = Offered { unserved: 4.0, ..offered(8.0, mib(1965.0)) };
    let split_of = |seen, offered| {
        let split = split(&path, &[seen], offered);
        (split.above.mean, split.host_queue.mean, split.device_queue.mean)
    };
    assert_eq!(split_of(full(), passed), (Some(0.0), Some(6.0), Some(2.0)));
    // A LUN with room, which now and then held more, passes nothing over: whatever waits there waits above.
    let mut roomy = layer_seen("sda", 1965.0, 2.0, 2.0, Some(32.0));
    roomy.device_queue_peak = Some(5.0);
    assert_eq!(split_of(roomy, passed), (Some(4.0), Some(2.0), Some(2.0)));
}
