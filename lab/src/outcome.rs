//! What came out of one boot of a rig. The guest writes it, the host reads it.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// One boot.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Outcome {
    /// The rig's name.
    pub rig: String,
    /// `uname -r` of the guest.
    pub kernel_release: String,
    /// Names in the rig to kernel names (`lun0` is `sda`).
    pub devices: BTreeMap<String, String>,
    /// What was done, in order.
    pub jobs: Vec<JobOutcome>,
    /// What went wrong outside a job: the rig could not be built, a command was missing. Empty when all went well.
    pub complaints: Vec<String>,
    /// The whole went to its end.
    pub finished: bool,
}

/// One job.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct JobOutcome {
    /// Its name.
    pub name: String,
    /// Exit code of its command; absent when a signal or its time limit ended it, or it had no command.
    pub exit: Option<i32>,
    /// `plimsoll probe --json`, for probes.
    pub probe: Option<serde_json::Value>,
    /// `plimsoll watch --once --json`, for watches.
    #[serde(default)]
    pub watch: Option<serde_json::Value>,
    /// Standard output of any other command.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
    /// Values of the rig's known settings right before and right after: `lun0.queue_depth` to its text.
    pub settings_before: BTreeMap<String, String>,
    /// Right after.
    pub settings_after: BTreeMap<String, String>,
    /// For `apply_advice_of`: file, value before, value written.
    pub applied: Option<Applied>,
    /// Guest uptime at begin and end.
    pub from_s: f64,
    /// End.
    pub to_s: f64,
}

/// A change made on advice.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Applied {
    /// The file as advised.
    pub file: String,
    /// Its text before.
    pub before: String,
    /// What was written.
    pub written: String,
    /// What it read after.
    pub after: String,
}
