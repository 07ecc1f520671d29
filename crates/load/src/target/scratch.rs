//! The file that Plimsoll makes for itself, and its removal whatever happens.
//!
//! While in use the file carries an exclusive lock (flock), which the kernel drops when its process ends, however it ends. A file of
//! our name whose lock can be taken is therefore dead, and the next start in that directory removes it. Name and first
//! bytes must both be ours; anything else is left alone.

use crate::error::Error;
use rustix::fs::{FlockOperation, flock};
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// First bytes of every own file.
pub const TAG: &str = "plimsoll scratch file, version 1: made for a measurement, safe to delete\n";
/// The data begin after this much, so that blocks up to it stay aligned.
pub const HEADER_BYTES: u64 = 1 << 20;
/// Names are PREFIX, process id, `-`, 16 hex digits, SUFFIX.
const PREFIX: &str = ".plimsoll-";
const SUFFIX: &str = ".data";
/// Attempts to find a free name, and to keep a file that a cleaner removed between its creation and its lock.
const ATTEMPTS: u32 = 8;
/// Looks at the lock of a process that is gone, two seconds in all.
const LOCK_LOOKS: u32 = 40;
const BETWEEN_LOCK_LOOKS: Duration = Duration::from_millis(50);

/// An own file, locked; removed when dropped.
#[derive(Debug)]
pub struct Scratch {
    path: PathBuf,
    /// Holds the lock.
    file: File,
    removed: bool,
}

impl Scratch {
    /// Makes the file with its tag, readable and writable by this user alone.
    pub fn create(folder: &Path) -> Result<Self, Error> {
        let mut last = io::Error::from(io::ErrorKind::AlreadyExists);
        for _ in 0..ATTEMPTS {
            let path = folder.join(format!(
                "{PREFIX}{}-{:016x}{SUFFIX}",
                std::process::id(),
                crate::rng::fresh_seed()
            ));
            let made = OpenOptions::new().read(true).write(true).create_new(true).mode(0o600).open(&path);
            let file = match made {
                Ok(file) => file,
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                Err(cause) => {
                    return Err(Error::System { doing: "making a file in", path: folder.into(), cause });
                }
            };
            let mut scratch = Self { path, file, removed: false };
            match scratch.claim() {
                Ok(true) => return Ok(scratch),
                Ok(false) => scratch.removed = true,
                Err(error) => last = error,
            }
        }
        Err(Error::System { doing: "making a file in", path: folder.into(), cause: last })
    }

    /// Locks the file and writes its tag; false when a cleaner was faster than the lock.
    fn claim(&mut self) -> io::Result<bool> {
        flock(&self.file, FlockOperation::LockExclusive)?;
        if self.file.metadata()?.nlink() == 0 {
            return Ok(false);
        }
        self.file.write_all(TAG.as_bytes())?;
        Ok(true)
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The file, open for reading and writing.
    pub fn file(&self) -> &File {
        &self.file
    }

    /// Removes it now, and says when that failed.
    pub fn remove(mut self) -> Result<(), Error> {
        self.removed = true;
        remove_if_same(&self.path, &self.file).map_err(Error::system("removing", &self.path))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if !self.removed {
            // Nobody is left to tell; the next start in this directory tries again.
            let _ = remove_if_same(&self.path, &self.file);
        }
    }
}

/// Removes `path` if it still is the file that is open as `file`.
fn remove_if_same(path: &Path, file: &File) -> io::Result<()> {
    let at_path = match std::fs::symlink_metadata(path) {
        Ok(status) => status,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    let opened = file.metadata()?;
    if (at_path.dev(), at_path.ino()) == (opened.dev(), opened.ino()) {
        std::fs::remove_file(path)
    } else {
        Ok(())
    }
}

/// Removes what dead processes left in `folder`, and says which files those were.
pub fn remove_leftovers(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut removed = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let is_ours = entry.file_name().to_str().is_some_and(is_our_name);
        if is_ours && entry.file_type()?.is_file() && remove_if_dead(&entry.path()).unwrap_or(false) {
            removed.push(entry.path());
        }
    }
    Ok(removed)
}

fn is_our_name(name: &str) -> bool {
    let Some(middle) = name.strip_prefix(PREFIX).and_then(|n| n.strip_suffix(SUFFIX)) else { return false };
    middle.split_once('-').is_some_and(|(process, random)| {
        !process.is_empty()
            && process.bytes().all(|b| b.is_ascii_digit())
            && random.len() == 16
            && random.bytes().all(|b| b.is_ascii_hexdigit())
    })
}

/// Takes the lock. A process that was killed with io_uring requests in flight keeps its lock until the kernel has taken its
/// ring down, some moments after its end: while no process has the id in the name, try again.
fn lock_of_dead(file: &File, path: &Path) -> bool {
    for _ in 0..LOCK_LOOKS {
        if flock(file, FlockOperation::NonBlockingLockExclusive).is_ok() {
            return true;
        }
        if process_of(path).is_none_or(|id| Path::new("/proc").join(id).exists()) {
            return false;
        }
        std::thread::sleep(BETWEEN_LOCK_LOOKS);
    }
    false
}

/// The process id in a name of ours.
fn process_of(path: &Path) -> Option<&str> {
    path.file_name()?.to_str()?.strip_prefix(PREFIX)?.split_once('-').map(|(id, _)| id)
}

/// Removes the file if its lock can be taken and its first bytes are ours, or are none (killed before the tag).
fn remove_if_dead(path: &Path) -> io::Result<bool> {
    let mut file = OpenOptions::new()
        .read(true)
        .custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK | libc::O_CLOEXEC)
        .open(path)?;
    if !lock_of_dead(&file, path) {
        return Ok(false);
    }
    let mut start = Vec::new();
    Read::by_ref(&mut file).take(TAG.len() as u64).read_to_end(&mut start)?;
    if !TAG.as_bytes().starts_with(&start)
        || (start.len() < TAG.len() && file.metadata()?.len() > start.len() as u64)
    {
        return Ok(false);
    }
    remove_if_same(path, &file)?;
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<String> = std::fs::read_dir(folder)
            .unwrap()
            .map(|e| e.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn a_dropped_file_is_gone() {
        let folder = tempfile::tempdir().unwrap();
        let scratch = Scratch::create(folder.path()).unwrap();
        assert_eq!(names(folder.path()).len(), 1);
        assert_eq!(scratch.file().metadata().unwrap().mode() & 0o777, 0o600);
        drop(scratch);
        assert_eq!(names(folder.path()), [""; 0]);
    }

    #[test]
    fn a_panic_removes_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().to_owned();
        let ended = std::panic::catch_unwind(move || {
            let _scratch = Scratch::create(&place).unwrap();
            panic!("in mid-run");
        });
        assert!(ended.is_err());
        assert_eq!(names(folder.path()), [""; 0]);
    }

    #[test]
    fn a_dead_file_is_removed_and_a_live_one_stays() {
        let folder = tempfile::tempdir().unwrap();
        let live = Scratch::create(folder.path()).unwrap();
        let dead = folder.path().join(".plimsoll-12345-0123456789abcdef.data");
        std::fs::write(&dead, format!("{TAG}and data")).unwrap();
        let empty = folder.path().join(".plimsoll-12345-0123456789abcde0.data");
        std::fs::write(&empty, "").unwrap();
        let mut removed = remove_leftovers(folder.path()).unwrap();
        removed.sort();
        assert_eq!(removed, [empty, dead]);
        assert!(live.path().exists());
    }

    #[test]
    fn files_that_only_look_like_ours_are_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let put = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
        put(".plimsoll-12345-0123456789abcdef.data", "my thesis");
        put(".plimsoll-12345-0123456789abcdee.data", "pl");
        put(".plimsoll-x-0123456789abcdef.data", TAG);
        put(".plimsoll-1-0123456789abcde.data", TAG);
        put("plimsoll-1-0123456789abcdef.data", TAG);
        let target = folder.path().join("thesis");
        std::fs::write(&target, TAG).unwrap();
        std::os::unix::fs::symlink(&target, folder.path().join(".plimsoll-1-0123456789abcdef.data")).unwrap();
        // Two bytes of the tag and nothing else: killed while the tag was written.
        let removed = remove_leftovers(folder.path()).unwrap();
        assert_eq!(removed, [folder.path().join(".plimsoll-12345-0123456789abcdee.data")]);
        assert_eq!(names(folder.path()).len(), 6);
    }

    #[test]
    fn a_file_that_took_our_place_is_not_removed() {
        let folder = tempfile::tempdir().unwrap();
        let scratch = Scratch::create(folder.path()).unwrap();
        let path = scratch.path().to_owned();
        std::fs::remove_file(&path).unwrap();
        std::fs::write(&path, "somebody else's").unwrap();
        drop(scratch);
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "somebody else's");
    }
}
