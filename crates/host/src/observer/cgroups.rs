//! Control groups by the number that the kernel gives them, for people.

use crate::root::Root;
use std::collections::HashMap;
use std::os::unix::fs::MetadataExt;

/// Where the unified hierarchy is mounted: alone, or beside those of version 1.
const TOPS: [&str; 2] = ["/sys/fs/cgroup", "/sys/fs/cgroup/unified"];

/// Names kept; more are forgotten all at once and asked anew.
const KEPT: usize = 4096;

/// Names found so far.
#[derive(Debug)]
pub(super) struct Cgroups {
    root: Root,
    known: HashMap<(u32, u64), Option<String>>,
}

impl Cgroups {
    pub(super) fn new(root: &Root) -> Self {
        Self { root: root.clone(), known: HashMap::new() }
    }

    /// The group a process is in, when it still is the one with this number; absent when the process ended before
    /// anybody asked, or has moved.
    pub(super) fn of(&mut self, pid: u32, id: u64) -> Option<String> {
        if let Some(known) = self.known.get(&(pid, id)) {
            return known.clone();
        }
        let found = self.look(pid, id);
        self.known.insert((pid, id), found.clone());
        found
    }

    fn look(&self, pid: u32, id: u64) -> Option<String> {
        let text = self.root.text(format!("/proc/{pid}/cgroup")).ok()?;
        let path = text.lines().find_map(|l| l.strip_prefix("0::"))?;
        // The number of a group is that of its folder.
        let is_it = |top: &str| {
            let folder = self.root.place(format!("{top}{path}"));
            std::fs::metadata(folder).is_ok_and(|m| m.ino() == id)
        };
        TOPS.iter().any(|top| is_it(top)).then(|| path.to_owned())
    }

    /// Keeps the memory bounded.
    pub(super) fn tidy(&mut self) {
        if self.known.len() > KEPT {
            self.known.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_is_named_only_when_it_is_the_one_of_that_number() {
        let folder = tempfile::tempdir().unwrap();
        let place = |p: &str| folder.path().join(p);
        std::fs::create_dir_all(place("proc/7")).unwrap();
        std::fs::create_dir_all(place("sys/fs/cgroup/db.slice")).unwrap();
        std::fs::write(place("proc/7/cgroup"), "1:name=systemd:/x\n0::/db.slice\n").unwrap();
        let id = std::fs::metadata(place("sys/fs/cgroup/db.slice")).unwrap().ino();
        let mut groups = Cgroups::new(&Root::at(folder.path()));
        assert_eq!(groups.of(7, id).as_deref(), Some("/db.slice"));
        assert_eq!(groups.of(7, id + 1), None, "it moved");
        assert_eq!(groups.of(8, id), None, "it ended");
        std::fs::remove_dir_all(place("proc/7")).unwrap();
        assert_eq!(groups.of(7, id).as_deref(), Some("/db.slice"), "known while it lived");
    }
}
