//! The kernel as a folder: every reader goes through a [`Root`], so that tests can fake one.

use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// Most bytes read from one file. The longest honest ones are mount tables of hosts with thousands of mounts.
const TEXT_MAX_BYTES: u64 = 8 << 20;

/// Where `/proc`, `/sys` and `/dev` are looked for.
///
/// Only files named by the caller are read: a mere read of some sysfs files has side effects on some drivers, so
/// nothing here walks a tree. Directories are listed only where the kernel keeps lists of names in them
/// (`slaves`, `holders`, `mq`, `scsi_device`).
#[derive(Clone, Debug)]
pub struct Root {
    folder: PathBuf,
}

impl Default for Root {
    fn default() -> Self {
        Self::system()
    }
}

impl Root {
    /// The running system.
    pub fn system() -> Self {
        Self { folder: PathBuf::from("/") }
    }

    /// A captured or invented tree.
    pub fn at(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into() }
    }

    /// Whether this is the running system.
    pub fn is_system(&self) -> bool {
        self.folder == Path::new("/")
    }

    /// The real place of `path`, which is written as on the running system (`/sys/block/vda/stat`).
    pub fn place(&self, path: impl AsRef<Path>) -> PathBuf {
        let path = path.as_ref();
        self.folder.join(path.strip_prefix("/").unwrap_or(path))
    }

    /// The text of a small kernel file, without trailing white space.
    pub fn text(&self, path: impl AsRef<Path>) -> io::Result<String> {
        let bytes = self.bytes(path)?;
        Ok(String::from_utf8_lossy(&bytes).trim_end().to_owned())
    }

    /// The bytes of a small kernel file that holds no text (VPD pages).
    pub fn bytes(&self, path: impl AsRef<Path>) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        std::fs::File::open(self.place(path))?.take(TEXT_MAX_BYTES).read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    /// A number from a small kernel file; `None` when it is absent, unreadable or not a number.
    pub fn number<T: std::str::FromStr>(&self, path: impl AsRef<Path>) -> Option<T> {
        self.text(path).ok()?.trim().parse().ok()
    }

    /// Names in a directory, sorted; empty when there is none.
    pub fn names(&self, path: impl AsRef<Path>) -> Vec<String> {
        let Ok(entries) = std::fs::read_dir(self.place(path)) else { return Vec::new() };
        let mut names: Vec<String> = entries.filter_map(|e| e.ok()?.file_name().into_string().ok()).collect();
        names.sort();
        names
    }

    /// Whether something is there.
    pub fn exists(&self, path: impl AsRef<Path>) -> bool {
        self.place(path).exists()
    }

    /// Where a symbolic link points, as written in it.
    pub fn link(&self, path: impl AsRef<Path>) -> io::Result<PathBuf> {
        std::fs::read_link(self.place(path))
    }
}
