//! Terse lines of fio.
#![allow(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

mod support;

use proptest::prelude::*;
use record::imported::PlaceKind::{Device, Job};
use record::imported::Quantity::*;
use support::{damaged, read_any, read_as, values};

/// A direction: KiB, KiB/s, IOPS, ms, submission, completion, percentiles, total, bandwidth.
fn direction(iops: u32, extra: &str) -> String {
    let percentiles: Vec<String> =
        [50.0, 95.0, 99.0, 99.9].iter().map(|p| format!("{p:.6}%={}", p * 10.0)).collect();
    format!(
        "{};{};{iops};2000;1;90;4.500000;2.000000;20;9000;95.500000;9.000000;{};0%=0;30;9100;100.000000;9.100000;100;900;50.000000%;500.000000;10.000000{extra}",
        iops * 16,
        iops * 8,
        percentiles.join(";")
    )
}

fn rest(disks: &str) -> String {
    let shares = vec!["0.00%"; 21].join(";");
    format!("3.500000%;12.250000%;100;0;20;0.1%;0.1%;0.1%;99.7%;0.0%;0.0%;0.0%;1.00%;{shares}{disks}")
}

const DISKS: &str = ";sdb;100;200;3;4;500;600;1100;55.50%;dm-0;1;2;3;4;5;6;7;8.00%";

fn line(version: u32) -> String {
    let (head, trims, extra) = match version {
        2 => ("2;log file sync=1", 0, ""),
        3 => ("3;fio-3.33;log file sync=1", 0, ""),
        4 => ("4;fio-3.33;log file sync=1", 1, ""),
        _ => ("5;fio-3.33;log file sync=1", 1, ";5;10;20;15.000000;1.000000;5"),
    };
    let mut parts = vec![format!("{head};0;0"), direction(1000, extra), direction(500, extra)];
    if trims == 1 {
        parts.push(direction(0, extra));
    }
    parts.push(rest(if version == 2 { "" } else { DISKS }));
    parts.join(";") + "\n"
}

#[test]
fn versions_2_to_5() {
    for version in 2..=5 {
        let all = read_as("fio-terse", &line(version));
        assert!(all.complaints.is_empty(), "{version}: {:?}", all.complaints);
        let row = all.of(Job, "log file sync=1")[0];
        let wanted =
            [ReadIops, ReadBytesPerS, ReadResponseUs, ReadResponseP99Us, WriteIops, WriteResponseMaxUs];
        assert_eq!(values(row, &wanted), [1000.0, 8_192_000.0, 100.0, 990.0, 500.0, 9100.0]);
        assert_eq!(values(row, &[SubmitUs, CpuSystemPercent]), [4.5, 12.25]);
        assert_eq!(row.interval.length_s, 2.0);
        let sdb = all.of(Device, "sdb");
        assert_eq!(sdb.len(), usize::from(version > 2));
        if let Some(sdb) = sdb.first() {
            assert_eq!(
                values(sdb, &[Reads, WriteTimeS, ReadResponseUs, BusyPercent]),
                [100.0, 0.6, 5000.0, 55.5]
            );
        }
        let bounds: Vec<f64> = all
            .distributions
            .iter()
            .find(|d| d.quantity == ResponseUs)
            .unwrap()
            .buckets
            .iter()
            .map(|b| b.0)
            .collect();
        assert_eq!((bounds.len(), bounds[0], bounds[10]), (22, 2.0, 2000.0));
    }
}

#[test]
fn disks_that_every_line_repeats_are_said_once() {
    let text = line(3) + &line(3).replace("log file", "scan");
    let all = read_as("fio-terse", &text);
    assert_eq!((all.of(Device, "sdb").len(), all.rows.len()), (1, 4));
}

#[test]
fn a_line_that_is_cut_off_keeps_what_was_told() {
    let whole = line(3);
    let all = read_as("fio-terse", &whole[..whole.len() / 2]);
    assert_eq!(all.complaints.len(), 1);
    let row = all.of(Job, "log file sync=1")[0];
    assert_eq!((row.value(ReadIops), row.value(WriteResponseUs)), (Some(1000.0), None));
}

proptest! {
    #[test]
    fn figures_come_back(version in 3u32..=5, iops in 1u32..1_000_000) {
        let text = line(version).replace(";1000;", &format!(";{iops};"));
        let (all, _) = read_any(text.as_bytes());
        prop_assert_eq!(all.rows[0].value(ReadIops), Some(f64::from(iops)));
    }

    #[test]
    fn no_damage_panics(bytes in damaged(Box::leak((line(5) + &line(2)).into_boxed_str()))) {
        read_any(&bytes);
    }
}
