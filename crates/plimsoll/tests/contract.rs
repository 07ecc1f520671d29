//! What outside checks rely on: the document of `plimsoll probe --json`, the run folder, the page, `plimsoll report`.
//!
//! One real run of six seconds serves all tests of this file.
#![allow(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

mod support;

use serde_json::Value;
use std::path::Path;
use std::sync::OnceLock;
use support::command::{Ended, plimsoll, probe};
use support::document::{known, layer, list, number, steps, text};
use support::{Turn, folder, names};

struct Run {
    folder: tempfile::TempDir,
    ended: Ended,
    document: Value,
}

impl Run {
    fn out(&self) -> String {
        self.folder.path().join("run").display().to_string()
    }
}

fn run() -> &'static Run {
    static RUN: OnceLock<Run> = OnceLock::new();
    RUN.get_or_init(|| {
        let _turn = Turn::take();
        let folder = folder();
        let out = folder.path().join("run");
        let flags = format!("--limit p99<5ms --budget 6s --size 64M --json --out {}", out.display());
        let ended = probe(folder.path(), &flags);
        let document = ended.json();
        Run { folder, ended, document }
    })
}

const OUTCOMES: [&str; 8] = [
    "found",
    "never-reached",
    "broken-at-one",
    "edge-of-range",
    "not-steady",
    "burst",
    "cannot-tell",
    "swept",
];
const LAYERS: [&str; 9] = [
    "concurrency",
    "cpu",
    "above",
    "throttle",
    "host-queue",
    "device-queue-limit",
    "path",
    "device",
    "unknown",
];

#[test]
fn the_document_says_what_it_is_and_how_it_ended() {
    let Run { document, ended, .. } = run();
    assert_eq!(text(document, "/schema"), "plimsoll.probe/1");
    assert_eq!(text(document, "/limit"), "p99<5ms");
    assert!(text(document, "/version").starts_with(char::is_numeric));
    let outcome = text(document, "/outcome");
    assert!(OUTCOMES.contains(&outcome), "{outcome}");
    let expected = match outcome {
        "broken-at-one" => 1,
        "cannot-tell" => 4,
        _ => 0,
    };
    assert_eq!(ended.code, Some(expected), "{outcome}: {}", ended.stderr);
    assert!(ended.stderr.is_empty(), "{}", ended.stderr);
    let spent_s = number(document, "/spent_s");
    assert!(spent_s > 0.5 && spent_s < 9.0, "{spent_s} s of a budget of 6 s");
}

#[test]
fn the_load_line_and_the_knee_have_their_fields() {
    let document = &run().document;
    let line = document.get("load_line").unwrap();
    if line.is_null() {
        // Noise may end a run of six seconds without a number; then the outcome says why.
        assert_ne!(text(document, "/outcome"), "found");
    } else {
        let iops = number(line, "/iops");
        let mib_per_s = number(line, "/mib_per_s");
        assert!(
            (mib_per_s / (iops * 8192.0 / 1048576.0) - 1.0).abs() < 0.1,
            "{iops} IOPS, {mib_per_s} MiB/s"
        );
        assert!(number(line, "/concurrency") >= 1.0);
        assert_eq!(text(line, "/limit"), "p99<5ms");
        let (low, high) = (number(line, "/ci95/0"), number(line, "/ci95/1"));
        assert!(low > 0.0 && low <= iops && iops <= high, "{low} {iops} {high}");
        assert!(number(line, "/steady_s") >= 0.0);
    }
    let knee = document.get("knee").unwrap();
    assert!(knee.is_null() || number(knee, "/concurrency") > 0.0, "{knee}");
}

#[test]
fn bound_by_has_a_known_layer_evidence_and_advice() {
    let document = &run().document;
    assert!(LAYERS.contains(&layer(document)), "{}", layer(document));
    assert!(!list(document, "/bound_by/evidence").is_empty());
    assert!(list(document, "/bound_by/evidence").iter().all(Value::is_string));
    for advice in list(document, "/bound_by/advice") {
        assert!(!text(advice, "/text").is_empty());
    }
    assert!(!text(document, "/bound_by/headline").is_empty());
}

#[test]
fn every_step_has_its_fields_and_obeys_littles_law() {
    let document = &run().document;
    let mut last = 0.0;
    for step in steps(document) {
        let n = number(step, "/concurrency");
        assert!(n > last, "steps do not ascend: {n} after {last}");
        last = n;
        let iops = number(step, "/iops");
        assert!((number(step, "/mib_per_s") / (iops / 128.0) - 1.0).abs() < 0.01);
        let quantiles =
            ["p50", "p95", "p99", "p999", "max"].map(|q| number(step, &format!("/response_us/{q}")));
        assert!(quantiles.is_sorted() && quantiles[0] > 0.0, "N={n}: {quantiles:?}");
        let mean_us = number(step, "/response_us/mean");
        let outstanding = iops * mean_us / 1e6;
        assert!((outstanding / n - 1.0).abs() < 0.1, "N={n}, but X R = {outstanding}");
        assert!(number(step, "/seconds") > 0.0);
        assert!(known(step, "/cpu_us_per_io").is_none_or(|us| us > 0.0));
        let parts = ["above", "host_queue", "device_queue"].map(|part| known(step, &format!("/{part}")));
        assert!(parts.iter().flatten().all(|part| *part >= 0.0), "{parts:?}");
        if let [Some(above), Some(host), Some(device)] = parts {
            let sum = above + host + device;
            assert!((sum - n).abs() <= 0.05 * n + 0.5, "N={n}, but {above} + {host} + {device} = {sum}");
        }
    }
}

#[test]
fn units_stand_in_the_names_and_nothing_is_called_latency() {
    let mut all = Vec::new();
    keys(&run().document, &mut all);
    assert!(all.len() > 100, "only {} names", all.len());
    for bad in ["latency", "time", "duration", "bandwidth", "throughput", "response", "size", "bytes_per_sec"]
    {
        assert!(!all.iter().any(|key| key == bad), "a field is called '{bad}'");
    }
}

fn keys(value: &Value, into: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            for (key, value) in fields {
                into.push(key.clone());
                keys(value, into);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| keys(item, into)),
        _ => {}
    }
}

#[test]
fn host_path_options_and_warnings_come_with_the_answer() {
    let document = &run().document;
    let layers = list(document, "/path/layers");
    assert!(layers.len() >= 2, "a file lies on a filesystem on a device: {layers:#?}");
    assert!(!list(document, "/host/cpus_allowed").is_empty());
    assert_eq!(number(document, "/options/budget_s"), 6.0);
    assert_eq!(number(document, "/options/size_bytes"), f64::from(64 << 20));
    for warning in list(document, "/warnings") {
        assert!(["spoils", "caution", "note"].contains(&text(warning, "/weight")), "{warning}");
        assert!(!text(warning, "/id").is_empty() && !text(warning, "/text").is_empty());
    }
    // 64 MiB fit any cache: the doubt must be there.
    assert!(support::document::warnings(document).contains(&"cache-suspected"));
}

#[test]
fn the_run_folder_holds_what_was_promised_and_reads_back() {
    let run = run();
    let out = run.folder.path().join("run");
    assert_eq!(text(&run.document, "/run"), run.out());
    for file in
        ["run.json", "steps.parquet", "samples.parquet", "latency.parquet", "events.parquet", "report.html"]
    {
        assert!(names(&out).iter().any(|n| n == file), "{file} is missing among {:?}", names(&out));
    }
    assert!(
        !out.join(record::run::JOURNAL_FILE).exists(),
        "the journal stays only where a run is unfinished"
    );
    let read = record::run::read_run(&out).unwrap();
    assert!(read.finished && read.complaints.is_empty(), "{:?}", read.complaints);
    let listed: f64 = steps(&run.document).iter().map(|s| number(s, "/seconds")).sum();
    let closed = read.steps.iter().filter(|s| s.load.demand.concurrency().is_some());
    let kept: f64 = closed.map(|s| s.measured_s).sum();
    assert!((listed - kept).abs() < 0.01 * listed + 0.01, "{listed} s in the answer, {kept} s in the tables");
    // The largest step's throughput comes out of the histograms again.
    let last = steps(&run.document).last().unwrap();
    let windows: Vec<_> = read
        .steps
        .iter()
        .filter(|s| s.concurrency().map(f64::from) == Some(number(last, "/concurrency")))
        .collect();
    let ios: u64 = windows.iter().map(|s| s.ios()).sum();
    let seconds: f64 = windows.iter().map(|s| s.measured_s).sum();
    assert!((ios as f64 / seconds / number(last, "/iops") - 1.0).abs() < 0.01);
}

#[test]
fn run_json_is_a_document_with_the_answer_inside() {
    let run = run();
    let bytes = std::fs::read(run.folder.path().join("run/run.json")).unwrap();
    let kept: Value = serde_json::from_slice(&bytes).unwrap();
    assert_eq!(text(&kept, "/schema"), "plimsoll.run/1");
    assert_eq!(text(&kept, "/what"), "probe");
    assert_eq!(kept["answer"]["load_line"], run.document["load_line"]);
    assert_eq!(kept["answer"]["bound_by"], run.document["bound_by"]);
    assert!(!list(&kept, "/tunables").is_empty(), "every setting of the path as it stood");
    assert!(text(&kept, "/started_at") < text(&kept, "/ended_at"));
}

#[test]
fn the_page_asks_the_network_for_nothing_and_is_small() {
    let path = run().folder.path().join("run/report.html");
    assert_eq!(text(&run().document, "/page"), path.display().to_string());
    let page = std::fs::read_to_string(path).unwrap();
    assert!(page.len() <= 300 << 10, "{} bytes", page.len());
    for reference in
        ["src=\"http", "href=\"http", "src='http", "href='http", "src=\"//", "url(http", "@import", "<link"]
    {
        assert!(!page.contains(reference), "the page refers to {reference}");
    }
    assert!(page.contains("<svg") && page.contains("Bound by"));
}

#[test]
fn report_tells_the_same_answer_again() {
    let run = run();
    let again = plimsoll(["report", &run.out(), "--json"]).expect(0);
    let again_document = again.json();
    for field in
        ["schema", "outcome", "verdict", "load_line", "knee", "bound_by", "limit", "warnings", "steps"]
    {
        assert_eq!(again_document[field], run.document[field], "{field}");
    }
    assert!(again.stderr.is_empty(), "{}", again.stderr);
    let shown = plimsoll(["report", &run.out()]).expect(0).stdout;
    let flat = shown.split_whitespace().collect::<Vec<_>>().join(" ");
    let verdict = text(&run.document, "/verdict").split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(flat.contains(&verdict), "'{verdict}' is not in:\n{shown}");
    assert!(flat.contains(&format!("Bound by {}", layer(&run.document))), "{shown}");
}

#[test]
fn report_writes_the_page_again() {
    let run = run();
    let page = run.folder.path().join("again.html");
    let done = plimsoll(["report", &run.out(), "--page", &page.display().to_string()]).expect(0);
    assert!(done.stdout.is_empty(), "{}", done.stdout);
    let first = std::fs::read_to_string(run.folder.path().join("run/report.html")).unwrap();
    assert_eq!(std::fs::read_to_string(&page).unwrap().len(), first.len());
}

#[test]
fn a_damaged_run_is_an_error_that_names_the_file() {
    let place = folder();
    std::fs::write(place.path().join("run.json"), "{\"schema\": \"plimsoll.run/1\", ").unwrap();
    let ended = plimsoll(["report", &place.path().display().to_string()]).expect(2);
    assert!(ended.stderr.contains("run.json"), "{}", ended.stderr);
    let cut = place.path().join("cut");
    copy(&run().folder.path().join("run"), &cut);
    let table = std::fs::read(cut.join("steps.parquet")).unwrap();
    std::fs::write(cut.join("steps.parquet"), &table[..table.len() / 2]).unwrap();
    let ended = plimsoll(["report", &cut.display().to_string()]);
    assert!(ended.stderr.contains("steps.parquet"), "{ended:?}");
    assert!(matches!(ended.code, Some(0 | 2)), "{ended:?}");
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir(to).unwrap();
    for name in names(from) {
        std::fs::copy(from.join(&name), to.join(&name)).unwrap();
    }
}

#[test]
fn nothing_of_the_probe_is_left_beside_the_run() {
    let run = run();
    assert!(support::own_files(run.folder.path()).is_empty(), "{:?}", names(run.folder.path()));
}
