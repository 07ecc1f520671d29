//! A control group of our own that caps I/O.

use super::command::{BINARY, plain};
use super::{is_root, wait_until};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// What to cap on a device.
#[derive(Clone, Copy, Debug)]
pub enum Cap {
    ReadIops(u64),
    ReadBytesPerS(u64),
}

/// A child of this process's group; removed when dropped. Nothing of the groups above it is changed.
pub struct Cgroup {
    folder: PathBuf,
    /// Whether the cap stands in `io.max` (version 2) or in `blkio.throttle.*` (version 1).
    second: bool,
}

impl Cgroup {
    /// Makes one with a cap on a device (`MAJOR:MINOR`). The error says why it cannot be had.
    pub fn capped(device: &str, cap: Cap) -> Result<Self, String> {
        if !is_root() {
            return Err("a control group with a cap needs root".to_owned());
        }
        let (parent, second) = parent()?;
        remove_leftovers(&parent);
        let folder =
            parent.join(format!("plimsoll-test-{}-{}", std::process::id(), device.replace(':', "-")));
        fs::create_dir(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
        let group = Self { folder, second };
        let (file, value) = group.cap_as_written(device, cap);
        fs::write(&file, value).map_err(|e| format!("{}: {e}", file.display()))?;
        Ok(group)
    }

    fn cap_as_written(&self, device: &str, cap: Cap) -> (PathBuf, String) {
        let (first, key, value) = match cap {
            Cap::ReadIops(value) => ("read_iops_device", "riops", value),
            Cap::ReadBytesPerS(value) => ("read_bps_device", "rbps", value),
        };
        if self.second {
            (self.folder.join("io.max"), format!("{device} {key}={value}"))
        } else {
            (self.folder.join(format!("blkio.throttle.{first}")), format!("{device} {value}"))
        }
    }

    /// The file that holds the cap.
    pub fn cap_file(&self, cap: Cap) -> PathBuf {
        self.cap_as_written("", cap).0
    }

    /// `plimsoll`, started inside: the shell joins and then becomes the command.
    pub fn plimsoll(&self) -> Command {
        let mut command = plain("sh");
        command.args(["-c", "echo $$ > \"$0\" && exec \"$@\""]);
        command.arg(self.folder.join("cgroup.procs")).arg(BINARY);
        command
    }
}

impl Drop for Cgroup {
    fn drop(&mut self) {
        // A process that just ended may still be leaving.
        if !wait_until(Duration::from_secs(3), || fs::remove_dir(&self.folder).is_ok()) {
            eprintln!("{} could not be removed", self.folder.display());
        }
    }
}

/// The group of this process in the hierarchy that caps I/O, and whether that is version 2.
fn parent() -> Result<(PathBuf, bool), String> {
    let groups = fs::read_to_string("/proc/self/cgroup").map_err(|e| format!("/proc/self/cgroup: {e}"))?;
    let mounts =
        fs::read_to_string("/proc/self/mountinfo").map_err(|e| format!("/proc/self/mountinfo: {e}"))?;
    let mut first = None;
    let mut second = None;
    for line in groups.lines() {
        let mut parts = line.splitn(3, ':');
        let (Some(id), Some(controllers), Some(path)) = (parts.next(), parts.next(), parts.next()) else {
            continue;
        };
        if controllers.split(',').any(|c| c == "blkio") {
            first = place(&mounts, "cgroup", Some("blkio"), path);
        } else if id == "0" {
            second = place(&mounts, "cgroup2", None, path);
        }
    }
    if let Some(folder) = first {
        return Ok((folder, false));
    }
    let folder = second.ok_or("no control group hierarchy that caps I/O is mounted")?;
    let passed_on = fs::read_to_string(folder.join("cgroup.subtree_control")).unwrap_or_default();
    if passed_on.split_whitespace().any(|c| c == "io") {
        Ok((folder, true))
    } else {
        Err(format!("{} does not pass the io controller on to its children", folder.display()))
    }
}

/// Where a group is in the mounted hierarchy; in a container it is mounted from the middle.
fn place(mounts: &str, kind: &str, controller: Option<&str>, path: &str) -> Option<PathBuf> {
    mounts.lines().find_map(|line| {
        let (left, right) = line.split_once(" - ")?;
        let (left, right): (Vec<&str>, Vec<&str>) = (left.split(' ').collect(), right.split(' ').collect());
        let has =
            controller.is_none_or(|c| right.get(2).is_some_and(|options| options.split(',').any(|o| o == c)));
        if right.first() != Some(&kind) || !has {
            return None;
        }
        let inner = path.strip_prefix(left.get(3)?.trim_end_matches('/')).unwrap_or(path);
        Some(Path::new(left.get(4)?).join(inner.trim_start_matches('/')))
    })
}

/// Groups of test processes that were killed.
fn remove_leftovers(parent: &Path) {
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let process = name.strip_prefix("plimsoll-test-").and_then(|rest| rest.split_once('-'));
        if process.is_some_and(|(id, _)| !Path::new("/proc").join(id).exists()) {
            let _ = fs::remove_dir(entry.path());
        }
    }
}
