//! Runs the payload of `lab run --payload`.

use super::command;
use super::devices::Devices;
use super::job::filled;
use crate::outcome::JobOutcome;
use crate::plan::PAYLOAD;
use std::time::Duration;

/// The name of its job in the outcome.
pub const NAME: &str = "payload";

/// Runs it with these arguments.
pub fn run(arguments: &[String], limit: Duration, devices: &Devices) -> JobOutcome {
    let mut words = vec![PAYLOAD.to_owned()];
    words.extend(filled(arguments, devices));
    let done =
        command::run(&words, limit).unwrap_or_else(|why| command::Done { stderr: why, ..Default::default() });
    JobOutcome {
        name: NAME.to_owned(),
        exit: done.exit,
        stdout: done.stdout,
        stderr: done.stderr,
        ..JobOutcome::default()
    }
}
