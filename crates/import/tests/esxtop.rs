//! esxtop in batch mode.
#![allow(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

mod support;

use proptest::prelude::*;
use record::imported::PlaceKind::{Adapter, Device, Path, Volume};
use record::imported::Quantity::*;
use record::imported::{Basis, Platform};
use support::{damaged, near, read_any, read_as, values};

const COUNTERS: [&str; 15] = [
    "Active Commands",
    "Queued Commands",
    "Commands/sec",
    "Reads/sec",
    "Writes/sec",
    "MBytes Read/sec",
    "MBytes Written/sec",
    "Average Driver MilliSec/Command",
    "Average Kernel MilliSec/Command",
    "Average Guest MilliSec/Command",
    "Average Queue MilliSec/Command",
    "Average Driver MilliSec/Read",
    "Average Guest MilliSec/Write",
    "Failed Commands/sec",
    "Aborts/sec",
];

fn text(objects: &[&str], rows: &[(&str, [f64; 15])]) -> String {
    let mut header = vec![
        "(PDH-CSV 4.0) (UTC)(0)".to_owned(),
        "\\\\esx1\\Memory\\Memory Overcommit (1 Minute Avg)".to_owned(),
    ];
    for object in objects {
        header.push(format!("\\\\esx1\\{object}\\Device Q Depth"));
        header.extend(COUNTERS.iter().map(|c| format!("\\\\esx1\\{object}\\{c}")));
    }
    header.push("\\\\esx1\\Virtual Disk(vm (a):scsi0:1)\\Average MilliSec/Read".to_owned());
    let quoted = |cells: &[String]| format!("\"{}\"\n", cells.join("\",\""));
    let mut text = quoted(&header);
    for (time, numbers) in rows {
        let mut cells = vec![(*time).to_owned(), "0.00".to_owned()];
        for _ in objects {
            cells.push("64".to_owned());
            cells.extend(numbers.iter().map(|n| format!("{n:.2}")));
        }
        cells.push("7.50".to_owned());
        text += &quoted(&cells);
    }
    text
}

const OBJECTS: [&str; 3] = [
    "Physical Disk SCSI Device(naa.600508b1001c4d)",
    "Physical Disk Adapter(vmhba1)",
    "Physical Disk Path(vmhba1:C0:T0:L1)",
];
const NUMBERS: [f64; 15] =
    [12.0, 3.0, 1500.0, 1000.0, 500.0, 8.0, 4.0, 5.0, 2.5, 7.5, 2.0, 4.0, 9.0, 0.5, 0.25];

#[test]
fn latencies_queues_and_depths() {
    let text = text(&OBJECTS, &[("02/10/2024 23:59:58", NUMBERS), ("02/11/2024 00:00:02", NUMBERS)]);
    let all = read_as("esxtop", &text);
    assert!(all.complaints.is_empty(), "{:?}", all.complaints);
    assert_eq!((all.hosts[0].name.as_deref(), all.hosts[0].platform), (Some("esx1"), Platform::Esxi));
    for (kind, name) in [(Device, "naa.600508b1001c4d"), (Adapter, "vmhba1"), (Path, "vmhba1:C0:T0:L1")] {
        let rows = all.of(kind, name);
        assert!(rows[0].interval.length_s.is_nan() && rows.len() == 2);
        let row = rows[1];
        assert_eq!((row.interval.length_s, row.interval.basis, row.origin.line), (4.0, Basis::Utc, 3));
        let wanted = [ServiceUs, HostWaitUs, ResponseUs, DeviceQueue, HostQueue, Iops, ReadIops, WriteIops];
        assert_eq!(values(row, &wanted), [5000.0, 2500.0, 7500.0, 12.0, 3.0, 1500.0, 1000.0, 500.0]);
        let wanted = [ReadBytesPerS, WriteBytesPerS, ReadServiceUs, WriteResponseUs, Failures, Timeouts];
        assert_eq!(values(row, &wanted), [8_388_608.0, 4_194_304.0, 4000.0, 9000.0, 2.0, 1.0]);
    }
    assert_eq!(all.fact("naa.600508b1001c4d", "queue_depth").unwrap().number(), Some(64.0));
    assert_eq!(all.facts.len(), 3);
    assert_eq!(all.of(Volume, "vm (a):scsi0:1")[1].value(ReadResponseUs), Some(7500.0));
}

#[test]
fn fifty_thousand_columns_and_a_line_that_is_cut_off() {
    let names: Vec<String> = (0..3200).map(|n| format!("Physical Disk SCSI Device(naa.{n:08})")).collect();
    let objects: Vec<&str> = names.iter().map(String::as_str).collect();
    let text = text(&objects, &[("02/10/2024 12:00:00", NUMBERS), ("02/10/2024 12:00:05", NUMBERS)]);
    let all = read_as("esxtop", &text);
    assert_eq!(all.rows.len(), 2 * 3201);
    let cut = &text[..text.len() - 200_000];
    let all = read_as("esxtop", cut);
    assert_eq!(all.complaints.len(), 1);
    assert!(all.rows.len() > 3201 && all.rows.len() < 2 * 3201);
    assert!(all.rows.iter().all(|r| r.value(ServiceUs).is_none_or(|us| near(us, 5000.0))));
}

#[test]
fn what_is_no_number_is_complained_about_and_other_counters_are_not_taken() {
    let bad = text(&OBJECTS, &[("02/10/2024 12:00:00", NUMBERS)]).replace("\"12.00\"", "\"12.q0\"");
    let all = read_as("esxtop", &bad);
    assert_eq!((all.complaints.len(), all.complaints[0].1.line), (1, 2));
    let windows = "\"(PDH-CSV 4.0) (Pacific Standard Time)(480)\",\"\\\\WEB1\\PhysicalDisk(0 C:)\\Disk Reads/sec\"\n\"11/30/2021 15:49:57.123\",\"1.0\"\n";
    assert!(!read_any(windows.as_bytes()).1.refused.is_empty());
}

fn fixture() -> &'static str {
    Box::leak(
        text(&OBJECTS, &[("02/10/2024 12:00:00", NUMBERS), ("02/10/2024 12:00:05", NUMBERS)])
            .into_boxed_str(),
    )
}

proptest! {
    #[test]
    fn figures_come_back(numbers in prop::array::uniform15(0.0..1e6f64)) {
        let (all, _) = read_any(text(&OBJECTS, &[("02/10/2024 12:00:00", numbers)]).as_bytes());
        let printed = |n: f64| format!("{n:.2}").parse::<f64>().unwrap();
        for row in all.rows.iter().take(3) {
            prop_assert!(near(row.value(DeviceQueue).unwrap(), printed(numbers[0])));
            prop_assert!(near(row.value(ResponseUs).unwrap(), printed(numbers[9]) * 1e3));
        }
    }

    #[test]
    fn no_damage_panics(bytes in damaged(fixture())) {
        read_any(&bytes);
    }
}
