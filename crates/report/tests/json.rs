//! The document of `plimsoll probe --json`: the contract that outside checks rely on.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod fixture;
mod nasty;

use record::run::{RunWriter, read_run};
use report::{ProbeReport, json};
use serde_json::{Value, json};

fn document(report: &ProbeReport) -> Value {
    serde_json::from_str(&json::probe(report)).unwrap()
}

/// Fails unless `value` has each of the fields, null or not.
fn assert_fields(value: &Value, fields: &[&str]) {
    for field in fields {
        assert!(value.get(field).is_some(), "no '{field}' in {value}");
    }
}

#[test]
fn the_contract_holds_for_every_answer() {
    for (name, report) in nasty::cases() {
        let document = document(&report);
        assert_eq!(document["schema"], "plimsoll.probe/1", "{name}");
        assert_fields(
            &document,
            &["load_line", "knee", "bound_by", "steps", "warnings", "run", "outcome", "host"],
        );
        assert_fields(&document["bound_by"], &["layer", "evidence", "advice"]);
        for step in document["steps"].as_array().unwrap() {
            let fields =
                ["concurrency", "iops", "mib_per_s", "response_us", "above", "host_queue", "device_queue"];
            assert_fields(step, &fields);
            assert_fields(step, &["cpu_us_per_io", "seconds"]);
        }
        assert!(document["warnings"].is_array() && document["steps"].is_array(), "{name}");
    }
}

#[test]
fn the_load_line_carries_its_interval_and_limit() {
    let document = document(&fixture::found());
    let line = &document["load_line"];
    assert_eq!(line["iops"], 8912.0);
    assert_eq!(line["mib_per_s"], 69.6);
    assert_eq!(line["concurrency"], 49);
    assert_eq!(line["limit"], "p99<15ms");
    assert_eq!(line["ci95"], json!([8730.0, 9050.0]));
    assert_eq!(document["knee"]["concurrency"], 6.3);
    assert_eq!(document["bound_by"]["layer"], "device-queue-limit");
    assert_eq!(document["bound_by"]["advice"][0]["try_value"], "64");
    assert_eq!(document["run"], "runs/2026-03-04");
    assert_eq!(document["started_at"], "2026-03-04T05:06:07Z");
    assert_eq!(document["warnings"][0]["id"], "path-hidden");
    let response = &document["steps"][0]["response_us"];
    assert_fields(response, &["mean", "p50", "p95", "p99", "p999", "max"]);
    assert!(response["p50"].as_f64() < response["p99"].as_f64());
}

#[test]
fn absent_is_null_and_never_zero() {
    let document = document(&nasty::absent_queues());
    let step = &document["steps"][3];
    for field in
        ["above", "above_bounds", "host_queue", "device_queue", "cpu_us_per_io", "write_us", "flush_us"]
    {
        assert!(step[field].is_null(), "{field} is {}", step[field]);
    }
}

#[test]
fn a_queue_known_by_its_bound_alone_is_null_with_bounds() {
    let document = document(&nasty::only_bounds());
    let step = &document["steps"][3];
    assert!(step["host_queue"].is_null());
    assert_eq!(step["host_queue_bounds"], json!([0.0, 8.0]));
    assert!(step["device_queue_bounds"].is_null(), "between nothing and everything is no bound");
    assert_eq!(step["above_bounds"][0], step["above"]);
}

#[test]
fn every_outcome_has_its_word() {
    for (name, outcome) in nasty::outcomes() {
        let document = document(&nasty::with_outcome(outcome));
        assert_eq!(document["outcome"], name.replace(' ', "-"));
        assert_eq!(document["outcome_facts"]["outcome"], document["outcome"]);
        assert!(document["load_line"].is_null());
    }
}

#[test]
fn numbers_are_not_rounded() {
    let report = fixture::found();
    assert_eq!(document(&report)["steps"][5]["iops"].as_f64(), Some(report.answer.points[5].iops));
}

#[test]
fn the_run_holds_the_answer_and_reads_back() {
    let dir = tempfile::tempdir().unwrap();
    let report = fixture::found();
    let mut writer = RunWriter::create(dir.path()).unwrap();
    report.answer.steps.iter().for_each(|s| writer.append(s).unwrap());
    writer.finish(&json::run_document(&report, Some(report.started_at))).unwrap();
    let read = read_run(dir.path()).unwrap();
    let document = read.document.unwrap();
    assert_eq!(document.answer["load_line"]["concurrency"], 49);
    assert_eq!(document.tunables[0].file, "/sys/block/sda/queue/scheduler");
    assert_eq!(document.host, report.host);
    assert_eq!(read.steps.len(), report.answer.steps.len());
    assert_eq!(read.steps[3].response(), report.answer.steps[3].response());
}
