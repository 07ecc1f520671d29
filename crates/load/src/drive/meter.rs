//! Cuts a worker's I/O into slices on boundaries that all workers share.
//!
//! A step has three phases. While *settling*, the worker publishes its progress every millisecond. Once the measuring
//! thread has announced the window, the worker cuts slices at `start + k * 100 ms`, by the clock it reads anyway, and
//! hands each over as it ends. After the window it *keeps the load up* (so that whoever reads the kernel's counters
//! still sees it) until it is released.
//!
//! A worker that sleeps over a boundary cuts it when it wakes; nothing is lost, since neither completions nor the number
//! outstanding change while it sleeps.

use crate::clock::MILLISECOND_NS;
use crate::cpu::{ThreadProbe, ThreadTime};
use crate::recorder::Recorder;
use record::{FailedIos, IoClass};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender};

/// Length of a slice.
pub const SLICE_NS: u64 = 100 * MILLISECOND_NS;
/// How often a settling worker publishes its progress.
pub const PUBLISH_NS: u64 = MILLISECOND_NS;
/// I/O errors after which a step ends.
pub const ERRORS_MAX: u64 = 100;
/// Errors in a row from the start after which a step ends: every I/O fails.
pub const ERRORS_AT_START_MAX: u64 = 8;

/// What the measuring thread and the workers of one step tell each other.
#[derive(Debug)]
pub struct Control {
    window_start_ns: AtomicU64,
    window_end_ns: AtomicU64,
    release: AtomicBool,
    errors: AtomicU64,
    first_error: OnceLock<(IoClass, i32)>,
    /// Lowest and highest offset that failed.
    error_offsets: [AtomicU64; 2],
    /// Longest I/O outside the window: while settling and draining.
    slowest_outside_ns: AtomicU64,
    failure: OnceLock<Failure>,
}

/// Why the target cannot be loaded on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// I/Os failed.
    Errors {
        /// What they were.
        class: IoClass,
        /// The error of the last one.
        errno: i32,
        /// How many failed.
        errors: u64,
    },
    /// An I/O moved fewer bytes than asked.
    Short {
        /// What it was.
        class: IoClass,
        /// Bytes it moved.
        moved: u32,
        /// Bytes it should have moved.
        asked: u32,
        /// Where.
        offset: u64,
    },
}

impl Default for Control {
    fn default() -> Self {
        Self {
            window_start_ns: AtomicU64::new(u64::MAX),
            window_end_ns: AtomicU64::new(u64::MAX),
            release: AtomicBool::new(false),
            errors: AtomicU64::new(0),
            first_error: OnceLock::new(),
            error_offsets: [AtomicU64::new(u64::MAX), AtomicU64::new(0)],
            slowest_outside_ns: AtomicU64::new(0),
            failure: OnceLock::new(),
        }
    }
}

impl Control {
    /// Announces the window; `start_ns` lies at least two publish intervals ahead, so that no busy worker misses it.
    pub fn announce(&self, start_ns: u64, end_ns: u64) {
        self.window_end_ns.store(end_ns, Ordering::Relaxed);
        self.window_start_ns.store(start_ns, Ordering::Release);
    }

    /// Lets the workers drain and become idle.
    pub fn release(&self) {
        self.release.store(true, Ordering::Release);
    }

    /// Whether workers should drain.
    #[inline]
    pub fn released(&self) -> bool {
        self.release.load(Ordering::Relaxed)
    }

    /// The failure that ended the load, if any.
    pub fn failure(&self) -> Option<Failure> {
        self.failure.get().copied()
    }

    /// The I/Os that failed, settling and draining included.
    pub fn failed_ios(&self) -> Option<FailedIos> {
        let (class, errno) = *self.first_error.get()?;
        Some(FailedIos {
            count: self.errors.load(Ordering::Relaxed),
            class,
            offset_bytes: [0, 1].map(|i: usize| self.error_offsets[i].load(Ordering::Relaxed)),
            cause: std::io::Error::from_raw_os_error(errno).to_string(),
        })
    }

    /// The longest that an I/O took which completed outside the window; 0 when there was none.
    pub fn slowest_outside_ns(&self) -> u64 {
        self.slowest_outside_ns.load(Ordering::Relaxed)
    }

    fn note_error(&self, class: IoClass, errno: i32, offset: u64) -> u64 {
        let _ = self.first_error.set((class, errno));
        self.error_offsets[0].fetch_min(offset, Ordering::Relaxed);
        self.error_offsets[1].fetch_max(offset, Ordering::Relaxed);
        self.errors.fetch_add(1, Ordering::Relaxed) + 1
    }

    fn fail(&self, failure: Failure) {
        // The first failure is the one to report.
        let _ = self.failure.set(failure);
        self.release();
    }
}

/// How far one worker is, readable while it works. On a cache line of its own.
#[derive(Debug, Default)]
#[repr(align(128))]
pub struct Progress {
    /// Reads and writes completed since the load was put on.
    pub ios: AtomicU64,
    /// Sum of their response times.
    pub sum_ns: AtomicU64,
    /// I/Os in flight.
    pub in_flight: AtomicU32,
    /// I/Os of a closed loop that were passed over in the last window ([`record::Starved`]).
    pub starved: AtomicU64,
    /// How long they waited in it.
    pub starved_ns: AtomicU64,
}

/// One class of I/O in one slice of one worker.
#[derive(Debug, Default)]
pub struct ClassCounts {
    /// Latencies.
    pub recorder: Recorder,
    /// Failed I/Os.
    pub errors: u64,
}

/// One slice of one worker.
#[derive(Debug, Default)]
pub struct SliceCounts {
    /// Number of the slice in the window.
    pub index: u32,
    /// Its length.
    pub length_ns: u64,
    /// Reads, writes, flushes.
    pub classes: [ClassCounts; 3],
    /// Integral of the outstanding I/Os over time, in I/O-nanoseconds.
    pub outstanding_ns: u128,
}

impl SliceCounts {
    fn clear(&mut self) {
        for class in &mut self.classes {
            class.recorder.clear();
            class.errors = 0;
        }
        self.outstanding_ns = 0;
    }

    /// Reads and writes completed, and the sum of their response times.
    pub fn ios(&self) -> (u64, u64) {
        let [read, write, _] = &self.classes;
        (read.recorder.count() + write.recorder.count(), read.recorder.sum_ns() + write.recorder.sum_ns())
    }
}

/// What a worker says about its window as a whole.
#[derive(Debug)]
pub struct WindowSeen {
    /// Its processor time between the first and the last instant it saw of the window.
    pub time: ThreadTime,
    /// Reads and writes it completed between these instants.
    pub ios: u64,
    /// How late it started I/Os of an open loop that had a free slot.
    pub lag: Option<Box<Recorder>>,
}

/// From a worker to the measuring thread.
#[derive(Debug)]
pub enum Report {
    /// A slice ended.
    Slice {
        /// Who.
        worker: usize,
        /// What.
        counts: Box<SliceCounts>,
    },
    /// The window ended.
    Window {
        /// What.
        seen: WindowSeen,
    },
    /// The worker has nothing in flight any more and waits for the next job.
    Idle {
        /// Who.
        worker: usize,
        /// How it went.
        outcome: std::io::Result<()>,
        /// What the engine had to do without.
        notes: Vec<String>,
    },
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Phase {
    Settling,
    Measuring,
    Cooling,
}

/// One worker's counts during one step.
pub struct Meter<'a> {
    worker: usize,
    control: &'a Control,
    progress: &'a Progress,
    reports: &'a Sender<Report>,
    spare: &'a Receiver<Box<SliceCounts>>,
    probe: &'a ThreadProbe,
    phase: Phase,
    /// When [`Self::turn`] has something to do.
    next_ns: u64,
    start_ns: u64,
    end_ns: u64,
    slice: Box<SliceCounts>,
    slice_start_ns: u64,
    outstanding: u32,
    integrated_to_ns: u64,
    begin: ThreadTime,
    window_ios: u64,
    any_success: bool,
    lag: Option<Box<Recorder>>,
}

/// What a meter needs from its worker.
pub struct MeterParts<'a> {
    /// Index of the worker.
    pub worker: usize,
    /// Shared by all workers of the step.
    pub control: &'a Control,
    /// This worker's own.
    pub progress: &'a Progress,
    /// Where reports go.
    pub reports: &'a Sender<Report>,
    /// Slices that came back to be filled again.
    pub spare: &'a Receiver<Box<SliceCounts>>,
    /// Reads this thread's times.
    pub probe: &'a ThreadProbe,
}

impl<'a> Meter<'a> {
    /// A meter that starts settling at `now_ns`.
    pub fn new(parts: MeterParts<'a>, now_ns: u64, open_loop: bool) -> Self {
        let slice = fresh(parts.spare);
        Self {
            worker: parts.worker,
            control: parts.control,
            progress: parts.progress,
            reports: parts.reports,
            spare: parts.spare,
            probe: parts.probe,
            phase: Phase::Settling,
            next_ns: now_ns + PUBLISH_NS,
            start_ns: u64::MAX,
            end_ns: u64::MAX,
            slice,
            slice_start_ns: now_ns,
            outstanding: 0,
            integrated_to_ns: now_ns,
            begin: ThreadTime::default(),
            window_ios: 0,
            any_success: false,
            lag: open_loop.then(Box::default),
        }
    }

    /// To be called with every reading of the clock, before what completed at it is recorded.
    #[inline]
    pub fn tick(&mut self, now_ns: u64) {
        if now_ns >= self.next_ns {
            self.turn(now_ns);
        }
    }

    /// The number outstanding changes at `now_ns`.
    #[inline]
    pub fn set_outstanding(&mut self, now_ns: u64, outstanding: u32) {
        self.integrate(now_ns);
        self.outstanding = outstanding;
    }

    /// The number outstanding.
    #[inline]
    pub fn outstanding(&self) -> u32 {
        self.outstanding
    }

    /// Counts one completed I/O.
    #[inline]
    pub fn record(&mut self, class: IoClass, latency_ns: u64) {
        self.slice.classes[class as usize].recorder.record(latency_ns);
    }

    /// Counts how late an I/O of an open loop was started.
    #[inline]
    pub fn record_lag(&mut self, lag_ns: u64) {
        if let Some(lag) = &mut self.lag {
            lag.record(lag_ns);
        }
    }

    /// Counts a failed I/O, and ends the load when there are too many.
    #[cold]
    pub fn record_error(&mut self, class: IoClass, errno: i32, offset: u64) {
        self.slice.classes[class as usize].errors += 1;
        let errors = self.control.note_error(class, errno, offset);
        self.any_success |= self.slice.ios().0 > 0;
        let at_once = matches!(
            errno,
            libc::ENODEV
                | libc::ENXIO
                | libc::ENOSPC
                | libc::EDQUOT
                | libc::EROFS
                | libc::EBADF
                | libc::ESTALE
                | libc::EINVAL
                | libc::EFBIG
                | libc::EOPNOTSUPP
        );
        if at_once || errors >= ERRORS_MAX || (errors >= ERRORS_AT_START_MAX && !self.any_success) {
            self.control.fail(Failure::Errors { class, errno, errors });
        }
    }

    /// An I/O moved fewer bytes than asked: the target ends before its block does.
    #[cold]
    pub fn record_short(&mut self, class: IoClass, moved: u32, asked: u32, offset: u64) {
        self.slice.classes[class as usize].errors += 1;
        self.control.fail(Failure::Short { class, moved, asked, offset });
    }

    /// The load ends at `now_ns`: what was not said of the window is said now.
    pub fn finish(&mut self, now_ns: u64) {
        self.tick(now_ns);
        if self.phase == Phase::Measuring {
            self.window_ios += self.slice.ios().0;
            self.end_window();
        }
    }

    /// Start and end of the window, once the whole of it is over.
    pub fn window_over_ns(&self) -> Option<(u64, u64)> {
        (self.phase == Phase::Cooling).then_some((self.start_ns, self.end_ns))
    }

    /// Nothing is in flight any more: what came after the window is told apart from it.
    pub fn drained(&self) {
        self.note_outside();
    }

    /// The slice at hand belongs to no window: only its longest I/O is told.
    fn note_outside(&self) {
        let slowest = self.slice.classes.iter().filter_map(|c| c.recorder.quantile_ns(1.0)).max();
        self.control.slowest_outside_ns.fetch_max(slowest.unwrap_or(0), Ordering::Relaxed);
    }

    fn integrate(&mut self, to_ns: u64) {
        let length_ns = to_ns.saturating_sub(self.integrated_to_ns);
        self.slice.outstanding_ns += u128::from(self.outstanding) * u128::from(length_ns);
        self.integrated_to_ns = self.integrated_to_ns.max(to_ns);
    }

    #[cold]
    fn turn(&mut self, now_ns: u64) {
        loop {
            match self.phase {
                Phase::Settling => {
                    let start_ns = self.control.window_start_ns.load(Ordering::Acquire);
                    if now_ns < start_ns {
                        self.publish();
                        self.next_ns = start_ns.min(now_ns + PUBLISH_NS);
                        return;
                    }
                    self.begin_window(start_ns);
                }
                Phase::Measuring if now_ns >= self.next_ns => self.end_slice(),
                Phase::Measuring | Phase::Cooling => return,
            }
        }
    }

    fn publish(&self) {
        let (ios, sum_ns) = self.slice.ios();
        self.progress.ios.store(ios, Ordering::Relaxed);
        self.progress.sum_ns.store(sum_ns, Ordering::Relaxed);
    }

    fn begin_window(&mut self, start_ns: u64) {
        self.any_success |= self.slice.ios().0 > 0;
        self.note_outside();
        self.slice.clear();
        self.slice.index = 0;
        if let Some(lag) = &mut self.lag {
            lag.clear();
        }
        self.start_ns = start_ns;
        self.end_ns = self.control.window_end_ns.load(Ordering::Relaxed);
        self.slice_start_ns = start_ns;
        self.integrated_to_ns = start_ns;
        self.next_ns = (start_ns + SLICE_NS).min(self.end_ns);
        self.phase = Phase::Measuring;
        self.begin = self.probe.read();
    }

    fn end_slice(&mut self) {
        let boundary_ns = self.next_ns;
        self.integrate(boundary_ns);
        let ios = self.slice.ios().0;
        self.window_ios += ios;
        self.any_success |= ios > 0;
        let mut next = fresh(self.spare);
        next.index = self.slice.index + 1;
        let mut counts = std::mem::replace(&mut self.slice, next);
        counts.length_ns = boundary_ns - self.slice_start_ns;
        // The measuring thread is gone only when the whole step is; then nobody wants the slice.
        let _ = self.reports.send(Report::Slice { worker: self.worker, counts });
        self.slice_start_ns = boundary_ns;
        self.next_ns = (boundary_ns + SLICE_NS).min(self.end_ns);
        if boundary_ns >= self.end_ns {
            self.end_window();
        }
    }

    fn end_window(&mut self) {
        self.phase = Phase::Cooling;
        self.next_ns = u64::MAX;
        let seen = WindowSeen {
            time: self.probe.read().since(&self.begin),
            ios: self.window_ios,
            lag: self.lag.take(),
        };
        let _ = self.reports.send(Report::Window { seen });
    }
}

/// A slice to fill: one that came back, or a new one in the first moments of a run.
fn fresh(spare: &Receiver<Box<SliceCounts>>) -> Box<SliceCounts> {
    let mut slice = spare.try_recv().unwrap_or_default();
    slice.clear();
    slice
}
