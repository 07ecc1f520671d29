//! The file that Plimsoll makes: gone at the end, after a kill, when the disk is full.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod common;

use common::*;
use load::{Error, ErrorKind, Options};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

const MIB: u64 = 1 << 20;

fn own_files(folder: &Path) -> Vec<PathBuf> {
    std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect()
}

fn options(folder: &Path) -> Options {
    let mut options = Options::new(folder, workload("oltp"));
    options.size_bytes = Some(8 * MIB);
    options.buffered = true;
    options
}

#[test]
fn the_own_file_is_whole_while_in_use_and_gone_afterwards() {
    let folder = folder();
    let subject = open(&options(folder.path())).unwrap();
    let files = own_files(folder.path());
    assert_eq!(files, [subject.target().data_path()]);
    assert_eq!(std::fs::metadata(&files[0]).unwrap().len(), 9 * MIB);
    subject.close().unwrap();
    assert!(own_files(folder.path()).is_empty());
}

/// What the child of the next test does: makes the own file and waits to be killed.
#[test]
fn child_that_waits_to_be_killed() {
    let Some(folder) = std::env::var_os("LOAD_TEST_CHILD_FOLDER") else { return };
    let mut subject = open(&options(Path::new(&folder))).unwrap();
    println!("loading");
    measure(&mut subject, &closed(4, 60.0));
}

#[test]
fn what_a_kill_leaves_the_next_start_removes() {
    let folder = folder();
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "child_that_waits_to_be_killed", "--nocapture"])
        .env("LOAD_TEST_CHILD_FOLDER", folder.path())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let start = Instant::now();
    while own_files(folder.path()).first().is_none_or(|f| std::fs::metadata(f).unwrap().len() < 9 * MIB) {
        assert!(start.elapsed() < Duration::from_secs(20), "the child never made its file");
        std::thread::sleep(Duration::from_millis(20));
    }
    let left = own_files(folder.path());
    // While the child lives, its file is not ours to remove.
    open(&options(folder.path())).unwrap().close().unwrap();
    assert_eq!(own_files(folder.path()), left);
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(own_files(folder.path()), left, "SIGKILL leaves the file");
    let subject = open(&options(folder.path())).unwrap();
    assert_eq!(own_files(folder.path()), [subject.target().data_path()]);
    assert!(subject.target().notes().iter().any(|n| n.contains("left by an earlier run")));
    subject.close().unwrap();
    assert!(own_files(folder.path()).is_empty());
}

#[test]
fn an_interrupt_while_filling_leaves_nothing() {
    let folder = folder();
    let interrupt = AtomicBool::new(true);
    let error =
        load::resolve(&options(folder.path()), &host::Root::system(), &interrupt, &mut |_| {}).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Interrupted);
    assert!(own_files(folder.path()).is_empty());
}

/// A small filesystem in memory, or `None` with the reason printed.
fn small_filesystem(folder: &Path) -> Option<Mounted> {
    if !is_root() || !run("mount", &["-t", "tmpfs", "-o", "size=64m", "tmpfs", folder.to_str().unwrap()]) {
        eprintln!("skipped: mounting a small filesystem needs root");
        return None;
    }
    Some(Mounted(folder.to_owned()))
}

#[test]
fn a_size_beyond_half_of_the_free_space_is_refused() {
    let folder = folder();
    let Some(_mounted) = small_filesystem(folder.path()) else { return };
    let mut options = options(folder.path());
    options.size_bytes = Some(40 * MIB);
    let error = resolve(&options).unwrap_err();
    assert!(matches!(error, Error::NoSpace { .. }), "{error}");
    assert_eq!(error.kind(), ErrorKind::Environment);
    assert!(own_files(folder.path()).is_empty());
}

#[test]
fn a_filesystem_that_fills_up_leaves_nothing_and_is_named() {
    let folder = folder();
    let Some(_mounted) = small_filesystem(folder.path()) else { return };
    // Sparse, so that it takes no space until we look at how much is free; it takes it when filling begins.
    let hog = std::fs::File::create(folder.path().join("hog")).unwrap();
    let mut hogged = false;
    let mut take_all = |_| {
        if !hogged {
            hogged = true;
            let _ = std::io::copy(&mut std::io::repeat(1).take(80 * MIB), &mut &hog);
        }
    };
    use std::io::Read;
    let mut options = options(folder.path());
    options.size_bytes = Some(30 * MIB);
    let made = load::resolve(&options, &host::Root::system(), &AtomicBool::new(false), &mut take_all);
    // tmpfs reserves the space beforehand, so nobody can take it from us; elsewhere the filesystem is full.
    match made {
        Ok(target) => target.close().unwrap(),
        Err(error) => assert!(matches!(error, Error::Full { .. }), "{error}"),
    }
    assert_eq!(own_files(folder.path()), [folder.path().join("hog")]);
}

#[test]
fn direct_io_in_memory_filesystems_is_refused_with_a_remedy() {
    let folder = folder();
    let Some(_mounted) = small_filesystem(folder.path()) else { return };
    let mut options = options(folder.path());
    options.buffered = false;
    let error = resolve(&options).unwrap_err();
    assert!(matches!(error, Error::NoDirect { .. }) && error.to_string().contains("--buffered"), "{error}");
    assert!(own_files(folder.path()).is_empty());
}

#[test]
fn a_target_too_small_for_the_block_is_refused_with_a_remedy() {
    let folder = folder();
    let path = file(folder.path(), 2 * MIB);
    let mut options = Options::new(&path, workload("scan"));
    options.buffered = true;
    let error = resolve(&options).unwrap_err();
    assert!(error.to_string().contains("--block") && error.kind() == ErrorKind::Usage, "{error}");
    options.target = folder.path().join("absent");
    assert_eq!(resolve(&options).unwrap_err().kind(), ErrorKind::Usage);
    options.target = "/dev/null".into();
    assert!(resolve(&options).unwrap_err().to_string().contains("a character device"));
}

#[test]
fn dropping_the_subject_removes_the_file_too() {
    let folder = folder();
    let interrupt = Arc::new(AtomicBool::new(false));
    let subject = open_with(&options(folder.path()), interrupt).unwrap();
    drop(subject);
    assert!(own_files(folder.path()).is_empty());
}
