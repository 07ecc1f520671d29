//! Kernel AIO through its raw system calls: io_setup, io_submit, io_getevents (man 2), no C library.
//!
//! A batch costs one io_submit. Completions are read from the ring that the kernel maps into this process
//! (struct aio_ring, fs/aio.c); io_getevents is called only to wait.
#![allow(unsafe_code, reason = "shares control blocks, a completion ring and buffers with the kernel")]

use super::{Buffers, Completion, Engine, Setup, Wait};
use record::IoClass;
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

const IOCB_CMD_PREAD: u16 = 0;
const IOCB_CMD_PWRITE: u16 = 1;
const IOCB_CMD_FDSYNC: u16 = 3;
/// `aio_ring.magic`: without it the ring's layout is unknown and io_getevents does the reaping.
const RING_MAGIC: u32 = 0xa10a_10a1;
/// Smallest context.
const EVENTS_MIN: u32 = 8;

/// struct iocb (linux/aio_abi.h), little endian.
#[cfg(target_endian = "little")]
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct ControlBlock {
    data: u64,
    key: u32,
    rw_flags: i32,
    opcode: u16,
    priority: i16,
    descriptor: u32,
    buffer: u64,
    bytes: u64,
    offset: i64,
    reserved: u64,
    flags: u32,
    event_descriptor: u32,
}

/// struct io_event.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Event {
    data: u64,
    control_block: u64,
    result: i64,
    result2: i64,
}

/// Head of the mapped completion ring (struct aio_ring).
#[repr(C)]
struct RingHead {
    id: u32,
    entries: u32,
    head: AtomicU32,
    tail: AtomicU32,
    magic: u32,
    compatible: u32,
    incompatible: u32,
    header_bytes: u32,
}
const _: () =
    assert!(size_of::<ControlBlock>() == 64 && size_of::<Event>() == 32 && size_of::<RingHead>() == 32);

/// A kernel AIO context; its handle is the address of the mapped ring.
struct Context {
    handle: usize,
    events: u32,
    user_reap: bool,
}

impl Context {
    fn new(events: u32) -> io::Result<Self> {
        let mut handle: usize = 0;
        // SAFETY: the kernel writes one aio_context_t, an unsigned long, into `handle`.
        let done = unsafe { libc::syscall(libc::SYS_io_setup, events, &raw mut handle) };
        if done < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: a context's handle is the address of its ring, mapped readable and writable until io_destroy.
        let head = unsafe { &*(handle as *const RingHead) };
        let user_reap = head.magic == RING_MAGIC && head.incompatible == 0 && head.header_bytes == 32;
        Ok(Self { handle, events, user_reap })
    }

    /// Takes completions from the mapped ring without a system call.
    fn take_mapped(&self, mut seen: impl FnMut(&Event) -> bool) {
        // SAFETY: as in `new`; this thread is the only reaper, the kernel the only producer.
        let ring = unsafe { &*(self.handle as *const RingHead) };
        let tail = ring.tail.load(Ordering::Acquire);
        let mut head = ring.head.load(Ordering::Relaxed);
        while head != tail {
            // SAFETY: `entries` events follow the header, and head and tail stay below `entries`; the acquire load
            // above orders this read after the kernel's write of the event.
            let event =
                unsafe { *((self.handle + size_of::<RingHead>()) as *const Event).add(head as usize) };
            if !seen(&event) {
                break;
            }
            head = if head + 1 == ring.entries { 0 } else { head + 1 };
        }
        ring.head.store(head, Ordering::Release);
    }

    /// Whether the mapped ring holds a completion.
    fn has_mapped(&self) -> bool {
        // SAFETY: as in `take_mapped`.
        let ring = unsafe { &*(self.handle as *const RingHead) };
        ring.head.load(Ordering::Relaxed) != ring.tail.load(Ordering::Acquire)
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        // SAFETY: the handle came from io_setup and is given back once. io_destroy waits for what is in flight.
        unsafe { libc::syscall(libc::SYS_io_destroy, self.handle) };
    }
}

/// Whether this process may have a context at all; the error says why not.
pub fn probe() -> io::Result<()> {
    Context::new(EVENTS_MIN).map(drop)
}

/// The libaio engine.
pub struct LibaioEngine {
    context: Option<Context>,
    /// One control block per slot; the kernel reads it in io_submit only.
    blocks: Vec<ControlBlock>,
    /// Addresses of the control blocks queued for the next io_submit.
    queue: Vec<*const ControlBlock>,
    /// Events fetched by io_getevents and not handed over yet.
    fetched: Vec<Event>,
    fetched_from: usize,
    fetched_to: usize,
    buffers: Buffers,
    file: Arc<File>,
    block_bytes: u64,
    write_flags: i32,
    in_flight: u32,
    notes: Vec<String>,
}

impl LibaioEngine {
    /// Submits what is queued; leaves the rest queued when the kernel takes no more just now.
    fn submit(&mut self) -> io::Result<()> {
        let context = self.context.as_ref().expect("reserve came first");
        let mut from = 0;
        while from < self.queue.len() {
            let rest = &self.queue[from..];
            // SAFETY: `rest` are addresses of control blocks in `self.blocks`, which `reserve` alone resizes, and
            // only while nothing is queued or in flight; their buffers live as long as the engine.
            let done =
                unsafe { libc::syscall(libc::SYS_io_submit, context.handle, rest.len(), rest.as_ptr()) };
            if done < 0 {
                let error = io::Error::last_os_error();
                match error.raw_os_error() {
                    Some(libc::EINTR) => continue,
                    Some(libc::EAGAIN) if self.in_flight > 0 => break,
                    _ => return Err(error),
                }
            }
            from += done as usize;
            self.in_flight += done as u32;
        }
        self.queue.drain(..from);
        Ok(())
    }

    /// Waits in the kernel until something completes or the time is up.
    fn wait(&mut self, timeout_ns: Option<u64>) -> io::Result<()> {
        let context = self.context.as_ref().expect("reserve came first");
        let timespec = timeout_ns.map(|ns| libc::timespec {
            tv_sec: (ns / 1_000_000_000) as libc::time_t,
            tv_nsec: (ns % 1_000_000_000) as libc::c_long,
        });
        let pointer = timespec.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
        // SAFETY: `fetched` holds `len` events that the kernel may write; `timespec` outlives the call.
        let done = unsafe {
            libc::syscall(
                libc::SYS_io_getevents,
                context.handle,
                1usize,
                self.fetched.len(),
                self.fetched.as_mut_ptr(),
                pointer,
            )
        };
        if done < 0 {
            let error = io::Error::last_os_error();
            return if error.raw_os_error() == Some(libc::EINTR) { Ok(()) } else { Err(error) };
        }
        (self.fetched_from, self.fetched_to) = (0, done as usize);
        Ok(())
    }

    fn has_completed(&self) -> bool {
        let context = self.context.as_ref().expect("reserve came first");
        self.fetched_from < self.fetched_to || (context.user_reap && context.has_mapped())
    }
}

impl Engine for LibaioEngine {
    fn new(setup: &Setup, worker: u32) -> io::Result<Self> {
        Ok(Self {
            context: None,
            blocks: Vec::new(),
            queue: Vec::new(),
            fetched: Vec::new(),
            fetched_from: 0,
            fetched_to: 0,
            buffers: Buffers::new(setup, worker),
            file: Arc::clone(&setup.file),
            block_bytes: setup.block_bytes as u64,
            write_flags: if setup.dsync { libc::RWF_DSYNC } else { 0 },
            in_flight: 0,
            notes: Vec::new(),
        })
    }

    fn reserve(&mut self, slots: u32) -> io::Result<()> {
        assert!(
            self.in_flight == 0 && self.queue.is_empty(),
            "control blocks move only while none is in use"
        );
        let events = slots.next_power_of_two().max(EVENTS_MIN);
        self.buffers.grow(slots.next_power_of_two() as usize)?;
        if self.context.as_ref().is_none_or(|c| c.events < events) {
            self.context = None;
            self.context = Some(Context::new(events)?);
        }
        let slots = events as usize;
        if self.blocks.len() < slots {
            self.blocks.resize(slots, ControlBlock::default());
            self.fetched.resize(slots, Event::default());
            self.queue.reserve(slots);
        }
        Ok(())
    }

    #[inline]
    fn queue(&mut self, slot: u32, class: IoClass, offset: u64) {
        let (opcode, buffer, bytes, rw_flags) = match class {
            IoClass::Read => (IOCB_CMD_PREAD, self.buffers.reads.buffer(slot).start, self.block_bytes, 0),
            IoClass::Write => {
                self.buffers.stamp(slot);
                (IOCB_CMD_PWRITE, self.buffers.writes.buffer(slot).start, self.block_bytes, self.write_flags)
            }
            IoClass::Flush => (IOCB_CMD_FDSYNC, std::ptr::null_mut(), 0, 0),
        };
        let block = &mut self.blocks[slot as usize];
        *block = ControlBlock {
            data: u64::from(slot),
            rw_flags,
            opcode,
            descriptor: self.file.as_raw_fd() as u32,
            buffer: buffer as u64,
            bytes,
            offset: if class == IoClass::Flush { 0 } else { offset as i64 },
            ..ControlBlock::default()
        };
        self.queue.push(std::ptr::from_ref(block));
    }

    fn enter(&mut self, wait: Wait) -> io::Result<()> {
        if !self.queue.is_empty() {
            self.submit()?;
        }
        let timeout_ns = match wait {
            Wait::Completion if self.in_flight > 0 => None,
            Wait::Nanoseconds(ns) => Some(ns),
            _ => Some(0),
        };
        let user_reap = self.context.as_ref().is_some_and(|c| c.user_reap);
        if self.has_completed() || (timeout_ns == Some(0) && user_reap) {
            return Ok(());
        }
        self.wait(timeout_ns)
    }

    #[inline]
    fn reap(&mut self, into: &mut [Completion]) -> usize {
        let mut taken = 0;
        let mut take = |event: &Event| {
            let Some(to) = into.get_mut(taken) else { return false };
            *to = Completion { slot: event.data as u32, result: event.result as i32 };
            taken += 1;
            true
        };
        while self.fetched_from < self.fetched_to && take(&self.fetched[self.fetched_from]) {
            self.fetched_from += 1;
        }
        let context = self.context.as_ref().expect("reserve came first");
        if context.user_reap {
            context.take_mapped(take);
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

impl Drop for LibaioEngine {
    fn drop(&mut self) {
        if self.in_flight > 0 {
            // io_destroy would wait for them, perhaps for ever; the process's end does what is left to do.
            self.buffers.leak();
            std::mem::forget(self.context.take());
        }
    }
}

// SAFETY: `queue` holds addresses into `blocks`, both owned by the engine and used by one thread at a time.
unsafe impl Send for LibaioEngine {}
