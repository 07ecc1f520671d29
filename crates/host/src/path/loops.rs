//! A loop device: a file that plays a disk. The path goes on through the filesystem that holds the file.

use super::block::Describe;
use super::name::BlockName;
use super::walk::Walk;
use super::{Target, filesystem};
use record::Layer;

pub(crate) fn describe(walk: &mut Walk<'_>, layer: &mut Layer) {
    let folder = format!("/sys/block/{}/loop", layer.name);
    let file = format!("{folder}/backing_file");
    let Some(backing) = walk.notes.text(&file) else {
        walk.notes.complain(format_args!(
            "{file}: absent: {} is not set up, or set up by nobody we see",
            layer.name
        ));
        return;
    };
    let dio = walk.notes.text(&format!("{folder}/dio"));
    layer.label = Some(backing.clone());
    layer.fact("backing_file", Some(backing.clone()));
    layer.fact("direct_io", dio);
    let offset = walk.notes.text(&format!("{folder}/offset")).filter(|o| o != "0");
    layer.fact("offset_bytes", offset);
    layer.below = below(walk, &backing).into_iter().collect();
}

/// What is under the backing file. The kernel tells its name as seen by whoever set the loop device up: a name
/// that means nothing here ends the path with a complaint.
fn below(walk: &mut Walk<'_>, backing: &str) -> Option<String> {
    if let Some(gone) = backing.strip_suffix(" (deleted)") {
        // The file lives on while the loop device holds it; its folder still tells the filesystem.
        let folder = std::path::Path::new(gone).parent()?.to_string_lossy().into_owned();
        return filesystem::step(walk, &folder, None);
    }
    if walk.notes.root.is_system() {
        return match Target::at(backing) {
            Ok(target) if target.on_filesystem => filesystem::step(walk, &target.text, Some(target.device)),
            Ok(target) => {
                let name = BlockName::by_number(walk.notes.root, target.device)?;
                walk.device(&name)
            }
            Err(e) => {
                walk.notes.complain(format_args!("{backing}: backing file of a loop device: {e}"));
                None
            }
        };
    }
    // A captured tree holds no file to ask: the mount table answers.
    match BlockName::by_dev_path(walk.notes.root, backing) {
        Some(name) => walk.device(&name),
        None => filesystem::step(walk, backing, None),
    }
}
