//! A small filesystem of our own.

use super::{is_root, target_dir};
use std::path::{Path, PathBuf};
use std::process::Command;

/// A tmpfs; unmounted when dropped.
pub struct Tmpfs {
    point: tempfile::TempDir,
}

impl Tmpfs {
    /// Mounts one of this size. The error says why it cannot be had.
    pub fn mount(bytes: u64) -> Result<Self, String> {
        if !is_root() {
            return Err("mounting a filesystem needs root".to_owned());
        }
        unmount_leftovers();
        let point =
            tempfile::Builder::new().prefix(&prefix(std::process::id())).tempdir_in(target_dir()).unwrap();
        let options = format!("size={bytes},mode=755");
        let done = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &options, "plimsoll-test"])
            .arg(point.path())
            .output();
        match done {
            Ok(done) if done.status.success() => Ok(Self { point }),
            Ok(done) => Err(format!("mount: {}", String::from_utf8_lossy(&done.stderr).trim())),
            Err(e) => Err(format!("mount: {e}")),
        }
    }

    pub fn path(&self) -> &Path {
        self.point.path()
    }
}

impl Drop for Tmpfs {
    fn drop(&mut self) {
        unmount(self.point.path());
    }
}

fn prefix(process: u32) -> String {
    format!("tmpfs-{process}-")
}

fn unmount(point: &Path) {
    let done = Command::new("umount").arg(point).output();
    if !done.as_ref().is_ok_and(|d| d.status.success()) {
        eprintln!("{} could not be unmounted: {done:?}", point.display());
    }
}

/// A killed test process cannot unmount: the next one does.
fn unmount_leftovers() {
    let mounts = std::fs::read_to_string("/proc/self/mounts").unwrap_or_default();
    for line in mounts.lines() {
        let mut words = line.split(' ');
        let (Some("plimsoll-test"), Some(point)) = (words.next(), words.next()) else { continue };
        let point = PathBuf::from(point);
        let ours = point.parent() == Some(target_dir());
        let process = point.file_name().and_then(|n| n.to_str()?.strip_prefix("tmpfs-")?.split_once('-'));
        if ours && process.is_some_and(|(id, _)| !Path::new("/proc").join(id).exists()) {
            unmount(&point);
            let _ = std::fs::remove_dir(&point);
        }
    }
}
