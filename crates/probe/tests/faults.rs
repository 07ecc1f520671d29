//! Devices that answer with trouble: the guard stops the load, and the answer says what holds without.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use probe::simulated::{Model, Simulated, Spread};
use probe::{OpenLoop, Options, Outcome, Searched, search};
use record::{
    DoubtId, How, LayerSeen, Load, Standing, Step, Subject, SubjectError, SubjectFacts, Trouble, Watch,
};

const SEEDS: u64 = 20;

fn options() -> Options {
    let limit = "p99<50ms".parse().unwrap();
    Options { limit, open_loop: OpenLoop::Off, budget_s: 30.0, ..Options::default() }
}

fn run(model: &Model, options: &Options, seed: u64) -> Searched {
    let options = Options { seed, ..options.clone() };
    search(&mut Simulated::new(model.clone(), seed), &options, &mut ()).unwrap()
}

/// A LUN of 1 ms with 128 slots behind a port that takes fewer.
fn port(slots: u32) -> Model {
    Model { spread: Spread::Nearly(0.05), refuses_above: Some(slots), ..Model::station(128, 0.001) }
}

/// Seconds of load at concurrencies the device refused.
fn refused_s(found: &Searched) -> f64 {
    found.steps.iter().filter(|s| s.incidents.refused() > 0).map(Step::spent_s).sum()
}

#[test]
fn queue_full_stops_the_rise_at_once_and_the_answer_holds_below() {
    for slots in [3u32, 20, 40, 100] {
        let clean = 1u32 << slots.ilog2();
        for seed in 0..SEEDS {
            let found = run(&port(slots), &options(), seed);
            let Outcome::Guarded { concurrency, stopped_at, why } = &found.outcome else {
                panic!("{slots} {seed}: {:?}", found.outcome);
            };
            assert_eq!((*concurrency, *stopped_at), (clean, 2 * clean), "seed {seed}");
            assert!(why.contains("TASK SET FULL"), "{why}");
            let line = found.load_line.as_ref().unwrap();
            assert!((line.iops / (f64::from(clean) / 0.001) - 1.0).abs() < 0.05, "{line:?}");
            assert!(refused_s(&found) <= 0.25, "seed {seed}: {} s of refused load", refused_s(&found));
        }
    }
}

#[test]
fn a_limit_below_the_ports_queue_is_found_as_ever() {
    let limit = "p99<50ms".parse().unwrap();
    let model = Model { refuses_above: Some(1000), ..Model::station(24, 0.007) };
    let found = run(&model, &Options { limit, ..options() }, 1);
    assert_eq!(found.outcome, Outcome::Found);
    assert!((75..=92).contains(&found.load_line.unwrap().concurrency));
}

#[test]
fn listed_depths_beyond_what_is_taken_are_left_out_and_said() {
    let depths = vec![1, 4, 16, 32, 64];
    let found = run(&port(20), &Options { depths, ..options() }, 1);
    assert!(found.steps.iter().filter(|s| s.concurrency() > Some(16)).count() == 1);
    let said = found.doubts.iter().find(|d| d.id == DoubtId::CutShort).unwrap();
    assert!(said.text.contains("32, 64"), "{}", said.text);
}

#[test]
fn a_device_that_refuses_every_load_ends_the_search_after_a_second_look() {
    let found = run(&port(0), &options(), 1);
    assert!(
        matches!(&found.outcome, Outcome::CannotTell { why } if why.contains("sim0")),
        "{:?}",
        found.outcome
    );
    assert_eq!(found.steps.len(), 2);
}

#[test]
fn timeouts_stop_the_load_name_the_device_and_show_in_the_longest_io() {
    for seed in 0..SEEDS {
        let model = Model { times_out: Some((1.5, 400)), ..Model::station(64, 0.001) };
        let found = run(&model, &options(), seed);
        let Outcome::CannotTell { why } = &found.outcome else { panic!("{:?}", found.outcome) };
        assert!(why.contains("sim0") && why.contains("timed out"), "{why}");
        let slowest = found.steps.iter().filter_map(|s| s.incidents.slowest_us).fold(0.0, f64::max);
        assert!(slowest >= 2e6, "{slowest}");
        let (before, after) =
            found.steps.split_at(found.steps.iter().position(|s| s.incidents.timed_out() > 0).unwrap() + 1);
        let most = |steps: &[Step]| steps.iter().filter_map(Step::concurrency).max().unwrap_or(0);
        assert!(most(after) < most(before), "seed {seed}: load was raised after a timeout");
    }
}

/// A path that changes after some seconds of load: another device behind, and what the follower says of it.
struct Changing {
    now: Simulated,
    later: Option<Simulated>,
    at_s: f64,
    spent_s: f64,
    limits: (f64, f64),
    path: Option<&'static str>,
}

impl Subject for Changing {
    fn facts(&self) -> SubjectFacts {
        self.now.facts()
    }

    fn measure(&mut self, load: &Load, watch: &mut dyn Watch) -> Result<Step, SubjectError> {
        let mut changed = false;
        if self.spent_s >= self.at_s
            && let Some(later) = self.later.take()
        {
            self.now = later;
            changed = true;
        }
        let mut step = self.now.measure(load, watch)?;
        step.start_s = self.spent_s;
        self.spent_s += step.spent_s();
        let limit = if self.later.is_some() { self.limits.0 } else { self.limits.1 };
        step.layers = vec![layer(limit)];
        if let (true, Some(what)) = (changed, self.path) {
            let path = Some(what.to_owned());
            step.incidents.troubles = vec![Trouble { device: "sda".into(), path, ..Trouble::default() }];
        }
        Ok(step)
    }
}

fn layer(limit: f64) -> LayerSeen {
    let none = || Standing::known(0.0, How::Counter { file: String::new() });
    LayerSeen {
        name: "sda".into(),
        requests_per_s: 0.0,
        mib_per_s: 0.0,
        request_bytes_mean: None,
        merges_per_s: 0.0,
        inside: none(),
        host_queue: none(),
        device_queue: none(),
        device_queue_peak: None,
        response_us: None,
        host_wait_us: None,
        service_us: None,
        device_queue_limit: Some(limit),
        device_queue_limit_range: Some((limit, limit)),
        little_error: None,
        tag_sharing: None,
        scsi: None,
    }
}

fn changing(from: u32, to: u32, at_s: f64, path: Option<&'static str>) -> Changing {
    let station = |servers, seed| {
        Simulated::new(Model { spread: Spread::Nearly(0.05), ..Model::station(servers, 0.001) }, seed)
    };
    Changing {
        now: station(from, 1),
        later: Some(station(to, 2)),
        at_s,
        spent_s: 0.0,
        limits: (f64::from(from), f64::from(to)),
        path,
    }
}

#[test]
fn a_queue_depth_that_moves_in_mid_run_does_not_mix_the_windows_of_both() {
    for at_s in [2.5, 4.0, 6.0] {
        for (from, to) in [(32, 12), (12, 32)] {
            let limit = "p99<10ms".parse().unwrap();
            let options = Options { limit, ..options() };
            let found = search(&mut changing(from, to, at_s, None), &options, &mut ()).unwrap();
            // Whatever the search ends with, no number may lie between the two: the throughput is that of the last.
            let Some(line) = &found.load_line else { continue };
            let truth = f64::from(to.min(line.concurrency)) / 0.001;
            assert!(
                (line.iops / truth - 1.0).abs() < 0.05,
                "{from} {to} {at_s}: {line:?} {:?}",
                found.outcome
            );
        }
    }
}

#[test]
fn a_path_that_fails_makes_the_throughput_not_steady_and_is_named() {
    let found = search(&mut changing(32, 16, 3.0, Some("it carries nothing any more")), &options(), &mut ());
    let found = found.unwrap();
    let Outcome::NotSteady { why } = &found.outcome else { panic!("{:?}", found.outcome) };
    assert!(why.contains("path sda") && why.contains("second 3"), "{why}");
    assert!(found.load_line.is_none());
}
