//! Load on real files: what was asked is offered, and the numbers hold together.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod common;

use common::*;
use load::{EngineKind, Options, Overrides, Pattern, SyncMode};
use record::{Arrival, Ended, Flow, IoClass, Slice, Subject, Watch};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

const MIB: u64 = 1 << 20;

fn check_closed(engine: EngineKind, buffered: bool) {
    let folder = folder();
    let mut options = Options::new(file(folder.path(), 32 * MIB), workload("oltp"));
    options.engine = Some(engine);
    options.buffered = buffered;
    let Some(mut subject) = open(&options) else { return };
    for concurrency in [1, 3, 16] {
        let step = measure(&mut subject, &closed(concurrency, 0.4));
        assert_eq!(step.ended, Ended::Complete, "{engine} {concurrency}");
        assert!(step.ios() > 100, "{engine} {concurrency}: {} I/Os", step.ios());
        let outstanding = step.outstanding_mean().unwrap();
        assert!((outstanding / f64::from(concurrency) - 1.0).abs() < 0.02, "{engine}: {outstanding}");
        check_little(&mut subject, step.clone(), &closed(concurrency, 0.4));
        assert_eq!(step.slices.iter().map(Slice::bytes).sum::<u64>(), step.ios() * 8192);
        assert_eq!((step.latency(IoClass::Write).count(), step.errors()), (0, 0));
        let cpu = step.cpu.unwrap();
        assert!(cpu.user_us_per_io + cpu.sys_us_per_io > 0.1, "{cpu:?}");
        assert!(cpu.busiest_worker > 0.0 && cpu.busiest_worker <= 1.0);
    }
}

#[test]
fn every_engine_keeps_the_concurrency_and_obeys_littles_law() {
    let _alone = alone();
    engines().into_iter().for_each(|engine| check_closed(engine, false));
}

#[test]
fn every_engine_works_through_the_page_cache() {
    let _alone = alone();
    engines().into_iter().for_each(|engine| check_closed(engine, true));
}

#[test]
fn concurrency_is_spread_over_the_workers() {
    let _alone = alone();
    let folder = folder();
    let mut options = Options::new(file(folder.path(), 32 * MIB), workload("oltp"));
    options.workers = Some(3);
    let Some(mut subject) = open(&options) else { return };
    assert_eq!(subject.facts().workers, 3);
    for concurrency in [2, 7] {
        let step = measure(&mut subject, &closed(concurrency, 0.3));
        assert!((step.outstanding_mean().unwrap() - f64::from(concurrency)).abs() < 0.02);
        check_little(&mut subject, step, &closed(concurrency, 0.3));
    }
}

fn check_rate(engine: EngineKind, arrival: Arrival) {
    let folder = folder();
    let mut options = Options::new(file(folder.path(), 32 * MIB), workload("oltp"));
    options.engine = Some(engine);
    options.workers = Some(2);
    let Some(mut subject) = open(&options) else { return };
    let load = at_rate(2_000.0, arrival, 1.0);
    let step = measure(&mut subject, &load);
    assert_eq!(step.ended, Ended::Complete);
    // A thousand milliseconds of Poisson arrivals at 2000 per second: 5 standard deviations are 11 %.
    assert!((step.iops() / 2_000.0 - 1.0).abs() < 0.12, "{engine} {arrival:?}: {}", step.iops());
    check_little(&mut subject, step, &load);
}

#[test]
fn a_rate_is_kept_and_littles_law_holds_from_the_intended_start() {
    let _alone = alone();
    for engine in [EngineKind::IoUring, EngineKind::Libaio] {
        check_rate(engine, Arrival::Poisson);
        check_rate(engine, Arrival::Constant);
    }
}

#[test]
fn an_open_loop_that_mostly_waits_does_not_burn_a_core() {
    let _alone = alone();
    let folder = folder();
    let options = Options::new(file(folder.path(), 32 * MIB), workload("oltp"));
    let Some(mut subject) = open(&options) else { return };
    let step = measure(&mut subject, &at_rate(100.0, Arrival::Constant, 1.0));
    let busy = step.cpu.unwrap().busiest_worker;
    assert!(busy < 0.2, "{busy} of a core for 100 I/Os per second");
}

#[test]
fn a_rate_with_the_sync_engine_is_refused_with_a_remedy() {
    let _alone = alone();
    let folder = folder();
    let mut options = Options::new(file(folder.path(), MIB), workload("oltp"));
    options.engine = Some(EngineKind::Sync);
    options.buffered = true;
    let mut subject = open(&options).unwrap();
    assert!(!subject.facts().open_loop);
    let error = subject.measure(&at_rate(10.0, Arrival::Poisson, 0.1), &mut ()).unwrap_err().to_string();
    assert!(error.contains("--engine io_uring or libaio"), "{error}");
}

fn check_durable(engine: EngineKind, sync: SyncMode) {
    let folder = folder();
    let overrides = Overrides { sync: Some(sync), ..Overrides::default() };
    let mut options = Options::new(folder.path(), custom("log", overrides));
    options.engine = Some(engine);
    options.size_bytes = Some(16 * MIB);
    let Some(mut subject) = open(&options) else { return };
    let step = measure(&mut subject, &closed(2, 0.4));
    assert_eq!(step.ended, Ended::Complete, "{engine} {sync}");
    let (write, flush) = (step.latency(IoClass::Write), step.latency(IoClass::Flush));
    assert!(write.count() > 5, "{engine} {sync}: {}", write.count());
    // A write is counted when it is durable, so each counted write has its flush, and takes at least as long.
    assert_eq!(write.count(), flush.count(), "{engine} {sync}");
    match sync {
        SyncMode::Dsync => assert_eq!(write.sum_ns(), flush.sum_ns()),
        _ => assert!(write.sum_ns() > flush.sum_ns(), "{engine} {sync}"),
    }
    assert_eq!(step.ios(), write.count());
    assert!((step.outstanding_mean().unwrap() - 2.0).abs() < 0.02);
    check_little(&mut subject, step, &closed(2, 0.4));
}

#[test]
fn a_log_writes_durably_and_its_flushes_are_seen() {
    let _alone = alone();
    for engine in engines() {
        check_durable(engine, SyncMode::Fdatasync);
        check_durable(engine, SyncMode::Dsync);
    }
}

#[test]
fn a_mix_reads_and_writes_in_the_asked_share() {
    let _alone = alone();
    let folder = folder();
    let overrides = Overrides { write_percent: Some(30.0), ..Overrides::default() };
    let mut options = Options::new(folder.path(), custom("oltp-mixed", overrides));
    options.size_bytes = Some(16 * MIB);
    let Some(mut subject) = open(&options) else { return };
    let step = measure(&mut subject, &closed(8, 0.5));
    let writes = step.latency(IoClass::Write).count() as f64;
    let share = writes / step.ios() as f64;
    let tolerance = 5.0 * (0.21 / step.ios() as f64).sqrt();
    assert!((share - 0.3).abs() < tolerance, "{share} of {}", step.ios());
    check_little(&mut subject, step, &closed(8, 0.5));
}

#[test]
fn what_is_written_is_incompressible_and_nowhere_the_same() {
    let _alone = alone();
    let folder = folder();
    let overrides =
        Overrides { pattern: Some(Pattern::Sequential), write_percent: Some(100.0), ..Overrides::default() };
    let mut options = Options::new(folder.path(), custom("oltp", overrides));
    options.size_bytes = Some(8 * MIB);
    let Some(mut subject) = open(&options) else { return };
    let path = subject.target().data_path().to_owned();
    let before = std::fs::read(&path).unwrap();
    measure(&mut subject, &closed(8, 0.3));
    let after = std::fs::read(&path).unwrap();
    assert_eq!(before.len(), after.len());
    assert_eq!(before[..MIB as usize], after[..MIB as usize], "the tag stays");
    let data = &after[MIB as usize..];
    assert_ne!(&before[MIB as usize..], data);
    let mut pages: Vec<&[u8]> = data.chunks(4096).collect();
    pages.sort();
    pages.dedup();
    assert_eq!(pages.len(), data.len() / 4096, "no two 4 KiB are the same");
    // Within each page nearly all byte values occur, as in random data: nothing there to compress.
    for page in &pages {
        let mut seen = [false; 256];
        page.iter().for_each(|&b| seen[b as usize] = true);
        assert!(seen.iter().filter(|&&s| s).count() > 250);
    }
}

#[test]
fn a_scan_reads_sequentially_and_wraps() {
    let _alone = alone();
    let folder = folder();
    let mut options = Options::new(file(folder.path(), 16 * MIB), workload("scan"));
    options.buffered = true;
    let mut subject = open(&options).unwrap();
    let step = measure(&mut subject, &closed(2, 0.3));
    // Sixteen blocks in the file: more reads than that have wrapped, and none ran over the end.
    assert!(step.ios() > 16 && step.errors() == 0, "{}", step.ios());
    assert_eq!(step.ended, Ended::Complete);
}

struct At<F: FnMut(usize)>(usize, F);

impl<F: FnMut(usize)> Watch for At<F> {
    fn slice(&mut self, _: &Slice) -> Flow {
        self.0 += 1;
        (self.1)(self.0);
        Flow::Continue
    }
}

#[test]
fn a_file_that_shrinks_ends_the_step_and_what_was_measured_is_kept() {
    let _alone = alone();
    for engine in engines() {
        let folder = folder();
        let path = file(folder.path(), 16 * MIB);
        let mut options = Options::new(&path, workload("oltp"));
        options.engine = Some(engine);
        options.buffered = true;
        let Some(mut subject) = open(&options) else { continue };
        let shrink = |slice| {
            if slice == 2 {
                std::fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(MIB).unwrap();
            }
        };
        let step = subject.measure(&closed(4, 20.0), &mut At(0, shrink)).unwrap();
        let Ended::Failed(why) = &step.ended else { panic!("{engine}: {:?}", step.ended) };
        assert!(why.contains("shrank") || why.contains("shrunk"), "{why}");
        assert!(step.slices.len() >= 2 && step.measured_s < 5.0, "{engine}: {}", step.slices.len());
        assert!(step.ios() > 0);
    }
}

#[test]
fn an_interrupt_ends_the_step_within_moments() {
    let _alone = alone();
    let folder = folder();
    let mut options = Options::new(file(folder.path(), 16 * MIB), workload("oltp"));
    options.buffered = true;
    let interrupt = Arc::new(AtomicBool::new(false));
    let mut subject = open_with(&options, Arc::clone(&interrupt)).unwrap();
    let start = std::time::Instant::now();
    let signal = |slice| interrupt.store(slice == 3, Ordering::Relaxed);
    let step = subject.measure(&closed(4, 60.0), &mut At(0, signal)).unwrap();
    assert_eq!(step.ended, Ended::Interrupted);
    assert_eq!(step.slices.len(), 3);
    assert!(start.elapsed().as_secs() < 10);
}

#[test]
fn a_seed_repeats_the_addresses() {
    let _alone = alone();
    // Two runs of one seed on a one-block-per-worker stream give the same first offsets; here, by the written pages.
    let written = |seed| {
        let folder = folder();
        let overrides = Overrides { write_percent: Some(100.0), ..Overrides::default() };
        let mut options = Options::new(folder.path(), custom("oltp", overrides));
        options.size_bytes = Some(4 * MIB);
        options.buffered = true;
        options.seed = Some(seed);
        let subject = open(&options).unwrap();
        std::fs::read(subject.target().data_path()).unwrap()
    };
    let data = |bytes: &[u8]| bytes[MIB as usize..].to_vec();
    assert_eq!(data(&written(7)), data(&written(7)));
    assert_ne!(data(&written(7)), data(&written(8)));
}
