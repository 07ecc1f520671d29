//! The lab: boots small machines with real SCSI LUNs and compares what Plimsoll says there with what is known.
//!
//! The same binary is the tool on the host and process 1 in the guest.

mod args;
mod boot;
mod command;
mod compare;
mod error;
mod guest;
mod initramfs;
mod kernel;
mod needs;
mod open_iscsi;
mod outcome;
mod place;
mod plan;
mod qemu;
mod rig;
mod signal;
mod tool;
mod truth;

use clap::Parser;
use std::process::ExitCode;

fn main() -> ExitCode {
    let mut words = std::env::args_os().skip(1);
    if std::process::id() == 1 {
        guest::main();
        return ExitCode::FAILURE;
    }
    if words.next().is_some_and(|word| word == qemu::leash::WORD) {
        eprintln!("lab: {}", qemu::leash::become_it(words));
        return ExitCode::from(127);
    }
    match command::run(args::Args::parse()) {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            eprintln!("lab: {error}");
            ExitCode::from(error.exit_code())
        }
    }
}
