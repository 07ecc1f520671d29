//! Answers that a report must bear: every outcome, nothing measured, absent and absurd numbers, hostile names.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::fixture::*;
use analyze::Queue;
use probe::{Comfort, Outcome};
use record::*;
use report::ProbeReport;

/// A name that would run as script, break an attribute, leave a comment, or recolour a terminal.
pub const HOSTILE: &str = "/d/<script>alert(1)</script>\"'--><img src=x onerror=y>&amp;\u{1b}[31m\r\n\u{0}";

/// All cases by name.
pub fn cases() -> Vec<(&'static str, ProbeReport)> {
    let mut cases = vec![
        ("found", found()),
        ("nothing measured", nothing_measured()),
        ("one point", one_point()),
        ("zero throughput", zero_throughput()),
        ("absent queues", absent_queues()),
        ("only bounds", only_bounds()),
        ("thirty points", thirty_points()),
        ("huge numbers", huge_numbers()),
        ("no finite number", no_finite_number()),
        ("hostile strings", hostile_strings()),
        ("steps lost", steps_lost()),
    ];
    cases.extend(outcomes().into_iter().map(|(name, outcome)| (name, with_outcome(outcome))));
    cases
}

/// One of each outcome but the found.
pub fn outcomes() -> Vec<(&'static str, Outcome)> {
    let why = || "throughput swings between 400 and 9,000 IOPS every 2 s".to_owned();
    vec![
        ("never reached", Outcome::NeverReached { saturation_concurrency: 18, iops_max: 9012.4 }),
        ("broken at one", Outcome::BrokenAtOne { measured_us: 17_345.0 }),
        ("edge of range", Outcome::EdgeOfRange { concurrency: 128 }),
        ("not steady", Outcome::NotSteady { why: why() }),
        ("burst", Outcome::Burst { before_iops: 3000.0, after_iops: 300.0, after_s: 17.25 }),
        ("cannot tell", Outcome::CannotTell { why: "the file came out of the page cache".to_owned() }),
        ("swept", Outcome::Swept),
    ]
}

/// No load line, no knee, and this outcome.
pub fn with_outcome(outcome: Outcome) -> ProbeReport {
    let mut report = found();
    report.answer.outcome = outcome;
    report.answer.load_line = None;
    report.answer.knee = None;
    report.answer.comfort = Comfort::default();
    report
}

fn nothing_measured() -> ProbeReport {
    let mut report = with_outcome(Outcome::CannotTell { why: "the device vanished".to_owned() });
    report.answer.points.clear();
    report.answer.steps.clear();
    report.answer.open_loop.clear();
    report.answer.doubts.clear();
    report.answer.bound_by.advice.clear();
    report.answer.bound_by.evidence.clear();
    report.path = None;
    report.run_folder = None;
    report.host = HostFacts::default();
    report.options = serde_json::Value::Null;
    report
}

fn one_point() -> ProbeReport {
    let mut report = probe_of(&[4]);
    report.answer.outcome = Outcome::Swept;
    report.answer.load_line = None;
    report
}

fn zero_throughput() -> ProbeReport {
    let mut report = with_outcome(Outcome::CannotTell { why: "no I/O completed".to_owned() });
    for point in &mut report.answer.points {
        point.iops = 0.0;
        point.mib_per_s = 0.0;
        point.iops_ci95 = None;
        point.response = LatencyHistogram::new();
        point.read = LatencyHistogram::new();
    }
    for step in &mut report.answer.steps {
        step.slices.iter_mut().for_each(|s| s.read = ClassSeen::default());
    }
    report
}

/// Nothing followed the queue and nobody counted processor time.
pub fn absent_queues() -> ProbeReport {
    let mut report = found();
    for point in &mut report.answer.points {
        (point.above, point.host_queue, point.device_queue) =
            (Queue::default(), Queue::default(), Queue::default());
        point.layers.clear();
        point.cpu_us_per_io = None;
    }
    report
}

/// The split of host and device cannot be known.
pub fn only_bounds() -> ProbeReport {
    let mut report = found();
    for point in &mut report.answer.points {
        let n = f64::from(point.concurrency);
        point.host_queue = Queue { mean: None, low: 0.0, high: n };
        point.device_queue = Queue { mean: None, low: 0.0, high: f64::INFINITY };
        point.layers.clear();
    }
    report
}

pub fn thirty_points() -> ProbeReport {
    let visited: Vec<u32> = (1..=30).map(|i| i * i / 3 + i).collect();
    probe_of(&visited)
}

fn huge_numbers() -> ProbeReport {
    let mut report = found();
    for point in &mut report.answer.points {
        point.concurrency = point.concurrency.saturating_mul(30_000_000);
        point.iops *= 1e9;
        point.iops_ci95 = Some([1e12, 1e300]);
        point.mib_per_s *= 1e9;
        point.cpu_us_per_io = Some(1e9);
        point.host_queue.mean = Some(1e12);
        point.response.record_ns(u64::MAX);
    }
    report
}

fn no_finite_number() -> ProbeReport {
    let mut report = found();
    for (index, point) in report.answer.points.iter_mut().enumerate() {
        let odd = if index % 2 == 0 { f64::NAN } else { f64::INFINITY };
        point.iops = odd;
        point.iops_ci95 = Some([odd, odd]);
        point.mib_per_s = odd;
        point.above.mean = Some(odd);
        point.device_queue.mean = Some(-odd);
    }
    let line = report.answer.load_line.as_mut().unwrap();
    (line.ci95, line.concurrency_ci95) = ([f64::NAN, f64::INFINITY], [f64::NEG_INFINITY, f64::NAN]);
    report.answer.knee.as_mut().unwrap().concurrency = f64::NAN;
    report
}

/// Every text that may come from outside is hostile.
pub fn hostile_strings() -> ProbeReport {
    let bad = || HOSTILE.to_owned();
    let mut report = found();
    report.subject.target = bad();
    report.subject.workload = bad();
    report.subject.engine = bad();
    report.host.hostname = Some(bad());
    report.host.kernel = Some(bad());
    report.run_folder = Some(bad());
    report.options = serde_json::json!({HOSTILE: HOSTILE});
    let bound = &mut report.answer.bound_by;
    bound.headline = bad();
    bound.evidence = vec![bad()];
    bound.refuted_by = bad();
    bound.runner_up = Some((analyze::BoundLayer::Path, bad()));
    let advice = &mut bound.advice[0];
    advice.text = bad();
    (advice.file, advice.now, advice.try_value) = (Some(bad()), Some(bad()), Some(bad()));
    advice.expected = Some(bad());
    report.answer.doubts[0].text = bad();
    report.answer.outcome = Outcome::CannotTell { why: bad() };
    report.answer.open_loop[0].lag = Some(bad());
    let path = report.path.as_mut().unwrap();
    path.target = bad();
    path.complaints = vec![bad()];
    path.layers[0].name = bad();
    path.layers[0].label = Some(bad());
    path.layers[1].tunables[0].value = bad();
    path.layers[1].facts = vec![(bad(), bad())];
    report.answer.points.iter_mut().for_each(|p| p.layers[1].name = bad());
    report
}

/// A report read back without its windows.
fn steps_lost() -> ProbeReport {
    let mut report = found();
    report.answer.steps.clear();
    for (index, point) in report.answer.points.iter_mut().enumerate() {
        point.course = (0..6).map(|i| (index as f64 + f64::from(i) * 0.1, point.iops)).collect();
    }
    report
}
