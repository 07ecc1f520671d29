//! Whether anything uses a device or one that shares its blocks, as the kernel's lists tell.

use super::Refusal;
use super::relatives::{Node, Relatives};
use host::Root;
use std::collections::HashSet;
use std::io::ErrorKind;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::PathBuf;

/// Refuses when anything does.
pub fn check(root: &Root, relatives: &Relatives) -> Result<(), Refusal> {
    if !relatives.partitions.is_empty() {
        return Err(Refusal::Partitioned { names: relatives.partitions.join(", ") });
    }
    check_holders(root, relatives)?;
    check_swap(root, relatives)?;
    check_loops(root, relatives)?;
    check_mounts(root, relatives)
}

fn in_use(node: &Node, by: String) -> Refusal {
    Refusal::InUse { device: node.name.clone(), by }
}

/// Devices built on the device itself, its parent disk or another path to it. What stands below it has holders by its nature.
fn check_holders(root: &Root, relatives: &Relatives) -> Result<(), Refusal> {
    let nodes = std::iter::once(&relatives.target).chain(&relatives.parent).chain(&relatives.siblings);
    for node in nodes {
        let holders = root.names(format!("/sys/class/block/{}/holders", node.name));
        // A device may be built of several paths to one LUN, the target among them as the top.
        if let Some(holder) = holders.iter().find(|h| **h != relatives.target.name) {
            return Err(in_use(node, format!("{holder} is built on it")));
        }
    }
    Ok(())
}

fn check_swap(root: &Root, relatives: &Relatives) -> Result<(), Refusal> {
    let Ok(swaps) = root.text("/proc/swaps") else { return Ok(()) };
    for line in swaps.lines().skip(1) {
        let path = line.split_ascii_whitespace().next().unwrap_or_default();
        if let Some(node) = relatives.all().find(|n| is_node(root, path, n)) {
            return Err(in_use(node, "it is swap space".to_owned()));
        }
    }
    Ok(())
}

fn check_loops(root: &Root, relatives: &Relatives) -> Result<(), Refusal> {
    for name in root.names("/sys/class/block").iter().filter(|n| n.starts_with("loop")) {
        let Ok(file) = root.text(format!("/sys/class/block/{name}/loop/backing_file")) else { continue };
        if let Some(node) = relatives.all().find(|n| is_node(root, &file, n)) {
            return Err(in_use(node, format!("{name} is a loop device over it")));
        }
    }
    Ok(())
}

/// Mounts in the namespaces of all processes whose list can be read. (The exclusive open that follows sees the rest: the
/// kernel refuses it for a device that is mounted anywhere.)
fn check_mounts(root: &Root, relatives: &Relatives) -> Result<(), Refusal> {
    let mut seen = HashSet::new();
    for process in root.names("/proc").iter().filter(|n| n.bytes().all(|b| b.is_ascii_digit())) {
        // Processes of one namespace have the same mounts. One that ended meanwhile mounts nothing.
        let namespace = match root.link(format!("/proc/{process}/ns/mnt")) {
            Ok(namespace) => namespace,
            Err(error) if error.kind() == ErrorKind::PermissionDenied && !super::sees_all() => {
                return Err(Refusal::CannotSee { what: format!("/proc/{process}/ns/mnt") });
            }
            Err(_) => PathBuf::from(process),
        };
        if !seen.insert(namespace) {
            continue;
        }
        let Ok(mounts) = root.text(format!("/proc/{process}/mountinfo")) else { continue };
        for line in mounts.lines() {
            check_mount(root, relatives, line)?;
        }
    }
    Ok(())
}

/// One line of mountinfo (proc_pid_mountinfo(5)): `id parent major:minor root place options ... - type source ...`.
fn check_mount(root: &Root, relatives: &Relatives, line: &str) -> Result<(), Refusal> {
    let mut fields = line.split(' ');
    let dev = fields.nth(2).unwrap_or_default();
    let place = fields.nth(1).unwrap_or_default();
    // Filesystems over several devices (btrfs) have a number of their own; their source names one of the devices.
    let source = line.split_once(" - ").and_then(|(_, after)| after.split(' ').nth(1)).unwrap_or_default();
    match relatives.all().find(|n| n.dev == dev || is_node(root, source, n)) {
        Some(node) => Err(in_use(node, format!("it is mounted on {place}"))),
        None => Ok(()),
    }
}

/// Whether a path names this device: by its number, or by its kernel name where the node itself cannot be looked at.
fn is_node(root: &Root, path: &str, node: &Node) -> bool {
    if !path.starts_with("/dev/") {
        return false;
    }
    if path.strip_prefix("/dev/") == Some(&node.name) {
        return true;
    }
    std::fs::metadata(root.place(path)).is_ok_and(|status| {
        let device = status.rdev();
        let dev = format!("{}:{}", rustix::fs::major(device), rustix::fs::minor(device));
        status.file_type().is_block_device() && dev == node.dev
    })
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::relatives;
    use super::*;
    use std::path::Path;

    /// A host with disk sdb (8:16), two paths sdc and sdd to one LUN, and an idle mount of vda.
    pub struct Fake {
        folder: tempfile::TempDir,
    }

    impl Fake {
        pub fn new() -> Self {
            let fake = Self { folder: tempfile::tempdir().unwrap() };
            for (name, dev) in [("vda", "253:0"), ("sdb", "8:16"), ("sdc", "8:32"), ("sdd", "8:48")] {
                fake.disk(name, dev);
            }
            fake.write("sys/devices/x/block/sdc/device/wwid", "naa.6001");
            fake.write("sys/devices/x/block/sdd/device/wwid", "naa.6001");
            fake.write("proc/swaps", "Filename Type Size Used Priority\n");
            fake.write(
                "proc/1/mountinfo",
                "22 1 253:0 / / rw - ext4 /dev/vda rw\n23 22 0:5 / /proc rw - proc proc rw\n",
            );
            fake.link("proc/1/ns/mnt", "mnt:[1]");
            fake
        }

        pub fn disk(&self, name: &str, dev: &str) {
            self.write(&format!("sys/devices/x/block/{name}/dev"), dev);
            self.link(&format!("sys/dev/block/{dev}"), &format!("../../devices/x/block/{name}"));
            self.link(&format!("sys/class/block/{name}"), &format!("../../devices/x/block/{name}"));
        }

        pub fn write(&self, path: &str, text: &str) {
            let path = self.folder.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }

        pub fn link(&self, path: &str, to: &str) {
            let path = self.folder.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::os::unix::fs::symlink(to, path).unwrap();
        }

        pub fn root(&self) -> Root {
            Root::at(Path::new(self.folder.path()))
        }

        pub fn relatives(&self, major: u32, minor: u32) -> Relatives {
            relatives::find(&self.root(), rustix::fs::makedev(major, minor)).unwrap()
        }

        fn verdict(&self, major: u32, minor: u32) -> String {
            let relatives = self.relatives(major, minor);
            check(&self.root(), &relatives)
                .map_or_else(|refusal| refusal.to_string(), |()| "unused".to_owned())
        }
    }

    #[test]
    fn an_unused_disk_passes() {
        assert_eq!(Fake::new().verdict(8, 16), "unused");
    }

    #[test]
    fn the_mounted_disk_is_refused() {
        assert_eq!(Fake::new().verdict(253, 0), "vda is in use: it is mounted on /");
    }

    #[test]
    fn a_mount_in_another_namespace_is_seen() {
        let fake = Fake::new();
        fake.write("proc/77/mountinfo", "40 1 8:16 / /data rw - xfs /dev/sdb rw\n");
        fake.link("proc/77/ns/mnt", "mnt:[2]");
        assert_eq!(fake.verdict(8, 16), "sdb is in use: it is mounted on /data");
    }

    #[test]
    fn a_filesystem_with_a_number_of_its_own_is_seen_by_its_source() {
        let fake = Fake::new();
        fake.write("proc/1/mountinfo", "40 1 0:44 /sub /data rw shared:1 - btrfs /dev/sdb rw\n");
        assert_eq!(fake.verdict(8, 16), "sdb is in use: it is mounted on /data");
    }

    #[test]
    fn swap_is_refused() {
        let fake = Fake::new();
        fake.write("proc/swaps", "Filename Type Size Used Priority\n/dev/sdb partition 1 0 -2\n");
        assert_eq!(fake.verdict(8, 16), "sdb is in use: it is swap space");
    }

    #[test]
    fn holders_and_partitions_are_refused() {
        let fake = Fake::new();
        fake.write("sys/devices/x/block/sdb/holders/dm-0/x", "");
        assert_eq!(fake.verdict(8, 16), "sdb is in use: dm-0 is built on it");
        let fake = Fake::new();
        fake.write("sys/devices/x/block/sdb/sdb1/partition", "1");
        assert!(fake.verdict(8, 16).contains("partitions (sdb1)"));
    }

    #[test]
    fn a_partition_answers_for_its_disk() {
        let fake = Fake::new();
        fake.write("sys/devices/x/block/sdb/sdb1/partition", "1");
        fake.write("sys/devices/x/block/sdb/sdb1/dev", "8:17");
        fake.link("sys/dev/block/8:17", "../../devices/x/block/sdb/sdb1");
        fake.link("sys/class/block/sdb1", "../../devices/x/block/sdb/sdb1");
        assert_eq!(fake.verdict(8, 17), "unused");
        fake.write("sys/devices/x/block/sdb/holders/dm-4/x", "");
        assert_eq!(fake.verdict(8, 17), "sdb is in use: dm-4 is built on it");
    }

    #[test]
    fn another_path_to_the_same_lun_answers_for_it() {
        let fake = Fake::new();
        assert_eq!(fake.verdict(8, 32), "unused");
        fake.write("proc/1/mountinfo", "40 1 8:48 / /data rw - xfs /dev/sdd rw\n");
        assert_eq!(fake.verdict(8, 32), "sdd is in use: it is mounted on /data");
    }

    #[test]
    fn what_a_volume_stands_on_answers_for_it() {
        let fake = Fake::new();
        fake.disk("dm-0", "254:0");
        fake.write("sys/devices/x/block/dm-0/slaves/sdb/x", "");
        fake.write("sys/devices/x/block/sdb/holders/dm-0/x", "");
        assert_eq!(fake.verdict(254, 0), "unused");
        fake.write("proc/swaps", "Filename Type Size Used Priority\n/dev/sdb partition 1 0 -2\n");
        assert_eq!(fake.verdict(254, 0), "sdb is in use: it is swap space");
    }

    #[test]
    fn a_loop_device_over_it_is_seen() {
        let fake = Fake::new();
        fake.disk("loop3", "7:3");
        fake.write("sys/devices/x/block/loop3/loop/backing_file", "/dev/sdb");
        assert_eq!(fake.verdict(8, 16), "sdb is in use: loop3 is a loop device over it");
    }
}
