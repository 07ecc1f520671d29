//! io_uring: registered file, registered buffers, one system call per batch.
//!
//! Each turn reaps what is there, refills the freed slots and enters the kernel once to submit and wait. Flags are
//! taken where the kernel has them, newest first: SINGLE_ISSUER with DEFER_TASKRUN (6.1; completions are processed when
//! we ask for them, not by interrupting us), then COOP_TASKRUN (5.19), then none. Where kernel threads serve the reads
//! with the processor alone (see [`super::in_place`]), completions are awaited a few at a time.
//! See io_uring_setup(2), io_uring_enter(2), io_uring_register(2).
#![allow(unsafe_code, reason = "shares rings and buffers with the kernel")]

use super::in_place::is_served_in_place;
use super::{Buffers, Completion, Engine, Setup, Wait};
use io_uring::{IoUring, opcode, squeue, types};
use record::IoClass;
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::sync::Arc;

/// Smallest ring: below this a larger one costs nothing.
const ENTRIES_MIN: u32 = 8;
/// A ring this many times larger than needed is replaced: walking a large ring evicts the cache for nothing.
const SHRINK_AT: u32 = 8;
/// The part of what is outstanding that may complete before a wait ends on targets served in place. A completion waits
/// for (N/8 - 1)/2 others on average, each N-th part of the response time apart: at most a sixteenth of it, which the
/// recorded response time contains.
const BATCH_PART: u32 = 8;
/// `io_uring_register` operation that registers the ring's own descriptor (5.18).
const REGISTER_RING_FDS: u32 = 20;
/// `io_uring_enter` flags (linux/io_uring.h).
const ENTER_GETEVENTS: u32 = 1;
const ENTER_EXT_ARG: u32 = 8;
const ENTER_REGISTERED_RING: u32 = 16;

/// Argument of `IORING_REGISTER_RING_FDS` (struct io_uring_rsrc_update).
#[repr(C)]
struct RingFdUpdate {
    offset: u32,
    reserved: u32,
    data: u64,
}

/// Argument of `IORING_ENTER_EXT_ARG` (struct io_uring_getevents_arg).
#[repr(C)]
struct GetEventsArg {
    sigmask: u64,
    sigmask_bytes: u32,
    min_wait_us: u32,
    timespec: u64,
}
const _: () = assert!(size_of::<RingFdUpdate>() == 16 && size_of::<GetEventsArg>() == 24);

/// struct __kernel_timespec.
#[repr(C)]
struct KernelTimespec {
    seconds: i64,
    nanoseconds: i64,
}

/// The ring as it is now.
struct Ring {
    ring: IoUring,
    entries: u32,
    /// Descriptor or registered index for `enter`, with the flag that says which.
    enter_fd: i32,
    enter_flags: u32,
    fixed_file: bool,
    fixed_buffers: bool,
}

/// The io_uring engine.
pub struct UringEngine {
    ring: Option<Ring>,
    buffers: Buffers,
    file: Arc<File>,
    block_bytes: u32,
    write_flags: i32,
    queued: u32,
    in_flight: u32,
    /// The target is served by kernel threads with the processor alone.
    in_place: bool,
    notes: Vec<String>,
}

/// Makes a ring with the best flags this kernel takes.
fn build(entries: u32) -> io::Result<IoUring> {
    let attempts: [fn(&mut io_uring::Builder) -> &mut io_uring::Builder; 4] = [
        |b| b.setup_single_issuer().setup_defer_taskrun().setup_submit_all().setup_clamp(),
        |b| b.setup_single_issuer().setup_coop_taskrun().setup_submit_all().setup_clamp(),
        |b| b.setup_coop_taskrun().setup_submit_all().setup_clamp(),
        |b| b,
    ];
    let mut last = io::Error::from_raw_os_error(libc::EINVAL);
    for attempt in attempts {
        let mut builder = IoUring::builder();
        match attempt(&mut builder).build(entries) {
            Ok(ring) => return Ok(ring),
            Err(error) if error.raw_os_error() == Some(libc::EINVAL) => last = error,
            Err(error) => return Err(error),
        }
    }
    Err(last)
}

/// Whether this process may make rings at all; the error says why not.
pub fn probe() -> io::Result<()> {
    build(ENTRIES_MIN).map(drop)
}

impl Ring {
    fn new(entries: u32, file: &File) -> io::Result<Self> {
        let ring = build(entries)?;
        let fixed_file = ring.submitter().register_files(&[file.as_raw_fd()]).is_ok();
        let (enter_fd, enter_flags) = Self::register_own_descriptor(&ring);
        Ok(Self { ring, entries, enter_fd, enter_flags, fixed_file, fixed_buffers: false })
    }

    /// Spares the kernel a descriptor look-up per call where it can.
    fn register_own_descriptor(ring: &IoUring) -> (i32, u32) {
        let descriptor = ring.as_raw_fd();
        let mut update = RingFdUpdate { offset: u32::MAX, reserved: 0, data: descriptor as u64 };
        // SAFETY: `update` is one struct io_uring_rsrc_update that outlives the call; the kernel writes its offset.
        let done = unsafe {
            libc::syscall(libc::SYS_io_uring_register, descriptor, REGISTER_RING_FDS, &raw mut update, 1u32)
        };
        if done == 1 { (update.offset as i32, ENTER_REGISTERED_RING) } else { (descriptor, 0) }
    }

    /// Registers all slabs, reads first. An error means that the buffers stay unregistered.
    fn register_buffers(&mut self, buffers: &Buffers) -> io::Result<()> {
        let submitter = self.ring.submitter();
        if std::mem::take(&mut self.fixed_buffers) {
            submitter.unregister_buffers()?;
        }
        let slabs: Vec<libc::iovec> = buffers
            .reads
            .slabs()
            .chain(buffers.writes.slabs())
            .map(|(start, bytes)| libc::iovec { iov_base: start.cast(), iov_len: bytes })
            .collect();
        // SAFETY: the slabs belong to `buffers`, which the engine drops after the ring, or leaks.
        unsafe { submitter.register_buffers(&slabs) }?;
        self.fixed_buffers = true;
        Ok(())
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        if self.enter_flags & ENTER_REGISTERED_RING != 0 {
            let update = RingFdUpdate { offset: self.enter_fd as u32, reserved: 0, data: 0 };
            // SAFETY: as in `register_own_descriptor`; the index was given there and is given back only here.
            unsafe {
                libc::syscall(
                    libc::SYS_io_uring_register,
                    self.ring.as_raw_fd(),
                    REGISTER_RING_FDS + 1,
                    &raw const update,
                    1u32,
                )
            };
        }
        if self.fixed_file {
            // Closing a ring takes the kernel some moments; until then it would hold a device open exclusively.
            let _ = self.ring.submitter().unregister_files();
        }
        if self.fixed_buffers {
            // At once rather than when the kernel gets to it: the next ring pins the same pages against the same limit.
            let _ = self.ring.submitter().unregister_buffers();
        }
    }
}

impl UringEngine {
    /// Notes that buffers could not be registered, once.
    fn note_unregistered(&mut self, error: &io::Error) {
        if self.notes.is_empty() {
            self.notes.push(format!(
                "registering I/O buffers failed ({error}): unregistered buffers cost more CPU per I/O; raise the \
                 memory-lock limit (`ulimit -l`) to lift this"
            ));
        }
    }

    fn entry(&self, ring: &Ring, slot: u32, class: IoClass, offset: u64) -> squeue::Entry {
        let write_base = self.buffers.reads.slab_count() as u16;
        let entry = match class {
            IoClass::Read => {
                let buffer = self.buffers.reads.buffer(slot);
                if ring.fixed_buffers {
                    opcode::ReadFixed::new(types::Fixed(0), buffer.start, self.block_bytes, buffer.slab)
                        .offset(offset)
                        .build()
                } else {
                    opcode::Read::new(types::Fixed(0), buffer.start, self.block_bytes).offset(offset).build()
                }
            }
            IoClass::Write => {
                let buffer = self.buffers.writes.buffer(slot);
                if ring.fixed_buffers {
                    opcode::WriteFixed::new(
                        types::Fixed(0),
                        buffer.start,
                        self.block_bytes,
                        write_base + buffer.slab,
                    )
                    .offset(offset)
                    .rw_flags(self.write_flags)
                    .build()
                } else {
                    opcode::Write::new(types::Fixed(0), buffer.start, self.block_bytes)
                        .offset(offset)
                        .rw_flags(self.write_flags)
                        .build()
                }
            }
            IoClass::Flush => opcode::Fsync::new(types::Fixed(0)).flags(types::FsyncFlags::DATASYNC).build(),
        };
        let entry = entry.user_data(u64::from(slot));
        // Straight to the kernel thread that it ends up with: no first attempt that is known to fail.
        if self.in_place { entry.flags(squeue::Flags::ASYNC) } else { entry }
    }
}

/// One `io_uring_enter` call.
#[inline]
fn enter(ring: &Ring, to_submit: u32, min_complete: u32, timeout_ns: Option<u64>) -> io::Result<u32> {
    let timespec;
    let argument;
    let mut flags = ring.enter_flags | ENTER_GETEVENTS;
    let (pointer, bytes) = match timeout_ns {
        None => (std::ptr::null(), 0usize),
        Some(ns) => {
            timespec = KernelTimespec {
                seconds: (ns / 1_000_000_000) as i64,
                nanoseconds: (ns % 1_000_000_000) as i64,
            };
            argument = GetEventsArg {
                sigmask: 0,
                sigmask_bytes: 0,
                min_wait_us: 0,
                timespec: (&raw const timespec) as u64,
            };
            flags |= ENTER_EXT_ARG;
            (&raw const argument, size_of::<GetEventsArg>())
        }
    };
    // SAFETY: the ring descriptor is ours; `argument` and `timespec` live until the call returns. The entries that
    // the kernel takes from the ring were made by `entry`, whose buffers live as long as the engine.
    let done = unsafe {
        libc::syscall(libc::SYS_io_uring_enter, ring.enter_fd, to_submit, min_complete, flags, pointer, bytes)
    };
    if done < 0 { Err(io::Error::last_os_error()) } else { Ok(done as u32) }
}

impl Engine for UringEngine {
    fn new(setup: &Setup, worker: u32) -> io::Result<Self> {
        Ok(Self {
            ring: None,
            buffers: Buffers::new(setup, worker),
            file: Arc::clone(&setup.file),
            block_bytes: setup.block_bytes as u32,
            write_flags: if setup.dsync { libc::RWF_DSYNC } else { 0 },
            queued: 0,
            in_flight: 0,
            in_place: setup.reads && is_served_in_place(&setup.file, setup.block_bytes),
            notes: Vec::new(),
        })
    }

    fn reserve(&mut self, slots: u32) -> io::Result<()> {
        assert_eq!(self.in_flight, 0, "buffers and rings change only while nothing is in flight");
        let entries = slots.next_power_of_two().max(ENTRIES_MIN);
        let fits =
            self.ring.as_ref().is_some_and(|r| r.entries >= entries && r.entries / SHRINK_AT < entries);
        let grew = self.buffers.reads.slots().max(self.buffers.writes.slots()) < slots as usize;
        if fits && !grew {
            return Ok(());
        }
        self.buffers.grow(slots.next_power_of_two() as usize)?;
        if !fits {
            self.ring = None;
            self.ring = Some(Ring::new(entries, &self.file)?);
        }
        let ring = self.ring.as_mut().expect("made above when it was absent");
        if !ring.fixed_file {
            return Err(io::Error::other(
                "the kernel refused to register the target's descriptor with the ring",
            ));
        }
        if let Err(error) = ring.register_buffers(&self.buffers) {
            self.note_unregistered(&error);
        }
        Ok(())
    }

    #[inline]
    fn queue(&mut self, slot: u32, class: IoClass, offset: u64) {
        if class == IoClass::Write {
            self.buffers.stamp(slot);
        }
        let ring = self.ring.as_ref().expect("reserve came first");
        let entry = self.entry(ring, slot, class, offset);
        let ring = self.ring.as_mut().expect("as above");
        // SAFETY: the buffer behind the entry belongs to this engine, which outlives the I/O or leaks it (Drop); the
        // driver queues only free slots, so no two I/Os in flight share a buffer.
        let pushed = unsafe { ring.ring.submission().push(&entry) };
        assert!(pushed.is_ok(), "a ring has at least as many entries as slots");
        self.queued += 1;
    }

    fn enter(&mut self, wait: Wait) -> io::Result<()> {
        let ring = self.ring.as_mut().expect("reserve came first");
        let enough = if self.in_place { (self.in_flight + self.queued) / BATCH_PART } else { 1 };
        loop {
            let waits = self.in_flight + self.queued > 0 || matches!(wait, Wait::Nanoseconds(_));
            let (min_complete, timeout_ns) = match wait {
                _ if !waits => (0, None),
                Wait::No => (0, None),
                Wait::Completion => (enough.max(1), None),
                Wait::Nanoseconds(ns) => (1, Some(ns)),
            };
            match enter(ring, self.queued, min_complete, timeout_ns) {
                Ok(submitted) => {
                    self.queued -= submitted;
                    self.in_flight += submitted;
                    if self.queued == 0 {
                        return Ok(());
                    }
                }
                Err(error) => match error.raw_os_error() {
                    // The time is up, or a signal came: what was queued has been submitted before any wait.
                    Some(libc::ETIME | libc::EINTR) => {
                        self.in_flight += self.queued;
                        self.queued = 0;
                        let left = ring.ring.submission().len() as u32;
                        self.in_flight -= left;
                        self.queued = left;
                        if left == 0 {
                            return Ok(());
                        }
                    }
                    // Completions must be taken before more can start.
                    Some(libc::EBUSY | libc::EAGAIN) => return Ok(()),
                    _ => return Err(error),
                },
            }
        }
    }

    #[inline]
    fn reap(&mut self, into: &mut [Completion]) -> usize {
        let ring = self.ring.as_mut().expect("reserve came first");
        let mut taken = 0;
        for (to, from) in into.iter_mut().zip(ring.ring.completion()) {
            *to = Completion { slot: from.user_data() as u32, result: from.result() };
            taken += 1;
        }
        self.in_flight -= taken as u32;
        taken
    }

    fn notes(&self) -> &[String] {
        &self.notes
    }

    #[cfg(test)]
    fn buffers(&self) -> &Buffers {
        &self.buffers
    }
}

impl Drop for UringEngine {
    fn drop(&mut self) {
        if self.in_flight > 0 {
            // The kernel may still write into these buffers.
            self.buffers.leak();
        }
        self.ring = None;
    }
}
