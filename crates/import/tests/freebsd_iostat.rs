//! iostat of FreeBSD.
#![allow(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

mod support;

use proptest::prelude::*;
use record::imported::PlaceKind::{Device, Host, Other};
use record::imported::Quantity::*;
use record::imported::{Platform, RowsKind};
use support::{damaged, near, read_any, read_as, values};

const NEW: &str = "\
# iostat -x -w 5
                        extended device statistics  
device       r/s     w/s     kr/s     kw/s  ms/r  ms/w  ms/o  ms/t qlen  %b  
ada0           1       2      8.0     16.5     4     3     0     3    0   1 
pass0          0       0      0.0      0.0     0     0     0     0    0   0 
                        extended device statistics  
device       r/s     w/s     kr/s     kw/s  ms/r  ms/w  ms/o  ms/t qlen  %b  
ada0         400     100   3200.0    800.0    20    10    50    18   12 100 
pass0          0       0      0.0      0.0     0     0     0     0    0   0 
";

#[test]
fn times_and_queue_of_release_11() {
    let all = read_as("freebsd-iostat", NEW);
    assert!(all.complaints.is_empty() && all.remarks.is_empty(), "{:?} {:?}", all.complaints, all.remarks);
    assert_eq!(all.hosts[0].platform, Platform::FreeBsd);
    let rows = all.of(Device, "ada0");
    assert_eq!((rows[0].interval.kind, rows[1].interval.kind), (RowsKind::SinceBoot, RowsKind::Interval));
    let row = rows[1];
    assert_eq!((row.interval.length_s, row.origin.line), (5.0, 8));
    assert_eq!(values(row, &[ReadIops, ReadBytesPerS, WriteBytesPerS]), [400.0, 3_276_800.0, 819_200.0]);
    assert_eq!(values(row, &[ReadResponseUs, WriteResponseUs, ResponseUs]), [20_000.0, 10_000.0, 18_000.0]);
    assert_eq!(values(row, &[OutstandingInstant, BusyPercent]), [12.0, 100.0]);
    assert!(row.value(HostQueue).is_none() && row.value(Outstanding).is_none());
    assert_eq!(all.of(Other, "pass0").len(), 2);
}

#[test]
fn older_releases_call_the_queue_wait() {
    for queue in ["wait", "qlen"] {
        let text = format!(
            "                        extended device statistics  \ndevice     r/s   w/s    kr/s    kw/s {queue} svc_t  %b  \nda0       12.5   3.0   100.0    24.0    3  12.5  19 \n"
        );
        let all = read_as("freebsd-iostat", &text);
        assert_eq!(values(all.of(Device, "da0")[0], &[OutstandingInstant, ResponseUs]), [3.0, 12_500.0]);
    }
}

#[test]
fn the_horizontal_layout() {
    let text = "\
       tty            ada0             ada1             cpu
 tin  tout KB/t tps  MB/s  KB/t tps  MB/s  us ni sy in id
   0    12 16.00  10  0.16  4.00   1  0.00   1  0  2  0 97
   0   120 64.00 200 12.50  4.00   0  0.00  10  0 20  1 69
";
    let all = read_as("freebsd-iostat", text);
    assert!(all.complaints.is_empty(), "{:?}", all.complaints);
    let row = all.of(Device, "ada0")[1];
    assert_eq!(values(row, &[RequestBytes, Iops, BytesPerS]), [65_536.0, 200.0, 13_107_200.0]);
    assert_eq!(row.interval.kind, RowsKind::Interval);
    assert_eq!(values(all.of(Host, "")[1], &[CpuUserPercent, CpuIrqPercent]), [10.0, 1.0]);
}

#[test]
fn a_damaged_row_is_complained_about() {
    let all = read_as("freebsd-iostat", &NEW.replace("400     100", "400     1o0"));
    assert_eq!((all.complaints.len(), all.complaints[0].1.line), (1, 8));
    assert_eq!(all.rows.len(), 3);
}

proptest! {
    #[test]
    fn rows_come_back_as_they_were_printed(
        devices in prop::collection::vec(("(ada|da|nvd)[0-9]{1,2}", 0..100_000u32, 0.0..1e6f64, 0..1000u32), 1..20)
    ) {
        let mut text = String::from("extended device statistics\ndevice r/s w/s kr/s kw/s ms/r ms/w ms/o ms/t qlen %b\n");
        for (name, n, kb, ms) in &devices {
            text += &format!("{name} {n} {n} {kb:.1} {kb:.1} {ms} {ms} 0 {ms} {n} 100\n");
        }
        let (all, _) = read_any(text.as_bytes());
        prop_assert!(all.complaints.is_empty());
        prop_assert_eq!(all.rows.len(), devices.len());
        for (row, (name, n, kb, ms)) in all.rows.iter().zip(&devices) {
            prop_assert_eq!(&all.places[row.place as usize].name, name);
            prop_assert_eq!(row.value(OutstandingInstant), Some(f64::from(*n)));
            prop_assert_eq!(row.value(ReadResponseUs), Some(f64::from(*ms) * 1e3));
            let printed: f64 = format!("{kb:.1}").parse().unwrap();
            prop_assert!(near(row.value(ReadBytesPerS).unwrap(), printed * 1024.0));
        }
    }

    #[test]
    fn no_damage_panics(bytes in damaged(NEW)) {
        read_any(&bytes);
    }
}
