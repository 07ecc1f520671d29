//! The same file, the same load, measured by fio: throughput and response must agree.
//!
//! Runs alternate (A B A B), so that a drift of the machine hits both. Where a tool does not even agree with itself,
//! nothing can be said: after three rounds the figures are printed and the test is skipped, counted.
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

fn middle(a: Seen, b: Seen) -> Seen {
    Seen { iops: (a.iops + b.iops) / 2.0, mean_us: (a.mean_us + b.mean_us) / 2.0 }
}

/// Both tools twice, in turn: their medians, or what was seen where one does not agree with itself.
fn round(file: &Path, depth: u32) -> Result<(Seen, Seen), String> {
    let mut seen = Vec::new();
    for _ in 0..2 {
        seen.push((plimsoll(file, depth), fio(file, depth).ok_or("fio did not measure")?));
    }
    let [(ours_a, theirs_a), (ours_b, theirs_b)] = seen[..] else { unreachable!("two repeats") };
    if agree(ours_a, ours_b) && agree(theirs_a, theirs_b) {
        Ok((middle(ours_a, ours_b), middle(theirs_a, theirs_b)))
    } else {
        Err(format!("depth {depth}: plimsoll {ours_a:?} {ours_b:?}, fio {theirs_a:?} {theirs_b:?}"))
    }
}

#[test]
fn plimsoll_and_fio_agree_at_three_concurrencies() {
    if program("fio").is_none() {
        skip!("no fio to compare with");
    }
    let _turn = Turn::take();
    let place = folder();
    let file = data_file(place.path(), 256 << 20);
    for depth in DEPTHS {
        let mut noise = Vec::new();
        let compared = (0..ROUNDS).find_map(|_| round(&file, depth).map_err(|e| noise.push(e)).ok());
        match compared {
            // A difference in a quiet round may still be one change of the machine between A and B: it must repeat.
            Some((ours, theirs)) if !agree(ours, theirs) => match round(&file, depth) {
                Ok((again, theirs_again)) => assert!(
                    agree(again, theirs_again),
                    "depth {depth}: plimsoll {ours:?} then {again:?}, fio {theirs:?} then {theirs_again:?}"
                ),
                Err(why) => noisy(depth, &format!("plimsoll {ours:?}, fio {theirs:?}, then {why}")),
            },
            Some(_) => {}
            None => noisy(depth, &noise.join("; ")),
        }
    }
}

fn noisy(depth: u32, figures: &str) {
    let why = format!("too noisy at depth {depth} for a comparison: {figures}");
    skipped("plimsoll_and_fio_agree_at_three_concurrencies", &why);
}
