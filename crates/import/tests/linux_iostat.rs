//! iostat of sysstat, as text.
#![allow(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

mod support;

use proptest::prelude::*;
use record::imported::PlaceKind::{Device, Host, Volume};
use record::imported::Quantity::{self, *};
use record::imported::{Basis, RowsKind};
use support::{damaged, near, read_any, read_as, values};

const NEW: &str = "\
Linux 6.1.0-18-amd64 (db1.example.com) \t02/10/2024 \t_x86_64_\t(8 CPU)

02/10/2024 11:59:55 PM
avg-cpu:  %user   %nice %system %iowait  %steal   %idle
           6.00    0.00    6.17    6.54    0.00   81.29

Device            r/s     rkB/s   rrqm/s  %rrqm r_await rareq-sz     w/s     wkB/s   wrqm/s  %wrqm w_await wareq-sz     d/s     dkB/s   drqm/s  %drqm d_await dareq-sz     f/s f_await  aqu-sz  %util
sda              1.00      8.00     0.00   0.00    1.00     8.00    0.00      0.00     0.00   0.00    0.00     0.00    0.00      0.00     0.00   0.00    0.00     0.00    0.00    0.00    0.00   0.10

02/11/2024 12:00:05 AM
avg-cpu:  %user   %nice %system %iowait  %steal   %idle
           5.00    0.00    5.00   10.00    0.00   80.00

Device            r/s     rkB/s   rrqm/s  %rrqm r_await rareq-sz     w/s     wkB/s   wrqm/s  %wrqm w_await wareq-sz     d/s     dkB/s   drqm/s  %drqm d_await dareq-sz     f/s f_await  aqu-sz  %util
sda           2000.00  16000.00     1.50   0.07   12.00     8.00  100.00   3200.00     0.00   0.00    2.00    32.00    0.00      0.00     0.00   0.00    0.00     0.00   50.00    3.00   24.35  99.90
dm-0           500.00   4000.00     0.00   0.00    1.00     8.00    0.00      0.00     0.00   0.00    0.00     0.00    0.00      0.00     0.00   0.00    0.00     0.00    0.00    0.00    0.50  40.00
";

#[test]
fn units_intervals_and_lines_of_version_12() {
    let all = read_as("linux-iostat", NEW);
    assert!(all.complaints.is_empty(), "{:?}", all.complaints);
    assert_eq!((all.hosts[0].name.as_deref(), all.hosts[0].processors), (Some("db1.example.com"), Some(8)));
    let sda = all.of(Device, "sda");
    assert_eq!(sda[0].interval.kind, RowsKind::SinceBoot);
    let row = sda[1];
    assert_eq!(
        (row.interval.kind, row.interval.length_s, row.interval.basis),
        (RowsKind::Interval, 10.0, Basis::Local)
    );
    assert_eq!(row.interval.at_s, 1_707_609_605.0);
    let wanted =
        [ReadIops, ReadBytesPerS, ReadMergesPerS, ReadResponseUs, ReadSizeBytes, WriteIops, FlushIops];
    assert_eq!(values(row, &wanted), [2000.0, 16_384_000.0, 1.5, 12_000.0, 8192.0, 100.0, 50.0]);
    assert_eq!(values(row, &[FlushResponseUs, Outstanding, BusyPercent]), [3000.0, 24.35, 99.9]);
    assert_eq!((row.origin.line, row.text.split_whitespace().next()), (15, Some("sda")));
    assert_eq!(all.of(Volume, "dm-0").len(), 1);
    assert_eq!(all.of(Host, "")[1].value(CpuIowaitPercent), Some(10.0));
}

#[test]
fn sectors_decimal_comma_and_svctm_of_version_9() {
    let text = "\
Linux 2.6.32-71.el6.x86_64 (db2)  30.11.2010  _x86_64_  (4 CPU)

Device:         rrqm/s   wrqm/s     r/s     w/s   rsec/s   wsec/s avgrq-sz avgqu-sz   await  svctm  %util
sdb               0,00     0,00    1,00    0,00    16,00     0,00    16,00     0,01   10,00   9,00   0,90

Device:         rrqm/s   wrqm/s     r/s     w/s   rsec/s   wsec/s avgrq-sz avgqu-sz   await  svctm  %util
sdb               0,00     2,00  120,00   30,00  1920,00   480,00    16,00     0,96    6,40   6,66  99,90
";
    let all = read_as("linux-iostat", text);
    let sdb = all.of(Device, "sdb");
    assert_eq!((sdb[0].interval.kind, sdb[1].interval.kind), (RowsKind::SinceBoot, RowsKind::Interval));
    let wanted = [ReadBytesPerS, WriteBytesPerS, RequestBytes, Outstanding, ResponseUs];
    assert_eq!(values(sdb[1], &wanted), [983_040.0, 245_760.0, 8192.0, 0.96, 6400.0]);
    assert!(sdb[1].interval.length_s.is_nan());
}

#[test]
fn human_units_names_last_and_names_that_overflow() {
    let human = "\
Device             tps    kB_read/s    kB_wrtn/s    kB_read    kB_wrtn
sda               8.59       222.1k        57.1M       1.5G     400.9M
";
    let all = read_as("linux-iostat", human);
    let row = all.of(Device, "sda")[0];
    assert!(near(row.value(ReadBytesPerS).unwrap(), 222.1 * 1024.0));
    assert!(near(row.value(WriteBytes).unwrap(), 400.9 * 1_048_576.0));
    let last = "      tps    kB_read/s    kB_wrtn/s    kB_read    kB_wrtn Device\n     8.59       222.14        57.08    1597749     410544 pci-0000:00:1f.2-ata-1\n";
    let all = read_as("linux-iostat", last);
    assert_eq!(all.of(Volume, "pci-0000:00:1f.2-ata-1")[0].value(Iops), Some(8.59));
}

#[test]
fn the_command_above_tells_interval_and_first_report() {
    let text = "[root@db1 ~]# iostat -xy 5 2\nLinux 6.1.0 (db1)  02/10/2024  _x86_64_ (8 CPU)\n\nDevice tps kB/s rqm/s await areq-sz aqu-sz %util\nsda 10.00 80.00 0.00 1.00 8.00 0.01 1.00\n";
    let all = read_as("linux-iostat", text);
    let row = all.of(Device, "sda")[0];
    assert_eq!((row.interval.kind, row.interval.length_s), (RowsKind::Interval, 5.0));
}

#[test]
fn a_damaged_row_is_complained_about_and_the_rest_is_kept() {
    let text = NEW.replace("dm-0           500.00   4000.00", "dm-0           500.00   4000.x0");
    let all = read_as("linux-iostat", &text);
    assert_eq!(all.complaints.len(), 1);
    let (_, complaint) = &all.complaints[0];
    assert_eq!((complaint.line, complaint.expected.as_str()), (16, "a device and 22 numbers"));
    assert_eq!(all.of(Device, "sda").len(), 2);
}

proptest! {
    #[test]
    fn rows_come_back_as_they_were_printed(
        devices in prop::collection::vec(("[a-z][a-z0-9_-]{0,30}", prop::collection::vec(0.0..1e6f64, 8)), 1..20)
    ) {
        let mut text = String::from("Device r/s w/s rkB/s wkB/s r_await w_await aqu-sz %util\n");
        for (name, numbers) in &devices {
            let cells: Vec<String> = numbers.iter().map(|n| format!("{n:.2}")).collect();
            text += &format!("{name:<10} {}\n", cells.join("   "));
        }
        let (all, _) = read_any(text.as_bytes());
        prop_assert_eq!(all.rows.len(), devices.len());
        let order: [(Quantity, f64); 8] = [(ReadIops, 1.0), (WriteIops, 1.0), (ReadBytesPerS, 1024.0),
            (WriteBytesPerS, 1024.0), (ReadResponseUs, 1e3), (WriteResponseUs, 1e3), (Outstanding, 1.0), (BusyPercent, 1.0)];
        for (row, (name, numbers)) in all.rows.iter().zip(&devices) {
            prop_assert_eq!(&all.places[row.place as usize].name, name);
            for ((quantity, factor), printed) in order.iter().zip(numbers) {
                let printed: f64 = format!("{printed:.2}").parse().unwrap();
                prop_assert!(near(row.value(*quantity).unwrap(), printed * factor));
            }
        }
    }

    #[test]
    fn no_damage_panics(bytes in damaged(NEW)) {
        read_any(&bytes);
    }
}

#[test]
fn tables_that_pretty_splits_become_one_row_again() {
    let report = |read: &str, util: &str| {
        format!(
            "     r/s     rkB/s   rrqm/s  %rrqm r_await rareq-sz Device\n   {read}     80.0k     0.00   0.0%    1.33     8.0k sda\n\n     w/s     wkB/s   wrqm/s  %wrqm w_await wareq-sz Device\n    5.00      1.0M     9.91  63.8%    0.31   204.8k sda\n\n     d/s     dkB/s   drqm/s  %drqm d_await dareq-sz Device\n    0.00      0.0k     0.00   0.0%    0.00     0.0k sda\n\n     f/s f_await  aqu-sz  %util Device\n    1.00    0.10    0.02   {util} sda\n\n"
        )
    };
    let text = format!(
        "Linux 6.1.0 (db1) \t02/10/2024 \t_x86_64_\t(8 CPU)\n\n{}{}{}",
        report("10.00", "0.5%"),
        report("20.00", "1.5%"),
        report("30.00", "2.5%")
    );
    let all = read_as("linux-iostat", &text);
    assert!(all.complaints.is_empty(), "{:?}", all.complaints);
    let sda = all.of(Device, "sda");
    let kinds: Vec<_> = sda.iter().map(|r| r.interval.kind).collect();
    assert_eq!(kinds, [RowsKind::SinceBoot, RowsKind::Interval, RowsKind::Interval]);
    let wanted = [ReadIops, WriteBytesPerS, WriteSizeBytes, DiscardIops, FlushIops, BusyPercent];
    assert_eq!(values(sda[1], &wanted), [20.0, 1_048_576.0, 209_715.2, 0.0, 1.0, 1.5]);
    assert_eq!(sda[1].origin.line, 16);
}

#[test]
fn groups_are_no_devices() {
    let text = "Device             tps    kB_read/s    kB_wrtn/s    kB_read    kB_wrtn\nsda               8.00        16.00         0.00       1600          0\nsdb               2.00         4.00         0.00        400          0\n dbfiles         10.00        20.00         0.00       2000          0\n";
    let all = read_as("linux-iostat", text);
    assert!(all.complaints.is_empty(), "{:?}", all.complaints);
    let group = all.rows.last().unwrap();
    let place = &all.places[group.place as usize];
    assert_eq!((place.kind, place.name.as_str()), (record::imported::PlaceKind::Other, "dbfiles"));
    assert_eq!(group.value(ReadBytesPerS), Some(20_480.0));
}

#[test]
fn sectors_and_kilobytes_of_version_5_and_tables_of_network_filesystems() {
    let text = "\
Linux 2.6.9-89.ELsmp (db3) \t2013年05月20日

时间: ignored
";
    let all = read_any(text.as_bytes()).0;
    assert!(all.rows.is_empty());
    let text = "\
Linux 2.6.9-89.ELsmp (db3) \t13/05/10

Time: 11:59:58 PM
avg-cpu:  %user   %nice    %sys %iowait   %idle
           1.00    0.00    1.00    8.00   90.00

Device:    rrqm/s wrqm/s   r/s   w/s  rsec/s  wsec/s    rkB/s    wkB/s avgrq-sz avgqu-sz   await  svctm  %util
/dev/sda     0.00   0.00 10.00  0.00  161.00    0.00    80.00     0.00    16.00     0.10   10.00   5.00   5.00

Filesystem:           rkB_nor/s    wkB_nor/s    rkB_dir/s    wkB_dir/s    rkB_svr/s    wkB_svr/s     ops/s    rops/s    wops/s
nas1:/export/home          0.00         0.00         0.00         0.00         0.00         0.00      0.00      0.00      0.00

Time: 12:00:03 AM
avg-cpu:  %user   %nice    %sys %iowait   %idle
           2.00    0.00    1.00    8.00   89.00

Device:    rrqm/s wrqm/s   r/s   w/s  rsec/s  wsec/s    rkB/s    wkB/s avgrq-sz avgqu-sz   await  svctm  %util
/dev/sda     0.00   0.00 10.00  0.00  161.00    0.00    80.00     0.00    16.00     0.10   10.00   5.00   5.00
^C
";
    let all = read_as("linux-iostat", text);
    assert!(all.complaints.is_empty(), "{:?}", all.complaints);
    let sda = all.of(Device, "/dev/sda");
    assert_eq!((sda.len(), sda[1].interval.length_s), (2, 5.0));
    assert_eq!(values(sda[1], &[ReadBytesPerS, RequestBytes, ResponseUs]), [81_920.0, 8192.0, 10_000.0]);
    assert_eq!(all.remarks.len(), 1, "{:?}", all.remarks);
}

#[test]
fn snapshots_of_a_collector() {
    let report = "avg-cpu:  %user   %nice %system %iowait  %steal   %idle\n           1.00    0.00    1.00    8.00    0.00   90.00\n\n\
        Device:         rrqm/s   wrqm/s     r/s     w/s    rkB/s    wkB/s avgrq-sz avgqu-sz   await  svctm  %util\nsda               0.00     0.00   10.00    0.00    80.00     0.00    16.00     0.10   10.00   5.00   5.00\n\n";
    let banner = "Linux 4.1.12 (db1) \t03/13/2024 \t_x86_64_\t(4 CPU)\n\n";
    let text = format!(
        "Linux OSWbb v7.3.1 db1\nSNAP_INTERVAL 30\nCPU_CORES 4\nOSWBB_ARCHIVE_DEST /var/osw\nzzz ***Wed Mar 13 00:10:00 UTC 2024\n{banner}{report}{report}zzz ***Wed Mar 13 00:10:30 UTC 2024\n{report}{report}"
    );
    let all = read_as("linux-iostat", &text);
    assert!(all.complaints.is_empty(), "{:?}", all.complaints);
    let sda = all.of(Device, "sda");
    let got: Vec<_> = sda.iter().map(|r| (r.interval.at_s, r.interval.kind)).collect();
    let (first, second) = (1_710_288_600.0, 1_710_288_630.0);
    use RowsKind::{Interval, SinceBoot};
    assert_eq!(got, [(first, SinceBoot), (first, Interval), (second, SinceBoot), (second, Interval)]);
}
