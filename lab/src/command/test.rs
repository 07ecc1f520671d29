//! `lab test`: boots rigs and compares what came out with what is known.

use super::many::{self, Task};
use super::{DEPARTS, WELL};
use crate::boot::Booted;
use crate::error::{Error, Result};
use crate::place::Place;
use crate::plan::Then;
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
    let departing = Mutex::new(Vec::new());
    let ended = |task: &Task<'_>, booted: Booted| {
        if super::run::say(task, &booted) != WELL
            && let Ok(mut departing) = departing.lock()
        {
            departing.push(format!("{} on {}", task.name, task.kernel.name()));
        }
    };
    many::boot_all(place, &tasks, jobs, &Then::Jobs, None, &interrupted, &ended)?;
    let departing = departing.into_inner().unwrap_or_default();
    println!("{} boots in {:.0} s, {} depart", tasks.len(), begun.elapsed().as_secs_f64(), departing.len());
    for name in &departing {
        println!("  {name}");
    }
    Ok(if departing.is_empty() { WELL } else { DEPARTS })
}
