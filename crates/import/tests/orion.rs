//! Orion: summaries of 11.1 (milliseconds) and later (microseconds), matrices, histograms.
#![allow(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

mod support;

use proptest::prelude::*;
use record::IoClass;
use record::imported::PlaceKind::Job;
use record::imported::Quantity::*;
use record::imported::RowsKind;
use support::{damaged, near, read_any, read_as, values};

const OLD: &str = "\
ORION VERSION 11.1.0.7.0

Commandline:
-run simple -testname lun7 -num_disks 4

This maps to this test:
Test: lun7
Small IO size: 8 KB
Large IO size: 1024 KB
IO Types: Small Random IOs, Large Random IOs
Simulated Array Type: CONCAT
Write: 15%
Cache Size: Not Entered
Duration for each Data Point: 60 seconds
Small Columns:,      0
Large Columns:,      0,      1,      2
Total Data Points: 8

Name: /dev/mapper/lun7  Size: 107374182400
1 FILEs found.

Maximum Large MBPS=200.50 @ Small=0 and Large=2
Maximum Small IOPS=2000 @ Small=10 and Large=0
Minimum Small Latency=4.50 @ Small=1 and Large=0
";

const NEW: &str = "\
ORION: ORacle IO Numbers -- Version RDBMS_19.3.0.0.0DBRU_LINUX.X64_190417
mytest_20230102_0304
Calibration will take approximately 9 minutes.
Using a large value for -cache_size may take longer.

Setting ftype=0
Maximum Large MBPS=867.73 @ Small=0 and Large=2

Maximum Small IOPS=12000 @ Small=6 and Large=0
Small Read Latency: avg=500.250 us, min=198.667 us, max=38147.308 us, std dev=425.804 us @ Small=6 and Large=0
Small Write Latency: avg=499.500 us, min=150.000 us, max=1.500 ms, std dev=425.804 us @ Small=6 and Large=0Minimum Small Latency=97.677 usecs @ Small=2 and Large=0
Small Read / Write Latency Histogram @ Small=2 and Large=0
        Latency:                         # of IOs (read)          # of IOs (write)
        0 - 64         us:               1 (  0.00%)              0 (  0.00%)
       64 - 128        us:         1112243 ( 91.12%)              7 (  0.00%)
      128 - 268435456  us:             259 (100.00%)              0 (  0.00%)
";

#[test]
fn the_summary_of_11_1_is_in_milliseconds() {
    let all = read_as("orion", OLD);
    assert!(all.complaints.is_empty() && all.remarks.is_empty(), "{:?} {:?}", all.complaints, all.remarks);
    let rows = all.of(Job, "lun7");
    assert_eq!((rows.len(), rows[0].interval.kind, rows[0].interval.length_s), (3, RowsKind::Period, 60.0));
    let large = rows.iter().find(|r| r.value(BytesPerS).is_some()).unwrap();
    assert_eq!(values(large, &[Concurrency, LargeConcurrency]), [0.0, 2.0]);
    assert!(near(large.value(BytesPerS).unwrap(), 200.5 * 1_048_576.0));
    let small = rows.iter().find(|r| r.value(Iops).is_some()).unwrap();
    assert_eq!(values(small, &[Concurrency, LargeConcurrency, Iops]), [10.0, 0.0, 2000.0]);
    let fast = rows.iter().find(|r| r.value(ResponseUs).is_some()).unwrap();
    assert_eq!(values(fast, &[Concurrency, ResponseUs]), [1.0, 4500.0]);
    assert_eq!(fast.origin.line, 24);
    let number = |name| all.fact("lun7", name).unwrap().number();
    assert_eq!((number("write_percent"), number("small_io_bytes")), (Some(15.0), Some(8192.0)));
    assert_eq!(number("file_size_bytes"), Some(107_374_182_400.0));
    assert_eq!(all.fact("lun7", "command").unwrap().text(), "-run simple -testname lun7 -num_disks 4");
    assert_eq!(all.fact("lun7", "file").unwrap().text(), "/dev/mapper/lun7");
}

#[test]
fn results_of_a_data_point_are_one_row_and_satisfy_little() {
    let all = read_as("orion", NEW);
    assert!(all.complaints.is_empty(), "{:?}", all.complaints);
    let rows = all.of(Job, "mytest");
    assert_eq!(rows.len(), 3);
    let best = rows.iter().find(|r| r.value(Iops).is_some()).unwrap();
    let wanted = [Concurrency, Iops, ReadResponseUs, WriteResponseUs, ResponseMinUs, ResponseMaxUs];
    assert_eq!(values(best, &wanted), [6.0, 12_000.0, 500.25, 499.5, 150.0, 38_147.308]);
    assert!((12_000.0 * 500e-6 - 6.0_f64).abs() < 0.01);
    let fast = rows.iter().find(|r| r.value(ResponseUs).is_some()).unwrap();
    assert_eq!(values(fast, &[Concurrency, ResponseUs]), [2.0, 97.677]);
}

#[test]
fn percents_of_histograms_are_cumulative_and_counts_are_taken() {
    let all = read_as("orion", NEW);
    assert_eq!(all.distributions.len(), 2);
    let reads = &all.distributions[0];
    assert_eq!((reads.quantity, reads.class, reads.origin.line), (ResponseUs, Some(IoClass::Read), 12));
    assert_eq!(reads.buckets, [(64.0, 1.0), (128.0, 1_112_243.0), (268_435_456.0, 259.0)]);
    assert_eq!(all.distributions[1].buckets[1], (128.0, 7.0));
    assert_eq!(all.places[reads.place as usize].name, "mytest @ Small=2 and Large=0");
}

#[test]
fn runs_of_the_same_name_are_told_apart_also_without_a_first_letter() {
    let text = OLD.trim_start_matches('O').to_owned() + "\n" + OLD;
    let all = read_as("orion", &text);
    assert_eq!((all.of(Job, "lun7").len(), all.of(Job, "lun7 #2").len()), (3, 3));
    assert!(all.complaints.is_empty(), "{:?}", all.complaints);
}

#[test]
fn matrices_say_what_they_hold_in_a_sentence_or_by_their_numbers() {
    let iops = "Contains the rates sustained by small I/Os in IOPS. Each value corresponds to a data point.\n\nLarge/Small,      1,      2,\n      0,    173,    311\n      1,    150,    290\n";
    let all = read_as("orion", iops);
    assert!(all.complaints.is_empty() && all.remarks.is_empty(), "{:?}", all.complaints);
    let rows = all.of(Job, "orion");
    assert_eq!(values(rows[3], &[Concurrency, LargeConcurrency, Iops]), [2.0, 1.0, 290.0]);
    assert_eq!(rows[3].origin.line, 5);
    let latency = "ORION VERSION 11.1.0.7.0\n\nLarge/Small,      1,      2,\n      0,   5.76,   6.43,\n";
    let all = read_as("orion", latency);
    assert_eq!(all.of(Job, "orion")[1].value(ResponseUs), Some(6430.0));
    assert_eq!(all.remarks.len(), 1);
    let later = "Contains the average latency sustained by small I/Os in microseconds.\nLarge/Small, 1, 2\n0, 392.5, 410.0\n";
    assert_eq!(read_as("orion", later).of(Job, "orion")[0].value(ResponseUs), Some(392.5));
    let alone = "Large/Small,   1,    2\n    0,   5.76,   6.43\n";
    let all = read_as("orion", alone);
    assert_eq!((all.of(Job, "orion")[0].value(ResponseUs), all.remarks.len()), (Some(5760.0), 2));
    let mbps = "Large/Small,   0\n    1, 103.06\n    2, 200.10\n";
    let all = read_as("orion", mbps);
    assert!(near(all.of(Job, "orion")[0].value(BytesPerS).unwrap(), 103.06 * 1_048_576.0));
}

#[test]
fn the_trace_tells_every_data_point() {
    let text = "ran (small): my 4 oth 0 iops 690 size 8 K lat 5.80 ms bw = 5.39 MBps dur 59.96 s READ\nran (large): my 2 oth 1 iops 54 size 1024 K lat 36.71 ms bw = 54.24 MBps dur 59.99 s READ\n";
    let all = read_as("orion", text);
    let rows = all.of(Job, "orion");
    assert_eq!(
        values(rows[0], &[Concurrency, LargeConcurrency, Iops, ResponseUs]),
        [4.0, 0.0, 690.0, 5800.0]
    );
    assert_eq!(values(rows[1], &[Concurrency, LargeConcurrency, Iops]), [1.0, 2.0, 54.0]);
}

#[test]
fn a_damaged_result_is_complained_about_and_the_rest_is_kept() {
    let all = read_as("orion", &OLD.replace("IOPS=2000", "IOPS=2x00"));
    assert_eq!(all.complaints.len(), 1, "{:?}", all.complaints);
    assert_eq!((all.complaints[0].1.line, all.of(Job, "lun7").len()), (23, 2));
}

proptest! {
    #[test]
    fn matrices_come_back_as_they_were_printed(
        small in prop::collection::vec(1u32..500, 1..20),
        rows in prop::collection::vec((0u32..50, 1u32..100_000), 1..10)
    ) {
        let mut text = String::from("Contains the rates sustained by small I/Os in IOPS.\nLarge/Small");
        small.iter().for_each(|s| text += &format!(", {s:>6}"));
        text.push('\n');
        for (large, iops) in &rows {
            text += &format!("{large:>7}");
            small.iter().for_each(|s| text += &format!(", {:>6}", iops + s));
            text.push('\n');
        }
        let (all, _) = read_any(text.as_bytes());
        prop_assert_eq!(all.rows.len(), small.len() * rows.len());
        for (n, row) in all.rows.iter().enumerate() {
            let (s, (large, iops)) = (small[n % small.len()], rows[n / small.len()]);
            let wanted = [f64::from(s), f64::from(large), f64::from(iops + s)];
            prop_assert_eq!(values(row, &[Concurrency, LargeConcurrency, Iops]), wanted);
        }
    }

    #[test]
    fn no_damage_panics(bytes in damaged(NEW)) {
        read_any(&bytes);
    }

    #[test]
    fn no_damage_of_old_summaries_panics(bytes in damaged(OLD)) {
        read_any(&bytes);
    }
}
