//! What the kernel shows of the path and of the neighbours.

use super::{Check, State};
use crate::root::Root;
use record::HostFacts;

pub(super) fn counters(root: &Root) -> Check {
    let gives = "rate, size and response time of every layer of the path";
    let disks = root.names("/sys/block");
    let off: Vec<&str> = disks
        .iter()
        .filter(|d| root.number::<u32>(format!("/sys/block/{d}/queue/iostats")) == Some(0))
        .map(String::as_str)
        .collect();
    let check = |state, why: String| Check::new("counters", gives, state, why);
    if disks.is_empty() {
        return check(State::No, "/sys/block is empty or absent".to_owned())
            .remedy("mount /sys (in a container: -v /sys:/sys:ro)");
    }
    if off.is_empty() {
        return check(State::Yes, format!("{} block devices, all with accounting on", disks.len()));
    }
    check(State::Partly, format!("accounting is off on {}", off.join(", ")))
        .remedy(format!("echo 1 > /sys/block/{}/queue/iostats", off[0]))
}

pub(super) fn queue_split(root: &Root) -> Check {
    let gives = "I/Os in the host queue told from I/Os at the device";
    let why = "the kernel counts accepted and sent requests apart (6.16 and newer)";
    if crate::sample::release_counts_accepted(root) {
        return Check::new("queue-split", gives, State::Yes, why);
    }
    let why = "by readings of what is in flight; for requests shorter than about 1 ms under a scheduler only bounds";
    Check::new("queue-split", gives, State::Partly, why)
}

pub(super) fn lun_queue(root: &Root) -> Check {
    let gives = "commands at each LUN against its queue depth, failed commands, QUEUE FULL scars";
    let disks = root.names("/sys/block");
    let luns: Vec<&String> =
        disks.iter().filter(|d| root.exists(format!("/sys/block/{d}/device/device_busy"))).collect();
    match luns.as_slice() {
        [] => Check::new("lun-queue", gives, State::No, "no SCSI disk is seen here"),
        luns => Check::new("lun-queue", gives, State::Yes, format!("{} SCSI disks", luns.len())),
    }
}

pub(super) fn pressure(root: &Root) -> Check {
    let gives = "whether other work took cores, memory or I/O during a measurement";
    if root.text("/proc/pressure/cpu").is_ok_and(|t| t.starts_with("some")) {
        return Check::new("pressure", gives, State::Yes, "/proc/pressure is there");
    }
    Check::new(
        "pressure",
        gives,
        State::Partly,
        "no /proc/pressure; run queue and foreign CPU time still tell a part",
    )
    .remedy("boot with psi=1 (kernel 4.20 and newer)")
}

pub(super) fn steal(root: &Root, facts: &HostFacts) -> Check {
    let gives = "processor time that the hypervisor took away";
    let text = root.text("/proc/stat").unwrap_or_default();
    let fields = text.lines().next().map_or(0, |l| l.split_ascii_whitespace().count());
    let check = |state, why: String| Check::new("steal", gives, state, why);
    match (&facts.virtualization, fields) {
        (_, 0..=8) => check(State::No, "/proc/stat has no field for it".to_owned()),
        (None, _) => check(State::Yes, "no hypervisor is seen".to_owned()),
        (Some(machine), _) => check(State::Yes, format!("{machine}; some hypervisors never report it")),
    }
}

pub(super) fn caps(root: &Root) -> Check {
    let gives = "I/O caps of control groups, so that a throttle is named as one";
    let mounts = root.text("/proc/self/mountinfo").unwrap_or_default();
    let v1 = mounts
        .lines()
        .filter(|l| l.contains(" - cgroup "))
        .any(|l| l.split([',', ' ']).any(|w| w == "blkio"));
    let v2 = mounts.lines().any(|l| l.contains(" - cgroup2 "));
    let v2_io =
        root.text("/sys/fs/cgroup/cgroup.controllers").is_ok_and(|t| t.split_whitespace().any(|w| w == "io"));
    let check = |state, why: &str| Check::new("caps", gives, state, why);
    match (v1, v2, v2_io) {
        (true, ..) => check(State::Yes, "cgroup v1 blkio is mounted"),
        (_, true, true) => check(State::Yes, "cgroup v2 with the io controller is mounted"),
        (_, true, false) => {
            check(State::Partly, "cgroup v2 is mounted; its io controller is not seen at the top")
        }
        _ => check(State::No, "no cgroup hierarchy with I/O caps is mounted")
            .remedy("mount cgroup2 on /sys/fs/cgroup; in a container caps set outside stay out of sight"),
    }
}

pub(super) fn below(facts: &HostFacts) -> Check {
    let gives = "the path down to the hardware";
    match &facts.virtualization {
        None => Check::new("hardware", gives, State::Yes, "no hypervisor or container is seen"),
        Some(machine) => Check::new(
            "hardware",
            gives,
            State::Partly,
            format!("{machine}: queues, caches and caps below this host show only as time at the device"),
        ),
    }
}
