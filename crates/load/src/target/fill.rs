//! Writes the own file full of incompressible data, so that no extent is unwritten and no block is answered without media.

use super::{Filling, Heard};
use crate::rng::Rng;
use std::fs::File;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Bytes per write while filling.
pub const CHUNK_BYTES: usize = 4 << 20;
/// How often progress is told.
const TELL_EVERY: Duration = Duration::from_millis(100);

/// Page-aligned memory for direct I/O outside the engines.
pub struct Aligned {
    memory: Vec<u8>,
    from: usize,
    length: usize,
}

impl Aligned {
    /// `length` zero bytes.
    pub fn new(length: usize) -> Self {
        let memory = vec![0u8; length + 4096];
        let from = memory.as_ptr().align_offset(4096);
        Self { memory, from, length }
    }

    /// The bytes.
    pub fn bytes(&mut self) -> &mut [u8] {
        &mut self.memory[self.from..self.from + self.length]
    }
}

/// How filling went.
#[derive(Debug)]
pub enum Filled {
    /// All is written and durable.
    Whole,
    /// Writing was slow, so it ended early after this many bytes, durable.
    Shortened(u64),
    /// The filesystem is full, after this many bytes.
    Full(u64),
    /// A signal came.
    Interrupted,
    /// A write failed.
    Failed(io::Error),
}

/// When slow writing may end early.
#[derive(Clone, Copy, Debug)]
pub struct Patience {
    /// After this long ...
    pub time: Duration,
    /// ... if at least this much is there.
    pub enough_bytes: u64,
}

/// Writes `bytes` bytes from `start_bytes` on, then makes them durable. Both are multiples of 4096.
pub fn fill(
    file: &File,
    start_bytes: u64,
    bytes: u64,
    patience: Option<Patience>,
    seed: u64,
    interrupt: &AtomicBool,
    heard: Heard<'_>,
) -> Filled {
    let mut memory = Aligned::new(CHUNK_BYTES);
    let mut rng = Rng::new(seed);
    let started = Instant::now();
    let mut told = started;
    let mut written = 0;
    while written < bytes {
        if interrupt.load(Ordering::Relaxed) {
            return Filled::Interrupted;
        }
        if patience.is_some_and(|p| started.elapsed() > p.time && written >= p.enough_bytes) {
            return finish(file, Filled::Shortened(written));
        }
        let length = (bytes - written).min(CHUNK_BYTES as u64) as usize;
        let chunk = &mut memory.bytes()[..length];
        rng.fill(chunk);
        match rustix::io::pwrite(file, chunk, start_bytes + written) {
            // A short write of a direct file may end inside a sector; what follows starts on a page again.
            Ok(0) => return Filled::Full(written),
            Ok(done) if done < length => written += done as u64 / 4096 * 4096,
            Ok(done) => written += done as u64,
            Err(rustix::io::Errno::NOSPC | rustix::io::Errno::DQUOT) => return Filled::Full(written),
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Filled::Failed(error.into()),
        }
        if told.elapsed() >= TELL_EVERY || written == bytes {
            told = Instant::now();
            heard(Filling {
                written_bytes: written,
                of_bytes: bytes,
                seconds: started.elapsed().as_secs_f64(),
            });
        }
    }
    finish(file, Filled::Whole)
}

fn finish(file: &File, how: Filled) -> Filled {
    match rustix::fs::fdatasync(file) {
        Ok(()) => how,
        Err(rustix::io::Errno::NOSPC) => Filled::Full(0),
        Err(error) => Filled::Failed(error.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slow_writing_ends_early_once_enough_is_there() {
        let file = tempfile::tempfile().unwrap();
        let patience = Patience { time: Duration::ZERO, enough_bytes: 8 << 20 };
        let filled = fill(&file, 0, 64 << 20, Some(patience), 1, &AtomicBool::new(false), &mut |_| {});
        assert!(matches!(filled, Filled::Shortened(bytes) if bytes == 8 << 20), "{filled:?}");
    }

    #[test]
    fn an_interrupt_ends_filling() {
        let file = tempfile::tempfile().unwrap();
        let interrupt = AtomicBool::new(false);
        let mut tell = |_| interrupt.store(true, Ordering::Relaxed);
        let filled = fill(&file, 0, 1 << 40, None, 1, &interrupt, &mut tell);
        assert!(matches!(filled, Filled::Interrupted), "{filled:?}");
    }

    #[test]
    fn progress_reaches_the_end() {
        let file = tempfile::tempfile().unwrap();
        let mut last = None;
        fill(&file, 4096, 5 << 20, None, 1, &AtomicBool::new(false), &mut |f| last = Some(f));
        assert_eq!(last.map(|f| (f.written_bytes, f.of_bytes)), Some((5 << 20, 5 << 20)));
        assert_eq!(file.metadata().unwrap().len(), (5 << 20) + 4096);
    }
}
