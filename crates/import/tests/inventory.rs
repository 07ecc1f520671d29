//! multipath, lsscsi, nvme list, and attributes of /sys.
#![allow(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

mod support;

use proptest::prelude::*;
use record::imported::{Gathered, PlaceKind, Value, facts};
use support::{damaged, read_any, read_as};

fn number(all: &Gathered, place: &str, name: &str) -> f64 {
    all.fact(place, name).and_then(Value::number).unwrap_or(f64::NAN)
}

fn text(all: &Gathered, place: &str, name: &str) -> String {
    all.fact(place, name).map(Value::text).unwrap_or_default()
}

const TREE: &str = "\
create: mpatha (3600508b400105e210000900000490000) dm-2 HP,HSV200
size=20G features='1 queue_if_no_path' hwhandler='1 alua' wp=rw
|-+- policy='service-time 0' prio=50 status=active
| |- 5:0:0:1 sdc 8:32  active ready running
| `- 5:0:1:1 sdg 8:96  failed faulty offline
`-+- policy='service-time 0' prio=10 status=enabled
  |- #:#:#:# -   #:#   active undef unknown
  `- 6:0:0:1 sdk 8:160 active ready running
Oct 28 14:02:44 | sdz: couldn't get target port group
1IET     00080007 dm-19 COMPELNT,Compellent Vol
size=16T features='0' hwhandler='0' wp=rw
`-+- policy='round-robin 0' prio=1 status=active
  `- 3:0:0:1 sdb 8:16 active ready running
uuid.0f2a5d4e-0000-0000-0000-000000000001 [nvme]:nvme1n1 NVMe,Linux,4.18.0
size=41943040 features='n/a' hwhandler='ANA' wp=rw
|-+- policy='n/a' prio=50 status=optimized
| `- 1:1:1   nvme1c1n1 0:0 n/a optimized live
";

#[test]
fn maps_groups_and_paths_of_the_tree() {
    let all = read_as("multipath", TREE);
    assert!(all.complaints.is_empty(), "{:?}", all.complaints);
    assert_eq!(text(&all, "mpatha", facts::WWID), "3600508b400105e210000900000490000");
    assert_eq!(text(&all, "mpatha", facts::PATH_SELECTOR), "service-time 0");
    assert_eq!(text(&all, "mpatha", "kernel_name"), "dm-2");
    assert_eq!(number(&all, "mpatha", facts::SIZE_BYTES), 20.0 * 1024f64.powi(3));
    assert_eq!(text(&all, "sdg", facts::PATH_STATE), "failed faulty offline");
    assert_eq!(text(&all, "sdk", facts::PART_OF), "mpatha");
    assert_eq!(text(&all, "sdk", facts::SCSI_ADDRESS), "6:0:0:1");
    assert_eq!(text(&all, "1IET     00080007", facts::PRODUCT), "Compellent Vol");
    assert_eq!(text(&all, "sdb", facts::PART_OF), "1IET     00080007");
    assert_eq!(text(&all, "nvme1c1n1", facts::PATH_STATE), "n/a optimized live");
}

const BRACKETS: &str = "\
mpath1 (360060160ade32800f2e3baf47665e211) dm-9 DGC,RAID 5
[size=100 GB][features=1 queue_if_no_path][hwhandler=1 emc][rw]
\\_ round-robin 0 [prio=1][active]
 \\_ 3:0:1:4 sdk  8:160  [active][ready]
\\_ round-robin 0 [prio=0][enabled]
 \\_ 3:0:0:4 sdf  8:80   [failed][faulty]
";

#[test]
fn brackets_of_the_first_generation() {
    let all = read_as("multipath", BRACKETS);
    assert!(all.complaints.is_empty(), "{:?}", all.complaints);
    assert_eq!(number(&all, "mpath1", facts::SIZE_BYTES), 100.0 * 1024f64.powi(3));
    assert_eq!(text(&all, "mpath1", facts::PATH_SELECTOR), "round-robin 0");
    assert_eq!(text(&all, "sdf", facts::PATH_STATE), "failed faulty");
    assert_eq!(text(&all, "sdk", "path_group"), "active priority 1");
    // The oldest had no kernel name.
    let all = read_as("multipath", &BRACKETS.replace(" dm-9 DGC,RAID 5", ""));
    assert_eq!(text(&all, "sdf", facts::PART_OF), "mpath1");
    let all = read_as("multipath", &TREE.replace("| |- 5:0:0:1 sdc 8:32  active", "| |- 5:0:0:1"));
    assert_eq!(all.complaints.len(), 1);
}

const LSSCSI: &str = "\
[0:0:0:0]    storage IET      Controller       0001  -          -
[0:2:0:0]    disk    DELL     PERC H710P       3.13  /dev/sda   1.00TB
[1:0:0:2]    cd/dvd  QEMU     QEMU DVD-ROM     2.5+  /dev/sr0   -
[10:0:1:14]  disk    IBM      2145             0000  /dev/sdab  536GiB
[N:0:1:1]    disk    Samsung SSD 960 EVO 250GB__1               /dev/nvme0n1  250GB
[2:0:0:0]    disk    sas:0x5000c5000001        /dev/sdc   /dev/sg3
  state=running queue_depth=64 scsi_level=7 type=0 device_blocked=0 timeout=30
";

#[test]
fn columns_and_options_of_lsscsi() {
    let all = read_as("lsscsi", LSSCSI);
    assert!(all.complaints.is_empty(), "{:?}", all.complaints);
    assert_eq!(
        (text(&all, "sda", facts::VENDOR), text(&all, "sda", facts::PRODUCT)),
        ("DELL".into(), "PERC H710P".into())
    );
    assert_eq!(
        (number(&all, "sda", facts::SIZE_BYTES), text(&all, "sr0", facts::PRODUCT)),
        (1e12, "QEMU DVD-ROM".into())
    );
    assert_eq!(number(&all, "sdab", facts::SIZE_BYTES), 536.0 * 1024f64.powi(3));
    assert_eq!(text(&all, "sdab", facts::SCSI_ADDRESS), "10:0:1:14");
    assert_eq!(text(&all, "nvme0n1", facts::SCSI_ADDRESS), "N:0:1:1");
    assert_eq!(
        (text(&all, "sdc", "transport"), number(&all, "sdc", facts::QUEUE_DEPTH)),
        ("sas:0x5000c5000001".into(), 64.0)
    );
    assert_eq!(all.places.iter().find(|p| p.name == "0:0:0:0").unwrap().kind, PlaceKind::Other);
    let all = read_as("lsscsi", "[1:0:0:2]    disk    IET      VIRTUAL-DISK     0001\n");
    assert_eq!(all.complaints.len(), 1);
}

const NVME: &str = "\
Node                  Generic               SN                   Model                                    Namespace  Usage                      Format           FW Rev  
--------------------- --------------------- -------------------- ---------------------------------------- ---------- -------------------------- ---------------- --------
/dev/nvme0n1          /dev/ng0n1            S4EWNX0R123456       Samsung SSD 970 EVO Plus 1TB             0x1        456.78  GB /   1.00  TB      4 KiB +  0 B   2B2QEXM7
";
const NVME_OLD: &str = "\
Node             SN                   Model                                    Namespace Usage                      Format           FW Rev  
---------------- -------------------- ---------------------------------------- --------- -------------------------- ---------------- --------
/dev/nvme1n1     vol0123456789        Amazon Elastic Block Store               1           0.00   B /   8.59  GB    512   B +  0 B   1.0     
";

#[test]
fn the_table_of_nvme_list_old_and_new() {
    let all = read_as("nvme-list", NVME);
    assert!(all.complaints.is_empty(), "{:?}", all.complaints);
    assert_eq!(
        (number(&all, "nvme0n1", facts::SIZE_BYTES), number(&all, "nvme0n1", "logical_sector_bytes")),
        (1e12, 4096.0)
    );
    assert_eq!(
        (text(&all, "nvme0n1", "firmware"), text(&all, "nvme0n1", "serial")),
        ("2B2QEXM7".into(), "S4EWNX0R123456".into())
    );
    let all = read_as("nvme-list", NVME_OLD);
    assert_eq!(
        (number(&all, "nvme1n1", facts::SIZE_BYTES), number(&all, "nvme1n1", "namespace_id")),
        (8.59e9, 1.0)
    );
    let all = read_as("nvme-list", &NVME.replace("1.00  TB", "?.00  TB"));
    assert_eq!(all.complaints.len(), 1);
}

const NVME_JSON: &str = r#"{ "Devices" : [
 { "DevicePath" : "/dev/nvme0n1", "Firmware" : "1.0", "ModelNumber" : "A B", "SerialNumber" : "S1", "UsedBytes" : 0,
   "MaximiumLBA" : 16777216, "SectorSize" : 512 },
 { "HostNQN":"nqn", "Subsystems":[ { "Subsystem":"nvme-subsys1", "Controllers":[ { "Controller":"nvme1",
   "SerialNumber":"S2", "ModelNumber":"C", "Firmware":"2", "Transport":"pcie",
   "Namespaces":[ { "NameSpace":"nvme1n1", "NSID":1, "UsedBytes":10, "PhysicalSize":4096000, "SectorSize":4096 } ] } ] } ] }
] }
"#;

#[test]
fn nvme_lists_in_json_flat_nested_and_cut_off() {
    let all = read_as("nvme-list-json", NVME_JSON);
    assert!(all.complaints.is_empty(), "{:?}", all.complaints);
    assert_eq!(number(&all, "nvme0n1", facts::SIZE_BYTES), 8_589_934_592.0);
    assert_eq!(
        (text(&all, "nvme1n1", "serial"), number(&all, "nvme1n1", "namespace_id")),
        ("S2".into(), 1.0)
    );
    let cut = read_as("nvme-list-json", &NVME_JSON[..NVME_JSON.find("Transport").unwrap()]);
    assert_eq!(number(&cut, "nvme0n1", facts::SIZE_BYTES), 8_589_934_592.0);
    assert_eq!(cut.complaints.len(), 1);
}

const SYSFS: &str = "\
/sys/class/fc_host/host3/port_name:0x10000000c9000001
/sys/class/fc_host/host3/speed:8 Gbit
/sys/class/fc_host/host3/statistics/error_frames:0x4b
/sys/class/fc_host/host3/statistics/lip_count:0xffffffffffffffff
/sys/class/fc_host/host3/statistics/seconds_since_last_reset:0x15180
/sys/class/scsi_host/host3/can_queue:2048
/sys/block/sdb/device/queue_depth:32
/sys/block/sdb/queue/nr_requests:128
/sys/block/sdb/queue/scheduler:noop [deadline] cfq
/sys/block/sdb/queue/max_sectors_kb:512
/sys/devices/pci0000:00/0000:00:1f.2/host0/target0:0:0/0:0:0:0/block/sda/queue/rotational:1
/sys/class/scsi_device/5:0:1:2/device/queue_depth:64
grep: /sys/block/sdb/queue/io_poll: Permission denied
";

#[test]
fn attributes_and_statistics() {
    let all = read_as("linux-sysfs", SYSFS);
    assert!(all.complaints.is_empty(), "{:?}", all.complaints);
    assert_eq!(
        (number(&all, "host3", "error_frames"), number(&all, "host3", facts::SINCE_RESET_S)),
        (75.0, 86_400.0)
    );
    assert_eq!(all.fact("host3", "lip_count"), None);
    assert_eq!(
        (number(&all, "host3", facts::PORT_SPEED_BITS_PER_S), number(&all, "host3", facts::ADAPTER_COMMANDS)),
        (8e9, 2048.0)
    );
    assert_eq!(
        (number(&all, "sdb", facts::QUEUE_DEPTH), number(&all, "sdb", facts::NR_REQUESTS)),
        (32.0, 128.0)
    );
    assert_eq!(
        (text(&all, "sdb", facts::SCHEDULER), number(&all, "sdb", facts::MAX_TRANSFER_BYTES)),
        ("deadline".into(), 524_288.0)
    );
    assert_eq!(
        (number(&all, "sda", "rotational"), text(&all, "sda", facts::SCSI_ADDRESS)),
        (1.0, "0:0:0:0".into())
    );
    assert_eq!(number(&all, "5:0:1:2", facts::QUEUE_DEPTH), 64.0);
    let prompt = "[root@db1 ~]# cat /sys/block/sdb/queue/scheduler\n[mq-deadline] kyber none\n[root@db1 ~]# cat /sys/block/sdb/device/queue_depth\n30\n";
    let all = read_as("linux-sysfs", prompt);
    assert_eq!(
        (text(&all, "sdb", facts::SCHEDULER), number(&all, "sdb", facts::QUEUE_DEPTH)),
        ("mq-deadline".into(), 30.0)
    );
    let all = read_as("linux-sysfs", "==> /sys/block/sdc/queue/nr_requests <==\n256\n");
    assert_eq!(number(&all, "sdc", facts::NR_REQUESTS), 256.0);
    let alone = "/sys/block/sdc/queue/nr_requests\n256\n/sys/block/sdc/queue/scheduler\nnone\n";
    let all = read_as("linux-sysfs", alone);
    assert_eq!(
        (number(&all, "sdc", facts::NR_REQUESTS), text(&all, "sdc", facts::SCHEDULER)),
        (256.0, "none".into())
    );
    let within = "./queue_depth:20\n./iodone_cnt:0x10\nvendor:X\niorequest_cnt:0x11\n";
    let (all, _) = read_any(within.as_bytes());
    assert_eq!(
        (number(&all, "", facts::QUEUE_DEPTH), number(&all, "", "iodone_cnt"), all.remarks.len()),
        (20.0, 16.0, 1)
    );
    let all = read_as("linux-sysfs", &SYSFS.replace(":0x4b", ":0xzz"));
    assert_eq!(all.complaints.len(), 1);
}

proptest! {
    #[test]
    fn no_damage_panics(
        a in damaged(TREE), b in damaged(BRACKETS), c in damaged(LSSCSI), d in damaged(NVME), e in damaged(NVME_JSON), f in damaged(SYSFS)
    ) {
        for bytes in [a, b, c, d, e, f] {
            read_any(&bytes);
        }
    }
}
