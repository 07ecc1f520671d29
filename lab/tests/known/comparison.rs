//! Outcomes made up to be right, then made wrong in one place: exactly that check must fail.

use crate::compare::{self, Check, Quantity};
use crate::outcome::{Applied, JobOutcome, Outcome};
use crate::rig::Rig;
use crate::{boot, rig_of};
use serde_json::{Value, json};

const NS: [u32; 6] = [1, 2, 4, 8, 16, 32];

fn two_probes() -> Rig {
    rig_of(
        "scsi = {}\nset = { \"lun0.scheduler\" = \"none\", \"lun0.queue_depth\" = \"4\" }\njob = [{ name = \"before\", probe = \"lun0\" }, { name = \"change\", apply_advice_of = \"before\" }, { name = \"after\", probe = \"lun0\" }]",
    )
}

/// A document as a probe of a LUN of this depth would give, 2 % of processor time included.
fn document(depth: u32, with_response: bool) -> Value {
    let steps: Vec<Value> = NS
        .iter()
        .map(|&n| {
            let served = f64::from(n.min(depth));
            let iops = served / 1020.0 * 1e6;
            let mean = with_response.then_some(f64::from(n) / iops * 1e6);
            json!({
                "concurrency": n, "iops": iops, "response_us": { "mean": mean }, "above": 0.01 * served,
                "host_queue": f64::from(n) - served, "device_queue": 0.99 * served
            })
        })
        .collect();
    let expected = f64::from((2 * depth).min(32)) / 1020.0 * 1e6;
    json!({
        "verdict": "about 4 k IOPS",
        "knee": { "concurrency": 0.98 * f64::from(depth) },
        "bound_by": {
            "layer": "device-queue-limit", "headline": "the LUN queue depth of sda (4)",
            "evidence": ["device queue 4.0 of 4 on sda"],
            "advice": [{
                "text": "Raise it.", "file": "/sys/block/sda/device/queue_depth", "now": depth.to_string(),
                "try_value": (2 * depth).to_string(), "expected": "more",
                "expected_iops": expected, "expected_concurrency": 32
            }]
        },
        "steps": steps,
        "warnings": [{ "text": "host disturbed: a little" }]
    })
}

fn right() -> Outcome {
    let mut outcome = boot(&[("lun0", "sda")]);
    let probe =
        |depth| JobOutcome { exit: Some(0), probe: Some(document(depth, true)), ..JobOutcome::default() };
    let change = JobOutcome {
        applied: Some(Applied {
            file: "/sys/block/sda/device/queue_depth".to_owned(),
            before: "4".to_owned(),
            written: "8".to_owned(),
            after: "8\n".to_owned(),
        }),
        ..JobOutcome::default()
    };
    outcome.jobs = vec![probe(4), change, probe(8)];
    outcome
}

fn failed(rig: &Rig, outcome: &Outcome) -> Vec<(String, Quantity, Option<u32>)> {
    let checks = compare::rig("made-up", "6.12", rig, outcome);
    checks.into_iter().filter(Check::failed).map(|c| (c.job, c.quantity, c.n)).collect()
}

/// Fails exactly where it was made wrong.
fn only(change: impl FnOnce(&mut Outcome), job: &str, quantity: Quantity, n: Option<u32>) {
    let mut outcome = right();
    change(&mut outcome);
    assert_eq!(failed(&two_probes(), &outcome), [(job.to_owned(), quantity, n)]);
}

fn at<'a>(outcome: &'a mut Outcome, job: usize, pointer: &str) -> &'a mut Value {
    let document = outcome.jobs[job].probe.as_mut().expect("a probe");
    document.pointer_mut(pointer).expect("the document has it")
}

#[test]
fn right_passes_and_is_counted() {
    let checks = compare::rig("made-up", "6.12", &two_probes(), &right());
    assert!(
        !checks.iter().any(Check::failed),
        "{:#?}",
        checks.iter().filter(|c| c.failed()).collect::<Vec<_>>()
    );
    for quantity in [
        Quantity::BoundBy,
        Quantity::AdviceFile,
        Quantity::AdviceValue,
        Quantity::AdviceExpects,
        Quantity::Prediction,
        Quantity::Applied,
        Quantity::Knee,
        Quantity::Throughput,
        Quantity::Response,
        Quantity::HostQueue,
        Quantity::DeviceQueue,
    ] {
        assert!(checks.iter().any(|c| c.quantity == quantity && c.counted), "{quantity:?} was not compared");
    }
}

#[test]
fn each_wrong_figure_is_found() {
    only(|o| *at(o, 0, "/steps/3/iops") = json!(4220.0), "before", Quantity::Throughput, Some(8));
    only(|o| *at(o, 0, "/steps/3/iops") = json!(null), "before", Quantity::Throughput, Some(8));
    only(|o| *at(o, 0, "/steps/2/response_us/mean") = json!(1060.0), "before", Quantity::Response, Some(4));
    only(|o| *at(o, 0, "/steps/5/host_queue") = json!(26.5), "before", Quantity::HostQueue, Some(32));
    only(|o| *at(o, 0, "/steps/5/host_queue") = json!(null), "before", Quantity::HostQueue, Some(32));
    only(|o| *at(o, 2, "/steps/0/device_queue") = json!(0.6), "after", Quantity::DeviceQueue, Some(1));
    only(|o| *at(o, 0, "/steps/0/above") = json!(0.4), "before", Quantity::Above, Some(1));
    only(|o| *at(o, 0, "/knee/concurrency") = json!(4.6), "before", Quantity::Knee, None);
    only(|o| *at(o, 0, "/knee") = json!(null), "before", Quantity::Knee, None);
}

#[test]
fn each_wrong_word_is_found() {
    only(|o| *at(o, 0, "/bound_by/layer") = json!("host-queue"), "before", Quantity::BoundBy, None);
    let nr = json!("/sys/block/sda/queue/nr_requests");
    only(|o| *at(o, 0, "/bound_by/advice/0/file") = nr, "before", Quantity::AdviceFile, None);
    let other = json!("/sys/block/sdaa/device/queue_depth");
    only(|o| *at(o, 0, "/bound_by/advice/0/file") = other, "before", Quantity::AdviceFile, None);
    only(|o| *at(o, 2, "/bound_by/advice/0/try_value") = json!("32"), "after", Quantity::AdviceValue, None);
    only(
        |o| *at(o, 2, "/bound_by/advice/0/expected_iops") = json!(9e3),
        "after",
        Quantity::AdviceExpects,
        Some(32),
    );
}

#[test]
fn a_wrong_prediction_is_found_twice() {
    let mut outcome = right();
    *at(&mut outcome, 0, "/bound_by/advice/0/expected_iops") = json!(7000.0);
    let wrong = [Quantity::AdviceExpects, Quantity::Prediction].map(|q| ("before".to_owned(), q, Some(32)));
    assert_eq!(failed(&two_probes(), &outcome), wrong);
    // Without a figure that can be read nothing was predicted.
    *at(&mut outcome, 0, "/bound_by/advice/0/expected_concurrency") = json!(null);
    let silent = [Quantity::AdviceExpects, Quantity::Prediction].map(|q| ("before".to_owned(), q, None));
    assert_eq!(failed(&two_probes(), &outcome), silent);
}

#[test]
fn boots_and_jobs_that_went_wrong_are_found() {
    only(|o| o.finished = false, "before", Quantity::Finished, None);
    only(|o| o.complaints.push("no modprobe".to_owned()), "before", Quantity::Finished, None);
    only(|o| o.jobs[2].exit = Some(4), "after", Quantity::Exit, None);
    only(|o| o.jobs[2].exit = None, "after", Quantity::Exit, None);
    let after = |o: &mut Outcome| o.jobs[1].applied.as_mut().expect("applied").after = "4".to_owned();
    let mut outcome = right();
    after(&mut outcome);
    assert!(failed(&two_probes(), &outcome).contains(&("change".to_owned(), Quantity::Applied, None)));
    let mut outcome = right();
    outcome.jobs[2].probe = None;
    let missing = failed(&two_probes(), &outcome);
    assert!(missing.contains(&("after".to_owned(), Quantity::Document, None)), "{missing:?}");
    let mut outcome = right();
    outcome.jobs.truncate(1);
    assert_eq!(failed(&two_probes(), &outcome).iter().filter(|f| f.1 == Quantity::Document).count(), 2);
}

#[test]
fn what_is_declared_goes_before_what_is_computed() {
    let declared = |expect: &str| {
        let text = format!(
            "scsi = {{}}\nset = {{ \"lun0.scheduler\" = \"none\", \"lun0.queue_depth\" = \"4\" }}\njob = [{{ name = \"p\", probe = \"lun0\", expect = {{ {expect} }} }}]"
        );
        let mut outcome = right();
        outcome.jobs.truncate(1);
        failed(&rig_of(&text), &outcome).into_iter().map(|f| f.1).collect::<Vec<_>>()
    };
    assert!(declared("").is_empty());
    assert_eq!(declared("bound_by = \"path\""), [Quantity::BoundBy]);
    assert_eq!(declared("advice_file = \"\""), [Quantity::AdviceFile]);
    assert_eq!(declared("advice_file = \"nr_requests\""), [Quantity::AdviceFile]);
    assert_eq!(declared("says = [\"queue depth of sda\", \"QUEUE FULL\"]"), [Quantity::Says]);
    assert_eq!(declared("warns = [\"disturbed\", \"tainted\"]"), [Quantity::Warns]);
    assert_eq!(declared("plateau_iops = 3000.0"), [Quantity::Plateau]);
    assert_eq!(declared("exit = 1"), [Quantity::Exit]);
}

#[test]
fn what_does_not_count_is_shown_only() {
    let shown = |text: &str, quantity: Quantity, n: u32| {
        let mut outcome = right();
        outcome.jobs.truncate(1);
        *at(&mut outcome, 0, "/steps/5/iops") = json!(1.0);
        let checks = compare::rig("made-up", "6.12", &rig_of(text), &outcome);
        let found = checks.iter().find(|c| c.quantity == quantity && c.n == Some(n)).cloned().expect("shown");
        (found.counted, found.pass)
    };
    let set = |depth: u32, expect: &str| {
        format!(
            "scsi = {{}}\nset = {{ \"lun0.scheduler\" = \"none\", \"lun0.queue_depth\" = \"{depth}\" }}\njob = [{{ name = \"p\", probe = \"lun0\", expect = {{ {expect} }} }}]"
        )
    };
    assert_eq!(shown(&set(4, ""), Quantity::Throughput, 32), (true, false), "eight times the depth counts");
    assert_eq!(shown(&set(2, ""), Quantity::Throughput, 32), (false, false), "sixteen times does not");
    assert_eq!(shown(&set(64, ""), Quantity::Throughput, 32), (false, false), "32 k IOPS is the processor's");
    assert_eq!(shown(&set(4, "skip = [\"iops\"]"), Quantity::Throughput, 32), (false, false));
}

#[test]
fn the_table_puts_failures_first_and_the_same_twice() {
    let mut outcome = right();
    *at(&mut outcome, 0, "/bound_by/layer") = json!("unknown");
    let mut checks = compare::rig("zebra|crossing", "6.12", &two_probes(), &outcome);
    checks.extend(compare::rig("antelope", "6.1", &two_probes(), &right()));
    let page = compare::table(&checks);
    let place = |text: &str| page.find(text).unwrap_or_else(|| panic!("no {text:?} in\n{page}"));
    assert!(place("1 failed") < place("## Failed"));
    assert!(place("| bound-by | - | device-queue-limit | unknown | - | exact |") < place("## Each boot"));
    assert!(place("## antelope, kernel 6.1") < place("## zebra/crossing, kernel 6.12"));
    assert!(place("| 8 | 4000 / 3922 | 2000 / 2040 |") > place("### before"));
    checks.reverse();
    assert_eq!(page, compare::table(&checks), "the order of the checks does not matter");
    let document: Value = serde_json::from_str(&compare::json(&checks)).expect("JSON");
    assert_eq!(document["checks"].as_array().map(Vec::len), Some(checks.len()));
    let clean = compare::table(&compare::rig("antelope", "6.1", &two_probes(), &right()));
    assert!(!clean.contains("## Failed"));
}

#[test]
fn what_an_uneven_pair_loses_is_shown() {
    let rig = rig_of(
        "scsi = { hosts = 2, same_unit = true, can_queue = 64 }\ndm = [{ name = \"mp0\", target = \"multipath\", on = [\"lun0\", \"lun1\"], selector = \"service-time\", queue_mode = \"mq\" }]\nset = { \"lun0.queue_depth\" = \"4\", \"lun1.queue_depth\" = \"16\" }\njob = [{ name = \"p\", probe = \"mp0\" }]",
    );
    let mut outcome = right();
    outcome.jobs.truncate(1);
    *at(&mut outcome, 0, "/steps/5/iops") = json!(9000.0);
    let checks = compare::rig("made-up", "6.12", &rig, &outcome);
    let lost = checks.iter().find(|c| c.quantity == Quantity::Lost).expect("shown");
    assert_eq!((lost.n, lost.counted), (Some(32), false));
    let page = compare::table(&checks);
    assert!(page.contains("- lost at 32: 0.00..1.00 / 0.55 ~ (shown only)"), "{page}");
    assert!(page.contains("- paths of unequal depth: bounds only"), "{page}");
    // More than all paths together can carry is wrong whatever the selector does.
    *at(&mut outcome, 0, "/steps/5/iops") = json!(22_000.0);
    let wrong = failed(&rig, &outcome);
    assert!(wrong.contains(&("p".to_owned(), Quantity::Throughput, Some(32))), "{wrong:?}");
}
