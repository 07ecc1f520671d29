//! Sets and reads the settings of the rig.

use super::Trouble;
use super::devices::{Devices, read, write};
use crate::rig::setting::{self, Setting};
use std::collections::BTreeMap;

/// Sets all values; complaints about those that failed.
pub fn set_all(set: &BTreeMap<String, String>, devices: &Devices) -> Vec<String> {
    let mut names: Vec<&String> = set.keys().collect();
    names.sort_by_key(|name| setting::rank(name));
    names.into_iter().filter_map(|name| set_one(name, &set[name], devices).err()).collect()
}

fn set_one(name: &str, value: &str, devices: &Devices) -> Trouble<()> {
    let lookup = |device: &str, what: &str| devices.place(device, what);
    let file = match setting::parse(name)? {
        Setting::File(file) => setting::fill(file, &lookup)?,
        Setting::Knob { device, file, .. } => format!("/sys/block/{}/{file}", devices.disk(device)?),
    };
    write(&file, &setting::fill(value, &lookup)?)
}

/// The watched settings of all devices, where they exist.
pub fn watched(devices: &Devices) -> BTreeMap<String, String> {
    let mut values = BTreeMap::new();
    for (name, disk) in devices.named() {
        for knob in setting::WATCHED {
            let Some(file) = setting::file_of(knob) else { continue };
            if let Ok(text) = read(&format!("/sys/block/{disk}/{file}")) {
                values.insert(format!("{name}.{knob}"), text);
            }
        }
    }
    values
}
