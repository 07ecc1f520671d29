//! Whether the tracer can be had here, and what kernel lockdown bars.

use super::{Check, State};
use crate::root::Root;
use crate::trace::{Options, Parts, ScsiSource, Tracer, Unavailable};
use record::HostFacts;
use rustix::mount::{FsMountFlags, FsOpenFlags, MountAttrFlags, fsconfig_create, fsmount, fsopen};
use std::io::Read;

/// What was found out about tracing, once for all checks.
pub(super) struct Tracing {
    lockdown: Option<String>,
    /// Absent where it was not tried: a captured tree, or no root.
    tried: Option<Result<Parts, Unavailable>>,
}

impl Tracing {
    /// Tries the tracer: it is loaded, attached and dropped at once.
    pub(super) fn try_it(root: &Root, facts: &HostFacts) -> Self {
        let lockdown = lockdown(root, facts);
        // Every kernel that may be tried without root refuses; asking it would only be noise in its log.
        let options = Options { memory_max_bytes: 8 << 20, ..Options::default() };
        let tried = (root.is_system() && facts.root)
            .then(|| Tracer::start(root, options).map(|tracer| tracer.parts().clone()));
        Self { lockdown, tried }
    }

    pub(super) fn tracing(&self, root: &Root, facts: &HostFacts) -> Check {
        let gives = "host wait and service time of each I/O, requeues, and who sent it";
        let check = |state, why: String| Check::new("tracing", gives, state, why);
        match &self.tried {
            Some(Ok(parts)) if parts.missing.is_empty() => {
                return check(State::Yes, "the tracer was loaded and attached, and let go".to_owned());
            }
            Some(Ok(parts)) => {
                return check(State::Partly, format!("it runs, but: {}", parts.missing.join("; ")));
            }
            Some(Err(why)) => return check(State::No, why.detail.clone()).remedy(why.enables),
            None => {}
        }
        if self.lockdown.as_deref() == Some("confidentiality") {
            return check(State::No, "kernel lockdown is 'confidentiality': no tracing at all".to_owned())
                .remedy("boot without lockdown=confidentiality");
        }
        if !facts.root {
            return check(State::No, "needs root (or CAP_BPF and CAP_PERFMON)".to_owned())
                .remedy("run as root; without it the split comes from counters");
        }
        match root.exists("/sys/kernel/btf/vmlinux") {
            true => check(State::Yes, "root, and the kernel describes its types (BTF)".to_owned()),
            false => check(State::No, "the kernel does not describe its types (BTF)".to_owned())
                .remedy("a kernel built with CONFIG_DEBUG_INFO_BTF"),
        }
    }

    /// Without a tracer failures have one count.
    pub(super) fn task_set_full(&self, root: &Root) -> Check {
        let gives = "TASK SET FULL told from other failures (watch)";
        let check = |state, why: String| Check::new("watch-task-set-full", gives, state, why);
        let disks = root.names("/sys/block");
        if !disks.iter().any(|disk| root.exists(format!("/sys/block/{disk}/device/ioerr_cnt"))) {
            let why = "no SCSI disk is seen here, and other disks have no such answer";
            return check(State::No, why.to_owned());
        }
        match &self.tried {
            Some(Ok(Parts { scsi: ScsiSource::None(why), .. })) => {
                check(State::No, format!("SCSI answers cannot be traced: {why}"))
            }
            Some(Ok(_)) => check(State::Yes, "the tracer counts each answer of each LUN".to_owned()),
            _ => check(
                State::No,
                "counters alone: watch shows failed commands of all kinds together, and a queue depth that fell"
                    .to_owned(),
            )
            .remedy("run watch as root"),
        }
    }

    /// What others would use.
    pub(super) fn blktrace(&self, root: &Root) -> Check {
        let gives = "blktrace, to compare with (Plimsoll does not need it)";
        let check = |state, why: String| Check::new("blktrace", gives, state, why);
        match self.lockdown.as_deref() {
            Some(level @ ("integrity" | "confidentiality")) => check(
                State::No,
                format!("kernel lockdown is '{level}': the files of debugfs are closed to root too"),
            )
            .remedy("`plimsoll watch` as root sees the same events, and lockdown=integrity does not bar it"),
            Some(_) => check(State::Yes, "the kernel is not locked down".to_owned()),
            None if root.exists("/sys/kernel/debug/block") => {
                check(State::Yes, "debugfs is mounted; the kernel knows of no lockdown".to_owned())
            }
            None => check(State::Partly, "debugfs is not mounted, and lockdown is not told".to_owned())
                .remedy("mount -t debugfs none /sys/kernel/debug"),
        }
    }
}

/// The level in force, where it is told.
fn lockdown(root: &Root, facts: &HostFacts) -> Option<String> {
    let text = root.text("/sys/kernel/security/lockdown").ok();
    let text = text.or_else(|| (root.is_system() && facts.root).then(unmounted)?);
    level(&text?)
}

/// `none [integrity] confidentiality`: the word in brackets.
fn level(text: &str) -> Option<String> {
    Some(text.split_once('[')?.1.split_once(']')?.0.to_owned())
}

/// Reads the level from a securityfs that nobody mounted, by a mount of its own that is attached nowhere.
fn unmounted() -> Option<String> {
    let filesystem = fsopen("securityfs", FsOpenFlags::FSOPEN_CLOEXEC).ok()?;
    fsconfig_create(&filesystem).ok()?;
    let attributes = MountAttrFlags::MOUNT_ATTR_RDONLY;
    let top = fsmount(&filesystem, FsMountFlags::FSMOUNT_CLOEXEC, attributes).ok()?;
    let flags = rustix::fs::OFlags::RDONLY | rustix::fs::OFlags::CLOEXEC;
    let file = rustix::fs::openat(&top, "lockdown", flags, rustix::fs::Mode::empty()).ok()?;
    let mut text = String::new();
    std::fs::File::from(file).take(4096).read_to_string(&mut text).ok()?;
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_level_in_force_stands_in_brackets() {
        assert_eq!(level("none [integrity] confidentiality\n").as_deref(), Some("integrity"));
        assert_eq!(level("[none] integrity confidentiality").as_deref(), Some("none"));
        assert_eq!(level("none"), None);
    }
}
