//! Output of blkparse.
#![allow(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

mod support;

use proptest::prelude::*;
use record::imported::PlaceKind::{Device, Partition};
use record::imported::Quantity::*;
use record::imported::{Gathered, RowsKind};
use support::{damaged, near, read_any, read_as};

/// Two writes that merge, a read that is requeued, one that is split, a completion whose begin is lost, a partition.
const TRACE: &str = "\
  8,16   1        1     1.000000000   100  Q  WS 1000 + 8 [dbwr]
  8,16   1        2     1.000001000   100  G  WS 1000 + 8 [dbwr]
  8,16   1        3     1.000002000   100  P   N [dbwr]
  8,16   1        4     1.000010000   100  Q  WS 1008 + 8 [dbwr]
  8,16   1        5     1.000011000   100  M  WS 1008 + 8 [dbwr]
  8,16   1        6     1.000012000   100  U   N [dbwr] 1
  8,16   1        7     1.000020000   100  I  WS 1000 + 16 [dbwr]
  8,16   1        8     1.000050000   100  D  WS 1000 + 16 [dbwr]
  8,16   0        1     1.001050000     0  C  WS 1000 + 16 [0]
  8,16   0        2     2.000000000   200  Q   R 5000 + 16 [ora]
  8,16   0        3     2.000100000   200  D   R 5000 + 16 [ora]
  8,16   0        4     2.000200000   200  R   R 5000 + 16 [0]
  8,16   0        5     2.000500000   200  D   R 5000 + 16 [ora]
  8,16   0        6     2.002500000     0  C   R 5000 + 16 [0]
  8,16   0        7     3.000000000   200  Q   R 9000 + 512 [ora]
  8,16   0        8     3.000010000   200  X   R 9000 / 9256 [ora]
  8,16   0        9     3.000020000   200  D   R 9000 + 256 [ora]
  8,16   0       10     3.000030000   200  D   R 9256 + 256 [ora]
  8,16   0       11     3.001020000     0  C   R 9000 + 256 [0]
  8,16   0       12     3.002030000     0  C   R 9256 + 256 [0]
  8,16   0       13     4.000000000     0  C   R 70000 + 8 [0]
  8,17   0       14     4.000000000   200  A   R 1 + 8 <- (8,17) 1
 253,0   0       15     5.000000000   200  Q   R 64 + 8 [ora]
 253,0   0       16     5.000500000     0  C   R 64 + 8 [0]
  8,16   0       17     5.100000000     0  C   N [0]
";

const SUMMARY: &str = "\
CPU0 (8,16):
 Reads Queued:           3,      264KiB\t Writes Queued:           2,        8KiB
 Read Dispatches:        4,      264KiB\t Write Dispatches:        1,        8KiB
 Reads Requeued:         1\t\t Writes Requeued:         0
 Reads Completed:        3,      264KiB\t Writes Completed:        1,        8KiB
 Read Merges:            0,        0KiB\t Write Merges:            1,        4KiB
 Read depth:             2        \t Write depth:             1
 IO unplugs:             1        \t Timer unplugs:           0
CPU1 (8,16):
 Reads Queued:       1,000,    1,024MiB\t Writes Queued:           0,
0KiB
 Reads Completed:    1,000,    1,024MiB\t Writes Completed:        0,        0KiB
 Read depth:             7        \t Write depth:             0

Throughput (R/W): 1,024KiB/s / 8KiB/s
Events (8,16): 17 entries
Skips: 0 forward (0 -   0.0%)
";

fn times(all: &Gathered, offset: f64) -> [f64; 4] {
    let row = all.rows.iter().find(|r| r.value(OffsetBytes) == Some(offset * 512.0)).unwrap();
    [HostWaitUs, ServiceUs, ResponseUs, RequestBytes].map(|q| row.value(q).unwrap_or(f64::NAN))
}

fn close(a: [f64; 4], b: [f64; 4]) -> bool {
    a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-3 || a.is_nan() && b.is_nan())
}

#[test]
fn requests_are_put_together() {
    let all = read_as("blkparse", TRACE);
    assert!(all.complaints.is_empty(), "{:?}", all.complaints);
    let rows = all.of(Device, "8,16");
    assert_eq!((rows.len(), rows[0].interval.kind), (4, RowsKind::Request));
    assert!(near(rows[0].interval.at_s, 1.00105) && rows[0].origin.line == 9);
    assert_eq!((rows[0].value(IsWrite), rows[1].value(IsWrite)), (Some(1.0), Some(0.0)));
    // Merged: from the first that was queued. Requeued: from the first queueing to the second issue.
    assert!(close(times(&all, 1000.0), [50.0, 1000.0, 1050.0, 8192.0]));
    assert!(close(times(&all, 5000.0), [500.0, 2000.0, 2500.0, 8192.0]));
    assert!(close(times(&all, 9000.0), [20.0, 1000.0, 1020.0, 131_072.0]));
    assert!(close(times(&all, 9256.0), [30.0, 2000.0, 2030.0, 131_072.0]));
    // A volume issues nothing to a driver.
    assert!(close(times(&all, 64.0), [f64::NAN, f64::NAN, 500.0, 4096.0]));
    for (name, count) in
        [("merges_count", 1.0), ("splits_count", 1.0), ("requeues_count", 1.0), ("completed_count", 5.0)]
    {
        assert_eq!(all.fact("8,16", name).unwrap().number(), Some(count), "{name}");
    }
    assert_eq!(all.fact("8,16", "kernel_name").unwrap().text(), "sdb");
    assert!(all.places.iter().any(|p| p.kind == Partition && p.name == "8,17"));
    assert!(all.remarks.iter().any(|(_, r)| r.starts_with("1 completions")));
}

#[test]
fn the_summary_is_a_period_of_each_device() {
    let all = read_as("blkparse", SUMMARY);
    assert!(all.complaints.is_empty(), "{:?}", all.complaints);
    let row = all.of(Device, "8,16")[0];
    assert_eq!(
        (row.interval.kind, row.value(Reads), row.value(Writes)),
        (RowsKind::Period, Some(1003.0), Some(1.0))
    );
    assert_eq!(row.value(ReadBytes), Some(264.0 * 1024.0 + 1024.0 * 1_048_576.0));
    assert_eq!((row.value(ReadBytesPerS), row.value(WriteMerges)), (Some(1_048_576.0), Some(1.0)));
    assert_eq!(all.fact("8,16", "read_depth_max").unwrap().number(), Some(7.0));
    // Figures of processes stand in those of the devices already.
    let processes = format!(
        "{SUMMARY}fio (77)\n Reads Completed:      500,   2,000KiB\t Writes Completed:        0,        0KiB\n"
    );
    let all_processes = read_as("blkparse", &processes);
    assert_eq!(
        (all_processes.of(Device, "8,16")[0].value(Reads), all_processes.complaints.len()),
        (Some(1003.0), 0)
    );
    // With a total, the processors are not added once more; a device named as the kernel does is the one of the events.
    let total = SUMMARY.replace("CPU1 (8,16)", "Total (sdb)").replace("CPU0 (8,16)", "CPU0 (sdb)");
    let all = read_as("blkparse", &format!("{TRACE}{total}"));
    assert_eq!(all.of(Device, "8,16").last().unwrap().value(Reads), Some(1000.0));
}

#[test]
fn a_damaged_line_is_complained_about() {
    let all = read_as("blkparse", &TRACE.replace("1.000010000", "1.00001x000"));
    assert_eq!((all.complaints.len(), all.complaints[0].1.line), (1, 4));
    let all = read_as(
        "blkparse",
        &SUMMARY.replace("3,      264KiB\t Writes Queued", "3,      264XiB\t Writes Queued"),
    );
    assert_eq!(all.complaints.len(), 1);
}

proptest! {
    #[test]
    fn any_requests_come_back(requests in prop::collection::vec((0u32..1000, 1u32..1000, 1u64..64, any::<bool>()), 1..40)) {
        let mut text = String::new();
        for (n, (wait, service, sectors, write)) in requests.iter().enumerate() {
            let at = n as f64;
            let kind = if *write { "W" } else { "R" };
            for (action, time) in [("Q", 0.0), ("D", f64::from(*wait) / 1e6), ("C", f64::from(wait + service) / 1e6)] {
                text += &format!("  8,0    1 {n:8} {:14.9}  77  {action}   {kind} {} + {sectors} [x]\n", at + time, n * 100);
            }
        }
        let (all, _) = read_any(text.as_bytes());
        prop_assert_eq!(all.rows.len(), requests.len());
        for (row, (wait, service, sectors, _)) in all.rows.iter().zip(&requests) {
            prop_assert!((row.value(HostWaitUs).unwrap() - f64::from(*wait)).abs() < 0.01);
            prop_assert!((row.value(ServiceUs).unwrap() - f64::from(*service)).abs() < 0.01);
            prop_assert_eq!(row.value(RequestBytes), Some(*sectors as f64 * 512.0));
        }
    }

    #[test]
    fn no_damage_panics(bytes in damaged(Box::leak(format!("{TRACE}{SUMMARY}").into_boxed_str()))) {
        read_any(&bytes);
    }
}
