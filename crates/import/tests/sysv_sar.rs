//! sar of Solaris, HP-UX and AIX: one header, three meanings.
#![allow(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

mod support;

use proptest::prelude::*;
use record::imported::PlaceKind::{Adapter, Cpu, Device, Host, Partition, Volume};
use record::imported::Quantity::*;
use record::imported::{Basis, EventKind, Platform, RowsKind};
use support::{damaged, near, read_any, read_as, values};

const SOLARIS: &str = "\
SunOS db1 5.10 Generic_150400-40 sun4v    08/19/2010

23:30:00    %usr    %sys    %wio   %idle
23:45:00       3       5       0      92
00:00:00       5       5       1      89

Average        4       5       0      91

23:30:00   device        %busy   avque   r+w/s  blks/s  avwait  avserv

23:45:00   sd9              90     7.0     200    3200    10.0    25.0
           sd9,a             0     0.0       0       0     0.0     0.0
00:00:00   sd9               2     0.2       5      80     8.0    32.0
           sd9,a             0     0.0       0       0     0.0     0.0

Average    sd9              45     3.5     101    1600     7.0    28.0
           sd9,a             0     0.0       0       0     0.0     0.0

23:30:00 runq-sz %runocc swpq-sz %swpocc
23:45:00     1.5       2     0.0       0
00:00:00                            

23:30:00 freemem freeswap
23:45:00  100000  8000000
00:00:00   90000  7900000
";

#[test]
fn solaris_counts_all_outstanding() {
    let all = read_as("sysv-sar", SOLARIS);
    assert!(all.complaints.is_empty(), "{:?}", all.complaints);
    let host = &all.hosts[0];
    assert_eq!(
        (host.name.as_deref(), host.platform, host.release.as_deref()),
        (Some("db1"), Platform::Solaris, Some("5.10"))
    );
    let sd9 = all.of(Device, "sd9");
    assert_eq!(values(sd9[0], &[Outstanding, HostWaitUs, ServiceUs, Iops]), [7.0, 10_000.0, 25_000.0, 200.0]);
    assert_eq!(values(sd9[0], &[BytesPerS, BusyPercent]), [1_638_400.0, 90.0]);
    assert!(sd9[0].value(HostQueue).is_none());
    let (first, second) = (sd9[0].interval, sd9[1].interval);
    assert_eq!((first.length_s, first.basis, first.kind), (900.0, Basis::Local, RowsKind::Interval));
    assert_eq!((second.at_s, second.length_s), (1_282_262_400.0, 900.0));
    assert_eq!(sd9[2].interval.kind, RowsKind::Average);
    assert_eq!((sd9[0].origin.line, all.of(Partition, "sd9,a").len()), (11, 3));
    let of_host = all.of(Host, "");
    assert_eq!(values(of_host[1], &[CpuIowaitPercent, CpuIdlePercent]), [1.0, 89.0]);
    assert_eq!(of_host[1].interval.at_s, second.at_s);
    assert_eq!(values(of_host[3], &[RunQueueWhenOccupied, RunQueueOccupiedPercent]), [1.5, 2.0]);
    assert_eq!(of_host.len(), 4);
    assert_eq!(all.remarks.len(), 1);
    assert!(all.remarks[0].1.contains("freemem freeswap"), "{:?}", all.remarks);
}

#[test]
fn hp_ux_prints_a_queue_while_busy() {
    let text = "\
HP-UX db2 B.11.31 U ia64    03/21/18

00:00:01   device   %busy   avque   r/s  w/s  blks/s  avwait  avserv
00:05:01    disk1   61.20   11.40   25     8    1250   12.50   16.50
            disk2    0.00    0.50    0     0       0    0.00    0.00

00:00:01     ctlr   %util  t-put   IO/s   r/s   w/s  read  write  avque  avwait  avserv
                     %age   MB/s    num   num   num  MB/s   MB/s    num    msec    msec
00:05:01     fcd0      12   1.50     90    60    30  1.00   0.50      1       0       4

00:00:01     cpu    %usr    %sys    %wio   %idle
00:05:01       0      20      10      30      40
               1      10      10      30      50
          system      15      10      30      45
";
    let all = read_as("sysv-sar", text);
    assert!(all.complaints.is_empty(), "{:?}", all.complaints);
    assert!(all.remarks.is_empty(), "{:?}", all.remarks);
    let row = all.of(Device, "disk1")[0];
    assert_eq!(values(row, &[QueueWhenBusy, ReadIops, WriteIops, BytesPerS]), [11.4, 25.0, 8.0, 640_000.0]);
    assert_eq!(
        (row.value(HostWaitUs), row.value(ServiceUs).map(f64::round)),
        (Some(12_500.0), Some(16_500.0))
    );
    assert!(row.value(Outstanding).is_none() && row.value(HostQueue).is_none());
    assert_eq!(
        values(all.of(Adapter, "fcd0")[0], &[Iops, BytesPerS, ReadBytesPerS]),
        [90.0, 1_572_864.0, 1_048_576.0]
    );
    assert_eq!((all.of(Cpu, "1").len(), all.of(Host, "")[0].value(CpuUserPercent)), (1, Some(15.0)));
}

const AIX: &str = "\
AIX db3 2 7 00F00000AC00    04/20/20

System configuration: lcpu=96  mode=Capped

00:00:00     device    %busy    avque    r+w/s    Kbs/s   avwait   avserv

00:01:00 asm/data-108      0      0.0        0        0      0.0      0.0
            hdisk40     12      0.3      400      250     50.0      2.5

00:02:00 asm/data-108      0      0.0        0        0      0.0      0.0
            hdisk40      0      0.0        1       10      0.0      2.0
";

#[test]
fn aix_tells_the_wait_of_those_that_waited() {
    let all = read_as("sysv-sar", AIX);
    assert!(all.complaints.is_empty(), "{:?}", all.complaints);
    let row = all.of(Device, "hdisk40")[0];
    assert_eq!(values(row, &[HostQueue, HostWaitOfWaitersUs, ServiceUs]), [0.3, 50_000.0, 2500.0]);
    assert_eq!((row.value(BytesPerS), row.value(HostWaitUs)), (Some(256_000.0), None));
    assert_eq!(row.interval.length_s, 60.0);
    assert_eq!(all.of(Volume, "asm/data-108").len(), 2);
    assert_eq!(all.fact("", "logical_processors").and_then(|v| v.number()), Some(96.0));
    let old = AIX.replace("2 7 00F", "3 4 00F");
    let all = read_as("sysv-sar", &old);
    let row = all.of(Device, "hdisk40")[0];
    assert_eq!((row.values.len(), row.value(Iops)), (3, Some(400.0)));
}

#[test]
fn without_a_banner_the_rows_decide_and_it_is_said() {
    let text = "\
$ sar -d 300 1
00:00:00 device %busy avque r+w/s blks/s avwait avserv
00:05:00 cd0 0 0.0 0 0 0.0 0.0
sd9 0 0.1 4 64 0.0 21.5
";
    let all = read_as("sysv-sar", text);
    assert!(all.complaints.is_empty(), "{:?}", all.complaints);
    assert_eq!(all.of(Device, "sd9")[0].value(Outstanding), Some(0.1));
    let waited = all.of(Device, "cd0")[0];
    assert_eq!(
        (waited.value(Outstanding), waited.interval.length_s, waited.origin.line),
        (Some(0.0), 300.0, 3)
    );
    assert!(all.remarks.iter().any(|(_, r)| r.contains("sar of Solaris because of the device 'sd9'")));
    let hp = text.replace("sd9 0 0.1 4 64 0.0 21.5", "c2t0d0 0.20 0.50 4 64 0.00 21.50");
    assert_eq!(read_as("sysv-sar", &hp).of(Device, "c2t0d0")[0].value(QueueWhenBusy), Some(0.5));
    let aix = text.replace("sd9", "hdisk9");
    assert_eq!(read_as("sysv-sar", &aix).of(Device, "hdisk9")[0].value(HostQueue), Some(0.1));
    let none = text.replace("sd9", "c0t1d0");
    let all = read_as("sysv-sar", &none);
    let row = all.of(Device, "c0t1d0")[0];
    assert_eq!(
        (row.value(ServiceUs), row.value(Outstanding), row.value(HostWaitUs)),
        (Some(21_500.0), None, None)
    );
    assert!(all.remarks.iter().any(|(_, r)| r.contains("were left unread")), "{:?}", all.remarks);
}

#[test]
fn rows_whose_header_was_cut_off() {
    let text = AIX.lines().skip(7).map(|l| l.replace("asm/data-108", "hdisk2") + "\n").collect::<String>();
    let all = read_as("sysv-sar", &text);
    assert!(all.complaints.is_empty(), "{:?}", all.complaints);
    let rows = all.of(Device, "hdisk40");
    assert_eq!(values(rows[0], &[HostQueue, HostWaitOfWaitersUs, ServiceUs]), [0.3, 50_000.0, 2500.0]);
    assert_eq!((rows[1].interval.at_s, rows[1].value(BytesPerS)), (120.0, None));
    assert!(
        all.remarks.iter().any(|(_, r)| r.contains("header of the disks is missing")),
        "{:?}",
        all.remarks
    );
}

#[test]
fn restarts_and_several_activities_in_each_interval() {
    let text = "\
SunOS db1 5.11 11.3 sun4v    27/07/2010

08:00:00    %usr    %sys    %wio   %idle
            device        %busy   avque   r+w/s  blks/s  avwait  avserv
         runq-sz %runocc swpq-sz %swpocc

08:05:00       3       5       0      92
           sd0              90     7.0     200    3200    10.0    25.0
           sd1              10     0.0       2      32     0.0     5.0
             1.0       4     0.0       0
08:07:00    unix restarts
08:10:00       4       5       0      91
           sd0              80     7.0     200    3200    10.0    25.0
           sd1              10     0.0       2      32     0.0     5.0
             1.0       4     0.0       0
";
    let all = read_as("sysv-sar", text);
    assert!(all.complaints.is_empty(), "{:?}", all.complaints);
    assert_eq!((all.of(Device, "sd0").len(), all.of(Device, "sd1").len(), all.of(Host, "").len()), (2, 2, 4));
    assert_eq!(all.of(Host, "")[2].value(RunQueueOccupiedPercent), Some(4.0));
    let event = &all.events[0];
    assert_eq!(
        (event.kind, event.at_s, event.text.as_str()),
        (EventKind::Restart, 1_280_218_020.0, "unix restarts")
    );
    assert_eq!(all.of(Device, "sd0")[1].interval.length_s, 180.0);
}

#[test]
fn a_damaged_row_is_complained_about_and_the_rest_is_kept() {
    let all = read_as("sysv-sar", &AIX.replace("400      250", "40x      250"));
    assert_eq!(all.complaints.len(), 1);
    assert_eq!(
        (all.complaints[0].1.line, all.complaints[0].1.expected.as_str()),
        (8, "a device and 6 numbers")
    );
    assert_eq!(all.of(Device, "hdisk40").len(), 1);
}

proptest! {
    #[test]
    fn rows_come_back_as_they_were_printed(
        devices in prop::collection::vec(("sd[0-9]{1,4}", prop::collection::vec(0.0..1e4f64, 3), 0..100_000u32), 1..30)
    ) {
        let mut text = String::from("SunOS h 5.10 Generic sun4u 01/02/2009\n\n00:00:00 device %busy avque r+w/s blks/s avwait avserv\n");
        for (n, (name, f, count)) in devices.iter().enumerate() {
            let time = if n == 0 { "00:20:00" } else { "        " };
            text += &format!("{time}   {name:<12} 7 {:.1} {count} {count} {:.1} {:.1}\n", f[0], f[1], f[2]);
        }
        let (all, _) = read_any(text.as_bytes());
        prop_assert!(all.complaints.is_empty());
        prop_assert_eq!(all.rows.len(), devices.len());
        for (row, (name, f, count)) in all.rows.iter().zip(&devices) {
            prop_assert_eq!(&all.places[row.place as usize].name, name);
            let printed = |n: usize| format!("{:.1}", f[n]).parse::<f64>().unwrap();
            prop_assert!(near(row.value(Outstanding).unwrap(), printed(0)));
            prop_assert!(near(row.value(HostWaitUs).unwrap(), printed(1) * 1e3));
            prop_assert!(near(row.value(ServiceUs).unwrap(), printed(2) * 1e3));
            prop_assert_eq!(row.value(BytesPerS), Some(f64::from(*count) * 512.0));
            prop_assert_eq!(row.interval.length_s, 1200.0);
        }
    }

    #[test]
    fn no_damage_panics(bytes in damaged(SOLARIS), others in damaged(AIX)) {
        read_any(&bytes);
        read_any(&others);
    }
}
