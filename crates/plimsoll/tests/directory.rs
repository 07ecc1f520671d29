//! What the probe does to the place it measures: nothing that stays.
#![allow(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

mod support;

use rustix::process::Signal;
use std::fs::{self, File};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;
use support::command::{Ended, Running, plimsoll, probe, wait_for_steps};
use support::document::{number, steps, warnings};
use support::tmpfs::Tmpfs;
use support::{Turn, data_file, folder, names, own_files, wait_until};

const SOON: Duration = Duration::from_secs(20);

#[test]
fn the_own_file_is_removed_at_the_end() {
    let _turn = Turn::take();
    let place = folder();
    let mut running = Running::probe(place.path(), "--size 64M --depths 1,4 --budget 2s --json");
    assert!(wait_until(SOON, || !own_files(place.path()).is_empty() || !running.is_running()));
    let own = place.path().join(&own_files(place.path())[0]);
    assert_eq!(fs::metadata(&own).unwrap().mode() & 0o777, 0o600, "others may not read it");
    running.end().measured();
    assert!(names(place.path()).is_empty(), "{:?}", names(place.path()));
}

/// Starts a probe of a directory, waits until it measures, sends `signals`, and answers how it ended.
fn signalled(place: &Path, signals: &[Signal]) -> Ended {
    let out = place.join("run");
    let flags = format!("--size 64M --budget 60s --json --out {}", out.display());
    let mut running = Running::probe(place, &flags);
    wait_for_steps(&mut running, &out, 2);
    signals.iter().for_each(|s| running.signal(*s));
    running.end()
}

fn ended_in_order(place: &Path, ended: &Ended) {
    assert_eq!(ended.code, Some(130), "{}", ended.stderr);
    let document = ended.json();
    assert!(!steps(&document).is_empty(), "what was measured is kept");
    let said = format!("{} {:?}", document["outcome_facts"], warnings(&document));
    assert!(said.contains("interrupted") || said.contains("cut-short"), "{said}");
    assert_eq!(names(place), ["run"], "the own file is gone");
    let read = record::run::read_run(&place.join("run")).unwrap();
    assert!(read.finished && read.complaints.is_empty() && read.steps.len() >= 2);
}

#[test]
fn ctrl_c_in_mid_run_ends_with_130_and_keeps_what_was_measured() {
    let _turn = Turn::take();
    let place = folder();
    let ended = signalled(place.path(), &[Signal::INT]);
    ended_in_order(place.path(), &ended);
}

#[test]
fn termination_is_as_orderly_as_ctrl_c_and_an_echo_of_the_signal_changes_nothing() {
    let _turn = Turn::take();
    let place = folder();
    // `timeout` and service managers signal the child and then the group it is in.
    let ended = signalled(place.path(), &[Signal::TERM, Signal::TERM]);
    ended_in_order(place.path(), &ended);
    // The kept run is shown again like any other.
    let again = plimsoll(["report", &place.path().join("run").display().to_string(), "--json"]).expect(0);
    assert_eq!(again.json()["steps"], ended.json()["steps"]);
}

#[test]
fn ctrl_c_while_the_file_is_written_leaves_nothing() {
    let _turn = Turn::take();
    let place = folder();
    // 8 GiB take longer to write than it takes to see that writing began.
    let free = rustix::fs::statvfs(place.path()).unwrap();
    if free.f_bavail * free.f_frsize < 20 << 30 {
        skip!("less than 20 GiB are free");
    }
    let mut running = Running::probe(place.path(), "--size 8G --json");
    assert!(wait_until(SOON, || !own_files(place.path()).is_empty()));
    assert!(running.is_running());
    running.signal(Signal::INT);
    let ended = running.end().expect(130);
    assert!(names(place.path()).is_empty(), "{:?}", names(place.path()));
    assert!(ended.stdout.is_empty() && ended.stderr.contains("interrupted"), "{ended:?}");
}

#[test]
fn what_a_killed_run_left_is_removed_by_the_next_start_and_a_live_runs_file_is_not() {
    let _turn = Turn::take();
    let place = folder();
    fs::write(place.path().join(".plimsoll-1-0123456789abcdef.data"), "not ours: no tag").unwrap();
    let killed = {
        let out = place.path().join("killed");
        let flags = format!("--size 32M --budget 60s --out {}", out.display());
        let mut running = Running::probe(place.path(), &flags);
        wait_for_steps(&mut running, &out, 1);
        let pid = running.pid();
        running.signal(Signal::KILL);
        assert_eq!(running.end().code, None);
        pid
    };
    let of = |pid: u32| move |name: &String| name.starts_with(&format!(".plimsoll-{pid}-"));
    assert_eq!(own_files(place.path()).iter().filter(|n| of(killed)(n)).count(), 1, "a kill leaves the file");
    // What it measured is still readable, step by step.
    let unfinished = record::run::read_run(&place.path().join("killed")).unwrap();
    assert!(!unfinished.finished && !unfinished.steps.is_empty());
    let ended = plimsoll(["report", &place.path().join("killed").display().to_string()]).expect(2);
    assert!(ended.stderr.contains("not finished"), "{}", ended.stderr);

    let out = place.path().join("live");
    let mut live = Running::probe(place.path(), &format!("--size 32M --budget 60s --out {}", out.display()));
    wait_for_steps(&mut live, &out, 1);
    let next = probe(place.path(), "--size 16M --depths 1 --budget 1s --json --quiet").measured();
    assert!(next.stderr.is_empty(), "{}", next.stderr);
    let left = own_files(place.path());
    assert!(!left.iter().any(of(killed)), "the dead run's file is still there: {left:?}");
    assert!(left.iter().any(of(live.pid())), "the live run's file was removed: {left:?}");
    assert!(left.iter().any(of(1)), "a file that only looks like ours was removed: {left:?}");
    live.signal(Signal::INT);
    live.end().expect(130);
    assert_eq!(own_files(place.path()), [".plimsoll-1-0123456789abcdef.data"]);
}

#[test]
fn a_removed_leftover_is_said() {
    let _turn = Turn::take();
    let place = folder();
    let mut running = Running::probe(place.path(), "--size 32M --budget 60s");
    assert!(wait_until(SOON, || !own_files(place.path()).is_empty()));
    // Give it time to write its tag: a file without one is removed, too, but that is another test.
    std::thread::sleep(Duration::from_millis(200));
    assert!(running.is_running());
    running.signal(Signal::KILL);
    running.end();
    let left = own_files(place.path()).remove(0);
    // At once: the kernel may still hold the lock of the process that was just killed.
    let next = probe(place.path(), "--size 16M --depths 1 --budget 1s --json").measured();
    assert!(next.stderr.contains(&format!("{left}, left by an earlier run")), "{}", next.stderr);
    next.json();
}

/// Every descriptor of a process on this file: its open flags.
fn open_flags(pid: u32, file: &Path) -> Vec<u32> {
    let mut flags = Vec::new();
    for entry in fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten() {
        if fs::read_link(entry.path()).is_ok_and(|target| target == file) {
            let info = PathBuf::from(format!("/proc/{pid}/fdinfo")).join(entry.file_name());
            let text = fs::read_to_string(info).unwrap_or_default();
            let octal = text.lines().find_map(|l| l.strip_prefix("flags:")).map(str::trim);
            flags.extend(octal.and_then(|o| u32::from_str_radix(o, 8).ok()));
        }
    }
    flags
}

#[test]
fn an_existing_file_is_opened_for_reading_only_and_stays_as_it_was() {
    let _turn = Turn::take();
    let place = folder();
    let file = data_file(place.path(), 32 << 20);
    let before = (fs::read(&file).unwrap(), fs::metadata(&file).unwrap());
    let out = place.path().join("run");
    let flags = format!("--limit p99<5ms --budget 3s --json --out {}", out.display());
    let mut running = Running::probe(&file, &flags);
    wait_for_steps(&mut running, &out, 1);
    let flags = open_flags(running.pid(), &file.canonicalize().unwrap());
    assert!(!flags.is_empty(), "the file is not open while it is measured");
    let modes = rustix::fs::OFlags::ACCMODE.bits();
    assert!(flags.iter().all(|f| f & modes == rustix::fs::OFlags::RDONLY.bits()), "{flags:x?}");
    assert!(flags.iter().any(|f| f & rustix::fs::OFlags::DIRECT.bits() != 0), "{flags:x?}");
    let ended = running.end();
    assert!(matches!(ended.code, Some(0 | 1 | 4)), "{ended:?}");
    assert!(!steps(&ended.json()).is_empty());
    let after = fs::metadata(&file).unwrap();
    assert!(fs::read(&file).unwrap() == before.0, "the content changed");
    assert_eq!(after.modified().unwrap(), before.1.modified().unwrap());
    assert_eq!((after.len(), after.mode(), after.ino()), (before.1.len(), before.1.mode(), before.1.ino()));
    assert_eq!(names(place.path()), ["data", "run"]);
}

#[test]
fn a_file_that_shrinks_ends_the_run_with_what_was_measured_and_the_reason() {
    let _turn = Turn::take();
    let place = folder();
    let file = data_file(place.path(), 32 << 20);
    let out = place.path().join("run");
    let flags = format!("--budget 30s --json --out {}", out.display());
    let mut running = Running::probe(&file, &flags);
    wait_for_steps(&mut running, &out, 3);
    File::options().write(true).open(&file).unwrap().set_len(1 << 20).unwrap();
    let ended = running.end();
    assert!(matches!(ended.code, Some(0 | 4)), "{:?}: {}", ended.code, ended.stderr);
    let document = ended.json();
    assert!(steps(&document).iter().map(|s| number(s, "/seconds")).sum::<f64>() >= 0.3);
    assert!(number(&document, "/spent_s") < 25.0, "it went on against a file that is gone");
    let said = format!("{} {}", document["outcome_facts"], document["warnings"]);
    assert!(["shrank", "shrunk", "shorter", "smaller", "end of"].iter().any(|w| said.contains(w)), "{said}");
    assert!(!said.contains("(os error 0)"), "{said}");
}

#[test]
fn a_filesystem_without_room_is_a_clear_error_and_nothing_is_left() {
    let small = or_skip!(Tmpfs::mount(24 << 20));
    for flags in ["--json", "--size 20M --json", "--size 1T"] {
        let ended = probe(small.path(), flags).expect(4);
        assert!(ended.stdout.is_empty() && ended.stderr.contains("--size"), "{flags}: {ended:?}");
        assert!(ended.stderr.contains("free"), "{flags}: {}", ended.stderr);
        assert!(names(small.path()).is_empty(), "{flags}: {:?}", names(small.path()));
    }
}

#[test]
fn a_full_disk_under_the_run_folder_costs_the_folder_and_not_the_answer() {
    let full = or_skip!(Tmpfs::mount(24 << 10));
    let _turn = Turn::take();
    let place = folder();
    let out = full.path().join("run");
    let flags = format!("--size 16M --depths 1,2,4,8 --budget 3s --json --out {}", out.display());
    let ended = probe(place.path(), &flags).expect(4);
    assert_eq!(steps(&ended.json()).len(), 4);
    assert!(ended.stderr.contains(&out.display().to_string()), "{}", ended.stderr);
    assert!(ended.stderr.contains("No space left"), "{}", ended.stderr);
    assert!(names(place.path()).is_empty());
}

#[test]
fn a_directory_that_cannot_be_written_is_an_error_before_any_load() {
    let ended = probe(Path::new("/proc"), "--size 16M --json");
    assert!(matches!(ended.code, Some(3 | 4)) && ended.stdout.is_empty(), "{ended:?}");
    assert!(ended.stderr.contains("/proc"), "{}", ended.stderr);
}
