//! gstat of FreeBSD.
#![allow(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

mod support;

use proptest::prelude::*;
use record::imported::PlaceKind::{Device, Partition, Volume};
use record::imported::Quantity::*;
use record::imported::{Platform, RowsKind};
use support::{damaged, near, read_any, read_as, values};

const TEXT: &str = "\
dT: 1.002s  w: 1.000s
 L(q)  ops/s    r/s   kBps   ms/r    w/s   kBps   ms/w    d/s   kBps   ms/d   %busy Name
   12    260    250  30000   20.5      8    160    0.5      2   4096    2.5  104.5| ada0
    2     64     64   4096   15.5      0      0    0.0      0      0    0.0   91.0| ada0p1
dT: 0.998s  w: 1.000s
 L(q)  ops/s    r/s   kBps   ms/r    w/s   kBps   ms/w    d/s   kBps   ms/d   %busy Name
    0      0      0      0    0.0      0      0    0.0      0      0    0.0    0.0| ada0
    0      5      0      0    0.0      5     20    0.2      0      0    0.0    0.1| mirror/gm0
";

#[test]
fn each_size_belongs_to_the_rate_before_it() {
    let all = read_as("freebsd-gstat", TEXT);
    assert!(all.complaints.is_empty() && all.remarks.is_empty(), "{:?} {:?}", all.complaints, all.remarks);
    assert_eq!(all.hosts[0].platform, Platform::FreeBsd);
    let rows = all.of(Device, "ada0");
    assert_eq!((rows[0].interval.kind, rows[0].interval.length_s), (RowsKind::Interval, 1.002));
    assert!(near(rows[1].interval.at_s, 2.0));
    assert_eq!(values(rows[0], &[OutstandingInstant, Iops, ReadIops, WriteIops]), [12.0, 260.0, 250.0, 8.0]);
    assert_eq!(
        values(rows[0], &[ReadBytesPerS, WriteBytesPerS, DiscardBytesPerS]),
        [30_720_000.0, 163_840.0, 4_194_304.0]
    );
    assert_eq!(values(rows[0], &[ReadResponseUs, DiscardResponseUs, BusyPercent]), [20_500.0, 2500.0, 104.5]);
    assert_eq!((all.of(Partition, "ada0p1").len(), all.of(Volume, "mirror/gm0").len()), (1, 1));
}

#[test]
fn sizes_and_other_commands() {
    let text = "dT: 1.0s  w: 1.000s\n L(q)  ops/s    r/s     kB   kBps   ms/r    w/s     kB   kBps   ms/w    o/s   ms/o   %busy Name\n 1 3 1 16 16 1.0 1 64 64 2.0 1 9.0 50.0 da0\n 0 0 0 0 0 0.0 0 0 0 0.0 0 0.0 0.0| label/my disk\n 0 0 0 0 0 0.0 0 0 0 0.0 0 0.0 0.0 label/no bar\n";
    let all = read_as("freebsd-gstat", text);
    assert!(all.complaints.is_empty() && all.remarks.is_empty(), "{:?}", all.remarks);
    assert_eq!(values(all.of(Device, "da0")[0], &[ReadSizeBytes, WriteSizeBytes]), [16_384.0, 65_536.0]);
    assert_eq!((all.of(Partition, "label/my disk").len(), all.of(Partition, "label/no bar").len()), (1, 1));
}

#[test]
fn a_damaged_row_is_complained_about() {
    let all = read_as("freebsd-gstat", &TEXT.replace("30000   20.5", "30000   2-.5"));
    assert_eq!((all.complaints.len(), all.complaints[0].1.line, all.rows.len()), (1, 3, 3));
}

proptest! {
    #[test]
    fn no_damage_panics(bytes in damaged(TEXT)) {
        read_any(&bytes);
    }
}

#[test]
fn commas_and_times_of_option_c() {
    let text = "\
timestamp,name,q-depth,total_ops/s,read/s,read-KiB/s,ms/read,write/s,write-KiB/s,ms/write,%busy
2021-11-30 23:59:59.500000000,ada0,4,100,90,720,1.5,10,40,0.5,88.2
2021-12-01 00:00:00.500000000,ada0,0,10,0,0,0.0,10,40,0.5,1.0
";
    let all = read_as("freebsd-gstat", text);
    assert!(all.complaints.is_empty() && all.remarks.is_empty(), "{:?} {:?}", all.complaints, all.remarks);
    let rows = all.of(Device, "ada0");
    assert_eq!(
        values(rows[0], &[OutstandingInstant, ReadBytesPerS, ReadResponseUs]),
        [4.0, 737_280.0, 1500.0]
    );
    assert_eq!((rows[1].interval.length_s, rows[1].interval.at_s), (1.0, 1_638_316_800.5));
}
