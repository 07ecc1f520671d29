//! Starts a command that cannot outlive the lab, whatever ends the lab.
//!
//! A process can ask the kernel for a signal at its parent's death, but only for itself: so the lab starts itself once
//! more, asks there, and becomes the command. The same way a job inside the guest enters its control group.

use rustix::process::{Signal, getppid, set_parent_process_death_signal};
use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

/// The hidden first word of the command line.
pub const WORD: &str = "__become";

/// A command that becomes `program` after entering `cgroup`, and dies when the thread that starts it does.
pub fn command(own: &Path, program: &Path, cgroup: Option<&str>) -> Command {
    let mut command = Command::new(own);
    command.arg(WORD).arg(std::process::id().to_string()).arg(cgroup.unwrap_or("-")).arg(program);
    command
}

/// What the started process does; gives back only why it could not.
pub fn become_it(mut words: impl Iterator<Item = OsString>) -> String {
    let (Some(parent), Some(cgroup), Some(program)) = (words.next(), words.next(), words.next()) else {
        return format!("{WORD}: expected a process, a control group and a program");
    };
    if let Err(error) = set_parent_process_death_signal(Some(Signal::KILL)) {
        return format!("{WORD}: {error}");
    }
    // The parent may have died before the kernel was asked.
    let parent = parent.to_str().and_then(|text| text.parse().ok());
    if getppid().map(|pid| pid.as_raw_nonzero().get()) != parent {
        return format!("{WORD}: the lab has ended");
    }
    if cgroup != "-" {
        let file = Path::new(&cgroup).join("cgroup.procs");
        if let Err(error) = std::fs::write(&file, "0") {
            return format!("{}: {error}", file.display());
        }
    }
    let error = Command::new(&program).args(words).exec();
    format!("{}: {error}", program.to_string_lossy())
}
