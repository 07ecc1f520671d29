//! Arguments of `record`.

use super::quantity;
use super::watch::interval;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  plimsoll record --out /var/tmp/plimsoll              until Ctrl-C, one sample a second, at most 2 GiB
  plimsoll record --out monday --for 24h --interval 5s --keep 500M
  plimsoll record sda /dev/mapper/data01 --out run     these devices only
  plimsoll report monday                               what the recording says

A recording that was begun in the folder is gone on with. When its room is used up, the oldest part is dropped.";

/// Arguments of `record`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct RecordArgs {
    /// Devices to record, by name (sda), label (data01) or path (/dev/mapper/data01); all whole devices that did any I/O
    /// by default.
    #[arg(value_name = "DEVICE")]
    pub devices: Vec<String>,
    /// The folder.
    #[arg(long, value_name = "RUN")]
    pub out: PathBuf,
    /// Length of an interval: 500ms, 1s, 1m.
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = interval)]
    pub interval: f64,
    /// End after this time (24h, 7d); without it, on Ctrl-C.
    #[arg(long = "for", value_name = "TIME", value_parser = quantity::long_seconds)]
    pub lasting: Option<f64>,
    /// The folder is never larger: the oldest part is dropped first.
    #[arg(long, value_name = "SIZE", default_value = "2G", value_parser = room)]
    pub keep: u64,
    /// Leave at least this much of the file system free.
    #[arg(long, value_name = "SIZE", default_value = "512M", value_parser = quantity::bytes)]
    pub leave_free: u64,
    /// Devices whose queues are read many times a second, the busiest ones; 0 reads counters alone.
    #[arg(long, value_name = "N", default_value_t = 16)]
    pub closely: u16,
    /// Record by counters alone, even where the tracer could run.
    #[arg(long)]
    pub no_trace: bool,
}

fn room(text: &str) -> Result<u64, String> {
    let bytes = quantity::bytes(text)?;
    let least = ::record::recording::Room::KEEP_BYTES_MIN;
    if bytes < least { Err(format!("'{text}' is too small: at least {}M", least >> 20)) } else { Ok(bytes) }
}
