//! Nothing is allocated per I/O: counted by an allocator that counts.
#![allow(unsafe_code, reason = "an allocator is an unsafe trait")]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod common;

use common::*;
use load::Options;
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicU64, Ordering};

static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);

struct Counting;

// SAFETY: everything is handed to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller's promises are passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, bytes: usize) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: as above.
        unsafe { System.realloc(pointer, layout, bytes) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Allocations that a slice may cost: histograms for the watcher, list nodes of the channel.
const PER_SLICE: u64 = 30;
/// Allocations that a step may cost: looking at threads, reading their times, its lists and texts.
const PER_STEP: u64 = 600;

#[test]
fn nothing_is_allocated_per_io() {
    for engine in engines() {
        let folder = folder();
        let mut options = Options::new(file(folder.path(), 16 << 20), workload("oltp"));
        options.engine = Some(engine);
        options.buffered = true;
        let Some(mut subject) = open(&options) else { continue };
        // The first step makes threads, rings and buffers.
        measure(&mut subject, &closed(8, 0.1));
        let before = ALLOCATIONS.load(Ordering::Relaxed);
        let step = measure(&mut subject, &closed(8, 0.8));
        let allocations = ALLOCATIONS.load(Ordering::Relaxed) - before;
        let slices = step.slices.len() as u64;
        assert!(allocations <= PER_STEP + slices * PER_SLICE, "{engine}: {allocations} in {slices} slices");
        assert!(step.ios() > 10 * allocations, "{engine}: {allocations} allocations, {} I/Os", step.ios());
    }
}
