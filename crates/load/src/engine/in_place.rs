//! Targets that the processor serves itself, in the call that asks: zram, files in memory.
//!
//! io_uring cannot start such a read without blocking when the target does not know RWF_NOWAIT, so it hands every one to
//! a kernel thread (io-wq). That thread and the load share the processor, and waking the load for each completion costs
//! as much as the read. An engine may take a few completions at a time there, since no device stands idle meanwhile. On
//! every other target that would hold work back from a device, so both signs are asked for.

use crate::cpu::voluntary_switches;
use crate::target::fill::Aligned;
use rustix::io::{Errno, ReadWriteFlags, pread, preadv2};
use std::fs::File;
use std::io::IoSliceMut;

/// Reads looked at: each must have been served without sleeping.
const READS: u64 = 4;

/// Whether reads of `block_bytes` go to kernel threads and are served by the processor alone. Reads some blocks.
pub fn is_served_in_place(file: &File, block_bytes: usize) -> bool {
    let mut memory = Aligned::new(block_bytes);
    let mut slices = [IoSliceMut::new(memory.bytes())];
    if preadv2(file, &mut slices, 0, ReadWriteFlags::NOWAIT) != Err(Errno::OPNOTSUPP) {
        return false;
    }
    let before = voluntary_switches();
    let all_read = (0..READS).all(|i| pread(file, memory.bytes(), i * block_bytes as u64).is_ok());
    all_read && voluntary_switches() == before
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::uring::{self, UringEngine};
    use crate::engine::{Completion, Engine, Setup, Wait};
    use record::IoClass;
    use std::io::Write;
    use std::sync::Arc;

    fn written(folder: &str) -> std::io::Result<File> {
        let mut file = tempfile::tempfile_in(folder)?;
        file.write_all(&[1; 64 << 10])?;
        file.sync_data()?;
        Ok(file)
    }

    #[test]
    fn a_file_in_memory_is_served_in_place_where_the_kernel_cannot_start_its_reads() {
        let Ok(file) = written("/dev/shm") else {
            eprintln!("skipped: no /dev/shm here");
            return;
        };
        let mut byte = [0];
        let refused = preadv2(&file, &mut [IoSliceMut::new(&mut byte)], 0, ReadWriteFlags::NOWAIT)
            == Err(Errno::OPNOTSUPP);
        assert_eq!(is_served_in_place(&file, 4096), refused);
    }

    #[test]
    fn a_file_on_a_disk_is_not() {
        let folder = env!("CARGO_MANIFEST_DIR");
        let file = written(folder).expect("a file beside the sources");
        let mut byte = [0];
        if preadv2(&file, &mut [IoSliceMut::new(&mut byte)], 0, ReadWriteFlags::NOWAIT)
            == Err(Errno::OPNOTSUPP)
        {
            eprintln!("skipped: the sources stand on a filesystem without RWF_NOWAIT");
            return;
        }
        assert!(!is_served_in_place(&file, 4096));
    }

    #[test]
    fn there_a_wait_ends_with_an_eighth_of_what_is_outstanding_and_nothing_is_lost() {
        let Ok(file) = written("/dev/shm") else {
            eprintln!("skipped: no /dev/shm here");
            return;
        };
        if uring::probe().is_err() || !is_served_in_place(&file, 4096) {
            eprintln!("skipped: io_uring cannot be used, or starts reads of memory without a kernel thread");
            return;
        }
        let setup = Setup {
            file: Arc::new(file),
            block_bytes: 4096,
            reads: true,
            writes: false,
            dsync: false,
            seed: 1,
        };
        let mut engine = UringEngine::new(&setup, 0).unwrap();
        engine.reserve(64).unwrap();
        (0..64).for_each(|slot| engine.queue(slot, IoClass::Read, u64::from(slot % 16) * 4096));
        let (mut done, mut left) = ([Completion::default(); 64], 64);
        while left > 0 {
            engine.enter(Wait::Completion).unwrap();
            let taken = engine.reap(&mut done);
            assert!(taken >= left / 8, "{taken} of {left}");
            assert!(done[..taken].iter().all(|c| c.result == 4096));
            left -= taken;
        }
        assert!((0..64).all(|slot| engine.buffers().reads.bytes(slot).iter().all(|&b| b == 1)));
    }
}
