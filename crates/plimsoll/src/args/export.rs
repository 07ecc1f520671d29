//! Arguments of `export`.

use super::watch::interval;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  plimsoll export                                      http://127.0.0.1:9998/metrics
  plimsoll export --listen 0.0.0.0:9998 --web.config.file web.yml
      For other hosts too, with TLS and passwords as web.yml says (the format of Prometheus exporters).
  plimsoll export --once                               print the metrics of one interval and end";

/// Arguments of `export`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct ExportArgs {
    /// Address and port to listen on.
    #[arg(long, alias = "web.listen-address", value_name = "ADDRESS", default_value = "127.0.0.1:9998")]
    pub listen: String,
    /// File with certificate, key and users, in the format of Prometheus exporters.
    #[arg(long = "web.config.file", value_name = "FILE")]
    pub web_config: Option<PathBuf>,
    /// How often counters are read; queues are weighted by time within it.
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = interval)]
    pub interval: f64,
    /// Devices offered at most, those that did I/O first; the others are counted.
    #[arg(long, value_name = "N", default_value_t = 2000)]
    pub max_devices: usize,
    /// Devices whose queues are read many times a second, the busiest ones; 0 reads counters alone.
    #[arg(long, value_name = "N", default_value_t = 16)]
    pub closely: u16,
    /// By counters alone, even where the tracer could run.
    #[arg(long)]
    pub no_trace: bool,
    /// Measure one interval, print its metrics and end.
    #[arg(long)]
    pub once: bool,
}
