//! Time to an answer, and whether five of them agree: quiet, and beside processor hogs.

use crate::Outcome;
use crate::contender::Setup;
use crate::{fio, ours, rounds, scratch};
use serde_json::Value;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

const LIMIT_US: f64 = 2000.0;

/// One answer of one searcher.
struct Answer {
    depth: f64,
    iops: f64,
    load_s: f64,
    remark: String,
}

/// Five answers of each in turn on the same file, and a dense grid to hold them against.
pub fn quiet(setup: &Setup) -> Outcome<()> {
    let file = file(setup)?;
    let grid = grid(setup, file.path())?;
    let (own, theirs) = five_each(setup, file.path())?;
    println!(
        "\nTime to an answer: 8 KiB random reads, p99<2ms, real file (goals: at most 20 s of load, depths within 1.2x, within 10 % of the grid)\n"
    );
    println!(
        "dense grid (fio, one depth after another): p99 crosses 2 ms at depth {:.1}, {:.0} IOPS there",
        grid.0, grid.1
    );
    print(&own, &theirs);
    Ok(())
}

/// The same with one hog per core.
pub fn disturbed(setup: &Setup) -> Outcome<()> {
    let file = file(setup)?;
    let hogs = Hogs::start(std::thread::available_parallelism()?.get(), Duration::from_secs(900));
    let answers = five_each(setup, file.path());
    drop(hogs);
    let (own, theirs) = answers?;
    println!("\nThe same beside one hog per core (goal: depths within 1.5x, or 'host disturbed' said)\n");
    print(&own, &theirs);
    Ok(())
}

fn file(setup: &Setup) -> Outcome<scratch::Scratch> {
    scratch::Scratch::new(&setup.folder, "answer.data", if setup.tiny { 64 << 20 } else { 4 << 30 })
}

fn five_each(setup: &Setup, file: &Path) -> Outcome<(Vec<Answer>, Vec<Answer>)> {
    let runs = if setup.tiny { 1 } else { 5 };
    let (mut own, mut theirs) = (Vec::new(), Vec::new());
    for run in 0..runs {
        eprintln!("  run {} of {runs}: plimsoll", run + 1);
        own.push(plimsoll(setup, file, run)?);
        eprintln!("  run {} of {runs}: fio latency_target", run + 1);
        theirs.push(latency_target(setup, file)?);
    }
    Ok((own, theirs))
}

fn plimsoll(setup: &Setup, file: &Path, run: u64) -> Outcome<Answer> {
    let budget = if setup.tiny { "5s" } else { "20s" };
    let arguments = [
        "probe",
        &file.display().to_string(),
        "--limit",
        "p99<2ms",
        "--budget",
        budget,
        "--open-loop",
        "off",
        "--seed",
        &(run + 1).to_string(),
    ]
    .map(str::to_owned);
    let answer = ours::document(&setup.plimsoll, &arguments)?;
    let line = &answer["load_line"];
    let ci: Vec<String> = line["ci95"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_f64)
        .map(|v| format!("{v:.0}"))
        .collect();
    let mut remark = format!("[{}]", ci.join(".."));
    for warning in answer["warnings"].as_array().into_iter().flatten() {
        if warning["id"] == "host-disturbed" {
            remark.push_str(" host disturbed");
        }
    }
    if line.is_null() {
        remark = format!("{} {remark}", answer["outcome"]);
    }
    Ok(Answer {
        depth: line["concurrency"].as_f64().unwrap_or(f64::NAN),
        iops: line["iops"].as_f64().unwrap_or(f64::NAN),
        load_s: answer["spent_s"].as_f64().unwrap_or(f64::NAN),
        remark,
    })
}

fn latency_target(setup: &Setup, file: &Path) -> Outcome<Answer> {
    let window = if setup.tiny { "1s" } else { "5s" };
    let start = Instant::now();
    let arguments = [
        format!("--filename={}", file.display()),
        "--ioengine=io_uring".into(),
        "--direct=1".into(),
        "--rw=randread".into(),
        "--bs=8k".into(),
        "--iodepth=256".into(),
        "--time_based".into(),
        format!("--runtime={}", if setup.tiny { 5 } else { 120 }),
        "--latency_target=2ms".into(),
        format!("--latency_window={window}"),
        "--latency_percentile=99".into(),
    ];
    let job = fio::job(&arguments)?;
    Ok(Answer {
        depth: job["latency_depth"].as_f64().unwrap_or(f64::NAN),
        iops: job["read"]["iops"].as_f64().unwrap_or(f64::NAN),
        load_s: start.elapsed().as_secs_f64(),
        remark: "no interval".to_owned(),
    })
}

/// Where p99 crosses the limit between neighbouring depths, by interpolation in the logarithm.
fn grid(setup: &Setup, file: &Path) -> Outcome<(f64, f64)> {
    let depths: &[u32] =
        if setup.tiny { &[1, 64] } else { &[8, 16, 24, 28, 32, 36, 40, 44, 48, 56, 64, 80, 96, 128] };
    let seconds = if setup.tiny { 1 } else { 4 };
    let mut before: Option<(f64, f64, f64)> = None;
    for &depth in depths {
        let job = fio::job(&[
            format!("--filename={}", file.display()),
            "--ioengine=io_uring".into(),
            "--direct=1".into(),
            "--rw=randread".into(),
            "--bs=8k".into(),
            format!("--iodepth={depth}"),
            "--time_based".into(),
            format!("--runtime={seconds}"),
        ])?;
        let p99_us = job["read"]["clat_ns"]["percentile"]["99.000000"].as_f64().unwrap_or(f64::NAN) / 1e3;
        let iops = job["read"]["iops"].as_f64().unwrap_or(f64::NAN);
        eprintln!("  grid: depth {depth}, p99 {p99_us:.0} us, {iops:.0} IOPS");
        if let Some((d, p, x)) = before
            && p < LIMIT_US
            && p99_us >= LIMIT_US
        {
            let share = (LIMIT_US.ln() - p.ln()) / (p99_us.ln() - p.ln());
            return Ok((d * (f64::from(depth) / d).powf(share), x * (iops / x).powf(share)));
        }
        before = Some((f64::from(depth), p99_us, iops));
    }
    Ok((f64::NAN, f64::NAN))
}

fn print(own: &[Answer], theirs: &[Answer]) {
    println!("| searcher | depths | largest / smallest | load s (median) | IOPS (median) | remarks |");
    println!("| --- | --- | --- | --- | --- | --- |");
    for (name, list) in [("plimsoll", own), ("fio latency_target", theirs)] {
        let depths: Vec<f64> = list.iter().map(|a| a.depth).collect();
        let spread =
            depths.iter().copied().fold(0.0, f64::max) / depths.iter().copied().fold(f64::INFINITY, f64::min);
        let words: Vec<String> = depths.iter().map(|d| format!("{d:.0}")).collect();
        let remarks: Vec<&str> = list.iter().map(|a| a.remark.as_str()).collect();
        println!(
            "| {name} | {} | {spread:.2} | {:.1} | {:.0} | {} |",
            words.join(" "),
            rounds::median(list.iter().map(|a| a.load_s).collect()),
            rounds::median(list.iter().map(|a| a.iops).collect()),
            remarks.join("; ")
        );
    }
}

/// Threads that burn processor time until dropped, or until a bound.
struct Hogs {
    stop: Arc<AtomicBool>,
    threads: Vec<std::thread::JoinHandle<()>>,
}

impl Hogs {
    fn start(count: usize, at_most: Duration) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let until = Instant::now() + at_most;
        let burn = |stop: Arc<AtomicBool>| {
            move || {
                while !stop.load(Ordering::Relaxed) && Instant::now() < until {
                    std::hint::black_box((0..10_000u64).sum::<u64>());
                }
            }
        };
        let threads = (0..count).map(|_| std::thread::spawn(burn(stop.clone()))).collect();
        Self { stop, threads }
    }
}

impl Drop for Hogs {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            // A hog has nothing to say; that it ended is enough.
            let _ = thread.join();
        }
    }
}
