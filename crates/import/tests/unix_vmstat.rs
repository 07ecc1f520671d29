//! vmstat of Solaris, HP-UX and FreeBSD, mpstat of Solaris.
#![allow(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

mod support;

use proptest::prelude::*;
use record::imported::PlaceKind::{Cpu, Host};
use record::imported::Quantity::*;
use record::imported::{Platform, RowsKind};
use support::{damaged, read_any, read_as, values};

const SOLARIS: &str = "\
$ vmstat 5
 kthr      memory            page            disk          faults      cpu
 r b w   swap  free  re  mf pi po fr de sr s0 s1 -- --   in   sy   cs us sy id
 1 0 0 4000000 2000000 10 20 2 3 4 0 0 5 1 0 0 200 300 400 11 7 82
 3 2 0 3900000 1000000 0 12 8 16 0 0 7 30 0 0 0 250 3600 450 55 15 30
";

#[test]
fn vmstat_of_solaris() {
    let all = read_as("unix-vmstat", SOLARIS);
    assert!(all.complaints.is_empty() && all.remarks.is_empty(), "{:?} {:?}", all.complaints, all.remarks);
    assert_eq!(all.hosts[0].platform, Platform::Solaris);
    let rows = all.of(Host, "");
    assert_eq!((rows[0].interval.kind, rows[1].interval.kind), (RowsKind::SinceBoot, RowsKind::Interval));
    assert_eq!((rows[1].interval.length_s, rows[1].origin.line), (5.0, 5));
    assert_eq!(values(rows[1], &[RunQueue, BlockedTasks, FreeBytes]), [3.0, 2.0, 1_024_000_000.0]);
    assert_eq!(values(rows[1], &[PageInBytesPerS, PagesScannedPerS, SwitchesPerS]), [8192.0, 7.0, 450.0]);
    assert_eq!(values(rows[1], &[CpuUserPercent, CpuSystemPercent, CpuIdlePercent]), [55.0, 15.0, 30.0]);
}

#[test]
fn others_count_pages() {
    let hp = "         procs           memory                   page                              faults       cpu\n    r     b     w      avm    free   re   at    pi   po    fr   de    sr     in     sy    cs  us sy id\n    2     1     0   123456   54321    5    4     3    2     0    0     9    400   5000   300   7  3 90\n";
    let all = read_as("unix-vmstat", hp);
    let row = all.of(Host, "")[0];
    assert_eq!(
        (all.hosts[0].platform, row.value(FreeBytes), row.value(PageInBytesPerS)),
        (Platform::HpUx, None, None)
    );
    assert_eq!(values(row, &[PagesScannedPerS, CpuSystemPercent]), [9.0, 3.0]);
    let bsd = " procs  memory       page                    disks     faults         cpu\n r b w  avm   fre   flt  re  pi  po    fr   sr ada0 ada1   in    sy    cs us sy id\n 1 0 0 1.2G  2.0G   500   0   0   0   600   11    5    0   80   900   700  2  1 97\n";
    let all = read_as("unix-vmstat", bsd);
    let row = all.of(Host, "")[0];
    assert_eq!(values(row, &[FreeBytes, FaultsPerS, InterruptsPerS]), [2_147_483_648.0, 500.0, 80.0]);
}

const MPSTAT: &str = "\
CPU minf mjf xcal  intr ithr  csw icsw migr smtx  srw syscl  usr sys  wt idl
  0    3   0    5   400  300  500  100    6    7    0   900   20   4   0  76
  1    4   2    5   410  310  510  110    6    7    0   910   30   5   0  65
CPU minf mjf xcal  intr ithr  csw icsw migr smtx  srw syscl  usr sys  wt idl
  0    3   0    5   420  320  520  120    6    7    0   920   90   9   0   1
  1    4   0    5   430  330  530  130    6    7    0   930   40   6   0  54
";

#[test]
fn mpstat_of_solaris() {
    let all = read_as("solaris-mpstat", MPSTAT);
    assert!(all.complaints.is_empty() && all.remarks.is_empty(), "{:?} {:?}", all.complaints, all.remarks);
    let rows = all.of(Cpu, "0");
    assert_eq!((rows[0].interval.kind, rows[1].interval.kind), (RowsKind::SinceBoot, RowsKind::Interval));
    assert_eq!(values(rows[1], &[CpuUserPercent, CpuIdlePercent, InterruptsPerS]), [90.0, 1.0, 420.0]);
    assert_eq!(all.of(Cpu, "1")[0].value(MajorFaultsPerS), Some(2.0));
}

#[test]
fn a_damaged_row_is_complained_about() {
    let all = read_as("unix-vmstat", &SOLARIS.replace("30 0 0 0 250", "30 0 x 0 250"));
    assert_eq!((all.complaints.len(), all.complaints[0].1.line, all.rows.len()), (1, 5, 1));
}

proptest! {
    #[test]
    fn no_damage_panics(vmstat in damaged(SOLARIS), mpstat in damaged(MPSTAT)) {
        read_any(&vmstat);
        read_any(&mpstat);
    }
}
