//! One boot of one rig, from the plan to the outcome.

use crate::error::{Error, Result};
use crate::initramfs::{self, Program};
use crate::kernel::{self, Modules};
use crate::needs;
use crate::outcome::Outcome;
use crate::place::Place;
use crate::plan::{self, Plan, Then};
use crate::qemu::arguments::{Console, Files, arguments};
use crate::qemu::machine::{self, End};
use crate::rig::{Clock, Kernel, Rig};
use crate::tool;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

/// What is booted.
#[derive(Clone, Copy, Debug)]
pub struct Boot<'a> {
    /// Folders.
    pub place: &'a Place,
    /// The rig's name.
    pub name: &'a str,
    /// The rig.
    pub rig: &'a Rig,
    /// The kernel series.
    pub kernel: Kernel,
    /// What is done inside.
    pub then: &'a Then,
    /// The payload's file, with [`Then::Payload`].
    pub payload: Option<&'a Path>,
    /// Set by a signal.
    pub interrupted: &'a AtomicBool,
}

/// What came of it.
#[derive(Debug)]
pub struct Booted {
    /// What the guest wrote, with what the host has to add to it.
    pub outcome: Outcome,
    /// The folder with `outcome.json` and `console.log`.
    pub folder: PathBuf,
    /// How long it took.
    pub wall: Duration,
}

/// Boots and waits for the end. A guest that fails is an outcome with complaints; an error is the host's.
pub fn boot(boot: Boot<'_>) -> Result<Booted> {
    let Boot { place, name, rig, then, .. } = boot;
    let begun = Instant::now();
    let unpacked = kernel::get(&place.kernels(), boot.kernel, false, &|_| ())?;
    let scratch = place.scratch()?;
    let share = scratch.path.join("share");
    fs::create_dir_all(&share).map_err(|e| Error::file("make", &share, e))?;
    let initramfs = scratch.path.join("initramfs");
    let folder = place.results(name, boot.kernel.name());
    fs::create_dir_all(&folder).map_err(|e| Error::file("make", &folder, e))?;
    let (console, said) = (folder.join("console.log"), scratch.path.join("qemu.log"));
    let kept = folder.join(plan::OUTCOME);
    let _ = fs::remove_file(&kept);
    let _ = fs::remove_file(&console);

    let modules = Modules::read(&unpacked.root.join("lib/modules").join(&unpacked.release))?;
    let wanted = modules.order(&needs::modules(rig))?;
    let loads = initramfs::module_loads(&wanted, |module| needs::parameters(rig, module));
    let plan = Plan { name: name.to_owned(), rig: rig.clone(), modules: loads, then: then.clone() };
    let mut programs = vec![Program::new("bin/busybox", tool::need("busybox")?)];
    if !place.plimsoll.is_file() {
        return Err(Error::Environment(format!(
            "no plimsoll at {}: scripts/lab builds it, or give --plimsoll",
            place.plimsoll.display()
        )));
    }
    programs.push(Program::new("bin/plimsoll", place.plimsoll.clone()));
    programs.extend(needs::programs(rig, place)?);
    if let Some(payload) = boot.payload {
        programs.push(Program::new(plan::PAYLOAD.trim_start_matches('/'), payload.to_owned()));
    }
    initramfs::write(&initramfs, &unpacked, &wanted, &plan, &programs)?;

    let files = Files { vmlinux: &unpacked.vmlinux, initramfs: &initramfs, share: &share };
    let interactive = *then == Then::Shell;
    let shown = if interactive { Console::Terminal } else { Console::Log(&console) };
    let words = arguments(rig, files, shown);
    let end = machine::run(&words, limit(rig, then), &said, interactive, boot.interrupted)?;

    let mut outcome = read(&share.join(plan::OUTCOME));
    if outcome.rig.is_empty() {
        outcome.rig = name.to_owned();
    }
    match end {
        End::Itself { code: Some(0) } => {}
        End::Itself { code } => {
            let text = fs::read_to_string(&said).unwrap_or_default();
            outcome.complaints.push(format!("QEMU ended with {code:?}: {}", text.trim()));
        }
        End::Limit => outcome
            .complaints
            .push(format!("the machine was ended at its limit of {} s", limit(rig, then).as_secs())),
    }
    if !outcome.finished && !interactive {
        let last = last_lines(&console, 5);
        outcome.complaints.push(format!("the guest did not come to its end; its console ends with:\n{last}"));
    }
    if !interactive {
        let text = serde_json::to_vec_pretty(&outcome).map_err(|e| Error::Environment(e.to_string()))?;
        fs::write(&kept, text).map_err(|e| Error::file("write", &kept, e))?;
    }
    Ok(Booted { outcome, folder, wall: begun.elapsed() })
}

fn read(file: &Path) -> Outcome {
    let Ok(bytes) = fs::read(file) else { return Outcome::default() };
    serde_json::from_slice(&bytes).unwrap_or_else(|error| Outcome {
        complaints: vec![format!("the guest's outcome cannot be read: {error}")],
        ..Outcome::default()
    })
}

fn last_lines(file: &Path, count: usize) -> String {
    let text = fs::read(file).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    lines[lines.len().saturating_sub(count)..].join("\n")
}

/// Wall-clock time after which a machine is ended. Under emulation a loaded guest second takes a few of the host's, and
/// idle guest time is free on the virtual clock only.
fn limit(rig: &Rig, then: &Then) -> Duration {
    let seconds = match then {
        Then::Shell => return Duration::from_secs(24 * 3600),
        Then::Payload { limit_s, .. } => 120.0 + 6.0 * limit_s,
        Then::Jobs => {
            let job = |job: &crate::rig::Job| {
                let settle = if rig.clock == Clock::Real { job.settle_s } else { 0.0 };
                settle + 20.0 + 10.0 * job.budget_s * (1.0 + job.beside.len() as f64)
            };
            120.0 + rig.job.iter().map(job).sum::<f64>()
        }
    };
    Duration::from_secs_f64(seconds)
}
