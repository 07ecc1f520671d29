//! The life of one virtual machine: it ends by itself, at its limit, at Ctrl-C, or with the lab.

use super::leash;
use crate::error::{Error, Result};
use crate::tool;
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How it ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The guest powered off, or QEMU refused: the exit code tells.
    Itself {
        /// QEMU's exit code.
        code: Option<i32>,
    },
    /// At its limit of wall-clock time.
    Limit,
}

struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Runs QEMU to its end. `said` is where its own messages go; a terminal is given through when `interactive`.
pub fn run(
    arguments: &[String],
    limit: Duration,
    said: &Path,
    interactive: bool,
    interrupted: &AtomicBool,
) -> Result<End> {
    let qemu = tool::need("qemu-system-x86_64")?;
    let own = std::env::current_exe().map_err(|e| Error::Environment(format!("cannot find myself: {e}")))?;
    let mut command = leash::command(&own, &qemu, None);
    command.args(arguments);
    if interactive {
        command.stdin(Stdio::inherit()).stdout(Stdio::inherit()).stderr(Stdio::inherit());
    } else {
        let said = std::fs::File::create(said).map_err(|e| Error::file("write", said, e))?;
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(said);
    }
    let child = command.spawn().map_err(|e| Error::Environment(format!("cannot start QEMU: {e}")))?;
    let mut running = Running(child);
    let begun = Instant::now();
    loop {
        match running.0.try_wait() {
            Ok(Some(status)) => return Ok(End::Itself { code: status.code() }),
            Ok(None) => {}
            Err(e) => return Err(Error::Environment(format!("cannot wait for QEMU: {e}"))),
        }
        if interrupted.load(Ordering::Relaxed) {
            return Err(Error::Interrupted);
        }
        if begun.elapsed() > limit {
            return Ok(End::Limit);
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}
