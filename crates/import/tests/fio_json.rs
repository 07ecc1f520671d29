//! JSON of fio.
#![allow(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

mod support;

use proptest::prelude::*;
use record::IoClass;
use record::imported::PlaceKind::{Device, Job};
use record::imported::Quantity::*;
use record::imported::{Basis, RowsKind};
use support::{damaged, near, read_any, read_as, values};

/// fio 3: text before it, two threads that are reported together, a group that runs after them, json+ bins, a disk.
const NEW: &str = r#"note: both iodepth >= 1 and synchronous I/O engine are selected {careful}
{
  "fio version" : "fio-3.33",
  "timestamp" : 1700000100,
  "timestamp_ms" : 1700000100500,
  "time" : "Tue Nov 14 22:15:00 2023",
  "global options" : {
    "ioengine" : "libaio",
    "iodepth" : "8",
    "bs" : "8k",
    "bs" : "8k",
    "direct" : "1"
  },
  "jobs" : [
    {
      "jobname" : "mixed {load}",
      "groupid" : 0,
      "error" : 0,
      "job options" : { "rw" : "randrw", "numjobs" : "2" },
      "read" : {
        "io_bytes" : 81920000, "io_kbytes" : 80000, "bw_bytes" : 8192000, "bw" : 8000,
        "iops" : 1000.0, "runtime" : 10000, "total_ios" : 10000, "short_ios" : 0,
        "slat_ns" : { "min" : 1000, "max" : 9000, "mean" : 4000.0, "stddev" : 1.0 },
        "clat_ns" : { "min" : 90000, "max" : 900000, "mean" : 196000.0, "stddev" : 1.0,
          "percentile" : { "50.000000" : 150000, "95.000000" : 300000, "99.000000" : 500000, "99.900000" : 800000 },
          "bins" : { "150000" : 9000, "500000" : 1000 } },
        "lat_ns" : { "min" : 95000, "max" : 910000, "mean" : 200000.0, "stddev" : 1.0 }
      },
      "write" : {
        "io_bytes" : 245760000, "bw_bytes" : 24576000, "bw" : 24000,
        "iops" : 3000.0, "runtime" : 10000, "total_ios" : 30000,
        "slat_ns" : { "min" : 1000, "max" : 9000, "mean" : 8000.0, "stddev" : 1.0 },
        "clat_ns" : { "min" : 80000, "max" : 900000, "mean" : 392000.0, "stddev" : -nan,
          "percentile" : { "99.000000" : 700000 } },
        "lat_ns" : { "min" : 85000, "max" : 1910000, "mean" : 400000.0, "stddev" : 1.0 }
      },
      "sync" : { "total_ios" : 0, "lat_ns" : { "mean" : 0.0 } },
      "usr_cpu" : 5.5, "sys_cpu" : 12.25,
      "iodepth_level" : { "1" : 0.1, "8" : 99.9, ">=64" : 0.0 },
      "latency_us" : { "250" : 60.0, "500" : 30.0 },
      "latency_ms" : { "2" : 10.0, ">=2000" : 0.0 },
      "latency_depth" : 8
    },
    {
      "jobname" : "log writer",
      "groupid" : 1,
      "error" : 5,
      "job options" : { "rw" : "write", "ioengine" : "psync", "fsync" : "1" },
      "write" : { "bw_bytes" : 819200, "iops" : 100.0, "runtime" : 5000, "total_ios" : 500,
        "clat_ns" : { "min" : 10, "max" : 20, "mean" : 15000.0, "percentile" : { "99.900000" : 17112760320 } },
        "lat_ns" : { "min" : 10, "max" : 20000, "mean" : 15000.0 } },
      "sync" : { "total_ios" : 500, "lat_ns" : { "mean" : 2000000.0 } }
    }
  ],
  "disk_util" : [
    { "name" : "sdb", "read_ios" : 1000, "write_ios" : 3000, "read_sectors" : 16000, "write_sectors" : 48000, "read_merges" : 1, "write_merges" : 2,
      "read_ticks" : 2000, "write_ticks" : 3000, "in_queue" : 5100, "util" : 99.5 }
  ]
}

Disk stats (read/write):
  sdb: ios=1000/3000
"#;

#[test]
fn nanoseconds_groups_and_disks_of_version_3() {
    let all = read_as("fio-json", NEW);
    assert!(all.complaints.is_empty(), "{:?}", all.complaints);
    let row = all.of(Job, "mixed {load}")[0];
    let wanted = [ReadIops, ReadBytesPerS, Reads, ReadResponseUs, ReadSizeBytes, WriteIops, WriteResponseUs];
    assert_eq!(values(row, &wanted), [1000.0, 8_192_000.0, 10_000.0, 200.0, 8192.0, 3000.0, 400.0]);
    // Of both: weighted by their I/Os; percentiles of each.
    assert_eq!(
        values(row, &[ResponseUs, SubmitUs, ResponseMinUs, ResponseMaxUs]),
        [350.0, 7.0, 85.0, 1910.0]
    );
    assert_eq!(
        values(row, &[ReadResponseP99Us, ReadResponseP999Us, WriteResponseP99Us]),
        [500.0, 800.0, 700.0]
    );
    assert_eq!(row.value(ResponseP99Us), None);
    assert_eq!(values(row, &[Concurrency, CpuUserPercent, CpuSystemPercent]), [16.0, 5.5, 12.25]);
    assert_eq!((row.interval.kind, row.interval.length_s), (RowsKind::Period, 10.0));
    assert!(row.interval.at_s.is_nan(), "it ended before the last group");
    assert_eq!(row.origin.line, 15);
    let log = all.of(Job, "log writer")[0];
    assert_eq!(
        values(log, &[Concurrency, Flushes, FlushResponseUs, ReadIops]).get(..3).unwrap(),
        [1.0, 500.0, 2000.0]
    );
    assert_eq!((log.interval.at_s, log.interval.basis), (1_700_000_100.5, Basis::Utc));
    assert_eq!(all.fact("log writer", "error").unwrap().number(), Some(5.0));
    assert_eq!(all.fact("mixed {load}", "fio_rw").unwrap().text(), "randrw");
    assert!(all.remarks.iter().any(|(_, r)| r.contains("end of fio's histogram")));
    let sdb = all.of(Device, "sdb")[0];
    let wanted = [Reads, WriteBytes, ReadTimeS, ReadResponseUs, WriteResponseUs, WeightedTimeS, BusyPercent];
    assert_eq!(values(sdb, &wanted), [1000.0, 24_576_000.0, 2.0, 2000.0, 1000.0, 5.1, 99.5]);
}

#[test]
fn distributions_have_upper_bounds() {
    let all = read_as("fio-json", NEW);
    let of = |class| all.distributions.iter().find(|d| d.quantity == ResponseUs && d.class == class).unwrap();
    assert_eq!(of(Some(IoClass::Read)).buckets, [(150.0, 9000.0), (500.0, 1000.0)]);
    let shares = &of(None).buckets;
    assert!(shares.len() == 3 && near(shares[2].0, 2000.0) && near(shares.iter().map(|b| b.1).sum(), 1.0));
}

#[test]
fn microseconds_of_version_2_and_threads_apart() {
    let job = r#"{ "jobname" : "a", "groupid" : 0, "error" : 0,
      "read" : { "io_bytes" : 800, "bw" : 800, "iops" : 100.0, "runtime" : 1000, "total_ios" : 100,
        "slat" : { "min" : 1, "max" : 2, "mean" : 1.5 }, "clat" : { "mean" : 98.5, "percentile" : { "99.00" : 120, "0.00" : 0 } },
        "lat" : { "min" : 50, "max" : 200, "mean" : 100.0 } } }"#;
    let text = format!("{{ \"fio version\" : \"fio-2.21\", \"jobs\" : [ {job}, {job} ] }}");
    let all = read_as("fio-json", &text);
    for name in ["a #1", "a #2"] {
        let row = all.of(Job, name)[0];
        let wanted = [ReadIops, ReadBytesPerS, ReadResponseUs, ResponseP99Us, SubmitUs];
        assert_eq!(values(row, &wanted), [100.0, 819_200.0, 100.0, 120.0, 1.5]);
        assert_eq!(row.value(Concurrency), None);
    }
}

#[test]
fn clients_are_hosts_and_their_sum_is_left_out() {
    let job = |host: &str, name: &str| {
        format!(
            "{{ \"jobname\" : \"{name}\", \"groupid\" : 0, \"read\" : {{ \"iops\" : 10.0, \"bw\" : 40, \"clat_ns\" : {{}} }}, \"hostname\" : \"{host}\" }}"
        )
    };
    let text = format!(
        "hostname=db1, be=0, 64-bit, os=Linux\nJobs: 2 (f=2)\r\n{{ \"fio version\" : \"fio-3.7\", \"client_stats\" : [ {}, {}, {} ] }}",
        job("db1", "scan"),
        job("db2", "scan"),
        job("db2", "All clients")
    );
    let all = read_as("fio-json", &text);
    let hosts: Vec<Option<&str>> = all.hosts.iter().map(|h| h.name.as_deref()).collect();
    assert_eq!(hosts, [Some("db1"), Some("db2")]);
    assert_eq!((all.of(Job, "scan").len(), all.of(Job, "All clients").len()), (2, 0));
}

#[test]
fn what_was_complete_before_the_end_is_kept() {
    let cut = &NEW[..NEW.find("\"log writer\"").unwrap()];
    let all = read_as("fio-json", cut);
    assert_eq!(all.of(Job, "mixed {load}").len(), 1);
    assert_eq!(all.complaints.len(), 1);
    let twice = format!("{NEW}{NEW}");
    assert_eq!(read_as("fio-json", &twice).of(Device, "sdb").len(), 2);
}

proptest! {
    #[test]
    fn jobs_come_back(jobs in prop::collection::vec(("[a-z][a-z \\-_]{0,20}", 1.0..1e6f64, 1.0..1e9f64), 1..10)) {
        let elements: Vec<String> = jobs.iter().enumerate().map(|(n, (name, iops, ns))| format!(
            "{{ \"jobname\" : \"{name}\", \"groupid\" : {n}, \"read\" : {{ \"iops\" : {iops}, \"bw\" : 1, \"clat_ns\" : {{ \"mean\" : {ns} }} }} }}"
        )).collect();
        let text = format!("{{ \"fio version\" : \"fio-3.1\", \"jobs\" : [{}] }}", elements.join(",\n"));
        let (all, _) = read_any(text.as_bytes());
        prop_assert_eq!(all.rows.len(), jobs.len());
        for (row, (name, iops, ns)) in all.rows.iter().zip(&jobs) {
            prop_assert_eq!(&all.places[row.place as usize].name, name);
            prop_assert!(near(row.value(ReadIops).unwrap(), *iops) && near(row.value(ReadResponseUs).unwrap(), ns / 1e3));
        }
    }

    #[test]
    fn no_damage_panics(bytes in damaged(NEW)) {
        read_any(&bytes);
    }
}
