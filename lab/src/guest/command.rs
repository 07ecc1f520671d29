//! Commands that end: by themselves, or at their limit.

use super::Trouble;
use crate::qemu::leash;
use rustix::process::{Pid, Signal, kill_process};
use std::fs::{self, File};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

/// What a command left.
#[derive(Clone, Debug, Default)]
pub struct Done {
    /// Exit code; absent when a signal ended it.
    pub exit: Option<i32>,
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
}

/// A command that is running.
#[derive(Debug)]
pub struct Running {
    child: Child,
    stdout: String,
    stderr: String,
}

/// Starts words, in a control group when one is given. The lab's own programs are found in `/bin`.
pub fn start(words: &[String], cgroup: Option<&str>) -> Trouble<Running> {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let (program, arguments) = words.split_first().ok_or("no command")?;
    let path = if program.contains('/') { program.clone() } else { format!("/bin/{program}") };
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let (stdout, stderr) = (format!("/tmp/out{number}"), format!("/tmp/err{number}"));
    let file = |path: &str| File::create(path).map_err(|e| format!("{path}: {e}"));
    let mut command = match cgroup {
        Some(cgroup) => leash::command(Path::new("/init"), Path::new(&path), Some(cgroup)),
        None => Command::new(&path),
    };
    command.args(arguments).stdin(Stdio::null()).stdout(file(&stdout)?).stderr(file(&stderr)?);
    command.env("PATH", "/bin").env("HOME", "/tmp").current_dir("/tmp");
    let child = command.spawn().map_err(|e| format!("{program}: {e}"))?;
    Ok(Running { child, stdout, stderr })
}

impl Running {
    /// Waits for the end, or ends it at the limit. Nothing is polled: a load is being measured.
    pub fn finish(mut self, limit: Duration) -> Trouble<Done> {
        let pid = self.child.id();
        let (ended, watch) = channel::<()>();
        let watchdog = std::thread::spawn(move || {
            let late = watch.recv_timeout(limit) == Err(RecvTimeoutError::Timeout);
            if late {
                kill(pid);
            }
            late
        });
        let status = self.child.wait().map_err(|e| format!("wait: {e}"));
        drop(ended);
        let late = watchdog.join().unwrap_or(false);
        let mut done = self.take(status?.code());
        if late {
            done.exit = None;
            done.stderr.push_str(&format!("\nlab: ended at its limit of {} s\n", limit.as_secs_f64()));
        }
        Ok(done)
    }

    /// How it ended, when it has.
    pub fn ended(&mut self) -> Option<String> {
        self.child.try_wait().ok().flatten().map(|status| status.to_string())
    }

    /// Ends it now.
    pub fn end(mut self) -> Done {
        kill(self.child.id());
        let _ = self.child.wait();
        self.take(None)
    }

    /// Its output, and the files removed.
    fn take(&self, exit: Option<i32>) -> Done {
        let text = |path: &str| {
            let bytes = fs::read(path).unwrap_or_default();
            let _ = fs::remove_file(path);
            String::from_utf8_lossy(&bytes).into_owned()
        };
        Done { exit, stdout: text(&self.stdout), stderr: text(&self.stderr) }
    }
}

fn kill(pid: u32) {
    if let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) {
        let _ = kill_process(pid, Signal::KILL);
    }
}

/// Starts words and waits, at most so long.
pub fn run(words: &[String], limit: Duration) -> Trouble<Done> {
    start(words, None)?.finish(limit)
}

/// Runs words that must succeed while the rig is built.
pub fn must(words: &[&str]) -> Trouble<()> {
    let owned: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
    let done = run(&owned, Duration::from_secs(60))?;
    if done.exit == Some(0) {
        return Ok(());
    }
    Err(format!("{}: exit {:?}: {} {}", words.join(" "), done.exit, done.stdout.trim(), done.stderr.trim()))
}
