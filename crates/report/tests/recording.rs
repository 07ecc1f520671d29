//! A recording in the terminal and as JSON: answers and refusals.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use analyze::passive::{Interval, Passive, ProbeLine, compare};
use record::run::RunDocument;
use report::recording::{DeviceReport, RecordingReport, document, text};
use report::terminal::Style;
use stats::queueing::open_wait;

const START_S: f64 = 1.7e9;

/// An hour of eight servers of 4 ms up to this share of what they carry, by the formula.
fn hour(most: f64) -> Passive {
    let mut passive = Passive::default();
    for second in 0..3600 {
        let phase = (std::f64::consts::TAU * f64::from(second) / 3600.0).cos();
        let share = 0.1 + (most - 0.1) * (0.5 - 0.5 * phase);
        let iops = share * 2000.0;
        let waiting = iops * 0.004 * open_wait(8, share * 8.0);
        passive.interval(
            "sda",
            &Interval {
                at_s: START_S + f64::from(second),
                length_s: 1.0,
                requests: iops,
                reads: iops,
                bytes: iops * 8192.0,
                inside: Some(iops * 0.004 + waiting),
                host_queue: Some(waiting),
                device_queue: Some(iops * 0.004),
                device_queue_peak: None,
            },
        );
    }
    passive
}

fn report(most: f64, with: impl Fn(&mut DeviceReport)) -> RecordingReport {
    let passive = hour(most);
    let mut devices: Vec<DeviceReport> = passive
        .conclude(|_, _| true)
        .into_iter()
        .map(|line| DeviceReport { line, iops_at_limit: None, probed: None })
        .collect();
    devices.iter_mut().for_each(with);
    RecordingReport {
        folder: "monday".to_owned(),
        document: RunDocument::new("record", "0.1.0", "2026-01-02T03:04:05Z"),
        finished: true,
        span_s: passive.span_s(),
        tally: Default::default(),
        rows: 3600,
        complaints: Vec::new(),
        limit: None,
        devices,
    }
}

#[test]
fn a_limit_that_was_approached_is_told_first() {
    let report = report(0.95, |d| d.iops_at_limit = d.line.curve.unwrap().iops_at(8000.0));
    let mut report = report;
    report.limit = Some("mean<8ms".parse().unwrap());
    let shown = text(&report, Style::default());
    let line = |label: &str| {
        shown.lines().find(|l| l.trim_start().starts_with(label)).unwrap_or_else(|| panic!("{shown}"))
    };
    assert!(line("Limit").contains("mean<8ms is reached at 1,8"), "{shown}");
    let carries = line("Carries");
    let number: f64 = carries.split_whitespace().nth(1).unwrap().replace(',', "").parse().unwrap();
    assert!((number / 2000.0 - 1.0).abs() < 0.05, "{carries}");
    assert!(
        shown.contains("what is added waits in the host queue") || shown.contains("waits in both"),
        "{shown}"
    );
    assert!(shown.lines().all(|l| l.chars().count() <= 80), "{shown}");
    let json: serde_json::Value = serde_json::from_str(&document(&report)).unwrap();
    let device = &json["devices"][0];
    assert_eq!((&json["schema"], &device["device"]), (&"plimsoll.recording/1".into(), &"sda".into()));
    assert!(device["cannot_tell"].is_null() && device["curve"]["iops_max"].as_f64().unwrap() > 1900.0);
    assert!((device["peak_share"].as_f64().unwrap() - 0.95).abs() < 0.06, "{device:#}");
    assert!(device["peak_share_of_limit"].as_f64().unwrap() > 1.0);
}

#[test]
fn a_refusal_gives_its_reason_and_what_is_sure() {
    let report = report(0.5, |_| {});
    let shown = text(&report, Style::default());
    assert!(shown.contains("Cannot tell") && shown.contains("never came near a limit"), "{shown}");
    // The mean of the highest loads, a per cent or so below the very highest.
    let sure = report.devices[0].line.cannot_tell.as_ref().unwrap().iops_at_least;
    assert!(
        (980.0..=1000.0).contains(&sure) && shown.contains(&format!("at least {sure:.0} requests/s")),
        "{shown}"
    );
    assert!(shown.contains("never above"), "{shown}");
    let json: serde_json::Value = serde_json::from_str(&document(&report)).unwrap();
    assert_eq!(json["devices"][0]["cannot_tell"]["why"], "flat");
    assert!(json["devices"][0]["peak_share"].is_null() && json["devices"][0]["probe"].is_null());
}

#[test]
fn a_probe_beside_it_gives_the_share_of_its_load_line() {
    let probe = ProbeLine {
        iops: 1612.9,
        ci95: [1550.0, 1680.0],
        request_bytes: Some(8192.0),
        read_share: 1.0,
        limit: "p99<10ms".to_owned(),
    };
    let shares = report(0.5, |d| d.probed = Some(compare(&d.line.peak.unwrap(), &probe)));
    let shown = text(&shares, Style::default());
    assert!(
        shown.contains("at 62 % of the load line (60 to 65 %)")
            || shown.contains("at 62 % of the load line (59"),
        "{shown}"
    );
    let refused = report(0.5, |d| d.probed = Some(Err("cannot be compared".to_owned())));
    assert!(text(&refused, Style::default()).contains("cannot be compared"), "{shown}");
    let json: serde_json::Value = serde_json::from_str(&document(&refused)).unwrap();
    assert_eq!(json["devices"][0]["probe"]["cannot_compare"], "cannot be compared");
}
