//! What a place for the load allows.

use super::{Check, State};
use crate::path::{Target, hidden, trace};
use crate::root::Root;
use std::fs::OpenOptions;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// Whether files there can be read and written past the page cache. In a directory a file without a name is opened
/// (O_TMPFILE): it is gone when it is closed.
pub(super) fn direct(place: &Path) -> Check {
    let gives = "I/O past the page cache (O_DIRECT), as databases do it";
    let check = |state, why: String| Check::new("direct-io", gives, state, why);
    let opened = if place.is_dir() {
        OpenOptions::new().read(true).write(true).custom_flags(libc::O_TMPFILE | libc::O_DIRECT).open(place)
    } else {
        OpenOptions::new().read(true).custom_flags(libc::O_DIRECT).open(place)
    };
    match opened {
        Ok(_) => check(State::Yes, format!("{} was opened with it", place.display())),
        Err(e) if e.raw_os_error() == Some(libc::EINVAL) => {
            check(State::No, format!("the filesystem of {} refuses it", place.display()))
                .remedy("choose another filesystem, or measure the page cache with --buffered")
        }
        Err(e) if e.raw_os_error() == Some(libc::EOPNOTSUPP) => check(
            State::Partly,
            "this filesystem makes no file without a name, so it was not tried".to_owned(),
        ),
        Err(e) => check(State::No, format!("{} cannot be opened: {e}", place.display()))
            .remedy("run as its owner or as root"),
    }
}

pub(super) fn space(place: &Path) -> Check {
    let gives = "room for a measuring file beyond caches";
    let check = |state, why: String| Check::new("space", gives, state, why);
    if !place.is_dir() {
        return check(State::Yes, "a file or device is measured as it is".to_owned());
    }
    match rustix::fs::statvfs(place) {
        Ok(fs) => {
            let free = fs.f_bavail.saturating_mul(fs.f_frsize);
            let why = format!("{:.1} GiB are free", free as f64 / f64::from(1 << 30));
            match free {
                free if free < 256 << 20 => {
                    check(State::No, why).remedy("free at least 1 GiB, or choose another place")
                }
                free if free < 4 << 30 => {
                    check(State::Partly, why).remedy("a small file may fit into caches: see --size")
                }
                _ => check(State::Yes, why),
            }
        }
        Err(e) => check(State::No, format!("{}: {e}", place.display())),
    }
}

/// The path below, as far as it can be followed.
pub(super) fn path(root: &Root, place: &Path) -> Vec<Check> {
    let gives = "the layers below the target, their limits and tunables";
    let target = match Target::at(place) {
        Ok(target) => target,
        Err(e) => {
            let why = format!("{}: {e}", place.display());
            return vec![
                Check::new("path", gives, State::No, why).remedy("name a file, directory or block device"),
            ];
        }
    };
    let path = trace(root, &target);
    let names: Vec<&str> = path.layers.iter().map(|l| l.name.as_str()).collect();
    let (state, why) = match (path.leaves().count(), path.complaints.as_slice()) {
        (0, complaints) => (State::No, complaints.join("; ")),
        (_, []) => (State::Yes, names.join(" > ")),
        (_, complaints) => (State::Partly, format!("{}; {}", names.join(" > "), complaints.join("; "))),
    };
    let mut checks = vec![Check::new("path", gives, state, why)];
    for doubt in hidden(&path) {
        checks.push(Check::new("path-below", "queues below this host", State::Partly, doubt.text));
    }
    checks
}
