//! An NVMe namespace: one controller, or native multipath with a head over hidden path devices.

use super::block::Describe;
use super::name::{BlockName, valid};
use super::walk::Walk;
use record::Layer;

pub(crate) fn describe(walk: &mut Walk<'_>, layer: &mut Layer) {
    let folder = format!("/sys/block/{}", layer.name);
    layer.stable_id = walk.notes.text(&format!("{folder}/wwid"));
    let above = walk.notes.link_name(&format!("{folder}/device")).unwrap_or_default();
    if above.starts_with("nvme-subsys") {
        head(walk, layer, &folder);
    } else {
        controller(walk, layer, &folder);
    }
}

fn controller(walk: &mut Walk<'_>, layer: &mut Layer, folder: &str) {
    let notes = &mut walk.notes;
    let device = format!("{folder}/device");
    let model = notes.text(&format!("{device}/model"));
    layer.label = model.clone();
    layer.fact("model", model);
    for name in ["serial", "firmware_rev", "transport", "address", "queue_count", "sqsize", "state", "cntlid"]
    {
        let value = notes.text(&format!("{device}/{name}"));
        layer.fact(name, value);
    }
    let ana = notes.text(&format!("{folder}/ana_state"));
    layer.fact("ana_state", ana);
}

/// The head of native multipath: a bio-based device; its paths are hidden devices named after their controllers.
fn head(walk: &mut Walk<'_>, layer: &mut Layer, folder: &str) {
    let device = format!("{folder}/device");
    let model = walk.notes.text(&format!("{device}/model"));
    layer.label = model.clone();
    layer.fact("model", model);
    layer.fact("role", Some("multipath head".to_owned()));
    let serial = walk.notes.text(&format!("{device}/serial"));
    layer.fact("serial", serial);
    let file = format!("{device}/iopolicy");
    let policy = walk.notes.text(&file);
    layer.set("iopolicy", policy, &file);
    for path in paths(walk, &layer.name, folder) {
        layer.below.extend(walk.device(&BlockName::Disk(path)));
    }
    if layer.below.is_empty() {
        walk.notes.complain(format_args!("{folder}/multipath: no paths found below {}", layer.name));
    }
}

/// Names of the paths: listed in `multipath/` since 6.15; before that they are built from the controllers of the
/// subsystem, `nvme0n1` over controller `nvme3` being `nvme0c3n1`.
fn paths(walk: &Walk<'_>, head: &str, folder: &str) -> Vec<String> {
    let root = walk.notes.root;
    let listed = root.names(format!("{folder}/multipath"));
    if !listed.is_empty() {
        return listed.into_iter().filter(|n| valid(n)).collect();
    }
    let Some((subsystem, namespace)) = head.strip_prefix("nvme").and_then(|n| n.split_once('n')) else {
        return Vec::new();
    };
    root.names(format!("{folder}/device"))
        .iter()
        .filter_map(|n| n.strip_prefix("nvme"))
        .filter(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()))
        .map(|controller| format!("nvme{subsystem}c{controller}n{namespace}"))
        .filter(|path| root.exists(format!("/sys/block/{path}")))
        .collect()
}
