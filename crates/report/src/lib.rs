//! Shows what was concluded: JSON by contract, a terminal report that answers first, and a page that works offline.
//!
//! Everything here is a pure function from data to text. Nothing measures, concludes, reads files or prints; rounding
//! happens here and nowhere before. All three forms are drawn from one struct, [`ProbeReport`], so that they agree.

pub mod cores;
mod curve;
pub mod html;
pub mod inspect;
pub mod json;
pub mod metrics;
pub mod number;
pub mod reading;
pub mod recording;
pub mod terminal;
pub mod watch;
mod words;

use jiff::Timestamp;
use probe::Answer;
use record::{HostFacts, IoPath, SubjectFacts};

/// A probe and all that is needed to read it years later.
#[derive(Clone, Debug)]
pub struct ProbeReport {
    /// What was concluded.
    pub answer: Answer,
    /// What was put under load.
    pub subject: SubjectFacts,
    /// The host it ran on.
    pub host: HostFacts,
    /// The path the I/Os took; absent for subjects without one.
    pub path: Option<IoPath>,
    /// Options in force, given or by default: a JSON object.
    pub options: serde_json::Value,
    /// Start of the run.
    pub started_at: Timestamp,
    /// Where the run was kept; absent when it was not.
    pub run_folder: Option<String>,
}

impl ProbeReport {
    /// The version of Plimsoll that draws the report.
    pub const VERSION: &'static str = env!("CARGO_PKG_VERSION");

    /// Where the page stands, when the run was kept.
    pub fn page(&self) -> Option<String> {
        let folder = self.run_folder.as_deref()?;
        Some(format!("{}/{}", folder.trim_end_matches('/'), record::run::PAGE_FILE))
    }
}
