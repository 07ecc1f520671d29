//! `plimsoll read` and `explain` as they are used: folders, archives and pipes in, a verdict with lines and exit code out.
#![allow(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

mod support;

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use support::command::{plain, plimsoll};
use support::document::{list, number, text};
use support::folder;

/// Solaris, a LUN whose throttle is 8: the first report is since boot, then eight stand at the device and more wait.
fn solaris() -> String {
    let head = "                    extended device statistics              \n    r/s    w/s   kr/s   kw/s wait actv wsvc_t asvc_t  %w  %b device\n";
    let mut out = String::new();
    for n in 0..8 {
        let row = if n == 0 {
            "   10.0    1.0   80.0    8.0  0.0  0.1    0.0    9.0   0   5 c1t10d0".to_owned()
        } else {
            format!(" 1000.0    0.0 8000.0    0.0 {}.0  8.0   {n}.0    8.0  90 100 c1t10d0", n + 4)
        };
        let _ = writeln!(out, "{head}{row}");
    }
    out
}

fn found(document: &serde_json::Value, id: &str) -> Option<serde_json::Value> {
    list(document, "/findings").iter().find(|f| f["id"] == id).cloned()
}

#[test]
fn a_folder_is_read_whole_and_findings_point_at_their_lines() {
    let folder = folder();
    // Names say nothing: the content does.
    std::fs::write(folder.path().join("a.jpg"), solaris()).unwrap();
    std::fs::write(folder.path().join("b.txt"), "no tool wrote this\n").unwrap();
    std::fs::write(folder.path().join("c"), [0u8, 1, 2, 3, 0, 0, 7, 1].repeat(50)).unwrap();
    let path = folder.path().display().to_string();
    let document = plimsoll(["read", &path, "--json"]).expect(0).json();
    assert_eq!(text(&document, "/schema"), "plimsoll.read/1");
    let sources = list(&document, "/sources");
    assert_eq!(sources.len(), 3);
    assert_eq!(text(&sources[0], "/format"), "solaris-iostat");
    assert!(number(&sources[0], "/samples") >= 8.0);
    assert!(sources[1..].iter().all(|s| s["format"].is_null() && !list(s, "/complaints").is_empty()));
    let finding = found(&document, "PL101").expect("a standing host queue");
    assert_eq!((text(&finding, "/severity"), text(&finding, "/device")), ("high", "c1t10d0"));
    let evidence = &list(&finding, "/evidence")[0];
    // The longest host queue stands in the last report: three lines each.
    assert_eq!(
        (number(evidence, "/line"), text(evidence, "/file")),
        (24.0, format!("{path}/a.jpg").as_str())
    );
    assert!(text(evidence, "/text").contains("c1t10d0"));
    assert!(list(&finding, "/advice").iter().any(|a| a.as_str().unwrap().contains("sd_max_throttle")));
}

#[test]
fn exit_codes_follow_the_worst_finding() {
    let folder = folder();
    let file = folder.path().join("iostat.out");
    std::fs::write(&file, solaris()).unwrap();
    let path = file.display().to_string();
    plimsoll(["read", &path, "--fail-on", "high"]).expect(1);
    let none = folder.path().join("none");
    plimsoll(["read", &none.display().to_string()]).expect(2);
    plimsoll(["read"]).expect(2);
    plimsoll(["read", &path, "--fail-on", "worst"]).expect(2);
    plimsoll(["explain", "PL999"]).expect(2);
    let explained = plimsoll(["explain", "pl101"]).expect(0);
    assert!(explained.stdout.contains("sd_max_throttle") && explained.stdout.contains("queue_depth"));
    let all = plimsoll(["explain", "--json"]).expect(0).json();
    assert!(list(&all, "/rules").len() > 30);
    let formats = plimsoll(["read", "--formats", "--json"]).expect(0).json();
    assert!(list(&formats, "/formats").len() > 50);
}

#[test]
fn one_report_alone_tells_a_full_queue_when_the_host_queue_was_never_empty() {
    let folder = folder();
    let file = folder.path().join("io");
    let report = |share: u32| {
        let head = "                    extended device statistics              \n    r/s    w/s   kr/s   kw/s wait actv wsvc_t asvc_t  %w  %b device\n";
        format!("{head} 1000.0    0.0 8000.0    0.0  6.0  8.0    6.0    8.0  {share} 100 c1t10d0\n")
    };
    let path = file.display().to_string();
    std::fs::write(&file, report(99)).unwrap();
    let document = plimsoll(["read", &path, "--json"]).expect(0).json();
    let finding = found(&document, "PL101").unwrap_or_else(|| panic!("{document:#}"));
    assert_eq!((text(&finding, "/severity"), number(&finding, "/evidence/0/line")), ("medium", 3.0));
    // Waiting half of the time, the device queue may have stood anywhere above 8.
    std::fs::write(&file, report(50)).unwrap();
    let document = plimsoll(["read", &path, "--json"]).expect(0).json();
    assert_eq!(found(&document, "PL101"), None);
}

/// What a program makes of some bytes.
fn through(program: &str, args: &[&str], bytes: &[u8]) -> Option<Vec<u8>> {
    let mut child =
        Command::new(program).args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().ok()?;
    let (mut stdin, bytes) = (child.stdin.take()?, bytes.to_vec());
    let writer = std::thread::spawn(move || stdin.write_all(&bytes));
    let out = child.wait_with_output().ok()?.stdout;
    writer.join().ok()?.ok()?;
    Some(out)
}

#[test]
fn standard_input_archives_and_compression_give_the_same_answer() {
    let folder = folder();
    let inner = folder.path().join("case");
    std::fs::create_dir(&inner).unwrap();
    std::fs::write(inner.join("io"), solaris()).unwrap();
    let archive = folder.path().join("case.bin");
    let status =
        Command::new("tar").arg("-czf").arg(&archive).arg("-C").arg(folder.path()).arg("case").status();
    assert!(status.unwrap().success());
    let gzipped = folder.path().join("gz");
    std::fs::write(&gzipped, through("gzip", &["-c"], solaris().as_bytes()).unwrap()).unwrap();
    let mut files = vec![archive, gzipped];
    // zstd is no part of every system.
    if let Some(bytes) = through("zstd", &["-qc"], solaris().as_bytes()) {
        files.push(folder.path().join("zst"));
        std::fs::write(files.last().unwrap(), bytes).unwrap();
    }
    for file in files {
        let document = plimsoll(["read", &file.display().to_string(), "--json"]).expect(0).json();
        let finding = found(&document, "PL101").unwrap_or_else(|| panic!("{}: {document:#}", file.display()));
        assert!(text(&finding, "/evidence/0/text").contains("c1t10d0"), "the line is quoted: {finding:#}");
    }
    let mut piped = plain(env!("CARGO_BIN_EXE_plimsoll"));
    let mut child =
        piped.args(["read", "-", "--json"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(solaris().as_bytes()).unwrap();
    let out = child.wait_with_output().unwrap();
    let document: serde_json::Value = serde_json::from_slice(&out.stdout).unwrap();
    let finding = found(&document, "PL101").unwrap();
    assert_eq!((text(&finding, "/evidence/0/file"), number(&finding, "/evidence/0/line")), ("-", 24.0));
}

#[test]
fn a_kept_run_is_shown_again_and_its_tables_read() {
    let folder = folder();
    let (file, run) = (folder.path().join("io"), folder.path().join("run"));
    std::fs::write(&file, solaris()).unwrap();
    let [file, run] = [file, run].map(|p| p.display().to_string());
    let first = plimsoll(["read", &file, "--out", &run]).expect(0);
    let again = plimsoll(["report", &run]).expect(0);
    assert_eq!(first.stdout, again.stdout);
    let document = plimsoll(["report", &run, "--json"]).expect(0).json();
    assert!(found(&document, "PL101").is_some());
    let page = std::fs::read_to_string(Path::new(&run).join("report.html")).unwrap();
    assert!(
        page.contains("PL101")
            && page.contains("<svg")
            && page.contains("c1t10d0")
            && !page.contains("http://")
    );
    let samples = record::run::read_table(
        &Path::new(&run).join("samples.parquet"),
        record::imported::IMPORTED_SAMPLES_SCHEMA,
    )
    .unwrap();
    let waits = (0..samples.rows()).filter(|r| samples.text(*r, "quantity") == Some("host_queue"));
    assert_eq!(waits.count(), 8);
}

#[test]
fn a_long_text_needs_no_more_memory_than_a_short_one() {
    let folder = folder();
    let file = folder.path().join("long");
    let mut text = String::from("Linux 6.1.0 (db1) \t02/10/2024 \t_x86_64_\t(8 CPU)\n\n");
    let mut out = std::io::BufWriter::new(std::fs::File::create(&file).unwrap());
    let mut bytes = 0;
    for second in 0..40_000 {
        let _ = write!(
            text,
            "02/10/2024 {:02}:{:02}:{:02}\nDevice r/s w/s rkB/s wkB/s r_await w_await aqu-sz %util\n",
            second / 3600,
            second / 60 % 60,
            second % 60
        );
        for device in 0..16 {
            let _ = writeln!(
                text,
                "sd{} 1000.00 10.00 8000.00 80.00 1.00 2.00 1.02 99.00",
                char::from(b'a' + device)
            );
        }
        text.push('\n');
        out.write_all(text.as_bytes()).unwrap();
        bytes += text.len();
        text.clear();
    }
    out.flush().unwrap();
    assert!(bytes > 36_000_000, "{bytes}");
    // GNU time is not everywhere; a limit on the address space is.
    let script = "ulimit -v 400000; exec \"$0\" read \"$1\" --json";
    let plimsoll = env!("CARGO_BIN_EXE_plimsoll");
    let out = plain("sh").args(["-c", script, plimsoll]).arg(&file).output().unwrap();
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    let document: serde_json::Value = serde_json::from_slice(&out.stdout).unwrap();
    assert_eq!(number(&document, "/sources/0/samples"), 640_000.0);
}
