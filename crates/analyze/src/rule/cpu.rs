//! The processor: load threads or interrupts have no time left.

use crate::bound_by::{Advice, BoundBy, BoundLayer};
use crate::case::Case;
use crate::point::Point;
use crate::rule::SCALES;

/// A load thread, or all its cores, working this share of the time has none left for more I/O.
pub const BUSY: f64 = 0.9;

/// Load threads (with the time they waited for a core) or their cores are busy, and throughput no longer follows N.
pub fn no_time_left(case: &Case) -> Option<BoundBy> {
    let last = case.last()?;
    let share = share_of_cores(case, last);
    if share < BUSY || case.growth.as_ref().is_some_and(|g| g.gain >= SCALES) {
        return None;
    }
    let per_io = last.cpu_us_per_io?;
    let delay = last.worker_run_delay.unwrap_or(0.0);
    let mut evidence = vec![format!(
        "at {} outstanding the busiest load thread worked {:.0} % of the time ({:.1} us of processor per I/O: {:.1} user, {:.1} system, {:.1} interrupts)",
        last.concurrency,
        100.0 * last.busiest_worker.unwrap_or(share),
        per_io,
        last.cpu_user_us_per_io.unwrap_or(0.0),
        last.cpu_sys_us_per_io.unwrap_or(0.0),
        last.cpu_irq_us_per_io.unwrap_or(0.0),
    )];
    if delay > 0.05 {
        evidence.push(format!(
            "it waited another {:.0} % of the time for a core that something else held",
            100.0 * delay
        ));
    }
    let per_core = last.iops_per_core.unwrap_or(1e6 / per_io.max(1e-6));
    let workers = case.subject.workers.max(1);
    Some(BoundBy {
        layer: BoundLayer::Cpu,
        headline: format!(
            "processor-bound: {workers} load thread{} carry {:.0} IOPS, about {per_core:.0} per core",
            if workers == 1 { "" } else { "s" },
            last.iops
        ),
        evidence,
        refuted_by:
            "throughput that does not rise when the same load runs on more cores (--workers, --cores)"
                .to_owned(),
        runner_up: None,
        advice: advice(case, workers, per_core, delay),
    })
}

fn advice(case: &Case, workers: u32, per_core: f64, delay: f64) -> Vec<Advice> {
    let mut list = Vec::new();
    if delay > 0.05 {
        list.push(Advice::words("Stop or move what competes for the cores, then probe again."));
    }
    list.push(Advice {
        text: "Spread the load over more cores: --workers, or --cores 1..N to see how many it takes."
            .to_owned(),
        file: None,
        now: Some(workers.to_string()),
        try_value: Some((2 * workers).to_string()),
        expected: Some(format!("about {per_core:.0} IOPS more per core until another layer binds")),
        ..Advice::default()
    });
    if case.subject.block_bytes < 64 * 1024 && case.subject.engine == "sync" {
        list.push(Advice {
            text: "Asynchronous I/O costs less processor time per I/O: --engine io_uring.".to_owned(),
            file: None,
            now: Some(case.subject.engine.clone()),
            try_value: Some("io_uring".to_owned()),
            ..Advice::default()
        });
    }
    list
}

/// How much of its processors the load used: the busiest thread with its waiting for a core, or all cores together.
pub fn share_of_cores(case: &Case, point: &Point) -> f64 {
    let thread = point.busiest_worker.map_or(0.0, |b| b + point.worker_run_delay.unwrap_or(0.0));
    let cores = f64::from(cores_of(case, point));
    let together = point.cpu_us_per_io.map_or(0.0, |us| us * point.iops / 1e6 / cores);
    // Many blocking threads share a core: none is busy by itself, their cores are. Their mutual waiting is no sign.
    if case.subject.engine == "sync" && point.concurrency > 1 { together } else { thread.max(together) }
}

/// Cores that the load can use at this point: those it is pinned to, else those it was seen on, and never more than it
/// has threads.
fn cores_of(case: &Case, point: &Point) -> u32 {
    let pinned = case.subject.cores.len() as u32;
    let there = if pinned > 0 { pinned } else { point.cores.unwrap_or(1).max(1) };
    let threads = if case.subject.engine == "sync" { point.concurrency } else { case.subject.workers };
    there.min(threads).clamp(1, point.concurrency.max(1))
}
