//! Processor time of this process and of the calling thread.
//!
//! getrusage(2) leaves out what a running thread used since the last tick: good enough for a process over a window,
//! not for a thread that wakes for microseconds. That one asks its own clock.
#![allow(
    unsafe_code,
    reason = "getrusage(2) splits user and system time; no safe wrapper is among our libraries"
)]

use std::mem::MaybeUninit;

/// User and system time in seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct CpuTime {
    pub user_s: f64,
    pub system_s: f64,
}

impl CpuTime {
    /// All threads of this process, io_uring's kernel workers for it included, those that ended as well.
    pub fn of_process() -> Self {
        let mut usage = MaybeUninit::<libc::rusage>::zeroed();
        // SAFETY: `usage` is a place of the right size and alignment that nobody else sees, and getrusage writes
        // nothing outside it; an all-zero rusage is valid, so it is initialised whether or not the call succeeds.
        let usage = unsafe {
            libc::getrusage(libc::RUSAGE_SELF, usage.as_mut_ptr());
            usage.assume_init()
        };
        let seconds = |t: libc::timeval| t.tv_sec as f64 + t.tv_usec as f64 / 1e6;
        Self { user_s: seconds(usage.ru_utime), system_s: seconds(usage.ru_stime) }
    }

    /// User and system together.
    pub fn total_s(self) -> f64 {
        self.user_s + self.system_s
    }
}

impl std::ops::Sub for CpuTime {
    type Output = Self;

    fn sub(self, before: Self) -> Self {
        Self {
            user_s: (self.user_s - before.user_s).max(0.0),
            system_s: (self.system_s - before.system_s).max(0.0),
        }
    }
}

/// Processor time of the calling thread in seconds, to the nanosecond.
pub(crate) fn thread_s() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}
