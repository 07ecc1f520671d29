//! A cap on rate: throughput is the same at every concurrency, and response time is N / cap.

use crate::bound_by::{Advice, BoundBy, BoundLayer};
use crate::case::Case;
use crate::rule::is_flat;
use record::{Layer, Limit, LimitKind};

/// A plateau within this much of a cap's value stands at it. The kernel's slices let a little more or less through.
const NEAR_CAP: f64 = 0.06;
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
        .filter(|(_, _, cap_iops)| (plateau / cap_iops - 1.0).abs() <= NEAR_CAP)
        .min_by(|a, b| a.2.total_cmp(&b.2))?;
    Some(verdict(case, layer, limit, cap_iops, plateau))
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
        advice: vec![Advice {
            text: "Raise or remove the cap, if this work may have more.".to_owned(),
            file: Some(limit.file.clone()),
            now: Some(format!("{:.0}", limit.value)),
            try_value: Some(format!("{:.0}", 2.0 * limit.value)),
            expected: Some(format!("up to {:.0} IOPS until another layer binds", 2.0 * cap_iops)),
        }],
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
            file: None,
            now: Some(sold),
            try_value: None,
            expected: None,
        }],
    })
}

fn near(value: f64, list: &[f64]) -> Option<f64> {
    list.iter().copied().find(|n| (value / n - 1.0).abs() < 0.01)
}
