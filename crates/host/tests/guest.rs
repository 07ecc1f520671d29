//! Kernel folders with the shape that a guest with real SCSI LUNs showed (kernels 6.1 and 6.12).
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod common;

use common::tree::Tree;
use host::path::{DeviceNumber, Target, trace};
use host::sample::PathFollower;
use record::{Follow, IoPath, LayerKind, LimitKind, TagSharing, Window};
use std::time::Duration;

fn device(name: &str, number: &str) -> Target {
    let device = DeviceNumber::parse(number).unwrap();
    Target { text: format!("/dev/{name}"), device, on_filesystem: false }
}

fn fact<'p>(path: &'p IoPath, layer: &str, name: &str) -> Option<&'p str> {
    let layer = path.layer(layer).unwrap();
    layer.facts.iter().find(|(n, _)| n == name).map(|(_, value)| value.as_str())
}

/// One scsi_debug host with four LUNs and one with a single LUN, as their addresses list them.
fn adapter() -> Tree {
    let tree = Tree::of(
        "/sys/class/scsi_host/host0/can_queue = 16
         /sys/class/scsi_host/host0/proc_name = scsi_debug
         /sys/module/scsi_debug/parameters/max_queue = 16
         /sys/class/scsi_device/1:0:0:0/device/iorequest_cnt = 0x5
         /sys/class/scsi_device/1:0:0:0/device/block/sde/",
    );
    tree.scsi(0, "sda", "8:0", "device/queue_depth = 16\nmq/0/nr_tags = 16\nqueue/nr_requests = 16");
    // The helper puts the LUN at 0:0:0:1.
    for (lun, disk) in [(0, "sdb"), (1, "sda"), (2, "sdc"), (3, "sdd")] {
        let folder = format!("/sys/class/scsi_device/0:0:0:{lun}/device");
        tree.add(&format!("{folder}/iorequest_cnt = 0x1f\n{folder}/block/{disk}/"));
    }
    tree
}

#[test]
fn an_adapter_tells_its_neighbours_and_what_sets_its_commands() {
    let path = trace(&adapter().root(), &device("sda", "8:0"));
    assert_eq!(fact(&path, "sda", "host"), Some("host0"));
    assert_eq!(fact(&path, "sda", "siblings"), Some("sdb sdc sdd"));
    assert_eq!(fact(&path, "sda", "host_parameter"), Some("max_queue"));
    assert_eq!(fact(&path, "sda", "host_parameter_value"), Some("16"));
    let value = |kind| path.layer("sda").unwrap().limit(kind).map(|l| l.value);
    assert_eq!((value(LimitKind::HostCanQueue), value(LimitKind::TagsPerQueue)), (Some(16.0), Some(16.0)));
}

/// What a window says of the tags when `change` happens in it.
fn sharing(tree: &Tree, follower: &mut PathFollower, change: impl FnOnce(&Tree)) -> TagSharing {
    follower.begin();
    std::thread::sleep(Duration::from_millis(15));
    change(tree);
    let window = Window { length_s: 0.02, ios: 0, bytes: 0, outstanding_mean: 0.0 };
    let followed = follower.end(&window);
    followed.layers.iter().find(|l| l.name == "sda").unwrap().tag_sharing.clone().unwrap()
}

fn commands(tree: &Tree, lun: &str, count: &str) {
    tree.write(&format!("sys/class/scsi_device/{lun}/device/iorequest_cnt"), count);
}

#[test]
fn a_neighbour_counts_as_active_from_its_first_command_for_some_seconds() {
    let tree = adapter();
    let path = trace(&tree.root(), &device("sda", "8:0"));
    let mut follower = PathFollower::new(&tree.root(), &path, &[]).unwrap();
    let nobody = TagSharing { siblings: 3, active: Vec::new(), counted: None };
    assert_eq!(sharing(&tree, &mut follower, |_| {}), nobody, "what was counted before is no activity");
    assert_eq!(
        sharing(&tree, &mut follower, |t| commands(t, "0:0:0:1", "0x99")),
        nobody,
        "these are our own"
    );
    assert_eq!(sharing(&tree, &mut follower, |t| commands(t, "1:0:0:0", "0x99")), nobody, "another host");
    assert_eq!(sharing(&tree, &mut follower, |t| commands(t, "0:0:0:2", "0x20")).active, ["sdc"]);
    assert_eq!(sharing(&tree, &mut follower, |_| {}).active, ["sdc"], "it keeps its tags for seconds");
}

#[test]
fn the_kernels_own_count_of_active_luns_is_read_where_it_may_be() {
    let tree = adapter();
    let tags =
        |n: u32| format!("nr_tags=16\nnr_reserved_tags=0\nactive_queues={n}\n\nbitmap_tags:\ndepth=16\n");
    let write = |tree: &Tree, n| tree.write("sys/kernel/debug/block/sda/hctx0/tags", tags(n));
    write(&tree, 2);
    let path = trace(&tree.root(), &device("sda", "8:0"));
    let mut follower = PathFollower::new(&tree.root(), &path, &[]).unwrap();
    assert_eq!(sharing(&tree, &mut follower, |_| {}).counted, Some(2));
    assert_eq!(sharing(&tree, &mut follower, |t| write(t, 4)).counted, Some(4), "the most of the window");
    assert_eq!(sharing(&tree, &mut follower, |t| write(t, 1)).counted, Some(4));
    assert_eq!(sharing(&tree, &mut follower, |_| {}).counted, Some(1));
}

#[test]
fn a_queue_that_only_polls_carries_nothing() {
    let tree = Tree::of("/sys/devices/system/cpu/online = 0");
    let queues = "queue/scheduler = [none] mq-deadline
         queue/nr_requests = 8
         mq/0/nr_tags = 8
         mq/0/cpu_list = 0
         mq/1/nr_tags = 8
         mq/1/cpu_list = 0";
    tree.disk("virtual", "nullb0", "252:0", queues);
    let path = trace(&tree.root(), &device("nullb0", "252:0"));
    assert_eq!(path.layer("nullb0").unwrap().limit(LimitKind::HardwareQueues).unwrap().value, 1.0);
    assert_eq!(fact(&path, "nullb0", "hardware_queues"), Some("2"));
    tree.write("sys/devices/system/cpu/online", "0-3\n");
    let path = trace(&tree.root(), &device("nullb0", "252:0"));
    assert_eq!(path.layer("nullb0").unwrap().limit(LimitKind::HardwareQueues).unwrap().value, 2.0);
    assert_eq!(fact(&path, "nullb0", "hardware_queues"), None);
}

#[test]
fn a_map_that_allocates_requests_is_multipath_though_it_was_made_by_hand() {
    for (queue, kind) in
        [("mq/0/nr_tags = 2048", LayerKind::Multipath), ("dm/suspended = 0", LayerKind::DeviceMapper)]
    {
        let tree = Tree::new();
        tree.disk("virtual", "dm-0", "254:0", &format!("dm/name = mp\nslaves/sda/\n{queue}"));
        tree.scsi(0, "sda", "8:0", "");
        let path = trace(&tree.root(), &device("dm-0", "254:0"));
        assert_eq!(path.layer("dm-0").unwrap().kind, kind);
        assert_eq!(fact(&path, "dm-0", "path_selector"), None, "an invented kernel has no table");
    }
}

#[test]
fn an_iscsi_lun_names_its_target() {
    let tree = Tree::of(
        "/sys/class/iscsi_host/host4/
         /sys/class/scsi_host/host4/can_queue = 113
         /sys/class/scsi_host/host4/proc_name = iscsi_tcp
         /sys/class/iscsi_session/session1/targetname = iqn.2024-01.org.example:t",
    );
    let way = "platform/host4/session1/target4:0:0/4:0:0:0";
    tree.disk(way, "sde", "8:64", "queue/nr_requests = 113");
    tree.add(&format!("/sys/devices/{way}/queue_depth = 32"));
    tree.link(&format!("sys/devices/{way}/block/sde/device"), "../../../4:0:0:0");
    let path = trace(&tree.root(), &device("sde", "8:64"));
    assert_eq!(fact(&path, "sde", "transport"), Some("iscsi"));
    assert_eq!(fact(&path, "sde", "iscsi_target"), Some("iqn.2024-01.org.example:t"));
    assert_eq!(fact(&path, "sde", "host_parameter"), Some("node.session.cmds_max"));
}

/// A process in /job of a version 2 hierarchy that caps or costs sda.
fn control_groups(files: &str) -> IoPath {
    let tree = Tree::of(&format!(
        "/proc/self/mountinfo = 25 1 0:22 / /sys/fs/cgroup rw - cgroup2 c rw
         /proc/self/cgroup = 0::/job
         {files}"
    ));
    tree.scsi(0, "sda", "8:0", "");
    trace(&tree.root(), &device("sda", "8:0"))
}

#[test]
fn a_cap_of_version_two_is_read_from_io_max() {
    let path = control_groups(
        "/sys/fs/cgroup/job/io.max = 8:16 rbps=max wbps=max riops=7 wiops=max\\n8:0 rbps=max wbps=max riops=2000 wiops=max",
    );
    let cap = path.layers[0].limit(LimitKind::ReadIops).unwrap();
    assert_eq!((cap.value, cap.file.as_str()), (2000.0, "/sys/fs/cgroup/job/io.max"));
    assert_eq!(
        (path.layers[0].dev.as_deref(), path.layers[0].below.as_slice()),
        (Some("8:0"), &["sda".to_owned()][..])
    );
    assert_eq!(path.layers[0].limits.len(), 1);
}

#[test]
fn the_cost_model_stands_in_the_root_of_the_hierarchy() {
    let files = |enable: u32| {
        format!(
            "/sys/fs/cgroup/io.cost.qos = 8:0 enable={enable} ctrl=user rpct=0.00 rlat=100000 min=100.00 max=100.00
             /sys/fs/cgroup/io.cost.model = 8:0 ctrl=user model=linear rbps=100000000 rseqiops=5000 rrandiops=4000"
        )
    };
    let path = control_groups(&files(1));
    assert_eq!((path.layers[0].kind, path.layers[0].name.as_str()), (LayerKind::Cgroup, "/"));
    assert_eq!(fact(&path, "/", "io.cost.qos_file"), Some("/sys/fs/cgroup/io.cost.qos"));
    assert!(fact(&path, "/", "io.cost.model").unwrap().contains("rrandiops=4000"));
    assert!(fact(&path, "/", "io.cost.qos").unwrap().starts_with("enable=1"));
    let path = control_groups(&files(0));
    assert_eq!(path.layers[0].kind, LayerKind::Scsi, "a model that is off is no layer");
}
