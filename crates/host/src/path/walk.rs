//! The walk down: one step per layer, each device visited once.

use super::block::{self, empty_layer};
use super::kind::kind;
use super::mounts::{Mount, mounts};
use super::name::BlockName;
use super::{Target, cgroup, filesystem, loops, nvme, order, other, scsi, stacked};
use crate::notes::Notes;
use crate::root::Root;
use record::{IoPath, Layer, LayerKind};

/// Layers at most. A multipathed, striped, mirrored volume on a large host has a few hundred.
const LAYERS_MAX: usize = 1024;

/// Levels at most; the deepest honest stacks (LV on thin pool on cache on RAID on multipath) have about ten.
const LEVELS_MAX: usize = 32;

/// A walk in progress.
pub(crate) struct Walk<'a> {
    pub notes: Notes<'a>,
    pub mounts: Vec<Mount>,
    layers: Vec<Layer>,
    level: usize,
}

impl<'a> Walk<'a> {
    pub fn new(root: &'a Root) -> Self {
        let mut notes = Notes::new(root);
        let mounts = mounts(&mut notes);
        Self { notes, mounts, layers: Vec::new(), level: 0 }
    }

    pub fn run(mut self, target: &Target) -> IoPath {
        if target.on_filesystem {
            filesystem::step(&mut self, &target.text, Some(target.device));
        } else {
            match BlockName::by_number(self.notes.root, target.device) {
                Some(name) => {
                    self.device(&name);
                }
                None => self.notes.complain(format_args!(
                    "/sys/dev/block/{}: no such device: the path below {} cannot be followed",
                    target.device, target.text
                )),
            }
        }
        let layers = order::top_first(self.layers);
        let layers = cgroup::insert(&mut self.notes, &self.mounts, layers);
        IoPath { target: target.text.clone(), layers, complaints: self.notes.complaints }
    }

    /// Adds a layer and returns its name.
    pub fn add(&mut self, layer: Layer) -> String {
        let name = layer.name.clone();
        self.layers.push(layer);
        name
    }

    /// Says what is below a layer that was added before.
    pub fn set_below(&mut self, name: &str, below: Vec<String>) {
        if let Some(layer) = self.layers.iter_mut().find(|l| l.name == name) {
            layer.below = below;
        }
    }

    /// The filesystem layer of a mount point that is already there.
    pub fn filesystem_on(&self, point: &str) -> Option<String> {
        let same = |l: &&Layer| l.kind == LayerKind::Filesystem && l.label.as_deref() == Some(point);
        self.layers.iter().find(same).map(|l| l.name.clone())
    }

    /// Whether a layer of this name is already there.
    pub fn knows(&self, name: &str) -> bool {
        self.layers.iter().any(|l| l.name == name)
    }

    /// Adds a block device and everything below it; returns its name, or nothing where the walk must end.
    pub fn device(&mut self, name: &BlockName) -> Option<String> {
        let own = match name {
            BlockName::Disk(name) | BlockName::Partition { name, .. } => name,
        };
        if self.knows(own) {
            return Some(own.clone());
        }
        if self.level >= LEVELS_MAX || self.layers.len() >= LAYERS_MAX {
            self.notes
                .complain(format_args!("{own}: the stack of devices is too deep or goes round in circles"));
            return None;
        }
        self.level += 1;
        // The layer is listed before what is below it, so that a circle meets its own start and ends.
        let place = self.layers.len();
        self.layers.push(empty_layer(LayerKind::OtherBlock, own));
        let layer = match name {
            BlockName::Disk(disk) => self.disk(disk),
            BlockName::Partition { disk, name } => self.partition(disk, name),
        };
        self.layers[place] = layer;
        self.level -= 1;
        Some(own.clone())
    }

    fn partition(&mut self, disk: &str, name: &str) -> Layer {
        let mut layer = block::partition(&mut self.notes, disk, name);
        layer.below = self.device(&BlockName::Disk(disk.to_owned())).into_iter().collect();
        layer
    }

    fn disk(&mut self, disk: &str) -> Layer {
        let kind = kind(self.notes.root, disk);
        let mut layer = empty_layer(kind, disk);
        block::describe(&mut self.notes, &mut layer);
        match kind {
            LayerKind::DeviceMapper | LayerKind::Multipath => stacked::device_mapper(self, &mut layer),
            LayerKind::Md => stacked::md(self, &mut layer),
            LayerKind::Loop => loops::describe(self, &mut layer),
            LayerKind::Scsi => scsi::describe(&mut self.notes, &mut layer),
            LayerKind::Nvme => nvme::describe(self, &mut layer),
            _ => other::describe(self, &mut layer),
        }
        layer
    }

    /// Adds what `slaves` lists below a stacked device.
    pub fn slaves(&mut self, disk: &str) -> Vec<String> {
        let names = self.notes.root.names(format!("/sys/block/{disk}/slaves"));
        let mut below = Vec::new();
        for slave in names {
            match BlockName::by_name(self.notes.root, &slave) {
                Some(name) => below.extend(self.device(&name)),
                None => self.notes.complain(format_args!(
                    "/sys/block/{disk}/slaves/{slave}: no such block device: the path ends there"
                )),
            }
        }
        below
    }
}
