//! I/O buffers: page-aligned memory that grows in steps and never moves.
//!
//! An [`Arena`] holds one buffer per slot. Growing adds a slab and leaves the buffers that exist where they are, so
//! that a change of load costs only the memory it adds. A slab of 256 KiB or more is placed on a 2 MiB boundary and
//! offered to huge pages: the kernel's copy then needs one TLB entry instead of dozens, and registering it with a
//! ring pins one folio.
#![allow(unsafe_code, reason = "maps memory that the kernel reads and writes by address")]

use crate::rng::Rng;
use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap_anonymous, munmap};
use std::ffi::c_void;
use std::io;

/// Page size assumed for touching and alignment; larger pages only make the touching redundant.
const PAGE_BYTES: usize = 4096;
/// Size and alignment of a huge page on x86-64 and arm64 with 4 KiB pages.
const HUGE_BYTES: usize = 2 << 20;
/// Slabs from this size on are offered to huge pages.
const HUGE_FROM_BYTES: usize = 256 << 10;
/// Distance of the stamps that make written blocks differ: no array deduplicates in smaller pieces.
const STAMP_EVERY_BYTES: usize = 4096;

/// One mapping.
#[derive(Debug)]
struct Slab {
    mapping: *mut c_void,
    mapping_bytes: usize,
    start: *mut u8,
    bytes: usize,
}

impl Slab {
    fn new(bytes: usize) -> io::Result<Self> {
        let huge = bytes >= HUGE_FROM_BYTES;
        let unit = if huge { HUGE_BYTES } else { PAGE_BYTES };
        let bytes = bytes.next_multiple_of(unit);
        let mapping_bytes = if huge { bytes + HUGE_BYTES } else { bytes };
        // SAFETY: a new private anonymous mapping at a place of the kernel's choice overlaps nothing.
        let mapping = unsafe {
            mmap_anonymous(
                std::ptr::null_mut(),
                mapping_bytes,
                ProtFlags::READ | ProtFlags::WRITE,
                MapFlags::PRIVATE | MapFlags::NORESERVE,
            )
        }?;
        let start = mapping.cast::<u8>();
        let start = start.wrapping_add(start.align_offset(unit));
        let slab = Self { mapping, mapping_bytes, start, bytes };
        if huge {
            // Best effort: without huge pages everything works, slower.
            // SAFETY: the range lies inside the mapping made above, which this slab owns.
            let _ = unsafe { madvise(slab.start.cast(), slab.bytes, Advice::LinuxHugepage) };
        }
        slab.touch();
        Ok(slab)
    }

    /// Faults every page in, so that no page fault falls into a measured window.
    fn touch(&self) {
        for offset in (0..self.bytes).step_by(PAGE_BYTES) {
            // SAFETY: `offset < bytes`, so the byte lies in this slab's mapping, which nobody else knows yet.
            unsafe { self.start.add(offset).write_volatile(0) };
        }
    }
}

impl Drop for Slab {
    fn drop(&mut self) {
        // SAFETY: `mapping` was mapped by `new` with this length and is unmapped only here. The arena's owner keeps
        // the rule that no I/O is in flight when an arena is dropped (see `Arena::leak`).
        let _ = unsafe { munmap(self.mapping, self.mapping_bytes) };
    }
}

/// Where one slot's buffer is.
#[derive(Clone, Copy, Debug)]
pub struct Buffer {
    /// First byte, aligned to at least 4096 bytes where the buffer size is a multiple of that, else to 512.
    pub start: *mut u8,
    /// Slab it lies in, for registered buffers.
    pub slab: u16,
}

/// One buffer per slot.
#[derive(Debug, Default)]
pub struct Arena {
    slabs: Vec<Slab>,
    buffers: Vec<Buffer>,
    buffer_bytes: usize,
}

impl Arena {
    /// An arena for buffers of `block_bytes` each, empty as yet.
    pub fn new(block_bytes: usize) -> Self {
        Self { slabs: Vec::new(), buffers: Vec::new(), buffer_bytes: block_bytes.next_multiple_of(512) }
    }

    /// Slots that have a buffer.
    pub fn slots(&self) -> usize {
        self.buffers.len()
    }

    /// Makes sure that at least `slots` slots have a buffer. Existing buffers stay where they are.
    pub fn grow(&mut self, slots: usize) -> io::Result<()> {
        let more = slots.saturating_sub(self.slots());
        if more == 0 {
            return Ok(());
        }
        let slab = Slab::new(more * self.buffer_bytes)?;
        let index = self.slabs.len() as u16;
        for i in 0..more {
            let start = slab.start.wrapping_add(i * self.buffer_bytes);
            self.buffers.push(Buffer { start, slab: index });
        }
        self.slabs.push(slab);
        Ok(())
    }

    /// A slot's buffer. Panics when the slot has none.
    #[inline]
    pub fn buffer(&self, slot: u32) -> Buffer {
        self.buffers[slot as usize]
    }

    /// Fills the buffers from slot `from` on with incompressible content.
    pub fn randomise(&mut self, from: usize, rng: &mut Rng) {
        for buffer in &self.buffers[from..] {
            // SAFETY: the buffer is `buffer_bytes` long inside a slab this arena owns; `&mut self` and the rule that
            // buffers are grown and filled only while nothing is in flight make this the only access.
            let bytes = unsafe { std::slice::from_raw_parts_mut(buffer.start, self.buffer_bytes) };
            rng.fill(bytes);
        }
    }

    /// Makes the content of a slot's next write differ from every other: a number into each 4 KiB of it.
    #[inline]
    pub fn stamp(&mut self, slot: u32, number: u64) {
        let buffer = self.buffers[slot as usize];
        for offset in (0..self.buffer_bytes).step_by(STAMP_EVERY_BYTES) {
            // SAFETY: `offset + 8 <= buffer_bytes` since buffers are multiples of 512 bytes; alignment to 8 follows
            // from the slab's. The slot is not in flight: the engine stamps before it queues.
            unsafe { buffer.start.add(offset).cast::<u64>().write(number ^ offset as u64) };
        }
    }

    /// Whole slabs as (address, length), in the order of [`Buffer::slab`].
    pub fn slabs(&self) -> impl Iterator<Item = (*mut u8, usize)> + '_ {
        self.slabs.iter().map(|s| (s.start, s.bytes))
    }

    /// Number of slabs.
    pub fn slab_count(&self) -> usize {
        self.slabs.len()
    }

    /// Bytes of slot `slot`'s buffer, for checks after a read.
    #[cfg(test)]
    pub fn bytes(&self, slot: u32) -> &[u8] {
        // SAFETY: as in `randomise`; tests look only when nothing is in flight.
        unsafe { std::slice::from_raw_parts(self.buffers[slot as usize].start, self.buffer_bytes) }
    }

    /// Gives the memory up for good: for buffers that the kernel may still write to.
    pub fn leak(self) {
        std::mem::forget(self);
    }
}

// SAFETY: the pointers are plain addresses of mappings that the arena owns; nothing in them is tied to a thread.
unsafe impl Send for Arena {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn growing_moves_no_buffer() {
        let mut arena = Arena::new(8192);
        arena.grow(3).unwrap();
        let before: Vec<_> = (0..3).map(|s| arena.buffer(s).start).collect();
        arena.grow(200).unwrap();
        assert_eq!(before, (0..3).map(|s| arena.buffer(s).start).collect::<Vec<_>>());
        assert_eq!(arena.slots(), 200);
        assert!((0..200).all(|s| (arena.buffer(s).start as usize).is_multiple_of(4096)));
    }

    #[test]
    fn buffers_do_not_overlap_and_lie_in_their_slab() {
        let mut arena = Arena::new(4096);
        for slots in [1, 2, 64, 65, 300] {
            arena.grow(slots).unwrap();
        }
        let slabs: Vec<_> = arena.slabs().collect();
        let mut starts: Vec<usize> = (0..300)
            .map(|s| {
                let b = arena.buffer(s);
                let (start, bytes) = slabs[b.slab as usize];
                assert!(b.start >= start && b.start as usize + 4096 <= start as usize + bytes);
                b.start as usize
            })
            .collect();
        starts.sort_unstable();
        assert!(starts.windows(2).all(|w| w[1] - w[0] >= 4096));
    }

    #[test]
    fn each_stamp_changes_every_4_kib() {
        let mut arena = Arena::new(16384);
        arena.grow(1).unwrap();
        arena.randomise(0, &mut Rng::new(1));
        arena.stamp(0, 1);
        let first = arena.bytes(0).to_vec();
        arena.stamp(0, 2);
        let second = arena.bytes(0).to_vec();
        assert!(first.chunks(4096).zip(second.chunks(4096)).all(|(a, b)| a != b));
    }
}
