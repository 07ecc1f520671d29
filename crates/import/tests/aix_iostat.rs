//! iostat of AIX.
#![allow(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

mod support;

use proptest::prelude::*;
use record::imported::PlaceKind::{Adapter, Device, Filesystem, Host, Path};
use record::imported::Quantity::{self, *};
use record::imported::{Basis, RowsKind, Value};
use support::{damaged, near, read_any, read_as, values};

const LONG: &str = "\
# iostat -DlRTV 60
System configuration: lcpu=16 drives=12 paths=48 vdisks=0

Disks:                     xfers                                read                                write                                  queue                    time
-------------- -------------------------------- ------------------------------------ ------------------------------------ -------------------------------------- ---------
                 %tm    bps   tps  bread  bwrtn   rps    avg    min    max time fail   wps    avg    min    max time fail    avg    min    max   avg   avg  serv
                 act                                    serv   serv   serv outs              serv   serv   serv outs        time   time   time  wqsz  sqsz qfull
hdisk4          10.0   1.0K   2.0 512.0  512.0   1.0    2.0    0.1    9.0    0    0   1.0    1.5    0.2    7.0    0    0   0.0    0.0    0.0   0.0   0.0   0.0  23:59:30

Disks:                     xfers                                read                                write                                  queue                    time
-------------- -------------------------------- ------------------------------------ ------------------------------------ -------------------------------------- ---------
                 %tm    bps   tps  bread  bwrtn   rps    avg    min    max time fail   wps    avg    min    max time fail    avg    min    max   avg   avg  serv
                 act                                    serv   serv   serv outs              serv   serv   serv outs        time   time   time  wqsz  sqsz qfull
hdisk4         100.0   8.0M 500.0   4.0M   4.0M 250.0   12.0    0.4    1.5S    1    2 250.0   40.2S    0.3    1.1H    3    4  25.5    0.0    2.5S  12.0  16.0 310.0  00:00:30
hdisk7          50.0   2.5G  40.0   2.5G   0.0   40.0    5.0    0.1   90.0    0    0   0.0    0.0    0.0    0.0    0    0   0.0    0.0    0.0   0.0   0.2   0.0  00:00:30
";

#[test]
fn groups_letters_and_midnight_of_the_long_layout() {
    let all = read_as("aix-iostat", LONG);
    assert!(all.complaints.is_empty(), "{:?}", all.complaints);
    assert_eq!(all.hosts[0].processors, Some(16));
    let rows = all.of(Device, "hdisk4");
    assert_eq!((rows[0].interval.kind, rows[1].interval.kind), (RowsKind::SinceBoot, RowsKind::Interval));
    assert_eq!((rows[1].interval.length_s, rows[1].interval.basis), (60.0, Basis::TimeOfDay));
    let row = rows[1];
    assert_eq!(
        values(row, &[BytesPerS, Iops, ReadBytesPerS, ReadIops, WriteIops]),
        [8e6, 500.0, 4e6, 250.0, 250.0]
    );
    assert_eq!(values(row, &[ReadServiceUs, ReadServiceMinUs, ReadServiceMaxUs]), [12_000.0, 400.0, 1.5e6]);
    let writes = values(row, &[WriteServiceUs, WriteServiceMinUs, WriteServiceMaxUs]);
    assert!(near(writes[0], 40.2e6) && near(writes[2], 1.1 * 3.6e9), "{writes:?}");
    assert_eq!(values(row, &[Timeouts, Failures]), [4.0, 6.0]);
    assert_eq!(
        values(row, &[HostWaitUs, HostWaitMaxUs, HostQueue, DeviceQueue, QueueFullPerS]),
        [25_500.0, 2.5e6, 12.0, 16.0, 310.0]
    );
    assert_eq!((row.origin.line, row.text.split_whitespace().next()), (14, Some("hdisk4")));
    assert_eq!(all.of(Device, "hdisk7")[0].value(BytesPerS), Some(2.5e9));
}

#[test]
fn the_order_of_groups_serves_where_blanks_were_lost() {
    let collapsed: String =
        LONG.lines().map(|l| l.split_whitespace().collect::<Vec<_>>().join(" ") + "\n").collect();
    let (all, fresh) = (read_as("aix-iostat", &collapsed), read_as("aix-iostat", LONG));
    assert_eq!(all.rows.len(), fresh.rows.len());
    for (a, b) in all.rows.iter().zip(&fresh.rows) {
        assert_eq!(a.values, b.values);
    }
}

#[test]
fn without_minima_and_with_a_header_set_by_hand() {
    let text = "\
Disks:              xfers                            read                         write                            queue
------  -------------------------------- ------------------------------ --------------------------- ---------------------------------
         %tm  bps     tps  bread  bwrtn   rps    avg    max   time fail  wps   avg  max time fail  avg   min   max   avg   avg  serv
         act                                     serv   serv  outs             serv   serv  outs       time  time  time  wqsz  sqsz qfull
hdisk1  23.5  1.2M   80.0  0.8M   0.4M   50.0    4.0   20.0   0    0    30.0  2.0  90.0  0    0    7.0   0.0   1.5S  3.0   2.0  9.0
";
    let all = read_as("aix-iostat", text);
    assert!(all.complaints.is_empty() && all.remarks.is_empty(), "{:?} {:?}", all.complaints, all.remarks);
    let row = all.of(Device, "hdisk1")[0];
    assert_eq!(
        values(row, &[ReadServiceUs, ReadServiceMaxUs, WriteServiceUs, WriteServiceMaxUs]),
        [4e3, 2e4, 2e3, 9e4]
    );
    assert_eq!(
        values(row, &[HostWaitUs, HostWaitMaxUs, HostQueue, DeviceQueue, QueueFullPerS]),
        [7e3, 1.5e6, 3.0, 2.0, 9.0]
    );
    assert_eq!(row.value(ReadServiceMinUs), None);
}

#[test]
fn an_unknown_letter_is_a_complaint_and_no_value() {
    let all = read_as("aix-iostat", &LONG.replace("40.2S", "40.2Q"));
    assert_eq!(all.complaints.len(), 1);
    assert!(all.complaints[0].1.found.contains("40.2Q"), "{:?}", all.complaints);
    let row = all.of(Device, "hdisk4")[1];
    assert_eq!((row.value(WriteServiceUs), row.value(ReadServiceUs)), (None, Some(12_000.0)));
}

const BLOCKS: &str = "\
System configuration: lcpu=8 drives=2 paths=2 vdisks=1

hdisk2          xfer:  %tm_act      bps      tps      bread      bwrtn
                         1.0      2.5K     3.0        1.5K       1.0K
                read:      rps  avgserv  minserv  maxserv   timeouts      fails
                           2.0      2.5      0.3     12.4S          1          0
               write:      wps  avgserv  minserv  maxserv   timeouts      fails
                           1.0      0.3      0.2      0.7           2          0
               queue:  avgtime  mintime  maxtime  avgwqsz    avgsqsz     sqfull
                           0.3      0.0      5.3      0.5        1.5        4.0
--------------------------------------------------------------------------------
hdisk2          xfer:  %tm_act      bps      tps      bread      bwrtn
                         9.0      1.0M     30.0     500.0K     500.0K
                read:      rps  avgserv  minserv  maxserv   timeouts      fails
                          15.0      2.0      0.3      9.0           0          0
               write:      wps  avgserv  minserv  maxserv   timeouts      fails
                          15.0      1.0      0.2      0.7           0          0
               queue:  avgtime  mintime  maxtime  avgwqsz    avgsqsz     sqfull
                           0.0      0.0      0.0      0.0        0.0        0.0
--------------------------------------------------------------------------------
";

#[test]
fn blocks_of_the_extended_report() {
    let all = read_as("aix-iostat", BLOCKS);
    assert!(all.complaints.is_empty(), "{:?}", all.complaints);
    let rows = all.of(Device, "hdisk2");
    assert_eq!(
        (rows.len(), rows[0].interval.kind, rows[1].interval.kind),
        (2, RowsKind::SinceBoot, RowsKind::Interval)
    );
    let wanted =
        [BusyPercent, BytesPerS, ReadServiceUs, ReadServiceMaxUs, WriteServiceUs, Timeouts, HostWaitUs];
    assert_eq!(values(rows[0], &wanted), [1.0, 2500.0, 2500.0, 12.4e6, 300.0, 3.0, 300.0]);
    assert_eq!(values(rows[0], &[HostQueue, DeviceQueue, QueueFullPerS]), [0.5, 1.5, 4.0]);
    assert_eq!(rows[1].origin.line, 12);
}

const PLAIN: &str = "\
System configuration: lcpu=4 drives=3 paths=3 vdisks=0

tty:      tin         tout    avg-cpu: % user % sys % idle % iowait physc % entc
          0.0         10.0              10.0   5.0   80.0      5.0   0.5   50.0

System: db1
                           Kbps      tps    Kb_read   Kb_wrtn
      Physical            200.0     25.0       1000       500

Adapter:                   Kbps      tps    Kb_read   Kb_wrtn
fcs0                      200.0     25.0       1000       500

Disks:        % tm_act     Kbps      tps    Kb_read   Kb_wrtn
hdisk0           5.0     100.0      15.0        500       250
hdisk1           2.0     100.0      10.0        500       250

Paths:        % tm_act     Kbps      tps    Kb_read   Kb_wrtn
Path0            2.0     100.0      10.0        500       250

FS Name: % tm_act Kbps tps Kb_read Kb_wrtn
/data  -  16.0 2.0 16 0

tty:      tin         tout    avg-cpu: % user % sys % idle % iowait physc % entc
          0.0         10.0              20.0   5.0   70.0      5.0   0.5   50.0
Disks:        % tm_act     Kbps      tps    Kb_read   Kb_wrtn
hdisk0          50.0    1000.0     150.0       4000      1000
";

#[test]
fn tables_of_the_plain_report() {
    let all = read_as("aix-iostat", &format!("db1:/# iostat -sam 5 2\n{PLAIN}"));
    assert!(all.complaints.is_empty(), "{:?}", all.complaints);
    let disk = all.of(Device, "hdisk0");
    assert_eq!((disk[0].interval.kind, disk[1].interval.kind), (RowsKind::SinceBoot, RowsKind::Interval));
    assert_eq!(disk[1].interval.length_s, 5.0);
    assert_eq!(
        values(disk[1], &[BusyPercent, BytesPerS, Iops, ReadBytes]),
        [50.0, 1_024_000.0, 150.0, 4_096_000.0]
    );
    assert_eq!(all.of(Adapter, "fcs0")[0].value(Iops), Some(25.0));
    assert_eq!(all.of(Path, "hdisk1/Path0")[0].value(Iops), Some(10.0));
    assert_eq!(all.fact("hdisk1/Path0", "part_of"), Some(&Value::from("hdisk1")));
    assert_eq!(all.of(Filesystem, "/data")[0].value(BytesPerS), Some(16_384.0));
    let host = all.of(Host, "");
    assert_eq!(values(host[0], &[CpuUserPercent, CpuIowaitPercent]), [10.0, 5.0]);
    assert_eq!(all.hosts[0].name.as_deref(), Some("db1"));
}

#[test]
fn capitals_of_old_releases_and_first_reports_without_a_banner() {
    let text = "TTY:     TIN     TOUT     CPU:  % USER    % SYS    % IDLE    % IOWAIT\n         0.7     22.6            17.8     51.8      30.3       0.2\nDISKS:     % TM_ACT   KBPS    TPS     KB_READ   KB_WRTN\nHDISK0        0.3     1.5     0.3     117405    232938\n";
    let all = read_as("aix-iostat", text);
    let row = all.of(Device, "HDISK0")[0];
    assert_eq!((row.interval.kind, row.value(BytesPerS)), (RowsKind::SinceBoot, Some(1536.0)));
}

#[test]
fn a_damaged_row_is_complained_about_and_the_rest_is_kept() {
    let all = read_as("aix-iostat", &PLAIN.replace("15.0        500", "15.0"));
    assert_eq!(all.complaints.len(), 1, "{:?}", all.complaints);
    assert_eq!((all.complaints[0].1.line, all.of(Device, "hdisk1").len()), (14, 1));
}

#[test]
fn a_changed_configuration_begins_no_run() {
    let changed = "System configuration changed at 11:11:11. The current iteration values may be inaccurate.\nSystem configuration: lcpu=8 drives=3 paths=3 vdisks=0\n";
    let at = PLAIN.rfind("tty:").unwrap();
    let text = format!("{}{changed}{}", &PLAIN[..at], &PLAIN[at..]);
    let all = read_as("aix-iostat", &text);
    let disk = all.of(Device, "hdisk0");
    assert_eq!((disk.len(), disk[1].interval.kind, all.events.len()), (2, RowsKind::Interval, 1));
}

proptest! {
    #[test]
    fn rows_come_back_as_they_were_printed(
        disks in prop::collection::vec((0u32..9999, prop::collection::vec(0.0..1e4f64, 5)), 1..20)
    ) {
        let mut text = String::from("System configuration: lcpu=4 drives=3 paths=3\n\nDisks:        % tm_act     Kbps      tps    Kb_read   Kb_wrtn\n");
        for (number, figures) in &disks {
            let cells: Vec<String> = figures.iter().map(|n| format!("{n:.1}")).collect();
            text += &format!("hdisk{number:<10} {}\n", cells.join("   "));
        }
        let (all, _) = read_any(text.as_bytes());
        prop_assert_eq!(all.rows.len(), disks.len());
        let order: [(Quantity, f64); 5] = [(BusyPercent, 1.0), (BytesPerS, 1024.0), (Iops, 1.0), (ReadBytes, 1024.0), (WriteBytes, 1024.0)];
        for (row, (number, figures)) in all.rows.iter().zip(&disks) {
            prop_assert_eq!(&all.places[row.place as usize].name, &format!("hdisk{number}"));
            for ((quantity, factor), printed) in order.iter().zip(figures) {
                let printed: f64 = format!("{printed:.1}").parse().unwrap();
                prop_assert!(near(row.value(*quantity).unwrap(), printed * factor));
            }
        }
    }

    #[test]
    fn no_damage_panics(long in damaged(LONG), blocks in damaged(BLOCKS), plain in damaged(PLAIN)) {
        for bytes in [long, blocks, plain] {
            read_any(&bytes);
        }
    }
}
