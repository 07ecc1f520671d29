//! The one clock of the load generator: CLOCK_MONOTONIC in nanoseconds, read through the vDSO without a system call.

use rustix::time::{ClockId, clock_gettime};

/// Nanoseconds since an arbitrary fixed instant (boot).
#[inline]
pub fn now_ns() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

/// Nanoseconds in a second.
pub const SECOND_NS: u64 = 1_000_000_000;
/// Nanoseconds in a millisecond.
pub const MILLISECOND_NS: u64 = 1_000_000;

/// Seconds to nanoseconds; negative and non-finite values count as zero.
pub fn seconds_to_ns(seconds: f64) -> u64 {
    (seconds * SECOND_NS as f64).round() as u64
}

/// Nanoseconds to seconds.
pub fn ns_to_seconds(ns: u64) -> f64 {
    ns as f64 / SECOND_NS as f64
}
