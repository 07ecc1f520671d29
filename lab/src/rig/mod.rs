//! What a rig is: the storage that is built inside the machine, the jobs run on it, and what is known beforehand.
//!
//! `rigs.toml` is read into these types and nothing else. Devices are named by what they are in the rig (`lun0`, `null0`,
//! `mp0`), never by kernel names, which depend on the order of discovery; the guest finds out which is which.

pub mod check;
pub mod load;
pub mod setting;

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// All rigs by name.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rigs {
    /// The rigs.
    pub rig: BTreeMap<String, Rig>,
}

/// One rig.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rig {
    /// One sentence: what it shows.
    pub about: String,
    /// Kernel series to run it on, one boot each.
    #[serde(default = "one_kernel")]
    pub kernels: Vec<Kernel>,
    /// Which clock the guest lives by.
    #[serde(default)]
    pub clock: Clock,
    /// Part of the short set.
    #[serde(default)]
    pub short: bool,
    /// Virtual processors; more than one needs the real clock.
    #[serde(default = "one")]
    pub cpus: u32,
    /// `scsi_debug`: LUNs `lun0`, `lun1` ... in the order of host, target, LUN.
    pub scsi: Option<Scsi>,
    /// `null_blk` devices `null0`, `null1` ...
    #[serde(default)]
    pub null: Vec<NullBlk>,
    /// SCSI hosts of LIO's loopback fabric over one backend: LUNs `port0`, `port1` ...
    pub fan_in: Option<FanIn>,
    /// A LUN `iscsi0` by iSCSI over the guest's own loopback.
    pub iscsi: Option<Iscsi>,
    /// Device mapper devices, in the order they are made.
    #[serde(default)]
    pub dm: Vec<Dm>,
    /// A control group (v2) that the jobs' probes run in.
    pub cgroup: Option<Cgroup>,
    /// Extra QEMU arguments: devices of the emulator (NVMe, virtio disks with a burst bucket). Real clock only.
    #[serde(default)]
    pub qemu: Vec<String>,
    /// Further kernel modules to load.
    #[serde(default)]
    pub modules: Vec<String>,
    /// Values set before the first job: `"lun0.queue_depth" = "4"`. See `setting.rs` for the names.
    #[serde(default)]
    pub set: BTreeMap<String, String>,
    /// What is done, in order.
    pub job: Vec<Job>,
}

/// Kernel series.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Kernel {
    /// Debian 12's own.
    #[serde(rename = "6.1")]
    V6_1,
    /// The long-term series offered beside it.
    #[serde(rename = "6.12")]
    V6_12,
}

impl Kernel {
    /// As `uname -r` begins.
    pub fn name(self) -> &'static str {
        match self {
            Self::V6_1 => "6.1",
            Self::V6_12 => "6.12",
        }
    }
}

/// The guest's clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Clock {
    /// One nanosecond per executed instruction, idle time skipped: times do not depend on the host.
    #[default]
    Virtual,
    /// The host's clock: only directions can be asserted.
    Real,
}

/// `scsi_debug`.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Scsi {
    /// Hosts (adapters), each with the same LUNs.
    pub hosts: u32,
    /// Targets per host.
    pub targets: u32,
    /// LUNs per target.
    pub luns: u32,
    /// Commands the host takes (`can_queue`), which is also the first LUN queue depth.
    pub can_queue: u32,
    /// Time a command takes.
    pub service_us: u32,
    /// Size of a LUN; all LUNs show the same store unless `own_store`.
    pub size_mib: u32,
    /// Each host has a store of its own.
    pub own_store: bool,
    /// All hosts show the same logical unit: paths of one LUN.
    pub same_unit: bool,
    /// Further module parameters, as `name=value`.
    pub options: Vec<String>,
}

impl Default for Scsi {
    fn default() -> Self {
        Self {
            hosts: 1,
            targets: 1,
            luns: 1,
            can_queue: 192,
            service_us: 1000,
            size_mib: 64,
            own_store: false,
            same_unit: false,
            options: Vec::new(),
        }
    }
}

/// One `null_blk` device that completes by timer.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct NullBlk {
    /// Time a request takes.
    pub service_us: u32,
    /// Requests in flight it takes.
    pub hw_queue_depth: u32,
    /// Bandwidth cap in MiB/s, as the kernel's `mbps` counts; 0 is none.
    pub mb_per_s: u32,
    /// Size.
    pub size_mib: u32,
}

impl Default for NullBlk {
    fn default() -> Self {
        Self { service_us: 1000, hw_queue_depth: 64, mb_per_s: 0, size_mib: 256 }
    }
}

/// Several SCSI hosts on one backend, as hosts share one array port.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FanIn {
    /// The backend's name in the rig (`null0`).
    pub backend: String,
    /// How many hosts.
    pub hosts: u32,
}

/// An iSCSI target and initiator on loopback.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Iscsi {
    /// The backend's name in the rig.
    pub backend: String,
    /// Commands the target lets one session have outstanding.
    pub cmdsn_window: u32,
    /// The initiator's LUN queue depth.
    pub queue_depth: u32,
}

/// A device mapper device.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Dm {
    /// Its name in the rig and below `/dev/mapper`.
    pub name: String,
    /// What it is.
    pub target: DmTarget,
    /// Devices below, by their names in the rig.
    pub on: Vec<String>,
    /// Multipath: `round-robin`, `queue-length`, `service-time`.
    pub selector: Option<String>,
    /// Multipath: `mq` (request-based) or `bio`.
    pub queue_mode: Option<String>,
    /// Linear: share of the whole, in percent, of each device below (equal shares when absent).
    pub percent: Option<Vec<u32>>,
    /// Its UUID, which says who made it (`LVM-...`, `mpath-...`).
    pub uuid: Option<String>,
}

/// Kinds of device mapper devices.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DmTarget {
    /// Paths of one LUN.
    Multipath,
    /// Stripes.
    Striped,
    /// One after another.
    Linear,
}

/// A control group.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Cgroup {
    /// `io.max` by device of the rig: `lun0 = "riops=2000"`.
    pub io_max: BTreeMap<String, String>,
    /// `io.cost.model` of the root, by device: `lun0 = "ctrl=user model=linear rbps=..."`.
    pub cost_model: BTreeMap<String, String>,
    /// `io.cost.qos` of the root, by device: `lun0 = "enable=1 ..."`.
    pub cost_qos: BTreeMap<String, String>,
}

/// One thing done in a rig. Exactly one of `probe`, `watch`, `set`, `apply_advice_of`, `run` is given.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Job {
    /// Its name, the key of its result.
    pub name: String,
    /// Probe this device of the rig.
    pub probe: Option<String>,
    /// Watch this device for one interval (`plimsoll watch --once`) while the loads beside run.
    pub watch: Option<String>,
    /// Length of that interval, guest time.
    #[serde(default = "interval_s")]
    pub interval_s: f64,
    /// Concurrencies measured; the search when empty.
    #[serde(default)]
    pub depths: Vec<u32>,
    /// The latency limit (`p99<10ms` when absent).
    pub limit: Option<String>,
    /// Seconds of load, guest time.
    #[serde(default = "budget_s")]
    pub budget_s: f64,
    /// Block size (`4k` when absent: copying costs guest instructions).
    pub block: Option<String>,
    /// Further arguments of `plimsoll probe` or `plimsoll watch`.
    #[serde(default)]
    pub args: Vec<String>,
    /// Other loads that run while the probe does, each by a process of its own.
    #[serde(default)]
    pub beside: Vec<Beside>,
    /// Values set while the probe runs.
    #[serde(default)]
    pub during: Vec<During>,
    /// Idle guest time before it begins (free on the virtual clock). Shared tags are freed after some seconds of idleness.
    #[serde(default = "settle_s")]
    pub settle_s: f64,
    /// Values to set: a change between two probes.
    pub set: Option<BTreeMap<String, String>>,
    /// Do what the named job's probe advised first: write its `try_value` into its `file`.
    pub apply_advice_of: Option<String>,
    /// Any command (words), run in the guest; `{lun0}` becomes the kernel name.
    pub run: Option<Vec<String>>,
    /// What is known and cannot be computed from the parameters.
    #[serde(default)]
    pub expect: Expect,
}

/// A load beside the probe.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Beside {
    /// The device loaded.
    pub probe: String,
    /// I/Os it keeps outstanding; with `every_ms` a single read at that period instead.
    #[serde(default = "one")]
    pub concurrency: u32,
    /// One read of one block at this period.
    pub every_ms: Option<u32>,
    /// So many of these reads and no more. Beside a watch they begin within its interval.
    pub reads: Option<u32>,
}

/// Values set while a probe runs.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct During {
    /// Guest seconds after the probe's start.
    pub at_s: f64,
    /// Repeat at this period until the probe ends.
    pub every_s: Option<f64>,
    /// Values to set.
    #[serde(default)]
    pub set: BTreeMap<String, String>,
    /// A command to run.
    pub run: Option<Vec<String>>,
}

/// What a job must show beyond what the rig's parameters say. Everything absent is computed or not asserted.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Expect {
    /// `bound_by.layer`.
    pub bound_by: Option<String>,
    /// A part of the file that the first advice must name; empty: no file may be advised.
    pub advice_file: Option<String>,
    /// The plateau's IOPS, where a cap makes it.
    pub plateau_iops: Option<f64>,
    /// The first line of the verdict, or one of its evidence lines, must contain each of these.
    pub says: Vec<String>,
    /// One of the warnings must contain each of these.
    pub warns: Vec<String>,
    /// The exit code (0 when absent).
    pub exit: Option<i32>,
    /// TASK SET FULL answers that a watch must count.
    pub task_set_full: Option<u64>,
    /// What a watch must say its numbers come from (`tracer` when absent).
    pub source: Option<String>,
    /// Only the direction is asserted: verdict, no numbers.
    pub direction_only: bool,
    /// Response times lie apart from the model's: throughput and queues are compared, response is not.
    pub skip: Vec<String>,
}

fn one() -> u32 {
    1
}

fn one_kernel() -> Vec<Kernel> {
    vec![Kernel::V6_12]
}

fn interval_s() -> f64 {
    4.0
}

fn budget_s() -> f64 {
    6.0
}

fn settle_s() -> f64 {
    8.0
}
