//! What stands in sysfs about a device: what it is, how it is stacked, what bounds it, what failed.
//!
//! Read when a device appears and again, a few devices per interval, in turn. Only the files named here are read.

use crate::path::block::parse_choice;
use crate::path::kind::kind;
use crate::root::Root;
use record::{DeviceFacts, DeviceLimits, LayerKind};

/// What is read again in turn.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Look {
    /// `queue/iostats` is 0.
    pub off: bool,
    pub scheduler: Option<String>,
    pub limits: DeviceLimits,
    /// `ioerr_cnt` and `iotmo_cnt`, 32 bits wide.
    pub failed: Option<u64>,
    pub timed_out: Option<u64>,
    pub below: Vec<String>,
}

/// A device as sysfs places it.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    pub kind: LayerKind,
    /// Its folder in sysfs; absent when sysfs does not know it.
    pub folder: Option<String>,
    /// The disk it is a partition of.
    pub disk: Option<String>,
    pub label: Option<String>,
    /// It allocates requests, so it has a host queue.
    pub request_based: bool,
    /// Its queue stands behind a LUN queue depth.
    pub lun: bool,
}

/// `/sys/block` writes the slash of names such as `cciss/c0d0` as an exclamation mark.
pub(crate) fn sysfs_name(name: &str) -> String {
    name.replace('/', "!")
}

/// Finds a device in sysfs.
pub(crate) fn place(root: &Root, name: &str) -> Place {
    let own = sysfs_name(name);
    let folder = format!("/sys/block/{own}");
    if root.exists(&folder) {
        let kind = kind(root, &own);
        let label = match kind {
            LayerKind::DeviceMapper | LayerKind::Multipath => root.text(format!("{folder}/dm/name")).ok(),
            LayerKind::Loop => root.text(format!("{folder}/loop/backing_file")).ok(),
            LayerKind::Md => root.text(format!("{folder}/md/level")).ok(),
            _ => None,
        };
        return Place {
            kind,
            disk: None,
            label: label.filter(|l| !l.is_empty()),
            request_based: root.exists(format!("{folder}/mq/0")),
            lun: root.exists(format!("{folder}/device/queue_depth")),
            folder: Some(folder),
        };
    }
    let disk = disk_of_partition(root, &own);
    let kind = if disk.is_some() { LayerKind::Partition } else { LayerKind::OtherBlock };
    let folder = disk.as_ref().map(|disk| format!("/sys/block/{}/{own}", sysfs_name(disk)));
    Place { kind, folder, disk, label: None, request_based: false, lun: false }
}

/// `/sys/class/block/sda1` is a link that ends in `sda/sda1`.
fn disk_of_partition(root: &Root, name: &str) -> Option<String> {
    let link = root.link(format!("/sys/class/block/{name}")).ok()?;
    let disk = link.parent()?.file_name()?.to_str()?.to_owned();
    root.exists(format!("/sys/block/{disk}/{name}/partition")).then(|| disk.replace('!', "/"))
}

/// Reads what may change while the device lives.
pub(crate) fn look(root: &Root, place: &Place) -> Look {
    let Some(folder) = place.folder.as_ref().filter(|_| place.disk.is_none()) else {
        return Look { below: place.disk.iter().cloned().collect(), ..Look::default() };
    };
    let number = |file: &str| root.number::<u32>(format!("{folder}/{file}")).map(f64::from);
    let scheduler = root.text(format!("{folder}/queue/scheduler")).ok().and_then(|t| parse_choice(&t).0);
    let mut limits = DeviceLimits::default();
    if place.request_based {
        limits.nr_requests = number("queue/nr_requests");
        let queues = root.names(format!("{folder}/mq")).len();
        limits.hardware_queues = (queues > 0).then_some(queues as f64);
        limits.queue_depth = number("device/queue_depth");
        limits.queue_depth_highest = limits.queue_depth;
        limits.host_can_queue = if place.lun { can_queue(root, folder) } else { None };
        let bare = scheduler.as_deref().is_none_or(|s| s == "none");
        limits.device_queue = limits.queue_depth.or_else(|| {
            let tags = number("mq/0/nr_tags");
            let most = match (limits.nr_requests, tags) {
                (Some(a), Some(b)) if bare => Some(a.min(b)),
                (requests, tags) => tags.or(requests),
            };
            most.map(|n| n * limits.hardware_queues.unwrap_or(1.0))
        });
    }
    let hex = |file: &str| {
        let text = root.text(format!("{folder}/{file}")).ok()?;
        u64::from_str_radix(text.trim().strip_prefix("0x")?, 16).ok()
    };
    let stacked = matches!(place.kind, LayerKind::DeviceMapper | LayerKind::Multipath | LayerKind::Md);
    Look {
        off: root.number::<u32>(format!("{folder}/queue/iostats")) == Some(0),
        scheduler,
        failed: if place.lun { hex("device/ioerr_cnt") } else { None },
        timed_out: if place.lun { hex("device/iotmo_cnt") } else { None },
        below: if stacked { slaves(root, folder) } else { Vec::new() },
        limits,
    }
}

fn slaves(root: &Root, folder: &str) -> Vec<String> {
    root.names(format!("{folder}/slaves")).into_iter().map(|n| n.replace('!', "/")).collect()
}

/// The device link ends in `host:channel:target:lun`.
fn can_queue(root: &Root, folder: &str) -> Option<f64> {
    let link = root.link(format!("{folder}/device")).ok()?;
    let host = link.file_name()?.to_str()?.split(':').next()?.parse::<u32>().ok()?;
    root.number::<u32>(format!("/sys/class/scsi_host/host{host}/can_queue")).map(f64::from)
}

/// The facts that samples share.
pub(crate) fn facts(name: &str, place: &Place, look: &Look) -> DeviceFacts {
    DeviceFacts {
        name: name.to_owned(),
        kind: place.kind,
        label: place.label.clone(),
        disk: place.disk.clone(),
        below: if place.disk.is_some() { Vec::new() } else { look.below.clone() },
        above: Vec::new(),
        scheduler: look.scheduler.clone(),
    }
}
