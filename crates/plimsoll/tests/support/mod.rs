//! What the end-to-end tests share: the command run as its user runs it, places to run it in, and guards that undo.
//!
//! Tests that load the storage hold [`Turn`], so that two of them never spoil each other's numbers: `cargo test` runs
//! the tests of one file in parallel.
#![allow(dead_code, reason = "each test file uses its own part")]
#![allow(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

pub mod cgroup;
pub mod command;
pub mod document;
pub mod loopdev;
pub mod scrape;
pub mod tmpfs;

use rustix::fs::{FlockOperation, flock};
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::time::{Duration, Instant};

static SKIPPED: AtomicU32 = AtomicU32::new(0);

/// Says that something was not tested, and why; counted per test file. It goes around the capture of the test
/// harness: a reason that nobody sees is a silent pass.
pub fn skipped(test: &str, why: &str) {
    let count = SKIPPED.fetch_add(1, Relaxed) + 1;
    let _ = writeln!(std::io::stderr(), "skipped ({count} in this file): {test}: {why}");
}

/// Ends a test with a printed, counted reason.
#[macro_export]
macro_rules! skip {
    ($($why:tt)*) => {{
        $crate::support::skipped(std::thread::current().name().unwrap_or("a test"), &format!($($why)*));
        return;
    }};
}

/// The value of an `Ok`, or the end of the test with the reason in the `Err`.
#[macro_export]
macro_rules! or_skip {
    ($result:expr) => {
        match $result {
            Ok(value) => value,
            Err(why) => $crate::skip!("{why}"),
        }
    };
}

/// A folder on the real filesystem, where direct I/O goes to a disk.
pub fn target_dir() -> &'static Path {
    Path::new(env!("CARGO_TARGET_TMPDIR"))
}

/// A new folder there, removed when dropped. What a killed test left, or a static that is never dropped, goes with the
/// next one.
pub fn folder() -> tempfile::TempDir {
    for name in names(target_dir()) {
        let process = name.strip_prefix("e2e-").and_then(|rest| rest.split_once('-'));
        if process.is_some_and(|(id, _)| !Path::new("/proc").join(id).exists()) {
            // Two tests may remove it at once.
            let _ = std::fs::remove_dir_all(target_dir().join(name));
        }
    }
    let prefix = format!("e2e-{}-", std::process::id());
    tempfile::Builder::new().prefix(&prefix).tempdir_in(target_dir()).unwrap()
}

/// The right to load the storage: one test at a time, whatever process it is in.
pub struct Turn(File);

impl Turn {
    pub fn take() -> Self {
        let lock = File::create(target_dir().join("load.lock")).unwrap();
        flock(&lock, FlockOperation::LockExclusive).unwrap();
        Self(lock)
    }
}

pub fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// Whether a program is on the search path.
pub fn program(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|dir| dir.join(name)).find(|p| p.is_file())
}

/// Waits until `what` holds, at most `limit`; false when it never did.
pub fn wait_until(limit: Duration, mut what: impl FnMut() -> bool) -> bool {
    let end = Instant::now() + limit;
    while Instant::now() < end {
        if what() {
            return true;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    what()
}

/// Data that no layer below can make smaller.
pub fn incompressible(bytes: usize) -> Vec<u8> {
    let mut seed = 0x2545_F491_4F6C_DD1D_u64;
    let mut data = Vec::with_capacity(bytes + 8);
    while data.len() < bytes {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        data.extend_from_slice(&seed.to_le_bytes());
    }
    data.truncate(bytes);
    data
}

/// A file of incompressible data, on disk and not only in the page cache.
pub fn data_file(folder: &Path, bytes: usize) -> PathBuf {
    let path = folder.join("data");
    std::fs::write(&path, incompressible(bytes)).unwrap();
    File::open(&path).unwrap().sync_all().unwrap();
    path
}

/// Names in a folder, sorted, hidden ones included.
pub fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// Plimsoll's own files in a folder.
pub fn own_files(folder: &Path) -> Vec<String> {
    names(folder).into_iter().filter(|n| n.starts_with(".plimsoll-")).collect()
}
