//! sar and mpstat of sysstat, as text.
#![allow(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

mod support;

use proptest::prelude::*;
use record::imported::PlaceKind::{Cpu, Device, Host, Partition};
use record::imported::Quantity::*;
use record::imported::{EventKind, RowsKind};
use support::{damaged, near, read_any, read_as, values};

const MIXED: &str = "\
Linux 3.10.0-514.el7.x86_64 (db1.example.com) \t04/20/2017 \t_x86_64_\t(4 CPU)

11:59:40 PM     CPU     %user     %nice   %system   %iowait    %steal     %idle
11:59:50 PM     all     10.00      0.00      5.00     20.00      0.00     65.00
12:00:00 AM     all     11.00      0.00      5.00     19.00      0.00     65.00
Average:        all     10.50      0.00      5.00     19.50      0.00     65.00

11:59:40 PM       tps      rtps      wtps   bread/s   bwrtn/s
11:59:50 PM    300.00    200.00    100.00   3200.00   1600.00
12:00:00 AM    310.00    200.00    110.00   3200.00   1760.00
Average:       305.00    200.00    105.00   3200.00   1680.00

11:59:40 PM  pgpgin/s pgpgout/s   fault/s  majflt/s  pgfree/s pgscank/s pgscand/s pgsteal/s    %vmeff
11:59:50 PM   1600.00    800.00    100.00      1.00    200.00      3.00      4.00      5.00     71.40

11:59:40 PM  pswpin/s pswpout/s
11:59:50 PM      2.00      1.00

11:59:40 PM     IFACE   rxpck/s   txpck/s    rxkB/s    txkB/s   rxcmp/s   txcmp/s  rxmcst/s
11:59:50 PM      eth0     10.00     10.00      1.00      1.00      0.00      0.00      0.00

11:59:40 PM       DEV       tps  rd_sec/s  wr_sec/s  avgrq-sz  avgqu-sz     await     svctm     %util
11:59:50 PM    dev8-0    300.00   3200.00   1600.00     16.00      1.20      4.00      2.00     60.00
11:59:50 PM  dev253-0      1.00      8.00      0.00      8.00      0.01     10.00      1.00      0.10
12:00:00 AM    dev8-0    310.00   3200.00   1760.00     16.00      1.24      4.00      2.00     62.00
12:00:00 AM  dev253-0      0.00      0.00      0.00      0.00      0.00      0.00      0.00      0.00
Average:       dev8-0    305.00   3200.00   1680.00     16.00      1.22      4.00      2.00     61.00
Average:     dev253-0      0.50      4.00      0.00      8.00      0.00     10.00      1.00      0.05

12:05:00 AM  LINUX RESTART\t(4 CPU)

12:10:01 AM       DEV       tps  rd_sec/s  wr_sec/s  avgrq-sz  avgqu-sz     await     svctm     %util
12:20:01 AM    dev8-0      1.00      0.00     16.00     16.00      0.00      4.00      2.00      0.20
";

#[test]
fn many_activities_each_run_through_the_same_time() {
    let all = read_as("linux-sar", MIXED);
    assert!(all.complaints.is_empty(), "{:?}", all.complaints);
    assert_eq!(all.remarks.len(), 1);
    assert!(all.remarks[0].1.contains("IFACE rxpck/s"), "{:?}", all.remarks);
    let disk = all.of(Device, "dev8-0");
    let kinds: Vec<_> = disk.iter().map(|r| r.interval.kind).collect();
    use RowsKind::{Average, Interval};
    assert_eq!(kinds, [Interval, Interval, Average, Interval]);
    let lengths: Vec<_> = disk.iter().map(|r| r.interval.length_s).collect();
    assert_eq!((lengths[0], lengths[1], lengths[3]), (10.0, 10.0, 600.0));
    // 2017-04-21 00:00:00, and after the restart on the same day.
    assert_eq!((disk[1].interval.at_s, disk[3].interval.at_s), (1_492_732_800.0, 1_492_734_001.0));
    let wanted =
        [Iops, ReadBytesPerS, WriteBytesPerS, RequestBytes, Outstanding, ResponseUs, BusyPercent, ServiceUs];
    let got = values(disk[0], &wanted);
    assert_eq!(got[..7], [300.0, 1_638_400.0, 819_200.0, 8192.0, 1.2, 4000.0, 60.0]);
    assert!(got[7].is_nan());
    let host = all.of(Host, "");
    let find = |q| host.iter().find(|r| r.value(q).is_some()).unwrap();
    assert_eq!(find(CpuIowaitPercent).value(CpuIowaitPercent), Some(20.0));
    assert_eq!(values(find(WriteIops), &[Iops, ReadBytesPerS]), [300.0, 1_638_400.0]);
    let paging = [PageInBytesPerS, PagesScannedPerS, MajorFaultsPerS];
    assert_eq!(values(find(PageInBytesPerS), &paging), [1_638_400.0, 7.0, 1.0]);
    assert_eq!(find(SwapInBytesPerS).value(SwapInBytesPerS), Some(8192.0));
    assert_eq!(find(CpuIowaitPercent).origin.line, 4);
    assert_eq!((all.events[0].kind, all.events[0].at_s), (EventKind::Restart, 1_492_733_100.0));
}

#[test]
fn activities_that_alternate_and_pass_midnight() {
    let mut text = String::from("Linux 5.14.0 (db1) \t2024-03-13 \t_aarch64_\t(4 CPU)\n\n");
    for (from, to) in [("23:59:30", "23:59:40"), ("23:59:40", "00:00:10"), ("00:00:10", "00:00:40")] {
        text += &format!("{from} CPU %user %nice %system %iowait %steal %idle\n{to} all 1 0 1 1 0 97\n\n");
        text += &format!("{from} pswpin/s pswpout/s\n{to} 1.00 0.00\n\n");
        text += &format!(
            "{from} tps rkB/s wkB/s dkB/s areq-sz aqu-sz await %util DEV\n{to} 2.00 8.0k 0.0k 0.0k 4.0k 0.00 0.50 0.1% nvme0n1p1\n\n"
        );
    }
    text += "Moyenne :  tps rkB/s wkB/s dkB/s areq-sz aqu-sz await %util DEV\nMoyenne :  2.00 8.0k 0.0k 0.0k 4.0k 0.00 0.50 0.1% nvme0n1p1\n";
    let all = read_as("linux-sar", &text);
    assert!(all.complaints.is_empty(), "{:?}", all.complaints);
    let disk = all.of(Partition, "nvme0n1p1");
    let lengths: Vec<_> = disk[..3].iter().map(|r| r.interval.length_s).collect();
    assert_eq!(lengths, [10.0, 30.0, 30.0]);
    assert_eq!(disk[3].interval.kind, RowsKind::Average);
    let wanted = [Iops, ReadBytesPerS, RequestBytes, ResponseUs, BusyPercent];
    assert_eq!(values(disk[2], &wanted), [2.0, 8192.0, 4096.0, 500.0, 0.1]);
    // The size of a page is not told by this architecture.
    assert!(all.of(Host, "").iter().any(|r| r.value(SwapInPagesPerS) == Some(1.0)));
}

#[test]
fn mpstat_with_and_without_an_interval() {
    let header = "CPU    %usr   %nice    %sys %iowait    %irq   %soft  %steal  %guest  %gnice   %idle";
    let text = format!(
        "Linux 6.1.0 (db1) \t02/10/2024 \t_x86_64_\t(2 CPU)\n\n10:00:00 {header}\n10:00:00 all 5.00 0.00 3.00 2.00 0.50 0.50 0.00 1.00 2.00 86.00\n\n\
         10:00:00 {header}\n10:00:05 all 5.00 0.00 3.00 2.00 0.50 0.50 0.00 1.00 2.00 86.00\n10:00:05 1 9.00 0.00 3.00 2.00 0.50 0.50 0.00 0.00 0.00 85.00\n\n\
         Average: {header}\nAverage: all 5.00 0.00 3.00 2.00 0.50 0.50 0.00 1.00 2.00 86.00\n"
    );
    let all = read_as("linux-mpstat", &text);
    assert!(all.complaints.is_empty(), "{:?}", all.complaints);
    let host = all.of(Host, "");
    let kinds: Vec<_> = host.iter().map(|r| r.interval.kind).collect();
    assert_eq!(kinds, [RowsKind::SinceBoot, RowsKind::Interval, RowsKind::Average]);
    assert_eq!((host[1].interval.length_s, host[1].value(CpuGuestPercent)), (5.0, Some(3.0)));
    assert_eq!(all.of(Cpu, "1")[0].value(CpuUserPercent), Some(9.0));
}

#[test]
fn a_damaged_row_is_complained_about_and_the_rest_is_kept() {
    let text =
        MIXED.replace("dev253-0      1.00      8.00      0.00      8.00", "dev253-0      1.00      8.00");
    let all = read_as("linux-sar", &text);
    assert_eq!(all.complaints.len(), 1);
    assert_eq!(all.complaints[0].1.expected, "a time, a name and 8 numbers");
    assert_eq!(all.of(Device, "dev8-0").len(), 4);
}

proptest! {
    #[test]
    fn rows_come_back_as_they_were_printed(
        devices in prop::collection::vec(("[a-z]{1,3}[a-z0-9_-]{0,20}", prop::collection::vec(0.0..1e6f64, 8)), 1..20)
    ) {
        let mut text = String::from("13:20:09 DEV tps rkB/s wkB/s dkB/s areq-sz aqu-sz await %util\n");
        for (name, numbers) in &devices {
            let cells: Vec<String> = numbers.iter().map(|n| format!("{n:.2}")).collect();
            text += &format!("13:20:19 {name:>12} {}\n", cells.join("   "));
        }
        let (all, _) = read_any(text.as_bytes());
        prop_assert_eq!(all.rows.len(), devices.len());
        let order = [(Iops, 1.0), (ReadBytesPerS, 1024.0), (WriteBytesPerS, 1024.0), (DiscardBytesPerS, 1024.0),
            (RequestBytes, 1024.0), (Outstanding, 1.0), (ResponseUs, 1e3), (BusyPercent, 1.0)];
        for (row, (name, numbers)) in all.rows.iter().zip(&devices) {
            prop_assert_eq!(&all.places[row.place as usize].name, name);
            prop_assert_eq!(row.interval.length_s, 10.0);
            for ((quantity, factor), printed) in order.iter().zip(numbers) {
                let printed: f64 = format!("{printed:.2}").parse().unwrap();
                prop_assert!(near(row.value(*quantity).unwrap(), printed * factor));
            }
        }
    }

    #[test]
    fn no_damage_panics(bytes in damaged(MIXED)) {
        read_any(&bytes);
    }
}

#[test]
fn other_locales_extremes_and_interrupted_runs() {
    let text = "\
Linux 2.6.32 (db1) \t2013年05月20日 \t_x86_64_\t(2 CPU)

10时10分01秒       DEV       tps  rd_sec/s  wr_sec/s  avgrq-sz  avgqu-sz     await     svctm     %util
10时20分01秒    dev8-0     10,00     16,00      0,00      8,00      0,01      1,50      1,00      1,00
^C
平均时间:    dev8-0     10,00     16,00      0,00      8,00      0,01      1,50      1,00      1,00
Minimum:     dev8-0      9,00     16,00      0,00      8,00      0,01      1,50      1,00      1,00
";
    let all = read_as("linux-sar", text);
    assert!(all.complaints.is_empty() && all.remarks.is_empty(), "{:?} {:?}", all.complaints, all.remarks);
    let disk = all.of(Device, "dev8-0");
    let kinds: Vec<_> = disk.iter().map(|r| r.interval.kind).collect();
    assert_eq!(kinds, [RowsKind::Interval, RowsKind::Average]);
    assert_eq!((disk[0].interval.at_s, disk[0].interval.length_s), (1_369_045_201.0, 600.0));
    assert_eq!(values(disk[0], &[Iops, ReadBytesPerS, ResponseUs]), [10.0, 8192.0, 1500.0]);
}

#[test]
fn each_tool_of_a_capture_knows_host_and_date() {
    let banner = "Linux 6.1.0 (db1) \t02/13/2024 \t_x86_64_\t(2 CPU)\n\n";
    let text = format!(
        "$ iostat -d 5 2\n{banner}Device             tps    kB_read/s    kB_wrtn/s    kB_read    kB_wrtn\nsda               8.00        16.00         0.00       1600          0\n\n\
         $ sar -q 1 1\n{banner}12:00:00      runq-sz  plist-sz   ldavg-1   ldavg-5  ldavg-15   blocked\n12:00:01            3       100      1.00      1.00      1.00         2\n\n\
         $ vmstat 1 2\n r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st\n 1  0      0      1      1      1    0    0     0     0    1    1  1  1 98  0  0\n\n\
         $ pidstat -d 1 1\n{banner}12:00:05      UID       PID   kB_rd/s   kB_wr/s kB_ccwr/s iodelay  Command\n12:00:06        0         1      1.00      0.00      0.00       0  init\n"
    );
    let (all, reading) = read_any(text.as_bytes());
    assert_eq!(reading.read[0].1, ["linux-iostat", "linux-sar", "linux-vmstat", "linux-pidstat"]);
    assert!(all.complaints.is_empty(), "{:?}", all.complaints);
    assert_eq!(all.hosts.len(), 1);
    let at: Vec<_> = all.rows.iter().map(|r| r.interval.at_s).filter(|at| *at > 1.7e9).collect();
    assert_eq!(at, [1_707_825_601.0, 1_707_825_606.0]);
    let first = &all.of(Device, "sda")[0].interval;
    assert!(first.kind == RowsKind::SinceBoot && first.length_s.is_nan());
}

#[test]
fn mpstat_with_topology() {
    let text = "\
10:00:00     CPU CORE SOCK NODE    %usr   %nice    %sys %iowait    %irq   %soft  %steal  %guest  %gnice   %idle
10:00:05     all                   5.00    0.00    3.00    2.00    0.50    0.50    0.00    0.00    0.00   89.00
10:00:05       1    0    1    0    9.00    0.00    3.00    2.00    0.50    0.50    0.00    0.00    0.00   85.00
";
    let all = read_as("linux-mpstat", text);
    assert!(all.complaints.is_empty(), "{:?}", all.complaints);
    assert_eq!(all.of(Host, "")[0].value(CpuUserPercent), Some(5.0));
    assert_eq!(all.of(Cpu, "1")[0].value(CpuUserPercent), Some(9.0));
}
