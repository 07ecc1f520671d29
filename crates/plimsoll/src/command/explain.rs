//! `plimsoll explain`: what a finding means.

use crate::args::read::ExplainArgs;
use crate::exit::{Exit, Failure};
use crate::voice::Voice;
use analyze::rulebook;

/// One rule, or all of them.
pub fn run(args: &ExplainArgs, voice: &Voice) -> Result<Exit, Failure> {
    let Some(id) = &args.id else {
        voice.say(&::report::reading::rules(voice.json, voice.style()));
        return Ok(Exit::Done);
    };
    let rule = rulebook::rule(id).ok_or_else(|| {
        Failure::new(Exit::Usage, format!("there is no finding '{id}'")).hint("`plimsoll explain` lists all")
    })?;
    voice.say(&::report::reading::rule(rule, voice.json, voice.style()));
    Ok(Exit::Done)
}
