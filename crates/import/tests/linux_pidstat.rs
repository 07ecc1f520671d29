//! pidstat of sysstat, as text.
#![allow(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

mod support;

use proptest::prelude::*;
use record::imported::PlaceKind::Process;
use record::imported::Quantity::*;
use record::imported::{Basis, RowsKind};
use support::{damaged, read_any, read_as, values};

const TABLES: &str = "\
Linux 6.1.0 (db1) \t02/10/2024 \t_x86_64_\t(8 CPU)

12:00:00      UID       PID   kB_rd/s   kB_wr/s kB_ccwr/s iodelay  Command
12:00:05      999      1234   8192.00     16.00      1.00      58  ora_lgwr_ORCL
12:00:05        0      1300     -1.00     -1.00     -1.00       0  kworker/0:1H
12:00:05      999      1400      4.00      0.00      0.00       0  JS Helper #2

12:00:00      UID       PID    %usr %system  %guest   %wait    %CPU   CPU  Command
12:00:05      999      1234   10.00    5.00    0.00    1.00   15.00     3  ora_lgwr_ORCL

Average:      UID       PID   kB_rd/s   kB_wr/s kB_ccwr/s iodelay  Command
Average:      999      1234   8192.00     16.00      1.00      58  ora_lgwr_ORCL
";

#[test]
fn tables_of_several_activities() {
    let all = read_as("linux-pidstat", TABLES);
    assert!(all.complaints.is_empty(), "{:?}", all.complaints);
    let lgwr = all.of(Process, "1234 ora_lgwr_ORCL");
    assert_eq!((lgwr[0].interval.length_s, lgwr[0].interval.kind), (5.0, RowsKind::Interval));
    let wanted = [ReadBytesPerS, WriteBytesPerS, CancelledBytesPerS, IoDelayS];
    assert_eq!(values(lgwr[0], &wanted), [8_388_608.0, 16_384.0, 1024.0, 0.58]);
    assert_eq!(lgwr[1].interval.kind, RowsKind::Average);
    assert_eq!(values(lgwr[2], &[CpuUserPercent, CpuSystemPercent]), [10.0, 5.0]);
    assert_eq!(all.of(Process, "1300 kworker/0:1H")[0].value(ReadBytesPerS), None);
    assert_eq!(all.of(Process, "1400 JS Helper #2").len(), 1);
}

#[test]
fn flat_tables_of_threads_with_arguments() {
    let text = "\
Linux 6.1.0 (db1) \t02/10/2024 \t_x86_64_\t(8 CPU)

# Time        UID      TGID       TID    %usr %system  %guest   %wait    %CPU   CPU  minflt/s  majflt/s     VSZ     RSS   %MEM   kB_rd/s   kB_wr/s kB_ccwr/s iodelay   cswch/s nvcswch/s  Command
1552515592  17930      1029         -   99.21    0.59    0.00    0.00   99.80     3      0.00      2.00  107956     616   0.00      8.00      0.00      0.00       0      1.00      0.20  /bin/sh -c true
1552515592  17930         -      1030   99.21    0.59    0.00    0.00   99.80     3      0.00      0.00  107956     616   0.00      8.00      0.00      0.00       0      1.00      0.20  |__sh

# Time        UID      TGID       TID    %usr %system  %guest   %wait    %CPU   CPU  minflt/s  majflt/s     VSZ     RSS   %MEM   kB_rd/s   kB_wr/s kB_ccwr/s iodelay   cswch/s nvcswch/s  Command
1552515597  17930      1029         -   98.00    0.59    0.00    0.00   99.80     3      0.00      0.00  107956     616   0.00      8.00      0.00      0.00       0      1.00      0.20  /bin/sh -c true
";
    let all = read_as("linux-pidstat", text);
    assert!(all.complaints.is_empty(), "{:?}", all.complaints);
    let rows = all.of(Process, "1029 /bin/sh -c true");
    assert_eq!((rows[1].interval.length_s, rows[1].interval.basis), (5.0, Basis::Utc));
    let wanted = [ReadBytesPerS, MajorFaultsPerS, ResidentBytes, SwitchesPerS];
    assert_eq!(values(rows[0], &wanted), [8192.0, 2.0, 630_784.0, 1.2]);
    assert_eq!(all.of(Process, "/1030 sh").len(), 1);
}

#[test]
fn a_damaged_row_is_complained_about_and_the_rest_is_kept() {
    let all = read_as("linux-pidstat", &TABLES.replace("4.00      0.00      0.00       0  JS", "4.00 xx"));
    assert_eq!((all.complaints.len(), all.complaints[0].1.line), (1, 6));
    assert_eq!(all.rows.len(), 4);
}

proptest! {
    #[test]
    fn no_damage_panics(bytes in damaged(TABLES)) {
        read_any(&bytes);
    }
}
