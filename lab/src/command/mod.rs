//! What each word of the command line does.

mod fetch;
mod list;
mod many;
mod run;
mod shell;
mod test;

use crate::args::{Args, Command};
use crate::error::{Error, Result};
use crate::place::Place;
use crate::rig::{Rig, Rigs};

/// All is well.
const WELL: u8 = 0;
/// A rig departs from what is known, or could not be run to its end.
const DEPARTS: u8 = 1;

/// Does what was asked and gives the exit code.
pub fn run(args: Args) -> Result<u8> {
    let place = Place::find(args.rigs, args.work, args.plimsoll)?;
    place.sweep();
    let rigs = crate::rig::load::load(&place.rigs)?;
    match args.command {
        Command::List => Ok(list::list(&rigs)),
        Command::Compare => test::compare_kept(&place, &rigs),
        Command::Fetch { newest } => fetch::fetch(&place, newest),
        Command::Shell { name, kernel } => shell::shell(&place, &rigs, &name, kernel.map(Into::into)),
        Command::Run { names, kernel, jobs, payload, arguments, limit } => {
            let payload = payload.map(|file| run::Payload { file, arguments, limit_s: limit });
            run::run(&place, &rigs, &names, kernel.map(Into::into), jobs, payload)
        }
        Command::Test { short, all: _, only, jobs } => {
            test::test(&place, &rigs, short, only.as_deref(), jobs)
        }
    }
}

/// A rig by its name.
fn named<'a>(rigs: &'a Rigs, name: &str) -> Result<&'a Rig> {
    rigs.rig.get(name).ok_or_else(|| {
        let near: Vec<&str> =
            rigs.rig.keys().filter(|known| known.contains(name)).map(String::as_str).collect();
        let hint = if near.is_empty() { "`lab list` shows them".to_owned() } else { near.join(", ") };
        Error::Usage(format!("no rig {name}; {hint}"))
    })
}
