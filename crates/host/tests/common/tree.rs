//! Kernel folders from compact text.

use host::Root;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// A folder that plays `/`.
pub struct Tree {
    folder: TempDir,
}

impl Tree {
    pub fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    /// From lines `path = content` (with `\n` and `\t` for line ends and tabs) and `path -> link target`; blank lines and lines that
    /// begin with `#` are left out, `path/` makes a folder.
    pub fn of(text: &str) -> Self {
        let tree = Self::new();
        tree.add(text);
        tree
    }

    pub fn add(&self, text: &str) {
        for line in text.lines().map(str::trim).filter(|l| !l.is_empty() && !l.starts_with('#')) {
            if let Some((path, target)) = line.split_once(" -> ") {
                self.link(path.trim(), target.trim());
            } else if let Some((path, content)) = line.split_once(" =") {
                self.write(path.trim(), content.trim_start().replace("\\n", "\n").replace("\\t", "\t"));
            } else {
                assert!(line.ends_with('/'), "neither file, link nor folder: {line}");
                std::fs::create_dir_all(self.place(line)).unwrap();
            }
        }
    }

    pub fn root(&self) -> Root {
        Root::at(self.folder.path())
    }

    pub fn place(&self, path: &str) -> PathBuf {
        self.folder.path().join(path.trim_start_matches('/'))
    }

    pub fn write(&self, path: &str, content: impl AsRef<[u8]>) {
        let place = self.place(path);
        make_parent(&place);
        std::fs::write(place, content).unwrap();
    }

    pub fn link(&self, path: &str, target: &str) {
        let place = self.place(path);
        make_parent(&place);
        std::os::unix::fs::symlink(target, place).unwrap();
    }

    pub fn remove(&self, path: &str) {
        std::fs::remove_file(self.place(path)).unwrap();
    }

    /// A whole disk as sysfs nests it: real files under `/sys/devices/WAY/block/NAME`, links from `/sys/block`,
    /// `/sys/class/block` and `/sys/dev/block`.
    pub fn disk(&self, way: &str, name: &str, number: &str, files: &str) {
        let home = format!("sys/devices/{way}/block/{name}");
        self.write(&format!("{home}/dev"), format!("{number}\n"));
        self.write(&format!("{home}/size"), "2097152\n");
        self.write(&format!("{home}/stat"), "0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n");
        self.write(&format!("{home}/inflight"), "       0        0\n");
        self.write(&format!("{home}/queue/logical_block_size"), "512\n");
        self.write(&format!("{home}/queue/iostats"), "1\n");
        self.link(&format!("sys/block/{name}"), &format!("../devices/{way}/block/{name}"));
        self.link(&format!("sys/class/block/{name}"), &format!("../../devices/{way}/block/{name}"));
        self.link(&format!("sys/dev/block/{number}"), &format!("../../devices/{way}/block/{name}"));
        self.under(&home, files);
    }

    /// A partition of a disk made before.
    pub fn partition(&self, way: &str, disk: &str, name: &str, number: &str) {
        let home = format!("sys/devices/{way}/block/{disk}/{name}");
        self.write(&format!("{home}/dev"), format!("{number}\n"));
        self.write(&format!("{home}/partition"), "1\n");
        self.write(&format!("{home}/start"), "2048\n");
        self.write(&format!("{home}/size"), "1048576\n");
        self.write(&format!("{home}/alignment_offset"), "0\n");
        self.write(&format!("{home}/stat"), "0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n");
        self.write(&format!("{home}/inflight"), "       0        0\n");
        self.link(&format!("sys/class/block/{name}"), &format!("../../devices/{way}/block/{disk}/{name}"));
        self.link(&format!("sys/dev/block/{number}"), &format!("../../devices/{way}/block/{disk}/{name}"));
    }

    /// A SCSI disk behind `host`, its device folder beside the block folder.
    pub fn scsi(&self, host: u32, name: &str, number: &str, files: &str) {
        let way = format!("pci0000:00/0000:00:03.0/host{host}/target{host}:0:0/{host}:0:0:1");
        let device = format!("sys/devices/{way}");
        self.disk(&way, name, number, "");
        self.link(&format!("{device}/block/{name}/device"), &format!("../../../{host}:0:0:1"));
        let home = format!("{device}/block/{name}");
        self.under(
            &home,
            "queue/scheduler = [none] mq-deadline
             queue/nr_requests = 64
             queue/max_sectors_kb = 1280
             queue/max_hw_sectors_kb = 32767
             mq/0/nr_tags = 64
             mq/0/cpu_list = 0, 1
             device/vendor = MAKER   
             device/model = Array LUN       
             device/rev = 0001
             device/scsi_level = 7
             device/queue_depth = 32
             device/queue_ramp_up_period = 120000
             device/queue_type = simple
             device/timeout = 30
             device/state = running
             device/device_blocked = 0
             device/device_busy = 0
             device/iorequest_cnt = 0x10
             device/iodone_cnt = 0x10
             device/ioerr_cnt = 0x1
             device/wwid = naa.6000000000000000000000000000000a",
        );
        self.under(&home, files);
    }

    fn under(&self, home: &str, files: &str) {
        for line in files.lines().map(str::trim).filter(|l| !l.is_empty()) {
            self.add(&format!("{home}/{line}"));
        }
    }
}

fn make_parent(place: &Path) {
    std::fs::create_dir_all(place.parent().unwrap()).unwrap();
}
