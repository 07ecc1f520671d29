//! What must hold before a byte is written to a device: the ladder.
//!
//! 1. The device is named twice, and the second name is one that does not change from boot to boot.
//! 2. Nothing uses it, its parent disk, what it stands on, or another path to it: not mounted in any namespace, no swap, no
//!    holders (LVM, MD, multipath, bcache ...), no partitions, not behind a loop device, not open in any process.
//! 3. It holds no data: all of its head and tail and samples between are zero, or it carries our own marks from an
//!    earlier run at both ends.
//! 4. It is opened exclusively (O_EXCL: from then on nobody can mount it or build on it), and 2 and 3 are checked again.
//!
//! Then our marks are written to both ends; the workload stays between them.

pub mod content;
pub mod openers;
pub mod relatives;
pub mod uses;

use crate::error::Error;
use host::Root;
use std::fs::{File, OpenOptions};
use std::io::{self, Seek, SeekFrom};
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

pub use content::MARK_BYTES;

/// Why a write was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// A file that exists already.
    #[error(
        "it is a file that Plimsoll did not make, and such files are only read; name its directory to measure writes"
    )]
    NotOurFile,
    /// `--destroy-data-on` is missing or names something else.
    #[error(
        "writing to a device destroys its data, so it must be named a second time: --destroy-data-on {expected}"
    )]
    NotNamedTwice {
        /// What to name.
        expected: String,
    },
    /// The second name may belong to another device after the next boot.
    #[error(
        "{given} is a kernel name, which may be another device's tomorrow; give --destroy-data-on a name from \
         /dev/disk/by-id, /dev/disk/by-path or /dev/mapper"
    )]
    UnstableName {
        /// What was given.
        given: String,
    },
    /// Somebody uses it, or a device that shares its blocks.
    #[error("{device} is in use: {by}")]
    InUse {
        /// The device in use: itself or a relative.
        device: String,
        /// How.
        by: String,
    },
    /// It has partitions.
    #[error("it has partitions ({names}); a disk with a partition table holds data")]
    Partitioned {
        /// Their names.
        names: String,
    },
    /// It holds something.
    #[error(
        "it holds data (first seen at byte {offset}); only a device of zeros is written to: if its content may go, wipe it \
         yourself (blkdiscard -z, or dd from /dev/zero)"
    )]
    HoldsData {
        /// Where.
        offset: u64,
    },
    /// Not all users can be seen.
    #[error("whether it is in use cannot be seen without root ({what} is not readable)")]
    CannotSee {
        /// What is not readable.
        what: String,
    },
    /// Another device appeared under the name between check and use.
    #[error("another device appeared under its name while it was being checked")]
    Changed,
    /// Too small to carry our marks.
    #[error(
        "it is smaller than {least_bytes} bytes, too small to carry the marks that tell our data from others'"
    )]
    TooSmall {
        /// What it must have.
        least_bytes: u64,
    },
}

/// Climbs the ladder, marks the device, and returns it open for writing, exclusively. `flags` are added to the open.
pub fn open_for_writing(
    path: &Path,
    named_again: Option<&Path>,
    root: &Root,
    flags: i32,
) -> Result<File, Error> {
    let refuse = |refusal| Error::Refused { target: path.to_owned(), refusal };
    let device = device_number(path).map_err(Error::system("looking at", path))?;
    let again = named_again.ok_or_else(|| refuse(not_named_twice(path)))?;
    if device_number(again).ok() != Some(device) {
        return Err(refuse(not_named_twice(path)));
    }
    let relatives = relatives::find(root, device).map_err(Error::system("finding the relatives of", path))?;
    check_name(again, &relatives.target.name).map_err(refuse)?;
    uses::check(root, &relatives).map_err(refuse)?;
    openers::check(root, &relatives).map_err(refuse)?;
    let looking = open(path, libc::O_RDONLY | flags)?;
    check_content(&looking, path)?;
    drop(looking);
    let file = open(path, libc::O_RDWR | libc::O_EXCL | flags)?;
    if file.metadata().map_err(Error::system("looking at", path))?.rdev() != device {
        return Err(refuse(Refusal::Changed));
    }
    let again = relatives::find(root, device).map_err(Error::system("finding the relatives of", path))?;
    uses::check(root, &again).map_err(refuse)?;
    let size_bytes = check_content(&file, path)?;
    content::mark(&file, size_bytes).map_err(Error::system("marking", path))?;
    Ok(file)
}

/// Whether this process may look at all others. A few stay closed even to root (other user namespaces, security modules);
/// demanding those would refuse every write in a container.
fn sees_all() -> bool {
    rustix::process::geteuid().is_root()
}

fn not_named_twice(path: &Path) -> Refusal {
    Refusal::NotNamedTwice { expected: path.display().to_string() }
}

/// Number of the block device at `path`.
fn device_number(path: &Path) -> io::Result<u64> {
    let status = std::fs::metadata(path)?;
    if !status.file_type().is_block_device() {
        return Err(io::Error::other("not a block device"));
    }
    Ok(status.rdev())
}

/// Folders whose names stay with their device.
const STABLE_FOLDERS: [&str; 4] =
    ["/dev/disk/by-id", "/dev/disk/by-path", "/dev/disk/by-partuuid", "/dev/mapper"];
/// Devices that live in memory or in a file: they have no name but the kernel's.
const NAMELESS: [&str; 4] = ["loop", "ram", "zram", "nullb"];

/// Whether a name stays with its device from boot to boot.
fn check_name(given: &Path, kernel_name: &str) -> Result<(), Refusal> {
    let is_nameless = NAMELESS.iter().any(|prefix| {
        kernel_name.strip_prefix(prefix).is_some_and(|n| n.starts_with(|c: char| c.is_ascii_digit()))
    });
    let is_stable = STABLE_FOLDERS.iter().any(|folder| given.starts_with(folder));
    // /dev/VG/LV, a name that LVM keeps.
    let is_volume = kernel_name.starts_with("dm-")
        && given.starts_with("/dev")
        && given.components().count() == 4
        && !given.starts_with("/dev/disk");
    if is_nameless || is_stable || is_volume {
        return Ok(());
    }
    Err(Refusal::UnstableName { given: given.display().to_string() })
}

fn open(path: &Path, flags: i32) -> Result<File, Error> {
    let mut options = OpenOptions::new();
    options.read(true).write(flags & libc::O_ACCMODE == libc::O_RDWR);
    let opened = options.custom_flags(flags & !libc::O_ACCMODE | libc::O_CLOEXEC).open(path);
    opened.map_err(|cause| match cause.raw_os_error() {
        Some(libc::EBUSY) => Error::Refused {
            target: path.to_owned(),
            refusal: Refusal::InUse {
                device: path.display().to_string(),
                by: "the kernel holds it exclusively (mounted, swap, or part of another device)".to_owned(),
            },
        },
        _ => Error::System { doing: "opening", path: PathBuf::from(path), cause },
    })
}

/// Refuses a device that holds anything but zeros or our marks; answers its size.
fn check_content(mut file: &File, path: &Path) -> Result<u64, Error> {
    let refuse = |refusal| Error::Refused { target: path.to_owned(), refusal };
    let size_bytes = file.seek(SeekFrom::End(0)).map_err(Error::system("reading the size of", path))?;
    if size_bytes < content::SIZE_MIN_BYTES {
        return Err(refuse(Refusal::TooSmall { least_bytes: content::SIZE_MIN_BYTES }));
    }
    match content::first_data(file, size_bytes).map_err(Error::system("reading", path))? {
        None => Ok(size_bytes),
        Some(offset) => Err(refuse(Refusal::HoldsData { offset })),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernel_names_are_refused_and_stable_names_are_not() {
        let check = |given: &str, kernel: &str| check_name(Path::new(given), kernel).is_ok();
        assert!(!check("/dev/sdb", "sdb"));
        assert!(!check("/dev/nvme0n1", "nvme0n1"));
        assert!(!check("/dev/dm-3", "dm-3"));
        assert!(!check("/dev/loopy", "loopy"));
        assert!(check("/dev/disk/by-id/wwn-0x5000c500a1b2c3d4", "sdb"));
        assert!(check("/dev/mapper/mpatha", "dm-3"));
        assert!(check("/dev/vg0/test", "dm-3"));
        assert!(!check("/dev/disk/by-label/data", "sdb"));
        assert!(check("/dev/loop7", "loop7"));
        assert!(check("/dev/zram0", "zram0"));
    }

    #[test]
    fn what_is_not_a_block_device_has_no_number() {
        assert!(device_number(Path::new("/dev/null")).is_err());
        assert!(device_number(Path::new("/")).is_err());
    }
}
