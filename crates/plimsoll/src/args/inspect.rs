//! Arguments of `inspect`.

use super::quantity;

const EXAMPLES: &str = "\
Examples:
  plimsoll inspect --pid 4711                            one process, for three seconds
  plimsoll inspect --pid 4711 --tree --for 10s           a postmaster and all that it started
  plimsoll inspect --pid 4711 --json | jq .ways

The owner of the process may run it; root sees sizes and outstanding I/Os at the devices besides. The process is not
stopped and nothing is attached to it.";

/// Arguments of `inspect`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct InspectArgs {
    /// The process to look at.
    #[arg(long, value_name = "PID", value_parser = clap::value_parser!(u32).range(1..))]
    pub pid: u32,
    /// Its children and theirs too: a postmaster with its sessions and writers.
    #[arg(long)]
    pub tree: bool,
    /// How long to look: 3s, 1m.
    #[arg(long = "for", value_name = "TIME", default_value = "3s", value_parser = length)]
    pub length_s: f64,
    /// Mean time between two samples of what every thread does, at least 1ms.
    #[arg(long, value_name = "TIME", default_value = "10ms", value_parser = interval)]
    pub interval: f64,
    /// Do not trace, even where rights and kernel allow it.
    #[arg(long)]
    pub no_trace: bool,
}

fn length(text: &str) -> Result<f64, String> {
    let seconds = quantity::seconds(text)?;
    let fits = (0.1..=3600.0).contains(&seconds);
    if fits { Ok(seconds) } else { Err(format!("'{text}' is not between 100ms and 1h")) }
}

fn interval(text: &str) -> Result<f64, String> {
    let seconds = quantity::seconds(text)?;
    let fits = (0.001..=60.0).contains(&seconds);
    if fits { Ok(seconds) } else { Err(format!("'{text}' is not between 1ms and 1m")) }
}
