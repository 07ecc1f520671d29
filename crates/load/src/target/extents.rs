//! How much of a file has written extents, from FS_IOC_FIEMAP (Documentation/filesystems/fiemap.rst).
#![allow(unsafe_code, reason = "FIEMAP is an ioctl without a safe wrapper among our libraries")]

use std::fs::File;
use std::os::fd::AsRawFd;

/// `_IOWR('f', 11, struct fiemap)` with the 32 bytes of struct fiemap's head.
const FS_IOC_FIEMAP: libc::c_ulong = 0xC020_660B;
const FIEMAP_EXTENT_LAST: u32 = 0x1;
const FIEMAP_EXTENT_UNWRITTEN: u32 = 0x800;
const FIEMAP_FLAG_SYNC: u32 = 0x1;
/// Extents per call.
const BATCH: usize = 512;
/// Calls at most: a file of more extents than this is fragmented beyond doubt, and the rest counts as written.
const CALLS_MAX: usize = 256;

/// struct fiemap_extent.
#[repr(C)]
#[derive(Clone, Copy)]
struct Extent {
    logical: u64,
    physical: u64,
    length: u64,
    reserved64: [u64; 2],
    flags: u32,
    reserved: [u32; 3],
}

/// struct fiemap with room for a batch.
#[repr(C)]
struct Request {
    start: u64,
    length: u64,
    flags: u32,
    mapped: u32,
    count: u32,
    reserved: u32,
    extents: [Extent; BATCH],
}
const _: () = assert!(size_of::<Extent>() == 56 && size_of::<Request>() == 32 + 56 * BATCH);

/// Bytes below `bytes` that lie in written extents; `None` where the filesystem cannot tell.
pub fn written_bytes(file: &File, bytes: u64) -> Option<u64> {
    let none = Extent { logical: 0, physical: 0, length: 0, reserved64: [0; 2], flags: 0, reserved: [0; 3] };
    let mut request = Box::new(Request {
        start: 0,
        length: bytes,
        flags: FIEMAP_FLAG_SYNC,
        mapped: 0,
        count: BATCH as u32,
        reserved: 0,
        extents: [none; BATCH],
    });
    let mut written = 0;
    for _ in 0..CALLS_MAX {
        request.length = bytes - request.start;
        // SAFETY: the request is one struct fiemap with room for `count` extents, which the kernel fills.
        let done = unsafe { libc::ioctl(file.as_raw_fd(), FS_IOC_FIEMAP, &raw mut *request) };
        if done < 0 {
            return None;
        }
        let extents = &request.extents[..(request.mapped as usize).min(BATCH)];
        for extent in extents.iter().filter(|e| e.flags & FIEMAP_EXTENT_UNWRITTEN == 0) {
            let end = (extent.logical + extent.length).min(bytes);
            written += end.saturating_sub(extent.logical.max(request.start));
        }
        let Some(last) = extents.last() else { return Some(written) };
        let next = last.logical + last.length;
        if last.flags & FIEMAP_EXTENT_LAST != 0 || next >= bytes || extents.len() < BATCH {
            return Some(written);
        }
        request.start = next;
    }
    Some(written + bytes - request.start)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::fs::{FallocateFlags, fallocate};
    use std::os::unix::fs::FileExt;

    /// A file on the filesystem of this build, which has extents; the system's temporary folder may be in memory.
    fn file() -> File {
        let folder = std::env::var_os("CARGO_MANIFEST_DIR").unwrap();
        tempfile::tempfile_in(std::path::Path::new(&folder)).unwrap()
    }

    #[test]
    fn holes_and_unwritten_extents_are_told_from_written_ones() {
        let file = file();
        if fallocate(&file, FallocateFlags::empty(), 0, 4 << 20).is_err() || written_bytes(&file, 1).is_none()
        {
            eprintln!("skipped: this filesystem has no fallocate or no extent map");
            return;
        }
        assert_eq!(written_bytes(&file, 4 << 20), Some(0));
        file.write_all_at(&vec![1u8; 1 << 20], 1 << 20).unwrap();
        assert_eq!(written_bytes(&file, 4 << 20), Some(1 << 20));
        file.set_len(8 << 20).unwrap();
        file.write_all_at(&vec![1u8; 1 << 20], 7 << 20).unwrap();
        assert_eq!(written_bytes(&file, 8 << 20), Some(2 << 20));
    }

    #[test]
    fn more_extents_than_one_batch_are_all_counted() {
        let file = file();
        if written_bytes(&file, 1).is_none() {
            eprintln!("skipped: this filesystem has no extent map");
            return;
        }
        let pieces = 3 * BATCH as u64 / 2;
        for i in 0..pieces {
            file.write_all_at(&[1u8; 4096], i * 8192).unwrap();
        }
        assert_eq!(written_bytes(&file, pieces * 8192), Some(pieces * 4096));
    }
}
