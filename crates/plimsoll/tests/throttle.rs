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
    let run = || {
        let mut command = group.plimsoll();
        command.arg("probe").arg(&disk.device).args(flags.split_whitespace()).arg("--json");
        Running::spawn(command).end().measured()
    };
    // A run that neighbours spoilt is repeated once; a cap holds beside neighbours, too.
    let first = run();
    if first.spoilt() { run().json() } else { first.json() }
}

/// Checks that the verdict names the cap and the file it stands in.
fn names_the_cap(document: &Value, cap: f64, file: &str) {
    let bound = &document["bound_by"];
    assert_eq!(layer(document), "throttle", "{bound:#}");
    let named = text(bound, "/headline");
    let numbers = named.split(|c: char| !c.is_ascii_digit()).filter_map(|w| w.parse::<f64>().ok());
    assert!(numbers.into_iter().any(|n| (n / cap - 1.0).abs() <= 0.03), "{cap} is not in '{named}'");
    let advice = list(bound, "/advice");
    assert!(advice.iter().any(|a| a["file"] == file), "no advice names {file}: {advice:#?}");
    // Who waits for a throttle waits above the block layer's counters.
    let caps = list(document, "/path/layers").iter().filter(|l| l["kind"] == "cgroup").count();
    assert_eq!(caps, 1, "{:#}", document["path"]);
}

/// Throughput of all steps together: each of them is deep enough to stand at the cap.
fn plateau_iops(document: &Value) -> f64 {
    let seconds: f64 = steps(document).iter().map(|s| number(s, "/seconds")).sum();
    steps(document).iter().map(|s| number(s, "/iops") * number(s, "/seconds")).sum::<f64>() / seconds
}

#[test]
fn a_cap_on_iops_is_named_within_three_percent() {
    let _turn = Turn::take();
    let disk = or_skip!(LoopDevice::new(DISK_BYTES));
    let cap = Cap::ReadIops(2000);
    let group = or_skip!(Cgroup::capped(&disk.number(), cap));
    let file = group.cap_file(cap).display().to_string();
    // The kernel lets I/Os through in bursts of 100 ms: windows of some seconds are needed for three percent.
    let document = capped(&disk, &group, "--limit p99<100ms --depths 8,16,32 --budget 8s");
    names_the_cap(&document, 2000.0, &file);
    let iops = plateau_iops(&document);
    assert!((iops / 2000.0 - 1.0).abs() <= 0.03, "{iops} IOPS, the cap lets 2000 through");
    // The search meets it on its own way up.
    names_the_cap(&capped(&disk, &group, "--limit p99<100ms --budget 8s"), 2000.0, &file);
}

#[test]
fn a_cap_on_bytes_is_named_within_three_percent() {
    let _turn = Turn::take();
    let disk = or_skip!(LoopDevice::new(DISK_BYTES));
    let cap = Cap::ReadBytesPerS(40 << 20);
    let group = or_skip!(Cgroup::capped(&disk.number(), cap));
    let document = capped(&disk, &group, "--block 64k --limit p99<300ms --depths 8,16,32 --budget 6s");
    names_the_cap(&document, 41_943_040.0, &group.cap_file(cap).display().to_string());
    let iops = plateau_iops(&document);
    assert!((iops / 640.0 - 1.0).abs() <= 0.03, "{iops} IOPS, the cap lets 640 of 64 KiB through");
}

#[test]
fn the_same_device_without_the_cap_is_not_throttled() {
    let _turn = Turn::take();
    let disk = or_skip!(LoopDevice::new(DISK_BYTES));
    // Far above what this device can do, so that the cap is there but does not bind.
    let cap = Cap::ReadIops(50_000_000);
    let group = or_skip!(Cgroup::capped(&disk.number(), cap));
    let document = capped(&disk, &group, "--limit p99<100ms --depths 4,16,64 --budget 3s");
    assert_ne!(layer(&document), "throttle", "{:#}", document["bound_by"]);
}
