//! What a step gave, in the form of the contract: processor time, doubts, and the follower's part merged in.

use super::Seen;
use crate::clock::ns_to_seconds;
use crate::recorder::Recorder;
use crate::workload::SyncMode;
use record::{CpuSeen, Doubt, DoubtId, HostSeen, Load, Step, Weight};

/// Share of the load's processor time spent by kernel workers from which on it is worth a word.
const PUNTED_NOTE: f64 = 0.05;
/// Share from which on the measurement is more about them than about the device.
const PUNTED_CAUTION: f64 = 0.5;
/// Lateness of starts, as a share of the mean response, from which on the generator shows in the result.
const LAG_CAUTION: f64 = 0.10;
/// Lateness that is never worth a word.
const LAG_MIN_NS: u64 = 100_000;

/// The step.
pub fn step(load: &Load, seen: Seen, run_start_ns: u64, sync: SyncMode) -> Step {
    let cpu = cpu(&seen);
    let mut doubts = seen.followed.doubts.clone();
    doubts.extend(punted(&seen, sync));
    doubts.extend(lag(&seen));
    doubts.extend(seen.notes.iter().map(|text| Doubt {
        id: DoubtId::GeneratorLag,
        weight: Weight::Note,
        text: text.clone(),
    }));
    let host = host(&seen);
    Step {
        load: load.clone(),
        start_s: ns_to_seconds(seen.start_ns.saturating_sub(run_start_ns)),
        settle_s: seen.settle_s,
        measured_s: seen.slices.iter().map(|s| s.length_s).sum(),
        slices: seen.slices,
        layers: seen.followed.layers,
        cpu,
        host,
        doubts,
        starved: seen.starved,
        incidents: seen.incidents,
        ended: seen.ended,
    }
}

/// User and system time per I/O over the window that each worker saw, kernel workers counted as system time.
fn cpu(seen: &Seen) -> Option<CpuSeen> {
    let from_follower = seen.followed.cpu.clone().unwrap_or_default();
    let ios: u64 = seen.windows.iter().map(|w| w.ios).sum();
    if ios == 0 {
        return seen.followed.cpu.clone();
    }
    let per_io_us = |ns: u64| ns as f64 / 1e3 / ios as f64;
    let user_us_per_io = per_io_us(seen.windows.iter().map(|w| w.time.user_ns).sum());
    let sys_ns: u64 = seen.windows.iter().map(|w| w.time.sys_ns).sum();
    let sys_us_per_io = per_io_us(sys_ns + seen.kernel_workers.0);
    let whole_us = user_us_per_io + sys_us_per_io;
    let busiest = seen.windows.iter().map(|w| {
        let wall_ns = w.time.at_ns.max(1);
        (w.time.user_ns + w.time.sys_ns) as f64 / wall_ns as f64
    });
    Some(CpuSeen {
        user_us_per_io,
        sys_us_per_io,
        busiest_worker: busiest.fold(0.0, f64::max).min(1.0),
        iops_per_core: (whole_us > 0.0).then(|| 1e6 / whole_us),
        irq_us_per_io: from_follower.irq_us_per_io,
        cores: from_follower.cores,
    })
}

/// The follower's view of the host with the workers' run delay, worst worker.
fn host(seen: &Seen) -> Option<HostSeen> {
    let delay = seen
        .windows
        .iter()
        .filter_map(|w| Some(w.time.run_delay_ns? as f64 / w.time.at_ns.max(1) as f64))
        .reduce(f64::max);
    match (&seen.followed.host, delay) {
        (None, None) => None,
        (host, delay) => Some(HostSeen { worker_run_delay: delay, ..host.clone().unwrap_or_default() }),
    }
}

/// Requests that io_uring could not start without blocking, seen by the processor time of the threads that carried them.
fn punted(seen: &Seen, sync: SyncMode) -> Option<Doubt> {
    let (busy_ns, threads) = seen.kernel_workers;
    let own_ns: u64 = seen.windows.iter().map(|w| w.time.user_ns + w.time.sys_ns).sum();
    let share = busy_ns as f64 / (busy_ns + own_ns).max(1) as f64;
    if share < PUNTED_NOTE {
        return None;
    }
    let why = match sync {
        SyncMode::Fdatasync => "each fdatasync goes there; --engine sync waits for it in the worker itself",
        _ => "the layers below cannot start them without blocking; compare with --engine libaio or sync",
    };
    Some(Doubt {
        id: DoubtId::PuntedRequests,
        weight: if share < PUNTED_CAUTION { Weight::Note } else { Weight::Caution },
        text: format!(
            "{:.0} % of the load's processor time was spent in {threads} kernel worker threads (io-wq), to which \
             io_uring hands requests: {why}",
            share * 100.0
        ),
    })
}

/// Whether the generator itself was late in starting I/Os of an open loop.
fn lag(seen: &Seen) -> Option<Doubt> {
    let mut lag = Recorder::default();
    seen.windows.iter().filter_map(|w| w.lag.as_deref()).for_each(|l| lag.merge(l));
    let p99_ns = lag.quantile_ns(0.99)?;
    let ios: u64 = seen.slices.iter().map(record::Slice::ios).sum();
    let sum_ns: u64 = seen
        .slices
        .iter()
        .flat_map(|s| [&s.read, &s.write])
        .filter_map(|c| c.latency.as_ref().map(record::LatencyHistogram::sum_ns))
        .sum();
    let mean_ns = sum_ns as f64 / ios.max(1) as f64;
    let lag_mean_ns = lag.sum_ns() as f64 / lag.count() as f64;
    if p99_ns < LAG_MIN_NS || lag_mean_ns < LAG_CAUTION * mean_ns {
        return None;
    }
    Some(Doubt {
        id: DoubtId::GeneratorLag,
        weight: Weight::Caution,
        text: format!(
            "I/Os were started {:.0} us late on average (99 % within {:.0} us) although a slot was free; the mean \
             response of {:.0} us contains that",
            lag_mean_ns / 1e3,
            p99_ns as f64 / 1e3,
            mean_ns / 1e3
        ),
    })
}
