//! Whatever a subject answers, a search ends within its bounds and keeps what was measured.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use probe::{OpenLoop, Options, Outcome, search};
use proptest::prelude::*;
use record::{
    ClassSeen, Ended, Flow, LatencyHistogram, Load, Slice, Step, Subject, SubjectError, SubjectFacts, Watch,
};
use stats::Random;

/// Answers nonsense drawn from a seed.
struct Garbage {
    random: Random,
    kinds: u32,
    calls: usize,
    concurrency_max: u32,
}

impl Garbage {
    fn class(&mut self) -> ClassSeen {
        let mut latency = LatencyHistogram::new();
        for _ in 0..self.random.below(5) {
            let ns = (self.random.exponential() * 1e7) as u64 * (1 + self.random.below(3) as u64);
            latency.record_many_ns(ns, self.random.below(400) as u64);
        }
        let empty = self.random.below(4) == 0;
        ClassSeen { latency: (!empty).then_some(latency), bytes: 0, errors: self.random.below(3) as u64 }
    }

    fn length_s(&mut self) -> f64 {
        match self.random.below(12) {
            0 => 0.0,
            1 => f64::NAN,
            2 => -1.0,
            3 => 1e9,
            4 => f64::INFINITY,
            _ => 0.1,
        }
    }
}

impl Subject for Garbage {
    fn facts(&self) -> SubjectFacts {
        SubjectFacts {
            target: "garbage".into(),
            kind: "simulated".into(),
            workload: String::new(),
            block_bytes: 0,
            write_percent: 50.0,
            engine: "simulated".into(),
            workers: 0,
            cores: Vec::new(),
            region_bytes: 0,
            direct: true,
            concurrency_max: self.concurrency_max,
            open_loop: true,
            path: None,
        }
    }

    fn measure(&mut self, load: &Load, watch: &mut dyn Watch) -> Result<Step, SubjectError> {
        self.calls += 1;
        let odd = |random: &mut Random| random.below(40) as u32;
        if self.kinds & 1 != 0 && odd(&mut self.random) == 0 {
            let cause = std::io::Error::other("gone");
            return Err(SubjectError::System { doing: "reading".into(), cause });
        }
        let wild = self.kinds & 2 != 0;
        let slices: Vec<Slice> = (0..self.random.below(8))
            .map(|i| Slice {
                start_s: i as f64 * 0.1,
                length_s: if wild { self.length_s() } else { 0.1 },
                read: self.class(),
                write: if self.kinds & 4 != 0 { self.class() } else { ClassSeen::default() },
                flush: if self.kinds & 8 != 0 { self.class() } else { ClassSeen::default() },
                outstanding_mean: 1.0,
            })
            .collect();
        let mut ended = Ended::Complete;
        for slice in &slices {
            if watch.slice(slice) == Flow::Stop {
                ended = Ended::Stopped;
            }
        }
        match odd(&mut self.random) {
            0 if self.kinds & 16 != 0 => ended = Ended::Failed("vanished".into()),
            1 if self.kinds & 16 != 0 => ended = Ended::Interrupted,
            _ => {}
        }
        Ok(Step {
            load: load.clone(),
            start_s: 0.0,
            settle_s: if wild { self.length_s() } else { 0.2 },
            measured_s: if wild { self.length_s() } else { 0.1 * slices.len() as f64 },
            slices,
            layers: Vec::new(),
            cpu: None,
            host: None,
            doubts: Vec::new(),
            starved: record::Starved::default(),
            incidents: record::Incidents::default(),
            ended,
        })
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_search_ends_and_keeps_all_windows(
        seed: u64,
        kinds in 0u32..32,
        concurrency_max in 1u32..5000,
        budget_s in 1.0f64..70.0,
        limit in prop::sample::select(vec!["p99<10ms", "mean<5ms", "p99.9<1ms", "read.p50<20ms", "write.p99<10ms"]),
        mode in 0u32..4,
    ) {
        let mut subject = Garbage { random: Random::new(seed), kinds, calls: 0, concurrency_max };
        let options = Options {
            limit: limit.parse().unwrap(),
            budget_s,
            seed,
            sweep: mode == 1,
            depths: if mode == 2 { vec![1, 7, 50] } else { Vec::new() },
            open_loop: if mode == 3 { OpenLoop::On } else { OpenLoop::Auto },
            ..Options::default()
        };
        let Ok(found) = search(&mut subject, &options, &mut ()) else {
            prop_assert!(subject.calls <= 1);
            return Ok(());
        };
        prop_assert!(subject.calls <= 401, "{} windows", subject.calls);
        prop_assert!(found.steps.len() == subject.calls || found.steps.len() + 1 == subject.calls);
        prop_assert!(found.steps.iter().all(|s| s.load.measure_s > 0.0));
        if let Some(line) = &found.load_line {
            prop_assert!(line.iops.is_finite() && line.ci95[0] <= line.iops && line.iops <= line.ci95[1], "{line:?}");
            prop_assert!(line.concurrency >= 1);
        }
    }
}

/// Completes nothing, ever.
struct Silent;

impl Subject for Silent {
    fn facts(&self) -> SubjectFacts {
        Garbage { random: Random::new(0), kinds: 0, calls: 0, concurrency_max: 64 }.facts()
    }

    fn measure(&mut self, load: &Load, _: &mut dyn Watch) -> Result<Step, SubjectError> {
        Ok(Step {
            load: load.clone(),
            start_s: 0.0,
            settle_s: 0.2,
            measured_s: load.measure_s,
            slices: vec![Slice { length_s: load.measure_s, ..Slice::default() }],
            layers: Vec::new(),
            cpu: None,
            host: None,
            doubts: Vec::new(),
            starved: record::Starved::default(),
            incidents: record::Incidents::default(),
            ended: Ended::Complete,
        })
    }
}

#[test]
fn a_path_that_completes_nothing_cannot_be_told() {
    let found = search(&mut Silent, &Options::default(), &mut ()).unwrap();
    assert!(matches!(&found.outcome, Outcome::CannotTell { why } if why.contains("no I/O")));
    assert_eq!(found.steps.len(), 1);
}
