//! `plimsoll record` on this host: killed, interrupted, on a full disk, and read by others.
#![allow(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

mod support;

use record::recording::Recording;
use rustix::process::Signal;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};
use support::command::{Running, plimsoll};
use support::tmpfs::Tmpfs;
use support::{folder, names, program, wait_until};

fn record(out: &Path, flags: &str) -> Running {
    let mut args = vec!["record".to_owned(), "--out".to_owned(), out.display().to_string()];
    args.extend(flags.split_whitespace().map(str::to_owned));
    Running::start(args)
}

/// Numbers and times of the intervals that can be read, each once.
fn intervals(out: &Path) -> Vec<(i64, f64)> {
    let mut found: Vec<(i64, f64)> = Vec::new();
    let read = Recording::open(out).unwrap().read(&["interval_number", "at_s"], |group| {
        for row in 0..group.rows() {
            let number = group.int(row, "interval_number").unwrap();
            if found.last().is_none_or(|(last, _)| *last != number) {
                found.push((number, group.float(row, "at_s").unwrap()));
            }
        }
    });
    assert!(read.complaints.len() <= 1, "{:?}", read.complaints);
    found
}

fn now_s() -> f64 {
    std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs_f64()
}

#[test]
fn a_recording_ends_by_itself_and_reads_back() {
    let folder = folder();
    let out = folder.path().join("run");
    let ended = record(&out, "--interval 200ms --for 2s --json").end().expect(0);
    assert_eq!(ended.json()["schema"], "plimsoll.record/1");
    let kept = ended.json()["recorded"]["intervals"].as_i64().unwrap();
    // On a busy machine a beat may be missed; none is made up.
    assert!((5..=10).contains(&kept), "{kept}");
    assert_eq!(names(&out), ["run.json", "samples-000001.parquet"]);
    assert_eq!(intervals(&out).iter().map(|(n, _)| *n).collect::<Vec<_>>(), (0..kept).collect::<Vec<_>>());
    let shown = plimsoll(["report", &out.display().to_string()]).expect(0);
    assert!(shown.stdout.starts_with("Recording "), "{}", shown.stdout);
    let document = plimsoll(["report", &out.display().to_string(), "--json"]).expect(0).json();
    assert_eq!(document["schema"], "plimsoll.recording/1");
    assert_eq!((&document["finished"], &document["recorded"]["lost_intervals"]), (&true.into(), &0.into()));
    for device in document["devices"].as_array().unwrap() {
        // Two seconds are never enough for a limit, and it says so.
        assert!(device["curve"].is_null() && device["cannot_tell"]["reason"].is_string(), "{device:#}");
    }
}

#[test]
fn kill_9_costs_one_interval_at_most_and_the_recording_goes_on() {
    let folder = folder();
    let out = folder.path().join("run");
    let running = record(&out, "--interval 200ms");
    assert!(wait_until(Duration::from_secs(30), || Recording::is_at(&out) && intervals(&out).len() >= 10));
    running.signal(Signal::KILL);
    let killed_s = now_s();
    assert_eq!(running.end().code, None);
    let before = intervals(&out);
    let (last, at_s) = *before.last().unwrap();
    assert!(killed_s - at_s < 0.5, "the last interval ended {:.3} s before the kill", killed_s - at_s);
    assert_eq!(before.len() as i64, last + 1, "{before:?}");
    let shown = plimsoll(["report", &out.display().to_string()]).expect(0);
    assert!(shown.stdout.contains("not ended"), "{}", shown.stdout);
    let again = record(&out, "--interval 200ms --for 1s").end().expect(0);
    assert!(again.stderr.contains("goes on with the recording"), "{}", again.stderr);
    let numbers: Vec<i64> = intervals(&out).iter().map(|(n, _)| *n).collect();
    assert!(numbers.len() as i64 > last + 2, "{numbers:?}");
    assert_eq!(numbers, (0..numbers.len() as i64).collect::<Vec<_>>());
}

#[test]
fn ctrl_c_ends_it_cleanly() {
    let folder = folder();
    let out = folder.path().join("run");
    let running = record(&out, "--interval 200ms");
    assert!(wait_until(Duration::from_secs(30), || Recording::is_at(&out) && intervals(&out).len() >= 3));
    let start = Instant::now();
    running.signal(Signal::INT);
    let ended = running.end().expect(0);
    assert!(start.elapsed() < Duration::from_secs(5) && ended.stdout.starts_with("Recorded "), "{ended:?}");
    assert!(Recording::open(&out).unwrap().finished);
    // With an end in time it was cut short, and says so.
    let running = record(&out, "--interval 200ms --for 1h");
    assert!(wait_until(Duration::from_secs(30), || out.join("head.json").exists()));
    running.signal(Signal::TERM);
    running.end().expect(130);
    assert!(Recording::open(&out).unwrap().finished);
}

#[test]
fn a_disk_that_fills_up_is_told_and_recording_goes_on_when_there_is_room() {
    let disk = or_skip!(Tmpfs::mount(1 << 20));
    let out = disk.path().join("run");
    let running = record(&out, "--interval 100ms --leave-free 64k --keep 8M");
    assert!(wait_until(Duration::from_secs(30), || Recording::is_at(&out) && intervals(&out).len() >= 3));
    let ballast = disk.path().join("ballast");
    let _ = std::fs::write(&ballast, vec![0; 1 << 20]);
    std::thread::sleep(Duration::from_secs(1));
    std::fs::remove_file(&ballast).unwrap();
    let freed = intervals(&out).len();
    assert!(wait_until(Duration::from_secs(30), || intervals(&out).len() >= freed + 3));
    running.signal(Signal::INT);
    let ended = running.end().expect(0);
    assert!(ended.stderr.contains("intervals are being lost: no room"), "{}", ended.stderr);
    assert!(ended.stderr.contains("intervals are kept again"), "{}", ended.stderr);
    assert!(ended.stdout.contains("Lost "), "{}", ended.stdout);
    assert!(Recording::open(&out).unwrap().finished);
}

#[test]
fn wrong_usage_of_record_and_report_is_said() {
    let folder = folder();
    let out = folder.path().join("run").display().to_string();
    let cases: &[(&[&str], &str)] = &[
        (&["record", "--out", &out, "--keep", "10k"], "too small"),
        (&["record", "--out", &out, "--interval", "1ms"], "at least 100ms"),
        (&["record", "no-such-device", "--out", &out], "no such block device: no-such-device"),
    ];
    for (args, words) in cases {
        let ended = plimsoll(*args).expect(2);
        assert!(ended.stderr.contains(words), "{}", ended.stderr);
    }
    assert!(!Path::new(&out).exists(), "nothing is made before the arguments are known to be good");
    record(Path::new(&out), "--interval 100ms --for 300ms").end().expect(0);
    for (flags, words) in [
        (["--limit", "p99<5ms"], "write mean<5ms"),
        (["--devices", "no-such-device"], "not in the recording"),
        (["--probe", "/nonexistent"], "/nonexistent"),
    ] {
        let ended = plimsoll(["report", &out, flags[0], flags[1]]).expect(2);
        assert!(ended.stderr.contains(words), "{}", ended.stderr);
    }
}

#[test]
fn one_records_into_a_folder_at_a_time() {
    let folder = folder();
    let out = folder.path().join("run");
    let first = record(&out, "--interval 100ms");
    assert!(wait_until(Duration::from_secs(30), || Recording::is_at(&out)));
    let second = record(&out, "--interval 100ms --for 1s").end().expect(3);
    assert!(second.stderr.contains("another plimsoll records there"), "{}", second.stderr);
    first.signal(Signal::INT);
    first.end().expect(0);
}

/// A Python with DuckDB and pyarrow: that of `scripts/setup test`, or the system's.
fn python() -> Option<PathBuf> {
    let of_setup = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/python/bin/python");
    let candidates = [Some(of_setup), program("python3")].into_iter().flatten();
    let able = |p: &PathBuf| {
        Command::new(p).args(["-c", "import duckdb, pyarrow"]).output().is_ok_and(|o| o.status.success())
    };
    candidates.filter(|p| p.is_file()).find(able)
}

#[test]
fn duckdb_and_arrow_read_the_segments() {
    let Some(python) = python() else {
        skip!("no Python with duckdb and pyarrow (scripts/setup test makes one in target/python)");
    };
    let folder = folder();
    let out = folder.path().join("run");
    record(&out, "--interval 200ms --for 1s").end().expect(0);
    record(&out, "--interval 200ms --for 1s").end().expect(0);
    let script = r#"
import duckdb, glob, pyarrow.parquet as pq, sys
glob_of = sys.argv[1] + "/samples-*.parquet"
rows, intervals, last = duckdb.sql(f"select count(*), count(distinct interval_number), max(interval_number) from '{glob_of}'").fetchall()[0]
idle = duckdb.sql(f"select count(*) from '{glob_of}' where counted = 'yes' and (iops is null or requests is null)").fetchall()[0][0]
files = sorted(glob.glob(glob_of))
table = pq.ParquetFile(files[0])
meta = table.schema_arrow.metadata or table.metadata.metadata
print(rows, intervals, last, idle, len(files), sum(pq.read_table(f).num_rows for f in files))
print(table.metadata.metadata[b"plimsoll.schema"].decode())
"#;
    let done = Command::new(python).arg("-c").arg(script).arg(&out).output().unwrap();
    let said = String::from_utf8_lossy(&done.stdout).into_owned();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let numbers: Vec<u64> = said.lines().next().unwrap().split(' ').map(|n| n.parse().unwrap()).collect();
    let [rows, intervals, last, idle, files, by_arrow] = numbers[..] else { panic!("{said}") };
    assert_eq!((intervals, idle, files), (last + 1, 0, 2), "{said}");
    assert!(intervals >= 4, "{said}");
    assert_eq!(rows, by_arrow);
    assert_eq!(said.lines().nth(1), Some("plimsoll.device_samples/1"));
}
