//! What must be said beside an answer, and what must spoil it.

mod support;

use analyze::{doubts, points};
use record::{DoubtId, HostSeen, Phase, Step, SubjectFacts, Weight};
use support::*;

fn plain() -> SubjectFacts {
    subject(path(vec![scsi("sda", 254.0, 256.0, "none")]))
}

fn quiet(n: u32, iops: f64) -> Step {
    step(n, iops, 0.2, vec![layer_seen("sda", iops, 0.0, f64::from(n), Some(254.0))])
}

fn found(steps: &[Step], subject: &SubjectFacts) -> Vec<(DoubtId, Weight)> {
    let points = points(steps, subject.path.as_ref());
    doubts(steps, &points, subject).iter().map(|d| (d.id, d.weight)).collect()
}

#[test]
fn a_quiet_run_has_no_doubt() {
    assert_eq!(found(&[quiet(1, 1000.0), quiet(8, 8000.0)], &plain()), []);
}

#[test]
fn threads_that_wait_for_a_core_disturb_and_then_spoil() {
    let with = |delay| {
        let mut step = quiet(8, 8000.0);
        step.host = Some(HostSeen { worker_run_delay: Some(delay), ..HostSeen::default() });
        found(&[step], &plain())
    };
    assert_eq!(with(0.02), []);
    assert_eq!(with(0.2), [(DoubtId::HostDisturbed, Weight::Caution)]);
    assert_eq!(with(0.5), [(DoubtId::HostDisturbed, Weight::Spoils)]);
}

#[test]
fn direct_reads_that_reach_no_device_spoil_the_answer() {
    let cached = step(8, 80_000.0, 0.9, vec![layer_seen("sda", 40.0, 0.0, 0.0, Some(254.0))]);
    assert_eq!(found(std::slice::from_ref(&cached), &plain()), [(DoubtId::PageCacheHits, Weight::Spoils)]);
    let buffered = SubjectFacts { direct: false, ..plain() };
    assert_eq!(found(&[cached], &buffered), [(DoubtId::PageCacheHits, Weight::Note)]);
}

#[test]
fn foreign_io_is_weighed_against_ours() {
    let with = |mib_per_s| {
        let mut step = quiet(8, 8000.0);
        step.host = Some(HostSeen { foreign_mib_per_s: Some(mib_per_s), ..HostSeen::default() });
        found(&[step], &plain())
    };
    // Ours is 62.5 MiB/s.
    assert_eq!(with(1.0), []);
    assert_eq!(with(10.0), [(DoubtId::ForeignIo, Weight::Caution)]);
    assert_eq!(with(60.0), [(DoubtId::ForeignIo, Weight::Spoils)]);
}

#[test]
fn a_slower_depth_one_at_the_end_is_drift_and_a_faster_one_a_cold_start() {
    let with = |first: f64, last: f64| {
        let (mut a, mut b) = (quiet(1, first), quiet(1, last));
        (a.load.phase, b.load.phase) = (Phase::Reference, Phase::Sentinel);
        found(&[a, b], &plain())
    };
    assert_eq!(with(1000.0, 900.0), []);
    assert_eq!(with(1000.0, 500.0), [(DoubtId::NotSteady, Weight::Caution)]);
    assert_eq!(with(500.0, 1000.0), [(DoubtId::ColdStart, Weight::Caution)]);
}

#[test]
fn a_generator_that_keeps_fewer_than_asked_says_so_and_littles_law_is_checked() {
    let mut short = quiet(16, 16_000.0);
    short.slices.iter_mut().for_each(|s| s.outstanding_mean = 10.0);
    assert_eq!(
        found(&[short], &plain()),
        [(DoubtId::CountersDisagree, Weight::Caution), (DoubtId::GeneratorLag, Weight::Caution)]
    );
}

#[test]
fn failed_ios_are_never_silent() {
    let mut failed = quiet(8, 8000.0);
    failed.slices[0].read.errors = 1;
    assert_eq!(found(&[failed.clone()], &plain()), [(DoubtId::IoErrors, Weight::Caution)]);
    failed.slices[0].read.errors = 1000;
    assert_eq!(found(&[failed], &plain()), [(DoubtId::IoErrors, Weight::Spoils)]);
}

#[test]
fn ios_passed_over_are_said_and_counted_with_what_they_waited() {
    // Eight outstanding, two of them served in turn: 984 IOPS of 2.03 ms each hold two, so six were never served.
    let mut step = quiet(2, 984.0);
    step.load.demand = record::Demand::Closed { concurrency: 8 };
    step.slices.iter_mut().for_each(|s| s.outstanding_mean = 8.0);
    assert_eq!(found(&[step.clone()], &plain()), [(DoubtId::CountersDisagree, Weight::Caution)]);
    step.starved = record::Starved { ios: 6, waited_s: 6.0 * step.measured_s };
    assert_eq!(found(&[step.clone()], &plain()), [(DoubtId::Starved, Weight::Caution)]);
    let point = &points(&[step.clone()], plain().path.as_ref())[0];
    let by_littles_law_ns = 8.0 / point.iops * 1e9;
    assert!((point.response.mean_ns().unwrap() / by_littles_law_ns - 1.0).abs() < 0.02);
    assert_eq!((step.ios(), point.response.count()), (980, 986), "throughput counts what completed");
    // A device slower than the window passes nothing over: its completions account for what was outstanding.
    let mut slow = quiet(8, 4.0);
    slow.slices = vec![record::Slice { length_s: 1.0, outstanding_mean: 8.0, ..slow.slices[0].clone() }];
    let mut latency = record::LatencyHistogram::new();
    latency.record_many_ns(2_000_000_000, 4);
    slow.slices[0].read.latency = Some(latency);
    slow.starved = record::Starved { ios: 4, waited_s: 4.0 * slow.measured_s };
    assert_eq!(slow.unserved(), 0);
}

#[test]
fn threads_of_one_core_that_wait_for_each_other_disturb_nobody() {
    let waiting = |foreign: Option<f64>| {
        let mut step = quiet(8, 1000.0);
        let host = step.host.get_or_insert_default();
        (host.worker_run_delay, host.foreign_cores_busy) = (Some(0.16), foreign);
        found(&[step], &plain())
    };
    assert_eq!(waiting(Some(0.01)), []);
    assert_eq!(waiting(None), [(DoubtId::HostDisturbed, Weight::Caution)]);
}
