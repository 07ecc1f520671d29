//! The worker threads: started when first needed, parked between steps, each with an engine of its own.

use crate::buffers::Arena;
use crate::clock::now_ns;
use crate::cpu::ThreadProbe;
use crate::drive::lane::{Lane, LaneDemand};
use crate::drive::meter::{Control, Meter, MeterParts, Progress, Report, SliceCounts};
use crate::drive::{closed, open};
use crate::engine::libaio::LibaioEngine;
use crate::engine::sync::SyncEngine;
use crate::engine::uring::UringEngine;
use crate::engine::{Engine, EngineKind, Setup};
use crate::workload::{Picker, Region, Workload};
use rustix::thread::{CpuSet, sched_setaffinity, set_current_timer_slack};
use std::io;
use std::num::NonZeroU64;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

/// Stack of a worker: its deepest frame is a histogram away from nothing.
const STACK_BYTES: usize = 256 << 10;

/// One worker's part of a step.
#[derive(Debug)]
pub struct Job {
    /// Shared by the step's workers.
    pub control: Arc<Control>,
    /// Where reports go.
    pub reports: Sender<Report>,
    /// What to offer.
    pub demand: LaneDemand,
    /// Where.
    pub region: Region,
    /// Of addresses and arrivals.
    pub seed: u64,
}

/// What all workers of a crew have in common.
#[derive(Clone, Debug)]
pub struct Duty {
    /// Engine to use.
    pub engine: EngineKind,
    /// For the engine.
    pub setup: Setup,
    /// What I/O to make.
    pub workload: Workload,
    /// Logical CPUs that workers are pinned to, in turn; empty for no pinning.
    pub cores: Vec<u32>,
}

struct Worker {
    jobs: Sender<Job>,
    spare: Sender<Box<SliceCounts>>,
    progress: Arc<Progress>,
    thread: JoinHandle<()>,
    /// Has a job and has not reported idle since.
    busy: bool,
}

type Entry = fn(usize, Duty, Seat);

/// What a worker thread is given.
struct Seat {
    jobs: Receiver<Job>,
    spare: Receiver<Box<SliceCounts>>,
    progress: Arc<Progress>,
}

/// The workers.
pub struct Crew {
    workers: Vec<Worker>,
    duty: Duty,
    entry: Entry,
}

impl Crew {
    /// A crew without workers as yet.
    pub fn new(duty: Duty) -> Self {
        let entry = match duty.engine {
            EngineKind::IoUring => work::<UringEngine>,
            EngineKind::Libaio => work::<LibaioEngine>,
            EngineKind::Sync => work::<SyncEngine>,
        };
        Self { workers: Vec::new(), duty, entry }
    }

    /// A crew that works with an engine of the test's choice.
    #[cfg(test)]
    pub fn with_engine<E: Engine + 'static>(duty: Duty) -> Self {
        Self { workers: Vec::new(), duty, entry: work::<E> }
    }

    /// Makes sure that there are `count` workers.
    pub fn grow(&mut self, count: usize) -> io::Result<()> {
        while self.workers.len() < count {
            let worker = self.workers.len();
            let (jobs, job_seat) = channel();
            let (spare, spare_seat) = channel();
            let progress = Arc::new(Progress::default());
            let seat = Seat { jobs: job_seat, spare: spare_seat, progress: Arc::clone(&progress) };
            let (entry, duty) = (self.entry, self.duty.clone());
            let thread = std::thread::Builder::new()
                .name(format!("load-{worker}"))
                .stack_size(STACK_BYTES)
                .spawn(move || entry(worker, duty, seat))?;
            self.workers.push(Worker { jobs, spare, progress, thread, busy: false });
        }
        Ok(())
    }

    /// Puts a worker to work. It must be idle.
    pub fn assign(&mut self, worker: usize, job: Job) -> io::Result<()> {
        let it = &mut self.workers[worker];
        assert!(!it.busy, "a worker has one job at a time");
        it.progress.ios.store(0, std::sync::atomic::Ordering::Relaxed);
        it.progress.sum_ns.store(0, std::sync::atomic::Ordering::Relaxed);
        it.progress.starved.store(0, std::sync::atomic::Ordering::Relaxed);
        it.progress.starved_ns.store(0, std::sync::atomic::Ordering::Relaxed);
        it.jobs.send(job).map_err(|_| io::Error::other(format!("load worker {worker} has ended")))?;
        it.busy = true;
        Ok(())
    }

    /// Says that a worker reported idle.
    pub fn idle(&mut self, worker: usize) {
        self.workers[worker].busy = false;
    }

    /// Gives a slice back to be filled again.
    pub fn give_back(&self, worker: usize, slice: Box<SliceCounts>) {
        // A worker that ended has no use for it.
        let _ = self.workers[worker].spare.send(slice);
    }

    /// Workers that have not reported idle, and the I/Os they have in flight.
    pub fn busy(&self) -> (usize, u32) {
        let busy = self.workers.iter().filter(|w| w.busy);
        busy.fold((0, 0), |(n, ios), w| {
            (n + 1, ios + w.progress.in_flight.load(std::sync::atomic::Ordering::Relaxed))
        })
    }

    /// I/Os passed over in the last window by the first `workers` workers: those that had a job.
    pub fn starved(&self, workers: usize) -> record::Starved {
        let sum = |of: fn(&Progress) -> &std::sync::atomic::AtomicU64| -> u64 {
            let workers = self.workers.iter().take(workers);
            workers.map(|w| of(&w.progress).load(std::sync::atomic::Ordering::Relaxed)).sum()
        };
        record::Starved { ios: sum(|p| &p.starved), waited_s: sum(|p| &p.starved_ns) as f64 * 1e-9 }
    }

    /// Reads and writes completed while settling, and the sum of their response times in nanoseconds.
    pub fn progress(&self) -> (u64, u64) {
        let load = std::sync::atomic::Ordering::Relaxed;
        self.workers.iter().filter(|w| w.busy).fold((0, 0), |(ios, sum), w| {
            (ios + w.progress.ios.load(load), sum + w.progress.sum_ns.load(load))
        })
    }
}

impl Drop for Crew {
    fn drop(&mut self) {
        for worker in self.workers.drain(..) {
            drop(worker.jobs);
            // A worker whose I/O hangs cannot be waited for; its buffers stay its own.
            if !worker.busy {
                let _ = worker.thread.join();
            }
        }
    }
}

/// Reports idle when the worker is done with a job, however that ended.
struct IdleReport {
    worker: usize,
    reports: Sender<Report>,
    outcome: Option<(io::Result<()>, Vec<String>)>,
}

impl Drop for IdleReport {
    fn drop(&mut self) {
        let (outcome, notes) = self.outcome.take().unwrap_or_else(|| {
            (Err(io::Error::other(format!("load worker {} panicked", self.worker))), Vec::new())
        });
        let _ = self.reports.send(Report::Idle { worker: self.worker, outcome, notes });
    }
}

/// A worker's life: one job after the other.
fn work<E: Engine>(worker: usize, duty: Duty, seat: Seat) {
    pin(worker, &duty.cores);
    // Timers of this thread fire when they are due, not up to 50 us later. Best effort.
    let _ = set_current_timer_slack(NonZeroU64::new(1));
    let probe = ThreadProbe::new();
    let mut engine: Option<E> = None;
    while let Ok(job) = seat.jobs.recv() {
        let mut idle = IdleReport { worker, reports: job.reports.clone(), outcome: None };
        let outcome = perform(worker, &duty, &seat, &probe, &mut engine, &job);
        let notes = engine.as_ref().map(|e| e.notes().to_vec()).unwrap_or_default();
        if outcome.is_err() {
            // Whatever state it is in, it is not used again; what is in flight keeps its buffers.
            engine = None;
        }
        idle.outcome = Some((outcome, notes));
    }
}

fn pin(worker: usize, cores: &[u32]) {
    if cores.is_empty() {
        return;
    }
    let mut set = CpuSet::new();
    set.set(cores[worker % cores.len()] as usize);
    // A core that went away since it was chosen leaves the worker where the scheduler puts it.
    let _ = sched_setaffinity(None, &set);
}

fn perform<E: Engine>(
    worker: usize,
    duty: &Duty,
    seat: &Seat,
    probe: &ThreadProbe,
    engine: &mut Option<E>,
    job: &Job,
) -> io::Result<()> {
    if engine.is_none() {
        *engine = Some(E::new(&duty.setup, worker as u32)?);
    }
    let engine = engine.as_mut().expect("made above when it was absent");
    let slots = job.demand.slots();
    engine.reserve(slots)?;
    let open_loop = matches!(job.demand, LaneDemand::Open { .. });
    let parts = MeterParts {
        worker,
        control: &job.control,
        progress: &seat.progress,
        reports: &job.reports,
        spare: &seat.spare,
        probe,
    };
    let meter = Meter::new(parts, now_ns(), open_loop);
    let picker = Picker::new(&duty.workload, job.region, job.seed);
    let mut lane =
        Lane::new(engine, meter, &job.control, picker, duty.workload.sync, duty.workload.block_bytes, slots);
    match job.demand {
        LaneDemand::Closed { slots } => closed::run(&mut lane, slots, &seat.progress),
        LaneDemand::Open { rate_iops, arrival, slots, phase } => {
            let schedule = open::Schedule::new(rate_iops, arrival, phase, now_ns(), job.seed ^ 0x5eed);
            open::run(&mut lane, schedule, slots, &seat.progress)
        }
    }
}

/// Bytes of buffers that one I/O in flight needs.
pub fn buffer_bytes(workload: &Workload) -> u64 {
    let one = workload.block_bytes.next_multiple_of(512);
    one * (u64::from(workload.reads()) + u64::from(workload.writes()))
}

const _: () = {
    const fn is_send<T: Send>() {}
    is_send::<Arena>();
};
