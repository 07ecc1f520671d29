//! Block devices by name and number.

use super::DeviceNumber;
use crate::root::Root;

/// A block device as sysfs names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum BlockName {
    /// A whole disk.
    Disk(String),
    /// A partition of a disk.
    Partition { disk: String, name: String },
}

impl BlockName {
    /// From a device number. Relies on `/sys/dev/block/M:m`, a link that ends in `block/DISK` or `block/DISK/PART`.
    pub fn by_number(root: &Root, device: DeviceNumber) -> Option<Self> {
        let target = root.link(format!("/sys/dev/block/{device}")).ok()?;
        let mut parts = target.iter().rev().map(|p| p.to_string_lossy().into_owned());
        let name = parts.next().filter(|n| valid(n))?;
        let parent = parts.next()?;
        let is_partition = root.exists(format!("/sys/block/{parent}/{name}/partition"));
        Some(if is_partition && valid(&parent) {
            Self::Partition { disk: parent, name }
        } else {
            Self::Disk(name)
        })
    }

    /// From a kernel name, disk or partition.
    pub fn by_name(root: &Root, name: &str) -> Option<Self> {
        if !valid(name) {
            return None;
        }
        if root.exists(format!("/sys/block/{name}")) {
            return Some(Self::Disk(name.to_owned()));
        }
        let number = root.text(format!("/sys/class/block/{name}/dev")).ok()?;
        Self::by_number(root, DeviceNumber::parse(&number)?)
    }

    /// From a path in `/dev`: symbolic links (`/dev/mapper/x`, `/dev/vg/lv`) end in a kernel name; a node that is no
    /// link is named by its own number.
    pub fn by_dev_path(root: &Root, path: &str) -> Option<Self> {
        let mut path = std::path::PathBuf::from(path.strip_prefix("/dev/")?);
        for _ in 0..8 {
            let Ok(link) = root.link(std::path::Path::new("/dev").join(&path)) else { break };
            path = match link.strip_prefix("/dev") {
                Ok(absolute) => absolute.to_path_buf(),
                Err(_) => link,
            };
        }
        let name = path.file_name()?.to_string_lossy().into_owned();
        Self::by_name(root, &name).or_else(|| Self::by_node(root, &path))
    }

    fn by_node(root: &Root, path: &std::path::Path) -> Option<Self> {
        use std::os::unix::fs::{FileTypeExt, MetadataExt};
        let metadata = std::fs::metadata(root.place(std::path::Path::new("/dev").join(path))).ok()?;
        let number = DeviceNumber::from_dev_t(metadata.rdev());
        metadata.file_type().is_block_device().then(|| Self::by_number(root, number)).flatten()
    }
}

/// Kernel names are short and hold neither a slash nor a parent folder: names read from a torn tree go into paths.
pub(crate) fn valid(name: &str) -> bool {
    !name.is_empty()
        && name.len() <= 64
        && name != "."
        && name != ".."
        && !name.contains('/')
        && !name.chars().any(char::is_control)
}
