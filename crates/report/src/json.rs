//! The document of `plimsoll probe --json`, schema `plimsoll.probe/1`.
//!
//! Fields that outside checks rely on: `load_line {iops, mib_per_s, concurrency, limit, ci95}`, `knee {concurrency}`,
//! `bound_by {layer, evidence, advice}`, `steps[] {concurrency, iops, mib_per_s, response_us {mean, p50, p95, p99, p999,
//! max}, above, host_queue, device_queue, cpu_us_per_io, seconds}`, `warnings[]`, `run`. They keep their names and units
//! within a version. `bound_by.advice[]` is `{text, file, now, try_value, expected, expected_iops, expected_concurrency}`: `try_value`
//! is what the file takes as it stands, and `expected_iops` the throughput at `expected_concurrency` once this change and
//! those listed before it are made, null where the model does not hold. Absent is null, never 0. Where only a bound of a queue is known, the queue is null and its
//! `*_bounds` hold the bound; `null` as upper bound means that nothing bounds it.

use crate::cores::{self, CoreRow};
use crate::curve::{self, Known};
use crate::{ProbeReport, words};
use analyze::{Advice, BoundBy, DeviceTrouble, Point, Queue};
use probe::{Comfort, Knee, LoadLine, OpenPoint, Outcome, Percentiles};
use record::run::RunDocument;
use record::{Doubt, HostFacts, IoPath, LatencyHistogram, LatencyLimit, LayerSeen, SubjectFacts};
use serde::Serialize;
use serde_json::Value;

/// The schema this version writes.
pub const SCHEMA: &str = "plimsoll.probe/1";

/// The document as text, one trailing newline.
pub fn probe(report: &ProbeReport) -> String {
    let document = document(report);
    let mut text = serde_json::to_string_pretty(&document).expect("the document has text keys only");
    text.push('\n');
    text
}

/// The document as a value, for `run.json`.
pub fn probe_value(report: &ProbeReport) -> Value {
    serde_json::to_value(document(report)).expect("the document has text keys only")
}

/// `run.json` of this probe. The answer is the whole `--json` document but for what `run.json` holds itself.
pub fn run_document(report: &ProbeReport, ended_at: Option<jiff::Timestamp>) -> RunDocument {
    let mut answer = probe_value(report);
    if let Value::Object(fields) = &mut answer {
        for twice in ["host", "path", "subject", "options", "run", "page"] {
            fields.remove(twice);
        }
    }
    let started_at = report.started_at.to_string();
    let mut document =
        RunDocument::new("probe", ProbeReport::VERSION, started_at).with_path(report.path.clone());
    document.ended_at = ended_at.map(|t| t.to_string());
    document.host = report.host.clone();
    document.subject = Some(SubjectFacts { path: None, ..report.subject.clone() });
    document.options = report.options.clone();
    document.answer = answer;
    document.kept = serde_json::to_value(&report.answer).expect("the answer has text keys only");
    document
}

#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    version: &'static str,
    started_at: String,
    spent_s: f64,
    target: &'a str,
    limit: &'a LatencyLimit,
    outcome: &'static str,
    outcome_facts: &'a Outcome,
    verdict: String,
    load_line: Option<&'a LoadLine>,
    knee: Option<&'a Knee>,
    comfort: &'a Comfort,
    bound_by: Bound<'a>,
    steps: Vec<StepShown<'a>>,
    core_sweep: Option<Vec<CoreRow>>,
    open_loop: &'a [OpenPoint],
    warnings: &'a [Doubt],
    troubles: Vec<DeviceTrouble>,
    subject: SubjectFacts,
    host: &'a HostFacts,
    path: Option<&'a IoPath>,
    options: &'a Value,
    run: Option<&'a str>,
    page: Option<String>,
}

#[derive(Serialize)]
struct Bound<'a> {
    layer: &'static str,
    headline: &'a str,
    evidence: &'a [String],
    refuted_by: &'a str,
    runner_up: Option<RunnerUp<'a>>,
    advice: &'a [Advice],
}

#[derive(Serialize)]
struct RunnerUp<'a> {
    layer: &'static str,
    why: &'a str,
}

/// One point of the curve: all windows of one concurrency.
#[derive(Serialize)]
struct StepShown<'a> {
    concurrency: u32,
    iops: f64,
    iops_ci95: Option<[f64; 2]>,
    mib_per_s: f64,
    response_us: Option<Percentiles>,
    read_us: Option<Percentiles>,
    write_us: Option<Percentiles>,
    flush_us: Option<Percentiles>,
    limit_statistic_us: Option<f64>,
    above: Option<f64>,
    above_bounds: Option<[f64; 2]>,
    host_queue: Option<f64>,
    host_queue_bounds: Option<[f64; 2]>,
    device_queue: Option<f64>,
    device_queue_bounds: Option<[f64; 2]>,
    cpu_us_per_io: Option<f64>,
    cpu_user_us_per_io: Option<f64>,
    cpu_sys_us_per_io: Option<f64>,
    cpu_irq_us_per_io: Option<f64>,
    busiest_worker: Option<f64>,
    iops_per_core: Option<f64>,
    seconds: f64,
    windows: u32,
    errors: u64,
    slowest_us: Option<f64>,
    layers: &'a [LayerSeen],
}

fn document(report: &ProbeReport) -> Document<'_> {
    let answer = &report.answer;
    Document {
        schema: SCHEMA,
        version: ProbeReport::VERSION,
        started_at: report.started_at.to_string(),
        spent_s: answer.spent_s,
        target: &report.subject.target,
        limit: &answer.limit,
        outcome: outcome_word(&answer.outcome),
        outcome_facts: &answer.outcome,
        verdict: words::verdict(answer).headline,
        load_line: answer.load_line.as_ref(),
        knee: answer.knee.as_ref(),
        comfort: &answer.comfort,
        bound_by: bound(&answer.bound_by),
        steps: answer.points.iter().map(|p| step(&answer.limit, p)).collect(),
        core_sweep: cores::rows(report),
        open_loop: &answer.open_loop,
        warnings: &answer.doubts,
        troubles: analyze::trouble::devices(&answer.steps, report.path.as_ref()),
        subject: SubjectFacts { path: None, ..report.subject.clone() },
        host: &report.host,
        path: report.path.as_ref(),
        options: &report.options,
        run: report.run_folder.as_deref(),
        page: report.page(),
    }
}

/// The kebab-case word of an outcome.
pub fn outcome_word(outcome: &Outcome) -> &'static str {
    match outcome {
        Outcome::Found => "found",
        Outcome::NeverReached { .. } => "never-reached",
        Outcome::BrokenAtOne { .. } => "broken-at-one",
        Outcome::EdgeOfRange { .. } => "edge-of-range",
        Outcome::Guarded { .. } => "guarded",
        Outcome::NotSteady { .. } => "not-steady",
        Outcome::Burst { .. } => "burst",
        Outcome::CannotTell { .. } => "cannot-tell",
        Outcome::Swept => "swept",
    }
}

fn bound(bound_by: &BoundBy) -> Bound<'_> {
    Bound {
        layer: bound_by.layer.word(),
        headline: &bound_by.headline,
        evidence: &bound_by.evidence,
        refuted_by: &bound_by.refuted_by,
        runner_up: bound_by.runner_up.as_ref().map(|(l, why)| RunnerUp { layer: l.word(), why }),
        advice: &bound_by.advice,
    }
}

fn step<'a>(limit: &LatencyLimit, point: &'a Point) -> StepShown<'a> {
    let of = |histogram: &LatencyHistogram| Percentiles::of(histogram);
    StepShown {
        concurrency: point.concurrency,
        iops: point.iops,
        iops_ci95: point.iops_ci95,
        mib_per_s: point.mib_per_s,
        response_us: of(&point.response).map(|p| longest(p, point.slowest_us)),
        read_us: of(&point.read),
        write_us: of(&point.write),
        flush_us: of(&point.flush),
        limit_statistic_us: curve::limit_statistic_us(limit, point),
        above: point.above.mean,
        above_bounds: bounds(&point.above),
        host_queue: point.host_queue.mean,
        host_queue_bounds: bounds(&point.host_queue),
        device_queue: point.device_queue.mean,
        device_queue_bounds: bounds(&point.device_queue),
        cpu_us_per_io: point.cpu_us_per_io,
        cpu_user_us_per_io: point.cpu_user_us_per_io,
        cpu_sys_us_per_io: point.cpu_sys_us_per_io,
        cpu_irq_us_per_io: point.cpu_irq_us_per_io,
        busiest_worker: point.busiest_worker,
        iops_per_core: point.iops_per_core,
        seconds: point.seconds,
        windows: point.windows,
        errors: point.errors,
        slowest_us: point.slowest_us,
        layers: &point.layers,
    }
}

/// The longest I/O may have come back only after its window: it is the largest all the same.
fn longest(percentiles: Percentiles, slowest_us: Option<f64>) -> Percentiles {
    Percentiles { max: percentiles.max.max(slowest_us.unwrap_or(0.0)), ..percentiles }
}

fn bounds(queue: &Queue) -> Option<[f64; 2]> {
    match Known::of(queue) {
        Known::Absent => None,
        Known::Between(low, high) => Some([low, high]),
        Known::Mean(_) => Some([queue.low, queue.high]),
    }
}
