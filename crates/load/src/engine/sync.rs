//! Synchronous I/O: one I/O per thread with pread, pwrite and fdatasync.
#![allow(unsafe_code, reason = "reads and writes by address, as all engines do")]

use super::{Buffers, Completion, Engine, Setup, Wait};
use record::IoClass;
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::sync::Arc;

/// The synchronous engine: one slot, and the I/O happens in [`Engine::enter`].
pub struct SyncEngine {
    buffers: Buffers,
    file: Arc<File>,
    block_bytes: usize,
    write_flags: i32,
    queued: Option<(IoClass, u64)>,
    done: Option<i32>,
}

impl SyncEngine {
    fn perform(&self, class: IoClass, offset: u64) -> i32 {
        let descriptor = self.file.as_raw_fd();
        let offset = offset as libc::off_t;
        // SAFETY: slot 0's buffers are `block_bytes` long and belong to this engine; the calls return before anything
        // else can touch them.
        let done = unsafe {
            match class {
                IoClass::Read => libc::pread(
                    descriptor,
                    self.buffers.reads.buffer(0).start.cast(),
                    self.block_bytes,
                    offset,
                ),
                IoClass::Write if self.write_flags == 0 => libc::pwrite(
                    descriptor,
                    self.buffers.writes.buffer(0).start.cast(),
                    self.block_bytes,
                    offset,
                ),
                IoClass::Write => {
                    let part = libc::iovec {
                        iov_base: self.buffers.writes.buffer(0).start.cast(),
                        iov_len: self.block_bytes,
                    };
                    libc::pwritev2(descriptor, &raw const part, 1, offset, self.write_flags)
                }
                IoClass::Flush => libc::fdatasync(descriptor) as isize,
            }
        };
        if done < 0 { -io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO) } else { done as i32 }
    }
}

impl Engine for SyncEngine {
    fn new(setup: &Setup, worker: u32) -> io::Result<Self> {
        Ok(Self {
            buffers: Buffers::new(setup, worker),
            file: Arc::clone(&setup.file),
            block_bytes: setup.block_bytes,
            write_flags: if setup.dsync { libc::RWF_DSYNC } else { 0 },
            queued: None,
            done: None,
        })
    }

    fn reserve(&mut self, slots: u32) -> io::Result<()> {
        assert!(slots <= 1, "a synchronous thread carries one I/O");
        self.buffers.grow(1)
    }

    #[inline]
    fn queue(&mut self, slot: u32, class: IoClass, offset: u64) {
        assert!(slot == 0 && self.queued.is_none(), "a synchronous thread carries one I/O");
        if class == IoClass::Write {
            self.buffers.stamp(0);
        }
        self.queued = Some((class, offset));
    }

    #[inline]
    fn enter(&mut self, wait: Wait) -> io::Result<()> {
        if let Some((class, offset)) = self.queued.take() {
            self.done = Some(self.perform(class, offset));
        } else if let Wait::Nanoseconds(ns) = wait {
            std::thread::sleep(std::time::Duration::from_nanos(ns));
        }
        Ok(())
    }

    #[inline]
    fn reap(&mut self, into: &mut [Completion]) -> usize {
        match (self.done.take(), into.first_mut()) {
            (Some(result), Some(to)) => {
                *to = Completion { slot: 0, result };
                1
            }
            _ => 0,
        }
    }

    fn notes(&self) -> &[String] {
        &[]
    }

    #[cfg(test)]
    fn buffers(&self) -> &Buffers {
        &self.buffers
    }
}
