//! `lab test`: boots rigs and compares what came out with what is known.

use super::many::{self, Task};
use super::{DEPARTS, WELL};
use crate::boot::Booted;
use crate::compare::{self, Check};
use crate::error::{Error, Result};
use crate::outcome::Outcome;
use crate::place::Place;
use crate::plan::{self, Then};
use crate::rig::Rigs;
use crate::signal;
use std::sync::Mutex;
use std::time::Instant;

/// Boots the short set or all.
pub fn test(place: &Place, rigs: &Rigs, short: bool, only: Option<&str>, jobs: u32) -> Result<u8> {
    let chosen = rigs
        .rig
        .iter()
        .filter(|(name, rig)| (!short || rig.short) && only.is_none_or(|text| name.contains(text)))
        .map(|(name, rig)| (name.as_str(), rig));
    let tasks = many::tasks(chosen, None);
    if tasks.is_empty() {
        return Err(Error::Usage("no rig has such a name; `lab list` shows them".into()));
    }
    let interrupted = signal::interrupt_flag()?;
    let begun = Instant::now();
    let compared = Mutex::new(Vec::new());
    let ended = |task: &Task<'_>, booted: Booted| {
        super::run::say(task, &booted);
        let boot = Compared::of(task, &booted.outcome);
        println!("  {} checks, {} depart", boot.checks.len(), boot.failed);
        if let Ok(mut compared) = compared.lock() {
            compared.push(boot);
        }
    };
    many::boot_all(place, &tasks, jobs, &Then::Jobs, None, &interrupted, &ended)?;
    println!("in {:.0} s:", begun.elapsed().as_secs_f64());
    conclude(place, compared.into_inner().unwrap_or_default())
}

/// Compares the outcomes that earlier boots left, without booting.
pub fn compare_kept(place: &Place, rigs: &Rigs) -> Result<u8> {
    let mut compared = Vec::new();
    for task in many::tasks(rigs.rig.iter().map(|(name, rig)| (name.as_str(), rig)), None) {
        let file = place.results(task.name, task.kernel.name()).join(plan::OUTCOME);
        if !file.is_file() {
            continue;
        }
        let bytes = std::fs::read(&file).map_err(|e| Error::file("read", &file, e))?;
        let outcome: Outcome = serde_json::from_slice(&bytes).map_err(|e| Error::file("read", &file, e))?;
        compared.push(Compared::of(&task, &outcome));
    }
    if compared.is_empty() {
        return Err(Error::Usage("no outcome is kept; `lab run` makes them".into()));
    }
    conclude(place, compared)
}

/// Says what departs, writes the table, and gives the exit code.
fn conclude(place: &Place, mut compared: Vec<Compared>) -> Result<u8> {
    compared.sort_by(|a, b| a.boot.cmp(&b.boot));
    let departing: Vec<&Compared> = compared.iter().filter(|boot| boot.failed > 0).collect();
    println!("{} boots, {} depart from what is known", compared.len(), departing.len());
    for boot in &departing {
        println!("  {}: {} of {} checks", boot.boot, boot.failed, boot.checks.len());
    }
    let well = departing.is_empty();
    write_table(place, compared.into_iter().flat_map(|boot| boot.checks).collect())?;
    Ok(if well { WELL } else { DEPARTS })
}

/// What came of one boot.
struct Compared {
    boot: String,
    checks: Vec<Check>,
    failed: usize,
}

impl Compared {
    fn of(task: &Task<'_>, outcome: &Outcome) -> Self {
        let checks = compare::rig(task.name, task.kernel.name(), task.rig, outcome);
        let failed = checks.iter().filter(|check| check.failed()).count();
        Self { boot: format!("{} on {}", task.name, task.kernel.name()), checks, failed }
    }
}

/// The whole comparison, for people and for programs.
fn write_table(place: &Place, checks: Vec<Check>) -> Result<()> {
    let texts = [("truth.md", compare::table(&checks)), ("truth.json", compare::json(&checks))];
    for (name, text) in texts {
        let file = place.work.join(name);
        std::fs::write(&file, text).map_err(|e| Error::file("write", &file, e))?;
        println!("{}", file.display());
    }
    Ok(())
}
