//! Where the lab finds its rigs and keeps its files: all below `target/lab` of the workspace.

use crate::error::{Error, Result};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// The folders of one call.
#[derive(Clone, Debug)]
pub struct Place {
    /// `rigs.toml`.
    pub rigs: PathBuf,
    /// `target/lab`.
    pub work: PathBuf,
    /// The static `plimsoll`.
    pub plimsoll: PathBuf,
}

impl Place {
    /// Looks upwards from the current folder for the workspace; each part can be given instead.
    pub fn find(rigs: Option<PathBuf>, work: Option<PathBuf>, plimsoll: Option<PathBuf>) -> Result<Self> {
        let here =
            std::env::current_dir().map_err(|e| Error::Environment(format!("no current folder: {e}")))?;
        let root = here.ancestors().find(|folder| folder.join("lab/rigs.toml").is_file());
        let rigs = match (rigs, root) {
            (Some(rigs), _) => rigs,
            (None, Some(root)) => root.join("lab/rigs.toml"),
            (None, None) => {
                return Err(Error::Usage(
                    "no lab/rigs.toml here or above: run in the workspace or give --rigs".into(),
                ));
            }
        };
        let work = match (work, root) {
            (Some(work), _) => work,
            (None, Some(root)) => root.join("target/lab"),
            (None, None) => here.join("target/lab"),
        };
        fs::create_dir_all(&work).map_err(|e| Error::file("make", &work, e))?;
        let work = work.canonicalize().map_err(|e| Error::file("find", &work, e))?;
        let beside = std::env::current_exe().ok().and_then(|exe| Some(exe.parent()?.join("plimsoll")));
        let plimsoll =
            plimsoll.or(beside.filter(|file| file.is_file())).unwrap_or_else(|| work.join("bin/plimsoll"));
        Ok(Self { rigs, work, plimsoll })
    }

    /// Where extracted kernels are kept.
    pub fn kernels(&self) -> PathBuf {
        self.work.join("kernel")
    }

    /// Where a rig's results are kept.
    pub fn results(&self, rig: &str, kernel: &str) -> PathBuf {
        self.work.join(format!("{rig}-{kernel}"))
    }

    /// A folder for one boot, removed when dropped.
    pub fn scratch(&self) -> Result<Scratch> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = self.work.join(format!("tmp-{}-{number}", std::process::id()));
        fs::create_dir_all(&path).map_err(|e| Error::file("make", &path, e))?;
        Ok(Scratch { path })
    }

    /// Removes folders of earlier calls that were killed before they could.
    pub fn sweep(&self) {
        let Ok(entries) = fs::read_dir(&self.work) else { return };
        for entry in entries.flatten() {
            let name = entry.file_name();
            let owner =
                name.to_str().and_then(|n| n.strip_prefix("tmp-")?.split('-').next()?.parse::<u32>().ok());
            if owner.is_some_and(|pid| !Path::new(&format!("/proc/{pid}")).exists()) {
                let _ = fs::remove_dir_all(entry.path());
            }
        }
    }
}

/// A folder that is removed when dropped.
#[derive(Debug)]
pub struct Scratch {
    /// The folder.
    pub path: PathBuf,
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.path);
    }
}
