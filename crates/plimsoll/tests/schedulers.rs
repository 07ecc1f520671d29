//! A loop device with each scheduler that the kernel offers: the path shows it, the queue is followed, all is put back.
#![allow(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

mod support;

use serde_json::Value;
use std::path::Path;
use support::Turn;
use support::command::measured;
use support::document::{known, list, number, steps, text};
use support::loopdev::LoopDevice;

/// The layer of the path with this kernel name.
fn layer_named<'d>(document: &'d Value, name: &str) -> &'d Value {
    let layers = list(document, "/path/layers");
    layers.iter().find(|l| l["name"] == name).unwrap_or_else(|| panic!("no {name} in {layers:#?}"))
}

fn tunable<'d>(layer: &'d Value, name: &str) -> &'d str {
    let all = list(layer, "/tunables");
    let found = all.iter().find(|t| t["name"] == name);
    text(found.unwrap_or_else(|| panic!("no {name} in {all:#?}")), "/value")
}

/// Each term within its bounds, and together what the workload kept outstanding.
fn chain_holds(step: &Value, scheduler: &str) {
    let n = number(step, "/concurrency");
    let parts = ["above", "host_queue", "device_queue"].map(|part| known(step, &format!("/{part}")));
    let [Some(above), Some(host), Some(device)] = parts else { return };
    let sum = above + host + device;
    assert!((sum - n).abs() <= 0.1 * n + 0.5, "{scheduler}, N={n}: {above} + {host} + {device} = {sum}");
    assert!([above, host, device].iter().all(|q| *q >= 0.0), "{scheduler}, N={n}: {parts:?}");
}

#[test]
fn each_scheduler_is_shown_followed_and_put_back() {
    let _turn = Turn::take();
    let disk = or_skip!(LoopDevice::new(64 << 20));
    let before = (disk.get("scheduler"), disk.get("nr_requests"));
    let mut split = 0;
    let offered = disk.offered("scheduler");
    for scheduler in &offered {
        assert!(disk.set("scheduler", scheduler), "{scheduler} is offered and refused");
        let document = measured(&disk.device, "--depths 1,4,16 --budget 3s");
        let seen = layer_named(&document, &disk.name);
        assert_eq!(text(seen, "/kind"), "loop", "{seen:#}");
        assert_eq!(tunable(seen, "scheduler"), scheduler);
        let depths: Vec<f64> = steps(&document).iter().map(|s| number(s, "/concurrency")).collect();
        assert_eq!(depths, [1.0, 4.0, 16.0], "{scheduler}");
        for step in steps(&document) {
            chain_holds(step, scheduler);
            split += usize::from(known(step, "/device_queue").is_some());
            // The device's own counters saw our I/Os, whatever the scheduler.
            let seen = list(step, "/layers").iter().find(|l| l["name"] == disk.name.as_str());
            let rate = number(seen.expect("the loop device is followed"), "/requests_per_s");
            assert!(
                (rate / number(step, "/iops") - 1.0).abs() < 0.25,
                "{scheduler}: {rate} requests/s: {step:#}"
            );
        }
    }
    assert!(split > 0, "no split was known at any depth with any of {offered:?}");
    let name = disk.name.clone();
    // The probe reads settings and changes none: only this test did, and its guard undoes that.
    disk.set("scheduler", &before.0);
    assert_eq!((disk.get("scheduler"), disk.get("nr_requests")), before);
    drop(disk);
    let gone = || !Path::new(&format!("/sys/block/{name}/loop/backing_file")).exists();
    assert!(support::wait_until(std::time::Duration::from_secs(5), gone), "{name} is still attached");
}

#[test]
fn a_short_queue_is_seen_as_a_limit_of_the_path() {
    let _turn = Turn::take();
    let disk = or_skip!(LoopDevice::new(64 << 20));
    if !disk.set("scheduler", "mq-deadline") || !disk.set("nr_requests", "8") {
        skip!("this kernel has no mq-deadline whose nr_requests can be lowered");
    }
    let document = measured(&disk.device, "--depths 4,16,32 --budget 3s");
    assert_eq!(tunable(layer_named(&document, &disk.name), "nr_requests"), "8");
    let last = steps(&document).last().unwrap();
    // With 8 tags at most 8 requests are at the device; with 32 outstanding the rest stands before it.
    let bound = last.pointer("/device_queue_bounds/0").and_then(Value::as_f64);
    let at_device = known(last, "/device_queue").or(bound).expect("the device queue or its bound is known");
    assert!(at_device <= 8.5, "{at_device} at a device with 8 tags");
}
