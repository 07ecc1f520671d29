//! A cap on rate: throughput is the same at every concurrency, and response time is N / cap.

use crate::bound_by::{Advice, BoundBy, BoundLayer};
use crate::case::Case;
use crate::ceiling::Ceiling;
use crate::outlook::Model;
use crate::rule::host_queue::sends_all;
use crate::rule::{STANDS, is_flat};
use crate::split::queue_of;
use record::{Layer, LayerKind, Limit, LimitKind};

/// A plateau within this much of a cap's value stands at it. The kernel's slices let a little more or less through.
const NEAR_CAP: f64 = 0.06;
/// Length of a slice of the kernel's block throttle (`throtl_slice`, HZ/10 where the device is not known to be fast).
const THROTTLE_SLICE_S: f64 = 0.1;
/// Never more than this is put down to missed slices.
const MISSED_MAX: f64 = 0.15;
/// Plateaus of a cap nobody can see differ by less than this over a fourfold concurrency.
const FLAT_WITHIN: f64 = 0.015;
/// What cloud volumes are sold with (IOPS); a hidden cap is named only at such a number.
const CATALOGUE_IOPS: [f64; 12] =
    [120.0, 240.0, 500.0, 1100.0, 2300.0, 3000.0, 5000.0, 7500.0, 16000.0, 20000.0, 32000.0, 64000.0];
/// The same in MiB per second.
const CATALOGUE_MIB_PER_S: [f64; 9] = [25.0, 60.0, 100.0, 125.0, 150.0, 170.0, 200.0, 250.0, 1000.0];

/// A control group's limit stands in the path and the plateau stands at it.
pub fn known_cap(case: &Case) -> Option<BoundBy> {
    let plateau = case.plateau_iops()?;
    if case.growth.as_ref().is_some_and(|g| !is_flat(g)) {
        return None;
    }
    let path = case.path()?;
    let caps = path.layers.iter().flat_map(|layer| layer.limits.iter().map(move |limit| (layer, limit)));
    let (layer, limit, cap_iops) = caps
        .filter_map(|(layer, limit)| Some((layer, limit, iops_under(case, limit)?)))
        .filter(|(_, _, cap_iops)| stands_at(case, plateau, *cap_iops))
        .min_by(|a, b| a.2.total_cmp(&b.2))?;
    Some(verdict(case, layer, limit, cap_iops, plateau))
}

/// Whether a plateau stands at a cap. Below it by a little more when windows are short: the kernel lets I/Os through in
/// slices, and a window may miss most of one at its end.
fn stands_at(case: &Case, plateau: f64, cap_iops: f64) -> bool {
    let end = crate::growth::end_of(case.points);
    let windows: u32 = end.iter().map(|p| p.windows).sum();
    let seconds: f64 = end.iter().map(|p| p.seconds).sum();
    let missed = (THROTTLE_SLICE_S * f64::from(windows) / seconds.max(1e-9)).min(MISSED_MAX);
    let ratio = plateau / cap_iops;
    (1.0 - NEAR_CAP - missed..=1.0 + NEAR_CAP).contains(&ratio)
}

/// The workload's IOPS when this limit binds; absent for limits that are no caps on rate.
fn iops_under(case: &Case, limit: &Limit) -> Option<f64> {
    let write = case.subject.write_percent / 100.0;
    let block = case.subject.block_bytes as f64;
    let share = match limit.kind {
        LimitKind::ReadIops | LimitKind::ReadBytesPerS => 1.0 - write,
        LimitKind::WriteIops | LimitKind::WriteBytesPerS => write,
        _ => return None,
    };
    let per_io = match limit.kind {
        LimitKind::ReadBytesPerS | LimitKind::WriteBytesPerS => block,
        _ => 1.0,
    };
    (share > 0.0 && limit.value > 0.0).then(|| limit.value / per_io / share)
}

fn verdict(case: &Case, layer: &Layer, limit: &Limit, cap_iops: f64, plateau: f64) -> BoundBy {
    let (what, unit) = cap_words(limit.kind);
    let last = case.last();
    let mut evidence = vec![format!(
        "throughput stands at {plateau:.0} IOPS, {:+.1} % of what the cap lets through ({cap_iops:.0} IOPS)",
        100.0 * (plateau / cap_iops - 1.0)
    )];
    if let Some(above) = last.and_then(|p| p.above.mean) {
        evidence.push(format!("{above:.1} I/Os wait above the block layer, where a throttle holds them"));
    }
    BoundBy {
        layer: BoundLayer::Throttle,
        headline: format!(
            "a throttle: control group {} caps {what} at {:.0} {unit}",
            layer.name, limit.value
        ),
        evidence,
        refuted_by: "throughput that stays when the cap is doubled".to_owned(),
        runner_up: None,
        advice: vec![raise_cap(case, layer, limit, cap_iops)],
    }
}

/// Twice the cap, in the words that its file takes: the device's number first, and in `io.max` the name of the value.
fn raise_cap(case: &Case, layer: &Layer, limit: &Limit, cap_iops: f64) -> Advice {
    let device = layer.dev.as_ref().map_or(String::new(), |dev| format!("{dev} "));
    let key = if limit.file.ends_with("io.max") { io_max_key(limit.kind) } else { "" };
    let mut advice = Advice::change(
        "Raise or remove the cap, if this work may have more.",
        &limit.file,
        format!("{key}{:.0}", limit.value),
        format!("{device}{key}{:.0}", 2.0 * limit.value),
    );
    advice.expected = Some(format!("up to {:.0} IOPS until another layer binds", 2.0 * cap_iops));
    // Other caps of the same group may bind next; with one alone the path below it does.
    let caps = layer.limits.iter().filter(|l| iops_under(case, l).is_some()).count();
    if let Some(outlook) =
        Model::unheld(case).filter(|_| caps == 1).map(|m| m.capped(2.0 * cap_iops).outlook())
    {
        advice.expected_iops = outlook.iops;
        advice.expected_concurrency = advice.expected_iops.map(|_| outlook.concurrency);
    }
    advice
}

fn io_max_key(kind: LimitKind) -> &'static str {
    match kind {
        LimitKind::ReadIops => "riops=",
        LimitKind::WriteIops => "wiops=",
        LimitKind::ReadBytesPerS => "rbps=",
        _ => "wbps=",
    }
}

fn cap_words(kind: LimitKind) -> (&'static str, &'static str) {
    match kind {
        LimitKind::ReadIops => ("reads", "IOPS"),
        LimitKind::WriteIops => ("writes", "IOPS"),
        LimitKind::ReadBytesPerS => ("reads", "bytes per second"),
        _ => ("writes", "bytes per second"),
    }
}

/// No cap is in any file, but throughput is as flat as only a cap makes it, at a number that volumes are sold with.
pub fn flat_as_a_cap(case: &Case) -> Option<BoundBy> {
    let growth = case.growth.as_ref()?;
    let plateau = case.plateau_iops()?;
    let end = crate::growth::end_of(case.points);
    let spread = end.iter().map(|p| (p.iops / plateau - 1.0).abs()).fold(0.0, f64::max);
    let wide_enough = f64::from(growth.to) >= 4.0 * f64::from(growth.from) && end.len() >= 3;
    if !wide_enough || spread > FLAT_WITHIN {
        return None;
    }
    let mib_per_s = plateau * case.subject.block_bytes as f64 / (1 << 20) as f64;
    if case.devices().iter().any(|(_, layer)| is_of_a_san(layer)) {
        return None;
    }
    let sold = near(plateau, &CATALOGUE_IOPS)
        .map(|n| format!("{n:.0} IOPS"))
        .or_else(|| near(mib_per_s, &CATALOGUE_MIB_PER_S).map(|n| format!("{n:.0} MiB/s")))?;
    Some(BoundBy {
        layer: BoundLayer::Throttle,
        headline: format!("a throttle below this host: throughput is the same at every depth, at {sold}"),
        evidence: vec![
            format!(
                "throughput differs by {:.1} % between {} and {} outstanding",
                100.0 * spread,
                growth.from,
                growth.to
            ),
            format!("{sold} is what volumes are sold with"),
        ],
        refuted_by: "a plateau that moves with block size or with the hour".to_owned(),
        runner_up: Some((BoundLayer::Device, "a device with very even service would look alike".to_owned())),
        advice: vec![Advice {
            text: "Look up what this volume and this machine are sold with, and what a larger class costs."
                .to_owned(),
            now: Some(sold),
            ..Advice::default()
        }],
    })
}

/// Rates are sold with virtual disks, not with LUNs of an array or disks of this host.
fn is_of_a_san(layer: &Layer) -> bool {
    matches!(fact(layer, "transport"), Some("fc" | "iscsi" | "sas" | "sata" | "usb"))
        || fact(layer, "host_driver") == Some("tcm_loopback")
}

fn near(value: f64, list: &[f64]) -> Option<f64> {
    list.iter().copied().find(|n| (value / n - 1.0).abs() < 0.01)
}

/// The kernel's cost model (`io.cost`) is on for the device and holds the I/Os back above the block layer.
pub fn io_cost(case: &Case) -> Option<BoundBy> {
    let growth = case.growth.as_ref().filter(|g| is_flat(g))?;
    if growth.above.is_none_or(|share| share < STANDS) {
        return None;
    }
    let path = case.path()?;
    let enabled = |l: &&Layer| l.kind == LayerKind::Cgroup && fact(l, "io.cost.qos").is_some();
    let layer = path.layers.iter().find(enabled)?;
    let device = layer.below.first().map_or("the device", String::as_str);
    let plateau = case.plateau_iops()?;
    let last = case.last()?;
    let mut evidence = vec![format!(
        "io.cost.qos is enabled for {device}, and {:.1} I/Os wait above its queue, where the cost controller holds them",
        last.above.high_or_mean()
    )];
    if let Some(model) = fact(layer, "io.cost.model") {
        evidence.push(format!("its model is {model}; {plateau:.0} IOPS were let through"));
    }
    let file = fact(layer, "io.cost.qos_file").unwrap_or("/sys/fs/cgroup/io.cost.qos");
    let off = layer.dev.as_ref().map_or("enable=0".to_owned(), |dev| format!("{dev} enable=0"));
    let advice = Advice::change(
        format!(
            "Give io.cost a model that fits {device} (io.cost.model, measured with iocost_coef_gen.py), or switch it off where nothing must be shared fairly."
        ),
        file,
        "enable=1",
        off,
    );
    let advice = match Model::unheld(case) {
        Some(model) => advice.expecting(&model.outlook()),
        None => advice,
    };
    Some(BoundBy {
        layer: BoundLayer::Throttle,
        headline: format!(
            "a throttle: the kernel's I/O cost model (io.cost) lets {plateau:.0} IOPS through to {device}"
        ),
        evidence,
        refuted_by: "throughput that stays with io.cost.qos enable=0".to_owned(),
        runner_up: None,
        advice: vec![advice],
    })
}

fn fact<'l>(layer: &'l Layer, name: &str) -> Option<&'l str> {
    layer.facts.iter().find(|(n, _)| n == name).map(|(_, v)| v.as_str())
}

/// The most seen at the device must be this many times its mean for a device that is served in bursts.
const BURSTS: f64 = 2.0;
/// A device that holds this share of its limit or more is not idle in between.
const IDLE_BELOW: f64 = 0.5;

/// I/Os wait in the host queue while the device stands half empty, is at times sent all there is, and throughput is the
/// same at every depth: the driver lets them through by a clock, not by room. No file says at which rate.
pub fn by_the_clock(case: &Case) -> Option<BoundBy> {
    let growth = case.growth.as_ref().filter(|g| is_flat(g))?;
    if growth.host_queue.is_none_or(|share| share < STANDS) {
        return None;
    }
    let devices = case.devices();
    let [(seen, layer)] = devices.as_slice() else { return None };
    let mean = queue_of(&seen.device_queue).high_or_mean();
    let peak = seen.device_queue_peak?;
    let (limit, _) = Ceiling::of(seen, layer).lowest()?;
    let plateau = case.plateau_iops()?;
    let end = crate::growth::end_of(case.points);
    let spread = end.iter().map(|p| (p.iops / plateau - 1.0).abs()).fold(0.0, f64::max);
    if end.len() < 3
        || spread > FLAT_WITHIN
        || mean > IDLE_BELOW * limit
        || peak < BURSTS * mean.max(1.0)
        || !sends_all(layer)
    {
        return None;
    }
    let mib_per_s = plateau * case.subject.block_bytes as f64 / (1 << 20) as f64;
    Some(BoundBy {
        layer: BoundLayer::Throttle,
        headline: format!(
            "a throttle in the driver or behind it: {} lets through {plateau:.0} IOPS ({mib_per_s:.1} MiB/s) at every depth",
            layer.name
        ),
        evidence: vec![
            format!(
                "throughput differs by {:.1} % between {} and {} outstanding",
                100.0 * spread,
                growth.from,
                growth.to
            ),
            format!("{} holds {mean:.1} on average and up to {peak:.0} of {limit:.0}: it is sent I/Os in bursts and stands idle in between, while others wait", layer.name),
        ],
        refuted_by: "the same IOPS with another block size would mean a cap on I/Os, the same MiB/s a cap on bytes; neither would mean no cap".to_owned(),
        runner_up: Some((BoundLayer::HostQueue, "a scheduler or driver that holds I/Os back would look alike".to_owned())),
        advice: vec![Advice::words(format!(
            "Look up what {} is allowed (bandwidth or IOPS of the volume, of the virtual disk, of the driver): no queue depth of this host gets past a rate.",
            layer.name
        ))],
    })
}
