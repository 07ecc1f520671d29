//! `plimsoll export`.

use crate::args::export::ExportArgs;
use crate::exit::{Exit, Failure};
use crate::voice::Voice;

pub fn run(_: &ExportArgs, _: &Voice) -> Result<Exit, Failure> {
    Ok(Exit::Done)
}
