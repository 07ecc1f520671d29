//! `lab run RIG...`.

use super::many::{self, Task};
use super::{DEPARTS, WELL, named};
use crate::boot::Booted;
use crate::error::{Error, Result};
use crate::place::Place;
use crate::plan::Then;
use crate::rig::{Kernel, Rigs};
use crate::signal;
use std::path::PathBuf;
use std::sync::Mutex;

/// A program to run instead of the rig's jobs.
#[derive(Clone, Debug)]
pub struct Payload {
    /// The host's file.
    pub file: PathBuf,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// Guest seconds.
    pub limit_s: f64,
}

/// Boots the rigs; says what came of each. The exit code is that of the payload, when there is one.
pub fn run(
    place: &Place,
    rigs: &Rigs,
    names: &[String],
    only: Option<Kernel>,
    jobs: u32,
    payload: Option<Payload>,
) -> Result<u8> {
    let mut chosen = Vec::new();
    for name in names {
        chosen.push((name.as_str(), named(rigs, name)?));
    }
    let mut tasks = many::tasks(chosen.into_iter(), only);
    let then = match &payload {
        None => Then::Jobs,
        Some(payload) => {
            if !payload.file.is_file() {
                return Err(Error::Usage(format!("--payload: no file {}", payload.file.display())));
            }
            if !(payload.limit_s > 0.0 && payload.limit_s < 1e6) {
                return Err(Error::Usage("--limit: expected seconds".into()));
            }
            if only.is_none() {
                // One exit code comes back, so one boot per rig.
                tasks.dedup_by_key(|task| task.name);
            }
            Then::Payload { arguments: payload.arguments.clone(), limit_s: payload.limit_s }
        }
    };
    let interrupted = signal::interrupt_flag()?;
    let worst = Mutex::new(WELL);
    let ended = |task: &Task<'_>, booted: Booted| {
        let code = if payload.is_some() { say_payload(&booted) } else { say(task, &booted) };
        if let Ok(mut worst) = worst.lock() {
            *worst = (*worst).max(code);
        }
    };
    let file = payload.as_ref().map(|payload| payload.file.as_path());
    many::boot_all(place, &tasks, jobs, &then, file, &interrupted, &ended)?;
    Ok(worst.into_inner().unwrap_or(DEPARTS))
}

/// One line per boot, and one per complaint.
pub fn say(task: &Task<'_>, booted: &Booted) -> u8 {
    let outcome = &booted.outcome;
    let well = outcome.finished && outcome.complaints.is_empty();
    println!(
        "{} on {}: {} jobs, {:.0} s, {}",
        task.name,
        task.kernel.name(),
        outcome.jobs.len(),
        booted.wall.as_secs_f64(),
        if well { format!("{}", booted.folder.join("outcome.json").display()) } else { "not well".into() }
    );
    for complaint in &outcome.complaints {
        println!("  {complaint}");
    }
    if well { WELL } else { DEPARTS }
}

/// The payload's output as it was, and its exit code.
fn say_payload(booted: &Booted) -> u8 {
    for complaint in &booted.outcome.complaints {
        eprintln!("lab: {complaint}");
    }
    let Some(job) = booted.outcome.jobs.first() else { return DEPARTS };
    print!("{}", job.stdout);
    eprint!("{}", job.stderr);
    match job.exit {
        Some(code) if booted.outcome.complaints.is_empty() => u8::try_from(code).unwrap_or(DEPARTS),
        _ => DEPARTS,
    }
}
