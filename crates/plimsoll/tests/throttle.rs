//! A cap by control group on a device of our own: found, named with its number, and with the file to change.
//!
//! No absolute speed is asserted but the cap's, which the kernel holds whatever the machine does.
#![allow(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

mod support;

use serde_json::Value;
use support::Turn;
use support::cgroup::{Cap, Cgroup};
use support::command::Running;
use support::document::{layer, list, number, steps, text};
use support::loopdev::LoopDevice;

const DISK_BYTES: usize = 64 << 20;

/// Probes a capped loop device and answers the document.
fn capped(disk: &LoopDevice, group: &Cgroup, flags: &str) -> Value {
    let mut command = group.plimsoll();
    command.arg("probe").arg(&disk.device).args(flags.split_whitespace()).arg("--json");
    let ended = Running::spawn(command).end();
    assert!(matches!(ended.code, Some(0 | 1)), "{ended:?}");
    ended.json()
}

/// Checks that the verdict names the cap: `per_unit` I/Os per second make one unit of the cap.
fn names_the_cap(document: &Value, cap: f64, cap_iops: f64, file: &str) {
    let bound = &document["bound_by"];
    assert_eq!(layer(document), "throttle", "{bound:#}");
    let last = steps(document).last().unwrap();
    let iops = number(last, "/iops");
    assert!((iops / cap_iops - 1.0).abs() <= 0.03, "{iops} IOPS at the end, the cap lets {cap_iops} through");
    let named = text(bound, "/headline");
    let numbers = named.split(|c: char| !c.is_ascii_digit()).filter_map(|w| w.parse::<f64>().ok());
    assert!(numbers.into_iter().any(|n| (n / cap - 1.0).abs() <= 0.03), "{cap} is not in '{named}'");
    let advice = list(bound, "/advice");
    assert!(advice.iter().any(|a| a["file"] == file), "no advice names {file}: {advice:#?}");
    // Who waits for a throttle waits above the block layer's counters.
    let caps = list(document, "/path/layers").iter().filter(|l| l["kind"] == "cgroup").count();
    assert_eq!(caps, 1, "{:#}", document["path"]);
}

#[test]
fn a_cap_on_iops_is_named_within_three_percent() {
    let disk = or_skip!(LoopDevice::new(DISK_BYTES));
    let cap = Cap::ReadIops(2000);
    let group = or_skip!(Cgroup::capped(&disk.number(), cap));
    let _turn = Turn::take();
    let document = capped(&disk, &group, "--limit p99<100ms --budget 8s");
    names_the_cap(&document, 2000.0, 2000.0, &group.cap_file(cap).display().to_string());
}

#[test]
fn a_cap_on_bytes_is_named_within_three_percent() {
    let disk = or_skip!(LoopDevice::new(DISK_BYTES));
    let cap = Cap::ReadBytesPerS(40 << 20);
    let group = or_skip!(Cgroup::capped(&disk.number(), cap));
    let _turn = Turn::take();
    let document = capped(&disk, &group, "--block 64k --limit p99<300ms --depths 4,8,16 --budget 6s");
    names_the_cap(&document, 41_943_040.0, 640.0, &group.cap_file(cap).display().to_string());
}

#[test]
fn the_same_device_without_the_cap_is_not_throttled() {
    let disk = or_skip!(LoopDevice::new(DISK_BYTES));
    // Far above what this device can do, so that the cap is there but does not bind.
    let cap = Cap::ReadIops(50_000_000);
    let group = or_skip!(Cgroup::capped(&disk.number(), cap));
    let _turn = Turn::take();
    let document = capped(&disk, &group, "--limit p99<100ms --depths 4,16,64 --budget 3s");
    assert_ne!(layer(&document), "throttle", "{:#}", document["bound_by"]);
}
