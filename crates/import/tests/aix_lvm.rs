//! lspv, lslv, lsvg and lvmstat of AIX.
#![allow(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

mod support;

use proptest::prelude::*;
use record::imported::PlaceKind::{Partition, Volume};
use record::imported::Quantity::*;
use record::imported::{Gathered, RowsKind, Value, facts};
use support::{damaged, read_any, read_as, values};

fn number(all: &Gathered, place: &str, name: &str) -> f64 {
    all.fact(place, name).and_then(Value::number).unwrap_or(f64::NAN)
}

const LISTS: &str = "\
hdisk0          00c8b12ce3c7d496                    rootvg          active
hdisk1          00c8b12cf28e737b                    datavg          active
hdisk2          none                                None
# lsvg -l datavg
datavg:
LV NAME             TYPE       LPs     PPs     PVs  LV STATE      MOUNT POINT
loglv00             jfs2log    1       1       1    open/syncd    N/A
fslv00              jfs2       1000    2000    2    open/syncd    /data
# lsvg -p datavg
datavg:
PV_NAME           PV STATE          TOTAL PPs   FREE PPs    FREE DISTRIBUTION
hdisk1            active            546         512         110..75..109..109..109
# lsvg datavg
VOLUME GROUP:       datavg                   VG IDENTIFIER:  00c8b12c00004c000000012345678901
VG STATE:           active                   PP SIZE:        128 megabyte(s)
MAX LVs:            256                      FREE PPs:       512 (65536 megabytes)
";

const MAP: &str = "\
fslv00:/data
LP    PP1  PV1               PP2  PV2               PP3  PV3
0001  0110 hdisk1            0110 hdisk5
0002  0111 hdisk1            0111 hdisk5
0003  0112 hdisk1            0112 hdisk5
0004  0001 hdisk2            0001 hdisk6
# lspv -p hdisk1
hdisk1:
PP RANGE  STATE   REGION        LV NAME             TYPE       MOUNT POINT
  1-110   free    outer edge
111-112   used    outer middle  fslv00              jfs2       /data
113-220   used    center        fslv01              jfs2       /logs
";

#[test]
fn groups_disks_and_volumes() {
    let all = read_as("aix-lvm", LISTS);
    assert!(all.complaints.is_empty(), "{:?}", all.complaints);
    assert_eq!(all.fact("hdisk0", facts::PART_OF), Some(&Value::from("rootvg")));
    assert_eq!(all.fact("hdisk2", facts::PART_OF), None);
    assert_eq!(number(&all, "fslv00", "physical_partitions"), 2000.0);
    assert_eq!(all.fact("fslv00", facts::PART_OF), Some(&Value::from("datavg")));
    assert_eq!(number(&all, "hdisk1", "free_partitions"), 512.0);
    assert_eq!(number(&all, "datavg", "pp_size_bytes"), 134_217_728.0);
    assert_eq!(number(&all, "datavg", "free_pps"), 512.0);
}

#[test]
fn disks_and_volumes_by_themselves() {
    let text = "\
PHYSICAL VOLUME:    hdisk0                   VOLUME GROUP:     rootvg
PV IDENTIFIER:      00c8b12ce3c7d496 VG IDENTIFIER     00c8b12c00004c000000012345678901
PV STATE:           active
PP SIZE:            16 megabyte(s)           LOGICAL VOLUMES:  12
MAX REQUEST:        256 kilobytes            HOT SPARE:        no
# lslv fslv00
LOGICAL VOLUME:     fslv00                 VOLUME GROUP:   datavg
LV IDENTIFIER:      00c8b12c00004c000000012345678901.2 PERMISSION:     read/write
INTER-POLICY:       maximum                RELOCATABLE:    yes
UPPER BOUND:        32
MOUNT POINT:        /data                  LABEL:          /data
";
    let all = read_as("aix-lvm", text);
    assert!(all.complaints.is_empty(), "{:?}", all.complaints);
    let text = |place: &str, name: &str| all.fact(place, name).map(Value::text).unwrap_or_default();
    assert_eq!(
        (text("hdisk0", facts::PART_OF), text("hdisk0", "pv_identifier")),
        ("rootvg".into(), "00c8b12ce3c7d496".into())
    );
    assert_eq!(
        (number(&all, "hdisk0", "pp_size_bytes"), number(&all, "hdisk0", "max_request_bytes")),
        (16_777_216.0, 262_144.0)
    );
    assert_eq!(
        (text("fslv00", "permission"), text("fslv00", "inter_policy")),
        ("read/write".into(), "maximum".into())
    );
    assert_eq!((number(&all, "fslv00", "upper_bound"), text("fslv00", "label")), (32.0, "/data".into()));
}

#[test]
fn where_partitions_lie() {
    let all = read_as("aix-lvm", MAP);
    assert!(all.complaints.is_empty(), "{:?}", all.complaints);
    assert_eq!(number(&all, "fslv00", "partitions_on_hdisk1"), 3.0);
    assert_eq!(number(&all, "fslv00", "longest_run_of_partitions_on_one_disk"), 3.0);
    assert_eq!(all.fact("fslv00", "range_on_hdisk1"), Some(&Value::from("111-112")));
    assert_eq!(all.fact("fslv01", "range_on_hdisk1"), Some(&Value::from("113-220")));
    let all = read_as("aix-lvm", &MAP.replace("0002  0111", "0002  01x1"));
    assert_eq!((all.complaints.len(), number(&all, "fslv00", "partitions_on_hdisk1")), (1, 2.0));
}

const BY_VOLUME: &str = "\
# lvmstat -v datavg 10 2

Logical Volume            iocnt      Kb_read     Kb_wrtn      Kbps
  fslv00                   1000         4000        8000      12.0
  loglv00                    10            0          40       0.0
.

Logical Volume            iocnt      Kb_read     Kb_wrtn      Kbps
  fslv00                    500         1000        3000     400.0
";

#[test]
fn volumes_and_partitions_of_lvmstat() {
    let all = read_as("aix-lvmstat", BY_VOLUME);
    assert!(all.complaints.is_empty(), "{:?}", all.complaints);
    let rows = all.of(Volume, "fslv00");
    assert_eq!((rows[0].interval.kind, rows[1].interval.kind), (RowsKind::SinceBoot, RowsKind::Interval));
    assert_eq!(rows[1].interval.length_s, 10.0);
    assert_eq!(
        values(rows[1], &[Ios, ReadBytes, WriteBytes, BytesPerS]),
        [500.0, 1_024_000.0, 3_072_000.0, 409_600.0]
    );
    let text = "# lvmstat -l fslv00\n\nLog_part mirror# iocnt Kb_read Kb_wrtn Kbps\n  12 1 100 400 0 1.5\n";
    let all = read_as("aix-lvmstat", text);
    assert_eq!(all.of(Partition, "fslv00:12:1")[0].value(BytesPerS), Some(1536.0));
    let all = read_as("aix-lvmstat", &text.replace("400 0", "400"));
    assert_eq!(all.complaints.len(), 1);
}

proptest! {
    #[test]
    fn no_damage_panics(a in damaged(LISTS), b in damaged(MAP), c in damaged(BY_VOLUME)) {
        for bytes in [a, b, c] {
            read_any(&bytes);
        }
    }
}
