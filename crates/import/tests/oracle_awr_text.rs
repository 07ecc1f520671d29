//! AWR reports as text: 12c and later.
#![allow(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

mod support;

use proptest::prelude::*;
use record::imported::PlaceKind::{Database, Host, IoFunction, WaitEvent};
use record::imported::Quantity::*;
use record::imported::{Basis, Platform, RowsKind, facts};
use support::{damaged, near, read_any, read_as, values};

const NEW: &str = "\
WORKLOAD REPOSITORY report for

DB Name         DB Id    Unique Name DB Role          Edition Release    RAC CDB
------------ ----------- ----------- ---------------- ------- ---------- --- ---
SALES         2222222222 sales       PRIMARY          EE      19.0.0.0.0 YES NO

Instance     Inst Num Startup Time
------------ -------- ---------------
sales1              1 01-Mar-23 07:00

Host Name        Platform                         CPUs Cores Sockets Memory(GB)
---------------- -------------------------------- ---- ----- ------- ----------
db1              Linux x86 64-bit                   16     8       1     125.50

              Snap Id      Snap Time      Sessions Curs/Sess Instances
            --------- ------------------- -------- --------- ---------
Begin Snap:        10 02-Mar-23 23:30:00       100       2.0         2
  End Snap:        11 03-Mar-23 00:30:10       101       2.1         2
   Elapsed:               60.17 (mins)
   DB Time:              601.67 (mins)

Load Profile                    Per Second   Per Transaction  Per Exec  Per Call
~~~~~~~~~~~~~~~            ---------------   --------------- --------- ---------
             DB Time(s):              10.0               0.1      0.01      0.50
              DB CPU(s):               2.5               0.0      0.00      0.10
      Redo size (bytes):       1,048,576.0          10,485.8
  Logical read (blocks):          20,000.5             200.0
 Physical read (blocks):           3,000.0              30.0
       Read IO requests:           2,500.0              25.0
           Read IO (MB):              23.5               0.2
           Transactions:             100.0

Top 10 Foreground Events by Total Wait Time
~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
                                           Total Wait       Avg   % DB Wait
Event                                Waits Time (sec)      Wait   time Class
------------------------------ ----------- ---------- --------- ------ --------
db file sequential read          9,000,000      27.0K    3.00ms   74.8 User I/O
DB CPU                                         9025.0             25.0
log file sync                      300,000      164.1  547.00us     .5 Commit

Host CPU
~~~~~~~~                  Load Average
 CPUs Cores Sockets     Begin       End     %User   %System      %WIO     %Idle
----- ----- ------- --------- --------- --------- --------- --------- ---------
   16     8       1      5.00      6.00      20.0       5.0      40.0      75.0

Cache Sizes                       Begin        End
~~~~~~~~~~~                  ---------- ----------
               Buffer Cache:     8,000M     8,000M  Std Block Size:         8K

Foreground Wait Events                   DB/Inst: SALES/sales1  Snaps: 10-11
-> s  - second, ms - millisecond, us - microsecond, ns - nanosecond

                                                Total
                                       %Time     Wait              Waits   % DB
Event                            Waits -outs Time (s)  Avg wait     /txn   time
-------------------------- ----------- ----- -------- --------- -------- ------
db file sequential read      9,000,000         27,000    3.00ms     25.0   74.8
log file sync                  300,000     0      164  547.00us      0.8     .5
control file sequential re       5,000     0       10    2.00ms      0.0     .0
PX Idle Wait                        15         10,274  684.90 s      0.0
                          ------------------------------------------------------

Background Wait Events                   DB/Inst: SALES/sales1  Snaps: 10-11
-> ordered by wait time desc, waits desc (idle events last)

                                                Total
                                       %Time     Wait              Waits   % bg
Event                            Waits -outs Time (s)  Avg wait     /txn   time
-------------------------- ----------- ----- -------- --------- -------- ------
log file parallel write        310,000     0      155  500.00us      0.9   60.0
                          ------------------------------------------------------

Wait Event Histogram                     DB/Inst: SALES/sales1  Snaps: 10-11
-> Units for % of Total Waits:
   us is microseconds

                                                 % of Total Waits
                                 -----------------------------------------------
                           Total
Event                      Waits  <8us <16us <32us <64us <128u <256u <512u >=512
------------------------- ------ ----- ----- ----- ----- ----- ----- ----- -----
db file sequential read       9M                                10.0  20.0  70.0
control file sequential r     5K                                           100.0
                          ------------------------------------------------------

Wait Event Histogram (up to 32 ms)       DB/Inst: SALES/sales1  Snaps: 10-11
-> Units for % of Total Waits:
   us is microseconds,
   ms is 1024 microseconds (approximately 1 millisecond)

                                                 % of Total Waits
                                 -----------------------------------------------
                           Waits
                            1ms
Event                     to 32m  <512  <1ms  <2ms  <4ms  <8ms <16ms <32ms >=32m
------------------------- ------ ----- ----- ----- ----- ----- ----- ----- -----
db file sequential read     6.3M  30.0   5.0  15.0  30.0  10.0   5.0   4.0   1.0
                          ------------------------------------------------------

IOStat by Function summary               DB/Inst: SALES/sales1  Snaps: 10-11
-> 'Data' columns suffixed with M,G,T,P are in multiples of 1024
    other columns suffixed with K,M,G,T,P are in multiples of 1000

                 Reads:  Reqs    Data   Writes:  Reqs    Data    Waits:    Avg
Function Name      Data per sec per sec    Data per sec per sec   Count    Time
--------------- ------- ------- ------- ------- ------- ------- ------- --------
Buffer Cache Re     69G 2.2E+04 174.281      0M     0.0      0M    9.1M   3.01ms
LGWR                 0M     0.0      0M    4.5G    86.0  1.275M    310K 500.00us
TOTAL:              69G 2.2E+04 174.281    4.5G    86.0  1.275M    9.4M   2.90ms
                          ------------------------------------------------------

IOStat by Filetype summary               DB/Inst: SALES/sales1  Snaps: 10-11
-> Small Read and Large Read are average service times

                Reads:  Reqs    Data   Writes:  Reqs    Data      Small    Large
Filetype Name     Data per sec per sec    Data per sec per sec     Read     Read
-------------- ------- ------- ------- ------- ------- ------- -------- --------
Data File          69G  2500.0  23.5M       0M     0.0      0M   3.00ms 1230.91m
                          ------------------------------------------------------

Tablespace IO Stats                      DB/Inst: SALES/sales1  Snaps: 10-11

                  No data exists for this section of the report.
                          ------------------------------------------------------

SQL ordered by Elapsed Time              DB/Inst: SALES/sales1  Snaps: 10-11
        Elapsed                  Elapsed Time
        Time (s)    Executions  per Exec (s)  %Total   %CPU    %IO    SQL Id
---------------- -------------- ------------- ------ ------ ------ -------------
        10,812.3        722,196          0.01   99.9    7.7   89.0 0abcdefghijkl
End of Report
";

#[test]
fn heading_period_and_load_profile_of_19c() {
    let all = read_as("oracle-awr-text", NEW);
    assert!(all.complaints.is_empty(), "{:?}", all.complaints);
    let host = &all.hosts[0];
    assert_eq!(
        (host.name.as_deref(), host.platform, host.processors),
        (Some("db1"), Platform::Linux, Some(16))
    );
    let row = all.of(Database, "sales1")[0];
    assert_eq!(
        (row.interval.kind, row.interval.basis, row.interval.length_s),
        (RowsKind::Period, Basis::Local, 3610.0)
    );
    assert_eq!(row.interval.at_s, 1_677_803_410.0);
    let wanted = [
        ActiveSessions,
        DatabaseCpuPerS,
        RedoBytesPerS,
        LogicalReadsPerS,
        PhysicalReadBlocksPerS,
        ReadIops,
        TransactionsPerS,
    ];
    assert_eq!(values(row, &wanted), [10.0, 2.5, 1_048_576.0, 20_000.5, 3000.0, 2500.0, 100.0]);
    assert!(near(row.value(ReadBytesPerS).unwrap(), 23.5 * 1_048_576.0));
    assert_eq!(row.text.split_whitespace().next(), Some("DB"));
    assert_eq!(all.fact("sales1", facts::DATABASE_BLOCK_BYTES).unwrap().number(), Some(8192.0));
    assert_eq!(all.fact("sales1", facts::DATABASE_RELEASE).unwrap().text(), "19.0.0.0.0");
    assert_eq!(all.fact("sales1", "database_cpu_s").unwrap().number(), Some(9025.0));
    // Idle time of Linux includes what waits for I/O.
    let shares =
        values(all.of(Host, "")[0], &[CpuUserPercent, CpuSystemPercent, CpuIowaitPercent, CpuIdlePercent]);
    assert_eq!(shares, [20.0, 5.0, 40.0, 35.0]);
}

#[test]
fn wait_events_of_19c_are_told_once_with_whole_names() {
    let all = read_as("oracle-awr-text", NEW);
    let reads = all.of(WaitEvent, "db file sequential read");
    assert_eq!(reads.len(), 1);
    assert_eq!(
        values(reads[0], &[Waits, WaitTimeS, WaitUs, DatabaseTimePercent]),
        [9e6, 27_000.0, 3000.0, 74.8]
    );
    assert_eq!(all.of(WaitEvent, "log file sync")[0].value(WaitUs), Some(547.0));
    let control = all.of(WaitEvent, "control file sequential read");
    assert_eq!(values(control[0], &[Waits, WaitUs]), [5000.0, 2000.0]);
    assert_eq!(all.of(WaitEvent, "PX Idle Wait")[0].value(WaitUs), Some(684_900_000.0));
    let log = all.of(WaitEvent, "log file parallel write")[0];
    assert_eq!(values(log, &[WaitUs, BackgroundTimePercent]), [500.0, 60.0]);
    assert_eq!(log.value(DatabaseTimePercent), None);
    assert!(all.of(WaitEvent, "DB CPU").is_empty());
}

#[test]
fn histograms_of_19c_are_put_together() {
    let all = read_as("oracle-awr-text", NEW);
    let name = |d: &record::imported::Distribution| all.places[d.place as usize].name.clone();
    let reads = all.distributions.iter().find(|d| name(d) == "db file sequential read").unwrap();
    assert_eq!((reads.quantity, reads.class), (WaitUs, None));
    assert_eq!((reads.origin.line, reads.buckets[0]), (84, (8.0, 0.0)));
    let told: Vec<(f64, f64)> = reads.buckets.iter().copied().filter(|(_, share)| *share > 0.0).collect();
    let wanted = [
        (256.0, 0.10),
        (512.0, 0.20),
        (1024.0, 0.05),
        (2048.0, 0.15),
        (4096.0, 0.30),
        (8192.0, 0.10),
        (16_384.0, 0.05),
        (32_768.0, 0.04),
        (f64::INFINITY, 0.01),
    ];
    assert_eq!(told.len(), wanted.len());
    assert!(told.iter().zip(wanted).all(|(a, b)| a.0 == b.0 && near(a.1, b.1)), "{told:?}");
    let control = all.distributions.iter().find(|d| name(d) == "control file sequential read").unwrap();
    assert_eq!(control.buckets.last(), Some(&(f64::INFINITY, 1.0)));
}

#[test]
fn io_by_function_has_data_in_1024s_and_counts_in_1000s() {
    let all = read_as("oracle-awr-text", NEW);
    let cache = all.of(IoFunction, "Buffer Cache Reads")[0];
    let mib = 1_048_576.0;
    assert_eq!(values(cache, &[ReadIops, Waits, WaitUs]), [22_000.0, 9.1e6, 3010.0]);
    assert!(near(cache.value(ReadBytes).unwrap(), 69.0 * 1024.0 * mib));
    // The column is too narrow for its M.
    assert!(near(cache.value(ReadBytesPerS).unwrap(), 174.281 * mib));
    let log = all.of(IoFunction, "LGWR")[0];
    assert!(near(log.value(WriteBytesPerS).unwrap(), 1.275 * mib));
    assert_eq!(values(log, &[WriteIops, WaitUs]), [86.0, 500.0]);
    assert!(all.of(IoFunction, "TOTAL:").is_empty());
    let files = all.of(IoFunction, "Data File")[0];
    assert_eq!(values(files, &[SmallReadUs, LargeReadUs]), [3000.0, 1_230_910.0]);
}

#[test]
fn an_excerpt_that_lost_its_spaces_is_read() {
    let text = "\
Top 5 Timed Foreground Events
~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
Avg
wait % DB
Event Waits Time(s) (ms) time Wait Class
------------------------------ ------------ ----------- ------ ------ ----------
db file sequential read 35,732 6,575 184 77.5 User I/O
log file sync 3,825 1,495 391 17.6 Commit
DB CPU 50 2.0
";
    let all = read_as("oracle-awr-text", text);
    assert!(all.complaints.is_empty() && all.remarks.len() == 1, "{:?}", all.complaints);
    let reads = all.of(WaitEvent, "db file sequential read")[0];
    let wanted = [Waits, WaitTimeS, WaitUs, DatabaseTimePercent];
    assert_eq!(values(reads, &wanted), [35_732.0, 6575.0, 184_000.0, 77.5]);
    assert_eq!(all.of(WaitEvent, "log file sync")[0].value(WaitUs), Some(391_000.0));
    assert_eq!(all.fact("", "database_cpu_s").unwrap().number(), Some(50.0));
}

#[test]
fn tables_copied_out_of_a_browser_have_tabs() {
    let text = "\
Top 10 Foreground Events by Total Wait Time
Event\tWaits\tTotal Wait Time (sec)\tAvg Wait\t% DB time\tWait Class
db file sequential read\t2,000,000\t9628.3\t4.81ms\t88.9\tUser I/O
DB CPU\t \t831.8\t \t7.7\t

Tablespace IO Stats
Tablespace\tReads\tAv Rds/s\tAv Rd(ms)\tAv Blks/Rd\tWrites\tWrites avg/s\tBuffer Waits\tAv Buf Wt(ms)
DATA\t1,000\t10\t5.0\t1.0\t50\t1\t0\t0.00
";
    let all = read_as("oracle-awr-text", text);
    assert!(all.complaints.is_empty(), "{:?}", all.complaints);
    let reads = all.of(WaitEvent, "db file sequential read")[0];
    assert_eq!(values(reads, &[Waits, WaitTimeS, WaitUs]), [2e6, 9628.3, 4810.0]);
    let data = all.of(record::imported::PlaceKind::Tablespace, "DATA")[0];
    assert_eq!(values(data, &[Reads, ReadResponseUs]), [1000.0, 5000.0]);
}

#[test]
fn a_damaged_row_is_complained_about_and_the_rest_is_kept() {
    let text = NEW.replace("300,000      164.1", "300,0x0      164.1");
    let all = read_as("oracle-awr-text", &text);
    assert_eq!(all.complaints.len(), 1, "{:?}", all.complaints);
    assert_eq!(
        (all.complaints[0].1.line, all.complaints[0].1.expected.as_str()),
        (40, "a wait event, its waits, their time")
    );
    assert_eq!(all.of(WaitEvent, "log file sync").len(), 1);
}

#[test]
fn another_format_below_the_report_is_read_too() {
    let text = NEW.to_owned()
        + "\nDevice tps kB/s rqm/s await areq-sz aqu-sz %util\nsda 10.00 80.00 0.00 1.00 8.00 0.01 1.00\n";
    let (all, reading) = read_any(text.as_bytes());
    assert_eq!(reading.read[0].1, ["oracle-awr-text", "linux-iostat"]);
    assert!(all.complaints.is_empty(), "{:?}", all.complaints);
    assert_eq!(all.hosts.len(), 1);
}

proptest! {
    #[test]
    fn events_come_back_as_they_were_printed(
        events in prop::collection::vec(("[a-z]{3,8}( [a-z]{2,6}){0,2}", 1u32..9_999_999, 0u32..999_999, 1u32..99_999), 1..20)
    ) {
        let mut text = String::from("Foreground Wait Events                   DB/Inst: A/a1  Snaps: 10-11\n\n");
        text += "                                                Total\n";
        text += "                                       %Time     Wait              Waits   % DB\n";
        text += "Event                            Waits -outs Time (s)  Avg wait     /txn   time\n";
        text += "-------------------------- ----------- ----- -------- --------- -------- ------\n";
        for (name, waits, time, hundredths) in &events {
            let average = format!("{:.2}us", f64::from(*hundredths) / 100.0);
            text += &format!("{name:<26} {waits:>11}     0 {time:>8} {average:>9}      0.0    1.0\n");
        }
        let (all, _) = read_any(text.as_bytes());
        prop_assert_eq!(all.rows.len(), events.len());
        for (row, (name, waits, time, hundredths)) in all.rows.iter().zip(&events) {
            prop_assert_eq!(&all.places[row.place as usize].name, name);
            prop_assert_eq!(values(row, &[Waits, WaitTimeS]), [f64::from(*waits), f64::from(*time)]);
            prop_assert!(near(row.value(WaitUs).unwrap(), f64::from(*hundredths) / 100.0));
        }
    }

    #[test]
    fn no_damage_panics(bytes in damaged(NEW)) {
        read_any(&bytes);
    }
}
