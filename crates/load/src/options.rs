//! What the user chose.

use crate::engine::EngineKind;
use crate::workload::Workload;
use std::path::PathBuf;

/// Choices for one subject. Absent means that the load generator chooses.
#[derive(Clone, Debug)]
pub struct Options {
    /// A directory, an existing file or a block device.
    pub target: PathBuf,
    /// What I/O to make.
    pub workload: Workload,
    /// Engine; the workload's natural one when absent.
    pub engine: Option<EngineKind>,
    /// Worker threads of an asynchronous engine; `max(1, min(cpus / 2, 4))` when absent.
    pub workers: Option<u32>,
    /// Logical CPUs to pin workers to, in turn; not pinned when empty.
    pub cores: Vec<u32>,
    /// Bytes of the own file in a directory, or how much of a file or device to touch.
    pub size_bytes: Option<u64>,
    /// Through the page cache instead of direct I/O.
    pub buffered: bool,
    /// All workers touch the whole region instead of a part each.
    pub shared_regions: bool,
    /// The device whose data may be destroyed: the second naming that a write to a device needs.
    pub destroy_data_on: Option<PathBuf>,
    /// Seed of addresses, arrivals and content; a fresh one when absent.
    pub seed: Option<u64>,
}

impl Options {
    /// Everything left to the load generator but target and workload.
    pub fn new(target: impl Into<PathBuf>, workload: Workload) -> Self {
        Self {
            target: target.into(),
            workload,
            engine: None,
            workers: None,
            cores: Vec::new(),
            size_bytes: None,
            buffered: false,
            shared_regions: false,
            destroy_data_on: None,
            seed: None,
        }
    }
}
