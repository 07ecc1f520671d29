//! Devices built on other devices: device mapper (LVM, crypt, multipath) and MD.

use super::block::Describe;
use super::dm_table;
use super::walk::Walk;
use record::{Layer, LayerKind};

pub(crate) fn device_mapper(walk: &mut Walk<'_>, layer: &mut Layer) {
    let folder = format!("/sys/block/{}", layer.name);
    layer.label = walk.notes.text(&format!("{folder}/dm/name"));
    let uuid = walk.notes.text(&format!("{folder}/dm/uuid"));
    layer.fact("dm_use", uuid.as_deref().and_then(use_of).map(str::to_owned));
    if layer.kind == LayerKind::Multipath {
        let table = layer.label.as_deref().and_then(|name| dm_table::table(walk.notes.root, name));
        let line = table.as_ref().and_then(|lines| lines.iter().find(|l| l.kind == "multipath"));
        layer.fact("path_selector", line.and_then(|l| dm_table::path_selector(&l.parameters)));
        layer.stable_id = uuid.as_deref().and_then(|u| u.strip_prefix("mpath-")).map(str::to_owned);
    } else {
        layer.stable_id = uuid;
    }
    let suspended = walk.notes.text(&format!("{folder}/dm/suspended")).filter(|s| s != "0");
    layer.fact("suspended", suspended);
    layer.below = walk.slaves(&layer.name);
    if layer.below.is_empty() {
        walk.notes.complain(format_args!("{folder}/slaves: nothing listed below {}", layer.name));
    }
}

/// The owner of a device mapper device stands before the first dash of its UUID.
fn use_of(uuid: &str) -> Option<&'static str> {
    let (owner, _) = uuid.split_once('-')?;
    Some(match owner {
        "LVM" => "lvm",
        "CRYPT" => "crypt",
        "mpath" => "multipath",
        "DMRAID" => "dmraid",
        "VDO" => "vdo",
        // kpartx names partitions of a map part1-, part2- ...
        owner if owner.starts_with("part") => "partition of a map",
        _ => return None,
    })
}

pub(crate) fn md(walk: &mut Walk<'_>, layer: &mut Layer) {
    let folder = format!("/sys/block/{}/md", layer.name);
    let level = walk.notes.text(&format!("{folder}/level"));
    layer.label = level.clone();
    layer.fact("raid_level", level);
    for name in ["raid_disks", "chunk_size", "array_state", "sync_action", "degraded", "metadata_version"] {
        let value = walk.notes.text(&format!("{folder}/{name}"));
        layer.fact(name, value);
    }
    layer.stable_id = walk.notes.text(&format!("{folder}/uuid"));
    for name in ["stripe_cache_size", "group_thread_cnt", "sync_speed_max"] {
        let file = format!("{folder}/{name}");
        let value = walk.notes.text(&file);
        layer.set(&format!("md/{name}"), value, &file);
    }
    layer.below = walk.slaves(&layer.name);
}
