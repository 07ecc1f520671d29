//! `plimsoll inspect` on programs whose way of doing I/O is known: fio with three engines, and PostgreSQL.
#![allow(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

mod support;

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use support::command::{Running, plain, plimsoll};
use support::document::{known, list, number, text};
use support::{Turn, data_file, folder, is_root, program, wait_until};

const DEPTH: u32 = 8;

/// fio at work on a file; its job is a thread of the process, or a child of it.
fn fio(file: &Path, engine: &str, direct: bool, rw: &str, thread: bool) -> Running {
    let mut command = plain("fio");
    command.arg(format!("--filename={}", file.display())).arg(format!("--ioengine={engine}"));
    command.arg(format!("--direct={}", u8::from(direct))).arg(format!("--iodepth={DEPTH}"));
    command.arg(format!("--rw={rw}"));
    command.args(["--name=a", "--bs=8k", "--runtime=60", "--time_based", "--norandommap", "--size=64m"]);
    command.args(thread.then_some("--thread"));
    let running = Running::spawn(command);
    // It is at work when the job has the file open and the time to begin.
    let held = |pid: u32| {
        let fds = std::fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
        fds.into_iter().any(|fd| std::fs::read_link(fd.path()).is_ok_and(|l| l == file))
    };
    let met = wait_until(Duration::from_secs(20), || {
        held(running.pid()) || children(running.pid()).into_iter().any(held)
    });
    assert!(met, "fio did not open the file");
    std::thread::sleep(Duration::from_millis(700));
    running
}

fn children(pid: u32) -> Vec<u32> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
    text.split_whitespace().filter_map(|p| p.parse().ok()).collect()
}

fn inspected(pid: u32, flags: &str) -> Value {
    let pid = pid.to_string();
    let words = ["inspect", "--json", "--pid", &pid].into_iter().chain(flags.split_whitespace());
    plimsoll(words).expect(0).json()
}

/// Ends fio as its user would: its own children end with it.
fn end(running: Running) {
    running.signal(rustix::process::Signal::INT);
    running.end();
}

fn first_way(document: &Value) -> &Value {
    list(document, "/ways").first().unwrap_or_else(|| panic!("no way was seen: {document:#}"))
}

#[test]
fn three_engines_direct_and_buffered_are_told_apart() {
    if program("fio").is_none() {
        skip!("there is no fio");
    }
    let _turn = Turn::take();
    let place = folder();
    let file = data_file(place.path(), 64 << 20);
    for (engine, way) in [("io_uring", "io_uring"), ("libaio", "libaio"), ("psync", "synchronous")] {
        for (direct, caching) in [(true, "direct"), (false, "buffered")] {
            let running = fio(&file, engine, direct, "randread", true);
            let document = inspected(running.pid(), "--for 2s");
            end(running);
            let case = format!("{engine}, {caching}: {document:#}");
            assert_eq!(text(&document, "/schema"), "plimsoll.inspect/1");
            let seen = first_way(&document);
            assert_eq!((text(seen, "/way"), text(seen, "/caching")), (way, caching), "{case}");
            assert_eq!(list(&document, "/ways").len(), 1, "{case}");
            let files = list(&document, "/files");
            let data = files.iter().find(|f| text(f, "/path") == file.to_str().unwrap()).unwrap();
            assert_eq!(data["direct"], direct, "{case}");
            if !direct {
                continue;
            }
            match engine {
                "io_uring" => {
                    if let Some(mean) = known(seen, "/outstanding") {
                        assert!((4.0..=8.0).contains(&mean), "{mean} of {DEPTH} outstanding: {case}");
                        assert_eq!(number(seen, "/outstanding_peak"), f64::from(DEPTH), "{case}");
                    }
                }
                "psync" => {
                    let call = &list(data, "/calls")[0];
                    assert_eq!(text(call, "/call"), "pread64", "{case}");
                    assert_eq!(call["sizes"]["8192"], call["seen"], "{case}");
                    let waiting = number(seen, "/outstanding_at_least");
                    assert!(waiting > 0.0 && waiting <= 1.0, "one thread: {case}");
                }
                _ => {
                    let limit = number(seen, "/outstanding_limit");
                    assert!(limit >= f64::from(DEPTH), "{case}");
                }
            }
            // Where the tracer runs it tells the size at the device.
            if is_root()
                && let Some(device) = document["devices"].as_array().and_then(|d| d.first())
            {
                let size = number(device, "/read_size_bytes");
                assert!((8000.0..=8400.0).contains(&size), "{case}");
            }
        }
    }
}

#[test]
fn jobs_below_a_parent_are_seen_with_the_tree_only() {
    if program("fio").is_none() {
        skip!("there is no fio");
    }
    let _turn = Turn::take();
    let place = folder();
    let file = data_file(place.path(), 64 << 20);
    let running = fio(&file, "psync", true, "randwrite", false);
    // fio's job may be the child of a child.
    let tree = inspected(running.pid(), "--tree --for 2s --no-trace");
    let alone = inspected(running.pid(), "--for 500ms --no-trace");
    end(running);
    let seen = first_way(&tree);
    assert_eq!((text(seen, "/way"), text(seen, "/caching")), ("synchronous", "direct"), "{tree:#}");
    assert!(text(seen, "/evidence/0").contains("pwrite64"), "{tree:#}");
    assert!(tree["devices"].is_null(), "absent is null: {tree:#}");
    assert_eq!(list(&tree, "/processes").len(), 2, "{tree:#}");
    let data = |d: &Value| {
        list(d, "/files")
            .iter()
            .any(|f| text(f, "/path") == file.to_str().unwrap() && !list(f, "/calls").is_empty())
    };
    assert!(data(&tree) && !data(&alone), "{alone:#}");
}

#[test]
fn text_says_it_in_words_and_wrong_pids_are_refused() {
    let mut command = plain("sleep");
    command.arg("30");
    let idle = Running::spawn(command);
    let ended =
        plimsoll(["inspect", "--for", "300ms", "--no-trace", "--pid", &idle.pid().to_string()]).expect(0);
    assert!(ended.stdout.contains("No I/O on files was seen."), "{}", ended.stdout);
    assert!(ended.stdout.contains("samples in 0.3 s"), "{}", ended.stdout);
    let ended = plimsoll(["inspect", "--pid", "4194305"]).expect(2);
    assert!(ended.stderr.contains("no process 4194305") && ended.stdout.is_empty(), "{}", ended.stderr);
    plimsoll(["inspect", "--pid", "0"]).expect(2);
    plimsoll(["inspect"]).expect(2);
    plimsoll(["inspect", "--pid", "1", "--for", "2h"]).expect(2);
}

#[test]
fn watch_of_a_process_repeats_it_and_ends_with_it() {
    let mut command = plain("sleep");
    command.arg("2");
    let idle = Running::spawn(command);
    let pid = idle.pid().to_string();
    let words = ["watch", "--pid", &pid, "--interval", "200ms", "--no-trace", "--json"];
    let ended = plimsoll(words.into_iter().chain(["--count", "3"])).expect(0);
    let lines: Vec<Value> = ended.stdout.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
    assert_eq!(lines.len(), 3, "{}", ended.stdout);
    assert!(
        lines.iter().all(|l| text(l, "/schema") == "plimsoll.inspect/1" && number(l, "/length_s") >= 0.2)
    );
    let watching = Running::start(words);
    idle.end();
    let ended = watching.end().expect(0);
    assert!(ended.stdout.lines().count() >= 2, "{}", ended.stdout);
    plimsoll(["watch", "--pid", &pid, "sda"]).expect(2);
    plimsoll(["watch", "--tree"]).expect(2);
}

/// The programs of the newest PostgreSQL.
fn postgres() -> Option<PathBuf> {
    let mut found: Vec<PathBuf> =
        std::fs::read_dir("/usr/lib/postgresql").ok()?.flatten().map(|e| e.path().join("bin")).collect();
    found.retain(|bin| bin.join("initdb").is_file() && bin.join("postgres").is_file());
    found.sort();
    found.pop()
}

/// A command as a user that PostgreSQL accepts: it refuses to run as root.
fn as_user(program: &Path) -> Command {
    if !is_root() {
        return plain(program);
    }
    let mut command = plain("setpriv");
    command.args(["--reuid=postgres", "--regid=postgres", "--clear-groups"]).arg(program);
    command
}

#[test]
fn postgresql_does_synchronous_buffered_io() {
    let Some(bin) = postgres() else { skip!("there is no PostgreSQL in /usr/lib/postgresql") };
    if is_root()
        && (program("setpriv").is_none()
            || !std::fs::read_to_string("/etc/passwd").unwrap().contains("\npostgres:"))
    {
        skip!("root cannot become the user postgres");
    }
    let _turn = Turn::take();
    // The user postgres must reach it.
    let place = tempfile::Builder::new().prefix("plimsoll-e2e-pg-").tempdir_in("/var/tmp").unwrap();
    let path = place.path();
    if is_root() {
        assert!(Command::new("chown").arg("postgres:postgres").arg(path).status().unwrap().success());
    }
    let data = path.join("data");
    let run = |mut command: Command| {
        let ended = command.current_dir(path).output().unwrap();
        assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
    };
    let mut initdb = as_user(&bin.join("initdb"));
    initdb.args(["-A", "trust", "-U", "bench", "--no-sync", "-D"]).arg(&data);
    run(initdb);
    let mut server = as_user(&bin.join("postgres"));
    server.arg("-D").arg(&data).arg("-k").arg(path).current_dir(path);
    server.args(["-c", "listen_addresses=", "-c", "shared_buffers=4MB", "-c", "fsync=on"]);
    let server = Running::spawn(server);
    let ready = || {
        let mut psql = plain(bin.join("psql"));
        psql.arg("-h").arg(path).args(["-U", "bench", "-c", "select 1", "postgres"]);
        psql.output().unwrap().status.success()
    };
    assert!(wait_until(Duration::from_secs(30), ready), "the server did not come up");
    let mut fill = plain(bin.join("pgbench"));
    fill.arg("-h").arg(path).args(["-U", "bench", "-i", "-s", "5", "-q", "postgres"]);
    run(fill);
    let mut bench = plain(bin.join("pgbench"));
    bench.arg("-h").arg(path).args(["-U", "bench", "-c", "4", "-T", "30", "-n", "postgres"]);
    let bench = Running::spawn(bench);
    std::thread::sleep(Duration::from_secs(1));
    let document = inspected(server.pid(), "--tree --for 3s");
    drop(bench);
    // A fast shutdown.
    server.signal(rustix::process::Signal::INT);
    server.end();
    let seen = first_way(&document);
    assert_eq!((text(seen, "/way"), text(seen, "/caching")), ("synchronous", "buffered"), "{document:#}");
    assert!(list(&document, "/processes").len() > 5, "sessions and writers: {document:#}");
    let wal = list(&document, "/files").iter().find(|f| text(f, "/path").contains("/pg_wal/")).unwrap();
    let calls: Vec<&str> = list(wal, "/calls").iter().map(|c| text(c, "/call")).collect();
    assert!(calls.contains(&"fdatasync"), "commits wait for the log: {calls:?}");
}
