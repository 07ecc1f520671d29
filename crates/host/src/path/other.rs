//! virtio, zram, brd, null_blk, nbd and whatever else carries I/O.

use super::block::Describe;
use super::walk::Walk;
use record::{Layer, LayerKind};

pub(crate) fn describe(walk: &mut Walk<'_>, layer: &mut Layer) {
    let folder = format!("/sys/block/{}", layer.name);
    let serial = walk.notes.text(&format!("{folder}/serial"));
    let wwid = walk.notes.text(&format!("{folder}/wwid"));
    layer.stable_id = wwid.or_else(|| serial.clone());
    layer.fact("serial", serial);
    let driver = walk.notes.link_name(&format!("{folder}/device/driver"));
    layer.fact("driver", driver.clone());
    if layer.kind == LayerKind::Virtio {
        layer.label = Some("virtio disk".to_owned());
        layer.fact("transport", Some("virtio".to_owned()));
        return;
    }
    layer.label = family(&layer.name).map(str::to_owned).or(driver);
    if layer.name.starts_with("zram") {
        let algorithm = walk.notes.text(&format!("{folder}/comp_algorithm"));
        layer.fact("comp_algorithm", algorithm);
    }
    // Stacks that are neither device mapper nor MD (bcache, drbd) list what they stand on in the same way.
    layer.below = walk.slaves(&layer.name);
}

fn family(name: &str) -> Option<&'static str> {
    let families = [
        ("zram", "compressed memory"),
        ("ram", "memory disk"),
        ("nullb", "null_blk test device"),
        ("nbd", "network block device"),
        ("rbd", "Ceph block device"),
        ("drbd", "DRBD replica"),
        ("bcache", "bcache"),
        ("pmem", "persistent memory"),
        ("xvd", "Xen virtual disk"),
        ("mmcblk", "memory card"),
        ("dasd", "DASD"),
        ("sr", "optical drive"),
    ];
    families.iter().find(|(prefix, _)| name.starts_with(prefix)).map(|(_, family)| *family)
}
