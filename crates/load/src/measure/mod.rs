//! One step: load on, settle, measure in slices, load off.

pub mod assemble;
pub mod collect;

use crate::clock::{MILLISECOND_NS, now_ns, ns_to_seconds};
use crate::cpu::KernelWorkers;
use crate::crew::Crew;
use crate::drive::meter::{Control, Failure, Report, WindowSeen};
use collect::Collector;
use host::Root;
use record::subject::settled;
use record::{Ended, Flow, Follow, Followed, Incidents, Slice, SubjectError, Watch, Window};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

/// How often the measuring thread looks around while nothing arrives.
const LOOK: Duration = Duration::from_millis(5);
/// How far ahead a window is announced: several publish intervals of the workers.
const ANNOUNCE_NS: u64 = 3 * MILLISECOND_NS;
/// How often devices are asked for what they answered besides success.
const TROUBLES_NS: u64 = 100 * MILLISECOND_NS;
/// Settling ends after this long (plus five response times in a closed loop), settled or not.
const SETTLE_MAX_S: f64 = 3.0;
/// After an interrupt nobody wants to wait for a device that hangs.
const HANG_AFTER_INTERRUPT: Duration = Duration::from_secs(5);

/// What a step is made with.
pub struct Stage<'a> {
    /// Workers with their jobs already assigned.
    pub crew: &'a mut Crew,
    /// Shared with them.
    pub control: Arc<Control>,
    /// From them.
    pub reports: Receiver<Report>,
    /// How many have a job.
    pub workers: usize,
    /// Bytes of one I/O.
    pub block_bytes: u64,
    /// Concurrency asked for, absent in an open loop.
    pub concurrency: Option<u32>,
    /// Length of the window.
    pub measure_ns: u64,
    /// Follows the queue.
    pub follower: Option<&'a mut Box<dyn Follow>>,
    /// Set by a signal.
    pub interrupt: &'a AtomicBool,
    /// Whether the target still holds the region; an error says what happened to it.
    pub intact: &'a dyn Fn() -> Result<(), String>,
    /// Longest wait for I/Os in flight.
    pub hang_bound: Duration,
}

/// What a step gave, not yet put into the form of the contract.
pub struct Seen {
    /// Start of the window by the clock.
    pub start_ns: u64,
    /// Settling time.
    pub settle_s: f64,
    /// Whole slices.
    pub slices: Vec<Slice>,
    /// What each worker said of its window.
    pub windows: Vec<WindowSeen>,
    /// What the follower saw.
    pub followed: Followed,
    /// Processor time of kernel workers in the window, and how many there were at its end.
    pub kernel_workers: (u64, usize),
    /// I/Os passed over.
    pub starved: record::Starved,
    /// How it ended.
    pub ended: Ended,
    /// What the engines had to do without, each said once.
    pub notes: Vec<String>,
    /// From putting the load on to its last I/O.
    pub incidents: Incidents,
}

struct Run<'s, 'a> {
    stage: &'s mut Stage<'a>,
    collector: Collector,
    slices: Vec<Slice>,
    windows: Vec<WindowSeen>,
    notes: Vec<String>,
    idle: usize,
    ended: Option<Ended>,
    system: Option<std::io::Error>,
    look_at_ns: u64,
}

/// Makes one step. The error is the operating system's when no worker could work at all.
pub fn run(mut stage: Stage<'_>, watch: &mut dyn Watch) -> Result<Seen, SubjectError> {
    let loaded_ns = now_ns();
    let collector = Collector::new(stage.workers, stage.block_bytes);
    let mut run = Run {
        stage: &mut stage,
        collector,
        slices: Vec::new(),
        windows: Vec::new(),
        notes: Vec::new(),
        idle: 0,
        ended: None,
        system: None,
        look_at_ns: loaded_ns + TROUBLES_NS,
    };
    run.settle(loaded_ns, watch);
    let start_ns = now_ns() + ANNOUNCE_NS;
    let end_ns = start_ns + run.stage.measure_ns;
    let mut before = KernelWorkers::default();
    let announced = run.ended.is_none();
    if announced {
        run.stage.control.announce(start_ns, end_ns);
        std::thread::sleep(Duration::from_nanos(start_ns.saturating_sub(now_ns())));
        before = KernelWorkers::read(&Root::system());
        if let Some(follower) = &mut run.stage.follower {
            follower.begin();
        }
        run.window(end_ns, watch);
    }
    let after = KernelWorkers::read(&Root::system());
    let followed = if announced { run.end_follower() } else { Followed::default() };
    run.release(watch);
    let incidents = run.incidents();
    if let Some(cause) = run.system.take() {
        return Err(SubjectError::System { doing: "putting the load on".to_owned(), cause });
    }
    Ok(Seen {
        start_ns,
        settle_s: ns_to_seconds(start_ns - loaded_ns),
        kernel_workers: (after.busy_ns_since(&before), after.count()),
        starved: run.stage.crew.starved(run.stage.workers),
        ended: run.ended.take().unwrap_or(Ended::Complete),
        slices: run.slices,
        windows: run.windows,
        notes: run.notes,
        followed,
        incidents,
    })
}

impl Run<'_, '_> {
    /// Waits until the transient after the change of load is over, at most for a bounded time.
    fn settle(&mut self, loaded_ns: u64, watch: &mut dyn Watch) {
        while self.ended.is_none() {
            self.pump(LOOK, watch);
            let (ios, sum_ns) = self.stage.crew.progress();
            let mean_s = if ios > 0 { ns_to_seconds(sum_ns) / ios as f64 } else { 0.0 };
            let elapsed_s = ns_to_seconds(now_ns() - loaded_ns);
            // In an open loop, the mean number in flight by Little's law.
            let concurrency =
                self.stage.concurrency.unwrap_or_else(|| (ios as f64 / elapsed_s * mean_s).ceil() as u32);
            let done = settled(ios, concurrency.max(1), mean_s, elapsed_s);
            // An open loop beyond the path's throughput never settles: its response times grow with the time it lasts.
            let grace_s = if self.stage.concurrency.is_some() { 5.0 * mean_s } else { 0.0 };
            if done || elapsed_s > SETTLE_MAX_S + grace_s {
                return;
            }
        }
    }

    /// Collects slices until every worker has said that its window is over.
    fn window(&mut self, end_ns: u64, watch: &mut dyn Watch) {
        let bound_ns = end_ns + self.stage.hang_bound.as_nanos() as u64;
        while self.ended.is_none() && self.windows.len() < self.stage.workers {
            self.pump(LOOK, watch);
            if now_ns() > bound_ns {
                self.hang();
            }
        }
    }

    /// Lets the load off, and waits for the workers to become idle.
    fn release(&mut self, watch: &mut dyn Watch) {
        self.stage.control.release();
        let bound = match self.ended {
            Some(Ended::Interrupted) => self.stage.hang_bound.min(HANG_AFTER_INTERRUPT),
            _ => self.stage.hang_bound,
        };
        let bound_ns = now_ns() + bound.as_nanos() as u64;
        while self.idle < self.stage.workers {
            if !self.pump(LOOK, watch) && now_ns() > bound_ns {
                self.hang();
                return;
            }
        }
        // An I/O may have failed while the load was taken off, or just before the last look.
        if let Some(failure) = self.stage.control.failure() {
            self.end(Ended::Failed(describe(failure)));
        }
    }

    fn hang(&mut self) {
        let (workers, ios) = self.stage.crew.busy();
        let seconds = self.stage.hang_bound.as_secs_f64();
        self.end(Ended::Failed(format!(
            "{ios} I/Os of {workers} workers did not complete within {seconds} s after their time"
        )));
    }

    /// The first reason to end is the one that counts.
    fn end(&mut self, how: Ended) {
        self.ended.get_or_insert(how);
    }

    /// Handles what arrives within `wait`, and looks for reasons to end. False when nothing arrived.
    fn pump(&mut self, wait: Duration, watch: &mut dyn Watch) -> bool {
        let arrived = match self.stage.reports.recv_timeout(wait) {
            Ok(report) => {
                self.take(report, watch);
                true
            }
            Err(RecvTimeoutError::Timeout) => false,
            Err(RecvTimeoutError::Disconnected) => {
                // Every worker has reported idle; nothing more can arrive.
                std::thread::sleep(wait);
                false
            }
        };
        if let Some(failure) = self.stage.control.failure() {
            self.end(Ended::Failed(describe(failure)));
        } else if self.stage.interrupt.load(Ordering::Relaxed) {
            self.end(Ended::Interrupted);
        }
        self.look(watch);
        arrived
    }

    /// Asks the devices now and then how they take the load, while it is on.
    fn look(&mut self, watch: &mut dyn Watch) {
        let now_ns = now_ns();
        if self.ended.is_some() || now_ns < self.look_at_ns {
            return;
        }
        self.look_at_ns = now_ns + TROUBLES_NS;
        let Some(follower) = &mut self.stage.follower else { return };
        let troubles = follower.troubles();
        if !troubles.is_empty() && watch.troubles(&troubles) == Flow::Stop {
            self.end(Ended::Stopped);
        }
    }

    /// What happened beside the slices, once nothing is in flight.
    fn incidents(&mut self) -> Incidents {
        let control = &self.stage.control;
        let outside_ns = control.slowest_outside_ns();
        let classes = || self.slices.iter().flat_map(|s| [&s.read, &s.write, &s.flush]);
        let inside_ns = classes().filter_map(|c| c.latency.as_ref()?.max_ns()).max().unwrap_or(0);
        let slowest_ns = outside_ns.max(inside_ns);
        Incidents {
            failed: control.failed_ios(),
            slowest_us: (slowest_ns > 0).then(|| slowest_ns as f64 / 1e3),
            troubles: self.stage.follower.as_mut().map(|f| f.troubles()).unwrap_or_default(),
        }
    }

    fn take(&mut self, report: Report, watch: &mut dyn Watch) {
        match report {
            Report::Slice { worker, counts } => {
                let whole = self.collector.add(&counts);
                self.stage.crew.give_back(worker, counts);
                if let Some(slice) = whole {
                    self.take_slice(slice, watch);
                }
            }
            Report::Window { seen } => self.windows.push(seen),
            Report::Idle { worker, outcome, notes } => {
                self.idle += 1;
                self.stage.crew.idle(worker);
                for note in notes {
                    if !self.notes.contains(&note) {
                        self.notes.push(note);
                    }
                }
                if let Err(error) = outcome {
                    self.end(Ended::Failed(format!("the load engine failed: {error}")));
                    if self.slices.is_empty() {
                        self.system.get_or_insert(error);
                    }
                }
            }
        }
    }

    /// Keeps a slice unless the step has ended, and asks whether to go on.
    fn take_slice(&mut self, slice: Slice, watch: &mut dyn Watch) {
        if self.ended.is_some() {
            return;
        }
        let flow = watch.slice(&slice);
        self.slices.push(slice);
        if let Err(why) = (self.stage.intact)() {
            self.end(Ended::Failed(why));
        } else if flow == Flow::Stop && self.windows.len() < self.stage.workers {
            self.end(Ended::Stopped);
        }
    }

    fn end_follower(&mut self) -> Followed {
        let length_s: f64 = self.slices.iter().map(|s| s.length_s).sum();
        let outstanding: f64 = self.slices.iter().map(|s| s.outstanding_mean * s.length_s).sum();
        let window = Window {
            length_s,
            ios: self.slices.iter().map(Slice::ios).sum(),
            bytes: self.slices.iter().map(Slice::bytes).sum(),
            outstanding_mean: if length_s > 0.0 { outstanding / length_s } else { 0.0 },
        };
        match &mut self.stage.follower {
            Some(follower) => follower.end(&window),
            None => Followed::default(),
        }
    }
}

/// A failure in words.
pub fn describe(failure: Failure) -> String {
    let name = |class| match class {
        record::IoClass::Read => "read",
        record::IoClass::Write => "write",
        record::IoClass::Flush => "flush",
    };
    match failure {
        Failure::Errors { class, errno, errors } => {
            let cause = std::io::Error::from_raw_os_error(errno);
            format!("{errors} I/O errors, the last one of a {}: {cause}", name(class))
        }
        Failure::Short { class, moved, asked, offset } => format!(
            "a {} of {asked} bytes at byte {offset} moved only {moved}: the target ends there; it has shrunk or was \
             replaced",
            name(class)
        ),
    }
}
