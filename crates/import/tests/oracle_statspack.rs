//! Statspack reports: 9i, 10g, 11g.
#![allow(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

mod support;

use proptest::prelude::*;
use record::imported::PlaceKind::{Database, DatabaseFile, Host, Tablespace, WaitEvent};
use record::imported::Quantity::*;
use record::imported::{Platform, RowsKind, facts};
use support::{damaged, read_any, read_as, values};

const NEW: &str = "\
STATSPACK report for

Database    DB Id    Instance     Inst Num  Startup Time   Release     RAC
~~~~~~~~ ----------- ------------ -------- --------------- ----------- ---
          3333333333 perf                1 01-Jun-15 08:00 11.2.0.4.0  NO

Host Name             Platform                CPUs Cores Sockets   Memory (G)
~~~~ ---------------- ---------------------- ----- ----- ------- ------------
     sun01            Solaris[tm] OE (64-bit    32     8       2         64.0

Snapshot       Snap Id     Snap Time      Sessions Curs/Sess Comment
~~~~~~~~    ---------- ------------------ -------- --------- ------------------
Begin Snap:        101 02-Jun-15 10:00:00       45       3.0
  End Snap:        102 02-Jun-15 10:30:00       47       3.1
   Elapsed:      30.00 (mins) Av Act Sess:       4.0
   DB time:     120.00 (mins)      DB CPU:      15.00 (mins)

Cache Sizes            Begin        End
~~~~~~~~~~~       ---------- ----------
    Buffer Cache:     1,024M              Std Block Size:         8K
     Shared Pool:       512M                  Log Buffer:     7,344K

Load Profile              Per Second    Per Transaction    Per Exec    Per Call
~~~~~~~~~~~~      ------------------  ----------------- ----------- -----------
      DB time(s):                4.0                0.1        0.01        0.10
       DB CPU(s):                0.5                0.0        0.00        0.01
       Redo size:          250,000.5            6,250.0
   Logical reads:           12,000.0              300.0
  Physical reads:            2,000.0               50.0
 Physical writes:              150.0                3.8
      User calls:               40.0                1.0
    Transactions:               40.0

Instance Efficiency Indicators
~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
            Buffer Nowait %:  100.00       Redo NoWait %:  100.00

Top 5 Timed Events                                                    Avg %Total
~~~~~~~~~~~~~~~~~~                                                   wait   Call
Event                                            Waits    Time (s)   (ms)   Time
----------------------------------------- ------------ ----------- ------ ------
db file sequential read                        900,000       6,300      7   87.5
CPU time                                                       900          12.5
log file parallel write                         54,000         216      4    3.0

Host CPU  (CPUs: 32  Cores: 8  Sockets: 2)
~~~~~~~~              Load Average
                      Begin     End      User  System    Idle     WIO     WCPU
                    ------- -------   ------- ------- ------- ------- --------
                       1.10    1.20     10.00    5.00   85.00    0.00

Foreground Wait Events  DB/Inst: PERF/perf  Snaps: 101-102
-> Only events with Total Wait Time (s) >= .001 are shown

                                                             Avg          %Total
                                          %Tim Total Wait   wait    Waits   Call
Event                               Waits  out   Time (s)   (ms)     /txn   Time
---------------------------- ------------ ---- ---------- ------ -------- ------
db file sequential read           900,000    0      6,300      7     12.5   87.5
log file sync                      36,000    0        180      5      0.5    2.5
          -------------------------------------------------------------

Background Wait Events  DB/Inst: PERF/perf  Snaps: 101-102
                                                             Avg          %Total
                                          %Tim Total Wait   wait    Waits   Call
Event                               Waits  out   Time (s)   (ms)     /txn   Time
---------------------------- ------------ ---- ---------- ------ -------- ------
log file parallel write            54,000    0        216      4      0.8    3.0
control file sequential read          420    0          1      2      0.0     .0
          -------------------------------------------------------------

Wait Event Histogram  DB/Inst: PERF/perf  Snaps: 101-102
-> % of Waits - column heading: <=1s is truly <1024ms, >1s is truly >=1024ms

                           Total ----------------- % of Waits ------------------
Event                      Waits  <1ms  <2ms  <4ms  <8ms <16ms <32ms  <=1s   >1s
-------------------------- ----- ----- ----- ----- ----- ----- ----- ----- -----
log file parallel write      54K  10.0  20.0  40.0  20.0  10.0
          -------------------------------------------------------------

OS Statistics  DB/Inst: PERF/perf  Snaps: 101-102
Statistic                                  Total
------------------------- ----------------------
BUSY_TIME                                864,000
IDLE_TIME                              4,896,000
NUM_CPUS                                      32
          -------------------------------------------------------------

Tablespace IO Stats  DB/Inst: PERF/perf  Snaps: 101-102
->ordered by IOs (Reads + Writes) desc

Tablespace
------------------------------
                 Av      Av     Av                    Av        Buffer Av Buf
         Reads Reads/s Rd(ms) Blks/Rd       Writes Writes/s      Waits Wt(ms)
-------------- ------- ------ ------- ------------ -------- ---------- ------
DATA
       900,000     500    7.0     1.0       90,000       50        120    3.0
          -------------------------------------------------------------

File IO Stats  DB/Inst: PERF/perf  Snaps: 101-102
->Mx Rd Bkt: Max bucket time for single block read
->ordered by Tablespace, File

Tablespace               Filename
------------------------ ----------------------------------------------------
                        Av   Mx                                             Av
                 Av     Rd   Rd    Av                    Av        Buffer BufWt
         Reads Reads/s (ms)  Bkt Blks/Rd       Writes Writes/s      Waits  (ms)
-------------- ------- ----- --- ------- ------------ -------- ---------- ------
DATA                     /oradata/data01.dbf
       900,000     500   7.0  32     1.0       90,000       50        120    3.0
          -------------------------------------------------------------

File Read Histogram Stats  DB/Inst: PERF/perf  Snaps: 101-102
->Number of single block reads in each time range
->ordered by Tablespace, File

Tablespace               Filename
------------------------ ----------------------------------------------------
    0 - 2 ms     2 - 4 ms    4 - 8 ms     8 - 16 ms   16 - 32 ms       32+ ms
------------ ------------ ------------ ------------ ------------ ------------
DATA                     /oradata/data01.dbf
      90,000       90,000      450,000      180,000       45,000       45,000
          -------------------------------------------------------------

End of Report ( sp_101_102.lst )
";

#[test]
fn everything_of_11g() {
    let all = read_as("oracle-statspack", NEW);
    assert!(all.complaints.is_empty(), "{:?}", all.complaints);
    let host = &all.hosts[0];
    assert_eq!(
        (host.name.as_deref(), host.platform, host.processors),
        (Some("sun01"), Platform::Solaris, Some(32))
    );
    let row = all.of(Database, "perf")[0];
    assert_eq!(
        (row.interval.kind, row.interval.at_s, row.interval.length_s),
        (RowsKind::Period, 1_433_241_000.0, 1800.0)
    );
    let wanted = [
        ActiveSessions,
        DatabaseCpuPerS,
        RedoBytesPerS,
        PhysicalReadBlocksPerS,
        UserCallsPerS,
        TransactionsPerS,
    ];
    assert_eq!(values(row, &wanted), [4.0, 0.5, 250_000.5, 2000.0, 40.0, 40.0]);
    assert_eq!(all.fact("perf", facts::DATABASE_BLOCK_BYTES).unwrap().number(), Some(8192.0));
    assert_eq!(all.fact("perf", facts::DATABASE_RELEASE).unwrap().text(), "11.2.0.4.0");
    let shares =
        values(all.of(Host, "")[0], &[CpuUserPercent, CpuSystemPercent, CpuIdlePercent, CpuIowaitPercent]);
    assert_eq!(shares, [10.0, 5.0, 85.0, 0.0]);
}

#[test]
fn events_of_11g() {
    let all = read_as("oracle-statspack", NEW);
    let reads = all.of(WaitEvent, "db file sequential read");
    assert_eq!(reads.len(), 1);
    assert_eq!(
        values(reads[0], &[Waits, WaitTimeS, WaitUs, DatabaseTimePercent]),
        [900_000.0, 6300.0, 7000.0, 87.5]
    );
    assert_eq!(all.of(WaitEvent, "log file parallel write").len(), 1);
    assert_eq!(all.of(WaitEvent, "log file sync")[0].value(WaitUs), Some(5000.0));
    assert_eq!(all.of(WaitEvent, "control file sequential read")[0].value(Waits), Some(420.0));
    let histogram = all.distributions.iter().find(|d| d.quantity == WaitUs).unwrap();
    assert_eq!(histogram.buckets[2], (4000.0, 0.4));
}

#[test]
fn tablespaces_files_and_their_histogram() {
    let all = read_as("oracle-statspack", NEW);
    let wanted = [Reads, ReadIops, ReadResponseUs, BlocksPerRead, WriteIops, BufferWaits, BufferWaitUs];
    let expected = [900_000.0, 500.0, 7000.0, 1.0, 50.0, 120.0, 3000.0];
    assert_eq!(values(all.of(Tablespace, "DATA")[0], &wanted), expected);
    assert_eq!(values(all.of(DatabaseFile, "/oradata/data01.dbf")[0], &wanted), expected);
    let histogram = all.distributions.iter().find(|d| d.quantity == SingleBlockReadUs).unwrap();
    assert_eq!((histogram.buckets[0], histogram.buckets.len()), ((2000.0, 90_000.0), 6));
    assert_eq!(histogram.buckets[5], (f64::INFINITY, 45_000.0));
}

#[test]
fn the_heading_of_10g_and_the_events_of_8i_in_hundredths() {
    let text = "\
STATSPACK report for

DB Name         DB Id    Instance     Inst Num Release     Cluster Host
------------ ----------- ------------ -------- ----------- ------- ------------
OLD           1111111111 old                 1 8.1.7.4.0   NO      hp01

              Snap Id     Snap Time      Sessions
              ------- ------------------ --------
 Begin Snap:        1 01-Feb-03 10:00:00       50
   End Snap:        2 01-Feb-03 11:00:00       50
    Elapsed:               60.00 (mins)

Top 5 Wait Events
~~~~~~~~~~~~~~~~~                                             Wait     % Total
Event                                               Waits  Time (cs)   Wt Time
-------------------------------------------- ------------ ------------ -------
db file sequential read                           100,000       70,000   70.00
";
    let all = read_as("oracle-statspack", text);
    assert!(all.complaints.is_empty(), "{:?}", all.complaints);
    assert_eq!(all.hosts[0].name.as_deref(), Some("hp01"));
    let row = all.of(WaitEvent, "db file sequential read")[0];
    assert_eq!(values(row, &[Waits, WaitTimeS, DatabaseTimePercent]), [100_000.0, 700.0, 70.0]);
    assert_eq!(row.interval.length_s, 3600.0);
    let text = "STATSPACK report for\n\nHost  Name:   dbhost           Num CPUs:    4        Phys Memory (MB):    8,000\n~~~~\n";
    let all = read_as("oracle-statspack", text);
    assert_eq!((all.hosts[0].name.as_deref(), all.hosts[0].processors), (Some("dbhost"), Some(4)));
}

#[test]
fn an_excerpt_without_heading_takes_sessions_from_its_times() {
    let text = "\
Elapsed:       2.00 (mins) Av Act Sess:       0.5
DB time:       1.00 (mins)      DB CPU:       0.50 (mins)
Load Profile             Per Second    Per Transaction    Per Exec    Per Call
~~~~~~~~~~~~     ------------------  ----------------- ----------- -----------
Parses:            1,825.2           12,776.5
User calls:           10.0              100.0
";
    let all = read_as("oracle-statspack", text);
    let row = all.of(Database, "")[0];
    assert_eq!(values(row, &[UserCallsPerS, ActiveSessions, DatabaseCpuPerS]), [10.0, 0.5, 0.25]);
    assert_eq!(row.interval.length_s, 120.0);
}

#[test]
fn a_damaged_row_is_complained_about_and_the_rest_is_kept() {
    let text = NEW.replace("900,000     500   7.0", "900,000     5x0   7.0");
    let all = read_as("oracle-statspack", &text);
    assert_eq!(all.complaints.len(), 1, "{:?}", all.complaints);
    assert_eq!(all.of(Tablespace, "DATA").len(), 1);
}

proptest! {
    #[test]
    fn no_damage_panics(bytes in damaged(NEW)) {
        read_any(&bytes);
    }
}
