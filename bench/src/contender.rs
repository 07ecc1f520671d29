//! What is compared, and one figure of it.

use crate::Outcome;
use std::path::{Path, PathBuf};

/// Where and how long.
pub struct Setup {
    /// Our binary.
    pub plimsoll: PathBuf,
    /// Folder for test files.
    pub folder: PathBuf,
    /// Interleaved rounds.
    pub rounds: usize,
    /// Seconds per run.
    pub seconds: u32,
    /// Smallest sizes.
    pub tiny: bool,
}

/// Processor time per I/O of one run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CpuPerIo {
    /// User time, us.
    pub user_us: f64,
    /// System time, us.
    pub sys_us: f64,
    /// I/Os per second on the wall.
    pub iops: f64,
}

impl CpuPerIo {
    /// User and system.
    pub fn total_us(&self) -> f64 {
        self.user_us + self.sys_us
    }
}

/// Loads a file for some seconds.
pub type Run = Box<dyn Fn(&Path, u32) -> Outcome<CpuPerIo>>;

/// Someone who can run the load once.
pub struct Contender {
    /// Name in the table.
    pub name: String,
    /// Runs it on a file.
    pub run: Run,
}
