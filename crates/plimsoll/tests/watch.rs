//! `plimsoll watch` on real devices: its contract, its figures beside those of iostat, two devices told apart.
//!
//! The machine may be busy with something else, so figures are compared over the same seconds, and a round spoilt by
//! noise is repeated; a difference that stays fails.
#![allow(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

mod support;

use serde_json::Value;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};
use support::command::{Running, plain, plimsoll};
use support::document::number;
use support::loopdev::LoopDevice;
use support::{Turn, program};

const BYTES: usize = 64 << 20;
const ROUNDS: usize = 5;

/// fio on a device, ended by its own clock or when dropped.
fn load(device: &Path, flags: &str) -> Running {
    let mut command = plain("fio");
    command.arg(format!("--filename={}", device.display())).args(flags.split_whitespace());
    command.args(["--name=load", "--readonly", "--rw=randread", "--direct=1", "--ioengine=libaio"]);
    command.args(["--time_based", "--runtime=40", "--norandommap"]);
    Running::spawn(command)
}

fn device<'d>(document: &'d Value, name: &str) -> &'d Value {
    let devices = document["devices"].as_array().unwrap();
    devices.iter().find(|d| d["name"] == name).unwrap_or_else(|| panic!("{name} is not in {document:#}"))
}

/// A key of the contract: there, and a number or null.
fn promised(device: &Value, key: &str) -> Option<f64> {
    let value = device.get(key).unwrap_or_else(|| panic!("{key} is missing in {device:#}"));
    assert!(value.is_number() || value.is_null(), "{key}: {value}");
    value.as_f64()
}

#[test]
fn once_as_json_is_one_line_that_keeps_the_contract() {
    let ended = plimsoll(["watch", "--once", "--json", "--all", "--interval", "200ms"]).expect(0);
    assert_eq!(ended.stdout.matches('\n').count(), 1, "{}", ended.stdout);
    assert!(ended.stderr.is_empty(), "{}", ended.stderr);
    let document = ended.json();
    assert_eq!(document["schema"], "plimsoll.watch/1");
    assert!((0.2..5.0).contains(&number(&document, "/interval_s")), "{}", document["interval_s"]);
    let devices = document["devices"].as_array().unwrap();
    let in_sysfs = support::names(Path::new("/sys/block"));
    for device in devices {
        let name = device["name"].as_str().unwrap();
        assert!(in_sysfs.iter().any(|n| *n == name.replace('/', "!")), "{name} is no device of this host");
        for key in [
            "iops",
            "mib_per_s",
            "host_queue",
            "device_queue",
            "device_queue_limit",
            "host_wait_us",
            "service_us",
            "response_us",
            "task_set_full",
        ] {
            promised(device, key);
        }
        if device["layer"] != "scsi" || document["source"] == "counters" {
            assert!(device["task_set_full"].is_null(), "only SCSI has it, and only a tracer knows it");
        }
        if device["read"]["count"] == 0 && device["write"]["count"] == 0 {
            assert!(device["response_us"].is_null(), "no I/O has no response time, not 0: {device:#}");
        }
    }
    assert!(devices.len() >= in_sysfs.len().min(1));
}

#[test]
fn lines_repeat_their_heading_and_keep_80_columns() {
    let ended = plimsoll(["watch", "--count", "2", "--interval", "150ms", "--all", "--classes"]).expect(0);
    let headings = ended.stdout.lines().filter(|l| l.starts_with("device ")).count();
    assert_eq!(headings, 2, "{}", ended.stdout);
    assert!(ended.stdout.contains("mean time, ms") && ended.stdout.contains("MiB/s"), "{}", ended.stdout);
    assert!(ended.stdout.lines().all(|l| l.chars().count() <= 80), "{}", ended.stdout);
    assert!(!ended.stdout.contains('\x1b'), "no colours into a pipe");
}

#[test]
fn wrong_usage_is_refused_with_the_reason() {
    for (args, why) in [
        (vec!["watch", "nosuchdisk", "--once"], "no such block device: nosuchdisk"),
        (vec!["watch", "/dev/nosuchdisk", "--once"], "/dev/nosuchdisk"),
        (vec!["watch", "--interval", "1ms", "--once"], "at least 100ms"),
        (vec!["watch", "--count", "0"], "count"),
        (vec!["watch", "--once", "--count", "3"], "cannot be used with"),
    ] {
        let ended = plimsoll(&args).expect(2);
        assert!(ended.stderr.contains(why) && ended.stdout.is_empty(), "{args:?}: {}", ended.stderr);
    }
}

#[test]
fn a_signal_ends_it_at_once_with_130_and_a_closed_pipe_with_0() {
    let mut running = Running::start(["watch", "--json", "--interval", "30s"]);
    // The handler is there once the counters were read for the first time.
    std::thread::sleep(Duration::from_millis(800));
    assert!(running.is_running());
    let began = Instant::now();
    running.signal(rustix::process::Signal::TERM);
    running.end().expect(130);
    assert!(began.elapsed() < Duration::from_secs(2), "it waited for the interval");
    let binary = support::command::BINARY;
    let head = Command::new("sh")
        .args(["-c", &format!("{binary} watch --json --interval 150ms | head -n 1; echo ${{PIPESTATUS:-0}}")])
        .output()
        .unwrap();
    assert!(String::from_utf8_lossy(&head.stdout).starts_with("{\"schema\""), "{head:?}");
    assert!(head.stderr.is_empty(), "{}", String::from_utf8_lossy(&head.stderr));
}

/// What both tools say of one device over the same seconds.
#[derive(Clone, Copy, Debug)]
struct Seen {
    reads_per_s: f64,
    kib: f64,
    response_ms: f64,
}

fn by_iostat(document: &Value, name: &str) -> Option<Seen> {
    let disks = document.pointer("/sysstat/hosts/0/statistics/0/disk")?.as_array()?;
    let disk = disks.iter().find(|d| d["disk_device"] == name)?;
    let number = |key: &str| disk[key].as_f64();
    Some(Seen { reads_per_s: number("r/s")?, kib: number("rareq-sz")?, response_ms: number("r_await")? })
}

fn by_watch(document: &Value, name: &str) -> Seen {
    let read = &device(document, name)["read"];
    Seen {
        reads_per_s: number(read, "/per_s"),
        kib: number(read, "/request_bytes") / 1024.0,
        response_ms: number(read, "/response_us") / 1e3,
    }
}

#[test]
fn rates_sizes_and_response_times_are_those_of_iostat() {
    if program("iostat").is_none() || program("fio").is_none() {
        skip!("iostat (sysstat) and fio are needed");
    }
    let loop_device = or_skip!(LoopDevice::new(BYTES));
    let _turn = Turn::take();
    let load = load(&loop_device.device, "--bs=8k --iodepth=96");
    std::thread::sleep(Duration::from_millis(800));
    let mut seen = Vec::new();
    for _ in 0..ROUNDS {
        let mut iostat = plain("iostat");
        iostat.args(["-dxy", "-o", "JSON", "4", "1", &loop_device.name]);
        let iostat = Running::spawn(iostat);
        let ours = plimsoll(["watch", "--once", "--json", "--interval", "4s"]).expect(0).json();
        let theirs: Value = serde_json::from_str(&iostat.end().expect(0).stdout).unwrap();
        let theirs = by_iostat(&theirs, &loop_device.name).expect("iostat shows the device");
        let ours = by_watch(&ours, &loop_device.name);
        let same = |a: f64, b: f64, grain: f64| (a - b).abs() <= 0.02 * b + grain;
        seen.push((ours, theirs));
        // iostat prints two decimals.
        if same(ours.reads_per_s, theirs.reads_per_s, 0.005)
            && same(ours.kib, theirs.kib, 0.005)
            && same(ours.response_ms, theirs.response_ms, 0.005)
        {
            eprintln!("ours and iostat's: {seen:?}");
            assert!(ours.reads_per_s > 100.0, "the load did not run");
            drop(load);
            return;
        }
    }
    panic!("differs from iostat by more than 2 % in every round: {seen:#?}");
}

#[test]
fn two_devices_under_known_loads_are_told_apart() {
    if program("fio").is_none() {
        skip!("fio is needed");
    }
    let (slow, fast) = (or_skip!(LoopDevice::new(BYTES)), or_skip!(LoopDevice::new(BYTES)));
    let _turn = Turn::take();
    let _loads = [
        load(&slow.device, "--bs=4k --iodepth=2 --rate_iops=500"),
        load(&fast.device, "--bs=16k --iodepth=4 --rate_iops=1500"),
    ];
    std::thread::sleep(Duration::from_millis(800));
    let mut seen = Vec::new();
    for _ in 0..ROUNDS {
        let document = plimsoll(["watch", "--once", "--json", "--interval", "2s"]).expect(0).json();
        let rates = [&slow, &fast].map(|d| number(device(&document, &d.name), "/iops"));
        let sizes = [&slow, &fast].map(|d| number(device(&document, &d.name), "/request_bytes"));
        let queues = [(&slow, 2.0), (&fast, 4.0)].map(|(d, depth)| {
            let d = device(&document, &d.name);
            // No more can stand there than fio keeps outstanding.
            (number(d, "/host_queue") + number(d, "/device_queue"), depth)
        });
        assert_eq!(sizes, [4096.0, 16384.0]);
        assert!(queues.iter().all(|(inside, depth)| *inside <= depth * 1.05 + 0.1), "{queues:?}");
        seen.push(rates);
        if (rates[0] / 500.0 - 1.0).abs() < 0.02 && (rates[1] / 1500.0 - 1.0).abs() < 0.02 {
            return;
        }
    }
    panic!("not 500 and 1500 IOPS in any round: {seen:?}");
}

#[test]
fn only_the_devices_asked_for_are_shown() {
    let device = or_skip!(LoopDevice::new(1 << 20));
    let path = device.device.to_string_lossy().into_owned();
    let document = plimsoll(["watch", &path, "--once", "--json", "--interval", "100ms"]).expect(0).json();
    let devices = document["devices"].as_array().unwrap();
    assert_eq!(devices.len(), 1);
    assert_eq!((&devices[0]["name"], &devices[0]["layer"]), (&device.name.clone().into(), &"loop".into()));
}

#[test]
fn without_the_tracer_counters_say_what_is_lost() {
    let flags = ["watch", "--once", "--all", "--interval", "150ms", "--no-trace"];
    let document = plimsoll(flags.iter().chain(&["--json"])).expect(0).json();
    assert_eq!(document["source"], "counters");
    assert!(document["lost"].is_null() && document["askers"].is_null(), "{document:#}");
    assert!(document["unseen"][0].as_str().unwrap().contains("as asked"), "{}", document["unseen"]);
    for name in ["task_set_full", "latency_percentiles", "requeues", "io_by_process_and_device"] {
        assert!(document["not_shown"].as_array().unwrap().iter().any(|n| n == name), "{name}");
    }
    for device in document["devices"].as_array().unwrap() {
        for key in ["host_wait_percentiles_us", "service_percentiles_us", "requeues", "scsi"] {
            assert!(device[key].is_null(), "{key}: {device:#}");
        }
    }
    let text = plimsoll(flags).expect(0).stdout;
    assert!(text.contains("by counters") && text.contains("TASK SET FULL"), "{text}");
    let text = plimsoll(["watch", "--count", "2", "--interval", "150ms", "--no-trace"]).expect(0).stdout;
    assert_eq!(text.matches("as asked").count(), 1, "it is said once: {text}");
}

#[test]
fn two_processes_on_one_device_are_told_apart() {
    if program("fio").is_none() {
        skip!("fio is needed");
    }
    let loop_device = or_skip!(LoopDevice::new(BYTES));
    let _turn = Turn::take();
    let slow = load(&loop_device.device, "--bs=4k --iodepth=2 --rate_iops=400 --thread");
    let fast = load(&loop_device.device, "--bs=16k --iodepth=4 --rate_iops=1200 --thread");
    std::thread::sleep(Duration::from_millis(800));
    let mut seen = Vec::new();
    for _ in 0..ROUNDS {
        let document = plimsoll(["watch", "--once", "--json", "--interval", "2s"]).expect(0).json();
        if document["source"] != "tracer" {
            skip!("a tracer is needed: {}", document["unseen"]);
        }
        let askers = document["askers"].as_array().unwrap();
        // fio's jobs are threads of the process that was started: they share its number.
        let of = |running: &Running| {
            let ours = |a: &&Value| a["device"] == *loop_device.name && a["pid"] == running.pid();
            let asker = askers.iter().find(ours).unwrap_or_else(|| panic!("not among {askers:#?}"));
            assert_eq!(asker["process"], "fio");
            assert_eq!(asker["writes"], 0);
            (number(asker, "/per_s"), number(asker, "/read_bytes") / number(asker, "/reads"))
        };
        let ((slow_rate, slow_bytes), (fast_rate, fast_bytes)) = (of(&slow), of(&fast));
        assert_eq!((slow_bytes, fast_bytes), (4096.0, 16384.0));
        // Together they are what the device did.
        let device = device(&document, &loop_device.name);
        let sum = number(device, "/read/per_s");
        seen.push((slow_rate, fast_rate, sum));
        let near = |a: f64, b: f64| (a / b - 1.0).abs() < 0.02;
        if near(slow_rate, 400.0) && near(fast_rate, 1200.0) && near(slow_rate + fast_rate, sum) {
            eprintln!("seen: {seen:?}");
            return;
        }
    }
    panic!("not 400 and 1200 IOPS in any round: {seen:?}");
}
