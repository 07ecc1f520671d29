//! What `plimsoll watch` can and cannot show here.

use super::{Check, State};
use crate::root::Root;
use record::HostFacts;

/// Which devices have a host queue that is told from the device queue, and what is missing about failures.
pub(super) fn devices(root: &Root) -> Check {
    let gives = "live host queue and device queue of every device (watch)";
    let check = |state, why: String| Check::new("watch-devices", gives, state, why);
    let Ok(text) = root.text("/proc/diskstats") else {
        return check(State::No, "/proc/diskstats cannot be read".to_owned())
            .remedy("mount /proc (in a container: the host's)");
    };
    let names: Vec<String> = root.names("/sys/block");
    let split = names.iter().filter(|n| root.exists(format!("/sys/block/{n}/mq/0"))).count();
    let why = format!(
        "{} rows of counters, {} devices, {split} of them with a host queue; the 16 busiest are read many times a second",
        text.lines().count(),
        names.len()
    );
    check(if names.is_empty() { State::Partly } else { State::Yes }, why)
}

/// `/proc/PID/io` of others needs rights.
pub(super) fn processes(facts: &HostFacts, root: &Root) -> Check {
    let gives = "which processes do I/O (watch)";
    let check = |state, why: &str| Check::new("watch-processes", gives, state, why);
    if !root.exists("/proc/self/io") {
        return check(State::No, "the kernel keeps no I/O accounts of tasks")
            .remedy("a kernel built with CONFIG_TASK_IO_ACCOUNTING");
    }
    match facts.root {
        true => check(State::Yes, "all processes, by what they read from and write to storage"),
        false => check(State::Partly, "without root only your own processes").remedy("run watch as root"),
    }
}
