//! Why tracing cannot be done here, what would enable it, and what is lost without it.

use std::fmt;

/// The kind of obstacle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Why {
    /// The right to load eBPF programs is missing.
    NotPermitted,
    /// The kernel has no eBPF system call, or no tracing programs.
    NoBpf,
    /// The kernel does not describe its types (`/sys/kernel/btf/vmlinux`).
    NoBtf,
    /// The kernel lacks a tracepoint or a field, or refuses the program.
    Unsupported,
    /// Anything else: no memory, no file descriptors.
    Failed,
}

/// Tracing cannot be done here; the sampler can still be used.
#[derive(Clone, Debug, serde::Serialize)]
pub struct Unavailable {
    /// The kind of obstacle.
    pub why: Why,
    /// What was met, in one line.
    pub detail: String,
    /// What would enable tracing.
    pub enables: &'static str,
}

impl Unavailable {
    /// What the caller cannot tell when it falls back to the sampler.
    pub const LOSES: &'static str = "without tracing: no histograms of host wait and service time, means by sampling \
         only, no request sizes, requeues or splits, no TASK SET FULL or BUSY counts, no processes";

    pub(super) fn new(why: Why, detail: impl Into<String>) -> Self {
        let enables = match why {
            Why::NotPermitted => {
                "run as root, or give the capabilities CAP_BPF and CAP_PERFMON (CAP_SYS_ADMIN before kernel 5.8)"
            }
            Why::NoBpf => "a kernel built with CONFIG_BPF_SYSCALL and CONFIG_BPF_EVENTS",
            Why::NoBtf => {
                "a kernel built with CONFIG_DEBUG_INFO_BTF (Debian 11, RHEL 8.2, Ubuntu 20.10 and newer have it)"
            }
            Why::Unsupported => "a kernel from 5.10 on with block tracepoints (CONFIG_BLK_DEV_IO_TRACE)",
            Why::Failed => "see the message; memory and file descriptors are the usual limits",
        };
        Self { why, detail: detail.into(), enables }
    }

    /// By what the system call said.
    pub(super) fn from_errno(errno: Option<i32>, detail: String) -> Self {
        let why = match errno {
            Some(libc::EPERM | libc::EACCES) => Why::NotPermitted,
            Some(libc::ENOSYS) => Why::NoBpf,
            Some(libc::EINVAL | libc::ENOENT | libc::ENOTSUP | libc::E2BIG) => Why::Unsupported,
            _ => Why::Failed,
        };
        Self::new(why, detail)
    }
}

impl fmt::Display for Unavailable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "tracing is not possible: {}; what would help: {}", self.detail, self.enables)
    }
}

impl std::error::Error for Unavailable {}
