//! The host a run was made on.

use serde::{Deserialize, Serialize};

/// Facts of the host, read once per run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HostFacts {
    /// Host name.
    pub hostname: Option<String>,
    /// Kernel release.
    pub kernel: Option<String>,
    /// Distribution, pretty name.
    pub distribution: Option<String>,
    /// Processor model.
    pub cpu_model: Option<String>,
    /// Logical CPUs online.
    pub cpus_online: Option<u32>,
    /// Logical CPUs this process may use.
    pub cpus_allowed: Vec<u32>,
    /// Physical memory.
    pub memory_bytes: Option<u64>,
    /// Memory the page cache may grow into.
    pub memory_available_bytes: Option<u64>,
    /// Hypervisor or container, when one is seen.
    pub virtualization: Option<String>,
    /// Active tuned profile.
    pub tuned_profile: Option<String>,
    /// Whether this process has root's rights.
    pub root: bool,
}
