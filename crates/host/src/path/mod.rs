//! From a target down to the devices that carry its I/O.
//!
//! [`trace`] starts at the device number of the opened target (`st_dev` of a file or directory, `st_rdev` of a block
//! device) and walks down: filesystem, partition, device mapper, multipath, MD, loop (through the backing file),
//! until devices with nothing below them. Each block layer carries its limits, tunables and facts; control groups
//! that cap the I/O of this process stand just above the device they cap.
//!
//! Names are unique within a path: a second `ext4` (under a loop device) is called `ext4@/its/mount`. A control
//! group layer points down at its device, but the layer above keeps pointing at the device itself, since the cap is
//! applied where the device accepts I/Os.
//!
//! What cannot be followed (overlay, network and stacked filesystems) ends the path with a complaint that says so.
//! Sources: kernel documentation ABI/stable/sysfs-block, ABI/testing/sysfs-block-dm, -block-loop, admin-guide/md,
//! cgroup-v1/blkio-controller, cgroup-v2, proc(5) for mountinfo.

pub(crate) mod block;
mod cgroup;
mod dm_table;
mod filesystem;
mod hidden;
pub(crate) mod kind;
mod loops;
pub(crate) mod mounts;
pub(crate) mod name;
mod nvme;
mod order;
mod other;
mod scsi;
mod stacked;
mod walk;

pub use hidden::hidden;

use crate::root::Root;
use record::IoPath;
use std::fs::Metadata;
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::Path;

/// A device number, `major:minor`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct DeviceNumber {
    /// Major number; 0 for filesystems without a device of their own.
    pub major: u32,
    /// Minor number.
    pub minor: u32,
}

impl DeviceNumber {
    /// From a `dev_t` of stat(2).
    pub fn from_dev_t(dev: u64) -> Self {
        Self { major: libc::major(dev), minor: libc::minor(dev) }
    }

    /// From `8:16`.
    pub fn parse(text: &str) -> Option<Self> {
        let (major, minor) = text.trim().split_once(':')?;
        Some(Self { major: major.parse().ok()?, minor: minor.parse().ok()? })
    }
}

impl std::fmt::Display for DeviceNumber {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", self.major, self.minor)
    }
}

/// What is put under load, as the kernel knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// Absolute path, for the report and for finding the mount.
    pub text: String,
    /// `st_dev` of a file or directory, `st_rdev` of a block device.
    pub device: DeviceNumber,
    /// True for a file or directory, false for a block device itself.
    pub on_filesystem: bool,
}

impl Target {
    /// From a path on the running system, following symbolic links.
    ///
    /// Errors: those of canonicalize and stat; anything that is neither file, directory nor block device.
    pub fn at(path: impl AsRef<Path>) -> io::Result<Self> {
        let path = std::fs::canonicalize(path)?;
        let metadata = std::fs::metadata(&path)?;
        Self::of(&metadata, path.to_string_lossy())
    }

    /// From the metadata of a descriptor that is already open.
    pub fn of(metadata: &Metadata, text: impl Into<String>) -> io::Result<Self> {
        let kind = metadata.file_type();
        let on_filesystem = kind.is_file() || kind.is_dir();
        if !on_filesystem && !kind.is_block_device() {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                "expected a regular file, a directory or a block device",
            ));
        }
        let device = if on_filesystem { metadata.dev() } else { metadata.rdev() };
        Ok(Self { text: text.into(), device: DeviceNumber::from_dev_t(device), on_filesystem })
    }
}

/// Resolves a target down to its devices. Never fails: what could not be read is in [`IoPath::complaints`].
pub fn trace(root: &Root, target: &Target) -> IoPath {
    walk::Walk::new(root).run(target)
}

/// [`trace`] for a device number that the caller knows from elsewhere.
pub fn trace_device(root: &Root, device: DeviceNumber, target_text: &str, on_filesystem: bool) -> IoPath {
    trace(root, &Target { text: target_text.to_owned(), device, on_filesystem })
}
