//! Control groups that cap this process's I/O on a device of the path.
//!
//! v1 (`blkio.throttle.*_device`) and v2 (`io.max`) name whole devices by number. A cap of any ancestor holds, too;
//! the ancestors up to the mount of the hierarchy are looked at, which in a container may not be all there are.

use super::block::{Describe, Live, empty_layer};
use super::mounts::Mount;
use crate::notes::Notes;
use record::{Layer, LayerKind, LimitKind};

/// Levels of the hierarchy at most.
const LEVELS_MAX: usize = 64;

/// Puts a layer above each device that a control group of this process caps.
pub(crate) fn insert(notes: &mut Notes<'_>, mounts: &[Mount], layers: Vec<Layer>) -> Vec<Layer> {
    let groups = groups(notes, mounts);
    if groups.is_empty() {
        return layers;
    }
    let mut all: Vec<Layer> = Vec::with_capacity(layers.len());
    let mut names: Vec<String> = layers.iter().map(|l| l.name.clone()).collect();
    for layer in layers {
        let device = layer.dev.clone().filter(|_| layer.kind != LayerKind::Partition);
        for group in device.iter().flat_map(|_| &groups) {
            let Some(mut cap) = cap(notes, group, device.as_deref().unwrap_or_default()) else { continue };
            if names.contains(&cap.name) {
                cap.name = format!("{}@{}", cap.name, layer.name);
            }
            cap.below = vec![layer.name.clone()];
            names.push(cap.name.clone());
            all.push(cap);
        }
        all.push(layer);
    }
    all
}

/// A control group of this process, own or ancestor, outermost last.
struct Group {
    version: Version,
    /// Path in the hierarchy as the process sees it.
    path: String,
    /// Its folder.
    folder: String,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Version {
    V1,
    V2,
}

fn groups(notes: &mut Notes<'_>, mounts: &[Mount]) -> Vec<Group> {
    let Some(text) = notes.text("/proc/self/cgroup") else { return Vec::new() };
    let mut groups = Vec::new();
    for line in text.lines() {
        let mut parts = line.splitn(3, ':');
        let (Some(id), Some(controllers), Some(path)) = (parts.next(), parts.next(), parts.next()) else {
            notes.complain(format_args!(
                "/proc/self/cgroup: expected id:controllers:path, found '{}'",
                crate::notes::shortened(line)
            ));
            continue;
        };
        let has = |text: &str, word: &str| text.split(',').any(|w| w == word);
        let (version, mount) = if id == "0" && controllers.is_empty() {
            (Version::V2, mounts.iter().find(|m| m.kind == "cgroup2"))
        } else if has(controllers, "blkio") {
            let blkio = |m: &&Mount| m.kind == "cgroup" && has(&m.super_options, "blkio");
            (Version::V1, mounts.iter().find(blkio))
        } else {
            continue;
        };
        if let Some(mount) = mount {
            groups.extend(lineage(version, mount, path));
        }
    }
    groups
}

/// The group and its ancestors. In a container the hierarchy is mounted from the middle: the root of the mount is
/// cut off the path.
fn lineage(version: Version, mount: &Mount, path: &str) -> Vec<Group> {
    let inner = path.strip_prefix(mount.root.trim_end_matches('/')).unwrap_or(path);
    let mut parts: Vec<&str> =
        inner.split('/').filter(|p| !p.is_empty() && *p != "." && *p != "..").take(LEVELS_MAX).collect();
    let mut groups = Vec::new();
    loop {
        let path = format!("/{}", parts.join("/"));
        let folder = format!("{}{}", mount.point.trim_end_matches('/'), path.trim_end_matches('/'));
        groups.push(Group { version, path, folder });
        if parts.pop().is_none() {
            return groups;
        }
    }
}

/// The layer for one group and one device; nothing when the group does not touch the device.
fn cap(notes: &mut Notes<'_>, group: &Group, device: &str) -> Option<Layer> {
    let mut layer = empty_layer(LayerKind::Cgroup, &group.path);
    layer.dev = Some(device.to_owned());
    match group.version {
        Version::V1 => v1(notes, group, device, &mut layer),
        Version::V2 => v2(notes, group, device, &mut layer),
    }
    (!layer.limits.is_empty() || !layer.facts.is_empty()).then_some(layer)
}

fn v1(notes: &mut Notes<'_>, group: &Group, device: &str, layer: &mut Layer) {
    let files = [
        ("read_iops_device", LimitKind::ReadIops),
        ("write_iops_device", LimitKind::WriteIops),
        ("read_bps_device", LimitKind::ReadBytesPerS),
        ("write_bps_device", LimitKind::WriteBytesPerS),
    ];
    layer.label = Some("cgroup v1 blkio".to_owned());
    for (name, kind) in files {
        let file = format!("{}/blkio.throttle.{name}", group.folder);
        let Some(value) = device_line(notes, &file, device) else { continue };
        match value.trim().parse::<u64>() {
            Ok(value) => layer.bound(kind, Some(value as f64), &file, Live::Yes),
            Err(_) => notes.complain(format_args!(
                "{file}: expected a number for {device}, found '{}'",
                crate::notes::shortened(&value)
            )),
        }
    }
}

fn v2(notes: &mut Notes<'_>, group: &Group, device: &str, layer: &mut Layer) {
    layer.label = Some("cgroup v2 io".to_owned());
    let file = format!("{}/io.max", group.folder);
    if let Some(line) = device_line(notes, &file, device) {
        for (key, kind) in [
            ("riops", LimitKind::ReadIops),
            ("wiops", LimitKind::WriteIops),
            ("rbps", LimitKind::ReadBytesPerS),
            ("wbps", LimitKind::WriteBytesPerS),
        ] {
            match value_of(&line, key) {
                None | Some("max") => {}
                Some(text) => match text.parse::<u64>() {
                    Ok(value) => layer.bound(kind, Some(value as f64), &file, Live::Yes),
                    Err(_) => notes.complain(format_args!(
                        "{file}: expected a number or max in {key} for {device}, found '{}'",
                        crate::notes::shortened(text)
                    )),
                },
            }
        }
    }
    let latency = device_line(notes, &format!("{}/io.latency", group.folder), device);
    layer.fact("io.latency", latency);
    // Both stand in the root of the hierarchy only.
    let qos = format!("{}/io.cost.qos", group.folder);
    let cost = device_line(notes, &qos, device).filter(|line| value_of(line, "enable") == Some("1"));
    if cost.is_some() {
        let model = device_line(notes, &format!("{}/io.cost.model", group.folder), device);
        layer.fact("io.cost.model", model);
        layer.fact("io.cost.qos_file", Some(qos));
    }
    layer.fact("io.cost.qos", cost);
}

fn value_of<'t>(line: &'t str, key: &str) -> Option<&'t str> {
    line.split_whitespace().find_map(|pair| pair.strip_prefix(key)?.strip_prefix('='))
}

/// What follows the device number on its line.
fn device_line(notes: &mut Notes<'_>, file: &str, device: &str) -> Option<String> {
    let text = notes.text(file)?;
    text.lines().find_map(|line| {
        let (number, rest) = line.trim().split_once(char::is_whitespace)?;
        (number == device).then(|| rest.trim().to_owned())
    })
}
