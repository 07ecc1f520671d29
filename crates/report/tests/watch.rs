//! A host sample as text, as JSON and on the screen, from invented numbers.
#![allow(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

use analyze::{Happening, HappeningKind};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use record::{
    AskerSample, ClassTotals, Counted, DeviceFacts, DeviceSample, HostSample, LatencyHistogram, LayerKind,
    LostEvents, ProcessSample, ProcessesSample, QueueSample, ScsiAnswers, SplitBy, TracedClass, TracedDevice,
    TracedHost,
};
use report::terminal::{Charset, Color, Style};
use report::watch::screen::{Action, Screen, draw};
use report::watch::{Order, TextOptions, View, block, line};
use serde_json::Value;
use std::sync::Arc;

fn device(name: &str, kind: LayerKind, label: Option<&str>, below: &[&str], above: &[&str]) -> DeviceSample {
    let owned = |names: &[&str]| names.iter().map(|n| (*n).to_owned()).collect();
    let mut device = DeviceSample::empty(Arc::new(DeviceFacts {
        name: name.to_owned(),
        kind,
        label: label.map(str::to_owned),
        disk: None,
        below: owned(below),
        above: owned(above),
        scheduler: None,
    }));
    device.counted = Counted::Yes;
    device.length_s = 1.0;
    device
}

fn busy(mut device: DeviceSample, iops: u64, host: f64, at_device: f64, limit: f64) -> DeviceSample {
    device.ever_used = true;
    let time_s = host + at_device;
    device.read = ClassTotals { count: iops, bytes: iops * 8192, merges: 3, time_s };
    device.inside = QueueSample::known(time_s);
    device.host_queue = QueueSample { peak: Some(host * 2.0), ..QueueSample::known(host) };
    device.device_queue = QueueSample { peak: Some(limit), ..QueueSample::known(at_device) };
    device.split_by = SplitBy::Readings;
    device.limits.device_queue = Some(limit);
    device
}

/// A multipath device with two paths, one of them with a lowered depth; a disk that was not read closely; a partition; a
/// disk that was never used.
fn sample() -> HostSample {
    let paths = ["sda", "sdb"];
    let mut sda = busy(device("sda", LayerKind::Scsi, None, &[], &["dm-0"]), 8000, 40.0, 31.8, 32.0);
    sda.limits.queue_depth = Some(32.0);
    sda.failed = Some(3);
    let mut sdb = busy(device("sdb", LayerKind::Scsi, None, &[], &["dm-0"]), 4345, 8.0, 15.9, 16.0);
    sdb.limits.queue_depth = Some(16.0);
    sdb.limits.queue_depth_highest = Some(32.0);
    let mut dm =
        busy(device("dm-0", LayerKind::Multipath, Some("data01"), &paths, &[]), 12_345, 48.0, 47.7, 48.0);
    dm.split_by = SplitBy::Below;
    let mut vda = busy(device("vda", LayerKind::Virtio, None, &[], &[]), 100, 0.0, 4.0, 128.0);
    vda.host_queue = QueueSample::between(0.0, 4.0);
    vda.device_queue = QueueSample::between(0.0, 4.0);
    vda.split_by = SplitBy::Bounds;
    let mut part = busy(device("vda1", LayerKind::Partition, None, &[], &[]), 100, 0.0, 4.0, 128.0);
    let facts = Arc::get_mut(&mut part.facts).unwrap();
    facts.disk = Some("vda".to_owned());
    let never = device("sdz", LayerKind::Scsi, None, &[], &[]);
    let processes = ProcessesSample {
        top: vec![ProcessSample {
            pid: 4242,
            name: "oracle_dbw0".to_owned(),
            read_mib_per_s: 96.4,
            write_mib_per_s: 0.5,
        }],
        seen: 100,
        hidden: 7,
    };
    HostSample {
        at_s: 1_790_000_000.0,
        length_s: 1.0,
        devices: vec![vda, part, sdb, never, sda, dm],
        processes: Some(processes),
        ..HostSample::default()
    }
}

fn names(view: &View, sample: &HostSample) -> Vec<String> {
    let name = |l: &report::watch::Line| sample.devices[l.place].facts.name.clone();
    view.lines(sample).iter().map(|l| format!("{}{}", "-".repeat(l.depth), name(l))).collect()
}

#[test]
fn devices_stand_where_the_most_ios_wait_with_their_paths_below() {
    let sample = sample();
    assert_eq!(names(&View::default(), &sample), ["dm-0", "-sda", "-sdb", "vda"]);
    let view = View { order: Order::Name, unused: true, ..View::default() };
    assert_eq!(names(&view, &sample), ["dm-0", "-sda", "-sdb", "sdz", "vda"]);
    let view = View { named: vec!["vda1".into(), "sdb".into()], ..View::default() };
    assert_eq!(names(&view, &sample), ["sdb", "vda1"], "what is named is shown, partitions too");
    let view = View { named: vec!["data01".into()], ..View::default() };
    assert_eq!(names(&view, &sample), ["dm-0", "-sda", "-sdb"]);
    assert_eq!(View { named: vec!["sdq".into()], ..View::default() }.missing(&sample), ["sdq"]);
    let view = View { filter: "SDB".into(), ..View::default() };
    assert_eq!(names(&view, &sample), ["dm-0", "-sda", "-sdb"], "the device above a match leads to it");
}

#[test]
fn text_keeps_80_columns_and_says_what_it_does_not_know() {
    let sample = sample();
    let told = [Happening {
        at_s: 0.0,
        device: "sda".into(),
        kind: HappeningKind::Failed,
        text: "3 commands did not succeed".into(),
    }];
    let text = block(
        &sample,
        &told,
        &View::default(),
        TextOptions { classes: true, ..TextOptions::default() },
        Style::default(),
    );
    for line in text.lines() {
        assert!(line.chars().count() <= 80, "{} columns: {line}", line.chars().count());
    }
    let row = |name: &str| {
        let line = text.lines().find(|l| l.trim_start().starts_with(name)).unwrap();
        line.split_whitespace().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(
        row("sda")[1..],
        ["8,000", "62.5", "8.0", "40.0", "31.8", "32", "5.000", "3.975", "8.975", "3"]
    );
    assert_eq!(row("vda")[4..7], ["<4.00", "<4.00", "128"], "bounds are marked");
    assert_eq!(row("vda")[7..], ["-", "-", "40.00", "-"], "what follows from the split is not known");
    assert_eq!(row("read")[..4], ["read", "12,345", "96.4", "8.0"]);
    for said in ["sda: 3 commands", "sdb: its queue depth stands at 16, below 32", "< at most, > at least"] {
        assert!(text.contains(said), "{said}:\n{text}");
    }
}

#[test]
fn a_long_name_stands_on_a_line_of_its_own() {
    let mut sample = sample();
    let dm = sample.devices.last_mut().unwrap();
    Arc::get_mut(&mut dm.facts).unwrap().label = Some("mpath_oradata_0001".into());
    let text = block(&sample, &[], &View::default(), TextOptions::default(), Style::default());
    let place = text.lines().position(|l| l == "mpath_oradata_0001").unwrap();
    assert!(text.lines().nth(place + 1).unwrap().starts_with("             12,345"), "{text}");
}

#[test]
fn json_keeps_the_contract_and_absent_is_null() {
    let sample = sample();
    let text = line(&sample, &[], &View::default());
    assert_eq!(text.matches('\n').count(), 1);
    let document: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(document["schema"], "plimsoll.watch/1");
    let device = |name: &str| {
        let devices = document["devices"].as_array().unwrap();
        devices.iter().find(|d| d["name"] == name).unwrap().clone()
    };
    let sda = device("sda");
    for (key, value) in [
        ("iops", 8000.0),
        ("mib_per_s", 62.5),
        ("host_queue", 40.0),
        ("device_queue", 31.8),
        ("device_queue_limit", 32.0),
        ("host_wait_us", 5000.0),
        ("service_us", 3975.0),
        ("response_us", 8975.0),
    ] {
        let seen = sda[key].as_f64().unwrap();
        assert!((seen - value).abs() < 1e-6 * value, "{key}: {seen}");
    }
    assert_eq!((sda["layer"].as_str(), sda["failed"].as_u64()), (Some("scsi"), Some(3)));
    assert_eq!(sda["read"]["count"], 8000);
    let vda = device("vda");
    for key in ["host_queue", "device_queue", "host_wait_us", "service_us", "task_set_full", "failed"] {
        assert!(vda.as_object().unwrap().contains_key(key) && vda[key].is_null(), "{key}: {}", vda[key]);
    }
    assert_eq!(vda["device_queue_range"], serde_json::json!([0.0, 4.0]));
}

fn screen(sample: &HostSample) -> Screen {
    let mut screen = Screen::new("db01".into(), 1.0, View::default(), Color::Never, Charset::Unicode);
    screen.take(sample, Vec::new());
    screen
}

fn drawn(screen: &Screen, width: u16, height: u16) -> String {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    terminal.draw(|frame| draw(frame, screen)).unwrap();
    let buffer = terminal.backend().buffer().clone();
    let rows = buffer.content.chunks(usize::from(width));
    rows.map(|row| row.iter().map(|c| c.symbol()).collect::<String>().trim_end().to_owned() + "\n").collect()
}

#[test]
fn the_screen_shows_queues_limits_details_and_processes() {
    let mut screen = screen(&sample());
    let text = drawn(&screen, 120, 30);
    for said in [
        "db01",
        "every 1 s",
        "by I/Os standing",
        "+data01",
        "12,345",
        "47.7 of 48",
        "░",
        "█",
        "host queue 48.0, peak 96",
    ] {
        assert!(text.contains(said), "{said}:\n{text}");
    }
    assert!(!text.contains("sda  "), "parts are folded until asked for:\n{text}");
    assert!(text.contains("oracle_dbw0 4242") && text.contains("96.4"), "{text}");
    screen.act(Action::Expand);
    screen.act(Action::Down);
    let text = drawn(&screen, 120, 30);
    assert!(text.contains("-data01") && text.contains("31.8 of 32"), "{text}");
    screen.act(Action::Down);
    let text = drawn(&screen, 120, 30);
    assert!(text.contains("queue depth 16, below 32"), "the details are of the selected device:\n{text}");
}

#[test]
fn keys_filter_order_pause_and_change_the_interval() {
    let mut screen = screen(&sample());
    screen.act(Action::Filter);
    assert!(screen.is_typing());
    for letter in "vda".chars() {
        screen.act(Action::Letter(letter));
    }
    screen.act(Action::Accept);
    let text = drawn(&screen, 100, 24);
    assert!(text.contains("filter: vda") && !text.contains("data01"), "{text}");
    screen.act(Action::Escape);
    assert!(drawn(&screen, 100, 24).contains("data01"));
    screen.act(Action::Order);
    assert!(drawn(&screen, 100, 24).contains("by host queue"));
    screen.act(Action::Pause);
    let mut quiet = sample();
    quiet.devices.truncate(1);
    screen.take(&quiet, Vec::new());
    let text = drawn(&screen, 100, 24);
    assert!(text.contains("PAUSED") && text.contains("data01"), "{text}");
    screen.act(Action::Pause);
    screen.take(&quiet, Vec::new());
    assert!(!drawn(&screen, 100, 24).contains("data01"));
    screen.act(Action::Slower);
    assert_eq!(screen.interval_s, 2.0);
    screen.act(Action::Faster);
    screen.act(Action::Faster);
    assert_eq!(screen.interval_s, 0.5);
    screen.act(Action::Help);
    assert!(drawn(&screen, 100, 30).contains("not yet sent to the device"));
}

#[test]
fn happenings_stay_in_sight() {
    let mut screen = screen(&sample());
    let fell = Happening {
        at_s: 1_790_000_000.0,
        device: "sdb".into(),
        kind: HappeningKind::DepthFell,
        text: "queue depth fell from 32 to 16".into(),
    };
    screen.take(&sample(), vec![fell]);
    for _ in 0..5 {
        screen.take(&sample(), Vec::new());
    }
    assert!(drawn(&screen, 80, 24).contains("sdb queue depth fell from 32 to 16"));
}

#[test]
fn any_size_of_terminal_is_drawn() {
    let mut screen = screen(&sample());
    for help in [false, true] {
        for (width, height) in [(1, 1), (10, 3), (40, 8), (80, 24), (300, 90)] {
            drawn(&screen, width, height);
        }
        if !help {
            screen.act(Action::Help);
        }
    }
    let text = drawn(&Screen::new(String::new(), 1.0, View::default(), Color::Never, Charset::Ascii), 80, 24);
    assert!(text.contains("the first interval is being measured") && text.is_ascii(), "{text}");
}

/// The same with a tracer: 8,000 reads of which 100 waited 50 ms; two processes; something lost.
fn traced() -> HostSample {
    let mut sample = sample();
    let times = |short_us: u64, long_us: u64| {
        let mut times = LatencyHistogram::new();
        times.record_many_ns(short_us * 1000, 7900);
        times.record_many_ns(long_us * 1000, 100);
        times
    };
    let mut sizes = [0; 16];
    sizes[4] = 8000;
    let read = TracedClass {
        ios: 8000,
        bytes: 8000 * 8192,
        host_queue: 40.0,
        device_queue: 31.8,
        host_wait: times(4000, 50_000),
        service: times(1000, 2000),
        sizes,
        ..TracedClass::default()
    };
    let scsi = ScsiAnswers { task_set_full: 3, ..ScsiAnswers::default() };
    let seen = TracedDevice { read: Some(read), requeues: 3, scsi: Some(scsi), ..TracedDevice::default() };
    let sda = sample.devices.iter_mut().find(|d| d.facts.name == "sda").unwrap();
    sda.split_by = SplitBy::Traced;
    sda.task_set_full = Some(3);
    sda.traced = Some(Arc::new(seen));
    let asker = |pid, name: &str, reads: u64, cgroup: Option<&str>| AskerSample {
        pid,
        name: name.to_owned(),
        cgroup: cgroup.map(str::to_owned),
        device: "sda".to_owned(),
        reads,
        read_bytes: reads * 8192,
        ..AskerSample::default()
    };
    let askers =
        vec![asker(71, "oracle_dbw0", 6000, Some("/db.slice")), asker(72, "oracle_ckpt", 2000, None)];
    sample.traced = Some(TracedHost {
        askers: Some(askers),
        ios_of_other_askers: 0,
        scsi: true,
        lost: LostEvents { completions: 2, ..LostEvents::default() },
    });
    sample
}

#[test]
fn what_a_tracer_saw_is_in_json_and_what_it_lost() {
    let document: Value = serde_json::from_str(&line(&traced(), &[], &View::default())).unwrap();
    assert_eq!((&document["source"], &document["not_shown"]), (&"tracer".into(), &serde_json::json!([])));
    assert_eq!(document["lost"]["completions"], 2);
    let sda = document["devices"].as_array().unwrap().iter().find(|d| d["name"] == "sda").unwrap().clone();
    let near = |pointer: &str, value: f64| {
        let seen =
            sda.pointer(pointer).and_then(Value::as_f64).unwrap_or_else(|| panic!("{pointer}: {sda:#}"));
        assert!((seen / value - 1.0).abs() < 0.01, "{pointer}: {seen}");
    };
    near("/host_wait_us", (7900.0 * 4000.0 + 100.0 * 50_000.0) / 8000.0);
    near("/host_wait_percentiles_us/p50", 4000.0);
    near("/host_wait_percentiles_us/p99", 50_000.0);
    near("/service_percentiles_us/p99", 2000.0);
    near("/read/traced/service_us", (7900.0 * 1000.0 + 100.0 * 2000.0) / 8000.0);
    assert_eq!(sda["split_by"], "traced");
    assert_eq!((&sda["task_set_full"], &sda["requeues"]), (&3.into(), &3.into()));
    assert_eq!((&sda["scsi"]["task_set_full"], &sda["scsi"]["busy"]), (&3.into(), &0.into()));
    assert_eq!(sda["read"]["traced"]["sizes"], serde_json::json!([{"to_bytes": 8192, "count": 8000}]));
    let askers = document["askers"].as_array().unwrap();
    assert_eq!((&askers[0]["process"], &askers[0]["per_s"]), (&"oracle_dbw0".into(), &6000.0.into()));
    assert_eq!((&askers[0]["cgroup"], &askers[1]["cgroup"]), (&"/db.slice".into(), &Value::Null));
}

#[test]
fn text_and_screen_tell_who_asks_how_long_and_what_was_lost() {
    let sample = traced();
    let options = TextOptions { percentiles: true, processes: true, unseen: true, ..TextOptions::default() };
    let text = block(&sample, &[], &View::default(), options, Style::default());
    for said in ["by tracer", "p99   50.", "the tracer lost 2 completions", "oracle_ckpt 72", "/db.slice"] {
        assert!(text.contains(said), "{said}:\n{text}");
    }
    assert!(text.lines().all(|l| l.chars().count() <= 80), "{text}");
    let mut screen = screen(&sample);
    screen.act(Action::Expand);
    screen.act(Action::Down);
    for (width, height) in [(80, 24), (160, 50)] {
        let text = drawn(&screen, width, height);
        for said in
            ["traced", "who asks sda", "oracle_dbw0 71", "p99  50.", "TASK SET FULL 3, requeued 3", "lost 2"]
        {
            assert!(text.contains(said), "{said}:\n{text}");
        }
    }
    assert!(drawn(&screen, 160, 50).contains("/db.slice"));
}

#[test]
fn what_counters_cannot_see_is_said_in_text_and_on_the_screen() {
    let mut sample = sample();
    sample.unseen = vec!["by counters alone: no percentiles; not permitted".to_owned()];
    let options = TextOptions { unseen: true, ..TextOptions::default() };
    let text = block(&sample, &[], &View::default(), options, Style::default());
    assert!(text.contains("by counters\n") && text.contains("not permitted"), "{text}");
    let text = block(&sample, &[], &View::default(), TextOptions::default(), Style::default());
    assert!(!text.contains("not permitted"), "once is enough: {text}");
    assert!(drawn(&screen(&sample), 80, 24).contains("by counters alone: no percentiles"));
}
