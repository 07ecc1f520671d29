//! Verdicts on real I/O whose cause is known beforehand.
#![allow(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

mod support;

use serde_json::Value;
use support::command::{measured, probe};
use support::document::{known, layer, list, number, steps, text, warnings};
use support::{Turn, data_file, folder};

/// Whether the machine was taken away from the test: then a second run is fair.
fn disturbed(document: &Value) -> bool {
    warnings(document).contains(&"host-disturbed")
}

#[test]
fn one_worker_at_depth_one_is_too_little_concurrency_and_never_the_processor() {
    let _turn = Turn::take();
    let place = folder();
    for engine in ["sync --workers 1", "io_uring --workers 1", "libaio --workers 1"] {
        let flags = format!("--workload scan --engine {engine} --depths 1 --size 64M --budget 2s");
        let document = measured(place.path(), &flags);
        assert_eq!(layer(&document), "concurrency", "{engine}: {:#}", document["bound_by"]);
        assert_eq!(steps(&document).len(), 1);
        let evidence = document["bound_by"]["evidence"].to_string();
        assert!(evidence.contains("idle"), "iowait is idle time, and the evidence should say so: {evidence}");
        assert_eq!(number(&document, "/subject/block_bytes"), 1048576.0);
    }
}

#[test]
fn a_cached_file_read_deeply_on_one_core_is_bound_by_the_processor() {
    let _turn = Turn::take();
    let place = folder();
    let file = data_file(place.path(), 64 << 20);
    std::fs::read(&file).unwrap();
    let run = || {
        let flags = "--buffered --block 4k --engine io_uring --cores 0 --depths 16,64 --budget 3s";
        measured(&file, flags)
    };
    let mut document = run();
    if layer(&document) != "cpu" && disturbed(&document) {
        // A neighbour that took the core may have hidden it: one more run.
        document = run();
    }
    assert_eq!(layer(&document), "cpu", "{:#}", document["bound_by"]);
    let last = steps(&document).last().unwrap();
    assert!(number(last, "/cpu_us_per_io") > 0.0);
    assert!(number(last, "/iops_per_core") > 0.0);
    let advice = document["bound_by"]["advice"].to_string();
    assert!(advice.contains("--cores") || advice.contains("--workers"), "{advice}");
}

#[test]
fn a_sweep_of_cores_gives_a_step_for_each_number_of_cores() {
    let _turn = Turn::take();
    if std::thread::available_parallelism().unwrap().get() < 2 {
        skip!("this process may use one core only");
    }
    let place = folder();
    let flags = "--cores 1..2 --engine sync --workload scan --size 64M --budget 3s";
    let document = measured(place.path(), flags);
    let depths: Vec<f64> = steps(&document).iter().map(|s| number(s, "/concurrency")).collect();
    assert_eq!(depths, [1.0, 2.0]);
    assert_eq!(document["options"]["core_sweep"], 1);
    let cores: Vec<f64> =
        document["core_sweep"].as_array().unwrap().iter().map(|r| number(r, "/cores")).collect();
    assert_eq!(cores, [1.0, 2.0]);
    for step in steps(&document) {
        assert!(number(step, "/iops") > 0.0 && number(step, "/cpu_us_per_io") > 0.0, "{step:#}");
    }
    // With an asynchronous engine each core may keep several outstanding.
    let flags = "--cores 1..2 --depths 8 --size 64M --budget 3s";
    let document = measured(place.path(), flags);
    let depths: Vec<f64> = steps(&document).iter().map(|s| number(s, "/concurrency")).collect();
    assert_eq!(depths, [8.0, 16.0]);
    assert_eq!(document["core_sweep"][1]["cores"], 2);
}

#[test]
fn a_rate_is_offered_whatever_the_storage_does() {
    let _turn = Turn::take();
    let place = folder();
    for arrival in ["poisson", "constant"] {
        let flags = format!("--rate 500 --arrival {arrival} --size 64M --budget 4s");
        let document = measured(place.path(), &flags);
        let points = list(&document, "/open_loop");
        assert_eq!(points.len(), 1, "{arrival}: {:#}", document["warnings"]);
        let point = &points[0];
        assert_eq!(number(point, "/asked_iops"), 500.0);
        assert!(point["share"].is_null());
        // 500 per second for the measured seconds, give or take four standard deviations of Poisson arrivals.
        let (iops, seconds) = (number(point, "/iops"), number(point, "/seconds"));
        let noise = 4.0 * (500.0 / seconds).sqrt();
        assert!((iops - 500.0).abs() <= noise + 10.0, "{arrival}: {iops} IOPS for {seconds} s");
        assert!(number(point, "/response_us/p99") >= number(point, "/response_us/p50"));
    }
}

#[test]
fn depths_that_all_hold_the_limit_are_not_said_to_break_it() {
    let _turn = Turn::take();
    let place = folder();
    let document = measured(place.path(), "--depths 1,2 --limit p99<10s --size 64M --budget 2s");
    for step in steps(&document) {
        assert!(number(step, "/limit_statistic_us") < 1e7);
    }
    // Whether or not a number is given for a line that lies beyond the list, the words must not deny that it holds.
    assert!(text(&document, "/verdict").contains("2 outstanding"), "{}", document["verdict"]);
}

#[test]
fn a_limit_that_nothing_holds_is_a_no() {
    let _turn = Turn::take();
    let place = folder();
    let ended = probe(place.path(), "--limit p50<1us --size 64M --budget 3s --json").expect(1);
    let document = ended.json();
    assert_eq!(text(&document, "/outcome"), "broken-at-one");
    assert!(document["load_line"].is_null());
}

#[test]
fn a_log_workload_times_each_flush() {
    let _turn = Turn::take();
    let place = folder();
    let flags = "--workload log --depths 1,2 --size 64M --budget 3s";
    let document = measured(place.path(), flags);
    for step in steps(&document) {
        let (write_us, flush_us) = (number(step, "/write_us/mean"), number(step, "/flush_us/mean"));
        assert!(write_us > 0.0 && flush_us > 0.0, "{step:#}");
        // A log write is done when it is durable: its time holds that of its flush.
        assert!(write_us > flush_us, "write {write_us} us, flush {flush_us} us");
        assert!(step["read_us"].is_null(), "a log writer reads nothing");
    }
    assert!(support::own_files(place.path()).is_empty());
    // O_DSYNC makes each write durable by itself: the write is the flush, so that a limit on flushes judges both alike.
    let flags = "--workload log --sync dsync --depths 1 --size 64M --budget 2s";
    let document = measured(place.path(), flags);
    let step = &steps(&document)[0];
    assert!(number(step, "/write_us/mean") > 0.0);
    assert_eq!(step["write_us"], step["flush_us"]);
}

#[test]
fn a_mixed_workload_keeps_reads_and_writes_apart() {
    let _turn = Turn::take();
    let place = folder();
    let flags = "--workload oltp-mixed --depths 8 --size 64M --budget 2s";
    let document = measured(place.path(), flags);
    let step = &steps(&document)[0];
    assert!(number(step, "/read_us/mean") > 0.0 && number(step, "/write_us/mean") > 0.0, "{step:#}");
    assert_eq!(number(&document, "/subject/write_percent"), 15.0);
}

#[test]
fn direct_reads_of_a_cached_file_go_to_the_disk() {
    let _turn = Turn::take();
    let place = folder();
    let file = data_file(place.path(), 64 << 20);
    // Every page is in the cache; a direct read must not be answered from there.
    std::fs::read(&file).unwrap();
    let document = measured(&file, "--depths 8 --budget 2s");
    assert_eq!(document["subject"]["direct"], true);
    assert!(!warnings(&document).contains(&"page-cache-hits"), "{:#}", document["warnings"]);
    let step = &steps(&document)[0];
    let devices =
        list(&document, "/path/layers").iter().filter(|l| l["below"].as_array().is_some_and(Vec::is_empty));
    let leaves: Vec<&str> = devices.map(|l| text(l, "/name")).collect();
    let seen = list(step, "/layers").iter().filter(|l| leaves.contains(&text(l, "/name")));
    let mib_per_s: f64 = seen.map(|l| number(l, "/mib_per_s")).sum();
    assert!(
        mib_per_s >= 0.9 * number(step, "/mib_per_s"),
        "{mib_per_s} MiB/s at the devices {leaves:?}: {step:#}"
    );
    // The same file through the cache: the devices see next to nothing, and nobody calls them the limit.
    let document = measured(&file, "--buffered --depths 8 --budget 2s");
    assert_eq!(document["subject"]["direct"], false);
    let step = &steps(&document)[0];
    assert!(known(step, "/device_queue").is_none_or(|q| q < 1.0), "{step:#}");
    assert!(
        !["device", "host-queue", "device-queue-limit"].contains(&layer(&document)),
        "{:#}",
        document["bound_by"]
    );
}
