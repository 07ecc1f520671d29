//! What devices answered besides success, and what follows from it.

#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod support;

use analyze::{BoundLayer, Case, bound_by, points};
use record::{DepthSeen, DoubtId, LayerSeen, Step, SubjectFacts, Trouble};

fn layer(n: u32, depth: f64) -> LayerSeen {
    let queue = f64::from(n).min(depth);
    support::layer_seen("sda", 1000.0 * queue, f64::from(n) - queue, queue, Some(depth))
}

fn clean(n: u32, depth: f64) -> Step {
    support::step(n, 1000.0 * f64::from(n).min(depth), 0.2, vec![layer(n, depth)])
}

fn refused(n: u32, first: u32, last: u32) -> Step {
    let queue_depth = Some(DepthSeen { first, low: last, high: first, last });
    let mut step = clean(n, f64::from(first));
    step.incidents.troubles = vec![Trouble {
        device: "sda".into(),
        done: 2000,
        unsuccessful: 600,
        sent_again: 600,
        queue_depth,
        ..Trouble::default()
    }];
    step
}

fn subject(depth: f64) -> SubjectFacts {
    support::subject(support::path(vec![support::scsi("sda", depth, 256.0, "none")]))
}

fn verdict(steps: &[Step], subject: &SubjectFacts) -> analyze::BoundBy {
    let limit = record::LatencyLimit::default();
    let points = points(steps, subject.path.as_ref());
    bound_by(&Case::new(&points, subject, &limit).with_troubles(steps))
}

#[test]
fn queue_full_is_the_devices_and_the_advice_is_to_lower_the_depth() {
    let subject = subject(32.0);
    let steps = [clean(1, 32.0), clean(8, 32.0), clean(16, 32.0), refused(64, 32, 28), clean(16, 28.0)];
    let verdict = verdict(&steps, &subject);
    assert_eq!(verdict.layer, BoundLayer::Device);
    assert!(verdict.evidence[0].contains("600 times at 64 outstanding; none at 16 and below"), "{verdict:?}");
    let advice = &verdict.advice[0];
    assert_eq!((advice.now.as_deref(), advice.try_value.as_deref()), (Some("28"), Some("16")));
    assert!(advice.file.as_ref().unwrap().ends_with("sda/device/queue_depth"));
    let doubts = analyze::trouble::doubts(&steps, &subject);
    let text = |id| doubts.iter().find(|d| d.id == id).map(|d| d.text.clone()).unwrap();
    assert!(text(DoubtId::QueueDepthChanged).contains("lowered queue_depth from 32 to 28"));
    assert!(text(DoubtId::QueueDepthChanged).contains("120 s"), "{}", text(DoubtId::QueueDepthChanged));
    assert!(text(DoubtId::QueueFull).contains("TASK SET FULL or BUSY 600 times"));
}

#[test]
fn windows_of_another_queue_depth_are_no_points_of_the_curve() {
    let steps = [clean(1, 32.0), clean(8, 32.0), clean(32, 32.0), clean(32, 12.0), clean(64, 12.0)];
    let points = points(&steps, subject(32.0).path.as_ref());
    let seen: Vec<(u32, u64)> = points.iter().map(|p| (p.concurrency, p.iops.round() as u64)).collect();
    assert_eq!(seen, [(1, 1000), (8, 8000), (32, 12_000), (64, 12_000)]);
}

#[test]
fn a_depth_that_somebody_set_is_not_laid_at_queue_fulls_door() {
    let steps = [clean(32, 32.0), clean(32, 12.0)];
    let doubts = analyze::trouble::doubts(&steps, &subject(32.0));
    assert_eq!(doubts.len(), 1);
    assert!(doubts[0].text.contains("from 32 to 12") && doubts[0].text.contains("somebody set it"));
}

#[test]
fn timeouts_withdraw_the_advice_to_load_more() {
    let mut late = clean(8, 32.0);
    let trouble = Trouble { device: "sda".into(), done: 100, timed_out: 3, ..Trouble::default() };
    late.incidents.troubles = vec![trouble];
    late.incidents.slowest_us = Some(2e6);
    let subject = subject(32.0);
    let steps = [clean(1, 32.0), clean(4, 32.0), late];
    let verdict = verdict(&steps, &subject);
    assert!(verdict.layer == BoundLayer::Device && verdict.headline.contains("sda"), "{verdict:?}");
    assert!(verdict.advice.iter().all(|a| a.try_value.is_none()));
    let doubts = analyze::trouble::doubts(&steps, &subject);
    assert!(doubts[0].text.contains("3 commands timed out") && doubts[0].text.contains("2.00 s"));
}

#[test]
fn failed_ios_are_said_with_offset_device_and_count() {
    let mut step = clean(8, 32.0);
    step.incidents.failed = Some(record::FailedIos {
        count: 3,
        class: record::IoClass::Read,
        offset_bytes: [4096, 507_904],
        cause: "Input/output error (os error 5)".into(),
    });
    let text = &analyze::trouble::doubts(&[clean(1, 32.0), step], &subject(32.0))[0].text;
    for part in ["3 I/Os failed", "bytes 4096 and 507904", "(sda)", "Input/output error"] {
        assert!(text.contains(part), "{text}");
    }
}
