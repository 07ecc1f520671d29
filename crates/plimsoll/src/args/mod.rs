//! Text to values: the command line, before it meets the world. Nothing here looks at the machine.

pub mod cores;
pub mod probe;
pub mod quantity;
pub mod watch;

use clap::{Parser, Subcommand};

const ABOUT: &str =
    "Finds how much I/O a storage path carries before latency breaks its limit, and which layer stops it.";

const EXAMPLES: &str = "\
Examples:
  plimsoll probe /u02/oradata                      the load line of the storage below a directory (own file, 8 KiB random reads)
  plimsoll probe /dev/mapper/data01 --workload scan --limit 'mean<20ms'
  plimsoll probe . --json | jq .load_line
  plimsoll watch                                   where the I/Os of this host stand now
  plimsoll doctor                                  what can and cannot be measured here

Exit codes: 0 done; 1 the limit is not held even at one I/O; 2 wrong usage; 3 not permitted or refused for safety;
4 the environment cannot do it; 130 interrupted, with everything undone.";

/// The command line.
#[derive(Debug, Parser)]
#[command(name = "plimsoll", version, about = ABOUT, after_help = EXAMPLES, disable_help_subcommand = true)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
    /// How to say it.
    #[command(flatten)]
    pub voice: Voice,
}

/// Commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Find the load line of a path: how much it carries, where the waiting I/Os stand, what stops it, what to try.
    Probe(Box<probe::ProbeArgs>),
    /// Show where the I/Os of this host stand now: host queue and device queue of every device.
    Watch(watch::WatchArgs),
    /// Show a run that was kept with --out again.
    Report(ReportArgs),
    /// Say what can and cannot be measured on this host, why, and what would enable it.
    Doctor(DoctorArgs),
}

/// Arguments of `doctor`.
#[derive(Debug, clap::Args)]
pub struct DoctorArgs {
    /// Directory or device to look at besides the host.
    #[arg(default_value = ".")]
    pub target: std::path::PathBuf,
}

/// Arguments of `report`.
#[derive(Debug, clap::Args)]
pub struct ReportArgs {
    /// The run folder.
    pub run: std::path::PathBuf,
    /// Write the page to this file instead of printing.
    #[arg(long, value_name = "FILE")]
    pub page: Option<std::path::PathBuf>,
}

/// Output that all commands share.
#[derive(Clone, Copy, Debug, clap::Args)]
pub struct Voice {
    /// Print one JSON document instead of text.
    #[arg(long, global = true)]
    pub json: bool,
    /// No progress and no notes on standard error; errors are still said.
    #[arg(long, short, global = true)]
    pub quiet: bool,
    /// No colour (also when NO_COLOR is set, or standard output is no terminal).
    #[arg(long, global = true)]
    pub no_color: bool,
}
