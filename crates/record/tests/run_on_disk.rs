//! The run on disk: what is written comes back, and what breaks off stays readable.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use proptest::prelude::*;
use record::run::{JOURNAL_FILE, RunDocument, RunError, RunWriter, read_run, read_table};
use record::*;
use std::fs;
use std::path::Path;

fn histogram(values_ns: &[u64]) -> Option<LatencyHistogram> {
    let mut histogram = LatencyHistogram::new();
    values_ns.iter().for_each(|ns| histogram.record_ns(*ns));
    (!values_ns.is_empty()).then_some(histogram)
}

fn class(values_ns: &[u64]) -> ClassSeen {
    ClassSeen { latency: histogram(values_ns), bytes: values_ns.len() as u64 * 8192, errors: 0 }
}

fn layer(name: &str, iops: f64) -> LayerSeen {
    let counter = How::Counter { file: format!("/sys/block/{name}/stat") };
    LayerSeen {
        name: name.to_owned(),
        requests_per_s: iops,
        mib_per_s: iops / 128.0,
        request_bytes_mean: Some(8192.0),
        merges_per_s: 0.0,
        inside: Standing::known(3.5, counter.clone()),
        host_queue: Standing::between(0.0, 1.5, "no counter looks there"),
        device_queue: Standing::known(2.5, counter),
        device_queue_peak: None,
        response_us: Some(1234.5),
        host_wait_us: None,
        service_us: Some(1000.1),
        device_queue_limit: Some(32.0),
        device_queue_limit_range: Some((31.0, 32.0)),
        little_error: Some(0.01),
        scsi: Some(ScsiSeen { requested: 10, done: 9, errors: 1, timeouts: None }),
        tag_sharing: None,
    }
}

fn step(concurrency: u32, slices: Vec<Vec<u64>>) -> Step {
    let slices: Vec<Slice> = slices
        .iter()
        .enumerate()
        .map(|(i, values)| Slice {
            start_s: i as f64 * SLICE_S,
            length_s: SLICE_S,
            read: class(values),
            write: class(&values[values.len() / 2..]),
            flush: ClassSeen::default(),
            outstanding_mean: f64::from(concurrency) - 0.1,
        })
        .collect();
    let measured_s = slices.len() as f64 * SLICE_S;
    let mut step = Step {
        load: Load { demand: Demand::Closed { concurrency }, measure_s: 0.5, phase: Phase::Rise },
        start_s: 1.0 + 1.0 / 3.0,
        settle_s: 0.2,
        measured_s,
        slices,
        layers: Vec::new(),
        cpu: Some(CpuSeen { user_us_per_io: 0.1, cores: vec![CoreSeen::default()], ..CpuSeen::default() }),
        host: Some(HostSeen { steal: Some(0.01), ..HostSeen::default() }),
        doubts: vec![Doubt { id: DoubtId::ForeignIo, weight: Weight::Caution, text: "3 IOPS".to_owned() }],
        starved: Starved::default(),
        incidents: Incidents::default(),
        ended: Ended::Failed("No space left on device".to_owned()),
    };
    step.layers = vec![layer("sda", step.iops())];
    step
}

/// One text per step that holds everything, histograms included, so that equality needs no trait.
fn shown(steps: &[Step]) -> Vec<String> {
    steps.iter().map(|s| serde_json::to_string(s).unwrap()).collect()
}

fn document() -> RunDocument {
    let mut document = RunDocument::new("probe", "0.1.0", "2026-01-02T03:04:05+00:00");
    document.answer = serde_json::json!({"outcome": "found"});
    document
}

fn write(dir: &Path, steps: &[Step]) -> RunWriter {
    let mut writer = RunWriter::create(dir).unwrap();
    writer.describe(&document()).unwrap();
    steps.iter().for_each(|s| writer.append(s).unwrap());
    writer
}

const SLICE_S: f64 = 0.1;

fn values() -> impl Strategy<Value = Vec<Vec<u64>>> {
    prop::collection::vec(prop::collection::vec(0u64..200_000_000_000, 0..20), 0..4)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn a_finished_run_reads_back_as_written(steps in prop::collection::vec((1u32..5000, values()), 0..4)) {
        let dir = tempfile::tempdir().unwrap();
        let steps: Vec<Step> = steps.into_iter().map(|(n, v)| step(n, v)).collect();
        write(dir.path(), &steps).finish(&document()).unwrap();
        let read = read_run(dir.path()).unwrap();
        prop_assert!(read.finished);
        prop_assert_eq!(&read.complaints, &vec![]);
        prop_assert_eq!(shown(&read.steps), shown(&steps));
        prop_assert_eq!(read.document.unwrap().answer, document().answer);
    }

    #[test]
    fn damaged_tables_are_complaints_and_never_panics(
        file in prop::sample::select(vec!["samples.parquet", "steps.parquet"]),
        at in 0.0f64..1.0,
        damage in prop::collection::vec(any::<u8>(), 1..12),
    ) {
        let dir = tempfile::tempdir().unwrap();
        write(dir.path(), &[step(1, vec![vec![1000, 2000], vec![3000]])]).finish(&document()).unwrap();
        let path = dir.path().join(file);
        let mut bytes = fs::read(&path).unwrap();
        let start = ((bytes.len() - damage.len()) as f64 * at) as usize;
        bytes[start..start + damage.len()].copy_from_slice(&damage);
        let whole = fs::read(&path).unwrap();
        fs::write(&path, bytes).unwrap();
        let read = read_run(dir.path()).unwrap();
        prop_assert!(read.document.is_some());
        let same = fs::read(&path).unwrap() == whole;
        prop_assert_eq!(read.complaints.is_empty(), same);
        // What has no checksum must not bring the reader down either.
        let schema = format!("plimsoll.{}/1", file.trim_end_matches(".parquet"));
        prop_assert!(read_table(&path, &schema).is_ok() || !same);
    }

    #[test]
    fn a_journal_torn_anywhere_keeps_all_whole_steps(cut in 0.0f64..1.0) {
        let dir = tempfile::tempdir().unwrap();
        let steps = [step(1, vec![vec![1000, 2000]]), step(2, vec![vec![3000], vec![4000]])];
        drop(write(dir.path(), &steps));
        let journal = dir.path().join(JOURNAL_FILE);
        let whole = fs::read(&journal).unwrap();
        let first_line = whole.iter().position(|b| *b == b'\n').unwrap();
        let length = first_line + 1 + ((whole.len() - first_line - 1) as f64 * cut) as usize;
        fs::write(&journal, &whole[..length]).unwrap();
        let read = read_run(dir.path()).unwrap();
        // A line that lacks nothing but its end is whole.
        let ends = whole[length - 1] == b'\n' || whole.get(length) == Some(&b'\n');
        let breaks = whole[..length].iter().filter(|b| **b == b'\n').count();
        let whole_lines = breaks + usize::from(ends && whole[length - 1] != b'\n');
        let torn = !ends;
        prop_assert_eq!(read.steps.len(), whole_lines.saturating_sub(2));
        prop_assert_eq!(shown(&read.steps), shown(&steps[..read.steps.len()]));
        prop_assert_eq!(read.complaints.len(), usize::from(torn));
    }
}

#[test]
fn a_bound_without_end_survives_the_journal() {
    let dir = tempfile::tempdir().unwrap();
    let mut unbounded = step(1, vec![vec![1000]]);
    unbounded.layers[0].host_queue = Standing::between(0.0, f64::INFINITY, "nothing bounds it");
    drop(write(dir.path(), std::slice::from_ref(&unbounded)));
    let read = read_run(dir.path()).unwrap();
    assert_eq!(read.steps[0].layers, unbounded.layers);
}

#[test]
fn a_torn_last_line_is_named_with_file_and_line() {
    let dir = tempfile::tempdir().unwrap();
    drop(write(dir.path(), &[step(1, vec![vec![1000]]), step(2, vec![vec![1000]])]));
    let journal = dir.path().join(JOURNAL_FILE);
    let whole = fs::read(&journal).unwrap();
    fs::write(&journal, &whole[..whole.len() - 100]).unwrap();
    let read = read_run(dir.path()).unwrap();
    assert!(!read.finished);
    assert_eq!(read.document.unwrap().what, "probe");
    assert_eq!(read.steps.len(), 1);
    let complaint = read.complaints[0].to_string();
    assert!(complaint.starts_with("steps.jsonl.partial:4: expected one measured step"), "{complaint}");
}

#[test]
fn a_folder_with_other_things_is_refused_and_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("ORACLE.dbf"), "mine").unwrap();
    let error = RunWriter::create(dir.path()).err().unwrap();
    assert!(matches!(&error, RunError::NotOurs { found, .. } if found == "ORACLE.dbf"));
    assert!(error.to_string().contains("does not exist yet or is empty"), "{error}");
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
}

#[test]
fn a_foreign_run_json_does_not_make_a_folder_ours() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("run.json"), r#"{"schema": "other/1"}"#).unwrap();
    assert!(matches!(RunWriter::create(dir.path()), Err(RunError::NotOurs { .. })));
    assert!(matches!(read_run(dir.path()), Err(RunError::OtherSchema { found, .. }) if found == "other/1"));
}

#[test]
fn an_earlier_run_in_the_same_folder_is_kept() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), &[step(1, vec![vec![1000]])]).finish(&document()).unwrap();
    drop(write(dir.path(), &[step(2, vec![vec![1000]])]));
    write(dir.path(), &[step(3, vec![vec![1000]])]).finish(&document()).unwrap();
    let concurrency = |dir: &Path| read_run(dir).unwrap().steps[0].concurrency().unwrap();
    assert_eq!(concurrency(&dir.path().join("earlier-1")), 1);
    assert_eq!(concurrency(&dir.path().join("earlier-2")), 2);
    assert_eq!(concurrency(dir.path()), 3);
}

#[test]
fn a_damaged_table_is_a_complaint_and_the_document_is_kept() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), &[step(1, vec![vec![1000]])]).finish(&document()).unwrap();
    let samples = dir.path().join("samples.parquet");
    let bytes = fs::read(&samples).unwrap();
    fs::write(&samples, &bytes[..bytes.len() / 2]).unwrap();
    let read = read_run(dir.path()).unwrap();
    assert_eq!(read.steps.len(), 1);
    assert!(read.steps[0].slices.is_empty());
    assert_eq!(read.complaints[0].file, "samples.parquet");
}

#[test]
fn a_run_of_a_newer_version_is_refused_by_name() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("run.json"), r#"{"schema": "plimsoll.run/2", "what": 7}"#).unwrap();
    let error = read_run(dir.path()).err().unwrap().to_string();
    assert!(error.contains("plimsoll.run/2") && error.contains("another version"), "{error}");
}

#[test]
fn an_empty_folder_is_no_run() {
    let dir = tempfile::tempdir().unwrap();
    assert!(matches!(read_run(dir.path()), Err(RunError::NotARun { .. })));
}

#[test]
fn tables_hold_readable_numbers_beside_the_histograms() {
    let dir = tempfile::tempdir().unwrap();
    let one = step(4, vec![vec![1_000_000; 100], vec![1_000_000; 50]]);
    write(dir.path(), std::slice::from_ref(&one)).finish(&document()).unwrap();
    let table = |name: &str| {
        read_table(&dir.path().join(format!("{name}.parquet")), &format!("plimsoll.{name}/1")).unwrap()
    };
    let steps = table("steps");
    assert_eq!(steps.int(0, "concurrency"), Some(4));
    assert_eq!(steps.text(0, "phase"), Some("rise"));
    assert_eq!(steps.float(0, "iops"), Some(one.iops()));
    assert_eq!(steps.float(0, "response_mean_us"), Some(1000.0));
    assert_eq!(steps.float(0, "host_queue"), None, "only a bound is known");
    assert_eq!(steps.float(0, "device_queue"), Some(2.5));
    assert!((steps.float(0, "above").unwrap() - 0.4).abs() < 1e-9);
    assert_eq!(steps.float(0, "rate_iops"), None);
    let layers = table("layers");
    assert_eq!((layers.text(0, "layer"), layers.float(0, "host_queue_high")), (Some("sda"), Some(1.5)));
    let latency = table("latency");
    let hdr = latency.bytes(0, "hdr").unwrap();
    let sum_ns = latency.int(0, "sum_ns").unwrap() as u64;
    assert_eq!(LatencyHistogram::from_v2_bytes(hdr, sum_ns).unwrap(), one.latency(IoClass::Read));
    assert_eq!(table("samples").rows(), 2);
    assert_eq!(table("events").text(0, "id"), Some("foreign-io"));
    assert_eq!(table("events").text(1, "text"), Some("No space left on device"));
}

/// A file system of 256 KiB, when this process may mount one.
struct SmallDisk(tempfile::TempDir);

impl SmallDisk {
    fn mount() -> Option<Self> {
        let dir = tempfile::tempdir().ok()?;
        let status = std::process::Command::new("mount")
            .args(["-t", "tmpfs", "-o", "size=256k", "tmpfs"])
            .arg(dir.path())
            .stderr(std::process::Stdio::null())
            .status();
        status.is_ok_and(|s| s.success()).then_some(Self(dir))
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = std::process::Command::new("umount").arg(self.0.path()).status();
    }
}

#[test]
fn a_full_disk_leaves_a_readable_unfinished_run() {
    let Some(disk) = SmallDisk::mount() else {
        eprintln!("skipped: a_full_disk_leaves_a_readable_unfinished_run (mounting a tmpfs needs root)");
        return;
    };
    let dir = disk.0.path().join("run");
    let mut writer = RunWriter::create(&dir).unwrap();
    let kept = step(1, vec![vec![1000, 2000]]);
    writer.append(&kept).unwrap();
    fs::write(disk.0.path().join("ballast"), vec![0u8; 1 << 20]).unwrap_err();
    let large = step(2, (0..40).map(|i| (1..400).map(|j| i * j * 1000 + 64).collect()).collect());
    let error = writer.append(&large).unwrap_err().to_string();
    assert!(error.contains("steps.jsonl.partial"), "{error}");
    let error = writer.finish(&document()).unwrap_err().to_string();
    assert!(error.contains("No space left on device"), "{error}");
    let read = read_run(&dir).unwrap();
    assert!(!read.finished);
    assert_eq!(read.complaints, vec![]);
    assert_eq!(shown(&read.steps), shown(&[kept]));
}
