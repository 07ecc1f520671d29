//! Whether a device holds data, and the marks by which we know our own.
//!
//! A mark is a whole MiB whose every byte follows from the device's size, at each end. Whatever is made on a device
//! (filesystem, LVM, MD, ASM, ZFS, swap, partition table) writes into its first MiB and so breaks the mark.

use crate::rng::Rng;
use crate::target::fill::Aligned;
use std::fs::File;
use std::io;

/// Bytes of a mark; the workload stays between the two.
pub const MARK_BYTES: u64 = 1 << 20;
/// Head and tail that are read whole.
const WHOLE_BYTES: u64 = 4 << 20;
/// A device must hold both, and something between.
pub const SIZE_MIN_BYTES: u64 = 2 * WHOLE_BYTES;
/// Samples between head and tail, evenly spaced.
const SAMPLES: u64 = 1024;
/// Bytes of a sample.
const SAMPLE_BYTES: u64 = 4096;
/// Bytes per read of head and tail.
const READ_BYTES: usize = 1 << 20;
/// First bytes of a mark.
const TAG: &[u8] = b"plimsoll mark, version 1: this device was written to by plimsoll --destroy-data-on\n";

/// Which end of the device.
#[derive(Clone, Copy)]
enum End {
    Head,
    Tail,
}

/// The first byte at which the device holds something that is neither zero nor ours; `None` when there is none.
pub fn first_data(file: &File, size_bytes: u64) -> io::Result<Option<u64>> {
    if is_marked(file, size_bytes)? {
        return Ok(None);
    }
    let mut memory = Aligned::new(READ_BYTES);
    for start in [0, size_bytes - WHOLE_BYTES] {
        for offset in (start..start + WHOLE_BYTES).step_by(READ_BYTES) {
            if let Some(at) = non_zero(file, memory.bytes(), offset)? {
                return Ok(Some(at));
            }
        }
    }
    let step = (size_bytes / SAMPLES).next_multiple_of(SAMPLE_BYTES);
    for offset in (WHOLE_BYTES..size_bytes - WHOLE_BYTES).step_by(step as usize) {
        if let Some(at) = non_zero(file, &mut memory.bytes()[..SAMPLE_BYTES as usize], offset)? {
            return Ok(Some(at));
        }
    }
    Ok(None)
}

/// Writes our marks to both ends and makes them durable.
pub fn mark(file: &File, size_bytes: u64) -> io::Result<()> {
    let mut memory = Aligned::new(MARK_BYTES as usize);
    for end in [End::Head, End::Tail] {
        write_mark(memory.bytes(), size_bytes, end);
        let done = rustix::io::pwrite(file, memory.bytes(), place(size_bytes, end))?;
        if done as u64 != MARK_BYTES {
            return Err(io::Error::from(io::ErrorKind::WriteZero));
        }
    }
    Ok(rustix::fs::fdatasync(file)?)
}

/// Whether both ends carry our marks, whole.
pub fn is_marked(file: &File, size_bytes: u64) -> io::Result<bool> {
    let mut found = Aligned::new(MARK_BYTES as usize);
    let mut expected = vec![0; MARK_BYTES as usize];
    for end in [End::Head, End::Tail] {
        read(file, found.bytes(), place(size_bytes, end))?;
        write_mark(&mut expected, size_bytes, end);
        if found.bytes() != expected.as_slice() {
            return Ok(false);
        }
    }
    Ok(true)
}

fn place(size_bytes: u64, end: End) -> u64 {
    match end {
        End::Head => 0,
        // Sizes are whole sectors, so this is one too.
        End::Tail => size_bytes - MARK_BYTES,
    }
}

fn write_mark(bytes: &mut [u8], size_bytes: u64, end: End) {
    Rng::part(size_bytes, end as u64).fill(bytes);
    bytes[..TAG.len()].copy_from_slice(TAG);
}

fn non_zero(file: &File, bytes: &mut [u8], offset: u64) -> io::Result<Option<u64>> {
    read(file, bytes, offset)?;
    Ok(bytes.iter().position(|&b| b != 0).map(|at| offset + at as u64))
}

fn read(file: &File, bytes: &mut [u8], offset: u64) -> io::Result<()> {
    let mut done = 0;
    while done < bytes.len() {
        match rustix::io::pread(file, &mut bytes[done..], offset + done as u64) {
            Ok(0) => return Err(io::Error::from(io::ErrorKind::UnexpectedEof)),
            Ok(more) => done += more,
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::FileExt;

    const SIZE: u64 = 64 << 20;

    fn zeros() -> File {
        let file = tempfile::tempfile().unwrap();
        file.set_len(SIZE).unwrap();
        file
    }

    #[test]
    fn zeros_are_no_data_and_a_single_byte_at_either_end_is() {
        let file = zeros();
        assert_eq!(first_data(&file, SIZE).unwrap(), None);
        for offset in [0, 510, 1080, 65_600, WHOLE_BYTES - 1, SIZE - 1, SIZE - 512, SIZE - WHOLE_BYTES] {
            let file = zeros();
            file.write_all_at(&[1], offset).unwrap();
            assert_eq!(first_data(&file, SIZE).unwrap(), Some(offset));
        }
    }

    #[test]
    fn data_in_the_middle_is_met_by_the_samples() {
        let file = zeros();
        file.write_all_at(&vec![7; 128 << 10], 33 << 20).unwrap();
        let at = first_data(&file, SIZE).unwrap().unwrap();
        assert!((33 << 20..(33 << 20) + (128 << 10)).contains(&at));
    }

    #[test]
    fn our_marks_make_any_content_ours_until_one_byte_changes() {
        let file = zeros();
        file.write_all_at(&vec![7; 1 << 20], 20 << 20).unwrap();
        mark(&file, SIZE).unwrap();
        assert_eq!(first_data(&file, SIZE).unwrap(), None);
        for offset in [0, 1080, 65_600, MARK_BYTES - 1, SIZE - 1] {
            mark(&file, SIZE).unwrap();
            let mut byte = [0];
            file.read_exact_at(&mut byte, offset).unwrap();
            file.write_all_at(&[!byte[0]], offset).unwrap();
            assert!(first_data(&file, SIZE).unwrap().is_some(), "byte {offset}");
        }
    }

    #[test]
    fn marks_of_another_size_are_not_ours() {
        let file = zeros();
        mark(&file, SIZE).unwrap();
        file.set_len(2 * SIZE).unwrap();
        assert!(first_data(&file, 2 * SIZE).unwrap().is_some());
    }
}
