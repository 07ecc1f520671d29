//! What Plimsoll refuses to write to, on real loop devices, and how read-only targets are opened.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod common;

use common::*;
use load::{Error, ErrorKind, Options, Overrides, Workload};
use record::{Ended, IoClass};
use std::fs::File;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::Path;

const MIB: u64 = 1 << 20;

fn writing() -> Workload {
    custom("oltp", Overrides { write_percent: Some(100.0), ..Overrides::default() })
}

/// Access mode of a descriptor of this process, as the kernel tells it.
fn access_mode(descriptor: i32) -> i32 {
    let text = std::fs::read_to_string(format!("/proc/self/fdinfo/{descriptor}")).unwrap();
    let flags = text.lines().find_map(|l| l.strip_prefix("flags:")).unwrap().trim();
    i32::from_str_radix(flags, 8).unwrap() & libc::O_ACCMODE
}

/// Descriptors of this process that are open on the same file or device as `file`.
fn descriptors_on(file: &File) -> Vec<i32> {
    let identity = |s: &std::fs::Metadata| (s.dev(), s.ino(), s.rdev());
    let wanted = identity(&file.metadata().unwrap());
    let names = std::fs::read_dir("/proc/self/fd").unwrap();
    names
        .filter_map(|n| n.unwrap().file_name().to_str()?.parse().ok())
        .filter(|fd| std::fs::metadata(format!("/proc/self/fd/{fd}")).is_ok_and(|s| identity(&s) == wanted))
        .collect()
}

fn check_read_only(path: &Path) {
    let mut options = Options::new(path, workload("oltp"));
    options.buffered = true;
    let mut subject = open(&options).unwrap();
    let step = measure(&mut subject, &closed(2, 0.1));
    assert_eq!(step.ended, Ended::Complete);
    let descriptors = descriptors_on(subject.target().file());
    assert!(descriptors.contains(&subject.target().file().as_raw_fd()));
    for descriptor in descriptors {
        assert_eq!(access_mode(descriptor), libc::O_RDONLY, "descriptor {descriptor}");
    }
}

#[test]
fn an_existing_file_is_open_for_reading_only() {
    let folder = folder();
    check_read_only(&file(folder.path(), 4 * MIB));
}

#[test]
fn a_device_is_open_for_reading_only() {
    let folder = folder();
    let Some(device) = LoopDevice::new(folder.path(), 16 * MIB) else { return };
    check_read_only(&device.path);
}

#[test]
fn writing_to_an_existing_file_is_refused() {
    let folder = folder();
    let path = file(folder.path(), 4 * MIB);
    let before = std::fs::read(&path).unwrap();
    let error = resolve(&Options::new(&path, writing())).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Refused);
    assert!(error.to_string().contains("only read"), "{error}");
    assert_eq!(std::fs::read(&path).unwrap(), before);
}

fn twice(device: &LoopDevice) -> Options {
    let mut options = Options::new(&device.path, writing());
    options.destroy_data_on = Some(device.path.clone());
    options.buffered = true;
    options
}

/// Resolving must be refused with these words, and the device must hold what it held.
fn check_refused(options: &Options, device: &LoopDevice, words: &str) {
    let before = std::fs::read(&device.backing).unwrap();
    let error = resolve(options).unwrap_err();
    assert!(matches!(error, Error::Refused { .. }), "{error}");
    assert_eq!(error.kind(), ErrorKind::Refused);
    assert!(error.to_string().contains(words), "{error}");
    assert!(std::fs::read(&device.backing).unwrap() == before, "nothing was written");
}

#[test]
fn a_device_named_once_or_with_another_name_is_refused() {
    let folder = folder();
    let Some(device) = LoopDevice::new(folder.path(), 16 * MIB) else { return };
    let mut options = twice(&device);
    options.destroy_data_on = None;
    check_refused(&options, &device, "--destroy-data-on");
    options.destroy_data_on = Some("/dev/null".into());
    check_refused(&options, &device, "--destroy-data-on");
}

#[test]
fn a_mounted_device_is_refused() {
    let folder = folder();
    let Some(device) = LoopDevice::new(folder.path(), 16 * MIB) else { return };
    let place = folder.path().join("mounted");
    std::fs::create_dir(&place).unwrap();
    let device_path = device.path.to_str().unwrap();
    if !run("mkfs.ext4", &["-q", device_path]) || !run("mount", &[device_path, place.to_str().unwrap()]) {
        eprintln!("skipped: no filesystem can be made and mounted here");
        return;
    }
    let mounted = Mounted(place);
    let error = resolve(&twice(&device)).unwrap_err();
    assert!(error.to_string().contains("it is mounted on"), "{error}");
    drop(mounted);
    check_refused(&twice(&device), &device, "it holds data");
}

#[test]
fn any_data_is_refused_and_zeros_are_not() {
    let folder = folder();
    let Some(device) = LoopDevice::new(folder.path(), 32 * MIB) else { return };
    let backing = File::options().write(true).open(&device.backing).unwrap();
    for offset in [0, 3 * MIB + 5, 32 * MIB - 1] {
        backing.write_all_at(&[1], offset).unwrap();
        drop_cache(&device);
        check_refused(&twice(&device), &device, "it holds data");
        backing.write_all_at(&[0], offset).unwrap();
        drop_cache(&device);
    }
    let mut subject = open(&twice(&device)).unwrap();
    let step = measure(&mut subject, &closed(4, 0.3));
    assert_eq!(step.ended, Ended::Complete);
    assert!(step.latency(IoClass::Write).count() > 10);
}

/// The loop device's page cache does not see what was written to its backing file.
fn drop_cache(device: &LoopDevice) {
    assert!(run("blockdev", &["--flushbufs", device.path.to_str().unwrap()]));
}

#[test]
fn a_device_that_we_wrote_to_is_known_again_until_somebody_else_writes() {
    let folder = folder();
    let Some(device) = LoopDevice::new(folder.path(), 32 * MIB) else { return };
    for _ in 0..2 {
        let mut subject = open(&twice(&device)).unwrap();
        assert!(measure(&mut subject, &closed(4, 0.2)).ios() > 0);
    }
    if !run("mkfs.ext4", &["-q", "-F", device.path.to_str().unwrap()]) {
        eprintln!("skipped: no mkfs.ext4");
        return;
    }
    check_refused(&twice(&device), &device, "it holds data");
}

#[test]
fn a_device_that_a_process_has_open_is_refused() {
    let folder = folder();
    let Some(device) = LoopDevice::new(folder.path(), 16 * MIB) else { return };
    let _open = File::open(&device.path).unwrap();
    let words = format!("process {} (", std::process::id());
    check_refused(&twice(&device), &device, &words);
}

#[test]
fn swap_is_refused() {
    let folder = folder();
    let Some(device) = LoopDevice::new(folder.path(), 16 * MIB) else { return };
    let path = device.path.to_str().unwrap();
    if !run("mkswap", &[path]) || !run("swapon", &[path]) {
        eprintln!("skipped: swap cannot be made here");
        return;
    }
    let error = resolve(&twice(&device)).unwrap_err().to_string();
    assert!(run("swapoff", &[path]));
    assert!(error.contains("it is swap space"), "{error}");
}

#[test]
fn while_we_write_nobody_can_mount_it() {
    let folder = folder();
    let Some(device) = LoopDevice::new(folder.path(), 16 * MIB) else { return };
    let _subject = open(&twice(&device)).unwrap();
    let exclusive = std::os::unix::fs::OpenOptionsExt::custom_flags(File::options().read(true), libc::O_EXCL)
        .open(&device.path);
    assert_eq!(exclusive.unwrap_err().raw_os_error(), Some(libc::EBUSY));
}

#[test]
fn permission_to_destroy_where_nothing_would_be_is_refused() {
    let folder = folder();
    let mut options = Options::new(file(folder.path(), MIB), workload("oltp"));
    options.destroy_data_on = Some(options.target.clone());
    let error = resolve(&options).unwrap_err();
    assert!(error.kind() == ErrorKind::Usage && error.to_string().contains("--destroy-data-on"), "{error}");
}

#[test]
fn a_sparse_file_spoils_the_answer() {
    let folder = folder();
    let path = folder.path().join("sparse");
    File::create(&path).unwrap().set_len(8 * MIB).unwrap();
    let mut options = Options::new(&path, workload("oltp"));
    options.buffered = true;
    let target = resolve(&options).unwrap();
    let doubts: Vec<_> = target.doubts().iter().map(|d| (d.id, d.weight)).collect();
    assert!(
        doubts.contains(&(record::DoubtId::UnwrittenExtents, record::Weight::Spoils))
            || doubts.contains(&(record::DoubtId::UnwrittenExtents, record::Weight::Caution)),
        "{doubts:?}"
    );
}
