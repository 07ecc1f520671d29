//! What was concluded from recorded text: a finding with its evidence, cause and advice.

use record::imported::Platform;
use serde::{Deserialize, Serialize};

/// How much a finding matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// Good to know: how to read the numbers, what cannot be told from them.
    Info,
    /// Worth a look.
    Low,
    /// Costs throughput or latency.
    Medium,
    /// Costs much of it, or endangers the host.
    High,
}

impl Severity {
    /// All, lowest first.
    pub const ALL: [Self; 4] = [Self::Info, Self::Low, Self::Medium, Self::High];

    /// The word used in JSON, text and options.
    pub fn word(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
        }
    }
}

/// A line that a finding rests on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Evidence {
    /// The source's path; absent for what was computed over many lines.
    pub file: Option<String>,
    /// Its line, from 1; absent for what was computed over many lines.
    pub line: Option<u64>,
    /// What stands there, or what was computed.
    pub text: String,
}

/// A conclusion.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// Its rule: `PL101`. `plimsoll explain` tells more.
    pub id: String,
    /// How much it matters here.
    pub severity: Severity,
    /// One sentence with this case's numbers.
    pub title: String,
    /// The host; absent when no text names it.
    pub host: Option<String>,
    /// The platform of that host: advice is for it.
    pub platform: Platform,
    /// The device, adapter, event ... it is about; absent for the host as a whole.
    pub device: Option<String>,
    /// What it rests on, the strongest first.
    pub evidence: Vec<Evidence>,
    /// Why this happens.
    pub cause: String,
    /// What to do on this platform, best first.
    pub advice: Vec<String>,
    /// What would prove it wrong.
    pub refuted_by: String,
}
