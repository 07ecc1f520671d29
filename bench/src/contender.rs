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
    /// Seconds of load, ramp and settling included.
    pub load_s: f64,
}

impl CpuPerIo {
    /// User and system.
    pub fn total_us(&self) -> f64 {
        self.user_us + self.sys_us
    }
}

/// Loads a file for some seconds.
pub type Run = Box<dyn Fn(&Path, u32) -> Outcome<CpuPerIo>>;

impl Contender {
    /// The same, judged by all processor time of its process: start and end, and kernel threads that work for it, which
    /// its own accounting may leave out.
    pub fn whole_process(self) -> Self {
        let run = move |file: &Path, seconds| {
            let before = children_cpu_us()?;
            let seen = (self.run)(file, seconds)?;
            let after = children_cpu_us()?;
            let ios = seen.iops * seen.load_s;
            Ok(CpuPerIo { user_us: (after.0 - before.0) / ios, sys_us: (after.1 - before.1) / ios, ..seen })
        };
        Self { name: self.name, run: Box::new(run) }
    }
}

/// User and system time of finished children, us, from /proc/self/stat (fields 16 and 17, in ticks of 10 ms).
pub fn children_cpu_us() -> Outcome<(f64, f64)> {
    let text = std::fs::read_to_string("/proc/self/stat")?;
    let fields: Vec<&str> = text.rsplit(')').next().unwrap_or("").split_whitespace().collect();
    let ticks = |n: usize| -> Outcome<f64> {
        Ok(fields.get(n).ok_or("short /proc/self/stat")?.parse::<f64>()? * 1e4)
    };
    Ok((ticks(13)?, ticks(14)?))
}

/// Someone who can run the load once.
pub struct Contender {
    /// Name in the table.
    pub name: String,
    /// Runs it on a file.
    pub run: Run,
}
