//! Devices that share blocks with a device: its partitions, its parent disk, what it stands on, other paths to it.

use host::Root;
use rustix::fs::{major, minor};
use std::io;

/// A block device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// Kernel name.
    pub name: String,
    /// `major:minor`.
    pub dev: String,
}

/// A device and those that share blocks with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Relatives {
    /// The device itself.
    pub target: Node,
    /// Names of its partitions.
    pub partitions: Vec<String>,
    /// The disk it is a partition of.
    pub parent: Option<Node>,
    /// Devices it is made of, all the way down.
    pub below: Vec<Node>,
    /// Other paths to the same LUN, by its WWID.
    pub siblings: Vec<Node>,
}

/// Finds them. `device` is a device number as in st_rdev.
pub fn find(root: &Root, device: u64) -> io::Result<Relatives> {
    let dev = format!("{}:{}", major(device), minor(device));
    let link = root.link(format!("/sys/dev/block/{dev}"))?;
    let mut parts = link.components().rev().filter_map(|c| c.as_os_str().to_str());
    let name = parts.next().ok_or_else(|| io::Error::other("an empty link in /sys/dev/block"))?.to_owned();
    let parent_name = parts.next().unwrap_or_default().to_owned();
    let is_partition = root.exists(format!("/sys/class/block/{name}/partition"));
    let partitions = root
        .names(format!("/sys/class/block/{name}"))
        .into_iter()
        .filter(|n| root.exists(format!("/sys/class/block/{name}/{n}/partition")))
        .collect();
    let mut below = Vec::new();
    descend(root, &name, &mut below);
    Ok(Relatives {
        partitions,
        parent: if is_partition { node(root, &parent_name) } else { None },
        below,
        siblings: siblings(root, if is_partition { &parent_name } else { &name }),
        target: Node { name, dev },
    })
}

fn node(root: &Root, name: &str) -> Option<Node> {
    let dev = root.text(format!("/sys/class/block/{name}/dev")).ok()?;
    Some(Node { name: name.to_owned(), dev })
}

fn descend(root: &Root, name: &str, into: &mut Vec<Node>) {
    for slave in root.names(format!("/sys/class/block/{name}/slaves")) {
        let is_new = into.iter().all(|n| n.name != slave);
        if let Some(found) = node(root, &slave).filter(|_| is_new) {
            into.push(found);
            descend(root, &slave, into);
        }
    }
}

/// Other block devices with the same WWID.
fn siblings(root: &Root, name: &str) -> Vec<Node> {
    let wwid = |name: &str| {
        ["device/wwid", "wwid"]
            .iter()
            .filter_map(|file| root.text(format!("/sys/class/block/{name}/{file}")).ok())
            .find(|text| !text.is_empty())
    };
    let Some(own) = wwid(name) else { return Vec::new() };
    root.names("/sys/class/block")
        .into_iter()
        .filter(|other| other != name && wwid(other).as_ref() == Some(&own))
        .filter_map(|other| node(root, &other))
        .collect()
}

impl Relatives {
    /// The device and all that share its blocks, each to be unused.
    pub fn all(&self) -> impl Iterator<Item = &Node> {
        std::iter::once(&self.target).chain(&self.parent).chain(&self.below).chain(&self.siblings)
    }
}
