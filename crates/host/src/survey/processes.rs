//! Who does I/O, from `/proc/PID/io` (proc(5)), at a bounded cost.
//!
//! Processes that did I/O lately are read every time; of the others [`OTHERS`] per interval, in turn. On a host of ten
//! thousand processes a new one is therefore seen after some intervals, and reading them costs about the same as on a
//! small one. The rate of a process counts from the last time it was read.

use crate::root::Root;
use record::{ProcessSample, ProcessesSample};
use std::collections::HashMap;
use std::io::ErrorKind;
use std::time::Instant;

/// Processes without I/O that are read per interval.
const OTHERS: usize = 400;

/// Processes shown at most.
const TOP: usize = 32;

/// Processes that did I/O lately and are read every time, at most.
const BUSY: usize = 400;

/// Intervals without I/O after which a process is read in turn only.
const LINGER: u32 = 10;

#[derive(Clone, Debug)]
struct Known {
    read_bytes: u64,
    write_bytes: u64,
    at: Instant,
    quiet_for: u32,
    /// Round in which the process was last listed.
    listed: u64,
}

/// Reads who did I/O.
#[derive(Debug)]
pub(crate) struct Processes {
    root: Root,
    known: HashMap<u32, Known>,
    /// Process number at which the next turn begins.
    turn: u32,
    round: u64,
}

impl Processes {
    /// Begins with nothing known: the first call of [`Self::next`] only opens the interval.
    pub fn new(root: &Root) -> Self {
        Self { root: root.clone(), known: HashMap::new(), turn: 0, round: 0 }
    }

    /// The largest since the call before.
    #[allow(clippy::should_implement_trait, reason = "it never ends: no iterator")]
    pub fn next(&mut self) -> ProcessesSample {
        self.round += 1;
        let pids = self.pids();
        let mut sample = ProcessesSample { seen: pids.len(), ..ProcessesSample::default() };
        let place = pids.partition_point(|p| *p < self.turn);
        let (behind, ahead) = pids.split_at(place);
        let mut others = 0;
        let mut busy = 0;
        for pid in ahead.iter().chain(behind) {
            let active = self.known.get(pid).is_some_and(|k| k.quiet_for <= LINGER) && busy < BUSY;
            if active {
                busy += 1;
            } else if others < OTHERS {
                others += 1;
                self.turn = pid + 1;
            } else {
                self.list(*pid);
                continue;
            }
            match self.read(*pid) {
                Read::Moved(process) => sample.top.push(process),
                Read::Hidden => sample.hidden += 1,
                Read::Nothing => {}
            }
        }
        self.known.retain(|_, k| k.listed == self.round);
        let total = |p: &ProcessSample| p.read_mib_per_s + p.write_mib_per_s;
        sample.top.sort_by(|a, b| total(b).total_cmp(&total(a)));
        sample.top.truncate(TOP);
        sample
    }

    fn list(&mut self, pid: u32) {
        if let Some(known) = self.known.get_mut(&pid) {
            known.listed = self.round;
        }
    }

    fn pids(&self) -> Vec<u32> {
        let Ok(entries) = std::fs::read_dir(self.root.place("/proc")) else { return Vec::new() };
        let mut pids: Vec<u32> = entries.filter_map(|e| e.ok()?.file_name().to_str()?.parse().ok()).collect();
        pids.sort_unstable();
        pids
    }

    fn read(&mut self, pid: u32) -> Read {
        let text = match self.root.text(format!("/proc/{pid}/io")) {
            Ok(text) => text,
            Err(e) if e.kind() == ErrorKind::PermissionDenied => return Read::Hidden,
            Err(_) => return Read::Nothing,
        };
        let at = Instant::now();
        let Some((read_bytes, write_bytes)) = parse(&text) else { return Read::Nothing };
        let now = Known { read_bytes, write_bytes, at, quiet_for: LINGER + 1, listed: self.round };
        let Some(before) = self.known.insert(pid, now) else { return Read::Nothing };
        // A number given to a new process begins anew below what the old one had.
        let (Some(read), Some(written)) =
            (read_bytes.checked_sub(before.read_bytes), write_bytes.checked_sub(before.write_bytes))
        else {
            return Read::Nothing;
        };
        let quiet_for = if read + written > 0 { 0 } else { before.quiet_for.saturating_add(1) };
        if let Some(known) = self.known.get_mut(&pid) {
            known.quiet_for = quiet_for;
        }
        let length_s = (at - before.at).as_secs_f64();
        if quiet_for > 0 || length_s <= 0.0 {
            return Read::Nothing;
        }
        let rate = |bytes: u64| bytes as f64 / f64::from(1 << 20) / length_s;
        let name = self.root.text(format!("/proc/{pid}/comm")).unwrap_or_default();
        Read::Moved(ProcessSample { pid, name, read_mib_per_s: rate(read), write_mib_per_s: rate(written) })
    }
}

enum Read {
    Moved(ProcessSample),
    Hidden,
    Nothing,
}

/// `read_bytes`, and `write_bytes` less `cancelled_write_bytes`.
fn parse(text: &str) -> Option<(u64, u64)> {
    let value = |name: &str| {
        let line = text.lines().find_map(|l| l.strip_prefix(name)?.strip_prefix(':'))?;
        line.trim().parse::<u64>().ok()
    };
    let cancelled = value("cancelled_write_bytes").unwrap_or(0);
    Some((value("read_bytes")?, value("write_bytes")?.saturating_sub(cancelled)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const IO: &str = "rchar: 1\nwchar: 2\nsyscr: 3\nsyscw: 4\nread_bytes: 8192\nwrite_bytes: 4096\ncancelled_write_bytes: 96";

    #[test]
    fn bytes_of_storage_are_read_not_those_of_system_calls() {
        assert_eq!(parse(IO), Some((8192, 4000)));
        assert_eq!(parse("rchar: 1"), None);
        assert_eq!(parse(""), None);
    }

    fn process(folder: &std::path::Path, pid: u32, read: u64, written: u64) {
        let place = folder.join(format!("proc/{pid}"));
        std::fs::create_dir_all(&place).unwrap();
        std::fs::write(place.join("comm"), format!("db{pid}\n")).unwrap();
        let text = format!("read_bytes: {read}\nwrite_bytes: {written}\ncancelled_write_bytes: 0\n");
        std::fs::write(place.join("io"), text).unwrap();
    }

    #[test]
    fn the_largest_comes_first_and_reused_numbers_begin_anew() {
        let folder = tempfile::tempdir().unwrap();
        for pid in 1..=5 {
            process(folder.path(), pid, 1 << 20, 0);
        }
        let mut processes = Processes::new(&Root::at(folder.path()));
        assert!(processes.next().top.is_empty(), "one reading tells no rate");
        process(folder.path(), 2, 3 << 20, 0);
        process(folder.path(), 4, 1 << 20, 8 << 20);
        process(folder.path(), 5, 0, 0);
        let sample = processes.next();
        let names: Vec<&str> = sample.top.iter().map(|p| p.name.as_str()).collect();
        assert_eq!((names, sample.seen), (vec!["db4", "db2"], 5));
        assert!(sample.top[0].write_mib_per_s > 0.0 && sample.top[0].read_mib_per_s == 0.0);
        std::fs::remove_dir_all(folder.path().join("proc/4")).unwrap();
        assert_eq!(processes.next().seen, 4);
        assert_eq!(processes.known.len(), 4);
    }

    #[test]
    fn among_very_many_processes_each_gets_its_turn() {
        let folder = tempfile::tempdir().unwrap();
        let count = OTHERS as u32 * 3;
        for pid in 1..=count {
            process(folder.path(), pid, 0, 0);
        }
        let mut processes = Processes::new(&Root::at(folder.path()));
        for _ in 0..3 {
            processes.next();
        }
        process(folder.path(), count, 1 << 20, 0);
        let found = (0..4).any(|_| processes.next().top.iter().any(|p| p.pid == count));
        assert!(found, "the last of {count} had no turn in four intervals");
    }
}
