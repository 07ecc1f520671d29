//! The file systems of the kernel, and what programs expect of a running system.

use super::Trouble;
use rustix::mount::{MountFlags, mount};
use std::fs;

/// What is mounted where, in order.
const MOUNTS: [(&str, &str); 9] = [
    ("proc", "/proc"),
    ("sysfs", "/sys"),
    ("devtmpfs", "/dev"),
    ("tmpfs", "/tmp"),
    ("tmpfs", "/run"),
    ("tracefs", "/sys/kernel/tracing"),
    ("debugfs", "/sys/kernel/debug"),
    ("cgroup2", "/sys/fs/cgroup"),
    ("devpts", "/dev/pts"),
];

/// Mounts all; what failed comes back.
pub fn all() -> Vec<String> {
    let mut troubles: Vec<String> =
        MOUNTS.iter().filter_map(|(kind, at)| one(kind, kind, at).err()).collect();
    troubles.extend(busybox().err());
    troubles.extend(controllers().err());
    troubles
}

/// Mounts one file system without options.
pub fn one(source: &str, kind: &str, at: &str) -> Trouble<()> {
    fs::create_dir_all(at).map_err(|e| format!("make {at}: {e}"))?;
    mount(source, at, kind, MountFlags::empty(), None).map_err(|e| format!("mount {kind} on {at}: {e}"))
}

/// Names for all of busybox's commands.
fn busybox() -> Trouble<()> {
    let done = std::process::Command::new("/bin/busybox").args(["--install", "-s", "/bin"]).status();
    match done {
        Ok(status) if status.success() => Ok(()),
        other => Err(format!("busybox --install: {other:?}")),
    }
}

/// Control groups below the root may limit I/O and memory.
fn controllers() -> Trouble<()> {
    let file = "/sys/fs/cgroup/cgroup.subtree_control";
    fs::write(file, "+io +memory +cpu").map_err(|e| format!("{file}: {e}"))
}
