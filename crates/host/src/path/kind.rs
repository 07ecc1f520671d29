//! What a block device is, by what sysfs keeps for it.

use super::dm_table;
use crate::root::Root;
use record::LayerKind;

/// Kind of a whole device. `disk` is its name in `/sys/block`.
pub(crate) fn kind(root: &Root, disk: &str) -> LayerKind {
    let has = |file: &str| root.exists(format!("/sys/block/{disk}/{file}"));
    if has("dm") {
        let uuid = root.text(format!("/sys/block/{disk}/dm/uuid")).unwrap_or_default();
        // Only multipath allocates requests among the targets of the device mapper.
        let multipath = uuid.starts_with("mpath-") || has("mq/0") || is_multipath_by_table(root, disk);
        return if multipath { LayerKind::Multipath } else { LayerKind::DeviceMapper };
    }
    if has("md") {
        return LayerKind::Md;
    }
    if has("loop") || disk.starts_with("loop") {
        return LayerKind::Loop;
    }
    if disk.starts_with("nvme") {
        return LayerKind::Nvme;
    }
    if has("device/scsi_level") || has("device/device_busy") || disk.starts_with("sd") {
        return LayerKind::Scsi;
    }
    let driver = root.link(format!("/sys/block/{disk}/device/driver"));
    if driver.is_ok_and(|d| d.file_name().is_some_and(|n| n == "virtio_blk")) || disk.starts_with("vd") {
        return LayerKind::Virtio;
    }
    LayerKind::OtherBlock
}

/// Maps made by hand carry no UUID; their table, which root may read, says what they are.
fn is_multipath_by_table(root: &Root, disk: &str) -> bool {
    let Ok(name) = root.text(format!("/sys/block/{disk}/dm/name")) else { return false };
    dm_table::table(root, &name).is_some_and(|lines| lines.iter().any(|l| l.kind == "multipath"))
}
