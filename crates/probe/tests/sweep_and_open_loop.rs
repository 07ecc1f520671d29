//! Listed depths, full sweeps, and the confirmation in an open loop.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use probe::simulated::{Model, Simulated};
use probe::{OpenLoop, Options, Outcome, ProbeError, Searched, search};
use record::{DoubtId, Phase, Step};

fn run(model: Model, options: &Options) -> Searched {
    search(&mut Simulated::new(model, options.seed), options, &mut ()).unwrap()
}

fn options() -> Options {
    Options { limit: "p99<50ms".parse().unwrap(), open_loop: OpenLoop::Off, ..Options::default() }
}

fn base() -> Model {
    Model::station(24, 0.007)
}

fn depths(found: &Searched) -> Vec<u32> {
    found.steps.iter().filter_map(Step::concurrency).collect()
}

#[test]
fn listed_depths_are_measured_in_interleaved_passes_the_first_ascending() {
    let found = run(base(), &Options { depths: vec![64, 1, 8, 16, 96, 128], ..options() });
    let order = depths(&found);
    assert_eq!(order[..6], [1, 8, 16, 64, 96, 128]);
    assert!(order.len() >= 12 && order[6..12] != order[..6], "{order:?}");
    assert_eq!(found.outcome, Outcome::Swept);
    assert!(found.steps.iter().all(|s| s.load.phase == Phase::Sweep));
}

#[test]
fn the_line_of_a_sweep_covers_the_truth() {
    // Theory: P(R > 50 ms) is 1 % at N = 83.6 in a closed M/M/24 station of 7 ms.
    let seeds = 60;
    let hits = (0..seeds)
        .filter(|seed| {
            let asked = Options { depths: vec![16, 48, 64, 76, 84, 92, 110], seed: *seed, ..options() };
            let line = run(base(), &asked).load_line.unwrap();
            assert!((line.iops / 3428.6 - 1.0).abs() < 0.05);
            let [low, high] = line.concurrency_ci95;
            low <= 83.6 && 83.6 <= high
        })
        .count();
    assert!(hits >= 54, "{hits} of {seeds}");
}

#[test]
fn a_full_sweep_doubles_to_the_end_of_the_range() {
    let found = run(base(), &Options { sweep: true, concurrency_max: 100, ..options() });
    let mut order = depths(&found);
    order.dedup();
    assert_eq!(order[..8], [1, 2, 4, 8, 16, 32, 64, 100]);
    let line = found.load_line.unwrap();
    assert!((64..100).contains(&line.concurrency) && line.concurrency_ci95[1] <= 100.1);
}

#[test]
fn a_sweep_below_or_above_the_limit_has_no_line() {
    assert!(run(base(), &Options { depths: vec![1, 2, 4], ..options() }).load_line.is_none());
    assert!(run(base(), &Options { depths: vec![200, 300], ..options() }).load_line.is_none());
}

#[test]
fn a_sweep_keeps_to_its_budget_and_depth_zero_is_an_error() {
    let found = run(base(), &Options { depths: (1..=100).collect(), budget_s: 20.0, ..options() });
    assert!(found.spent_s <= 20.5, "{}", found.spent_s);
    let zero = Options { depths: vec![0, 1], ..options() };
    assert!(matches!(search(&mut Simulated::new(base(), 1), &zero, &mut ()), Err(ProbeError::DepthZero)));
}

#[test]
fn the_open_loop_holds_at_half_the_line_and_rises_in_order() {
    let found = run(base(), &Options { open_loop: OpenLoop::On, ..options() });
    let line = found.load_line.unwrap();
    assert!(!found.open_loop.is_empty() && found.open_loop[0].holds == Some(true), "{:?}", found.open_loop);
    for (point, share) in found.open_loop.iter().zip([0.5, 0.7, 0.85]) {
        assert_eq!(point.share, Some(share));
        assert!((point.asked_iops / (share * line.iops) - 1.0).abs() < 1e-9);
        assert!((point.iops / point.asked_iops - 1.0).abs() < 0.05, "{point:?}");
    }
    assert!(found.spent_s <= 60.5);
}

#[test]
fn an_overloaded_open_loop_says_that_the_cap_was_reached() {
    let found = run(base(), &Options { rates_iops: vec![1000.0, 6000.0], ..options() });
    let points = &found.open_loop;
    assert_eq!(points.len(), 2);
    assert!(points[0].holds == Some(true) && points[0].share.is_none());
    assert!(
        points[1].holds == Some(false) && points[1].lag.as_ref().is_some_and(|l| l.contains("cap")),
        "{:?}",
        points[1]
    );
    assert!(points[1].outstanding_mean <= 4.0 * 110.0);
}

#[test]
fn open_loops_are_left_out_when_not_wanted_or_when_time_is_short() {
    assert!(run(base(), &options()).open_loop.is_empty());
    let short = Options { open_loop: OpenLoop::Auto, budget_s: 17.0, ..options() };
    assert!(run(base(), &short).open_loop.is_empty());
    let auto = Options { open_loop: OpenLoop::Auto, ..options() };
    assert!(!run(base(), &auto).open_loop.is_empty());
}

#[test]
fn a_rate_that_the_budget_left_no_room_for_is_said() {
    let rates = |found: &Searched| {
        let said = found.doubts.iter().filter(|d| d.id == DoubtId::CutShort);
        said.map(|d| d.text.clone()).collect::<Vec<_>>()
    };
    let asked = Options { rates_iops: vec![900.0, 1000.0], ..options() };
    assert!(rates(&run(base(), &asked)).is_empty());
    // As long as the search alone takes: what is left is too short for a rate.
    let search_alone_s = run(base(), &options()).spent_s;
    let found = (0..20)
        .map(|i| run(base(), &Options { budget_s: search_alone_s - 0.1 * f64::from(i), ..asked.clone() }))
        .find(|found| found.open_loop.len() < 2)
        .expect("a budget that the search spends");
    let said = rates(&found);
    assert!(said.iter().any(|text| text.contains("1000 IOPS was not tried")), "{said:?}");
}
