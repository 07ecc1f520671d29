//! Steps with an engine that behaves as told: hangs, errors, short reads, guards.

use super::*;
use crate::engine::Setup;
use crate::engine::scripted::{COMPLETE, FAIL, HANG, SHORT, ScriptedEngine};
use crate::options::Options;
use crate::workload::Workload;
use record::{Arrival, Ended, Flow, Followed, Phase, Slice, Window};
use std::sync::Mutex;
use std::sync::atomic::Ordering;
use std::time::Instant;

struct Bench {
    subject: LoadSubject,
    interrupt: Arc<AtomicBool>,
    _file: tempfile::NamedTempFile,
}

fn bench(script: u64) -> Bench {
    let file = tempfile::NamedTempFile::new().unwrap();
    file.as_file().set_len(1 << 20).unwrap();
    let mut options = Options::new(file.path(), Workload::named("oltp").unwrap());
    options.buffered = true;
    let interrupt = Arc::new(AtomicBool::new(false));
    let target = crate::target::resolve(&options, &host::Root::system(), &interrupt, &mut |_| {}).unwrap();
    let setup = Setup {
        file: Arc::clone(target.file()),
        block_bytes: 8192,
        reads: true,
        writes: false,
        dsync: false,
        seed: script,
    };
    let duty =
        Duty { engine: EngineKind::IoUring, setup, workload: options.workload.clone(), cores: Vec::new() };
    let plan = Plan {
        duty: duty.clone(),
        workers: 2,
        concurrency_max: 32,
        region: Region { start_bytes: 0, blocks: 128 },
        shared_regions: false,
        seed: 1,
    };
    let crew = Crew::with_engine::<ScriptedEngine>(duty);
    let mut subject = LoadSubject::with_crew(target, plan, Arc::clone(&interrupt), crew);
    subject.set_hang_bound(Duration::from_millis(300));
    Bench { subject, interrupt, _file: file }
}

fn closed(concurrency: u32, measure_s: f64) -> Load {
    Load { demand: Demand::Closed { concurrency }, measure_s, phase: Phase::Sweep }
}

fn why(step: &Step) -> &str {
    match &step.ended {
        Ended::Failed(why) => why,
        other => panic!("ended {other:?}"),
    }
}

#[test]
fn a_device_that_hangs_ends_the_step_and_the_subject() {
    let mut bench = bench(HANG);
    let start = Instant::now();
    let step = bench.subject.measure(&closed(4, 0.2), &mut ()).unwrap();
    assert!(why(&step).contains("4 I/Os of 2 workers did not complete"), "{}", why(&step));
    // Three seconds of settling that nothing ends, the window, and the bound twice.
    assert!(start.elapsed() < Duration::from_secs(6), "{:?}", start.elapsed());
    let again = bench.subject.measure(&closed(1, 0.2), &mut ()).unwrap_err().to_string();
    assert!(again.contains("never completed"), "{again}");
    let start = Instant::now();
    drop(bench);
    assert!(start.elapsed() < Duration::from_secs(1), "dropping waits for nothing");
}

#[test]
fn a_target_where_every_io_fails_ends_the_step_soon() {
    let start = Instant::now();
    let step = bench(FAIL).subject.measure(&closed(4, 30.0), &mut ()).unwrap();
    assert!(why(&step).contains("I/O errors, the last one of a read"), "{}", why(&step));
    assert!(why(&step).contains("Input/output error"), "{}", why(&step));
    assert!(start.elapsed() < Duration::from_secs(2), "{:?}", start.elapsed());
}

#[test]
fn a_short_read_says_that_the_target_ends_there() {
    let step = bench(SHORT).subject.measure(&closed(4, 30.0), &mut ()).unwrap();
    assert!(why(&step).contains("moved only 0: the target ends there"), "{}", why(&step));
}

struct StopAfter(usize);

impl Watch for StopAfter {
    fn slice(&mut self, _: &Slice) -> Flow {
        self.0 -= 1;
        if self.0 == 0 { Flow::Stop } else { Flow::Continue }
    }
}

#[test]
fn a_watcher_that_stops_keeps_what_was_measured() {
    let mut bench = bench(COMPLETE);
    let step = bench.subject.measure(&closed(4, 30.0), &mut StopAfter(3)).unwrap();
    assert_eq!((step.ended.clone(), step.slices.len()), (Ended::Stopped, 3));
    assert!((step.measured_s - 0.3).abs() < 1e-9);
    assert!(step.cpu.is_some());
    let next = bench.subject.measure(&closed(2, 0.2), &mut ()).unwrap();
    assert_eq!(next.ended, Ended::Complete);
}

struct InterruptAfter<'a>(usize, &'a AtomicBool);

impl Watch for InterruptAfter<'_> {
    fn slice(&mut self, _: &Slice) -> Flow {
        self.0 -= 1;
        self.1.store(self.0 == 0, Ordering::Relaxed);
        Flow::Continue
    }
}

#[test]
fn an_interrupt_keeps_what_was_measured() {
    let mut bench = bench(COMPLETE);
    let interrupt = Arc::clone(&bench.interrupt);
    let start = Instant::now();
    let step = bench.subject.measure(&closed(4, 30.0), &mut InterruptAfter(2, &interrupt)).unwrap();
    assert_eq!((step.ended.clone(), step.slices.len()), (Ended::Interrupted, 2));
    assert!(start.elapsed() < Duration::from_secs(3));
}

#[test]
fn slices_are_cut_on_the_same_boundaries_and_the_last_may_be_shorter() {
    let mut bench = bench(COMPLETE);
    let step = bench.subject.measure(&closed(5, 0.25), &mut ()).unwrap();
    let lengths: Vec<f64> = step.slices.iter().map(|s| s.length_s).collect();
    assert_eq!(lengths, [0.1, 0.1, 0.05]);
    assert!(step.slices.iter().all(|s| (s.outstanding_mean - 5.0).abs() < 1e-9));
    assert!((step.measured_s - 0.25).abs() < 1e-9);
    assert!(step.settle_s >= 0.2);
}

#[derive(Clone, Default)]
struct Recording(Arc<Mutex<Vec<Option<Window>>>>);

impl Follow for Recording {
    fn begin(&mut self) {
        self.0.lock().unwrap().push(None);
    }

    fn end(&mut self, window: &Window) -> Followed {
        self.0.lock().unwrap().push(Some(*window));
        Followed::default()
    }
}

#[test]
fn the_follower_is_called_around_each_window_with_what_was_counted() {
    let mut bench = bench(COMPLETE);
    let recording = Recording::default();
    bench.subject.set_follower(Box::new(recording.clone()));
    let step = bench.subject.measure(&closed(3, 0.2), &mut ()).unwrap();
    let calls = recording.0.lock().unwrap().clone();
    let [None, Some(window)] = calls[..] else { panic!("{calls:?}") };
    assert_eq!((window.ios, window.bytes), (step.ios(), step.ios() * 8192));
    assert!((window.outstanding_mean - 3.0).abs() < 1e-9 && (window.length_s - 0.2).abs() < 1e-9);
}

#[test]
fn arrivals_beyond_the_cap_wait_and_their_wait_counts() {
    let mut bench = bench(COMPLETE);
    // Two workers with one slot each complete at most one I/O per 200 us; the schedule asks for three times that.
    let demand = Demand::Open { rate_iops: 30_000.0, arrival: Arrival::Constant, outstanding_cap: 2 };
    let load = Load { demand, measure_s: 0.5, phase: Phase::OpenLoop };
    let step = bench.subject.measure(&load, &mut ()).unwrap();
    assert!(step.iops() < 15_000.0, "{}", step.iops());
    // Behind by at least half of the time offered: response times of tens of milliseconds, not of 200 us.
    let mean_ms = step.response().mean_ns().unwrap() / 1e6;
    assert!(mean_ms > 100.0, "{mean_ms} ms");
    assert!(step.outstanding_mean().unwrap() > 1000.0, "{:?}", step.outstanding_mean());
}

#[test]
fn what_a_subject_cannot_do_is_said_before_any_load() {
    let mut bench = bench(COMPLETE);
    let mut check = |demand: Demand, measure_s: f64, expected: &str| {
        let load = Load { demand, measure_s, phase: Phase::Sweep };
        let error = bench.subject.measure(&load, &mut ()).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    };
    check(Demand::Closed { concurrency: 0 }, 1.0, "1 to 32");
    check(Demand::Closed { concurrency: 33 }, 1.0, "1 to 32");
    check(Demand::Closed { concurrency: 1 }, 0.0, "window");
    check(Demand::Closed { concurrency: 1 }, f64::NAN, "window");
    let open = |rate_iops| Demand::Open { rate_iops, arrival: Arrival::Poisson, outstanding_cap: 1 };
    check(open(0.0), 1.0, "above zero");
    check(open(f64::INFINITY), 1.0, "above zero");
}

#[test]
fn a_change_of_load_costs_little_beyond_settling() {
    let mut bench = bench(COMPLETE);
    for concurrency in [1, 2, 32, 1, 16] {
        let start = Instant::now();
        let step = bench.subject.measure(&closed(concurrency, 0.1), &mut ()).unwrap();
        let beyond_s = start.elapsed().as_secs_f64() - step.measured_s - step.settle_s;
        assert!(beyond_s < 0.1, "{beyond_s} s");
    }
}
