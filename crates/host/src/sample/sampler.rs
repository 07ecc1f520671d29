//! The thread that reads instant values while a window is open.
//!
//! It sleeps about 5 ms between rounds, spread evenly over half to one and a half times that, so that it does not
//! march in step with anything periodic. When its rounds cost more than [`COST_SHARE`] of a core at that pace, it
//! slows down. Between windows it is parked and costs nothing.

use super::kept::{Buffer, Kept};
use super::moments::{Moments, Pair};
use super::process::thread_s;
use super::sources::{Bounds, Source};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Pace of the rounds: 200 per second. A request of 1 ms is then met at one instant or none, so rounds are nearly
/// independent, and a window of one second gives 200 of them: about 3 % error on a queue that swings by half.
const PERIOD: Duration = Duration::from_millis(5);

/// Slowest pace, so that even a path of a thousand layers gets ten rounds in a second.
const PERIOD_MAX: Duration = Duration::from_millis(100);

/// Share of one core the rounds may cost.
const COST_SHARE: f64 = 0.008;

/// Time between readings of limits and of the time course.
const COURSE: Duration = Duration::from_millis(100);

/// The run queue is read in every so manieth round.
const RUNNING_EVERY: u64 = 4;

/// Points of the time course kept per layer and window: ten minutes.
const COURSE_MAX: usize = 6000;

/// What was seen of one layer at the instants.
#[derive(Clone, Debug, Default)]
pub(crate) struct Instants {
    /// Sent to the device: `device_busy` of a LUN, else `inflight`.
    pub sent: Moments,
    /// In-flight field of `stat`.
    pub inside: Moments,
    /// Both at the same instants.
    pub pair: Pair,
    /// Largest number accepted and not sent at one instant.
    pub host_peak: f64,
    /// Readings of `inside` that stood at the limit of what is accepted.
    pub at_accepted: u64,
    /// Lowest and highest limit at the device.
    pub device_limit: Moments,
    /// Latest bounds.
    pub bounds: Bounds,
}

/// A point of the time course of one layer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CoursePoint {
    /// Seconds after the window began.
    pub at_s: f64,
    /// Place of the layer among the followed ones.
    pub layer: usize,
    /// Reads and writes completed since the counters began.
    pub ios: u64,
    /// 512-byte sectors moved since the counters began.
    pub sectors: u64,
    /// In flight at that instant.
    pub in_flight: u64,
}

/// What the thread gathered in one window.
#[derive(Clone, Debug, Default)]
pub(crate) struct Gathered {
    pub layers: Vec<Instants>,
    pub running: Moments,
    pub course: Vec<CoursePoint>,
    pub rounds: u64,
    pub cpu_s: f64,
}

#[derive(Debug, PartialEq, Eq, Clone, Copy)]
enum Order {
    Parked,
    Sample,
    Leave,
}

#[derive(Debug)]
struct State {
    order: Order,
    /// Counts windows, so that a round begun in one is not booked in the next.
    window: u64,
    began: Instant,
    unscheduled: Vec<bool>,
    gathered: Gathered,
}

/// A handle on the thread; dropping it ends the thread.
#[derive(Debug)]
pub(crate) struct Sampler {
    shared: Arc<(Mutex<State>, Condvar)>,
    thread: Option<JoinHandle<()>>,
}

impl Sampler {
    /// Starts the thread, parked. `avoid` are the cores of the load; the thread stays off them where it can. `compared`:
    /// the share of what is inside that was sent is wanted.
    pub fn start(
        sources: Arc<Vec<Source>>,
        loadavg: Option<Kept>,
        avoid: &[u32],
        compared: bool,
    ) -> std::io::Result<Self> {
        let state = State {
            order: Order::Parked,
            window: 0,
            began: Instant::now(),
            unscheduled: vec![true; sources.len()],
            gathered: Gathered::default(),
        };
        let shared = Arc::new((Mutex::new(state), Condvar::new()));
        let theirs = Arc::clone(&shared);
        let avoid = avoid.to_vec();
        let thread = std::thread::Builder::new().name("follow".to_owned()).spawn(move || {
            stay_off(&avoid);
            wake_on_time();
            Rounds::new(&sources, loadavg.as_ref(), compared).run(&theirs);
        })?;
        Ok(Self { shared, thread: Some(thread) })
    }

    /// A window begins.
    pub fn begin(&self, began: Instant, unscheduled: Vec<bool>) {
        let mut state = lock(&self.shared.0);
        let layers = vec![Instants::default(); unscheduled.len()];
        state.gathered = Gathered { layers, ..Gathered::default() };
        state.unscheduled = unscheduled;
        state.began = began;
        state.window += 1;
        state.order = Order::Sample;
        self.shared.1.notify_all();
    }

    /// The window ends: what was gathered.
    pub fn end(&self) -> Gathered {
        let mut state = lock(&self.shared.0);
        state.order = Order::Parked;
        std::mem::take(&mut state.gathered)
    }
}

impl Drop for Sampler {
    fn drop(&mut self) {
        lock(&self.shared.0).order = Order::Leave;
        self.shared.1.notify_all();
        if let Some(thread) = self.thread.take() {
            // A panic over there was printed by its own hook; there is nothing left to undo here.
            let _ = thread.join();
        }
    }
}

/// The numbers behind the lock are sound at every moment, so a panic elsewhere does not spoil them.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Moves the calling thread to allowed cores outside `avoid`; leaves it where it is when there are none.
fn stay_off(avoid: &[u32]) {
    let Ok(allowed) = rustix::thread::sched_getaffinity(None) else { return };
    let mut free = rustix::thread::CpuSet::new();
    for cpu in 0..rustix::thread::CpuSet::MAX_CPU {
        if allowed.is_set(cpu) && !avoid.iter().any(|a| *a as usize == cpu) {
            free.set(cpu);
        }
    }
    if free.count() > 0 {
        // Refusal costs nothing but a little noise on the load's cores.
        let _ = rustix::thread::sched_setaffinity(None, &free);
    }
}

/// The kernel lets a sleeper oversleep by 50 us to wake it together with whatever fires next: a completion. Readings
/// would then be drawn to the moments after completions, when the device queue is short (by 4 % on a LUN of 1 ms, seen
/// on 6.1).
///
/// And where it shares its core with the load, it must not wait for the load to sleep, when the device queue is full:
/// a real-time thread of the lowest priority goes first (Linux: sched(7)). Its rounds are short and [`COST_SHARE`] bounds
/// them, so nothing else is held up. Only root may; others read at slightly less fair instants.
fn wake_on_time() {
    // Refusal costs that much accuracy and no more.
    let _ = rustix::thread::set_current_timer_slack(std::num::NonZeroU64::new(1));
    go_first();
}

#[allow(unsafe_code, reason = "rustix offers no sched_setscheduler")]
fn go_first() {
    // SAFETY: sched_param is plain data for which all zeros are valid, and outlives the call; pid 0 is the calling
    // thread. Refusal is fine: see above.
    unsafe {
        let mut lowest: libc::sched_param = std::mem::zeroed();
        lowest.sched_priority = 1;
        libc::sched_setscheduler(0, libc::SCHED_FIFO | libc::SCHED_RESET_ON_FORK, &raw const lowest);
    }
}

/// The thread's own things.
struct Rounds<'a> {
    sources: &'a [Source],
    loadavg: Option<&'a Kept>,
    buffer: Buffer,
    seed: u64,
    /// Running mean of what one round costs.
    round_s: f64,
    readings: Vec<Reading>,
    stats_first: bool,
    compared: bool,
}

/// One layer at one instant.
#[derive(Clone, Copy, Default)]
struct Reading {
    sent: Option<u64>,
    stat: Option<super::stat::BlockStat>,
    bounds: Option<Bounds>,
}

impl<'a> Rounds<'a> {
    fn new(sources: &'a [Source], loadavg: Option<&'a Kept>, compared: bool) -> Self {
        Self {
            sources,
            loadavg,
            buffer: Buffer::default(),
            seed: 0x9E37_79B9_7F4A_7C15,
            round_s: 0.0,
            readings: vec![Reading::default(); sources.len()],
            stats_first: false,
            compared,
        }
    }

    fn run(&mut self, shared: &(Mutex<State>, Condvar)) {
        loop {
            let state = lock(&shared.0);
            let state = shared
                .1
                .wait_while(state, |s| s.order == Order::Parked)
                .unwrap_or_else(PoisonError::into_inner);
            if state.order == Order::Leave {
                return;
            }
            let window = state.window;
            let began = state.began;
            let unscheduled = state.unscheduled.clone();
            drop(state);
            self.window(shared, window, began, &unscheduled);
        }
    }

    fn window(
        &mut self,
        shared: &(Mutex<State>, Condvar),
        window: u64,
        began: Instant,
        unscheduled: &[bool],
    ) {
        let mut course_at = Duration::ZERO;
        // Waking up and going to sleep again cost more than reading: sleeps stand inside the measured span.
        let mut booked_s = thread_s();
        let mut round = 0_u64;
        loop {
            let at = began.elapsed();
            let course = at >= course_at;
            if course {
                course_at = at + COURSE;
            }
            self.round(course, unscheduled);
            let running = if round.is_multiple_of(RUNNING_EVERY) { self.running() } else { None };
            round += 1;
            {
                let mut state = lock(&shared.0);
                if state.order != Order::Sample || state.window != window {
                    return;
                }
                self.book(&mut state.gathered, at, course, running);
                let now_s = thread_s();
                let cost_s = (now_s - booked_s).max(0.0);
                booked_s = now_s;
                state.gathered.cpu_s += cost_s;
                self.round_s = if self.round_s == 0.0 { cost_s } else { 0.9 * self.round_s + 0.1 * cost_s };
            }
            let pause = self.pause();
            let state = lock(&shared.0);
            // Woken early only to leave or for the next window.
            let (state, _) = shared
                .1
                .wait_timeout_while(state, pause, |s| s.order != Order::Leave && s.window == window)
                .unwrap_or_else(PoisonError::into_inner);
            if state.order != Order::Sample || state.window != window {
                return;
            }
        }
    }

    /// Reading takes time, in which a core shared with the load refills no queue: what is read second looks emptier.
    /// So the numbers at the devices are read at once; unless they are compared with those inside, then either may go
    /// first and the loss falls on both alike.
    fn round(&mut self, course: bool, unscheduled: &[bool]) {
        if self.stats_first {
            self.read_stats();
            self.read_sent();
        } else {
            self.read_sent();
            self.read_stats();
        }
        self.stats_first = self.compared && !self.stats_first;
        for ((source, reading), unscheduled) in self.sources.iter().zip(&mut self.readings).zip(unscheduled) {
            reading.bounds = course.then(|| source.bounds(*unscheduled, &mut self.buffer));
        }
    }

    fn read_sent(&mut self) {
        for (source, reading) in self.sources.iter().zip(&mut self.readings) {
            reading.sent = match (source.busy.as_ref(), source.inflight.as_ref()) {
                (Some(busy), _) => busy.number(&mut self.buffer),
                (None, inflight) => inflight.and_then(|f| f.sum(&mut self.buffer)),
            };
        }
    }

    fn read_stats(&mut self) {
        for (source, reading) in self.sources.iter().zip(&mut self.readings) {
            reading.stat = source.stat(&mut self.buffer);
        }
    }

    /// Tasks ready to run now, without this thread, from `/proc/loadavg` (`/proc/stat` sums all interrupt counts
    /// first, which takes milliseconds on large hosts).
    fn running(&mut self) -> Option<f64> {
        let text = self.loadavg?.text(&mut self.buffer)?;
        let running: f64 = text.split_ascii_whitespace().nth(3)?.split_once('/')?.0.parse().ok()?;
        Some((running - 1.0).max(0.0))
    }

    fn book(&self, gathered: &mut Gathered, at: Duration, course: bool, running: Option<f64>) {
        gathered.rounds += 1;
        if let Some(running) = running {
            gathered.running.add(running);
        }
        let points_max = COURSE_MAX * self.sources.len();
        for (place, (reading, seen)) in self.readings.iter().zip(&mut gathered.layers).enumerate() {
            seen.book(reading);
            let Some(stat) = reading.stat.filter(|_| course && gathered.course.len() < points_max) else {
                continue;
            };
            gathered.course.push(CoursePoint {
                at_s: at.as_secs_f64(),
                layer: place,
                ios: stat.reads.saturating_add(stat.writes),
                sectors: stat.read_sectors.saturating_add(stat.write_sectors),
                in_flight: stat.in_flight,
            });
        }
    }

    /// Even spread over half to one and a half periods (xorshift, Marsaglia 2003).
    fn pause(&mut self) -> Duration {
        self.seed ^= self.seed << 13;
        self.seed ^= self.seed >> 7;
        self.seed ^= self.seed << 17;
        let share = 0.5 + (self.seed >> 11) as f64 / (1_u64 << 53) as f64;
        let period = PERIOD.as_secs_f64().max(self.round_s / COST_SHARE).min(PERIOD_MAX.as_secs_f64());
        Duration::from_secs_f64(period * share)
    }
}

impl Instants {
    fn book(&mut self, reading: &Reading) {
        if let Some(bounds) = reading.bounds {
            self.bounds = bounds;
            if let Some(limit) = bounds.device {
                self.device_limit.add(limit);
            }
        }
        if let Some(sent) = reading.sent {
            self.sent.add(sent as f64);
        }
        if let Some(stat) = reading.stat {
            let inside = stat.in_flight as f64;
            self.inside.add(inside);
            if let Some(sent) = reading.sent {
                self.pair.add(inside, sent as f64);
                self.host_peak = self.host_peak.max(inside - sent as f64);
            }
            let most = inside.max(reading.sent.unwrap_or(0) as f64);
            self.at_accepted += u64::from(self.bounds.accepted.is_some_and(|a| most >= a));
        }
    }
}
