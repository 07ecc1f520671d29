//! Several SCSI hosts on one backend: LIO's loopback fabric.

use super::super::Trouble;
use super::super::devices::{Devices, wait_for_scsi, write};
use super::target;
use crate::rig::FanIn;

/// Makes `port0`, `port1` ...
pub fn make(fan_in: &FanIn, devices: &mut Devices) -> Trouble<()> {
    let backend = target::backend(&devices.node(&fan_in.backend)?)?;
    for host in 0..fan_in.hosts {
        let group = format!("{}/loopback/naa.5001405{host:09x}/tpgt_1", target::root());
        target::folders(&group)?;
        write(&format!("{group}/nexus"), &format!("naa.5001405f{host:08x}"))?;
        target::lun(&group, &backend)?;
        // One host after another, so that their numbers follow the rig's.
        wait_for_scsi("tcm_loopback", host as usize + 1)?;
    }
    for (number, disk) in wait_for_scsi("tcm_loopback", fan_in.hosts as usize)?.iter().enumerate() {
        devices.add(&format!("port{number}"), disk);
    }
    Ok(())
}
