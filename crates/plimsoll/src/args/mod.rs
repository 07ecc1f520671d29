//! Text to values: the command line, before it meets the world. Nothing here looks at the machine.

pub mod cores;
pub mod export;
pub mod inspect;
pub mod probe;
pub mod quantity;
pub mod read;
pub mod record;
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
  plimsoll inspect --pid 4711 --tree               does this database do asynchronous, direct I/O?
  plimsoll record --out monday --for 7d             a week of it, kept in a folder of at most 2 GiB
  plimsoll report monday                           how near the recorded load came to the limit of each device
  plimsoll read case-4711/                         what do these iostat, sar, AWR, fcstat ... files say?
  plimsoll export                                  the same figures for Prometheus, on 127.0.0.1:9998
  plimsoll doctor                                  what can and cannot be measured here

Exit codes: 0 done; 1 the answer is no (a limit not held even at one I/O, a finding at the level of --fail-on); 2 wrong usage; 3 not permitted or refused for safety;
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
    /// Say how a process does I/O: asynchronous or synchronous, direct or buffered, which sizes, how many outstanding.
    Inspect(inspect::InspectArgs),
    /// Keep what every device does, interval after interval, for days, in a folder of bounded size.
    Record(record::RecordArgs),
    /// Read what other tools wrote (iostat, sar, AWR, fcstat ... of any platform), and say what is wrong, with evidence.
    Read(read::ReadArgs),
    /// Explain a finding: what it means, why it happens, what to do on each platform.
    Explain(read::ExplainArgs),
    /// Offer what every device does to Prometheus.
    Export(export::ExportArgs),
    /// Show a run again: a probe that was kept with --out, or a recording and the load line that can be read from it.
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

const REPORT_EXAMPLES: &str = "\
Examples:
  plimsoll report target/runs/20261121-110029          a probe, as it was printed
  plimsoll report monday                               a recording: per device, how near its load came to the limit
  plimsoll report monday --limit 'mean<5ms' --json
  plimsoll report monday --probe probe-of-data01       which share of the probed load line the recorded load reached";

/// Arguments of `report`.
#[derive(Debug, clap::Args)]
#[command(after_help = REPORT_EXAMPLES)]
pub struct ReportArgs {
    /// The run folder.
    pub run: std::path::PathBuf,
    /// Write the page to this file instead of printing.
    #[arg(long, value_name = "FILE")]
    pub page: Option<std::path::PathBuf>,
    /// Of a recording: devices to look at, by name or label; all by default.
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub devices: Vec<String>,
    /// Of a recording: limit on the mean response time, mean<5ms; without one the limit is what the device carries at most.
    #[arg(long, value_name = "EXPR")]
    pub limit: Option<::record::LatencyLimit>,
    /// Of a recording: an earlier probe of the same path, to compare with.
    #[arg(long, value_name = "RUN")]
    pub probe: Option<std::path::PathBuf>,
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
