//! A process and those it begot, from `/proc/PID/stat` (proc(5)).

use crate::root::Root;
use std::collections::{HashMap, HashSet};

/// The parent in a line of `stat`. The name stands in parentheses and may hold anything, parentheses too.
pub(super) fn parent(stat: &str) -> Option<u32> {
    stat.rsplit_once(')')?.1.split_ascii_whitespace().nth(1)?.parse().ok()
}

/// The process, and with `tree` its children and theirs; the named one first, the others by number.
pub(super) fn members(root: &Root, pid: u32, tree: bool) -> Vec<u32> {
    if !tree {
        return vec![pid];
    }
    let mut children: HashMap<u32, Vec<u32>> = HashMap::new();
    for other in pids(root) {
        let stat = root.text(format!("/proc/{other}/stat"));
        if let Some(parent) = stat.ok().and_then(|s| parent(&s)) {
            children.entry(parent).or_default().push(other);
        }
    }
    let mut seen = HashSet::from([pid]);
    let mut all = vec![pid];
    let mut at = 0;
    while let Some(next) = all.get(at).copied() {
        at += 1;
        // A torn tree may hold a circle.
        all.extend(children.get(&next).into_iter().flatten().copied().filter(|child| seen.insert(*child)));
    }
    all[1..].sort_unstable();
    all
}

fn pids(root: &Root) -> Vec<u32> {
    let Ok(entries) = std::fs::read_dir(root.place("/proc")) else { return Vec::new() };
    entries.filter_map(|e| e.ok()?.file_name().to_str()?.parse().ok()).collect()
}

/// Threads of a process; empty when it has gone.
pub(super) fn threads(root: &Root, pid: u32) -> Vec<u32> {
    let Ok(entries) = std::fs::read_dir(root.place(format!("/proc/{pid}/task"))) else { return Vec::new() };
    entries.filter_map(|e| e.ok()?.file_name().to_str()?.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_parent_stands_behind_a_name_of_any_letters() {
        assert_eq!(parent("17 (postgres) S 12 17 17 0 -1"), Some(12));
        assert_eq!(parent("17 (a) S 3 (b)) R 12 17"), Some(12));
        assert_eq!((parent("17 (a"), parent(""), parent("17 (a) S")), (None, None, None));
    }

    proptest! {
        #[test]
        fn no_stat_panics(text in "\\PC*") {
            let _ = parent(&text);
        }
    }
}
