//! A block device: read-only, unless the ladder of [`crate::safety`] was climbed.

use super::{Target, TargetKind, doubts, try_block, usable_bytes};
use crate::error::Error;
use crate::options::Options;
use crate::safety;
use host::Root;
use std::fs::{File, OpenOptions};
use std::io::{Seek, SeekFrom};
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::Path;
use std::sync::Arc;

/// Room for a mark at each end; a multiple of most block sizes, and no smaller than a mark.
const MARK_SPACE_BYTES: u64 = safety::MARK_BYTES;

/// Opens the device.
pub fn open(options: &Options, root: &Root) -> Result<Target, Error> {
    let path = &options.target;
    let direct = if options.buffered { 0 } else { libc::O_DIRECT };
    let mut file = if options.workload.writes() {
        safety::open_for_writing(path, options.destroy_data_on.as_deref(), root, direct)?
    } else {
        open_reading(path, direct)?
    };
    let size_bytes = file.seek(SeekFrom::End(0)).map_err(Error::system("reading the size of", path))?;
    // A device that is written to carries our marks at both ends.
    let (start_bytes, have_bytes) = match options.workload.writes() {
        true => (MARK_SPACE_BYTES, size_bytes - 2 * MARK_SPACE_BYTES),
        false => (0, size_bytes),
    };
    let bytes = usable_bytes(options, have_bytes)?;
    let sector_bytes = rustix::fs::ioctl_blksszget(&file).map_or(512, u64::from);
    try_block(&file, path, start_bytes, options.workload.block_bytes, sector_bytes)?;
    let mut seen = doubts::of_region(root, bytes, options.buffered);
    if !options.workload.writes() {
        seen.extend(doubts::of_zeros(&file, bytes));
    }
    Ok(Target {
        path: path.clone(),
        kind: TargetKind::BlockDevice,
        file: Arc::new(file),
        start_bytes,
        bytes,
        direct: !options.buffered,
        writable: options.workload.writes(),
        scratch: None,
        doubts: seen,
        notes: Vec::new(),
    })
}

fn open_reading(path: &Path, direct: i32) -> Result<File, Error> {
    let file = OpenOptions::new()
        .read(true)
        .custom_flags(direct | libc::O_CLOEXEC)
        .open(path)
        .map_err(Error::system("opening for reading", path))?;
    let status = file.metadata().map_err(Error::system("looking at", path))?;
    if status.file_type().is_block_device() {
        Ok(file)
    } else {
        Err(Error::Kind { target: path.to_owned(), what: "no longer a block device" })
    }
}
