//! A sweep over cores: what each added core brings, and what it costs in response time.

use crate::{ProbeReport, curve};
use serde::Serialize;

/// One number of cores.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CoreRow {
    /// Cores that drove the load, one worker on each.
    pub cores: u32,
    /// Throughput of all.
    pub iops: f64,
    /// The same in MiB (2^20) per second.
    pub mib_per_s: f64,
    /// Throughput of each.
    pub mib_per_s_per_core: f64,
    /// Throughput per core against the first row's: 1 scales, less does not.
    pub efficiency: f64,
    /// Mean response time.
    pub response_us_mean: Option<f64>,
    /// 99th percentile.
    pub response_us_p99: Option<f64>,
    /// Share of the time that the busiest core's worker worked; waiting for I/O is no work.
    pub busiest_worker: Option<f64>,
    /// Whether the latency limit held.
    pub holds: Option<bool>,
}

/// The rows of a sweep over cores; absent when the run was none.
pub fn rows(report: &ProbeReport) -> Option<Vec<CoreRow>> {
    let per_core = report.options.get("core_sweep")?.as_u64().filter(|n| *n > 0)? as u32;
    let answer = &report.answer;
    let limit_us = answer.limit.limit_ns as f64 / 1e3;
    let first = answer.points.first()?;
    let cores = |n: u32| n.div_ceil(per_core).max(1);
    let each = |iops: f64, n: u32| iops / f64::from(cores(n));
    let row = |p: &analyze::Point| CoreRow {
        cores: cores(p.concurrency),
        iops: p.iops,
        mib_per_s: p.mib_per_s,
        mib_per_s_per_core: each(p.mib_per_s, p.concurrency),
        efficiency: each(p.iops, p.concurrency) / each(first.iops, first.concurrency).max(1e-9),
        response_us_mean: curve::mean_us(p),
        response_us_p99: curve::quantile_us(p, 0.99),
        busiest_worker: p.busiest_worker,
        holds: curve::limit_statistic_us(&answer.limit, p).map(|us| us < limit_us),
    };
    Some(answer.points.iter().map(row).collect())
}
