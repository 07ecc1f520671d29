//! The command, started and ended like its user does.

use super::wait_until;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::ffi::OsStr;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// No run of these tests takes longer; one that does hangs.
const PATIENCE: Duration = Duration::from_secs(90);

/// The binary under test.
pub const BINARY: &str = env!("CARGO_BIN_EXE_plimsoll");

/// How a run ended.
#[derive(Debug)]
pub struct Ended {
    /// Exit code; absent when a signal ended it.
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Ended {
    /// Fails unless the exit code is this one.
    pub fn expect(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "stdout:\n{}\nstderr:\n{}", self.stdout, self.stderr);
        self
    }

    /// Whether the answer was refused for a doubt that spoils it: neighbours took the processors or the disk.
    pub fn spoilt(&self) -> bool {
        let said = ["\"weight\": \"spoils\"", "(spoils the answer)"];
        self.code == Some(4) && said.iter().any(|words| self.stdout.contains(words))
    }

    /// Fails unless it measured, spoilt or not: what was measured stands in the document either way.
    pub fn measured(self) -> Self {
        if self.spoilt() { self } else { self.expect(0) }
    }

    /// The document on standard output, which is nothing but this document.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|e| {
            panic!("no single document on stdout: {e}\nstdout:\n{}\nstderr:\n{}", self.stdout, self.stderr)
        })
    }
}

/// Runs `plimsoll` to its end.
pub fn plimsoll<S: AsRef<OsStr>>(args: impl IntoIterator<Item = S>) -> Ended {
    Running::start(args).end()
}

/// Runs `plimsoll probe TARGET` with the words of `flags`.
pub fn probe(target: &Path, flags: &str) -> Ended {
    Running::probe(target, flags).end()
}

/// Runs `plimsoll probe TARGET` with `--json` until it has measured, and answers the document.
///
/// Where neighbours take the processors, the probe refuses a verdict and exits 4, as it should; the second run is
/// then taken as it comes, with whatever it measured.
pub fn measured(target: &Path, flags: &str) -> Value {
    let run = || probe(target, &format!("{flags} --json")).measured();
    let first = run();
    if first.code == Some(0) { first.json() } else { run().json() }
}

/// A command without what the developer's own terminal would change.
pub fn plain(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    command.env_remove("NO_COLOR").env("TERM", "xterm-256color").env("LC_ALL", "C.UTF-8");
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// A run that lasts. Killed when dropped.
pub struct Running {
    child: Option<Child>,
}

impl Running {
    pub fn start<S: AsRef<OsStr>>(args: impl IntoIterator<Item = S>) -> Self {
        let mut command = plain(BINARY);
        command.args(args);
        Self::spawn(command)
    }

    pub fn probe(target: &Path, flags: &str) -> Self {
        let mut command = plain(BINARY);
        command.arg("probe").arg(target).args(flags.split_whitespace());
        Self::spawn(command)
    }

    pub fn spawn(mut command: Command) -> Self {
        Self { child: Some(command.spawn().unwrap()) }
    }

    pub fn pid(&self) -> u32 {
        self.child.as_ref().unwrap().id()
    }

    pub fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(self.child.as_ref().unwrap()), signal).unwrap();
    }

    pub fn is_running(&mut self) -> bool {
        self.child.as_mut().unwrap().try_wait().unwrap().is_none()
    }

    /// Waits for the end, and fails when it does not come.
    pub fn end(mut self) -> Ended {
        let mut child = self.child.take().unwrap();
        // The pipes are read while it runs: a document is larger than a pipe.
        let stdout = reader(child.stdout.take());
        let stderr = reader(child.stderr.take());
        let mut status = None;
        wait_until(PATIENCE, || {
            status = child.try_wait().unwrap();
            status.is_some()
        });
        let Some(status) = status else {
            let _ = child.kill();
            let _ = child.wait();
            panic!("the command did not end within {PATIENCE:?}; stderr:\n{}", stderr.join().unwrap());
        };
        Ended { code: status.code(), stdout: stdout.join().unwrap(), stderr: stderr.join().unwrap() }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(child) = &mut self.child {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

fn reader(pipe: Option<impl std::io::Read + Send + 'static>) -> std::thread::JoinHandle<String> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut pipe) = pipe {
            pipe.read_to_end(&mut bytes).unwrap();
        }
        String::from_utf8(bytes).unwrap()
    })
}

/// Waits until the run kept in `out` has measured a step, so that a test can act in mid-run.
pub fn wait_for_steps(running: &mut Running, out: &Path, steps: usize) {
    let journal = out.join(record::run::JOURNAL_FILE);
    let measured = || {
        std::fs::read_to_string(&journal)
            .map_or(0, |text| text.lines().filter(|l| l.starts_with("{\"step\"")).count())
    };
    let met = wait_until(PATIENCE, || measured() >= steps || !running.is_running());
    assert!(met && running.is_running(), "the run ended before it measured {steps} steps");
}
