//! Arguments of `probe`.

use super::cores::Cores;
use super::quantity;
use clap::ValueEnum;
use record::LatencyLimit;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  plimsoll probe /u02/oradata
      8 KiB random reads on a file of its own in that directory; the file is written once and removed at the end.
  plimsoll probe /u02/oradata --limit 'p99.9<5ms' --budget 30s --json
  plimsoll probe /u03/redo --workload log --limit 'mean<2ms'
      Sequential 8 KiB writes, each made durable, into a file of its own: what a log writer does.
  plimsoll probe /dev/mapper/data01 --workload scan --depths 1,2,4,8
      1 MiB sequential reads of a block device, read-only, at these depths.
  plimsoll probe /u02/oradata --workload scan --engine sync --cores 1..4
      One blocking reader per core, on one to four cores: how many cores drive how much I/O.
  plimsoll probe /u02/oradata --block 16k --pattern random --write 15%
  plimsoll probe /u02/oradata --rate 5000
      An open loop: I/Os are due at 5000 per second whatever the storage does.";

const WORDS: &str = "\
What the words mean:
  load line    the largest throughput at which the latency limit still holds
  knee         the concurrency past which more buys latency, not throughput
  above        I/Os submitted but not yet in the block layer;  host queue  accepted, not yet sent to the device;
  device queue sent to the device and not completed";

/// Arguments of `probe`.
#[derive(Debug, clap::Args)]
#[command(before_long_help = EXAMPLES, after_help = EXAMPLES, after_long_help = WORDS)]
pub struct ProbeArgs {
    /// A directory (a file of Plimsoll's own is made there and removed), an existing file (read-only), or a block
    /// device (read-only unless --destroy-data-on names it too).
    pub target: PathBuf,

    /// What the I/O looks like, in a DBA's words.
    #[arg(long, value_enum, default_value_t = WorkloadName::Oltp, help_heading = "Workload")]
    pub workload: WorkloadName,
    /// Size of one I/O (8k, 1M).
    #[arg(long, value_name = "SIZE", allow_negative_numbers = true, value_parser = quantity::bytes, help_heading = "Workload")]
    pub block: Option<u64>,
    /// Order of the blocks.
    #[arg(long, value_enum, help_heading = "Workload")]
    pub pattern: Option<PatternName>,
    /// Share of writes; only into a file of Plimsoll's own or a device named twice.
    #[arg(long, value_name = "PERCENT", allow_negative_numbers = true, value_parser = quantity::percent, help_heading = "Workload")]
    pub write: Option<f64>,
    /// How writes become durable.
    #[arg(long, value_enum, help_heading = "Workload")]
    pub sync: Option<SyncName>,
    /// Let all workers use the same blocks; by default each has a region of its own.
    #[arg(long, help_heading = "Workload")]
    pub shared_blocks: bool,
    /// Go through the page cache instead of past it.
    #[arg(long, help_heading = "Workload")]
    pub buffered: bool,
    /// Size of Plimsoll's own file, or how much of an existing target to touch.
    #[arg(long, value_name = "SIZE", allow_negative_numbers = true, value_parser = quantity::bytes, help_heading = "Workload")]
    pub size: Option<u64>,

    /// How I/Os are submitted. sync: one blocking thread per outstanding I/O, as dd and PostgreSQL up to 17 do.
    /// The default is io_uring, and sync for the log workload.
    #[arg(long, value_enum, help_heading = "Load")]
    pub engine: Option<EngineName>,
    /// Load threads that share the concurrency (default: half the cores, at most four); with --engine sync, whose threads
    /// have one I/O each, the largest concurrency.
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = clap::value_parser!(u32).range(1..=1024), help_heading = "Load")]
    pub workers: Option<u32>,
    /// Logical CPUs to pin workers to (0,2-3), or a sweep over how many cores drive the load (1..4).
    #[arg(long, value_name = "LIST", help_heading = "Load")]
    pub cores: Option<Cores>,
    /// Measure these depths instead of searching (1,2,4,8); with --cores 1..N, the I/Os each core keeps outstanding.
    #[arg(long, value_name = "LIST", value_parser = depth_list, conflicts_with_all = ["sweep", "rate"], help_heading = "Load")]
    pub depths: Option<Depths>,
    /// Measure the whole curve, depth by depth, instead of searching.
    #[arg(long, conflicts_with = "rate", help_heading = "Load")]
    pub sweep: bool,
    /// Largest concurrency tried.
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = clap::value_parser!(u32).range(1..=65536), help_heading = "Load")]
    pub max_depth: Option<u32>,
    /// Open loop: offer this many I/Os per second and count latency from the instant each was due.
    #[arg(long, value_name = "IOPS", allow_negative_numbers = true, value_parser = rate, help_heading = "Load")]
    pub rate: Option<f64>,
    /// Spacing of arrivals in an open loop.
    #[arg(long, value_enum, default_value_t = ArrivalName::Poisson, help_heading = "Load")]
    pub arrival: ArrivalName,

    /// The latency limit: p99<10ms, mean<5ms, p99.9<2ms, write.p99<1ms, flush.mean<2ms.
    #[arg(long, value_name = "EXPR", default_value = "p99<10ms", help_heading = "Answer")]
    pub limit: LatencyLimit,
    /// Time for the whole probe's load, preparation not counted.
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = quantity::seconds, help_heading = "Answer")]
    pub budget: f64,
    /// Confirm the load line in an open loop at 50, 70 and 85 % of it.
    #[arg(long, value_enum, default_value_t = When::Auto, value_name = "WHEN", help_heading = "Answer")]
    pub open_loop: When,
    /// Keep the run in this folder: run.json, Parquet tables, report.html.
    #[arg(long, value_name = "RUN", help_heading = "Answer")]
    pub out: Option<PathBuf>,
    /// Seed of all random choices.
    #[arg(long, value_name = "N", default_value_t = 1, help_heading = "Answer")]
    pub seed: u64,

    /// Allow writes to this block device. It must be the target named again, unmounted, unused and empty.
    #[arg(long, value_name = "DEV", help_heading = "Safety")]
    pub destroy_data_on: Option<PathBuf>,
}

/// A list of depths; a type of its own, because clap treats a plain `Vec` as a repeated option.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Depths(pub Vec<u32>);

fn depth_list(text: &str) -> Result<Depths, String> {
    quantity::depths(text).map(Depths)
}

fn rate(text: &str) -> Result<f64, String> {
    match text.trim().parse::<f64>() {
        Ok(rate) if rate > 0.0 && rate <= 1e8 => Ok(rate),
        _ => Err(format!("'{text}' is no rate; write I/Os per second, like 5000")),
    }
}

/// Workloads by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum WorkloadName {
    /// 8 KiB random reads.
    Oltp,
    /// 8 KiB random, 15 % writes.
    OltpMixed,
    /// 1 MiB sequential reads.
    Scan,
    /// 8 KiB sequential writes, each made durable.
    Log,
    /// 1 MiB random reads.
    Dss,
}

/// Order of blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum PatternName {
    /// Uniformly random.
    Random,
    /// One after another.
    Sequential,
}

/// How writes become durable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum SyncName {
    /// When the kernel or the device says they are done.
    None,
    /// Each write is followed by fdatasync, as PostgreSQL does.
    Fdatasync,
    /// Each write is durable by itself (O_DSYNC), as Oracle does.
    Dsync,
}

/// Engines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum EngineName {
    /// io_uring with registered file and buffers.
    #[value(name = "io_uring", alias = "io-uring", alias = "iouring")]
    IoUring,
    /// Linux AIO, as Oracle and MySQL use it.
    Libaio,
    /// One blocking thread per outstanding I/O.
    #[value(alias = "psync", alias = "threads")]
    Sync,
}

/// Spacing of arrivals.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ArrivalName {
    /// Exponential gaps.
    Poisson,
    /// Equal gaps.
    Constant,
}

/// Whether to do an optional part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum When {
    /// Where time allows.
    Auto,
    /// Always.
    On,
    /// Never.
    Off,
}
