//! vxstat and vxtrace of Veritas Volume Manager.
#![allow(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

mod support;

use proptest::prelude::*;
use record::imported::PlaceKind::{Device, Volume};
use record::imported::Quantity::*;
use record::imported::{Basis, RowsKind};
use support::{damaged, read_any, read_as, values};

const STAT: &str = "\
# vxstat -g datadg -i 5
                      OPERATIONS          BLOCKS           AVG TIME(ms)
TYP NAME              READ     WRITE      READ     WRITE   READ  WRITE 

Tue Jun 30 23:59:55 2009
vol data1              100       200      1600      6400    9.5   11.0
dm  disk01             100       400      1600     12800    9.0   10.5

Wed Jul  1 00:00:05 2009
vol data1               10         0       320         0    4.0    0.0
dm  disk01              10         0       320         0    3.5    0.0
";

#[test]
fn counts_of_each_interval_and_times() {
    let all = read_as("vxstat", STAT);
    assert!(all.complaints.is_empty(), "{:?}", all.complaints);
    let rows = all.of(Volume, "data1");
    assert_eq!((rows[0].interval.kind, rows[1].interval.kind), (RowsKind::SinceBoot, RowsKind::Interval));
    assert_eq!((rows[1].interval.length_s, rows[1].interval.basis), (10.0, Basis::Local));
    assert_eq!(
        values(rows[0], &[Reads, Writes, ReadBytes, WriteBytes]),
        [100.0, 200.0, 819_200.0, 3_276_800.0]
    );
    assert_eq!(values(rows[0], &[ReadResponseUs, WriteResponseUs]), [9500.0, 11_000.0]);
    assert_eq!(all.of(Device, "disk01").len(), 2);
    let untimed: String = STAT.lines().filter(|l| !l.contains("2009")).flat_map(|l| [l, "\n"]).collect();
    let interval = read_as("vxstat", &untimed).of(Volume, "data1")[1].interval;
    assert_eq!((interval.kind, interval.length_s), (RowsKind::Interval, 5.0));
}

#[test]
fn a_damaged_row_of_vxstat_is_complained_about() {
    let all = read_as("vxstat", &STAT.replace("320         0    4.0", "320         0    4.x"));
    assert_eq!((all.complaints.len(), all.complaints[0].1.line, all.rows.len()), (1, 10, 3));
}

const TRACE: &str = "\
2001 START read vol data1 op 0 block 4000000 len 32 <----- small
2002 START write disk disk01 op 2001 block 100 len 128
2001 END read vol data1 op 0 block 4000000 len 32 time 0
-------CUT-------
2002 END write disk disk01 op 2001 block 100 len 128 time 3
900 50003 START write vdev log1 dg datadg dev 0,30001 block 7000064 len 16 concurrency 64 pid 1234
900 50003 END write vdev log1 dg datadg op 900 block 7000064 len 16 time 2
2003 START read vol data1 op 0 block 8 len 16
";

#[test]
fn a_row_for_each_request() {
    let all = read_as("vxtrace", TRACE);
    assert!(all.complaints.is_empty(), "{:?}", all.complaints);
    let rows = all.of(Volume, "data1");
    assert_eq!((rows.len(), rows[0].interval.kind, rows[0].origin.line), (2, RowsKind::Request, 1));
    assert_eq!(values(rows[0], &[RequestBytes, OffsetBytes]), [16_384.0, 2_048_000_000.0]);
    assert_eq!(values(rows[0], &[IsWrite, ResponseTicks]), [0.0, 0.0]);
    assert_eq!((rows[1].value(ResponseTicks), rows[1].value(RequestBytes)), (None, Some(8192.0)));
    let disk = all.of(Device, "disk01");
    assert_eq!(
        (disk.len(), values(disk[0], &[IsWrite, ResponseTicks, RequestBytes])),
        (1, vec![1.0, 3.0, 65_536.0])
    );
    let log = all.of(Volume, "log1")[0];
    assert_eq!((log.value(OutstandingInstant), log.interval.at_s), (Some(64.0), 500.05));
}

#[test]
fn a_damaged_request_is_complained_about() {
    let all = read_as("vxtrace", &TRACE.replace("block 100 len 128 time", "block 100 len x time"));
    assert_eq!((all.complaints.len(), all.complaints[0].1.line), (1, 5));
    assert_eq!(all.of(Device, "disk01")[0].value(ResponseTicks), None);
}

proptest! {
    #[test]
    fn requests_come_back_as_they_were_printed(
        requests in prop::collection::vec((any::<bool>(), 0..1u64 << 40, 1..4096u32, 0..100u32), 1..50)
    ) {
        let mut text = String::new();
        for (n, (is_write, block, len, time)) in requests.iter().enumerate() {
            let what = if *is_write { "write" } else { "read" };
            text += &format!("{n} START {what} vol v op 0 block {block} len {len}\n");
            text += &format!("{n} END {what} vol v op 0 block {block} len {len} time {time}\n");
        }
        let (all, _) = read_any(text.as_bytes());
        prop_assert!(all.complaints.is_empty());
        prop_assert_eq!(all.rows.len(), requests.len());
        for (row, (is_write, block, len, time)) in all.rows.iter().zip(&requests) {
            let wanted = [f64::from(u8::from(*is_write)), *block as f64 * 512.0, f64::from(*len) * 512.0, f64::from(*time)];
            prop_assert_eq!(values(row, &[IsWrite, OffsetBytes, RequestBytes, ResponseTicks]), wanted);
        }
    }

    #[test]
    fn no_damage_panics(stat in damaged(STAT), trace in damaged(TRACE)) {
        read_any(&stat);
        read_any(&trace);
    }
}
