//! Whether any process has a device open.

use super::Refusal;
use super::relatives::Relatives;
use host::Root;
use std::io::ErrorKind;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::time::Duration;

/// Looks at a device that somebody has open are repeated: a device manager opens new devices for a moment.
const LOOKS: u32 = 5;
const BETWEEN_LOOKS: Duration = Duration::from_millis(200);

/// Refuses when a process that can be looked at has the device, or another path to it, open.
pub fn check(root: &Root, relatives: &Relatives) -> Result<(), Refusal> {
    let mut last = look(root, relatives);
    for _ in 1..LOOKS {
        if !matches!(last, Err(Refusal::InUse { .. })) {
            return last;
        }
        std::thread::sleep(BETWEEN_LOOKS);
        last = look(root, relatives);
    }
    last
}

fn look(root: &Root, relatives: &Relatives) -> Result<(), Refusal> {
    for process in root.names("/proc").iter().filter(|n| n.bytes().all(|b| b.is_ascii_digit())) {
        let folder = format!("/proc/{process}/fd");
        let listed = std::fs::read_dir(root.place(&folder));
        if listed.is_err_and(|e| e.kind() == ErrorKind::PermissionDenied) && !super::sees_all() {
            return Err(Refusal::CannotSee { what: folder });
        }
        for descriptor in root.names(&folder) {
            look_at(root, relatives, process, &format!("{folder}/{descriptor}"))?;
        }
    }
    Ok(())
}

fn look_at(root: &Root, relatives: &Relatives, process: &str, descriptor: &str) -> Result<(), Refusal> {
    // Anything may be closed while we look.
    let Ok(link) = root.link(descriptor) else { return Ok(()) };
    let number = std::fs::metadata(root.place(descriptor))
        .ok()
        .filter(|status| status.file_type().is_block_device())
        .map(|status| format!("{}:{}", rustix::fs::major(status.rdev()), rustix::fs::minor(status.rdev())));
    let nodes = || std::iter::once(&relatives.target).chain(&relatives.siblings);
    let found = nodes().find(|node| match &number {
        Some(dev) => *dev == node.dev,
        None => link.to_str().and_then(|l| l.strip_prefix("/dev/")) == Some(&node.name),
    });
    let Some(node) = found else { return Ok(()) };
    let name = root.text(format!("/proc/{process}/comm")).unwrap_or_default();
    Err(Refusal::InUse { device: node.name.clone(), by: format!("process {process} ({name}) has it open") })
}

#[cfg(test)]
mod tests {
    use super::super::uses::tests::Fake;
    use super::*;

    #[test]
    fn a_process_that_has_it_open_is_named() {
        let fake = Fake::new();
        assert_eq!(look(&fake.root(), &fake.relatives(8, 16)), Ok(()));
        fake.write("proc/88/comm", "oracle\n");
        fake.link("proc/88/fd/5", "/dev/sdb");
        let refusal = look(&fake.root(), &fake.relatives(8, 16)).unwrap_err();
        assert_eq!(refusal.to_string(), "sdb is in use: process 88 (oracle) has it open");
        assert_eq!(look(&fake.root(), &fake.relatives(8, 32)), Ok(()));
    }
}
