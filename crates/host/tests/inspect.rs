//! Processes of invented `/proc` trees: what is read of them, and that no torn tree panics.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use host::Root;
use host::inspect::{InspectError, InspectOptions, inspect};
use proptest::prelude::*;
use record::{CallKind, Inspected, SyncFlag};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// One file, with its folders.
fn put(root: &Path, path: &str, text: &str) {
    let place = root.join(path);
    fs::create_dir_all(place.parent().unwrap()).unwrap();
    fs::write(place, text).unwrap();
}

fn process(root: &Path, pid: u32, parent: u32, syscall: &str) {
    put(root, &format!("proc/{pid}/comm"), "postgres\n");
    put(root, &format!("proc/{pid}/cmdline"), "postgres:\0checkpointer\0");
    put(root, &format!("proc/{pid}/stat"), &format!("{pid} (post) gres) S {parent} 1 1 0 -1\n"));
    put(root, &format!("proc/{pid}/task/{pid}/comm"), "postgres\n");
    put(root, &format!("proc/{pid}/task/{pid}/syscall"), syscall);
    put(
        root,
        &format!("proc/{pid}/io"),
        "rchar: 1\nwchar: 2\nsyscr: 3\nsyscw: 4\nread_bytes: 5\nwrite_bytes: 6\ncancelled_write_bytes: 0\n",
    );
    put(
        root,
        &format!("proc/{pid}/mountinfo"),
        "27 1 254:0 / / rw - ext4 /dev/root rw\n30 27 0:25 / /dev/shm rw - tmpfs tmpfs rw\n31 27 0:40 / /nfs rw - nfs4 filer:/u02 rw\n",
    );
    fs::create_dir_all(root.join(format!("proc/{pid}/fd"))).unwrap();
}

fn open(root: &Path, pid: u32, fd: u32, target: &str, bits: i32, mount: u32) {
    let place = root.join(format!("proc/{pid}/fd/{fd}"));
    fs::create_dir_all(place.parent().unwrap()).unwrap();
    symlink(target, place).unwrap();
    let text = format!("pos:\t0\nflags:\t0{bits:o}\nmnt_id:\t{mount}\n");
    put(root, &format!("proc/{pid}/fdinfo/{fd}"), &text);
}

fn host(root: &Path) {
    fs::create_dir_all(root.join("sys/dev/block")).unwrap();
    fs::create_dir_all(root.join("sys/block/sda")).unwrap();
    symlink("../../devices/pci/block/sda", root.join("sys/dev/block/254:0")).unwrap();
}

fn look(root: &Path, pid: u32, tree: bool) -> Result<Inspected, InspectError> {
    let (length, interval) = (Duration::from_millis(30), Duration::from_millis(2));
    inspect(&Root::at(root), InspectOptions { pid, tree, length, interval }, None, &AtomicBool::new(false))
}

#[test]
fn files_calls_and_sizes_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    host(root);
    process(root, 100, 1, &format!("{} 0x5 0x7f00 0x2000 0x0 0x0 0x0 0x7f 0x7f\n", libc::SYS_pread64));
    open(root, 100, 3, "pipe:[77]", libc::O_RDONLY, 13);
    open(root, 100, 4, "/dev/shm/PostgreSQL.1", libc::O_RDWR, 30);
    open(root, 100, 5, "/data/base/1/16384", libc::O_RDWR | libc::O_DIRECT, 27);
    open(root, 100, 6, "/data/pg_wal/0001", libc::O_RDWR | libc::O_DSYNC, 27);
    open(root, 100, 7, "/data/base", libc::O_RDONLY | libc::O_DIRECTORY, 27);
    open(root, 100, 8, "/nfs/archive", libc::O_WRONLY | libc::O_SYNC, 31);
    open(root, 100, 9, "anon_inode:[io_uring]", libc::O_RDWR, 14);
    let ring = "SqMask:\t0x3f\nCachedSqHead:\t40\nCachedCqTail:\t28\nSqThread:\t-1\n";
    put(root, "proc/100/fdinfo/9", ring);
    put(root, "proc/100/maps", "7f4ae540f000-7f4ae5410000 rw-s 00000000 00:13 597236    /[aio] (deleted)\n");
    let seen = look(root, 100, false).unwrap();
    let names: Vec<&str> = seen.files.iter().map(|f| f.path.as_str()).collect();
    assert_eq!(names, ["/data/base/1/16384", "/data/pg_wal/0001", "/nfs/archive"], "met first, then by name");
    let [data, wal, archive] = seen.files.as_slice() else { panic!() };
    assert_eq!(
        (data.direct, data.device.as_deref(), data.filesystem.as_deref()),
        (true, Some("sda"), Some("ext4"))
    );
    assert_eq!((wal.direct, wal.sync, wal.writable), (false, SyncFlag::Dsync, true));
    assert_eq!((archive.device.as_deref(), archive.sync), (None, SyncFlag::Sync), "absent is null");
    assert_eq!((data.calls[0].call, data.calls[0].kind), ("pread64", CallKind::Read));
    assert_eq!((data.calls[0].seen, data.calls[0].sizes[&8192]), (seen.samples, seen.samples));
    assert!((data.waiting.unwrap() - 1.0).abs() < 1e-9 && wal.waiting.is_none());
    let process = &seen.processes[0];
    assert_eq!((process.direct_files, process.buffered_files), (1, 2));
    assert_eq!((process.contexts[0].limit, process.parent), (126, Some(1)));
    assert_eq!(process.command.as_deref(), Some("postgres: checkpointer"));
    let ring = process.rings[0];
    assert_eq!((ring.entries, ring.outstanding, ring.outstanding_peak), (Some(64), Some(12.0), Some(12)));
    assert_eq!((ring.completed, seen.devices), (Some(0), None));
}

#[test]
fn a_call_on_a_pipe_is_no_io() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    host(root);
    process(root, 100, 1, &format!("{} 0x3 0x7f00 0x2000 0x0 0x0 0x0 0x7f 0x7f\n", libc::SYS_read));
    open(root, 100, 3, "pipe:[77]", libc::O_RDONLY, 13);
    let seen = look(root, 100, false).unwrap();
    assert_eq!((seen.files.len(), seen.processes[0].calls.len()), (0, 0));
    assert_eq!(seen.processes[0].readings, seen.samples);
}

#[test]
fn a_tree_holds_children_and_theirs_and_nobody_else() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    host(root);
    for (pid, parent) in [(100, 1), (103, 101), (101, 100), (102, 1), (104, 104)] {
        process(root, pid, parent, "running\n");
        open(root, pid, 5, "/data/base/1/16384", libc::O_RDWR, 27);
    }
    let of = |tree| look(root, 100, tree).unwrap().processes.iter().map(|p| p.pid).collect::<Vec<_>>();
    assert_eq!((of(true), of(false)), (vec![100, 101, 103], vec![100]));
    let seen = look(root, 100, true).unwrap();
    assert_eq!((seen.files.len(), seen.files[0].processes), (1, 3), "one file in three processes");
    assert!(seen.processes.iter().all(|p| p.running == seen.samples));
}

#[test]
fn nobody_there_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    assert!(matches!(look(folder.path(), 7, false), Err(InspectError::NoSuchProcess(7))));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn no_torn_tree_panics(
        texts in proptest::collection::vec("\\PC{0,60}", 8),
        fd in "[0-9]{1,12}",
        link in "(/|anon_inode:\\[io_uring\\]|pipe:)[a-z/.]{1,12}",
        number in any::<u16>(),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        for (name, text) in ["comm", "stat", "io", "maps", "mountinfo", "cmdline"].iter().zip(&texts) {
            put(root, &format!("proc/9/{name}"), text);
        }
        put(root, "proc/9/task/9/syscall", &format!("{number} {}", texts[6]));
        put(root, &format!("proc/9/fdinfo/{fd}"), &format!("flags:\t0{number:o}\nmnt_id:\t{}\n", texts[7]));
        fs::create_dir_all(root.join("proc/9/fd")).unwrap();
        symlink(&link, root.join(format!("proc/9/fd/{fd}"))).unwrap();
        let options =
            InspectOptions { pid: 9, tree: true, length: Duration::ZERO, interval: Duration::from_millis(1) };
        let seen = inspect(&Root::at(root), options, None, &AtomicBool::new(false)).unwrap();
        prop_assert_eq!(seen.samples, 1);
    }
}
