//! Builds the devices of a rig, each kind in its own file.

mod cgroup;
mod dm;
mod fan_in;
mod iscsi;
mod null_blk;
mod target;

use super::Trouble;
use super::devices::{Devices, wait_for, wait_for_scsi};
use super::mounts;
use crate::rig::{Rig, check};
use std::path::Path;

/// Where kernel objects are made.
const CONFIGFS: &str = "/sys/kernel/config";

/// What stands.
#[derive(Debug, Default)]
pub struct Built {
    /// Names.
    pub devices: Devices,
    /// The control group the probes run in.
    pub cgroup: Option<String>,
    /// What could not be built.
    pub complaints: Vec<String>,
}

/// Builds all. The first failure ends the building, since later parts stand on earlier ones.
pub fn build(rig: &Rig) -> Built {
    let mut built = Built::default();
    if let Err(trouble) = all(rig, &mut built) {
        built.complaints.push(trouble);
    }
    built
}

fn all(rig: &Rig, built: &mut Built) -> Trouble<()> {
    let devices = &mut built.devices;
    if !rig.null.is_empty() || rig.fan_in.is_some() || rig.iscsi.is_some() {
        mounts::one("configfs", "configfs", CONFIGFS)?;
    }
    for disk in emulated(rig) {
        wait_for(disk, || Path::new("/sys/block").join(disk).exists().then_some(()))?;
        devices.add(disk, disk);
    }
    if let Some(scsi) = &rig.scsi {
        let count = (scsi.hosts * scsi.targets * scsi.luns) as usize;
        for (number, disk) in wait_for_scsi("scsi_debug", count)?.iter().enumerate() {
            devices.add(&format!("lun{number}"), disk);
        }
    }
    for (number, null) in rig.null.iter().enumerate() {
        let name = format!("null{number}");
        let disk = null_blk::make(&name, null)?;
        devices.add(&name, &disk);
    }
    if let Some(fan_in) = &rig.fan_in {
        fan_in::make(fan_in, devices)?;
    }
    if let Some(iscsi) = &rig.iscsi {
        iscsi::make(iscsi, devices)?;
    }
    for dm in &rig.dm {
        let disk = dm::make(dm, devices)?;
        devices.add(&dm.name, &disk);
    }
    if let Some(cgroup) = &rig.cgroup {
        built.cgroup = Some(cgroup::make(cgroup, devices)?);
    }
    Ok(())
}

/// Devices of the emulator, which go by their kernel names: all that is probed and not built here.
fn emulated(rig: &Rig) -> Vec<&str> {
    let built = check::devices(rig);
    let probed = rig.job.iter().filter_map(|job| job.probe.as_deref());
    probed.filter(|name| !built.iter().any(|own| own == name)).collect()
}
