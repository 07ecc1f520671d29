//! The open loop: I/Os are due at a rate whatever the path does, and latency counts from the instant each was due.
//!
//! Arrivals beyond the outstanding cap wait, and their wait counts. An I/O is outstanding from the instant it is due, so that
//! Little's law (N = X R) holds between the numbers reported here. Because waiting arrivals need no memory, the
//! schedule is walked twice from one seed: once to count arrivals as they fall due, once to start them.

use super::lane::{After, Lane};
use super::meter::Progress;
use crate::clock::{SECOND_NS, now_ns};
use crate::engine::{Engine, Wait};
use crate::rng::Rng;
use record::Arrival;
use std::io;
use std::sync::atomic::Ordering;

/// The last stretch before an arrival is spun, not slept: a timer's wake-up is late by about this much.
const SPIN_NS: u64 = 25_000;
/// The longest sleep, so that a release is seen in time.
const SLEEP_MAX_NS: u64 = 20_000_000;

/// The instants at which I/Os are due.
#[derive(Clone, Debug)]
pub struct Schedule {
    rng: Rng,
    arrival: Arrival,
    start_ns: u64,
    gap_mean_ns: f64,
    /// Since the start; a double keeps nanoseconds exact over 100 days.
    next_ns: f64,
}

impl Schedule {
    /// A schedule of `rate_iops` arrivals per second from `start_ns` on; the first comes `phase` mean gaps after it
    /// (constant), or at a random instant (Poisson).
    pub fn new(rate_iops: f64, arrival: Arrival, phase: f64, start_ns: u64, seed: u64) -> Self {
        let gap_mean_ns = SECOND_NS as f64 / rate_iops;
        let mut schedule = Self { rng: Rng::new(seed), arrival, start_ns, gap_mean_ns, next_ns: 0.0 };
        match arrival {
            Arrival::Constant => schedule.next_ns = phase * gap_mean_ns,
            Arrival::Poisson => schedule.advance(),
        }
        schedule
    }

    /// When the next I/O is due.
    #[inline]
    pub fn due_ns(&self) -> u64 {
        self.start_ns + self.next_ns as u64
    }

    /// On to the one after.
    #[inline]
    pub fn advance(&mut self) {
        self.next_ns += match self.arrival {
            Arrival::Poisson => self.rng.exponential() * self.gap_mean_ns,
            Arrival::Constant => self.gap_mean_ns,
        };
    }
}

/// Offers I/Os by the schedule until the step's control releases the worker, then drains what was started.
pub fn run<E: Engine>(
    lane: &mut Lane<'_, E>,
    mut due: Schedule,
    slots: u32,
    progress: &Progress,
) -> io::Result<()> {
    let mut counted = due.clone();
    let mut free: Vec<u32> = (0..slots).rev().collect();
    let mut wait = Wait::No;
    // Arrivals due up to here may have been held back by the cap, so that their lateness is not the generator's.
    let mut capped_to_ns = 0;
    loop {
        lane.engine.enter(wait)?;
        let taken = lane.engine.reap(&mut lane.done);
        let now_ns = now_ns();
        count_arrivals(lane, &mut counted, now_ns);
        lane.meter.tick(now_ns);
        if free.is_empty() {
            capped_to_ns = now_ns;
        }
        let mut finished = 0;
        for i in 0..taken {
            let completion = lane.done[i];
            if lane.complete(completion, now_ns) == After::Free {
                free.push(completion.slot);
                finished += 1;
            }
        }
        let outstanding = lane.meter.outstanding() - finished;
        lane.meter.set_outstanding(now_ns, outstanding);
        if lane.control.released() {
            break;
        }
        while due.due_ns() <= now_ns {
            let Some(slot) = free.pop() else { break };
            let due_ns = due.due_ns();
            if due_ns > capped_to_ns {
                lane.meter.record_lag(now_ns - due_ns);
            }
            lane.issue(slot, due_ns);
            due.advance();
        }
        progress.in_flight.store(slots - free.len() as u32, Ordering::Relaxed);
        wait = next_wait(free.is_empty(), due.due_ns(), now_ns);
    }
    lane.meter.finish(now_ns());
    let in_flight = slots - free.len() as u32;
    lane.drain(in_flight, |left| progress.in_flight.store(left, Ordering::Relaxed))
}

/// Counts the arrivals due up to `now_ns`, each at its own instant.
fn count_arrivals<E: Engine>(lane: &mut Lane<'_, E>, counted: &mut Schedule, now_ns: u64) {
    while counted.due_ns() <= now_ns {
        let due_ns = counted.due_ns();
        lane.meter.tick(due_ns);
        let outstanding = lane.meter.outstanding() + 1;
        lane.meter.set_outstanding(due_ns, outstanding);
        counted.advance();
    }
}

/// At the cap only a completion helps; else sleep until shortly before the next arrival, then spin.
fn next_wait(at_cap: bool, due_ns: u64, now_ns: u64) -> Wait {
    if at_cap {
        return Wait::Completion;
    }
    match due_ns.saturating_sub(now_ns) {
        gap if gap > 2 * SPIN_NS => Wait::Nanoseconds((gap - SPIN_NS).min(SLEEP_MAX_NS)),
        _ => Wait::No,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn arrivals(rate: f64, arrival: Arrival, seconds: f64, seed: u64) -> Vec<u64> {
        let mut schedule = Schedule::new(rate, arrival, 0.5, 1_000, seed);
        std::iter::from_fn(|| {
            let due = schedule.due_ns();
            schedule.advance();
            (due < 1_000 + (seconds * 1e9) as u64).then_some(due)
        })
        .collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]
        #[test]
        fn poisson_arrivals_come_at_the_rate_with_the_spread_of_poisson(rate in 1_000.0..200_000.0f64, seed: u64) {
            let due = arrivals(rate, Arrival::Poisson, 1.0, seed);
            // Five standard deviations of a Poisson count.
            prop_assert!((due.len() as f64 - rate).abs() < 5.0 * rate.sqrt(), "{} of {rate}", due.len());
            let gaps: Vec<f64> = due.windows(2).map(|w| (w[1] - w[0]) as f64).collect();
            let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
            let cv = (gaps.iter().map(|g| (g - mean).powi(2)).sum::<f64>() / gaps.len() as f64).sqrt() / mean;
            prop_assert!((cv - 1.0).abs() < 0.2, "coefficient of variation {cv}");
        }

        #[test]
        fn constant_arrivals_are_equally_spaced(rate in 1.0..200_000.0f64) {
            let due = arrivals(rate, Arrival::Constant, 0.1, 0);
            let gap = 1e9 / rate;
            for (i, at) in due.iter().enumerate() {
                prop_assert!((*at as f64 - 1_000.0 - (i as f64 + 0.5) * gap).abs() <= 2.0);
            }
        }
    }

    #[test]
    fn workers_of_a_constant_rate_take_turns() {
        let due: Vec<u64> = (0..4)
            .map(|w| Schedule::new(1000.0, Arrival::Constant, f64::from(w) / 4.0, 0, 0).due_ns())
            .collect();
        assert_eq!(due, [0, 250_000, 500_000, 750_000]);
    }

    #[test]
    fn idle_waits_sleep_and_short_ones_spin() {
        assert_eq!(next_wait(true, 0, 5), Wait::Completion);
        assert_eq!(next_wait(false, 10_000, 5), Wait::No);
        assert_eq!(next_wait(false, 1_000_000, 0), Wait::Nanoseconds(975_000));
        assert_eq!(next_wait(false, u64::MAX, 0), Wait::Nanoseconds(SLEEP_MAX_NS));
    }
}
