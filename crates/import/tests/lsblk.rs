//! lsblk: tree, list, pairs, JSON.
#![allow(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

mod support;

use proptest::prelude::*;
use record::imported::PlaceKind::{Device, Partition, Volume};
use record::imported::{Gathered, Value, facts};
use support::{damaged, near, read_any, read_as};

fn number(all: &Gathered, place: &str, name: &str) -> f64 {
    all.fact(place, name).and_then(Value::number).unwrap_or(f64::NAN)
}

fn text(all: &Gathered, place: &str, name: &str) -> String {
    all.fact(place, name).map(Value::text).unwrap_or_default()
}

const TREE: &str = "\
NAME                MAJ:MIN RM   SIZE RO TYPE  MOUNTPOINT MODEL            ROTA SCHED    RQ-SIZE HCTL
sda                   8:0    0    20G  0 disk             VMware Virtual S    1 deadline     128 0:0:0:0
├─sda1                8:1    0     1G  0 part  /boot                          1 deadline     128
└─sda2                8:2    0    19G  0 part                                 1 deadline     128
  └─centos-root     253:0    0    17G  0 lvm   /                              1              128
sdb                   8:16   0     1T  0 disk             LUN                 0 none          64 3:0:0:1
└─mpathb (dm-2)     253:2    0     1T  0 mpath                                0               64
  └─mpathb1         253:4    0 931.5G  0 part  /data                          0               64
";

#[test]
fn the_tree_by_columns() {
    let all = read_as("lsblk", TREE);
    assert!(all.complaints.is_empty(), "{:?}", all.complaints);
    assert_eq!(
        (text(&all, "sda", facts::PRODUCT), text(&all, "sda", facts::SCHEDULER)),
        ("VMware Virtual S".into(), "deadline".into())
    );
    assert_eq!(
        (number(&all, "sda", facts::NR_REQUESTS), text(&all, "sda", facts::SCSI_ADDRESS)),
        (128.0, "0:0:0:0".into())
    );
    assert_eq!(
        (text(&all, "sda1", facts::PART_OF), text(&all, "sda1", "mount_point")),
        ("sda".into(), "/boot".into())
    );
    assert_eq!(text(&all, "centos-root", "lies_on"), "sda2");
    assert_eq!(all.fact("centos-root", facts::SCHEDULER), None);
    // The disk is a path of the map.
    assert_eq!(
        (text(&all, "sdb", facts::PART_OF), text(&all, "mpathb", "kernel_name")),
        ("mpathb".into(), "dm-2".into())
    );
    assert!(near(number(&all, "mpathb1", facts::SIZE_BYTES), 931.5 * 1024f64.powi(3)));
    let kind = |name: &str| all.places.iter().find(|p| p.name == name).unwrap().kind;
    assert_eq!((kind("sda"), kind("sda1"), kind("centos-root")), (Device, Partition, Volume));
}

#[test]
fn missing_columns_are_complained_about_and_the_rest_is_kept() {
    let all = read_as(
        "lsblk",
        "NAME          MAJ:MIN RM  SIZE RO TYPE MOUNTPOINT\nvda           252:0    0    9G  0\n|-vda1        252:1    0  500M  0 part /boot\n",
    );
    assert_eq!(all.complaints.len(), 1);
    assert_eq!(
        (number(&all, "vda", facts::SIZE_BYTES), text(&all, "vda1", facts::PART_OF)),
        (9.0 * 1024f64.powi(3), "vda".into())
    );
}

const PAIRS: &str = "\
lsblk: dm-9: failed to get device path
NAME=\"sda\" KNAME=\"sda\" MAJ:MIN=\"8:0\" MODEL=\"PERC\\x20H710P      \" SIZE=\"931G\" ROTA=\"1\" SCHED=\"deadline\" RQ-SIZE=\"128\" TYPE=\"disk\" PKNAME=\"\"
NAME=\"sda1\" KNAME=\"sda1\" MAJ:MIN=\"8:1\" MODEL=\"\" SIZE=\"1G\" ROTA=\"1\" SCHED=\"deadline\" RQ-SIZE=\"128\" TYPE=\"part\" PKNAME=\"sda\"
";

#[test]
fn pairs_of_keys_and_values() {
    let all = read_as("lsblk", PAIRS);
    assert_eq!((all.complaints.len(), all.remarks.len()), (0, 1));
    assert_eq!(
        (text(&all, "sda", facts::PRODUCT), text(&all, "sda1", facts::PART_OF)),
        ("PERC H710P".into(), "sda".into())
    );
    assert_eq!(number(&all, "sda", facts::NR_REQUESTS), 128.0);
}

const JSON_OLD: &str = r#"{
   "blockdevices": [
      {"name": "sda", "maj:min": "8:0", "rm": "0", "size": "20G", "ro": "0", "type": "disk", "mountpoint": null,
         "children": [
            {"name": "sda1", "maj:min": "8:1", "rm": "0", "size": "1G", "ro": "0", "type": "part", "mountpoint": "/boot"}
         ]
      },
      {"name": "sr0", "maj:min": "11:0", "rm": "1", "size": "1024M", "ro": "0", "type": "rom", "mountpoint": null}
   ]
}
"#;
const JSON_NEW: &str = r#"{
   "blockdevices": [
      {"name":"sda", "maj:min":"8:0", "rm":false, "size":21474836480, "rota":true, "rq-size":64, "type":"disk", "mountpoints":[null],
         "children": [
            {"name":"sda1", "maj:min":"8:1", "rm":false, "size":1073741824, "type":"part", "mountpoints":["/boot", "/boot2"]}
         ]
      }
   ]
}
"#;

#[test]
fn json_of_old_and_new_versions() {
    let old = read_as("lsblk-json", JSON_OLD);
    let new = read_as("lsblk-json", JSON_NEW);
    for all in [&old, &new] {
        assert!(all.complaints.is_empty(), "{:?}", all.complaints);
        assert_eq!(number(all, "sda", facts::SIZE_BYTES), 21_474_836_480.0);
        assert_eq!(text(all, "sda1", facts::PART_OF), "sda");
    }
    assert_eq!(all_of(&new), [("rotational", 1.0), (facts::NR_REQUESTS, 64.0)]);
    assert_eq!(text(&new, "sda1", "mount_point"), "/boot, /boot2");
    assert_eq!(new.fact("sda", "mount_point"), None);
    let cut = read_as("lsblk-json", &JSON_OLD[..JSON_OLD.find("\"sr0\"").unwrap()]);
    assert_eq!((cut.complaints.len(), text(&cut, "sda1", facts::PART_OF)), (1, "sda".into()));
}

fn all_of(all: &Gathered) -> [(&'static str, f64); 2] {
    ["rotational", facts::NR_REQUESTS].map(|name| (name, number(all, "sda", name)))
}

proptest! {
    #[test]
    fn sizes_come_back(devices in prop::collection::vec((0u32..700, 1u32..999), 1..20)) {
        let mut text = String::from("NAME    MAJ:MIN RM  SIZE RO TYPE MOUNTPOINT\n");
        for (number, size) in &devices {
            text += &format!("{:<8}{:>3}:{:<3}  0 {:>4}G  0 disk \n", format!("vd{}", letters(*number)), 252, 16, size);
        }
        let all = read_as("lsblk", &text);
        for (index, size) in &devices {
            let name = format!("vd{}", letters(*index));
            let told: Vec<f64> = all.facts.iter().filter(|f| f.name == facts::SIZE_BYTES && all.places[f.place as usize].name == name)
                .filter_map(|f| f.value.number()).collect();
            prop_assert!(told.contains(&(f64::from(*size) * 1024f64.powi(3))), "{name} {told:?}");
        }
    }

    #[test]
    fn no_damage_panics(a in damaged(TREE), b in damaged(PAIRS), c in damaged(JSON_OLD), d in damaged(JSON_NEW)) {
        for bytes in [a, b, c, d] {
            read_any(&bytes);
        }
    }
}

fn letters(number: u32) -> String {
    let letter = |n: u32| char::from(b'a' + (n % 26) as u8);
    if number < 26 {
        letter(number).to_string()
    } else {
        [letter(number / 26 - 1), letter(number)].iter().collect()
    }
}
