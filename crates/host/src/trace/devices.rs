//! Block devices by number: the kernel program knows numbers, people know names.

use crate::Root;

/// One whole device of `/sys/block`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Device {
    pub name: String,
    pub major: u32,
    pub minor: u32,
    /// `host:channel:id:lun` of a SCSI disk.
    pub address: Option<String>,
}

impl Device {
    /// As the kernel holds it: 12 bits of major, 20 of minor.
    pub(super) fn number(&self) -> u32 {
        self.major << 20 | self.minor
    }
}

pub(super) fn all(root: &Root) -> Vec<Device> {
    root.names("/sys/block").into_iter().filter_map(|name| one(root, name)).collect()
}

fn one(root: &Root, name: String) -> Option<Device> {
    let numbers = root.text(format!("/sys/block/{name}/dev")).ok()?;
    let (major, minor) = numbers.split_once(':')?;
    let address = root.link(format!("/sys/block/{name}/device")).ok().and_then(|link| {
        let last = link.file_name()?.to_str()?.to_owned();
        (last.split(':').count() == 4 && last.split(':').all(|n| n.parse::<u64>().is_ok())).then_some(last)
    });
    Some(Device { major: major.parse().ok()?, minor: minor.parse().ok()?, name, address })
}

/// A device number as people write it.
pub(super) fn written(number: u32) -> String {
    format!("{}:{}", number >> 20, number & 0xf_ffff)
}
