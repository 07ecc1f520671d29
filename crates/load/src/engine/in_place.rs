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
    use std::io::Write;

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
}
