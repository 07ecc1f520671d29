//! `lab shell RIG`.

use super::{WELL, named};
use crate::boot::{self, Boot};
use crate::error::Result;
use crate::kernel;
use crate::place::Place;
use crate::plan::Then;
use crate::rig::{Kernel, Rigs};
use crate::signal;

/// Boots the rig and leaves the terminal to the shell inside.
pub fn shell(place: &Place, rigs: &Rigs, name: &str, series: Option<Kernel>) -> Result<u8> {
    let rig = named(rigs, name)?;
    let kernel = series.or(rig.kernels.last().copied()).unwrap_or(Kernel::V6_12);
    let interrupted = signal::interrupt_flag()?;
    kernel::get(&place.kernels(), kernel, false, &|line| eprintln!("lab: {line}"))?;
    let _terminal = Terminal::raw();
    let then = Then::Shell;
    let boot = Boot { place, name, rig, kernel, then: &then, payload: None, interrupted: &interrupted };
    boot::boot(boot)?;
    Ok(WELL)
}

/// The terminal as it was, restored when dropped. QEMU sets it to raw and restores it only when it ends by itself.
struct Terminal(Option<rustix::termios::Termios>);

impl Terminal {
    fn raw() -> Self {
        Self(rustix::termios::tcgetattr(std::io::stdin()).ok())
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        if let Some(before) = &self.0 {
            let now = rustix::termios::OptionalActions::Now;
            let _ = rustix::termios::tcsetattr(std::io::stdin(), now, before);
        }
    }
}
