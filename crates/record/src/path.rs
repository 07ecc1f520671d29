//! The path an I/O takes, layer by layer, with each layer's limits and tunables.

use serde::{Deserialize, Serialize};

/// From the target down to the device.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct IoPath {
    /// The target as resolved (absolute).
    pub target: String,
    /// Layers, top first. A layer names the layers below it, so striped and multipathed stacks are a graph.
    pub layers: Vec<Layer>,
    /// What could not be read, in words with the file.
    pub complaints: Vec<String>,
}

/// One layer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Layer {
    /// What it is.
    pub kind: LayerKind,
    /// Kernel name for block devices (`vda`, `dm-3`), type for filesystems (`ext4`), control group path for cgroups.
    pub name: String,
    /// What a person calls it: mount point, LV name, multipath alias, model.
    pub label: Option<String>,
    /// Stable identity: WWID, serial, UUID.
    pub stable_id: Option<String>,
    /// `major:minor` of a block device.
    pub dev: Option<String>,
    /// Names of the layers directly below.
    pub below: Vec<String>,
    /// Whether the kernel keeps I/O counters for it.
    pub has_counters: bool,
    /// What bounds the I/Os in it.
    pub limits: Vec<Limit>,
    /// What can be set in it.
    pub tunables: Vec<Tunable>,
    /// Facts worth showing (size, rotational, blocks, mount options, queue kind), name and value.
    pub facts: Vec<(String, String)>,
}

/// Kinds of layers, in the order an I/O may meet them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LayerKind {
    /// A control group with an I/O limit on this path.
    Cgroup,
    /// A filesystem.
    Filesystem,
    /// A partition.
    Partition,
    /// Device mapper: linear, striped, thin, crypt (LVM and others).
    DeviceMapper,
    /// Device mapper multipath.
    Multipath,
    /// Linux software RAID.
    Md,
    /// A loop device.
    Loop,
    /// A SCSI disk (LUN).
    Scsi,
    /// An NVMe namespace.
    Nvme,
    /// A virtio disk.
    Virtio,
    /// zram, brd, null_blk, nbd, and others.
    OtherBlock,
}

/// A bound on how many I/Os, or how fast, a layer lets through.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Limit {
    /// What it bounds.
    pub kind: LimitKind,
    /// The value.
    pub value: f64,
    /// The file it was read from, from the root folder down.
    pub file: String,
    /// Whether writing that file changes it while the device is in use.
    pub live: bool,
}

/// What a limit bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LimitKind {
    /// Requests that may be allocated per hardware queue (`nr_requests`).
    RequestsPerQueue,
    /// Hardware queues.
    HardwareQueues,
    /// Driver tags per hardware queue (`mq/0/nr_tags`).
    TagsPerQueue,
    /// Commands at the LUN (`device/queue_depth`).
    LunQueueDepth,
    /// Commands at the host adapter (`can_queue`).
    HostCanQueue,
    /// Largest request (`max_sectors_kb`), in bytes.
    RequestBytes,
    /// Read I/Os per second (cgroup).
    ReadIops,
    /// Write I/Os per second (cgroup).
    WriteIops,
    /// Read bytes per second (cgroup).
    ReadBytesPerS,
    /// Write bytes per second (cgroup).
    WriteBytesPerS,
}

/// A setting of a layer as it stands.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tunable {
    /// Short name: `scheduler`, `nr_requests`, `queue_depth` ...
    pub name: String,
    /// Present value as text.
    pub value: String,
    /// Allowed values where the kernel lists them.
    pub allowed: Vec<String>,
    /// The file.
    pub file: String,
}

impl IoPath {
    /// A layer by its kernel name.
    pub fn layer(&self, name: &str) -> Option<&Layer> {
        self.layers.iter().find(|l| l.name == name)
    }

    /// Block layers with counters, top first.
    pub fn counted(&self) -> impl Iterator<Item = &Layer> {
        self.layers.iter().filter(|l| l.has_counters)
    }

    /// Block layers with nothing below them: where an I/O leaves this host.
    pub fn leaves(&self) -> impl Iterator<Item = &Layer> {
        self.layers.iter().filter(|l| l.has_counters && l.below.is_empty())
    }
}

impl Layer {
    /// The value of a limit.
    pub fn limit(&self, kind: LimitKind) -> Option<&Limit> {
        self.limits.iter().find(|l| l.kind == kind)
    }

    /// The value of a tunable.
    pub fn tunable(&self, name: &str) -> Option<&Tunable> {
        self.tunables.iter().find(|t| t.name == name)
    }
}
