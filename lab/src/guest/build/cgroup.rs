//! The control group of the probes, with its limits.

use super::super::Trouble;
use super::super::devices::{Devices, numbers, write};
use crate::rig::Cgroup;
use std::collections::BTreeMap;
use std::fs;

const ROOT: &str = "/sys/fs/cgroup";

/// Makes it and gives its folder.
pub fn make(cgroup: &Cgroup, devices: &Devices) -> Trouble<String> {
    let folder = format!("{ROOT}/lab");
    fs::create_dir(&folder).map_err(|e| format!("{folder}: {e}"))?;
    let all = |file: String, values: &BTreeMap<String, String>| -> Trouble<()> {
        for (name, value) in values {
            let numbers = numbers(&devices.disk(name)?)?;
            write(&file, &format!("{numbers} {value}"))?;
        }
        Ok(())
    };
    all(format!("{folder}/io.max"), &cgroup.io_max)?;
    // The model before the quality of service, which switches it on.
    all(format!("{ROOT}/io.cost.model"), &cgroup.cost_model)?;
    all(format!("{ROOT}/io.cost.qos"), &cgroup.cost_qos)?;
    Ok(folder)
}
