//! The folder shared with the host. It is touched between jobs only: while the guest waits for the host on the virtual
//! clock, guest time leaps.

use super::Trouble;
use crate::outcome::Outcome;
use crate::plan::{OUTCOME, SHARE_TAG};
use rustix::mount::{MountFlags, mount};
use std::ffi::CStr;
use std::fs;

const AT: &str = "/mnt";
const OPTIONS: &CStr = c"trans=virtio,version=9p2000.L,msize=512000";

/// The mounted folder.
#[derive(Debug)]
pub struct Share;

impl Share {
    /// Mounts it.
    pub fn mount() -> Trouble<Self> {
        mount(SHARE_TAG, AT, "9p", MountFlags::empty(), OPTIONS)
            .map_err(|e| format!("mount the shared folder: {e}"))?;
        Ok(Self)
    }

    /// Writes the outcome so far; a reader never sees half of it.
    pub fn write(&self, outcome: &Outcome) -> Trouble<()> {
        let text = serde_json::to_vec(outcome).map_err(|e| format!("outcome: {e}"))?;
        let (new, file) = (format!("{AT}/.{OUTCOME}"), format!("{AT}/{OUTCOME}"));
        fs::write(&new, text).and_then(|()| fs::rename(&new, &file)).map_err(|e| format!("{file}: {e}"))
    }
}
