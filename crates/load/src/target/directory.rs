//! A directory: makes a file of our own in it, fills it, and loads that.

use super::fill::{Filled, Patience, fill};
use super::scratch::{HEADER_BYTES, Scratch, remove_leftovers};
use super::{Heard, Target, TargetKind, doubts, make_direct, try_block};
use crate::error::Error;
use crate::options::Options;
use crate::workload::size::show_size;
use host::Root;
use record::{Doubt, DoubtId, Weight};
use rustix::fs::{Advice, FallocateFlags, fadvise, fallocate, fstatvfs, ftruncate};
use std::fs::File;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// Size of the own file unless asked otherwise: at 60 MiB/s it takes the whole patience below, at 500 MiB/s two seconds.
pub const SIZE_DEFAULT_BYTES: u64 = 1 << 30;
/// The own file takes at most this part of the free space by default ...
const DEFAULT_PART_OF_FREE: u64 = 4;
/// ... and on request.
const ASKED_PART_OF_FREE: u64 = 2;
/// Below this a default file is not worth measuring.
const SIZE_MIN_BYTES: u64 = 16 << 20;
/// A newcomer should not wait longer than this for a file of default size.
const PATIENCE: Patience = Patience { time: Duration::from_secs(20), enough_bytes: 256 << 20 };
/// Sizes are rounded down to this.
const UNIT_BYTES: u64 = 1 << 20;

/// Makes the target.
pub fn open(
    options: &Options,
    root: &Root,
    interrupt: &AtomicBool,
    heard: Heard<'_>,
) -> Result<Target, Error> {
    let folder = &options.target;
    let removed = remove_leftovers(folder).map_err(Error::system("looking for leftovers in", folder))?;
    let size_bytes = choose_size(options, free_bytes(folder)?)?;
    let scratch = Scratch::create(folder)?;
    let file = scratch.file().try_clone().map_err(Error::system("opening", scratch.path()))?;
    if !options.buffered {
        make_direct(&file, folder)?;
    }
    let bytes = prepare(&file, folder, size_bytes, options, interrupt, heard)?;
    if options.buffered {
        // Cold start: what filling left in the page cache goes, as far as it is clean by now. Best effort.
        let _ = fadvise(&file, 0, None, Advice::DontNeed);
    }
    let block_bytes = options.workload.block_bytes;
    try_block(&file, scratch.path(), HEADER_BYTES, block_bytes, 512)?;
    let mut seen = doubts::of_region(root, bytes, options.buffered);
    if bytes < size_bytes {
        let text = format!(
            "writing is slow here: the own file was ended at {} after {} s (planned: {}); --size overrides",
            show_size(bytes),
            PATIENCE.time.as_secs(),
            show_size(size_bytes)
        );
        seen.push(Doubt { id: DoubtId::CacheSuspected, weight: Weight::Note, text });
    }
    Ok(Target {
        path: folder.clone(),
        kind: TargetKind::Directory,
        file: Arc::new(file),
        start_bytes: HEADER_BYTES,
        bytes: bytes / block_bytes * block_bytes,
        direct: !options.buffered,
        writable: true,
        scratch: Some(scratch),
        doubts: seen,
        notes: removed.iter().map(|p| format!("removed {}, left by an earlier run", p.display())).collect(),
    })
}

/// Free space for this user.
fn free_bytes(folder: &Path) -> Result<u64, Error> {
    let opened = File::open(folder).map_err(Error::system("opening", folder))?;
    let space = fstatvfs(&opened).map_err(Error::system("reading the free space of", folder))?;
    Ok(space.f_bavail * space.f_frsize)
}

/// The asked size if it leaves half of the free space, or the default, scaled down to a quarter of the free space.
fn choose_size(options: &Options, free_bytes: u64) -> Result<u64, Error> {
    let no_space = |asked_bytes, part| Error::NoSpace {
        folder: options.target.clone(),
        asked_bytes,
        free_bytes,
        keep_bytes: free_bytes - free_bytes / part,
    };
    let need_bytes = crate::BLOCKS_PER_IO * options.workload.block_bytes;
    match options.size_bytes {
        Some(asked) if asked < need_bytes => Err(Error::TooSmall {
            target: options.target.clone(),
            have_bytes: asked,
            need_bytes,
            need_for: "one outstanding I/O".to_owned(),
        }),
        Some(asked) if asked + HEADER_BYTES > free_bytes / ASKED_PART_OF_FREE => {
            Err(no_space(asked, ASKED_PART_OF_FREE))
        }
        Some(asked) => Ok(asked.next_multiple_of(4096)),
        None => {
            let size = SIZE_DEFAULT_BYTES.min(free_bytes / DEFAULT_PART_OF_FREE) / UNIT_BYTES * UNIT_BYTES;
            let least = SIZE_MIN_BYTES.max(need_bytes);
            if size < least { Err(no_space(least, DEFAULT_PART_OF_FREE)) } else { Ok(size) }
        }
    }
}

/// Reserves the space, fills it, and answers how many bytes of data there are.
fn prepare(
    file: &File,
    folder: &Path,
    size_bytes: u64,
    options: &Options,
    interrupt: &AtomicBool,
    heard: Heard<'_>,
) -> Result<u64, Error> {
    let full = |written_bytes| Error::Full { folder: folder.to_owned(), written_bytes };
    // Filesystems without it get their space as they are written.
    let reserved = fallocate(file, FallocateFlags::empty(), 0, HEADER_BYTES + size_bytes);
    if let Err(rustix::io::Errno::NOSPC | rustix::io::Errno::DQUOT) = reserved {
        return Err(full(0));
    }
    let patience = options.size_bytes.is_none().then_some(PATIENCE);
    let seed = options.seed.unwrap_or_else(crate::rng::fresh_seed);
    match fill(file, HEADER_BYTES, size_bytes, patience, seed, interrupt, heard) {
        Filled::Whole => Ok(size_bytes),
        Filled::Shortened(bytes) => {
            ftruncate(file, HEADER_BYTES + bytes).map_err(Error::system("shortening the file in", folder))?;
            Ok(bytes)
        }
        Filled::Full(written_bytes) => Err(full(written_bytes)),
        Filled::Interrupted => Err(Error::Interrupted { target: folder.to_owned() }),
        Filled::Failed(cause) => {
            Err(Error::System { doing: "writing the file in", path: folder.to_owned(), cause })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::Workload;

    fn size(asked: Option<u64>, free: u64) -> Result<u64, String> {
        let mut options = Options::new("/data", Workload::named("oltp").unwrap());
        options.size_bytes = asked;
        choose_size(&options, free).map_err(|e| e.to_string())
    }

    #[test]
    fn the_default_size_is_bounded_by_the_free_space() {
        assert_eq!(size(None, 100 << 30), Ok(1 << 30));
        assert_eq!(size(None, 1 << 30), Ok(256 << 20));
        let error = size(None, 40 << 20).unwrap_err();
        assert!(error.contains("--size") && error.contains("40 MiB"), "{error}");
    }

    #[test]
    fn an_asked_size_leaves_half_of_the_free_space() {
        assert_eq!(size(Some(4 << 30), 9 << 30), Ok(4 << 30));
        assert!(size(Some(5 << 30), 9 << 30).is_err());
        assert!(size(Some(4096), 9 << 30).unwrap_err().contains("--block"));
    }
}
