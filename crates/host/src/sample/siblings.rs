//! Who else uses the tags of a LUN's host adapter.
//!
//! All LUNs of one SCSI host draw their tags from one set. The kernel gives each LUN that used a tag in the last
//! seconds an equal part of it (`hctx_may_queue`), so a LUN that does nearly nothing halves its neighbour's queue. The
//! commands of every LUN are counted in `iorequest_cnt`, which anybody may read; root also sees the kernel's own count
//! of active LUNs in debugfs.

use crate::root::Root;
use record::{IoPath, LayerKind, TagSharing};
use std::time::{Duration, Instant};

/// A LUN counts as active for up to this long after its last command (`BLK_MAX_TIMEOUT`).
const ACTIVE: Duration = Duration::from_secs(5);

/// LUNs of one host that are looked at, at most: two readings of each stand around every window.
const LUNS_MAX: usize = 256;

/// One LUN of a host.
#[derive(Debug)]
struct Lun {
    /// `host:channel:target:lun`.
    address: String,
    /// Kernel name of its disk, or the address where it has none.
    name: String,
    commands: Option<u64>,
    moved: Option<Instant>,
}

/// All LUNs of one host.
#[derive(Debug)]
struct Host {
    number: String,
    luns: Vec<Lun>,
}

/// All hosts below a path.
#[derive(Debug)]
pub(crate) struct Siblings {
    root: Root,
    hosts: Vec<Host>,
    /// Layers that are LUNs: name and address, with the kernel's count seen since the window began.
    layers: Vec<(String, String, Option<u32>)>,
}

impl Siblings {
    /// Finds the neighbours of each LUN of the path, and reads their counters a first time.
    pub fn of_path(root: &Root, path: &IoPath) -> Self {
        let mut hosts: Vec<Host> = Vec::new();
        let mut layers = Vec::new();
        for layer in path.layers.iter().filter(|l| l.kind == LayerKind::Scsi) {
            let Some((_, address)) = layer.facts.iter().find(|(name, _)| name == "scsi_address") else {
                continue;
            };
            let Some((number, _)) = address.split_once(':') else { continue };
            layers.push((layer.name.clone(), address.clone(), None));
            if !hosts.iter().any(|h| h.number == number) {
                let luns = luns(root, number);
                hosts.push(Host { number: number.to_owned(), luns });
            }
        }
        let mut siblings = Self { root: root.clone(), hosts, layers };
        siblings.read(Instant::now());
        // What moved before this first reading is not known.
        siblings.hosts.iter_mut().flat_map(|h| &mut h.luns).for_each(|lun| lun.moved = None);
        siblings
    }

    /// A window begins.
    pub fn begin(&mut self) {
        self.layers.iter_mut().for_each(|(_, _, counted)| *counted = None);
        self.read(Instant::now());
    }

    /// A window ends.
    pub fn end(&mut self) {
        self.read(Instant::now());
    }

    /// Who shared the tags of this layer in the window that just ended; absent for what is no LUN.
    pub fn sharing(&self, layer: &str) -> Option<TagSharing> {
        let (_, address, counted) = self.layers.iter().find(|(name, _, _)| name == layer)?;
        let (number, _) = address.split_once(':')?;
        let host = self.hosts.iter().find(|h| h.number == number)?;
        let others = || host.luns.iter().filter(|lun| lun.address != *address);
        let lately = |lun: &&Lun| lun.moved.is_some_and(|at| at.elapsed() < ACTIVE);
        Some(TagSharing {
            siblings: others().count() as u32,
            active: others().filter(lately).map(|lun| lun.name.clone()).collect(),
            counted: *counted,
        })
    }

    fn read(&mut self, now: Instant) {
        let root = &self.root;
        for lun in self.hosts.iter_mut().flat_map(|h| &mut h.luns) {
            let commands = commands(root, &lun.address);
            if commands.is_some() && commands != lun.commands {
                lun.moved = Some(now);
            }
            lun.commands = commands;
        }
        for (name, _, counted) in &mut self.layers {
            *counted = (*counted).max(active_queues(root, name));
        }
    }
}

/// The SCSI devices of a host, by the names of their addresses.
pub(crate) fn addresses(root: &Root, host: &str) -> Vec<String> {
    let all = root.names("/sys/class/scsi_device");
    let own = |address: &String| address.split_once(':').is_some_and(|(number, _)| number == host);
    all.into_iter().filter(own).take(LUNS_MAX).collect()
}

/// Kernel name of the disk at an address, or the address.
pub(crate) fn disk_at(root: &Root, address: &str) -> String {
    let disks = root.names(format!("/sys/class/scsi_device/{address}/device/block"));
    disks.into_iter().next().unwrap_or_else(|| address.to_owned())
}

fn luns(root: &Root, host: &str) -> Vec<Lun> {
    let lun = |address: String| Lun { name: disk_at(root, &address), address, commands: None, moved: None };
    addresses(root, host).into_iter().map(lun).collect()
}

fn commands(root: &Root, address: &str) -> Option<u64> {
    let text = root.text(format!("/sys/class/scsi_device/{address}/device/iorequest_cnt")).ok()?;
    u64::from_str_radix(text.trim().strip_prefix("0x")?, 16).ok()
}

/// The kernel's own count, the largest over the hardware queues; absent without root.
fn active_queues(root: &Root, disk: &str) -> Option<u32> {
    let text = root.text(format!("/sys/kernel/debug/block/{disk}/hctx0/tags")).ok()?;
    text.lines().find_map(|line| line.strip_prefix("active_queues="))?.trim().parse().ok()
}
