//! iostat of Solaris and illumos.
#![allow(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

mod support;

use proptest::prelude::*;
use record::imported::PlaceKind::{Device, Filesystem, Host, Partition, Pool};
use record::imported::Quantity::{self, *};
use record::imported::{Basis, EventKind, Platform, RowsKind, facts};
use support::{damaged, near, read_any, read_as, values};

const XN: &str = "\
# iostat -xn 5
                    extended device statistics              
    r/s    w/s   kr/s   kw/s wait actv wsvc_t asvc_t  %w  %b device
    1.0    2.0   10.0   20.0  0.0  0.0    0.0    5.0   0   1 c1t0d0
    0.5    0.0    4.0    0.0  0.0  0.0    0.0    2.0   0   0 filer:/export/home dir
                    extended device statistics              
    r/s    w/s   kr/s   kw/s wait actv wsvc_t asvc_t  %w  %b device
  400.0  100.0 3200.0  800.0 12.0  8.0   24.0   16.0  98 100 c1t0d0
    0.0    3.0    0.0    9.0  0.0  0.0    0.0    1.0   0   0 c2t5000CCA0AB35B714d0s6
  120.0    0.0  480.0    0.0  2.5  0.5   20.8    4.2   2   5 tank
";

#[test]
fn units_queues_and_intervals_of_xn() {
    let all = read_as("solaris-iostat", XN);
    assert!(all.complaints.is_empty(), "{:?}", all.complaints);
    assert_eq!(all.hosts[0].platform, Platform::Solaris);
    let rows = all.of(Device, "c1t0d0");
    assert_eq!(rows[0].interval.kind, RowsKind::SinceBoot);
    let row = rows[1];
    assert_eq!((row.interval.kind, row.interval.length_s, row.interval.at_s), (RowsKind::Interval, 5.0, 5.0));
    assert_eq!(values(row, &[ReadIops, WriteIops, ReadBytesPerS]), [400.0, 100.0, 3_276_800.0]);
    assert_eq!(
        values(row, &[HostQueue, DeviceQueue, HostWaitUs, ServiceUs]),
        [12.0, 8.0, 24_000.0, 16_000.0]
    );
    assert_eq!(values(row, &[HostQueueBusyPercent, BusyPercent]), [98.0, 100.0]);
    assert_eq!((row.origin.line, row.text.split_whitespace().last()), (8, Some("c1t0d0")));
    assert_eq!(all.of(Filesystem, "filer:/export/home dir").len(), 1);
    assert_eq!(all.of(Partition, "c2t5000CCA0AB35B714d0s6").len(), 1);
    assert_eq!(all.of(Pool, "tank").len(), 1);
}

#[test]
fn megabytes_processors_dates_and_devices_that_come() {
    let text = "\
Tue Nov 30 23:59:55 EST 2021
     cpu
 us sy wt id
  3  1  0 96
                    extended device statistics              
    r/s    w/s   Mr/s   Mw/s wait actv wsvc_t asvc_t  %w  %b device
    1.0    2.0    1.0    2.0  0.0  0.0    0.0    5.0   0   1 c1t0d0
Wed Dec  1 00:00:05 EST 2021
<<device added: sd7>>
     cpu
 us sy wt id
 30 10  0 60
                    extended device statistics              
    r/s    w/s   Mr/s   Mw/s wait actv wsvc_t asvc_t  %w  %b device
    8.0    2.0    1.5    2.0  0.0  0.0    0.0    5.0   0   1 c1t0d0
";
    let all = read_as("solaris-iostat", text);
    assert!(all.complaints.is_empty(), "{:?}", all.complaints);
    let row = all.of(Device, "c1t0d0")[1];
    assert_eq!((row.interval.length_s, row.interval.basis), (10.0, Basis::Local));
    assert_eq!(row.value(ReadBytesPerS), Some(1_572_864.0));
    let host = all.of(Host, "");
    assert_eq!((host.len(), host[1].value(CpuUserPercent), host[1].interval.length_s), (2, Some(30.0), 10.0));
    assert_eq!(host[0].interval.kind, RowsKind::SinceBoot);
    assert_eq!(
        (all.events[0].kind, all.events[0].text.as_str()),
        (EventKind::DeviceAdded, "device added: sd7")
    );
    let epochs = text
        .replace("Tue Nov 30 23:59:55 EST 2021", "1638316795")
        .replace("Wed Dec  1 00:00:05 EST 2021", "1638316805");
    let all = read_as("solaris-iostat", &epochs);
    let interval = all.of(Device, "c1t0d0")[1].interval;
    assert_eq!((interval.at_s, interval.length_s, interval.basis), (1_638_316_805.0, 10.0, Basis::Utc));
}

#[test]
fn device_first_with_terminal_and_processor_behind_the_first_row() {
    let text = "\
                  extended device statistics                      tty         cpu
device       r/s    w/s   kr/s   kw/s wait actv  svc_t  %w  %b  tin tout  us sy wt id
sd0          1.0    2.0    8.0   16.0  0.5  1.5   666.7   9  50    0    3   7  2  1 90
nfs3         0.1    0.0    0.8    0.0  0.0  0.0   20.5   0   0 
";
    let all = read_as("solaris-iostat", text);
    assert!(all.complaints.is_empty(), "{:?}", all.complaints);
    assert_eq!(
        values(all.of(Device, "sd0")[0], &[ResponseUs, HostQueue, DeviceQueue]),
        [666_700.0, 0.5, 1.5]
    );
    assert_eq!(
        values(all.of(Host, "")[0], &[CpuUserPercent, CpuIowaitPercent, CpuIdlePercent]),
        [7.0, 1.0, 90.0]
    );
    assert_eq!(all.of(Filesystem, "nfs3").len(), 1);
}

#[test]
fn the_horizontal_layout_names_disks_above() {
    let text = "\
   tty        sd0           sd1           cpu
 tin tout kps tps serv  kps tps serv   us sy wt id
   0    1  10   2   15    3   0   29    4  2  0 94
   0  240 800 100    8    0   0    0   20 10  0 70
";
    let all = read_as("solaris-iostat", text);
    assert!(all.complaints.is_empty(), "{:?}", all.complaints);
    let rows = all.of(Device, "sd0");
    assert_eq!((rows[0].interval.kind, rows[1].interval.kind), (RowsKind::SinceBoot, RowsKind::Interval));
    assert_eq!(values(rows[1], &[BytesPerS, Iops, ResponseUs]), [819_200.0, 100.0, 8000.0]);
    assert_eq!(all.of(Host, "")[1].value(CpuIdlePercent), Some(70.0));
    assert_eq!(all.of(Device, "sd1").len(), 2);
}

#[test]
fn commas_errors_and_mount_points() {
    let text = "\
extended device statistics
r/s,w/s,kr/s,kw/s,wait,actv,wsvc_t,asvc_t,%w,%b,s/w,h/w,trn,tot,device
1.0,2.0,8.0,16.0,0.0,0.0,0.0,5.0,0,1,0,2,7,9,c1t0d0s0 (/var)
";
    let all = read_as("solaris-iostat", text);
    assert!(all.complaints.is_empty(), "{:?}", all.complaints);
    assert_eq!(all.of(Partition, "c1t0d0s0")[0].value(ServiceUs), Some(5000.0));
    assert_eq!(all.fact("c1t0d0s0", facts::TRANSPORT_ERRORS).and_then(|v| v.number()), Some(7.0));
    assert_eq!(all.fact("c1t0d0s0", "mounted_on").map(|v| v.text()), Some("/var".to_owned()));
}

#[test]
fn pasted_text_with_broken_lines() {
    let text = "\
oracle@db1:> iostat -xnM 10 |more
r/s w/s Mr/s Mw/s wait actv wsvc_t asvc_t
%w %b device
0.2 0.8 0.0 1.0 0.0 0.0 0.0 20.5 0 0
c1t10d0
5.0 0.8 0.0 0.0 0.0 0.0
0.0 20.5 0 0 c1t11d0
";
    let all = read_as("solaris-iostat", text);
    assert!(all.complaints.is_empty(), "{:?}", all.complaints);
    let row = all.of(Device, "c1t10d0")[0];
    assert_eq!((row.value(ServiceUs), row.value(WriteBytesPerS)), (Some(20_500.0), Some(1_048_576.0)));
    assert_eq!(all.of(Device, "c1t11d0")[0].value(ReadIops), Some(5.0));
}

#[test]
fn each_stamp_of_a_collector_begins_a_run() {
    let report = "extended device statistics\nr/s w/s kr/s kw/s wait actv wsvc_t asvc_t %w %b device\n1.0 2.0 8.0 16.0 0.0 0.0 0.0 5.0 0 1 c1t0d0\n";
    let text = format!(
        "zzz ***Tue Nov 30 10:00:00 EST 2021\n{report}{report}zzz ***Tue Nov 30 10:00:30 EST 2021\n{report}{report}"
    );
    let all = read_as("solaris-iostat", &text);
    let kinds: Vec<RowsKind> = all.rows.iter().map(|r| r.interval.kind).collect();
    assert_eq!(kinds, [RowsKind::SinceBoot, RowsKind::Interval, RowsKind::SinceBoot, RowsKind::Interval]);
    assert_eq!(all.rows[3].interval.at_s - all.rows[1].interval.at_s, 30.0);
}

#[test]
fn a_damaged_row_is_complained_about_and_the_rest_is_kept() {
    let text = XN.replace("  400.0  100.0 3200.0", "  400.0  1x0.0 3200.0");
    let all = read_as("solaris-iostat", &text);
    assert_eq!(all.complaints.len(), 1, "{:?}", all.complaints);
    assert_eq!(
        (all.complaints[0].1.line, all.complaints[0].1.expected.as_str()),
        (8, "a device and 10 numbers")
    );
    assert_eq!(all.of(Pool, "tank").len(), 1);
    let cut = XN.replace(
        "    0.0    3.0    0.0    9.0  0.0  0.0    0.0    1.0   0   0 c2t5000CCA0AB35B714d0s6",
        "    0.0    3.0    0.0    9.0  0.0  0.0",
    );
    let all = read_as("solaris-iostat", &cut);
    assert_eq!((all.complaints.len(), all.complaints[0].1.line, all.rows.len()), (1, 9, 4));
}

proptest! {
    #[test]
    fn rows_come_back_as_they_were_printed(
        devices in prop::collection::vec(("c[0-9]t[0-9]{1,2}d[0-9]", prop::collection::vec(0.0..1e5f64, 8)), 1..20)
    ) {
        let mut text = String::from("extended device statistics\n r/s w/s kr/s kw/s wait actv wsvc_t asvc_t %w %b device\n");
        for (name, numbers) in &devices {
            let cells: Vec<String> = numbers.iter().map(|n| format!("{n:.1}")).collect();
            text += &format!("  {}  5 100 {name}\n", cells.join("  "));
        }
        let (all, _) = read_any(text.as_bytes());
        prop_assert!(all.complaints.is_empty());
        prop_assert_eq!(all.rows.len(), devices.len());
        let order: [(Quantity, f64); 8] = [(ReadIops, 1.0), (WriteIops, 1.0), (ReadBytesPerS, 1024.0),
            (WriteBytesPerS, 1024.0), (HostQueue, 1.0), (DeviceQueue, 1.0), (HostWaitUs, 1e3), (ServiceUs, 1e3)];
        for (row, (name, numbers)) in all.rows.iter().zip(&devices) {
            prop_assert_eq!(&all.places[row.place as usize].name, name);
            for ((quantity, factor), printed) in order.iter().zip(numbers) {
                let printed: f64 = format!("{printed:.1}").parse().unwrap();
                prop_assert!(near(row.value(*quantity).unwrap(), printed * factor));
            }
        }
    }

    #[test]
    fn no_damage_panics(bytes in damaged(XN)) {
        read_any(&bytes);
    }
}

#[test]
fn header_that_ends_with_a_comma_and_the_new_name_of_wait() {
    let text = "\
extended device statistics
device,r/s,w/s,kr/s,kw/s,wait,actv,svc_t,%w,%b,
sd0,1.0,0.0,8.0,0.0,0.0,0.0,5.0,0,0,
";
    let all = read_as("solaris-iostat", text);
    assert!(all.complaints.is_empty(), "{:?}", all.complaints);
    assert_eq!(all.of(Device, "sd0")[0].value(ResponseUs), Some(5000.0));
    let text = "   tty        cmdk0          cpu\n tin tout  kps tps serv  us sy dt id\n   0    3    2   1    9    1  1  0 98\n";
    let all = read_as("solaris-iostat", text);
    assert_eq!(all.of(Host, "")[0].value(CpuIdlePercent), Some(98.0));
    assert!(all.remarks.iter().any(|(_, r)| r.contains("since boot")), "{:?}", all.remarks);
}
