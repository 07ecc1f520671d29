//! `lab list`.

use super::WELL;
use crate::rig::{Clock, Rigs};

/// Shows the rigs.
pub fn list(rigs: &Rigs) -> u8 {
    let width = rigs.rig.keys().map(String::len).max().unwrap_or(0);
    for (name, rig) in &rigs.rig {
        let kernels: Vec<&str> = rig.kernels.iter().map(|kernel| kernel.name()).collect();
        let short = if rig.short { "short" } else { "" };
        let clock = if rig.clock == Clock::Real { "real" } else { "" };
        println!("{name:width$}  {:8}  {short:5}  {clock:4}  {}", kernels.join(" "), rig.about);
    }
    WELL
}
