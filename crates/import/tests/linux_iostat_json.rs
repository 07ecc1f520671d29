//! iostat, mpstat and pidstat of sysstat, as JSON.
#![allow(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

mod support;

use proptest::prelude::*;
use record::imported::PlaceKind::{Device, Host, Other, Process};
use record::imported::Quantity::*;
use record::imported::{Basis, RowsKind};
use support::{damaged, near, read_any, read_as, values};

const IOSTAT: &str = r#"{"sysstat": {
	"hosts": [
		{
			"nodename": "db1",
			"sysname": "Linux",
			"release": "6.1.0",
			"machine": "x86_64",
			"number-of-cpus": 8,
			"date": "02/10/2024",
			"statistics": [
				{
					"timestamp": "02/10/2024 11:59:55 PM",
					"avg-cpu":  {"user": 1.00, "nice": 0.00, "system": 1.00, "iowait": 8.00, "steal": 0.00, "idle": 90.00},
					"disk": [
						{"disk_device": "sda", "r/s": 1.00, "w/s": 0.00, "rkB/s": 8.00, "wkB/s": 0.00, "rrqm/s": 0.00, "wrqm/s": 0.00, "rrqm": 0.00, "wrqm": 0.00, "r_await": 1.00, "w_await": 0.00, "rareq-sz": 8.00, "wareq-sz": 0.00, "aqu-sz": 0.00, "util": 0.10}
					]
				},
				{
					"timestamp": "02/11/2024 12:00:05 AM",
					"avg-cpu":  {"user": 5.00, "nice": 0.00, "system": 5.00, "iowait": 10.00, "steal": 0.00, "idle": 80.00},
					"disk": [
						{"disk_device": "sda", "r/s": 2000.00, "w/s": 100.00, "rMB/s": 16.00, "wMB/s": 3.00, "rrqm/s": 1.50, "wrqm/s": 0.00, "rrqm": 0.07, "wrqm": 0.00, "r_await": 12.00, "w_await": 2.00, "rareq-sz": 8.00, "wareq-sz": 32.00, "aqu-sz": 24.20, "svctm": 0.40, "util": 99.90},
						{"disk_device": " group", "r/s": 2000.00, "w/s": 100.00, "rMB/s": 16.00, "wMB/s": 3.00, "aqu-sz": 24.20, "util": 99.90, "novel/s": 7.00}
					]
				}
			]
		}
	]
}}
"#;

#[test]
fn iostat_reports_units_in_keys() {
    let all = read_as("linux-iostat-json", IOSTAT);
    assert!(all.complaints.is_empty(), "{:?}", all.complaints);
    assert_eq!((all.hosts[0].name.as_deref(), all.hosts[0].processors), (Some("db1"), Some(8)));
    let sda = all.of(Device, "sda");
    assert_eq!(sda[0].interval.kind, RowsKind::SinceBoot);
    let row = sda[1];
    assert_eq!(
        (row.interval.kind, row.interval.length_s, row.interval.at_s, row.interval.basis),
        (RowsKind::Interval, 10.0, 1_707_609_605.0, Basis::Local)
    );
    assert_eq!(row.origin.line, 22);
    let wanted =
        [ReadIops, ReadBytesPerS, ReadMergesPerS, ReadResponseUs, WriteSizeBytes, Outstanding, BusyPercent];
    assert_eq!(values(row, &wanted), [2000.0, 16_777_216.0, 1.5, 12_000.0, 32_768.0, 24.2, 99.9]);
    assert_eq!(row.value(ServiceUs), None);
    assert_eq!(all.of(Host, "")[1].value(CpuIowaitPercent), Some(10.0));
    assert_eq!(all.of(Other, "group").len(), 1);
    assert!(all.remarks.iter().any(|(_, r)| r.contains("novel/s")), "{:?}", all.remarks);
}

#[test]
fn what_was_cut_off_or_has_wrong_commas_is_read_as_far_as_it_goes() {
    let cut = &IOSTAT[..IOSTAT.find("\"r/s\": 2000").unwrap()];
    let all = read_as("linux-iostat-json", cut);
    assert_eq!((all.of(Device, "sda").len(), all.complaints.len()), (1, 1));
    // Cut between two reports: nothing is missing.
    let cut = &IOSTAT[..IOSTAT.find("\"02/11").unwrap() - 25];
    assert_eq!(read_as("linux-iostat-json", cut).complaints.len(), 0);
    let broken = IOSTAT
        .replace("\"iowait\": 8.00, ", "\"iowait\": 8,50, ")
        .replace("90.00},", "90.00}")
        .replace("\"statistics\": [", "\"statistics\": [,");
    let all = read_as("linux-iostat-json", &broken);
    assert!(all.complaints.is_empty(), "{:?}", all.complaints);
    assert_eq!(all.of(Host, "")[0].value(CpuIowaitPercent), Some(8.5));
    assert_eq!(all.of(Device, "sda").len(), 2);
}

#[test]
fn mpstat_and_pidstat() {
    let head = &IOSTAT[..IOSTAT.find("\"timestamp\"").unwrap()];
    let mpstat = format!(
        "{head}\"timestamp\": \"23:59:58\", \"cpu-load\": [{{\"cpu\": \"all\", \"usr\": 5.00, \"irq\": 1.00, \"idle\": 94.00}}], \"sum-interrupts\": [{{\"cpu\": \"all\", \"intr\": 35.00}}]}},\n\
        {{\"timestamp\": \"00:00:03\", \"cpu-load\": [{{\"cpu\": \"all\", \"usr\": 6.00, \"irq\": 1.00, \"idle\": 93.00}}]}}]}}]}}}}"
    );
    let all = read_as("linux-mpstat-json", &mpstat);
    let host = all.of(Host, "");
    assert!(host.iter().any(|r| r.value(InterruptsPerS) == Some(35.0)));
    let last = host.iter().find(|r| r.value(CpuUserPercent) == Some(6.0)).unwrap();
    assert_eq!((last.interval.length_s, last.interval.kind), (5.0, RowsKind::Interval));
    let pidstat = format!(
        "{head}\"timestamp\": \"12:00:00\", \"io\": [{{\"UID\": \"0\", \"PID\": \"77\", \"kB_rd/s\": -1.00, \"kB_wr/s\": 2.00, \"kB_ccwr/s\": 0.50, \"iodelay\": 58, \"cmd\": \"JS Helper\"}}]}}]}}]}}}}"
    );
    let all = read_as("linux-pidstat-json", &pidstat);
    let row = all.of(Process, "77 JS Helper")[0];
    let got = values(row, &[WriteBytesPerS, CancelledBytesPerS, IoDelayS]);
    assert_eq!(got[..2], [2048.0, 512.0]);
    assert!(near(got[2], 0.58) && row.value(ReadBytesPerS).is_none());
}

proptest! {
    #[test]
    fn no_damage_panics(bytes in damaged(IOSTAT)) {
        read_any(&bytes);
    }
}
