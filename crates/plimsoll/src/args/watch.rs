//! Arguments of `watch`.

use super::quantity;
use clap::ValueEnum;

const EXAMPLES: &str = "\
Examples:
  plimsoll watch                         the live screen
  plimsoll watch --once                  one interval as text, then the end
  plimsoll watch sda /dev/mapper/data01 --interval 5s --count 12 | tee watch.txt
  plimsoll watch --json --interval 10s   a line of JSON every ten seconds
  plimsoll watch --pid 4711 --tree       how one process does I/O, as `plimsoll inspect` says it, again and again

On a terminal the screen comes up; with --once, --count, --plain, --json, or into a pipe it prints lines.";

/// Arguments of `watch`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct WatchArgs {
    /// Devices to show, by name (sda), label (data01) or path (/dev/mapper/data01); all that did any I/O by default.
    #[arg(value_name = "DEVICE")]
    pub devices: Vec<String>,
    /// Measure one interval, print it and end.
    #[arg(long, conflicts_with = "count")]
    pub once: bool,
    /// Length of an interval: 500ms, 1s, 1m.
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = interval)]
    pub interval: f64,
    /// End after this many intervals.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub count: Option<u64>,
    /// What to order devices by.
    #[arg(long, value_enum, default_value_t = OrderBy::Standing)]
    pub order: OrderBy,
    /// Show devices that never did any I/O too.
    #[arg(long)]
    pub all: bool,
    /// A line for reads, writes, discards and flushes below each device (text).
    #[arg(long)]
    pub classes: bool,
    /// Lines for the percentiles of host wait and service time below each device (text, with the tracer).
    #[arg(long)]
    pub percentiles: bool,
    /// Lines for the processes that did I/O, by device where the tracer knows it (text).
    #[arg(long)]
    pub processes: bool,
    /// Do not trace, even where rights and kernel allow it: counters alone.
    #[arg(long)]
    pub no_trace: bool,
    /// Say how this process does I/O instead, every interval: what `plimsoll inspect` says.
    #[arg(long, value_name = "PID", conflicts_with_all = ["devices", "all", "classes", "percentiles", "processes", "order", "closely"])]
    #[arg(value_parser = clap::value_parser!(u32).range(1..))]
    pub pid: Option<u32>,
    /// With --pid: its children and theirs too.
    #[arg(long, requires = "pid")]
    pub tree: bool,
    /// Print lines on a terminal too, instead of the screen.
    #[arg(long)]
    pub plain: bool,
    /// Devices whose queues are read many times a second, the busiest ones; 0 reads counters alone.
    #[arg(long, value_name = "N", default_value_t = 16)]
    pub closely: u16,
}

/// What to order devices by, largest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum OrderBy {
    /// I/Os in host queue and device queue.
    Standing,
    /// I/Os in the host queue.
    HostQueue,
    /// I/Os per second.
    Iops,
    /// MiB per second.
    Throughput,
    /// Response time.
    Response,
    /// Name.
    Name,
}

/// A tenth of a second is the least that counters in whole milliseconds bear.
pub fn interval(text: &str) -> Result<f64, String> {
    let seconds = quantity::seconds(text)?;
    if seconds < 0.1 { Err(format!("'{text}' is too short: at least 100ms")) } else { Ok(seconds) }
}
