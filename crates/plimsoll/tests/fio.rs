//! The same file, the same load, measured by fio: throughput and response must agree.
//!
//! Runs alternate (A B A B), so that a drift of the machine hits both. A round in which each tool agrees with itself and
//! with the other ends it; else the medians of all rounds count. Where they differ while the runs of both overlap,
//! nothing can be said: the figures are printed and the test is skipped, counted.
#![allow(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

mod support;

use serde_json::Value;
use std::path::Path;
use support::command::{Running, plain, probe};
use support::document::{number, steps};
use support::{Turn, data_file, folder, program, skipped};

const DEPTHS: [u32; 3] = [1, 8, 32];
const ROUNDS: usize = 3;
const SAME: f64 = 0.10;
const SECONDS: u32 = 2;

/// What one run measured.
#[derive(Clone, Copy, Debug)]
struct Seen {
    iops: f64,
    mean_us: f64,
}

/// 8 KiB random direct reads, as plimsoll does them: one thread, io_uring.
fn fio(file: &Path, depth: u32) -> Option<Seen> {
    let mut command = plain("fio");
    command.arg(format!("--filename={}", file.display())).arg(format!("--iodepth={depth}"));
    command.arg(format!("--runtime={SECONDS}"));
    command.args(["--name=a", "--readonly", "--rw=randread", "--bs=8k", "--direct=1", "--ioengine=io_uring"]);
    command.args(["--time_based", "--norandommap", "--ramp_time=300ms", "--thread", "--output-format=json"]);
    let ended = Running::spawn(command).end();
    // Some versions of fio say something before the document.
    let document: Value = serde_json::from_str(ended.stdout.get(ended.stdout.find('{')?..)?).ok()?;
    let read = document.pointer("/jobs/0/read")?;
    let job = (number(read, "/iops"), number(read, "/lat_ns/mean"));
    (ended.code == Some(0) && job.0 > 0.0).then_some(Seen { iops: job.0, mean_us: job.1 / 1e3 })
}

fn plimsoll(file: &Path, depth: u32) -> Seen {
    let flags = format!("--workers 1 --engine io_uring --depths {depth} --budget {}s --json", SECONDS + 1);
    let document = probe(file, &flags).json();
    let step = &steps(&document)[0];
    assert_eq!(number(step, "/concurrency"), f64::from(depth));
    Seen { iops: number(step, "/iops"), mean_us: number(step, "/response_us/mean") }
}

/// Relative distance of two positive numbers.
fn apart(a: f64, b: f64) -> f64 {
    (a - b).abs() / a.min(b)
}

fn agree(a: Seen, b: Seen) -> bool {
    apart(a.iops, b.iops) <= SAME && apart(a.mean_us, b.mean_us) <= SAME
}

/// The middle of some figures.
fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    let half = figures.len() / 2;
    if figures.len() % 2 == 1 { figures[half] } else { (figures[half - 1] + figures[half]) / 2.0 }
}

fn middle(seen: &[Seen]) -> Seen {
    let of = |figure: fn(&Seen) -> f64| median(seen.iter().map(figure).collect());
    Seen { iops: of(|s| s.iops), mean_us: of(|s| s.mean_us) }
}

/// Whether every run of one tool was faster than every run of the other.
fn disjoint(a: &[Seen], b: &[Seen]) -> bool {
    let least = |seen: &[Seen]| seen.iter().map(|s| s.iops).fold(f64::INFINITY, f64::min);
    let most = |seen: &[Seen]| seen.iter().map(|s| s.iops).fold(0.0, f64::max);
    least(a) > most(b) || least(b) > most(a)
}

/// All runs at one depth.
#[derive(Debug, Default)]
struct Runs {
    ours: Vec<Seen>,
    theirs: Vec<Seen>,
}

impl Runs {
    /// Each tool twice, in turn; true when each agrees with itself.
    fn round(&mut self, file: &Path, depth: u32) -> bool {
        for _ in 0..2 {
            self.ours.push(plimsoll(file, depth));
            self.theirs.push(fio(file, depth).expect("fio measures what plimsoll measures"));
        }
        [&self.ours, &self.theirs].into_iter().all(|seen| {
            let last = &seen[seen.len() - 2..];
            agree(last[0], last[1])
        })
    }

    fn medians_agree(&self) -> bool {
        agree(middle(&self.ours), middle(&self.theirs))
    }
}

/// Agrees, or says why nothing can be said. Fails when the tools differ and no noise explains it.
fn compare(file: &Path, depth: u32) -> Result<(), String> {
    let mut all = Runs::default();
    for round in 0..ROUNDS {
        let mut this = Runs::default();
        let quiet = this.round(file, depth);
        let agreed = quiet && this.medians_agree();
        all.ours.extend(this.ours);
        all.theirs.extend(this.theirs);
        if agreed || (round > 0 && all.medians_agree()) {
            return Ok(());
        }
    }
    let (ours, theirs) = (middle(&all.ours), middle(&all.theirs));
    assert!(
        !disjoint(&all.ours, &all.theirs),
        "depth {depth}: plimsoll {ours:?}, fio {theirs:?}, and no run of one came near the other: {all:?}"
    );
    Err(format!("depth {depth}: medians plimsoll {ours:?}, fio {theirs:?} of {all:?}"))
}

#[test]
fn plimsoll_and_fio_agree_at_three_concurrencies() {
    if program("fio").is_none() {
        skip!("no fio to compare with");
    }
    let _turn = Turn::take();
    let place = folder();
    let file = data_file(place.path(), 256 << 20);
    if fio(&file, 1).is_none() {
        skip!("this fio does not measure with io_uring here");
    }
    for depth in DEPTHS {
        if let Err(why) = compare(&file, depth) {
            skipped("plimsoll_and_fio_agree_at_three_concurrencies", &format!("too noisy: {why}"));
        }
    }
}
