//! Logs of fio.
#![allow(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

mod support;

use proptest::prelude::*;
use record::IoClass;
use record::imported::PlaceKind::Job;
use record::imported::Quantity::{self, *};
use record::imported::{Gathered, RowsKind};
use support::{damaged, read_any, read_as};

const LATENCY: &str = "1000, 1301200, 0, 0\n2000, 1402300, 0, 0\n3002, 5901755, 0, 0\n4004, 5650051, 1, 0\n5003, 5702338, 0, 0\n";

fn quantity(all: &Gathered) -> Quantity {
    all.rows[0].values[0].0
}

#[test]
fn latency_in_nanoseconds_by_uneven_times() {
    let all = read_as("fio-log", LATENCY);
    let rows = all.of(Job, "");
    assert_eq!(
        (rows.len(), rows[2].value(ReadResponseUs), rows[4].value(WriteResponseUs)),
        (5, Some(5901.755), Some(5650.051))
    );
    assert_eq!((rows[2].interval.kind, rows[2].interval.at_s), (RowsKind::Interval, 3.002));
    assert!((rows[2].interval.length_s - 1.002).abs() < 1e-9);
    assert_eq!(rows[2].origin.line, 3);
    assert!(all.remarks[0].1.contains("nanoseconds"));
}

#[test]
fn kinds_by_times_divisors_and_sizes() {
    let iops = "1000, 30011, 0, 0\n2000, 29003, 0, 0\n3000, 7001, 0, 0\n4000, 7102, 0, 0\n";
    assert_eq!(quantity(&read_as("fio-log", iops)), ReadIops);
    let bandwidth = "1000, 88004, 0, 0\n2000, 80404, 0, 0\n3000, 24404, 0, 0\n4000, 23504, 0, 0\n";
    let all = read_as("fio-log", bandwidth);
    assert_eq!((quantity(&all), all.rows[0].values[0].1), (ReadBytesPerS, 88_004.0 * 1024.0));
    let submission = "1000, 11001, 0, 0\n2001, 12002, 0, 0\n3003, 30303, 0, 0\n4004, 31313, 0, 0\n";
    assert_eq!(quantity(&read_as("fio-log", submission)), SubmitUs);
    // One line for each I/O of 8 KiB, four outstanding, 400 us each.
    let each: String = (0..2000)
        .map(|n| format!("{}, {}, 0, 8192, {}, 0x0001\n", n / 10, 400_000 + n % 7, n * 8192))
        .collect();
    let all = read_as("fio-log", &each);
    assert_eq!(
        (quantity(&all), all.rows[0].interval.kind, all.rows.len()),
        (ReadResponseUs, RowsKind::Request, 2000)
    );
    assert_eq!(all.rows[1].value(RequestBytes), Some(8192.0));
    // The bandwidth of each: bytes over nanoseconds, cut to a whole number of kB/s.
    let times = (0..300u64).map(|n| 20_000 + n * 37);
    let each: String = times.map(|ns| format!("7, {}, 0, 8192\n", 8_192_000_000 / ns)).collect();
    let all = read_as("fio-log", &each);
    assert_eq!((quantity(&all), all.rows[0].values[0].1), (ReadBytesPerS, 409_600_000.0));
    // Version 2 has four columns.
    let old: String = (0..300).map(|n| format!("{}, {}, 1, 4096\n", n / 2, 300 + n * 7 % 101)).collect();
    assert_eq!(read_as("fio-log", &old).rows[0].values[0], (WriteResponseUs, 300.0));
    let counted: String = (0..50).map(|n| format!("{n}, 1, 1, 4096\n")).collect();
    assert_eq!(quantity(&read_as("fio-log", &counted)), WriteIops);
}

#[test]
fn histograms_in_nanoseconds_and_coarse() {
    for (bins, bin, upper_us) in [(1856usize, 640usize, 33.28), (928, 320, 33.792), (1216, 100, 101.0)] {
        let mut counts = vec![0; bins];
        counts[bin] = 99;
        counts[bins - 1] = 1;
        let cells: Vec<String> = counts.iter().map(u32::to_string).collect();
        let text = format!("500, 1, 8192, {}\n1000, 1, 8192, {}\n", cells.join(", "), cells.join(", "));
        let all = read_as("fio-log", &text);
        let row = all.of(Job, "")[1];
        assert_eq!((row.value(Writes), row.interval.length_s), (Some(100.0), 0.5));
        assert!(
            (row.value(WriteResponseP99Us).unwrap() - upper_us).abs() < 1e-6,
            "{bins}: {:?}",
            row.value(WriteResponseP99Us)
        );
        let of = &all.distributions[0];
        assert_eq!((of.class, of.buckets.len(), of.buckets[0].1), (Some(IoClass::Write), 2, 198.0));
    }
    let wild: Vec<String> =
        (0..1856).map(|n| if n == 9 { "5000000000000000000".to_owned() } else { "0".to_owned() }).collect();
    let all = read_as("fio-log", &format!("500, 0, 8192, {}\n", wild.join(", ")));
    assert_eq!((all.rows.len(), all.complaints.len()), (0, 1));
}

#[test]
fn a_damaged_line_is_complained_about_and_tables_of_others_are_not_taken() {
    let all = read_as("fio-log", &LATENCY.replace("3002, 5901755", "3002, 59x1755"));
    assert_eq!((all.rows.len(), all.complaints[0].1.line), (4, 3));
    for foreign in ["1,2,3\n4,5,6\n", "1, 2, 7, 4\n", "a, b, 0, 0\n", ""] {
        assert!(!read_any(foreign.as_bytes()).1.refused.is_empty(), "{foreign}");
    }
}

proptest! {
    #[test]
    fn lines_come_back(values in prop::collection::vec(100_000u64..10_000_000_000, 3..600)) {
        let text: String = values.iter().enumerate().map(|(n, v)| format!("{}, {v}, 0, 0\n", 1000 * n + n % 3 + 1)).collect();
        let (all, _) = read_any(text.as_bytes());
        prop_assert_eq!(all.rows.len(), values.len());
        let lines: Vec<u64> = all.rows.iter().map(|r| r.origin.line).collect();
        prop_assert!(lines.windows(2).all(|w| w[0] < w[1]));
    }

    #[test]
    fn no_damage_panics(bytes in damaged(LATENCY)) {
        read_any(&bytes);
    }
}
