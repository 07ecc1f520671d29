//! Ways to hand I/O to the kernel, behind one trait.
//!
//! An engine lives in one worker thread. It owns the buffers of its slots; a slot is either free or holds one I/O in
//! flight, and whoever drives the engine keeps track of which. Everything between [`Engine::queue`] and
//! [`Engine::reap`] is free of allocation, locks and formatting.

pub mod libaio;
#[cfg(test)]
pub mod scripted;
pub mod sync;
pub mod uring;

use crate::buffers::Arena;
use crate::rng::Rng;
use record::IoClass;
use std::fmt;
use std::fs::File;
use std::io;
use std::str::FromStr;
use std::sync::Arc;

/// How many slots an io_uring or libaio engine may be asked for in all workers together.
pub const ASYNC_CONCURRENCY_MAX: u32 = 4096;
/// How many threads the synchronous engine may be asked for.
pub const SYNC_CONCURRENCY_MAX: u32 = 512;

/// Which engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EngineKind {
    /// io_uring with registered file and buffers.
    IoUring,
    /// Kernel AIO, what Oracle and MySQL use.
    Libaio,
    /// A thread per I/O with pread and pwrite, what `dd` and PostgreSQL up to 17 use.
    Sync,
}

impl EngineKind {
    /// The name in flags and reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::IoUring => "io_uring",
            Self::Libaio => "libaio",
            Self::Sync => "sync",
        }
    }

    /// Whether one thread carries many I/Os.
    pub fn is_async(self) -> bool {
        self != Self::Sync
    }
}

impl fmt::Display for EngineKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for EngineKind {
    type Err = crate::error::Error;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "io_uring" | "io-uring" | "uring" => Ok(Self::IoUring),
            "libaio" | "aio" => Ok(Self::Libaio),
            "sync" | "psync" => Ok(Self::Sync),
            _ => Err(crate::error::Error::Usage {
                flag: "--engine",
                given: text.to_owned(),
                expected: "io_uring, libaio or sync".to_owned(),
            }),
        }
    }
}

/// What an engine needs to know, the same for all workers.
#[derive(Clone, Debug)]
pub struct Setup {
    /// The opened target.
    pub file: Arc<File>,
    /// Bytes per I/O.
    pub block_bytes: usize,
    /// Some I/Os read.
    pub reads: bool,
    /// Some I/Os write.
    pub writes: bool,
    /// Each write carries RWF_DSYNC: it completes when it is durable.
    pub dsync: bool,
    /// Seed of the content that is written.
    pub seed: u64,
}

/// A completed I/O.
#[derive(Clone, Copy, Debug, Default)]
pub struct Completion {
    /// Its slot, free again.
    pub slot: u32,
    /// Bytes moved, or a negative errno.
    pub result: i32,
}

/// How long [`Engine::enter`] waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    /// Not at all.
    No,
    /// Until something completes.
    Completion,
    /// Until something completes, or this many nanoseconds passed.
    Nanoseconds(u64),
}

/// A way to hand I/O to the kernel.
///
/// Contract for the driver: call [`Self::reserve`] only while nothing is in flight, [`Self::queue`] only for a free slot
/// below the reserved number.
pub trait Engine: Sized {
    /// An engine of its own for one worker; called in that worker's thread.
    fn new(setup: &Setup, worker: u32) -> io::Result<Self>;

    /// Makes room for `slots` I/Os in flight.
    fn reserve(&mut self, slots: u32) -> io::Result<()>;

    /// Queues one I/O at `offset` in a free slot; it starts with the next [`Self::enter`].
    fn queue(&mut self, slot: u32, class: IoClass, offset: u64);

    /// Starts all that is queued and waits. Interrupted waits may return early with nothing completed.
    fn enter(&mut self, wait: Wait) -> io::Result<()>;

    /// Takes what has completed, up to `into.len()`, and says how many.
    fn reap(&mut self, into: &mut [Completion]) -> usize;

    /// What the engine had to do without, in a sentence each.
    fn notes(&self) -> &[String];
}

/// Buffers of an engine: one set for reads, one for writes, so that what was read never becomes what is written
/// (a device full of zeros would otherwise turn incompressible writes into zeros).
#[derive(Debug)]
pub struct Buffers {
    /// Buffers that reads land in.
    pub reads: Arena,
    /// Buffers with content to write.
    pub writes: Arena,
    uses_reads: bool,
    uses_writes: bool,
    rng: Rng,
    stamp: u64,
}

impl Buffers {
    /// Empty sets.
    pub fn new(setup: &Setup, worker: u32) -> Self {
        let mut rng = Rng::part(setup.seed, u64::from(worker));
        Self {
            reads: Arena::new(setup.block_bytes),
            writes: Arena::new(setup.block_bytes),
            uses_reads: setup.reads,
            uses_writes: setup.writes,
            stamp: rng.next_u64(),
            rng,
        }
    }

    /// Makes sure that `slots` slots have their buffers.
    pub fn grow(&mut self, slots: usize) -> io::Result<()> {
        if self.uses_reads {
            self.reads.grow(slots)?;
        }
        if self.uses_writes {
            let from = self.writes.slots();
            self.writes.grow(slots)?;
            self.writes.randomise(from, &mut self.rng);
        }
        Ok(())
    }

    /// Gives `slot`'s write buffer content it never had.
    #[inline]
    pub fn stamp(&mut self, slot: u32) {
        self.stamp = self.stamp.wrapping_add(0x9E37_79B9_7F4A_7C15);
        self.writes.stamp(slot, self.stamp);
    }

    /// Gives the memory up for good (see [`Arena::leak`]).
    pub fn leak(&mut self) {
        std::mem::take(&mut self.reads).leak();
        std::mem::take(&mut self.writes).leak();
    }
}
