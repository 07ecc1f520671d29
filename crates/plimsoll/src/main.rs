//! The command: arguments in, exit code out.

mod args;
mod command;
mod exit;
mod signal;
mod voice;

use args::{Cli, Command};
use clap::Parser;
use exit::{Exit, Failure};
use std::process::ExitCode;

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return usage(&error),
    };
    let voice = voice::Voice::new(cli.voice);
    let done = match &cli.command {
        Command::Probe(args) => command::probe::run(args, &voice),
        Command::Watch(args) => command::watch::run(args, &voice),
        Command::Inspect(args) => command::inspect::run(args, &voice),
        Command::Record(args) => command::record::run(args, &voice),
        Command::Read(args) => command::read::run(args, &voice),
        Command::Explain(args) => command::explain::run(args, &voice),
        Command::Export(args) => command::export::run(args, &voice),
        Command::Report(args) => command::report::run(args, &voice),
        Command::Doctor(args) => command::doctor::run(args, &voice),
    };
    match done {
        Ok(exit) => exit.into(),
        Err(failure) => failed(&failure),
    }
}

/// Help and version are answers; anything else is wrong usage.
fn usage(error: &clap::Error) -> ExitCode {
    // A closed standard output leaves nowhere to say it.
    let _ = error.print();
    if error.use_stderr() { Exit::Usage.into() } else { Exit::Done.into() }
}

fn failed(failure: &Failure) -> ExitCode {
    failure.print();
    failure.exit.into()
}
