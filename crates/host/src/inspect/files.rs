//! Open files of the processes: which lie on storage, how they are open, and which calls met them.

use super::call::IoCall;
use super::fdinfo::{self, Flags};
use crate::path::DeviceNumber;
use crate::path::mounts;
use crate::path::name::BlockName;
use crate::root::Root;
use record::{InspectedFile, SeenCall, SyncFlag};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::PathBuf;
use std::rc::Rc;

/// Descriptors looked at per process; the rest is found when a call meets it.
const DESCRIPTORS: usize = 20_000;

/// Files told apart at most: what is told of them must not fill memory.
const FILES: usize = 50_000;

/// Filesystems that keep nothing on storage.
const NO_STORAGE: [&str; 16] = [
    "tmpfs",
    "devtmpfs",
    "ramfs",
    "proc",
    "sysfs",
    "devpts",
    "cgroup",
    "cgroup2",
    "hugetlbfs",
    "mqueue",
    "debugfs",
    "tracefs",
    "bpf",
    "securityfs",
    "nsfs",
    "autofs",
];

/// Calls by name.
#[derive(Clone, Debug, Default)]
pub(super) struct Calls(BTreeMap<&'static str, SeenCall>);

impl Calls {
    pub fn meet(&mut self, call: IoCall) {
        let IoCall { name, kind, size_bytes, .. } = call;
        let seen =
            self.0.entry(name).or_insert(SeenCall { call: name, kind, seen: 0, sizes: BTreeMap::new() });
        seen.seen += 1;
        if let Some(size) = size_bytes {
            *seen.sizes.entry(size).or_default() += 1;
        }
    }

    /// Most often met first.
    pub fn list(self) -> Vec<SeenCall> {
        let mut all: Vec<SeenCall> = self.0.into_values().collect();
        all.sort_by(|a, b| b.seen.cmp(&a.seen).then(a.call.cmp(b.call)));
        all
    }
}

type Key = (String, bool, SyncFlag);

#[derive(Debug)]
struct Entry {
    file: InspectedFile,
    holders: HashSet<u32>,
    calls: Calls,
}

/// Where a mount of a namespace lies: its device and kind.
type Mounts = HashMap<u64, (DeviceNumber, String)>;

/// What a descriptor was found to be.
#[derive(Clone, Debug)]
enum Found {
    /// A place in the list of files.
    Storage(usize),
    /// Pipes, sockets, terminals, directories, memory.
    Else,
}

/// One process's descriptors that matter, at a look.
#[derive(Clone, Debug, Default)]
pub(super) struct Held {
    pub rings: Vec<u32>,
    pub direct: u64,
    pub buffered: u64,
}

/// All open files of all processes.
#[derive(Debug)]
pub(super) struct Files {
    root: Root,
    entries: Vec<Entry>,
    places: HashMap<Key, usize>,
    known: HashMap<(u32, u32), (PathBuf, Found)>,
    mounts: HashMap<PathBuf, Rc<Mounts>>,
}

impl Files {
    pub fn new(root: &Root) -> Self {
        let (entries, places, known, mounts) = Default::default();
        Self { root: root.clone(), entries, places, known, mounts }
    }

    /// Looks at all descriptors of a process.
    ///
    /// Errors: the list is refused.
    pub fn look(&mut self, pid: u32) -> std::io::Result<Held> {
        let mut held = Held::default();
        for entry in std::fs::read_dir(self.root.place(format!("/proc/{pid}/fd")))?.take(DESCRIPTORS) {
            let name = entry.ok().and_then(|e| e.file_name().into_string().ok());
            let Some(fd) = name.and_then(|n| n.parse::<u32>().ok()) else { continue };
            let Ok(link) = self.root.link(format!("/proc/{pid}/fd/{fd}")) else { continue };
            if link.to_str() == Some("anon_inode:[io_uring]") {
                held.rings.push(fd);
            } else if let Found::Storage(place) = self.find(pid, fd, link) {
                match self.entries[place].file.direct {
                    true => held.direct += 1,
                    false => held.buffered += 1,
                }
            }
        }
        held.rings.sort_unstable();
        Ok(held)
    }

    /// A thread was met in a call on a descriptor; true when that is a file on storage.
    pub fn meet(&mut self, pid: u32, fd: u32, call: IoCall) -> bool {
        let Ok(link) = self.root.link(format!("/proc/{pid}/fd/{fd}")) else { return false };
        let Found::Storage(place) = self.find(pid, fd, link) else { return false };
        self.entries[place].calls.meet(call);
        true
    }

    fn find(&mut self, pid: u32, fd: u32, link: PathBuf) -> Found {
        if let Some((before, found)) = self.known.get(&(pid, fd))
            && *before == link
        {
            return found.clone();
        }
        let found = self.examine(pid, fd, &link).unwrap_or(Found::Else);
        self.known.insert((pid, fd), (link, found.clone()));
        found
    }

    fn examine(&mut self, pid: u32, fd: u32, link: &std::path::Path) -> Option<Found> {
        let path = link.to_string_lossy();
        if !path.starts_with('/') {
            return None;
        }
        let flags = fdinfo::flags(&self.root.text(format!("/proc/{pid}/fdinfo/{fd}")).ok()?)?;
        if flags.path_only || flags.directory {
            return None;
        }
        let (device, filesystem) = self.place(pid, &path, &flags)?;
        let key = (path.into_owned(), flags.direct, flags.sync);
        let next = self.entries.len();
        if next >= FILES && !self.places.contains_key(&key) {
            return None;
        }
        let place = *self.places.entry(key.clone()).or_insert(next);
        if place == next {
            let (path, direct, sync) = key;
            let file = InspectedFile { path, device, filesystem, direct, sync, ..InspectedFile::default() };
            self.entries.push(Entry { file, holders: HashSet::new(), calls: Calls::default() });
        }
        self.entries[place].holders.insert(pid);
        self.entries[place].file.writable |= flags.writable;
        Some(Found::Storage(place))
    }

    /// Device and filesystem; nothing where the file is not on storage.
    fn place(&mut self, pid: u32, path: &str, flags: &Flags) -> Option<(Option<String>, Option<String>)> {
        if path.starts_with("/dev/")
            && let Some(name) = BlockName::by_dev_path(&self.root, path)
        {
            return Some((Some(kernel_name(name)), None));
        }
        let mounts = self.mounts_of(pid);
        let (number, kind) = mounts.get(&flags.mount?)?;
        if NO_STORAGE.contains(&kind.as_str()) {
            return None;
        }
        let device = BlockName::by_number(&self.root, *number).map(kernel_name);
        Some((device, Some(kind.clone())))
    }

    /// Mounts by number; processes that share a namespace share the table.
    fn mounts_of(&mut self, pid: u32) -> Rc<Mounts> {
        let own = || PathBuf::from(pid.to_string());
        let space = self.root.link(format!("/proc/{pid}/ns/mnt")).unwrap_or_else(|_| own());
        if let Some(known) = self.mounts.get(&space) {
            return Rc::clone(known);
        }
        let text = self.root.text(format!("/proc/{pid}/mountinfo")).unwrap_or_default();
        let table = text.lines().filter_map(|line| {
            let id = line.split(' ').next()?.parse().ok()?;
            let mount = mounts::parse(line)?;
            Some((id, (mount.device, mount.kind)))
        });
        let table = Rc::new(table.collect::<Mounts>());
        self.mounts.insert(space, Rc::clone(&table));
        table
    }

    /// The list, those met most often first, then direct ones, then by name; how many are beyond `most`.
    pub fn list(self, samples: u64, most: usize) -> (Vec<InspectedFile>, u64) {
        let mut all: Vec<InspectedFile> = self
            .entries
            .into_iter()
            .map(|entry| {
                let mut file = entry.file;
                file.processes = entry.holders.len() as u64;
                file.calls = entry.calls.list();
                let waits = |c: &&SeenCall| c.kind != record::CallKind::Flush;
                let waiting: u64 = file.calls.iter().filter(waits).map(|c| c.seen).sum();
                file.waiting = (samples > 0 && waiting > 0).then(|| waiting as f64 / samples as f64);
                file
            })
            .collect();
        all.sort_by(|a, b| {
            let rank = |f: &InspectedFile| (std::cmp::Reverse(f.seen()), !f.direct);
            rank(a).cmp(&rank(b)).then_with(|| a.path.cmp(&b.path))
        });
        let beyond = all.len().saturating_sub(most) as u64;
        all.truncate(most);
        (all, beyond)
    }
}

fn kernel_name(name: BlockName) -> String {
    match name {
        BlockName::Disk(name) | BlockName::Partition { name, .. } => name.replace('!', "/"),
    }
}
