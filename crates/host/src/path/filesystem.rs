//! The filesystem step: from a path to the mount it lies on, and to the device under the mount.

use super::block::empty_layer;
use super::mounts::{Mount, mount_of};
use super::name::BlockName;
use super::walk::Walk;
use super::{DeviceNumber, mounts};
use record::LayerKind;

/// Adds the filesystem that holds `path` and everything below it; returns the name of its layer.
///
/// `device` is `st_dev` of the target, absent where only the path is known (backing files in a captured tree).
pub(crate) fn step(walk: &mut Walk<'_>, path: &str, device: Option<DeviceNumber>) -> Option<String> {
    let Some(mount) = mount_of(&walk.mounts, path, device).cloned() else {
        walk.notes.complain(format_args!("{}: no mount found for {path}", mounts::MOUNTINFO));
        return device.and_then(|d| walk.device(&BlockName::by_number(walk.notes.root, d)?));
    };
    if let Some(known) = walk.filesystem_on(&mount.point) {
        return Some(known);
    }
    let name =
        if walk.knows(&mount.kind) { format!("{}@{}", mount.kind, mount.point) } else { mount.kind.clone() };
    let mut layer = empty_layer(LayerKind::Filesystem, &name);
    layer.label = Some(mount.point.clone());
    layer.facts = facts(&mount);
    // Listed first, so that a loop device whose backing file lies on itself meets this name and ends.
    let name = walk.add(layer);
    let below = devices(walk, &mount, device);
    walk.set_below(&name, below);
    Some(name)
}

fn facts(mount: &Mount) -> Vec<(String, String)> {
    let mut facts = vec![
        ("mount_point".to_owned(), mount.point.clone()),
        ("source".to_owned(), mount.source.clone()),
        ("mount_options".to_owned(), mount.options.clone()),
    ];
    if !mount.super_options.is_empty() {
        facts.push(("filesystem_options".to_owned(), mount.super_options.clone()));
    }
    facts
}

/// The block devices under a mount.
fn devices(walk: &mut Walk<'_>, mount: &Mount, device: Option<DeviceNumber>) -> Vec<String> {
    let number = device.filter(|d| d.major != 0).or(Some(mount.device)).filter(|d| d.major != 0);
    let root = walk.notes.root;
    let first = match number {
        Some(number) => BlockName::by_number(root, number),
        None => BlockName::by_dev_path(root, &mount.source),
    };
    let Some(first) = first else {
        walk.notes.complain(why_not(mount, number));
        return Vec::new();
    };
    let members = if mount.kind == "btrfs" { btrfs_members(walk, &first) } else { Vec::new() };
    let all = if members.is_empty() { vec![first] } else { members };
    all.iter().filter_map(|name| walk.device(name)).collect()
}

/// Why a mount cannot be followed to a device, in words.
fn why_not(mount: &Mount, number: Option<DeviceNumber>) -> String {
    let Mount { kind, point, source, .. } = mount;
    if let Some(number) = number {
        return format!(
            "/sys/dev/block/{number}: no such device: cannot follow {kind} on {point} below {source}"
        );
    }
    match kind.as_str() {
        "overlay" => {
            let upper = mount.super_options.split(',').find_map(|o| o.strip_prefix("upperdir="));
            format!(
                "cannot follow overlay on {point}: it has no device of its own; choose a target on the filesystem \
                 below it{}",
                upper.map(|u| format!(" (it writes to {u})")).unwrap_or_default()
            )
        }
        "tmpfs" | "ramfs" => {
            format!("cannot follow {kind} on {point}: it lives in memory, there is no device")
        }
        "zfs" => format!(
            "cannot follow zfs on {point}: the pool behind {source} does not show its devices in sysfs"
        ),
        kind if kind.starts_with("nfs") || matches!(kind, "cifs" | "smb3" | "9p" | "ceph" | "virtiofs") => {
            format!("cannot follow {kind} on {point}: the storage is on another machine ({source})")
        }
        _ => format!("cannot follow {kind} on {point}: its source {source} is no block device seen here"),
    }
}

/// All devices of the btrfs filesystem that `first` belongs to, from `/sys/fs/btrfs/UUID/devices`.
fn btrfs_members(walk: &Walk<'_>, first: &BlockName) -> Vec<BlockName> {
    let root = walk.notes.root;
    let (BlockName::Disk(own) | BlockName::Partition { name: own, .. }) = first;
    for uuid in root.names("/sys/fs/btrfs") {
        let names = root.names(format!("/sys/fs/btrfs/{uuid}/devices"));
        if names.contains(own) {
            return names.iter().filter_map(|n| BlockName::by_name(root, n)).collect();
        }
    }
    Vec::new()
}
