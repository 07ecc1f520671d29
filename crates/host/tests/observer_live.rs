//! Counters and tracer together on a real device: counts are exact, the split is that of the kernel's own events.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod common;

use common::events::Events;
use common::live::LoopDevice;
use host::Root;
use host::observer::{Observer, Tracing};
use host::survey::SurveyOptions;
use record::{DeviceSample, HostSample, SplitBy};
use std::path::Path;
use std::process::Command;

const BYTES: usize = 64 << 20;

fn observer() -> Option<Observer> {
    let options = SurveyOptions::default();
    let observer = Observer::open(&Root::system(), options, Tracing::WherePossible).unwrap();
    if observer.tracer().is_none() {
        println!("skipped: {:?}", observer.sample().unseen);
        return None;
    }
    Some(observer)
}

fn of<'s>(sample: &'s HostSample, name: &str) -> &'s DeviceSample {
    sample.devices.iter().find(|d| d.facts.name == name).unwrap()
}

#[test]
fn an_odd_number_of_ios_is_exact_in_counters_and_tracer_alike() {
    let Some(device) = LoopDevice::new(BYTES) else { return };
    let Some(mut observer) = observer() else { return };
    for (count, odd) in [(501_u64, "count=501"), (1, "count=1"), (77, "count=77")] {
        observer.next().unwrap();
        let done = Command::new("dd")
            .args([format!("if={}", device.device.display()), "of=/dev/null".to_owned(), odd.to_owned()])
            .args(["bs=8k", "iflag=direct", "status=none"])
            .status();
        assert!(done.unwrap().success());
        let sample = observer.next().unwrap();
        let seen = of(sample, &device.name);
        assert_eq!((seen.read.count, seen.read.bytes), (count, count * 8192));
        assert_eq!((seen.write.count, seen.in_flight), (0, 0));
        let lost = sample.traced.as_ref().unwrap().lost;
        let traced = seen.traced.as_ref().unwrap();
        let reads = traced.read.as_ref().unwrap();
        // What the kernel handed to no program is told.
        assert!(reads.ios == count || reads.ios + lost.completions + 2 >= count, "{} {lost:?}", reads.ios);
        assert_eq!(reads.service.count() + reads.untimed, reads.ios);
        if reads.ios == count && reads.untimed == 0 {
            assert_eq!(seen.split_by, SplitBy::Traced);
        }
        let askers = sample.traced.as_ref().unwrap().askers.as_ref().unwrap();
        let ours: u64 =
            askers.iter().filter(|a| a.device == device.name && a.name == "dd").map(|a| a.reads).sum();
        assert_eq!(ours, count, "{askers:?}");
        // The queue is what Little's law makes of the times.
        let inside = seen.inside.mean.unwrap() * seen.length_s;
        let times = (reads.host_wait.sum_ns() + reads.service.sum_ns()) as f64 / 1e9;
        assert!((inside - times).abs() <= 0.05 * times + 1e-4, "{inside} against {times}");
    }
}

/// Random reads deeper than the device takes, so that some wait in the host.
fn random_reads(device: &Path, count: u32) {
    let done = Command::new("fio")
        .args(["--name=t", "--rw=randread", "--bs=4k", "--direct=1", "--ioengine=libaio", "--iodepth=200"])
        .args([format!("--filename={}", device.display()), format!("--number_ios={count}")])
        .args(["--size=64m", "--readonly"])
        .output()
        .unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
}

#[test]
fn the_split_of_a_sample_is_that_of_the_kernels_own_events() {
    if Command::new("fio").arg("--version").output().is_err() {
        println!("skipped: fio is not installed");
        return;
    }
    let Some(device) = LoopDevice::new(BYTES) else { return };
    let number = std::fs::read_to_string(format!("/sys/block/{}/dev", device.name)).unwrap();
    let (major, minor) = number.trim().split_once(':').unwrap();
    let number = (major.parse().unwrap(), minor.parse().unwrap());
    for scheduler in ["mq-deadline", "none"] {
        assert!(device.set("scheduler", scheduler));
        let Some(mut observer) = observer() else { return };
        let Some(events) = Events::start(number) else { return };
        observer.next().unwrap();
        random_reads(&device.device, 12_001);
        let sample = observer.next().unwrap();
        let truth = events.split();
        let seen = of(sample, &device.name);
        assert_eq!(seen.split_by, SplitBy::Traced, "{:?}", seen.remarks);
        assert_eq!((seen.read.count, seen.read.bytes), (truth.ios, truth.bytes), "{scheduler}");
        let whole = (truth.host_wait_s + truth.service_s) / seen.length_s;
        for (what, ours, truth) in [
            ("host queue", seen.host_queue.mean.unwrap(), truth.host_wait_s / seen.length_s),
            ("device queue", seen.device_queue.mean.unwrap(), truth.service_s / seen.length_s),
            ("host wait", seen.host_wait_us().unwrap() / 1e6 * truth.ios as f64, truth.host_wait_s),
            ("service", seen.service_us().unwrap() / 1e6 * truth.ios as f64, truth.service_s),
        ] {
            println!("{scheduler}: {what}: {ours:.5} against {truth:.5}");
            let scale = if what.ends_with("queue") { whole } else { whole * seen.length_s };
            // Each within 5 % of itself where it is a real part of the whole.
            let of = if truth > 0.2 * scale { truth } else { scale };
            assert!((ours - truth).abs() <= 0.05 * of, "{scheduler}: {what}: {ours} against {truth}");
        }
    }
}

#[test]
fn without_type_information_counters_go_on_and_say_what_is_lost() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(folder.path().join("proc")).unwrap();
    std::fs::write(folder.path().join("proc/diskstats"), "8 0 sda 1 2 3 4 5 6 7 8 9 10 11\n").unwrap();
    let root = Root::at(folder.path());
    let mut observer = Observer::open(&root, SurveyOptions::default(), Tracing::WherePossible).unwrap();
    let sample = observer.next().unwrap();
    assert!(sample.traced.is_none() && sample.devices[0].traced.is_none());
    assert_eq!(sample.devices[0].task_set_full, None);
    let said = &sample.unseen[0];
    assert!(said.contains("counters alone") && said.contains("TASK SET FULL"), "{said}");
    assert!(said.contains("CONFIG_DEBUG_INFO_BTF"), "{said}");
}
