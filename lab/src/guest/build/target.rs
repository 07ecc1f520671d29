//! The kernel's SCSI target (LIO): a backend, and what fabrics share. Pure configfs.

use super::super::Trouble;
use super::super::devices::write;
use super::CONFIGFS;
use std::fs;

/// Where fabrics are made.
pub fn root() -> String {
    format!("{CONFIGFS}/target")
}

/// A backend over a block device; gives its folder.
pub fn backend(node: &str) -> Trouble<String> {
    let folder = format!("{}/core/iblock_0/backend", root());
    folders(&folder)?;
    write(&format!("{folder}/control"), &format!("udev_path={node}"))?;
    write(&format!("{folder}/enable"), "1")?;
    // The serial number makes all ports show one and the same unit.
    write(&format!("{folder}/wwn/vpd_unit_serial"), "plimsoll-lab-0001")?;
    Ok(folder)
}

/// LUN 0 of a target port group.
pub fn lun(group: &str, backend: &str) -> Trouble<()> {
    let folder = format!("{group}/lun/lun_0");
    folders(&folder)?;
    std::os::unix::fs::symlink(backend, format!("{folder}/backend")).map_err(|e| format!("{folder}: {e}"))
}

/// Makes folders; in configfs each one is an object.
pub fn folders(path: &str) -> Trouble<()> {
    fs::create_dir_all(path).map_err(|e| format!("{path}: {e}"))
}
