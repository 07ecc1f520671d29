//! vmstat of AIX.
#![allow(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

mod support;

use proptest::prelude::*;
use record::imported::PlaceKind::Host;
use record::imported::Quantity::*;
use record::imported::{Basis, RowsKind};
use support::{damaged, read_any, read_as, values};

const TEXT: &str = "\
# vmstat -It 5

System configuration: lcpu=8 mem=16384MB ent=1.00

   kthr       memory              page              faults                 cpu             time
----------- ----------- ------------------------ ------------ ----------------------- --------
 r  b  p   avm   fre  fi  fo  pi  po  fr   sr  in   sy  cs us sy id wa    pc    ec hr mi se
 1  0  0 861904 100  5   6   0   0   0    0 100 2000 300  5  3 92  0  0.10  10.0 12:00:00
 3  2  1 861904 200  10  20  1   2   0    7 150 2500 350 40 10 45  5  0.60  60.0 12:00:05
";

#[test]
fn columns_and_times() {
    let all = read_as("aix-vmstat", TEXT);
    assert!(all.complaints.is_empty(), "{:?}", all.complaints);
    let rows = all.of(Host, "");
    assert_eq!((rows[0].interval.kind, rows[1].interval.kind), (RowsKind::SinceBoot, RowsKind::Interval));
    assert_eq!((rows[1].interval.length_s, rows[1].interval.basis), (5.0, Basis::TimeOfDay));
    let wanted = [RunQueue, BlockedTasks, FreeBytes, PageInBytesPerS, SwapOutBytesPerS, PagesScannedPerS];
    assert_eq!(values(rows[1], &wanted), [3.0, 2.0, 819_200.0, 40_960.0, 8192.0, 7.0]);
    assert_eq!(
        values(rows[1], &[CpuUserPercent, CpuSystemPercent, CpuIowaitPercent, SwitchesPerS]),
        [40.0, 10.0, 5.0, 350.0]
    );
    let all = read_as("aix-vmstat", &TEXT.replace("150 2500", "15x 2500"));
    assert_eq!((all.complaints.len(), all.rows.len()), (1, 1));
}

proptest! {
    #[test]
    fn no_damage_panics(bytes in damaged(TEXT)) {
        read_any(&bytes);
    }
}
