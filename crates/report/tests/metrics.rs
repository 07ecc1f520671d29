//! The metrics of a host with everything, and that dashboard and alerts ask for nothing that is not there.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use analyze::totals::Totals;
use record::*;
use report::metrics::{Format, text};
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

fn host() -> Totals {
    let mut d = DeviceSample::empty(Arc::new(DeviceFacts {
        name: "sda".to_owned(),
        kind: LayerKind::Scsi,
        label: Some("data \"01\"".to_owned()),
        disk: None,
        below: Vec::new(),
        above: Vec::new(),
        scheduler: Some("none".to_owned()),
    }));
    (d.counted, d.length_s, d.ever_used) = (Counted::Yes, 1.0, true);
    d.read = ClassTotals { count: 8000, bytes: 8000 * 8192, merges: 2, time_s: 71.8 };
    (d.discard, d.flush) = (Some(ClassTotals::default()), Some(ClassTotals::default()));
    d.inside = QueueSample::known(71.8);
    d.host_queue = QueueSample::known(40.0);
    d.device_queue = QueueSample::known(31.8);
    d.limits = DeviceLimits {
        device_queue: Some(32.0),
        queue_depth: Some(32.0),
        queue_depth_highest: Some(64.0),
        ..DeviceLimits::default()
    };
    (d.failed, d.timed_out, d.task_set_full) = (Some(3), Some(0), Some(2));
    let mut class = TracedClass { ios: 8000, ..TracedClass::default() };
    class.host_wait.record_many_ns(5_000_000, 8000);
    class.service.record_many_ns(3_975_000, 8000);
    d.traced = Some(Arc::new(TracedDevice { read: Some(class), requeues: 2, ..TracedDevice::default() }));
    let mut totals = Totals::new(10);
    totals.add(&HostSample { at_s: 1.7e9, length_s: 1.0, devices: vec![d], ..HostSample::default() });
    totals
}

fn has(text: &str, line: &str) {
    assert!(text.lines().any(|l| l == line), "{line} is not in\n{text}");
}

#[test]
fn every_figure_stands_under_its_name() {
    let shown = text(&host(), 1.0, "0.1.0", Format::OpenMetrics);
    for line in [
        "# TYPE plimsoll_device info",
        "plimsoll_device_info{device=\"sda\",label=\"data \\\"01\\\"\",layer=\"scsi\",scheduler=\"none\"} 1",
        "# TYPE plimsoll_device_io_bytes counter",
        "# UNIT plimsoll_device_io_bytes bytes",
        "plimsoll_device_io_bytes_total{device=\"sda\",class=\"read\"} 65536000",
        "plimsoll_device_queue_seconds_total{device=\"sda\",queue=\"host\"} 40",
        "plimsoll_device_queue_seconds_total{device=\"sda\",queue=\"device\"} 31.8",
        "plimsoll_device_queue_limit_ios{device=\"sda\"} 32",
        "plimsoll_device_task_set_full_total{device=\"sda\"} 2",
        "plimsoll_device_service_seconds_bucket{device=\"sda\",class=\"read\",le=\"0.00390625\"} 0",
        "plimsoll_device_service_seconds_bucket{device=\"sda\",class=\"read\",le=\"0.0078125\"} 8000",
        "plimsoll_device_service_seconds_sum{device=\"sda\",class=\"read\"} 31.8",
        "plimsoll_device_service_seconds_count{device=\"sda\",class=\"read\"} 8000",
    ] {
        has(&shown, line);
    }
    assert!(shown.ends_with("\n# EOF\n"));
    let older = text(&host(), 1.0, "0.1.0", Format::Prometheus);
    has(&older, "# TYPE plimsoll_device_io_bytes_total counter");
    has(&older, "# TYPE plimsoll_device_info gauge");
    assert!(!older.contains("# UNIT") && !older.contains("# EOF"));
}

#[test]
fn a_host_without_devices_still_has_its_own_figures() {
    let shown = text(&Totals::new(1), 1.0, "0.1.0", Format::OpenMetrics);
    has(&shown, "plimsoll_build_info{version=\"0.1.0\"} 1");
    has(&shown, "plimsoll_traced 0");
    assert!(!shown.contains("plimsoll_device_queue_limit_ios"));
}

#[test]
fn the_number_of_series_of_a_device_is_bounded() {
    let series = |totals: &Totals| {
        text(totals, 1.0, "0.1.0", Format::OpenMetrics).lines().filter(|l| !l.starts_with('#')).count()
    };
    let of_one = series(&host()) - series(&Totals::new(1));
    assert!(of_one <= 130, "{of_one} with everything there is");
}

#[test]
fn a_thousand_devices_are_drawn_in_milliseconds() {
    let mut totals = Totals::new(2000);
    let one = host();
    let facts = &one.devices().next().unwrap().facts;
    let device = |index: usize| {
        let mut d =
            DeviceSample::empty(Arc::new(DeviceFacts { name: format!("sd{index}"), ..(**facts).clone() }));
        (d.counted, d.length_s, d.ever_used) = (Counted::Yes, 1.0, true);
        d.read = ClassTotals { count: 8123, bytes: 8123 * 8192, merges: 2, time_s: 71.812 };
        (d.discard, d.flush) = (Some(ClassTotals::default()), Some(ClassTotals::default()));
        (d.host_queue, d.device_queue) = (QueueSample::known(40.123), QueueSample::known(31.87));
        d.limits.device_queue = Some(32.0);
        d
    };
    let devices = (0..1000).map(device).collect();
    totals.add(&HostSample { at_s: 1.7e9, length_s: 1.0, devices, ..HostSample::default() });
    let began = std::time::Instant::now();
    let rounds = 10;
    let bytes = (0..rounds).map(|_| text(&totals, 1.0, "0.1.0", Format::OpenMetrics).len()).max().unwrap();
    let each_ms = began.elapsed().as_secs_f64() * 1e3 / f64::from(rounds);
    eprintln!("1000 devices: {each_ms:.2} ms, {bytes} bytes");
    assert!(each_ms < 200.0, "{each_ms} ms");
}

/// Names that look like metrics of ours.
fn names(text: &str) -> BTreeSet<String> {
    let words = text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == ':'));
    words.filter(|w| w.starts_with("plimsoll_")).map(str::to_owned).collect()
}

#[test]
fn dashboard_alerts_and_page_name_only_what_is_offered() {
    let shown = text(&host(), 1.0, "0.1.0", Format::OpenMetrics);
    let offered: BTreeSet<String> = shown
        .lines()
        .filter(|l| !l.starts_with('#'))
        .flat_map(|l| l.split(['{', ' ']).next().map(str::to_owned))
        .collect();
    let families: BTreeSet<String> = shown
        .lines()
        .filter_map(|l| l.strip_prefix("# TYPE ")?.split(' ').next().map(str::to_owned))
        .collect();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let read = |file: &str| std::fs::read_to_string(root.join(file)).unwrap();
    for file in ["metrics/grafana-dashboard.json", "metrics/alerts.yml", "metrics/alerts-test.yml"] {
        let asked = names(&read(file));
        assert!(asked.len() > 5, "{file}");
        for name in asked {
            assert!(offered.contains(&name), "{file} asks for {name}");
        }
    }
    let page = names(&read("docs/export.md"));
    for name in &page {
        assert!(
            offered.contains(name) || families.contains(name),
            "docs/export.md explains {name}, which is not offered"
        );
    }
    for name in &offered {
        let family = ["_bucket", "_sum", "_count"].iter().find_map(|end| name.strip_suffix(end));
        assert!(
            page.contains(name) || family.is_some_and(|f| page.contains(f)),
            "docs/export.md does not explain {name}"
        );
    }
    let dashboard: serde_json::Value = serde_json::from_str(&read("metrics/grafana-dashboard.json")).unwrap();
    assert!(dashboard["panels"].as_array().unwrap().len() >= 8);
}
