//! What can and cannot be measured here, why, and what would enable it.
//!
//! [`examine`] looks at the host, [`examine_target`] at a place for the load. Nothing is changed: probes are calls
//! whose result is closed at once, and a file without a name where direct I/O is tried.

mod kernel;
mod observe;
mod syscalls;
mod target;
mod trace;
mod watch;

use crate::root::Root;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// One thing that a measurement needs or gains from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Check {
    /// Short name, stable: `io-uring`, `lun-queue` ...
    pub id: String,
    /// What it gives the user.
    pub gives: String,
    /// Whether it is there.
    pub state: State,
    /// What was seen.
    pub why: String,
    /// What would enable it, where something can be done.
    pub remedy: Option<String>,
}

/// Whether something can be measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum State {
    /// Fully.
    Yes,
    /// With a restriction that `why` names.
    Partly,
    /// Not at all.
    No,
}

impl Check {
    fn new(id: &str, gives: &str, state: State, why: impl Into<String>) -> Self {
        Self { id: id.to_owned(), gives: gives.to_owned(), state, why: why.into(), remedy: None }
    }

    fn remedy(mut self, remedy: impl Into<String>) -> Self {
        self.remedy = Some(remedy.into());
        self
    }
}

/// Examines the host.
pub fn examine(root: &Root) -> Vec<Check> {
    let facts = crate::facts::read(root);
    let tracing = trace::Tracing::try_it(root, &facts);
    vec![
        kernel::io_uring(root),
        kernel::libaio(root),
        kernel::locked_memory(root, &facts),
        kernel::pinning(&facts),
        kernel::memory(&facts),
        observe::counters(root),
        observe::queue_split(root),
        observe::lun_queue(root),
        observe::pressure(root),
        observe::steal(root, &facts),
        observe::caps(root),
        tracing.tracing(root, &facts),
        tracing.blktrace(root),
        watch::devices(root),
        tracing.task_set_full(root),
        watch::processes(&facts, root),
        observe::below(&facts),
    ]
}

/// Examines a directory, file or device that is to be put under load.
pub fn examine_target(root: &Root, place: &Path) -> Vec<Check> {
    let mut checks = vec![target::direct(place), target::space(place)];
    checks.extend(target::path(root, place));
    checks
}
