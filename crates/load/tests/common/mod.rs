//! What the tests on real storage share.
#![allow(dead_code, reason = "each test file uses a part")]

use load::{EngineKind, Error, LoadSubject, Options, Overrides, Workload};
use record::{Arrival, Demand, Load, Phase, Step, Subject};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A folder on the filesystem of the build (the system's temporary folder may live in memory).
pub fn folder() -> tempfile::TempDir {
    tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap()
}

pub fn workload(name: &str) -> Workload {
    Workload::named(name).unwrap()
}

pub fn custom(name: &str, overrides: Overrides) -> Workload {
    workload(name).with(&overrides).unwrap()
}

/// A file of `bytes` bytes of data.
pub fn file(folder: &Path, bytes: u64) -> PathBuf {
    let path = folder.join("data");
    let mut content = vec![0u8; bytes as usize];
    load::rng::Rng::new(1).fill(&mut content);
    std::fs::write(&path, content).unwrap();
    std::fs::File::open(&path).unwrap().sync_all().unwrap();
    path
}

pub fn resolve(options: &Options) -> Result<load::Target, Error> {
    load::resolve(options, &host::Root::system(), &AtomicBool::new(false), &mut |_| {})
}

/// Opens a subject; `None`, with the reason printed, where the environment cannot do it (direct I/O, io_uring).
pub fn open(options: &Options) -> Option<LoadSubject> {
    open_with(options, Arc::new(AtomicBool::new(false)))
}

pub fn open_with(options: &Options, interrupt: Arc<AtomicBool>) -> Option<LoadSubject> {
    match resolve(options).and_then(|target| load::open(target, options, interrupt)) {
        Ok(subject) => Some(subject),
        Err(error @ (Error::NoDirect { .. } | Error::Engine { .. })) => {
            eprintln!("skipped: {error}");
            None
        }
        Err(error) => panic!("{error}"),
    }
}

pub fn engines() -> [EngineKind; 3] {
    [EngineKind::IoUring, EngineKind::Libaio, EngineKind::Sync]
}

pub fn closed(concurrency: u32, measure_s: f64) -> Load {
    Load { demand: Demand::Closed { concurrency }, measure_s, phase: Phase::Sweep }
}

pub fn at_rate(rate_iops: f64, arrival: Arrival, measure_s: f64) -> Load {
    let demand = Demand::Open { rate_iops, arrival, outstanding_cap: 256 };
    Load { demand, measure_s, phase: Phase::OpenLoop }
}

pub fn measure(subject: &mut LoadSubject, load: &Load) -> Step {
    subject.measure(load, &mut ()).unwrap()
}

/// |N - X R| / N from the numbers that the step reports.
pub fn little_error(step: &Step) -> f64 {
    let outstanding = step.outstanding_mean().unwrap();
    let response_s = step.response().mean_ns().unwrap() / 1e9;
    (outstanding - step.iops() * response_s).abs() / outstanding
}

/// Held by tests that measure, so that they do not take each other's core.
pub fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// N = X R within 2 %. A worker that loses its core for tens of milliseconds at an end of a short window shifts that
/// much response time into or out of it, so a noisy neighbour is given five chances.
pub fn check_little(subject: &mut LoadSubject, first: Step, load: &Load) {
    let mut errors = vec![little_error(&first)];
    while errors.len() < 5 && errors.iter().all(|&e| e > 0.02) {
        errors.push(little_error(&measure(subject, load)));
    }
    assert!(errors.iter().any(|&e| e <= 0.02), "{load:?}: {errors:?}");
}

pub fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// Runs a command; false when it is missing or fails.
pub fn run(command: &str, arguments: &[&str]) -> bool {
    Command::new(command).args(arguments).output().is_ok_and(|o| o.status.success())
}

/// A loop device over a file of zeros, detached when dropped.
pub struct LoopDevice {
    pub path: PathBuf,
    pub backing: PathBuf,
}

impl LoopDevice {
    /// `None`, with the reason printed, where loop devices cannot be made.
    pub fn new(folder: &Path, bytes: u64) -> Option<Self> {
        if !is_root() {
            eprintln!("skipped: loop devices need root");
            return None;
        }
        let backing = folder.join("disk");
        std::fs::File::create(&backing).unwrap().set_len(bytes).unwrap();
        let made = Command::new("losetup").args(["--find", "--show"]).arg(&backing).output();
        let Some(output) = made.ok().filter(|o| o.status.success()) else {
            eprintln!("skipped: losetup does not work here");
            return None;
        };
        let path = PathBuf::from(String::from_utf8(output.stdout).unwrap().trim());
        Some(Self { path, backing })
    }
}

impl Drop for LoopDevice {
    fn drop(&mut self) {
        let detached = Command::new("losetup").arg("--detach").arg(&self.path).status();
        if !detached.is_ok_and(|s| s.success()) {
            eprintln!("could not detach {}", self.path.display());
        }
    }
}

/// A mount, taken down when dropped.
pub struct Mounted(pub PathBuf);

impl Drop for Mounted {
    fn drop(&mut self) {
        if !Command::new("umount").arg(&self.0).status().is_ok_and(|s| s.success()) {
            eprintln!("could not unmount {}", self.0.display());
        }
    }
}
