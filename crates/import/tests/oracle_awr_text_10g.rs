//! AWR reports as text: 10g and 11g, tablespaces and files.
#![allow(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

mod support;

use proptest::prelude::*;
use record::imported::PlaceKind::{Database, DatabaseFile, Host, Tablespace, WaitEvent};
use record::imported::Quantity::*;
use record::imported::facts;
use support::{damaged, read_any, read_as, values};

const OLD: &str = "\
WORKLOAD REPOSITORY report for

DB Name         DB Id    Instance     Inst Num Release     RAC Host
------------ ----------- ------------ -------- ----------- --- ------------
OLD           1111111111 old                 1 10.2.0.4.0  NO  aix01

              Snap Id      Snap Time      Sessions Curs/Sess
            --------- ------------------- -------- ---------
Begin Snap:      1234 12-Okt-09 10:00:00       100       5.0
  End Snap:      1235 12-Okt-09 11:00:00       105       5.1
   Elapsed:               60.00 (mins)
   DB Time:              120.00 (mins)

Cache Sizes
~~~~~~~~~~~                       Begin        End
                             ---------- ----------
               Buffer Cache:     1,024M     1,024M  Std Block Size:        16K

Load Profile
~~~~~~~~~~~~                            Per Second       Per Transaction
                                   ---------------       ---------------
                  Redo size:            100,000.00              5,000.00
              Logical reads:             30,000.00              1,500.00
             Physical reads:              1,200.00                 60.00
            Physical writes:                300.00                 15.00
               Transactions:                 20.00

Top 5 Timed Events                                         Avg %Total
~~~~~~~~~~~~~~~~~~                                        wait   Call
Event                                 Waits    Time (s)   (ms)   Time Wait Class
------------------------------ ------------ ----------- ------ ------ ----------
db file sequential read           1,000,000       5,000      5   69.4   User I/O
CPU time                                          1,800          25.0
log file parallel write              72,000         144      2    2.0 System I/O

Wait Events                              DB/Inst: OLD/old  Snaps: 1234-1235
-> ordered by wait time desc, waits desc (idle events last)
                                                                   Avg
                                             %Time  Total Wait    wait     Waits
Event                                 Waits  -outs    Time (s)    (ms)      /txn
---------------------------- -------------- ------ ----------- ------- ---------
db file sequential read           1,000,000     .0       5,000       5      13.9
log file parallel write              72,000     .0         144       2       1.0
db file scattered read                2,000     .0           1       0       0.0
direct path read                      3,000     .0           0       0       0.0
          -------------------------------------------------------------

Background Wait Events                   DB/Inst: OLD/old  Snaps: 1234-1235
-> ordered by wait time desc, waits desc (idle events last)

                                                                   Avg
                                             %Time  Total Wait    wait     Waits
Event                                 Waits  -outs    Time (s)    (ms)      /txn
---------------------------- -------------- ------ ----------- ------- ---------
log file parallel write              72,000     .0         144       2       1.0
          -------------------------------------------------------------

Wait Event Histogram                      DB/Inst: OLD/old  Snaps: 1234-1235
-> % of Waits: column heading of <=1s is truly <1024ms, >1s is truly >=1024ms

                           Total ----------------- % of Waits ------------------
Event                      Waits  <1ms  <2ms  <4ms  <8ms <16ms <32ms  <=1s   >1s
-------------------------- ----- ----- ----- ----- ----- ----- ----- ----- -----
db file sequential read    1000K  10.0  10.0  20.0  40.0  10.0   5.0   4.9    .1
          -------------------------------------------------------------

Operating System Statistics               DB/Inst: OLD/old  Snaps: 1234-1235

Statistic                                       Total
-------------------------------- --------------------
BUSY_TIME                                     360,000
IDLE_TIME                                   1,080,000
IOWAIT_TIME                                   540,000
SYS_TIME                                       90,000
USER_TIME                                     270,000
NUM_CPUS                                            4
PHYSICAL_MEMORY_BYTES                  17,179,869,184
          -------------------------------------------------------------

Tablespace IO Stats                      DB/Inst: OLD/old  Snaps: 1234-1235
-> ordered by IOs (Reads + Writes) desc

Tablespace
------------------------------
                 Av      Av     Av                       Av     Buffer Av Buf
         Reads Reads/s Rd(ms) Blks/Rd       Writes Writes/s      Waits Wt(ms)
-------------- ------- ------ ------- ------------ -------- ---------- ------
USERS
     1,080,000     300    5.2     4.0      720,000      200     12,000   46.1
TEMP
             0       0    0.0                   36        0          0    0.0
          -------------------------------------------------------------

File IO Stats                            DB/Inst: OLD/old  Snaps: 1234-1235
-> ordered by Tablespace, File

Tablespace               Filename
------------------------ ----------------------------------------------------
                 Av      Av     Av                       Av     Buffer Av Buf
         Reads Reads/s Rd(ms) Blks/Rd       Writes Writes/s      Waits Wt(ms)
-------------- ------- ------ ------- ------------ -------- ---------- ------
USERS                    /u02/oradata/old/users01.dbf
     1,080,000     300    5.2     4.0      720,000      200     12,000   46.1
          -------------------------------------------------------------
";

#[test]
fn a_report_of_10g_with_a_german_month() {
    let all = read_as("oracle-awr-text", OLD);
    assert!(all.complaints.is_empty(), "{:?}", all.complaints);
    assert_eq!((all.hosts[0].name.as_deref(), all.hosts[0].processors), (Some("aix01"), Some(4)));
    let row = all.of(Database, "old")[0];
    assert_eq!((row.interval.at_s, row.interval.length_s), (1_255_345_200.0, 3600.0));
    let wanted = [RedoBytesPerS, PhysicalReadBlocksPerS, PhysicalWriteBlocksPerS, ActiveSessions];
    assert_eq!(values(row, &wanted), [100_000.0, 1200.0, 300.0, 2.0]);
    assert_eq!(all.fact("old", facts::DATABASE_BLOCK_BYTES).unwrap().number(), Some(16_384.0));
    // The top list of 10g is of all processes: what the other tables repeat is not told again.
    assert_eq!(all.of(WaitEvent, "db file sequential read").len(), 1);
    assert_eq!(all.of(WaitEvent, "log file parallel write").len(), 1);
    // A mean of 0 ms: by time and waits, or not known.
    assert_eq!(all.of(WaitEvent, "db file scattered read")[0].value(WaitUs), Some(500.0));
    assert_eq!(all.of(WaitEvent, "direct path read")[0].value(WaitUs), None);
    let host = all.of(Host, "")[0];
    assert_eq!(
        values(host, &[CpuUserPercent, CpuSystemPercent, CpuIowaitPercent, CpuIdlePercent]),
        [18.75, 6.25, 37.5, 37.5]
    );
    let buckets = &all.distributions[0].buckets;
    assert_eq!((buckets[0].0, buckets[6].0, buckets.len()), (1000.0, 1_024_000.0, 8));
}

#[test]
fn tablespaces_and_files_have_their_name_above() {
    let all = read_as("oracle-awr-text", OLD);
    let users = all.of(Tablespace, "USERS")[0];
    let wanted =
        [Reads, ReadIops, ReadResponseUs, BlocksPerRead, Writes, WriteIops, BufferWaits, BufferWaitUs];
    let expected = [1_080_000.0, 300.0, 5200.0, 4.0, 720_000.0, 200.0, 12_000.0, 46_100.0];
    assert_eq!(values(users, &wanted), expected);
    let file = all.of(DatabaseFile, "/u02/oradata/old/users01.dbf")[0];
    assert_eq!(values(file, &wanted), expected);
    assert_eq!(all.fact("/u02/oradata/old/users01.dbf", facts::PART_OF).unwrap().text(), "USERS");
    // No reads have no time.
    let temp = all.of(Tablespace, "TEMP")[0];
    assert_eq!(
        (temp.value(Reads), temp.value(ReadResponseUs), temp.value(Writes)),
        (Some(0.0), None, Some(36.0))
    );
}

#[test]
fn columns_of_12c_have_single_block_reads() {
    let text = "\
Tablespace IO Stats                      DB/Inst: SALES/sales1  Snaps: 10-11

Tablespace
------------------------------
          Av       Av     Av      1-bk  Av 1-bk          Writes   Buffer  Av Buf
  Reads   Rds/s  Rd(ms) Blks/Rd   Rds/s  Rd(ms)  Writes   avg/s    Waits  Wt(ms)
------- ------- ------- ------- ------- ------- ------- ------- -------- -------
DATA
2.1E+06     580     4.7     1.0   570.5     4.6 300,000      83       12     0.5
";
    let all = read_as("oracle-awr-text", text);
    let row = all.of(Tablespace, "DATA")[0];
    let wanted =
        [Reads, ReadIops, ReadResponseUs, SingleBlockReadIops, SingleBlockReadUs, WriteIops, BufferWaitUs];
    assert_eq!(values(row, &wanted), [2.1e6, 580.0, 4700.0, 570.5, 4600.0, 83.0, 500.0]);
    assert!(all.complaints.is_empty() && row.interval.length_s.is_nan());
}

proptest! {
    #[test]
    fn no_damage_panics(bytes in damaged(OLD)) {
        read_any(&bytes);
    }
}
