//! Rules about schedulers and about what databases wait for.

mod reading_support;

use analyze::Severity;
use reading_support::Made;
use record::imported::PlaceKind::{
    Call, Database, DatabaseFile, Device, IoFunction, Job, Partition, Tablespace, WaitEvent,
};
use record::imported::Quantity::*;
use record::imported::{Basis, Interval, Platform, RowsKind, facts};

/// A wait event over an hour.
fn wait(made: &mut Made, name: &str, waits: f64, mean_ms: f64, percent: f64) {
    let row = [
        (Waits, waits),
        (WaitTimeS, waits * mean_ms / 1e3),
        (WaitUs, mean_ms * 1e3),
        (DatabaseTimePercent, percent),
    ];
    made.report(WaitEvent, name, 3600.0, &row);
}

#[test]
fn four_schedulers_over_one_load() {
    let mut made = Made::new(Platform::Unknown);
    for (name, tps) in [("noop", 74.61), ("anticipatory", 30.12), ("deadline", 77.74), ("cfq", 23.13)] {
        made.report(Job, name, f64::NAN, &[(TransactionsPerS, tps)]).fact(Job, name, facts::SCHEDULER, name);
    }
    let finding = made.only("PL304");
    assert_eq!(
        finding.title,
        "deadline and noop are ahead of anticipatory and cfq beyond doubt (77.7 and 74.6 transactions per second against \
         30.1 and 23.1); deadline against noop (+4.2 %) is undecided"
    );
    assert!(
        finding.evidence.iter().any(|e| e.text.contains("3 cycles that spread by 5 %")),
        "{:?}",
        finding.evidence
    );
}

#[test]
fn schedulers_that_do_alike_are_undecided_and_other_jobs_no_schedulers() {
    let mut made = Made::new(Platform::Linux);
    made.report(Job, "oltp-none", 60.0, &[(ReadIops, 1000.0), (WriteIops, 200.0)]);
    assert_eq!(made.found("PL304").len(), 0);
    made.report(Job, "oltp-mq-deadline", 60.0, &[(ReadIops, 1010.0), (WriteIops, 200.0)]);
    let finding = made.only("PL304");
    assert_eq!(finding.severity, Severity::Info);
    assert!(finding.title.contains("mq-deadline and none is ahead is undecided"), "{}", finding.title);

    let mut made = Made::new(Platform::Linux);
    made.report(Job, "randread", 60.0, &[(ReadIops, 1000.0)]).report(
        Job,
        "seqwrite",
        60.0,
        &[(WriteIops, 100.0)],
    );
    assert_eq!(made.found("PL304").len(), 0);
}

#[test]
fn schedulers_in_force() {
    let case = |scheduler: &str, iops: f64| {
        let mut made = Made::new(Platform::Linux);
        made.fact(Device, "sdb", facts::SCHEDULER, scheduler).rows(Device, "sdb", 3, &[(Iops, iops)]);
        made
    };
    assert_eq!(case("noop deadline [cfq]", 100.0).only("PL304").severity, Severity::Medium);
    assert_eq!(case("mq-deadline kyber [bfq] none", 100.0).only("PL304").severity, Severity::Low);
    assert_eq!(case("noop [deadline] cfq", 100.0).found("PL304").len(), 0);
    assert_eq!(case("[cfq]", 0.1).found("PL304").len(), 0);
    let mut idle = Made::new(Platform::Linux);
    idle.fact(Device, "sdb", facts::SCHEDULER, "cfq").fact(Partition, "sdb1", facts::SCHEDULER, "cfq");
    idle.fact(Device, "sr0", facts::SCHEDULER, "cfq");
    assert_eq!(idle.only("PL304").severity, Severity::Low, "its load is not told");
    let mut tuned = case("[bfq]", 100.0);
    tuned.fact(Device, "sdb", "slice_idle", 0.0);
    assert_eq!(tuned.found("PL304").len(), 0);
}

#[test]
fn commits_that_wait_for_storage_and_commits_that_wait_for_the_log_writer() {
    let case = |sync_ms: f64, write_ms: f64, percent: f64| {
        let mut made = Made::new(Platform::Linux);
        wait(&mut made, "log file sync", 5000.0, sync_ms, percent);
        wait(&mut made, "log file parallel write", 5000.0, write_ms, f64::NAN);
        wait(&mut made, "db file sequential read", 50_000.0, 2.0, 40.0);
        made
    };
    let storage = case(40.0, 36.0, 37.0).only("PL401");
    assert!(
        storage.title.starts_with("a commit waits 40.0 ms on average (log file sync, 37.0 %"),
        "{}",
        storage.title
    );
    assert_eq!(storage.severity, Severity::High);
    assert!(storage.advice[0].contains("the write itself is slow"));
    let rest = case(40.0, 3.0, 15.0).only("PL401");
    assert_eq!(rest.severity, Severity::Medium);
    assert!(rest.advice[0].contains("the write is the smaller part"));
    assert_eq!(case(3.0, 2.0, 15.0).only("PL401").severity, Severity::Low, "short, and many");
    assert_eq!(case(3.0, 2.0, 4.0).found("PL401").len(), 0);
    assert_eq!(case(23.0, 20.0, 0.1).found("PL401").len(), 0, "long, and seldom");
    assert_eq!(case(23.0, 20.0, 4.0).found("PL401").len(), 1);
}

#[test]
fn parameters_waits_calls_and_engines_that_do_one_at_a_time() {
    let case = |option: &str, value: &str, file: &str| {
        let mut made = Made::new(Platform::Linux);
        made.fact(Database, "orcl", option, value);
        made.place(DatabaseFile, file);
        made.found("PL402").len()
    };
    assert_eq!(case("filesystemio_options", "NONE", "/u02/users.dbf"), 1);
    assert_eq!(case("filesystemio_options", "none", "+DATA/users.dbf"), 0, "a disk group is asynchronous");
    assert_eq!(case("filesystemio_options", "setall", "/u02/users.dbf"), 0);
    assert_eq!(case("disk_asynch_io", "FALSE", "+DATA/users.dbf"), 1);

    let mut waits = Made::new(Platform::Linux);
    wait(&mut waits, "db file async I/O submit", 5000.0, 0.1, f64::NAN);
    assert_eq!(waits.found("PL402").len(), 0);
    let mut waits = Made::new(Platform::Linux);
    wait(&mut waits, "db file async I/O submit", 5000.0, 9.0, f64::NAN);
    assert_eq!(waits.only("PL402").severity, Severity::Low);

    let mut calls = Made::new(Platform::Linux);
    let interval = Interval::unknown(RowsKind::Request);
    for _ in 0..250 {
        calls.row_of(Call, "pwrite64", interval, &[(CallBytes, 8192.0), (CallUs, 900.0)]);
    }
    assert!(calls.only("PL402").title.starts_with("250 writes by pwrite64"));
    calls.row_of(Call, "io_submit", interval, &[(CallUs, 20.0)]);
    assert_eq!(calls.found("PL402").len(), 0);

    let fio = |engine: &str, depth: &str| {
        let mut made = Made::new(Platform::Linux);
        made.fact(Job, "randread", "fio_ioengine", engine).fact(Job, "randread", "fio_iodepth", depth);
        made.found("PL402").len()
    };
    assert_eq!((fio("psync", "32"), fio("psync", "1"), fio("libaio", "32")), (1, 0, 0));
}

/// A report from 10:00 to 11:00 and iostat in it, both with the date.
fn beside(database_ms: f64, device_ms: f64, device_at_s: f64) -> Made {
    let mut made = Made::new(Platform::Linux);
    let day = 1_600_000_000.0;
    let report =
        Interval { at_s: day + 3600.0, length_s: 3600.0, basis: Basis::Local, kind: RowsKind::Period };
    let row = [
        (Waits, 360_000.0),
        (WaitUs, database_ms * 1e3),
        (WaitTimeS, 360.0 * database_ms),
        (DatabaseTimePercent, 30.0),
    ];
    made.row_of(WaitEvent, "db file sequential read", report, &row);
    made.row_of(Database, "orcl", report, &[(ReadIops, 400.0)]);
    made.text("case/iostat");
    for n in 0..20 {
        let at_s = day + device_at_s + f64::from(n) * 60.0;
        let interval = Interval { at_s, length_s: 60.0, basis: Basis::Local, kind: RowsKind::Interval };
        made.row_of(Device, "sdb", interval, &[(ReadIops, 100.0), (ReadResponseUs, device_ms * 1e3)]);
    }
    made
}

#[test]
fn reads_of_the_database_beside_those_of_its_devices() {
    let above = beside(9.0, 2.0, 600.0).only("PL403");
    assert_eq!(
        above.title,
        "the database waits 9.0 ms for a read of one block and the devices answer in 2.0 ms: 7.0 ms pass above them"
    );
    assert!(above.evidence.iter().any(|e| e.text.contains("over the same time")));
    assert_eq!(beside(2.4, 2.0, 600.0).found("PL403").len(), 0);
    assert_eq!(beside(9.0, 2.0, 90_000.0).found("PL403").len(), 0, "another day");
    let cached = beside(0.3, 4.0, 600.0).only("PL403");
    assert_eq!(cached.severity, Severity::Info);
    assert!(cached.title.contains("a cache of the host answers most of them"), "{}", cached.title);
}

#[test]
fn a_database_that_waits_for_data() {
    let case = |mean_ms: f64, percent: f64| {
        let mut made = Made::new(Platform::Linux);
        wait(&mut made, "db file sequential read", 3_600_000.0, mean_ms, percent);
        wait(&mut made, "direct path read", 36_000.0, mean_ms, 5.0);
        wait(&mut made, "enq: TX - row lock contention", 100.0, 10.0, 30.0);
        made
    };
    let finding = case(5.0, 60.0).only("PL404");
    assert!(
        finding.title.starts_with("65 % of the database's time is waiting for data"),
        "{}",
        finding.title
    );
    assert!(
        finding.title.ends_with("on average 5.0 sessions wait for it")
            || finding.title.contains("5.1 sessions"),
        "{}",
        finding.title
    );
    assert_eq!(finding.severity, Severity::Medium);
    assert_eq!(case(0.3, 60.0).only("PL404").severity, Severity::Low);
    assert_eq!(case(5.0, 30.0).found("PL404").len(), 0);
}

#[test]
fn reads_of_many_blocks_that_are_small() {
    let case = |kib: f64| {
        let mut made = Made::new(Platform::Aix);
        let row = [(ReadIops, 500.0), (ReadBytesPerS, 500.0 * kib * 1024.0)];
        made.report(IoFunction, "Direct Reads", 3600.0, &row);
        made
    };
    assert!(
        case(64.0).only("PL405").title.starts_with("reads of many blocks (Direct Reads) bring 64 KiB each")
    );
    assert_eq!(case(900.0).found("PL405").len(), 0);

    let tablespace = |blocks: f64, single: f64| {
        let mut made = Made::new(Platform::Aix);
        made.fact(Database, "orcl", "db_file_multiblock_read_count", 128.0).fact(
            Database,
            "orcl",
            facts::DATABASE_BLOCK_BYTES,
            8192.0,
        );
        let row = [(ReadIops, 1000.0), (BlocksPerRead, blocks), (SingleBlockReadIops, single)];
        made.report(Tablespace, "USERS", 3600.0, &row);
        made.found("PL405").len()
    };
    // 900 of 1000 bring one block, so that the others bring 101 of 128.
    assert_eq!((tablespace(11.0, 900.0), tablespace(1.5, 900.0), tablespace(1.0, 1000.0)), (0, 1, 0));
}

#[test]
fn a_few_waits_that_are_many_times_longer() {
    let case = |event: &str, beyond: f64, waits: f64| {
        let mut made = Made::new(Platform::Linux);
        wait(&mut made, event, waits, 1.0, 5.0);
        let buckets = [
            (1000.0, 0.9 - beyond),
            (2000.0, 0.06),
            (4000.0, 0.04),
            (16_000.0, 0.0),
            (32_000.0, beyond),
            (f64::INFINITY, 0.0),
        ];
        made.distribution(WaitEvent, event, WaitUs, &buckets);
        made
    };
    let finding = case("log file parallel write", 0.04, 10_000.0).only("PL406");
    assert_eq!(
        finding.title,
        "4.0 % of the waits for log file parallel write are longer than 16.0 ms, and half of them at most 1.0 ms"
    );
    assert_eq!(finding.severity, Severity::Medium);
    assert_eq!(case("log file parallel write", 0.004, 10_000.0).found("PL406").len(), 0);
    assert_eq!(case("log file parallel write", 0.04, 50.0).found("PL406").len(), 0, "two waits");
    assert_eq!(case("SQL*Net message from client", 0.04, 10_000.0).found("PL406").len(), 0);
}
