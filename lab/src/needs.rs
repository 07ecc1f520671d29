//! What a rig needs from the host: kernel modules with their parameters, and programs.

use crate::error::Result;
use crate::initramfs::Program;
use crate::open_iscsi;
use crate::place::Place;
use crate::rig::{DmTarget, Rig, Scsi};
use crate::tool;

/// The shared folder.
const ALWAYS: [&str; 4] = ["virtio", "virtio_pci", "9pnet_virtio", "9p"];

/// Module names, in an order that works.
pub fn modules(rig: &Rig) -> Vec<String> {
    let mut names: Vec<&str> = ALWAYS.to_vec();
    if rig.scsi.is_some() || rig.fan_in.is_some() || rig.iscsi.is_some() {
        names.extend(["scsi_mod", "sd_mod"]);
    }
    if rig.fan_in.is_some() || rig.iscsi.is_some() {
        names.extend(["configfs", "target_core_mod", "target_core_iblock"]);
    }
    if rig.fan_in.is_some() {
        names.push("tcm_loop");
    }
    if rig.iscsi.is_some() {
        // Without crc32c the login fails for want of a digest.
        names.extend(["crc32c_generic", "libcrc32c", "iscsi_target_mod", "iscsi_tcp"]);
    }
    if !rig.null.is_empty() {
        names.extend(["configfs", "null_blk"]);
    }
    if !rig.dm.is_empty() {
        names.push("dm_mod");
    }
    if rig.dm.iter().any(|dm| dm.target == DmTarget::Multipath) {
        names.extend(["dm_multipath", "dm_round_robin", "dm_queue_length", "dm_service_time"]);
    }
    let mut names: Vec<String> = names.into_iter().map(str::to_owned).collect();
    names.extend(rig.modules.iter().cloned());
    if rig.scsi.is_some() {
        // Last: its LUNs are found while it is loaded.
        names.push("scsi_debug".into());
    }
    names
}

/// Parameters of a module in this rig.
pub fn parameters(rig: &Rig, module: &str) -> String {
    match (module, &rig.scsi) {
        ("scsi_debug", Some(scsi)) => scsi_debug(scsi),
        // Devices are named in the order of their addresses only when they are looked for one after another.
        ("scsi_mod", _) => "scan=sync".into(),
        // Devices are made by configfs, each with its own parameters.
        ("null_blk", _) => "nr_devices=0".into(),
        _ => String::new(),
    }
}

fn scsi_debug(scsi: &Scsi) -> String {
    let mut words = vec![
        format!("add_host={}", scsi.hosts),
        format!("num_tgts={}", scsi.targets),
        format!("max_luns={}", scsi.luns),
        format!("max_queue={}", scsi.can_queue),
        format!("ndelay={}", u64::from(scsi.service_us) * 1000),
        format!("dev_size_mb={}", scsi.size_mib),
    ];
    if scsi.own_store {
        words.push("per_host_store=1".into());
    }
    if scsi.same_unit {
        words.push("vpd_use_hostno=0".into());
    }
    words.extend(scsi.options.iter().cloned());
    words.join(" ")
}

/// Programs beside busybox and plimsoll.
pub fn programs(rig: &Rig, place: &Place) -> Result<Vec<Program>> {
    let mut programs = Vec::new();
    if !rig.dm.is_empty() {
        programs.push(Program::new("bin/dmsetup", tool::need("dmsetup")?));
    }
    if rig.iscsi.is_some() {
        programs.push(open_iscsi::iscsistart(place)?);
    }
    Ok(programs)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rig(text: &str) -> Rig {
        toml::from_str(&format!("about = \"x\"\njob = []\n{text}")).unwrap()
    }

    #[test]
    fn a_rig_brings_only_the_modules_it_needs() {
        let names = modules(&rig("[[null]]\nservice_us = 100"));
        assert!(names.contains(&"null_blk".to_owned()));
        assert!(!names.iter().any(|name| name.contains("scsi") || name.starts_with("dm_")), "{names:?}");
        let names = modules(&rig("scsi = {}"));
        assert_eq!(names.last().unwrap(), "scsi_debug");
    }

    #[test]
    fn parameters_are_those_of_the_rig() {
        let rig = rig(
            "scsi = { hosts = 2, luns = 3, can_queue = 16, service_us = 500, same_unit = true, options = [\"opts=2\"] }",
        );
        let words = parameters(&rig, "scsi_debug");
        assert_eq!(
            words,
            "add_host=2 num_tgts=1 max_luns=3 max_queue=16 ndelay=500000 dev_size_mb=64 vpd_use_hostno=0 opts=2"
        );
        assert_eq!(parameters(&rig, "sd_mod"), "");
    }
}
