//! An existing file: opened for reading only, writes refused.

use super::{
    Target, TargetKind, doubts, leave_access_time, make_blocking, make_direct, try_block, usable_bytes,
};
use crate::error::Error;
use crate::options::Options;
use crate::safety::Refusal;
use host::Root;
use std::fs::OpenOptions;
use std::os::unix::fs::OpenOptionsExt;
use std::sync::Arc;

/// Opens the file.
pub fn open(options: &Options, root: &Root) -> Result<Target, Error> {
    let path = &options.target;
    if options.workload.writes() {
        return Err(Error::Refused { target: path.clone(), refusal: Refusal::NotOurFile });
    }
    let file = OpenOptions::new()
        .read(true)
        .custom_flags(libc::O_NONBLOCK | libc::O_CLOEXEC)
        .open(path)
        .map_err(Error::system("opening for reading", path))?;
    let status = file.metadata().map_err(Error::system("looking at", path))?;
    if !status.is_file() {
        return Err(Error::Kind { target: path.clone(), what: "no longer a regular file" });
    }
    // O_NONBLOCK kept the open from waiting on a pipe of that name; with it left on, io_uring may answer EAGAIN.
    make_blocking(&file, path)?;
    leave_access_time(&file);
    if !options.buffered {
        make_direct(&file, path)?;
    }
    let bytes = usable_bytes(options, status.len())?;
    try_block(&file, path, 0, options.workload.block_bytes, 512)?;
    let mut seen = doubts::of_region(root, bytes, options.buffered);
    seen.extend(doubts::of_extents(&file, bytes));
    seen.extend(doubts::of_zeros(&file, bytes));
    Ok(Target {
        path: path.clone(),
        kind: TargetKind::File,
        file: Arc::new(file),
        start_bytes: 0,
        bytes,
        direct: !options.buffered,
        writable: false,
        scratch: None,
        doubts: seen,
        notes: Vec::new(),
    })
}
