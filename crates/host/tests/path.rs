//! The path from invented kernel folders.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod common;

use common::tree::Tree;
use host::path::{DeviceNumber, Target, trace};
use record::{IoPath, LayerKind, LimitKind};

fn target(text: &str, device: &str, on_filesystem: bool) -> Target {
    Target { text: text.to_owned(), device: DeviceNumber::parse(device).unwrap(), on_filesystem }
}

/// One line per layer: kind, name, label and what is below.
fn show(path: &IoPath) -> String {
    let mut lines: Vec<String> = Vec::new();
    for l in &path.layers {
        let kind = serde_json::to_value(l.kind).unwrap();
        let label = l.label.as_deref().map(|t| format!(" '{t}'")).unwrap_or_default();
        lines.push(format!("{} {}{label} > {}", kind.as_str().unwrap(), l.name, l.below.join(" ")));
    }
    lines.extend(path.complaints.iter().map(|c| format!("! {c}")));
    lines.iter().map(|l| l.trim_end_matches([' ', '>']).to_owned()).collect::<Vec<_>>().join("\n")
}

fn check(tree: &Tree, target: &Target, expected: &str) -> IoPath {
    let path = trace(&tree.root(), target);
    let expected: Vec<&str> = expected.lines().map(str::trim).filter(|l| !l.is_empty()).collect();
    assert_eq!(show(&path), expected.join("\n"));
    path
}

fn fact<'p>(path: &'p IoPath, layer: &str, name: &str) -> Option<&'p str> {
    let layer = path.layer(layer).unwrap();
    layer.facts.iter().find(|(n, _)| n == name).map(|(_, value)| value.as_str())
}

fn limit(path: &IoPath, layer: &str, kind: LimitKind) -> Option<f64> {
    path.layer(layer).unwrap().limit(kind).map(|l| l.value)
}

const VIRTIO: &str = "pci0000:00/0000:00:04.0/virtio2";

fn virtio() -> Tree {
    let tree = Tree::of(
        "/proc/self/mountinfo = 20 1 254:1 / / rw,relatime shared:1 - ext4 /dev/vda1 rw,errors=remount-ro\\n\
         21 20 0:5 / /dev rw - devtmpfs udev rw\\n
         /proc/self/cgroup = 0::/user.slice",
    );
    tree.disk(
        VIRTIO,
        "vda",
        "254:0",
        "queue/scheduler = none [mq-deadline] kyber
         queue/iosched/fifo_batch = 16
         queue/iosched/read_expire = 500
         queue/nr_requests = 256
         queue/max_sectors_kb = 1280
         queue/rotational = 1
         queue/write_cache = write back
         mq/0/nr_tags = 128
         mq/1/nr_tags = 128
         serial = disk-7",
    );
    tree.link(&format!("sys/devices/{VIRTIO}/block/vda/device"), "../../../virtio2");
    tree.link(&format!("sys/devices/{VIRTIO}/driver"), "../../../../bus/virtio/drivers/virtio_blk");
    tree.partition(VIRTIO, "vda", "vda1", "254:1");
    tree
}

#[test]
fn a_file_on_a_partition_of_a_virtio_disk_is_followed_down() {
    let path = check(
        &virtio(),
        &target("/var/lib/db/file", "254:1", true),
        "filesystem ext4 '/' > vda1
         partition vda1 > vda
         virtio vda 'virtio disk'",
    );
    assert_eq!(limit(&path, "vda", LimitKind::RequestsPerQueue), Some(256.0));
    assert_eq!(limit(&path, "vda", LimitKind::HardwareQueues), Some(2.0));
    assert_eq!(limit(&path, "vda", LimitKind::TagsPerQueue), Some(128.0));
    assert_eq!(limit(&path, "vda", LimitKind::RequestBytes), Some(1280.0 * 1024.0));
    let vda = path.layer("vda").unwrap();
    let scheduler = vda.tunable("scheduler").unwrap();
    assert_eq!((scheduler.value.as_str(), scheduler.allowed.len()), ("mq-deadline", 3));
    assert_eq!(scheduler.file, "/sys/block/vda/queue/scheduler");
    assert_eq!(vda.tunable("iosched/fifo_batch").unwrap().value, "16");
    assert!(vda.tunable("write_cache").is_none(), "writing it drops flushes: a fact, no tunable");
    assert_eq!(fact(&path, "vda", "write_cache"), Some("write back"));
    assert_eq!(fact(&path, "vda", "queue_kind"), Some("request-based"));
    assert_eq!(fact(&path, "vda", "size_bytes"), Some("1073741824"));
    assert_eq!(vda.stable_id.as_deref(), Some("disk-7"));
    assert_eq!(host::path::hidden(&path).len(), 1);
    assert_eq!(path.leaves().map(|l| l.name.as_str()).collect::<Vec<_>>(), ["vda"]);
}

#[test]
fn a_block_device_itself_has_no_filesystem_above() {
    check(&virtio(), &target("/dev/vda", "254:0", false), "virtio vda 'virtio disk'");
}

#[test]
fn a_number_that_no_device_has_is_a_complaint() {
    check(
        &virtio(),
        &target("/dev/gone", "8:0", false),
        "! /sys/dev/block/8:0: no such device: the path below /dev/gone cannot be followed",
    );
}

fn san() -> Tree {
    let tree = Tree::of(
        "/proc/self/mountinfo = 40 1 253:0 / /u01/oradata rw,noatime - xfs /dev/mapper/vgdata-lvdata rw,attr2\\n
         /sys/class/scsi_host/host1/can_queue = 4096
         /sys/class/scsi_host/host1/cmd_per_lun = 3
         /sys/class/scsi_host/host1/nr_hw_queues = 1
         /sys/class/scsi_host/host1/proc_name = qla2xxx
         /sys/class/fc_host/host1/port_name = 0x2100000000000001
         /sys/class/fc_host/host1/speed = 16 Gbit
         /sys/class/fc_host/host1/port_state = Online
         /sys/class/scsi_host/host2/can_queue = 4096",
    );
    tree.scsi(1, "sda", "8:0", "");
    tree.scsi(2, "sdb", "8:16", "device/queue_depth = 64");
    tree.disk(
        "virtual",
        "dm-0",
        "253:0",
        "dm/name = vgdata-lvdata
         dm/uuid = LVM-abcdef
         dm/suspended = 0
         queue/scheduler = none
         queue/nr_requests = 128
         slaves/sda/
         slaves/sdb/",
    );
    tree
}

#[test]
fn a_striped_volume_on_two_luns_is_a_graph_with_two_leaves() {
    let path = check(
        &san(),
        &target("/u01/oradata", "253:0", true),
        "filesystem xfs '/u01/oradata' > dm-0
         device-mapper dm-0 'vgdata-lvdata' > sda sdb
         scsi sda 'MAKER Array LUN'
         scsi sdb 'MAKER Array LUN'",
    );
    assert_eq!(limit(&path, "sda", LimitKind::LunQueueDepth), Some(32.0));
    assert_eq!(limit(&path, "sdb", LimitKind::LunQueueDepth), Some(64.0));
    assert_eq!(limit(&path, "sda", LimitKind::HostCanQueue), Some(4096.0));
    assert!(path.layer("sda").unwrap().limit(LimitKind::LunQueueDepth).unwrap().live);
    assert_eq!(fact(&path, "sda", "host_driver"), Some("qla2xxx"));
    assert_eq!(fact(&path, "sda", "transport"), Some("fc"));
    assert_eq!(fact(&path, "sda", "fc_speed"), Some("16 Gbit"));
    assert_eq!(fact(&path, "sdb", "transport"), None);
    assert_eq!(fact(&path, "sda", "scsi_address"), Some("1:0:0:1"));
    assert_eq!(path.layer("sda").unwrap().tunable("queue_ramp_up_period").unwrap().value, "120000");
    assert_eq!(path.layer("sda").unwrap().stable_id.as_deref(), Some("naa.6000000000000000000000000000000a"));
    assert_eq!(fact(&path, "dm-0", "queue_kind"), Some("bio-based"));
    assert_eq!(limit(&path, "dm-0", LimitKind::RequestsPerQueue), None, "bios take no requests");
    assert_eq!(path.layer("dm-0").unwrap().stable_id.as_deref(), Some("LVM-abcdef"));
}

#[test]
fn the_serial_comes_from_the_cached_vital_product_data_page() {
    let tree = san();
    tree.write("sys/block/sda/device/vpd_pg80", b"\x00\x80\x00\x06  A123");
    tree.write("sys/block/sdb/device/vpd_pg80", b"\x00\x80\x40\x00A");
    let path = trace(&tree.root(), &target("/u01/oradata", "253:0", true));
    assert_eq!(fact(&path, "sda", "serial"), Some("A123"));
    assert_eq!(fact(&path, "sdb", "serial"), None, "the page says more than it holds");
}

fn multipath(request_based: bool) -> Tree {
    let tree = Tree::of("/proc/self/mountinfo = 40 1 253:5 / /data rw - ext4 /dev/mapper/mpatha rw");
    for (host, name, number) in
        [(1, "sda", "8:0"), (2, "sdb", "8:16"), (3, "sdc", "8:32"), (4, "sdd", "8:48")]
    {
        tree.scsi(host, name, number, "");
    }
    tree.disk(
        "virtual",
        "dm-5",
        "253:5",
        "dm/name = mpatha
         dm/uuid = mpath-3600a0b80000000000000000000000001
         slaves/sda/
         slaves/sdb/
         slaves/sdc/
         slaves/sdd/",
    );
    if request_based {
        tree.add("/sys/block/dm-5/mq/0/nr_tags = 2048\n/sys/block/dm-5/queue/nr_requests = 256");
    }
    tree
}

#[test]
fn multipath_stands_over_its_paths_request_based_or_not() {
    for request_based in [true, false] {
        let path = check(
            &multipath(request_based),
            &target("/data/file", "253:5", true),
            "filesystem ext4 '/data' > dm-5
             multipath dm-5 'mpatha' > sda sdb sdc sdd
             scsi sda 'MAKER Array LUN'
             scsi sdb 'MAKER Array LUN'
             scsi sdc 'MAKER Array LUN'
             scsi sdd 'MAKER Array LUN'",
        );
        let kind = if request_based { "request-based" } else { "bio-based" };
        assert_eq!(fact(&path, "dm-5", "queue_kind"), Some(kind));
        let stable_id = path.layer("dm-5").unwrap().stable_id.as_deref();
        assert_eq!(stable_id, Some("3600a0b80000000000000000000000001"));
    }
}

#[test]
fn an_nvme_namespace_names_its_controller() {
    let tree = Tree::of("/proc/self/mountinfo = 40 1 259:1 / /data rw - xfs /dev/nvme0n1p1 rw");
    let way = "pci0000:00/0000:00:05.0/nvme/nvme0";
    // NVMe names its block folder without a `block` level: the helper's level does no harm.
    tree.disk(
        way,
        "nvme0n1",
        "259:0",
        "wwid = eui.0001
         queue/scheduler = [none] mq-deadline
         queue/nr_requests = 1023
         mq/0/nr_tags = 1023
         mq/1/nr_tags = 1023
         device/model = Fast Disk
         device/serial = S1
         device/transport = pcie
         device/queue_count = 3",
    );
    tree.partition(way, "nvme0n1", "nvme0n1p1", "259:1");
    let path = check(
        &tree,
        &target("/data", "259:1", true),
        "filesystem xfs '/data' > nvme0n1p1
         partition nvme0n1p1 > nvme0n1
         nvme nvme0n1 'Fast Disk'",
    );
    assert_eq!(fact(&path, "nvme0n1", "transport"), Some("pcie"));
    assert_eq!(limit(&path, "nvme0n1", LimitKind::HardwareQueues), Some(2.0));
}

#[test]
fn native_nvme_multipath_is_a_head_over_hidden_paths() {
    let tree = Tree::of("/proc/self/mountinfo = 40 1 259:0 / /data rw - xfs /dev/nvme1n1 rw");
    let subsystem = "virtual/nvme-subsystem/nvme-subsys1";
    tree.disk(subsystem, "nvme1n1", "259:0", "wwid = uuid.7");
    tree.link(&format!("sys/devices/{subsystem}/block/nvme1n1/device"), "../../../nvme-subsys1");
    tree.add(&format!(
        "/sys/devices/{subsystem}/model = Array
         /sys/devices/{subsystem}/iopolicy = numa
         /sys/devices/{subsystem}/nvme1/
         /sys/devices/{subsystem}/nvme3/
         /sys/devices/{subsystem}/nvmexyz/"
    ));
    for (controller, number) in [(1, "259:1"), (3, "259:2")] {
        let way = format!("virtual/nvme-fabrics/ctl/nvme{controller}");
        let files = "device/model = Array\nana_state = optimized\nmq/0/nr_tags = 127";
        tree.disk(&way, &format!("nvme1c{controller}n1"), number, files);
    }
    let path = check(
        &tree,
        &target("/data", "259:0", true),
        "filesystem xfs '/data' > nvme1n1
         nvme nvme1n1 'Array' > nvme1c1n1 nvme1c3n1
         nvme nvme1c1n1 'Array'
         nvme nvme1c3n1 'Array'",
    );
    assert_eq!(path.layer("nvme1n1").unwrap().tunable("iopolicy").unwrap().value, "numa");
    assert_eq!(fact(&path, "nvme1c3n1", "ana_state"), Some("optimized"));
}

#[test]
fn a_mirror_on_partitions_is_followed_into_both_disks() {
    let tree = Tree::of("/proc/self/mountinfo = 40 1 9:0 / /data rw - ext4 /dev/md0 rw");
    for (host, disk, part, number, part_number) in
        [(0, "sda", "sda2", "8:0", "8:2"), (1, "sdb", "sdb2", "8:16", "8:18")]
    {
        tree.scsi(host, disk, number, "");
        let way = format!("pci0000:00/0000:00:03.0/host{host}/target{host}:0:0/{host}:0:0:1");
        tree.partition(&way, disk, part, part_number);
    }
    tree.disk(
        "virtual",
        "md0",
        "9:0",
        "md/level = raid1
         md/raid_disks = 2
         slaves/sda2/
         slaves/sdb2/",
    );
    let path = check(
        &tree,
        &target("/data", "9:0", true),
        "filesystem ext4 '/data' > md0
         md md0 'raid1' > sda2 sdb2
         partition sda2 > sda
         partition sdb2 > sdb
         scsi sda 'MAKER Array LUN'
         scsi sdb 'MAKER Array LUN'",
    );
    assert_eq!(fact(&path, "md0", "raid_disks"), Some("2"));
}

fn on_loop(backing: &str) -> Tree {
    let tree = virtio();
    tree.write(
        "proc/self/mountinfo",
        "20 1 254:1 / / rw - ext4 /dev/vda1 rw\n30 20 7:3 / /mnt/img rw - ext4 /dev/loop3 rw\n",
    );
    tree.disk("virtual", "loop3", "7:3", "mq/0/nr_tags = 128\nloop/dio = 1\nqueue/nr_requests = 128");
    tree.write("sys/block/loop3/loop/backing_file", format!("{backing}\n"));
    tree
}

#[test]
fn a_loop_device_goes_on_through_the_filesystem_of_its_file() {
    let path = check(
        &on_loop("/srv/images/disk.img"),
        &target("/mnt/img/file", "7:3", true),
        "filesystem ext4 '/mnt/img' > loop3
         loop loop3 '/srv/images/disk.img' > ext4@/
         filesystem ext4@/ '/' > vda1
         partition vda1 > vda
         virtio vda 'virtio disk'",
    );
    assert_eq!(fact(&path, "loop3", "direct_io"), Some("1"));
}

#[test]
fn a_loop_device_whose_file_lies_on_itself_ends() {
    let path = trace(&on_loop("/mnt/img/self.img").root(), &target("/mnt/img", "7:3", true));
    assert_eq!(path.layers.len(), 2, "{}", show(&path));
    let raw = trace(&on_loop("/mnt/img/self.img").root(), &target("/dev/loop3", "7:3", false));
    assert_eq!(raw.layers.len(), 2, "{}", show(&raw));
}

#[test]
fn a_deleted_backing_file_still_tells_its_filesystem() {
    let path = trace(&on_loop("/srv/disk.img (deleted)").root(), &target("/dev/loop3", "7:3", false));
    assert_eq!(path.leaves().next().unwrap().name, "vda", "{}", show(&path));
}

#[test]
fn devices_that_stand_on_each_other_in_a_circle_end() {
    let tree = Tree::of("/proc/self/mountinfo = 40 1 253:0 / / rw - ext4 /dev/dm-0 rw");
    for (name, number, slave) in [("dm-0", "253:0", "dm-1"), ("dm-1", "253:1", "dm-0")] {
        tree.disk("virtual", name, number, &format!("dm/name = {name}x\nslaves/{slave}/"));
    }
    let path = trace(&tree.root(), &target("/x", "253:0", true));
    assert_eq!(path.layers.len(), 3, "{}", show(&path));
}

#[test]
fn a_shared_disk_stands_below_everything_that_uses_it() {
    let tree = Tree::of("/proc/self/mountinfo = 40 1 253:0 / / rw - ext4 /dev/dm-0 rw");
    tree.scsi(0, "sda", "8:0", "");
    tree.disk("virtual", "dm-0", "253:0", "dm/name = top\nslaves/sda/\nslaves/dm-1/");
    tree.disk("virtual", "dm-1", "253:1", "dm/name = cache\nslaves/sda/");
    let path = trace(&tree.root(), &target("/x", "253:0", true));
    let names: Vec<&str> = path.layers.iter().map(|l| l.name.as_str()).collect();
    assert_eq!(names, ["ext4", "dm-0", "dm-1", "sda"]);
}

#[test]
fn btrfs_is_found_by_its_source_and_by_all_its_devices() {
    let tree = Tree::of(
        "/proc/self/mountinfo = 40 1 0:44 /@ /data rw - btrfs /dev/sda rw,subvol=/@
         /sys/fs/btrfs/features/
         /sys/fs/btrfs/1f2e/devices/sda/
         /sys/fs/btrfs/1f2e/devices/sdb/",
    );
    tree.scsi(0, "sda", "8:0", "");
    tree.scsi(1, "sdb", "8:16", "");
    // A subvolume shows a device number that is in no mount table.
    check(
        &tree,
        &target("/data/sub/file", "0:61", true),
        "filesystem btrfs '/data' > sda sdb
         scsi sda 'MAKER Array LUN'
         scsi sdb 'MAKER Array LUN'",
    );
}

#[test]
fn filesystems_without_a_device_say_why_the_path_ends() {
    let tree = Tree::of(
        "/proc/self/mountinfo = 1 0 0:30 / / rw - overlay overlay rw,lowerdir=/l,upperdir=/var/up,workdir=/w\\n\
         2 1 0:31 / /tmp rw - tmpfs tmpfs rw\\n3 1 0:32 / /nfs rw - nfs4 filer:/vol rw\\n\
         4 1 0:33 / /tank rw - zfs tank/db rw",
    );
    for (path, device, expected) in [
        ("/x", "0:30", "it writes to /var/up"),
        ("/tmp/x", "0:31", "lives in memory"),
        ("/nfs/x", "0:32", "another machine (filer:/vol)"),
        ("/tank/x", "0:33", "the pool behind tank/db"),
    ] {
        let path = trace(&tree.root(), &target(path, device, true));
        assert_eq!(path.layers.len(), 1);
        assert!(path.complaints.len() == 1 && path.complaints[0].contains(expected), "{:?}", path.complaints);
    }
}

#[test]
fn a_mapped_source_is_found_through_its_link() {
    let tree = san();
    tree.write("proc/self/mountinfo", "40 1 0:9 / /data rw - btrfs /dev/mapper/vgdata-lvdata rw\n");
    tree.link("dev/mapper/vgdata-lvdata", "../dm-0");
    let path = trace(&tree.root(), &target("/data", "0:9", true));
    assert_eq!(path.leaves().count(), 2, "{}", show(&path));
}

#[test]
fn caps_of_cgroup_v1_stand_above_the_device_they_name() {
    let tree = virtio();
    tree.write(
        "proc/self/mountinfo",
        "20 1 254:1 / / rw - ext4 /dev/vda1 rw\n\
         38 31 0:35 / /sys/fs/cgroup/blkio rw - cgroup cgroup rw,blkio\n",
    );
    tree.write("proc/self/cgroup", "8:pids:/\n7:cpu,blkio:/db/one\n0::/\n");
    tree.add(
        "/sys/fs/cgroup/blkio/db/one/blkio.throttle.read_iops_device = 8:0 5\\n254:0 1000
         /sys/fs/cgroup/blkio/db/blkio.throttle.write_bps_device = 254:0 1048576
         /sys/fs/cgroup/blkio/blkio.throttle.read_bps_device = 254:16 1",
    );
    let path = check(
        &tree,
        &target("/f", "254:1", true),
        "filesystem ext4 '/' > vda1
         partition vda1 > vda
         cgroup /db/one 'cgroup v1 blkio' > vda
         cgroup /db 'cgroup v1 blkio' > vda
         virtio vda 'virtio disk'",
    );
    assert_eq!(limit(&path, "/db/one", LimitKind::ReadIops), Some(1000.0));
    assert_eq!(limit(&path, "/db", LimitKind::WriteBytesPerS), Some(1_048_576.0));
    assert_eq!(path.leaves().count(), 1, "a cap has no counters and is no device");
}

#[test]
fn caps_of_cgroup_v2_are_read_with_ancestors_and_absent_ones_left_out() {
    let tree = san();
    tree.write(
        "proc/self/mountinfo",
        "40 1 253:0 / /u01 rw - xfs /dev/mapper/vgdata-lvdata rw\n\
         41 1 0:29 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n",
    );
    tree.write("proc/self/cgroup", "0::/system.slice/db.service\n");
    tree.add(
        "/sys/fs/cgroup/system.slice/db.service/io.max = 253:0 rbps=max wbps=max riops=2000 wiops=max
         /sys/fs/cgroup/system.slice/io.max = 8:0 rbps=1000000 wbps=bad riops=max wiops=max
         /sys/fs/cgroup/system.slice/io.latency = 8:16 target=5000
         /sys/fs/cgroup/io.cost.qos = 8:16 enable=0 ctrl=auto",
    );
    let path = check(
        &tree,
        &target("/u01/f", "253:0", true),
        "filesystem xfs '/u01' > dm-0
         cgroup /system.slice/db.service 'cgroup v2 io' > dm-0
         device-mapper dm-0 'vgdata-lvdata' > sda sdb
         cgroup /system.slice 'cgroup v2 io' > sda
         scsi sda 'MAKER Array LUN'
         cgroup /system.slice@sdb 'cgroup v2 io' > sdb
         scsi sdb 'MAKER Array LUN'
         ! /sys/fs/cgroup/system.slice/io.max: expected a number or max in wbps for 8:0, found 'bad'",
    );
    assert_eq!(limit(&path, "/system.slice/db.service", LimitKind::ReadIops), Some(2000.0));
    assert_eq!(limit(&path, "/system.slice", LimitKind::ReadBytesPerS), Some(1e6));
    assert_eq!(fact(&path, "/system.slice@sdb", "io.latency"), Some("target=5000"));
}

#[test]
fn the_root_of_a_containers_hierarchy_is_cut_off_the_path() {
    let tree = virtio();
    tree.write(
        "proc/self/mountinfo",
        "20 1 254:1 / / rw - ext4 /dev/vda1 rw\n\
         41 1 0:29 /docker/abc /sys/fs/cgroup rw - cgroup2 cgroup rw\n",
    );
    tree.write("proc/self/cgroup", "0::/docker/abc/db\n");
    tree.add("/sys/fs/cgroup/db/io.max = 254:0 rbps=max wbps=max riops=77 wiops=max");
    let path = trace(&tree.root(), &target("/f", "254:1", true));
    assert_eq!(limit(&path, "/db", LimitKind::ReadIops), Some(77.0));
}

#[test]
fn absent_files_are_no_complaint_but_absurd_ones_are() {
    let tree = virtio();
    tree.remove("sys/block/vda/queue/rotational");
    tree.write("sys/block/vda/queue/nr_requests", "many\n");
    tree.write("sys/block/vda/queue/scheduler", "a b c\n");
    tree.write("sys/block/vda/size", "99999999999999999999999\n");
    let path = trace(&tree.root(), &target("/dev/vda", "254:0", false));
    let complaints = path.complaints.join("\n");
    assert_eq!(path.complaints.len(), 3, "{complaints}");
    assert!(complaints.contains("queue/nr_requests: expected a number, found 'many'"), "{complaints}");
    assert!(complaints.contains("queue/scheduler: expected one name in brackets"), "{complaints}");
    assert!(complaints.contains("size: expected a number"), "{complaints}");
    assert_eq!(path.layer("vda").unwrap().limit(LimitKind::RequestsPerQueue), None);
}

#[test]
fn an_unreadable_file_is_a_complaint_with_its_name() {
    let tree = virtio();
    tree.remove("sys/block/vda/queue/scheduler");
    tree.add("/sys/block/vda/queue/scheduler/");
    let path = trace(&tree.root(), &target("/dev/vda", "254:0", false));
    assert!(path.complaints.iter().any(|c| c.starts_with("/sys/block/vda/queue/scheduler: cannot be read")));
}

#[test]
fn a_stack_without_end_is_cut_with_a_complaint() {
    let tree = Tree::of("/proc/self/mountinfo = 40 1 253:0 / / rw - ext4 /dev/dm-0 rw");
    for n in 0..60 {
        let files = format!("dm/name = n{n}\nslaves/dm-{}/", n + 1);
        tree.disk("virtual", &format!("dm-{n}"), &format!("253:{n}"), &files);
    }
    let path = trace(&tree.root(), &target("/", "253:0", true));
    assert!(path.complaints.iter().any(|c| c.contains("too deep")), "{:?}", path.complaints);
}

#[test]
fn an_empty_root_gives_an_empty_path_and_says_so() {
    let path = trace(&Tree::new().root(), &target("/x", "8:1", true));
    assert!(path.layers.is_empty() && !path.complaints.is_empty());
}

/// Every file of a tree replaced by the same absurd content: nothing panics, and the path still comes.
#[test]
fn torn_and_absurd_files_never_panic() {
    let long = "9".repeat(100_000);
    let absurd: [&[u8]; 8] =
        [b"", b"\n", b"-1", b"\xff\xfe\x00", b"1e309", b"[", b"8:0 8:0 8:0", long.as_bytes()];
    for content in absurd {
        for tree in [san(), multipath(true), on_loop("/f")] {
            for file in files(&tree.place("")) {
                std::fs::write(&file, content).unwrap();
            }
            for target in [target("/u01/oradata", "253:0", true), target("/dev/loop3", "7:3", false)] {
                trace(&tree.root(), &target);
            }
        }
    }
}

fn files(folder: &std::path::Path) -> Vec<std::path::PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let kind = entry.file_type().unwrap();
        if kind.is_dir() {
            found.extend(files(&entry.path()));
        } else if kind.is_file() {
            found.push(entry.path());
        }
    }
    found.sort();
    found
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig { cases: 32, ..Default::default() })]

    #[test]
    fn garbage_in_any_file_never_panics(which in 0_usize..1000, content in proptest::collection::vec(0_u8.., 0..200)) {
        let tree = san();
        let files = files(&tree.place(""));
        std::fs::write(&files[which % files.len()], content).unwrap();
        let path = trace(&tree.root(), &target("/u01/oradata", "253:0", true));
        let again = serde_json::from_str::<IoPath>(&serde_json::to_string(&path).unwrap()).unwrap();
        proptest::prop_assert_eq!(path, again);
    }

    #[test]
    fn garbage_as_mount_table_never_panics(text in "[ -~\\\\\n]{0,300}") {
        let tree = virtio();
        tree.write("proc/self/mountinfo", format!("20 1 254:1 / / rw - ext4 /dev/vda1 rw\n{text}"));
        let path = trace(&tree.root(), &target("/f", "254:1", true));
        proptest::prop_assert!(path.layers.iter().all(|l| l.kind != LayerKind::Md));
    }
}
