//! What is put under load: a directory (with a file of our own in it), an existing file, or a block device.
//!
//! The read-only rule is kept by how things are opened: for a file or device that Plimsoll did not make, this process holds
//! no descriptor that could write, unless the ladder of [`crate::safety`] was climbed.

pub mod device;
pub mod directory;
pub mod doubts;
pub mod existing;
pub mod extents;
pub mod fill;
pub mod scratch;

use crate::error::Error;
use crate::options::Options;
use crate::workload::size::show_size;
use host::Root;
use record::Doubt;
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl, fstatfs};
use scratch::Scratch;
use std::fs::File;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// What sort of target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TargetKind {
    /// A directory; the load goes to a file that Plimsoll made in it.
    Directory,
    /// An existing file, only read.
    File,
    /// A block device.
    BlockDevice,
}

impl TargetKind {
    /// The word in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Directory => "directory",
            Self::File => "file",
            Self::BlockDevice => "block-device",
        }
    }
}

/// How far the writing of the own file is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Filling {
    /// Bytes written.
    pub written_bytes: u64,
    /// Bytes to write.
    pub of_bytes: u64,
    /// Time spent.
    pub seconds: f64,
}

/// Hears how far preparing is.
pub type Heard<'a> = &'a mut dyn FnMut(Filling);

/// An opened target.
#[derive(Debug)]
pub struct Target {
    path: PathBuf,
    kind: TargetKind,
    file: Arc<File>,
    start_bytes: u64,
    bytes: u64,
    direct: bool,
    writable: bool,
    scratch: Option<Scratch>,
    doubts: Vec<Doubt>,
    notes: Vec<String>,
}

impl Target {
    /// The target as the user named it.
    pub fn name(&self) -> String {
        self.path.display().to_string()
    }

    /// What sort of target.
    pub fn kind(&self) -> TargetKind {
        self.kind
    }

    /// The file or device that takes the I/O, opened; its status tells the device below.
    pub fn file(&self) -> &Arc<File> {
        &self.file
    }

    /// Path of the file or device that takes the I/O: the own file when the target is a directory.
    pub fn data_path(&self) -> &Path {
        self.scratch.as_ref().map_or(&self.path, |s| s.path())
    }

    /// First byte and number of bytes that a workload may touch.
    pub fn span(&self) -> (u64, u64) {
        (self.start_bytes, self.bytes)
    }

    /// Whether I/O goes past the page cache.
    pub fn is_direct(&self) -> bool {
        self.direct
    }

    /// Whether a workload may write.
    pub fn is_writable(&self) -> bool {
        self.writable
    }

    /// What was noticed while it was opened.
    pub fn doubts(&self) -> &[Doubt] {
        &self.doubts
    }

    /// What was done beside opening it: leftovers of earlier runs that were removed.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Whether the target still holds all bytes that the workload may touch; the error says what happened.
    pub fn intact(&self) -> Result<(), String> {
        if self.kind == TargetKind::BlockDevice {
            return Ok(());
        }
        let length = match self.file.metadata() {
            Ok(status) => status.len(),
            Err(error) => return Err(format!("{}: reading its size: {error}", self.data_path().display())),
        };
        let needed = self.start_bytes + self.bytes;
        if length >= needed {
            return Ok(());
        }
        Err(format!(
            "{} shrank during the run, from at least {} to {}",
            self.data_path().display(),
            show_size(needed),
            show_size(length)
        ))
    }

    /// Removes the own file, if there is one, and says when that failed.
    pub fn close(self) -> Result<(), Error> {
        match self.scratch {
            Some(scratch) => scratch.remove(),
            None => Ok(()),
        }
    }
}

/// Finds out what the target is, checks that it may be used as asked, and opens it; in a directory, makes and fills
/// the own file. `interrupt` ends the filling early, and `heard` is told how far it is.
pub fn resolve(
    options: &Options,
    root: &Root,
    interrupt: &AtomicBool,
    heard: Heard<'_>,
) -> Result<Target, Error> {
    let path = &options.target;
    let status = std::fs::metadata(path).map_err(Error::system("looking at", path))?;
    let kind = status.file_type();
    if options.destroy_data_on.is_some() && !(kind.is_block_device() && options.workload.writes()) {
        return Err(Error::Usage {
            flag: "--destroy-data-on",
            given: show_path(options.destroy_data_on.as_deref()),
            expected: "a workload that writes to a block device; nothing here would destroy data".to_owned(),
        });
    }
    if kind.is_dir() {
        directory::open(options, root, interrupt, heard)
    } else if kind.is_file() {
        existing::open(options, root)
    } else if kind.is_block_device() {
        device::open(options, root)
    } else {
        let what = match kind {
            k if k.is_char_device() => "a character device",
            k if k.is_fifo() => "a pipe",
            k if k.is_socket() => "a socket",
            _ => "something else",
        };
        Err(Error::Kind { target: path.clone(), what })
    }
}

fn show_path(path: Option<&Path>) -> String {
    path.map(|p| p.display().to_string()).unwrap_or_default()
}

/// Filesystems that live in memory: they take O_DIRECT since Linux 6.6 but have no device to be direct to.
const MEMORY_FILESYSTEMS: [(u32, &str); 2] = [(0x0102_1994, "tmpfs"), (0x8584_58f6, "ramfs")];

/// Turns O_NONBLOCK off.
fn make_blocking(file: &File, path: &Path) -> Result<(), Error> {
    let flags = fcntl_getfl(file).map_err(Error::system("reading the flags of", path))?;
    fcntl_setfl(file, flags.difference(OFlags::NONBLOCK)).map_err(Error::system("setting the flags of", path))
}

/// Reading somebody's file should leave no trace in its inode either. Only its owner and root may ask for that, and for
/// others the kernel notes an access once a day at most (relatime), so a refusal is no matter.
fn leave_access_time(file: &File) {
    if let Ok(flags) = fcntl_getfl(file) {
        let _ = fcntl_setfl(file, flags | OFlags::NOATIME);
    }
}

/// Turns direct I/O on, or says why it does not work on this filesystem.
fn make_direct(file: &File, path: &Path) -> Result<(), Error> {
    let no_direct = |why: String| Error::NoDirect { target: path.to_owned(), why };
    if let Ok(filesystem) = fstatfs(file) {
        let kind = filesystem.f_type as u32;
        if let Some((_, name)) = MEMORY_FILESYSTEMS.iter().find(|(magic, _)| *magic == kind) {
            return Err(no_direct(format!("{name} keeps files in memory")));
        }
    }
    let flags = fcntl_getfl(file).map_err(Error::system("reading the flags of", path))?;
    fcntl_setfl(file, flags | OFlags::DIRECT).map_err(|error| no_direct(error.to_string()))
}

/// Reads one block where the workload begins, so that a wrong block size is said before the load and not by it.
fn try_block(
    file: &File,
    path: &Path,
    start_bytes: u64,
    block_bytes: u64,
    sector_bytes: u64,
) -> Result<(), Error> {
    let mut memory = fill::Aligned::new(block_bytes as usize);
    match rustix::io::pread(file, memory.bytes(), start_bytes) {
        Ok(_) => Ok(()),
        Err(rustix::io::Errno::INVAL) => {
            Err(Error::Misaligned { target: path.to_owned(), block_bytes, sector_bytes })
        }
        Err(error) => Err(Error::system("reading a first block of", path)(error)),
    }
}

/// The usable part: all of it or the asked size, in whole blocks. An error when that is not a single block.
fn usable_bytes(options: &Options, have_bytes: u64) -> Result<u64, Error> {
    let block_bytes = options.workload.block_bytes;
    let asked_bytes = options.size_bytes.unwrap_or(have_bytes);
    let too_small = |need_bytes, need_for: &str| Error::TooSmall {
        target: options.target.clone(),
        have_bytes,
        need_bytes,
        need_for: need_for.to_owned(),
    };
    if asked_bytes > have_bytes {
        return Err(too_small(asked_bytes, "--size"));
    }
    let bytes = asked_bytes / block_bytes * block_bytes;
    if bytes < crate::BLOCKS_PER_IO * block_bytes {
        return Err(too_small(crate::BLOCKS_PER_IO * block_bytes, "one outstanding I/O"));
    }
    Ok(bytes)
}
