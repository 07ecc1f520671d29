//! Arguments of `read` and `explain`.

use analyze::Severity;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  plimsoll read case-4711/                        a folder of text from any hosts, whatever the files are called
  plimsoll read case.tar.gz --json | jq '.findings[] | {id, device, title}'
  ssh db1 iostat -xt 1 60 | plimsoll read -       from standard input
  plimsoll read awr.html iostat.out --fail-on high    exit code 1 when there is a finding of that severity
  plimsoll read --formats                         what can be read

Files are recognised by their content: plain, gzip, zstd, tar. Texts of one host support each other: iostat beside lsattr,
mpstat beside AWR. Texts that name no host belong to the host that is named in the same folder.";

/// Arguments of `read`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct ReadArgs {
    /// Files, folders, archives; - is standard input.
    #[arg(value_name = "PATH", required_unless_present = "formats")]
    pub paths: Vec<PathBuf>,
    /// List the formats that can be read.
    #[arg(long)]
    pub formats: bool,
    /// Exit with 1 when there is a finding of this severity or above: info, low, medium, high.
    #[arg(long, value_name = "SEVERITY", value_parser = severity)]
    pub fail_on: Option<Severity>,
    /// Leave findings below this severity out.
    #[arg(long, value_name = "SEVERITY", default_value = "info", value_parser = severity)]
    pub least: Severity,
    /// Keep what was read and concluded in this folder, as a run.
    #[arg(long, value_name = "RUN")]
    pub out: Option<PathBuf>,
}

const EXPLAIN_EXAMPLES: &str = "\
Examples:
  plimsoll explain                all rules, a line each
  plimsoll explain PL101          why, what the numbers mean, the fix on each platform, references
  plimsoll explain PL101 --json";

/// Arguments of `explain`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXPLAIN_EXAMPLES)]
pub struct ExplainArgs {
    /// The finding's id.
    pub id: Option<String>,
}

fn severity(text: &str) -> Result<Severity, String> {
    let known = Severity::ALL.into_iter().find(|s| s.word() == text);
    known.ok_or_else(|| format!("'{text}' is none of info, low, medium, high"))
}
