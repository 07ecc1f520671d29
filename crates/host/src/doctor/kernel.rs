//! What the generator needs of the kernel.

use super::syscalls::{try_io_uring, try_libaio};
use super::{Check, State};
use crate::root::Root;
use record::HostFacts;

/// Locked memory that registered buffers of a deep probe take: 256 I/Os of 1 MiB.
const LOCKED_BYTES: u64 = 256 << 20;

pub(super) fn io_uring(root: &Root) -> Check {
    let gives = "load through io_uring, the cheapest engine per I/O";
    let check = |state, why: String| Check::new("io-uring", gives, state, why);
    let setting: Option<u32> = root.number("/proc/sys/kernel/io_uring_disabled");
    let off = "set sysctl kernel.io_uring_disabled to 0, or use --engine libaio";
    if setting == Some(2) {
        return check(State::No, "kernel.io_uring_disabled is 2: refused to everybody".to_owned())
            .remedy(off);
    }
    if !root.is_system() {
        return check(State::Partly, "a captured tree: the call was not tried".to_owned());
    }
    match try_io_uring() {
        Ok(()) => check(State::Yes, "the kernel set up a ring".to_owned()),
        Err(e) if e.raw_os_error() == Some(libc::ENOSYS) => {
            check(State::No, "this kernel has none (5.1 and newer do)".to_owned())
                .remedy("use --engine libaio")
        }
        Err(e) if setting == Some(1) => {
            check(State::No, format!("kernel.io_uring_disabled is 1: {e}")).remedy(off)
        }
        Err(e) => check(State::No, format!("setting up a ring failed: {e}"))
            .remedy("a container's seccomp profile may forbid it; use --engine libaio"),
    }
}

pub(super) fn libaio(root: &Root) -> Check {
    let gives = "load through libaio, as Oracle and MySQL submit it";
    let used: u64 = root.number("/proc/sys/fs/aio-nr").unwrap_or(0);
    let check = |state, why: String| Check::new("libaio", gives, state, why);
    let Some(most) = root.number::<u64>("/proc/sys/fs/aio-max-nr") else {
        return check(State::No, "this kernel was built without it".to_owned())
            .remedy("use --engine io_uring or sync");
    };
    let left = most.saturating_sub(used);
    let why = format!("{used} of {most} events are taken (fs.aio-nr, fs.aio-max-nr)");
    let more = "raise sysctl fs.aio-max-nr (Oracle asks for 1048576)";
    if root.is_system()
        && let Err(e) = try_libaio()
    {
        return check(State::No, format!("{why}; setting up a context failed: {e}")).remedy(more);
    }
    if left < 4096 {
        return check(State::Partly, format!("{why}: a deep probe may not get what it needs")).remedy(more);
    }
    check(State::Yes, why)
}

pub(super) fn locked_memory(root: &Root, facts: &HostFacts) -> Check {
    let gives = "buffers registered with the kernel once, not at each I/O";
    let check = |state, why: String| Check::new("locked-memory", gives, state, why);
    if facts.root {
        return check(State::Yes, "root is not bound by the limit".to_owned());
    }
    if !root.is_system() {
        return check(State::Partly, "a captured tree: the limit is not in it".to_owned());
    }
    match rustix::process::getrlimit(rustix::process::Resource::Memlock).current {
        None => check(State::Yes, "no limit".to_owned()),
        Some(bytes) if bytes >= LOCKED_BYTES => check(State::Yes, format!("{} MiB", bytes >> 20)),
        Some(bytes) => {
            check(State::Partly, format!("{} KiB; deep probes of large blocks need more", bytes >> 10))
                .remedy("ulimit -l unlimited, or memlock in /etc/security/limits.conf")
        }
    }
}

pub(super) fn pinning(facts: &HostFacts) -> Check {
    let gives = "workers pinned to cores, so that CPU per I/O and the rate one core carries can be told";
    let count = facts.cpus_allowed.len();
    let why = format!("{count} of {} logical CPUs are allowed", facts.cpus_online.unwrap_or(0));
    let check = |state| Check::new("cores", gives, state, why.clone());
    match count {
        0 => check(State::No).remedy("mount /proc"),
        1 => check(State::Partly).remedy("allow a second core: load and observation share the only one"),
        _ => check(State::Yes),
    }
}

pub(super) fn memory(facts: &HostFacts) -> Check {
    let gives = "a measuring file beyond what this host can cache";
    let check = |state, why: String| Check::new("memory", gives, state, why);
    match (facts.memory_bytes, facts.memory_available_bytes) {
        (Some(all), Some(free)) if free < 256 << 20 => {
            check(State::Partly, format!("only {} of {} MiB are available", free >> 20, all >> 20))
                .remedy("buffers of the load may push others out: use smaller blocks or fewer I/Os")
        }
        (Some(all), Some(free)) => {
            check(State::Yes, format!("{} of {} MiB are available", free >> 20, all >> 20))
        }
        _ => check(State::Partly, "/proc/meminfo does not tell".to_owned()),
    }
}
