//! Each way a search can end, reached on a simulated path that ends so.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use probe::simulated::{Bucket, Model, Simulated, Spread};
use probe::{OpenLoop, Options, Outcome, Progress, Searched, State, search};
use record::{DoubtId, Flow, Phase, Slice};

const SEEDS: u64 = 30;

fn options(limit: &str) -> Options {
    let limit = limit.parse().unwrap();
    Options { limit, open_loop: OpenLoop::Off, ..Options::default() }
}

fn run(model: &Model, options: &Options, seed: u64) -> Searched {
    let options = Options { seed, ..options.clone() };
    search(&mut Simulated::new(model.clone(), seed), &options, &mut ()).unwrap()
}

fn base() -> Model {
    Model::station(24, 0.007)
}

/// How many of the seeds end as `expected`, all of them within the budget.
fn count(model: &Model, options: &Options, expected: impl Fn(&Searched) -> bool) -> u64 {
    (0..SEEDS)
        .filter(|seed| {
            let found = run(model, options, *seed);
            assert!(found.spent_s <= options.budget_s + 0.5, "seed {seed}: {} s", found.spent_s);
            expected(&found)
        })
        .count() as u64
}

#[test]
fn a_spent_token_bucket_is_a_burst_with_both_rates_and_the_time() {
    for (rate_iops, credit) in [(300.0, 20_000.0), (1500.0, 10_000.0), (2000.0, 9_000.0)] {
        let model = Model { bucket: Some(Bucket { rate_iops, credit }), ..base() };
        let hits = count(&model, &options("p99<50ms"), |found| match found.outcome {
            Outcome::Burst { before_iops, after_iops, .. } => {
                assert!(found.load_line.is_none());
                (before_iops / 3429.0 - 1.0).abs() < 0.15 && (after_iops / rate_iops - 1.0).abs() < 0.05
            }
            _ => false,
        });
        assert!(hits >= SEEDS - 1, "{rate_iops} {credit}: {hits}");
    }
}

#[test]
fn the_second_of_a_burst_is_told_to_within_one() {
    let model = Model { slower_from: Some((8.0, 2.0)), ..base() };
    let hits = count(
        &model,
        &options("p99<50ms"),
        |found| matches!(found.outcome, Outcome::Burst { after_s, .. } if (after_s - 8.0).abs() < 1.0),
    );
    assert!(hits >= SEEDS - 2, "{hits}");
}

#[test]
fn a_noisy_step_of_a_third_is_mostly_seen() {
    let model = Model { slower_from: Some((11.0, 1.5)), epoch_noise: 0.1, ..base() };
    let hits = count(&model, &options("p99<50ms"), |found| {
        matches!(found.outcome, Outcome::Burst { .. } | Outcome::NotSteady { .. })
    });
    assert!(hits >= SEEDS * 3 / 4, "{hits}");
}

#[test]
fn drift_in_either_direction_is_not_steady() {
    for drift_per_s in [0.03, -0.03] {
        let model = Model { drift_per_s, ..base() };
        let hits = count(&model, &options("p99<50ms"), |f| matches!(f.outcome, Outcome::NotSteady { .. }));
        assert!(hits >= SEEDS - 1, "{drift_per_s}: {hits}");
    }
}

#[test]
fn a_limit_far_above_saturation_is_never_reached() {
    let model = Model::station(16, 0.0002);
    let hits = count(&model, &options("p99<100ms"), |found| match found.outcome {
        Outcome::NeverReached { saturation_concurrency, iops_max } => {
            let line = found.load_line.as_ref().unwrap();
            assert!(found.steps.iter().all(|s| s.concurrency().unwrap() <= 128), "grew for nothing");
            assert_eq!(line.concurrency, saturation_concurrency);
            (iops_max / 80_000.0 - 1.0).abs() < 0.03 && (14..=17).contains(&saturation_concurrency)
        }
        _ => false,
    });
    assert_eq!(hits, SEEDS);
}

#[test]
fn noise_does_not_hide_that_throughput_has_ended() {
    let model = Model { epoch_noise: 0.2, ..Model::station(16, 0.0005) };
    let hits = count(&model, &options("p99<100ms"), |f| matches!(f.outcome, Outcome::NeverReached { .. }));
    assert!(hits >= SEEDS * 5 / 6, "{hits}");
}

#[test]
fn a_limit_below_the_unloaded_response_is_broken_at_one() {
    let model = Model::station(24, 0.02);
    for (limit, truth_us) in [("p99<50ms", 92_100.0f64), ("mean<15ms", 20_000.0)] {
        let hits = count(&model, &options(limit), |found| match found.outcome {
            Outcome::BrokenAtOne { measured_us } => {
                assert!(found.load_line.is_none());
                (measured_us / truth_us).ln().abs() < std::f64::consts::LN_2
            }
            _ => false,
        });
        assert!(hits >= SEEDS - 1, "{limit}: {hits}");
    }
}

#[test]
fn a_short_range_that_holds_is_the_edge_of_the_range() {
    for concurrency_max in [1, 2, 32] {
        let options = Options { concurrency_max, ..options("p99<50ms") };
        let hits = count(&base(), &options, |found| {
            found.steps.iter().all(|s| s.concurrency().unwrap() <= concurrency_max)
                && found.outcome == Outcome::EdgeOfRange { concurrency: concurrency_max }
                && found.load_line.as_ref().is_some_and(|l| l.concurrency == concurrency_max)
        });
        assert!(hits >= SEEDS - 1, "{concurrency_max}: {hits}");
    }
}

#[test]
fn a_core_limit_is_a_load_line_and_the_knee_is_at_the_core() {
    let model = Model { core_s: 20e-6, ..Model::station(64, 0.0005) };
    let hits = count(&model, &options("p99<4ms"), |found| {
        let line = found.load_line.as_ref();
        let knee = found.knee.as_ref();
        found.outcome == Outcome::Found
            && line.is_some_and(|l| (l.iops / 50_000.0 - 1.0).abs() < 0.02)
            && knee.is_some_and(|k| (k.concurrency / 26.0 - 1.0).abs() < 0.25)
            && found.steps.iter().any(|s| s.cpu.as_ref().is_some_and(|c| c.busiest_worker > 0.95))
    });
    assert_eq!(hits, SEEDS);
}

#[test]
fn a_path_that_loses_throughput_with_depth_is_no_burst() {
    let model = Model { retrograde: 0.01, ..Model::station(24, 0.002) };
    let hits = count(&model, &options("p99<60ms"), |found| found.outcome == Outcome::Found);
    assert_eq!(hits, SEEDS);
}

#[test]
fn a_target_that_fails_cannot_be_told_and_what_was_measured_is_kept() {
    let model = Model { fails_at_s: Some(6.0), ..base() };
    let found = run(&model, &options("p99<50ms"), 1);
    assert!(
        matches!(&found.outcome, Outcome::CannotTell { why } if why.contains("failed")),
        "{:?}",
        found.outcome
    );
    assert!(found.steps.len() > 8 && found.knee.is_some());
    assert!(found.doubts.iter().any(|d| d.id == DoubtId::CutShort));
}

#[test]
fn a_target_that_fails_after_the_answer_leaves_the_answer() {
    let whole = run(&base(), &options("p99<50ms"), 3);
    let last = whole.steps.iter().find(|s| s.load.phase == Phase::Sentinel).unwrap();
    let model = Model { fails_at_s: Some(last.start_s + 0.2), ..base() };
    let found = run(&model, &options("p99<50ms"), 3);
    assert_eq!(found.outcome, Outcome::Found);
    assert!(found.doubts.iter().any(|d| d.id == DoubtId::CutShort));
}

#[test]
fn too_small_a_budget_cannot_tell_and_a_small_one_is_wide() {
    let tight = Options { budget_s: 2.0, ..options("p99<50ms") };
    assert_eq!(count(&base(), &tight, |f| matches!(f.outcome, Outcome::CannotTell { .. })), SEEDS);
    for budget_s in [5.0, 10.0] {
        let small = Options { budget_s, ..options("p99<50ms") };
        let hits = count(&base(), &small, |f| {
            f.outcome == Outcome::Found
                && f.load_line.as_ref().is_some_and(|l| (f64::from(l.concurrency) / 83.6).ln().abs() < 0.25)
        });
        assert!(hits >= SEEDS - 2, "{budget_s}: {hits}");
    }
    assert!(search(&mut Simulated::new(base(), 1), &Options { budget_s: 0.2, ..tight }, &mut ()).is_err());
}

#[test]
fn writes_that_break_first_set_the_line() {
    let model = Model { write_share: 0.10, write_factor: 1.3, ..base() };
    let both = run(&model, &options("p99<60ms"), 1);
    let reads = run(&model, &options("read.p99<60ms"), 1);
    assert_eq!(both.class, Some(record::IoClass::Write));
    assert_eq!(reads.class, Some(record::IoClass::Read));
    let depth = |f: &Searched| f.load_line.as_ref().unwrap().concurrency;
    assert!(depth(&both) + 5 < depth(&reads), "{} {}", depth(&both), depth(&reads));
}

#[test]
fn a_limit_on_writes_of_a_reading_workload_is_refused_with_the_reason() {
    let found = run(&base(), &options("write.p99<50ms"), 1);
    assert!(matches!(&found.outcome, Outcome::CannotTell { why } if why.contains("writes")));
}

#[test]
fn the_guard_stops_growth_before_the_limit_can() {
    // The mean is bounded, so misses do not end the rise; single I/Os slower than the guard do.
    let options = Options { guard_ns: Some(90_000_000), ..options("mean<40ms") };
    let found = run(&base(), &options, 2);
    let top = found.steps.iter().filter_map(|s| s.concurrency()).max().unwrap();
    assert!(top <= 256, "{top}");
    assert!(found.steps.iter().any(|s| s.ended == record::Ended::Stopped));
}

#[test]
fn the_same_seed_gives_the_same_search() {
    let shown = |seed| {
        let found = run(&base(), &options("p99<50ms"), seed);
        format!("{:?} {:?} {:?} {}", found.load_line, found.knee, found.comfort, found.steps.len())
    };
    assert_eq!(shown(5), shown(5));
    assert_ne!(shown(5), shown(6));
}

#[test]
fn windows_beyond_the_line_are_measured_and_the_first_depth_again() {
    let found = run(&Model { spread: Spread::Nearly(0.05), ..base() }, &options("p99<50ms"), 1);
    let line = found.load_line.as_ref().unwrap().concurrency;
    let deepest = found.steps.iter().filter_map(|s| s.concurrency()).max().unwrap();
    assert!(deepest >= line * 14 / 10, "{deepest} {line}");
    assert!(found.steps.iter().any(|s| s.load.phase == Phase::Sentinel));
}

/// Stops at the n-th slice and counts what it was told.
struct Impatient {
    slices: u32,
    told: Vec<State>,
}

impl Progress for Impatient {
    fn update(&mut self, state: &State) {
        self.told.push(state.clone());
    }
    fn slice(&mut self, _: &Slice) -> Flow {
        self.slices = self.slices.saturating_sub(1);
        if self.slices == 0 { Flow::Stop } else { Flow::Continue }
    }
}

#[test]
fn an_interruption_keeps_what_was_measured() {
    let mut progress = Impatient { slices: 45, told: Vec::new() };
    let found = search(&mut Simulated::new(base(), 1), &options("p99<50ms"), &mut progress).unwrap();
    assert!(matches!(&found.outcome, Outcome::CannotTell { why } if why == "interrupted"));
    assert_eq!(found.steps.iter().map(|s| s.slices.len()).sum::<usize>(), 45);
    assert!(found.doubts.iter().any(|d| d.id == DoubtId::CutShort));
}

#[test]
fn progress_is_told_before_each_window_with_a_growing_estimate() {
    let mut progress = Impatient { slices: u32::MAX, told: Vec::new() };
    let found = search(&mut Simulated::new(base(), 1), &options("p99<50ms"), &mut progress).unwrap();
    assert_eq!(progress.told.len(), found.steps.len());
    assert!(progress.told.windows(2).all(|w| w[0].spent_s < w[1].spent_s));
    let last = progress.told.last().unwrap().estimate.unwrap();
    assert!((last.concurrency / 83.6).ln().abs() < 0.15 && last.ci95[0] < last.iops);
}
