//! The command line.

use crate::rig::Kernel;
use clap::{Parser, Subcommand, ValueEnum};
use std::path::PathBuf;

/// A SAN in a box: boots a small virtual machine with real SCSI LUNs and runs Plimsoll inside.
#[derive(Debug, Parser)]
#[command(
    version,
    max_term_width = 100,
    after_help = "\
Examples:
  lab list                              the rigs, and what each shows
  lab run lun-depth-4 --kernel 6.12     boot one rig, do its jobs, keep the outcome
  lab run lun-depth-4 --payload ./test  run a program of yours inside; its exit code is the lab's
  lab shell lun-depth-4                 a shell inside (on the virtual clock, idle time is skipped)
  lab test --short                      the short set, compared with what is known

Results go to target/lab/<rig>-<kernel>/. Exit codes: 0 all well, 1 a rig departs from what is known,
2 wrong usage or rigs.toml, 4 QEMU, a kernel or a tool is missing, 130 interrupted."
)]
pub struct Args {
    /// The file that declares the rigs [default: lab/rigs.toml of the workspace]
    #[arg(long, global = true, value_name = "FILE")]
    pub rigs: Option<PathBuf>,
    /// Where kernels and results are kept [default: target/lab of the workspace]
    #[arg(long, global = true, value_name = "DIR")]
    pub work: Option<PathBuf>,
    /// The static plimsoll to run inside [default: the one beside this program]
    #[arg(long, global = true, value_name = "FILE")]
    pub plimsoll: Option<PathBuf>,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Show the rigs, their kernels and what each shows
    List,
    /// Boot rigs, do their jobs, keep the outcomes
    Run {
        /// Names of rigs
        #[arg(required = true, value_name = "RIG")]
        names: Vec<String>,
        /// One kernel series only [default: those of the rig]
        #[arg(long)]
        kernel: Option<Series>,
        /// Machines at a time
        #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=64))]
        jobs: u32,
        /// Run this program in the rig instead of the rig's jobs; its exit code is the lab's
        #[arg(long, value_name = "FILE")]
        payload: Option<PathBuf>,
        /// Arguments of the payload, after `--`; {lun0} becomes the kernel name
        #[arg(last = true, requires = "payload", value_name = "ARGS")]
        arguments: Vec<String>,
        /// Guest seconds the payload may take
        #[arg(long, default_value_t = 300.0, value_name = "SECONDS")]
        limit: f64,
    },
    /// A shell inside a rig, on this terminal
    Shell {
        /// Name of the rig
        #[arg(value_name = "RIG")]
        name: String,
        /// The kernel series [default: the rig's last]
        #[arg(long)]
        kernel: Option<Series>,
    },
    /// Boot rigs and compare with what is known
    Test {
        /// The short set
        #[arg(long, conflicts_with = "all")]
        short: bool,
        /// All rigs on all their kernels (as without --short)
        #[arg(long)]
        all: bool,
        /// Only rigs whose name contains this
        #[arg(long, value_name = "TEXT")]
        only: Option<String>,
        /// Machines at a time
        #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..=64))]
        jobs: u32,
    },
    /// Compare the outcomes of earlier boots with what is known, without booting
    Compare,
    /// Fetch the kernels now; --newest looks for newer ones than those kept
    Fetch {
        /// Ask apt even when a kernel of the series is kept
        #[arg(long)]
        newest: bool,
    },
}

/// A kernel series on the command line.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum Series {
    /// Debian 12's own.
    #[value(name = "6.1")]
    V6_1,
    /// The long-term series beside it.
    #[value(name = "6.12")]
    V6_12,
}

impl From<Series> for Kernel {
    fn from(series: Series) -> Self {
        match series {
            Series::V6_1 => Self::V6_1,
            Series::V6_12 => Self::V6_12,
        }
    }
}
