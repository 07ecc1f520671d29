//! Ways to hand I/O to the kernel, behind one trait.
//!
//! An engine lives in one worker thread. It owns the buffers of its slots; a slot is either free or holds one I/O in
//! flight, and whoever drives the engine keeps track of which. Everything between [`Engine::queue`] and
//! [`Engine::reap`] is free of allocation, locks and formatting.

mod in_place;
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
    /// Until something completes; until a few have where waking for each would cost more than serving it.
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

    /// The buffers, for tests that look at what a read brought.
    #[cfg(test)]
    fn buffers(&self) -> &Buffers;
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

#[cfg(test)]
mod tests {
    use super::libaio::LibaioEngine;
    use super::sync::SyncEngine;
    use super::uring::UringEngine;
    use super::*;
    use std::os::unix::fs::FileExt;

    const BLOCK: usize = 8192;

    /// A file whose every block is filled with its own number.
    fn numbered(blocks: u64) -> Arc<File> {
        let file = tempfile::tempfile().unwrap();
        for block in 0..blocks {
            file.write_all_at(&vec![block as u8; BLOCK], block * BLOCK as u64).unwrap();
        }
        Arc::new(file)
    }

    fn setup(file: &Arc<File>) -> Setup {
        Setup { file: Arc::clone(file), block_bytes: BLOCK, reads: true, writes: true, dsync: false, seed: 1 }
    }

    /// Starts one I/O per slot and waits for all; answers results by slot.
    fn perform<E: Engine>(engine: &mut E, ios: &[(IoClass, u64)]) -> Vec<i32> {
        let mut results = vec![i32::MIN; ios.len()];
        let mut done = vec![Completion::default(); ios.len()];
        for (slot, &(class, offset)) in ios.iter().enumerate() {
            engine.queue(slot as u32, class, offset);
        }
        let mut left = ios.len();
        while left > 0 {
            engine.enter(Wait::Completion).unwrap();
            let taken = engine.reap(&mut done);
            done[..taken].iter().for_each(|c| results[c.slot as usize] = c.result);
            left -= taken;
        }
        results
    }

    fn check_reads<E: Engine>(slots: u32) {
        let mut engine = E::new(&setup(&numbered(64)), 0).unwrap();
        engine.reserve(slots).unwrap();
        let ios: Vec<_> =
            (0..slots).map(|s| (IoClass::Read, u64::from(63 - s % 64) * BLOCK as u64)).collect();
        assert_eq!(perform(&mut engine, &ios), vec![BLOCK as i32; slots as usize]);
        for slot in 0..slots {
            let expected = (63 - slot % 64) as u8;
            assert!(engine.buffers().reads.bytes(slot).iter().all(|&b| b == expected), "slot {slot}");
        }
    }

    fn check_writes<E: Engine>(slots: u32) {
        let file = numbered(64);
        let mut engine = E::new(&setup(&file), 0).unwrap();
        engine.reserve(slots).unwrap();
        let ios: Vec<_> = (0..slots).map(|s| (IoClass::Write, u64::from(s) * BLOCK as u64)).collect();
        assert_eq!(perform(&mut engine, &ios), vec![BLOCK as i32; slots as usize]);
        assert_eq!(perform(&mut engine, &[(IoClass::Flush, 0)]), [0]);
        let mut pages = Vec::new();
        for slot in 0..slots {
            let mut bytes = vec![0; BLOCK];
            file.read_exact_at(&mut bytes, u64::from(slot) * BLOCK as u64).unwrap();
            assert_eq!(bytes, engine.buffers().writes.bytes(slot));
            pages.extend(bytes.chunks(4096).map(<[u8]>::to_vec));
        }
        pages.sort();
        let all = pages.len();
        pages.dedup();
        assert_eq!(pages.len(), all, "every 4 KiB written differs from every other");
    }

    /// The end of the file and beyond: short and empty reads are reported as what they are.
    fn check_results<E: Engine>() {
        let mut engine = E::new(&setup(&numbered(2)), 0).unwrap();
        engine.reserve(1).unwrap();
        assert_eq!(perform(&mut engine, &[(IoClass::Read, BLOCK as u64 + 4096)]), [4096]);
        assert_eq!(perform(&mut engine, &[(IoClass::Read, 2 * BLOCK as u64)]), [0]);
    }

    /// A read-only descriptor refuses to write: the error comes back as a result, not as a success.
    fn check_read_only<E: Engine>() {
        let named = tempfile::NamedTempFile::new().unwrap();
        named.as_file().set_len(1 << 20).unwrap();
        let file = Arc::new(File::open(named.path()).unwrap());
        let mut engine = E::new(&setup(&file), 0).unwrap();
        engine.reserve(1).unwrap();
        engine.queue(0, IoClass::Write, 0);
        let refused = match engine.enter(Wait::Completion) {
            Err(error) => -error.raw_os_error().unwrap(),
            Ok(()) => {
                let mut done = [Completion::default()];
                assert_eq!(engine.reap(&mut done), 1);
                done[0].result
            }
        };
        assert_eq!(refused, -libc::EBADF);
    }

    fn check<E: Engine>(slots: u32) {
        check_reads::<E>(slots);
        check_writes::<E>(slots.min(64));
        check_results::<E>();
        check_read_only::<E>();
    }

    #[test]
    fn io_uring_moves_the_right_bytes() {
        if let Err(error) = uring::probe() {
            eprintln!("skipped: io_uring cannot be used here: {error}");
            return;
        }
        check::<UringEngine>(100);
    }

    #[test]
    fn libaio_moves_the_right_bytes() {
        check::<LibaioEngine>(100);
    }

    #[test]
    fn sync_moves_the_right_bytes() {
        check::<SyncEngine>(1);
    }

    fn check_growth<E: Engine>() {
        let mut engine = E::new(&setup(&numbered(64)), 0).unwrap();
        for slots in [1u32, 3, 64, 2, 65, 700, 1, 64] {
            engine.reserve(slots).unwrap();
            let ios: Vec<_> = (0..slots).map(|s| (IoClass::Read, u64::from(s % 64) * BLOCK as u64)).collect();
            assert!(perform(&mut engine, &ios).iter().all(|&r| r == BLOCK as i32));
            assert!((0..slots).all(|s| engine.buffers().reads.bytes(s)[0] == (s % 64) as u8));
        }
    }

    #[test]
    fn engines_follow_a_changing_number_of_slots() {
        if uring::probe().is_ok() {
            check_growth::<UringEngine>();
        }
        check_growth::<LibaioEngine>();
    }

    fn check_timeout<E: Engine>() {
        let mut engine = E::new(&setup(&numbered(1)), 0).unwrap();
        engine.reserve(1).unwrap();
        let start = std::time::Instant::now();
        // The kernel may end a wait early to run work of its own in this thread, though not again and again.
        for _ in 0..3 {
            engine.enter(Wait::Nanoseconds(20_000_000)).unwrap();
        }
        assert!(start.elapsed().as_millis() >= 20, "{:?}", start.elapsed());
        assert_eq!(engine.reap(&mut [Completion::default()]), 0);
        engine.enter(Wait::No).unwrap();
        engine.enter(Wait::Completion).unwrap();
    }

    #[test]
    fn a_wait_with_nothing_in_flight_ends_when_its_time_is_up() {
        if uring::probe().is_ok() {
            check_timeout::<UringEngine>();
        }
        check_timeout::<LibaioEngine>();
    }
}
