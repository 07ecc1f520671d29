//! Disks under load: sizes, equals, busy time, slow I/O, full or not; processors and memory beside them.
#![allow(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

mod reading_support;
mod reading_text;

use analyze::Severity;
use reading_support::Made;
use reading_text::{IOSTAT_XM, found, reads, told};
use record::imported::Quantity::*;
use record::imported::{PlaceKind, Platform, facts};

const DISK: PlaceKind = PlaceKind::Device;

/// A row of a disk: reads per second, their KiB, response in ms.
fn disk(reads: f64, kib: f64, ms: f64) -> Vec<(record::imported::Quantity, f64)> {
    vec![
        (ReadIops, reads),
        (WriteIops, 0.0),
        (ReadBytesPerS, reads * kib * 1024.0),
        (WriteBytesPerS, 0.0),
        (ReadResponseUs, ms * 1e3),
        (Outstanding, reads * ms / 1e3),
        (BusyPercent, (reads * ms / 10.0).min(100.0)),
    ]
}

#[test]
fn requests_at_the_largest_transfer_are_split() {
    let mut made = Made::new(Platform::Linux);
    made.rows(DISK, "sdb", 6, &disk(800.0, 510.0, 4.0));
    let like = made.only("PL202");
    assert_eq!(like.severity, Severity::Info, "{like:#?}");
    assert!(like.title.contains("as with a largest transfer of 512 KiB"), "{}", like.title);
    made.fact(DISK, "sdb", facts::MAX_TRANSFER_BYTES, 524_288.0);
    let told = made.only("PL202");
    assert!(
        told.severity == Severity::Low && told.title.contains("its largest transfer is 512 KiB"),
        "{}",
        told.title
    );
    // Blocks of a database, and reads of all sizes.
    for sizes in [[8.0; 6], [200.0, 300.0, 260.0, 180.0, 330.0, 240.0]] {
        let mut made = Made::new(Platform::Linux);
        for (n, kib) in sizes.iter().enumerate() {
            made.row(DISK, "sdb", n as f64 + 1.0, &disk(800.0, *kib, 4.0));
        }
        assert_eq!(made.found("PL202"), []);
    }
}

#[test]
fn what_was_asked_for_tells_of_a_split_without_a_limit() {
    let text = "$ dd if=/dev/sdq of=/dev/null bs=1M iflag=direct\n".to_owned()
        + IOSTAT_XM
        + &[900.0, 880.0, 910.0, 905.0].map(|r| reads("sdq", r, 100.0, 3.0, 99.0)).concat();
    let split = found("PL202", &text);
    assert_eq!(split.len(), 1);
    assert!(
        split[0].title.contains("1 MiB asked for at once reach sdq as requests of 100 KiB"),
        "{}",
        split[0].title
    );
    assert!(told(&split[0]).contains("fragmented"));
    // Of another disk nothing was asked.
    let other = text.replace("sdq of", "sdz of");
    assert_eq!(found("PL202", &other), []);
}

#[test]
fn one_of_the_disks_of_a_group_is_hot() {
    let group = |hot: f64, ms: f64| {
        let mut made = Made::new(Platform::Aix);
        for n in 1..=5 {
            let name = format!("hdisk{n}");
            let (reads, ms) = if n == 5 { (hot, ms) } else { (100.0 + f64::from(n), 4.0) };
            made.rows(DISK, &name, 8, &disk(reads, 8.0, ms));
            made.fact(DISK, &name, facts::PART_OF, "datavg");
        }
        made
    };
    let hot = group(900.0, 14.0).only("PL203");
    assert!(hot.title.contains("hdisk5") && hot.title.contains("datavg"), "{}", hot.title);
    assert!(hot.severity == Severity::Medium && hot.advice.iter().any(|a| a.contains("reorgvg")));
    assert_eq!(group(180.0, 5.0).found("PL203"), [], "nearly alike");
    assert_eq!(group(900.0, 1.0).found("PL203"), [], "much, and nothing waits");
}

#[test]
fn a_disk_added_to_a_full_group_is_told_as_such() {
    let mut made = Made::new(Platform::Aix);
    for n in 1..=5 {
        let name = format!("hdisk{n}");
        let (reads, ms, free) = if n == 5 { (900.0, 14.0, 40.0) } else { (100.0, 4.0, 0.0) };
        made.rows(DISK, &name, 8, &disk(reads, 8.0, ms));
        made.fact(DISK, &name, facts::PART_OF, "datavg").fact(DISK, &name, "free_partitions", free);
    }
    made.fact(PlaceKind::Volume, "datalv", "partitions_on_hdisk1", 20.0);
    made.fact(PlaceKind::Volume, "datalv", "partitions_on_hdisk5", 180.0);
    let hot = made.only("PL203");
    assert!(told(&hot).contains("180 of 200 partitions of datalv lie on it"), "{hot:#?}");
    assert!(told(&hot).contains("it was added later"), "{hot:#?}");
}

#[test]
fn a_healthy_host_gives_nothing_but_remarks() {
    let mut made = Made::new(Platform::Linux);
    let mut random = 12_345_u32;
    let mut noise = |share: f64| {
        random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        1.0 + share * (f64::from(random >> 8) / f64::from(1 << 24) - 0.5)
    };
    for at in 1..=300 {
        for (name, level) in
            [("sda", 300.0), ("sdb", 1100.0), ("sdc", 1000.0), ("sdd", 1250.0), ("sde", 900.0)]
        {
            // Load that comes and goes over the minutes.
            let reads = level * noise(0.3) * (1.0 + 0.4 * (f64::from(at) / 40.0).sin());
            let ms = 0.9 * noise(0.2);
            let values = [
                (ReadIops, reads),
                (WriteIops, reads * 0.3),
                (ReadBytesPerS, reads * 8192.0 * noise(0.1)),
                (WriteBytesPerS, reads * 0.3 * 8192.0),
                (ReadResponseUs, ms * 1e3),
                (WriteResponseUs, 500.0),
                (Outstanding, reads * ms / 1e3 + reads * 0.3 * 0.0005),
                (BusyPercent, (reads * ms / 12.0).min(92.0)),
            ];
            made.row(DISK, name, f64::from(at), &values);
        }
        made.row(PlaceKind::Host, "", f64::from(at), &cpu(25.0 * noise(0.5), 8.0, 4.0, 0.1));
    }
    let found = analyze::reading::findings(&made.digest);
    let worse: Vec<_> = found.iter().filter(|f| f.severity > Severity::Info).collect();
    assert!(worse.is_empty(), "{worse:#?}");
}

#[test]
fn names_alone_make_a_weaker_case_and_idle_disks_none() {
    let family = |others: f64| {
        let mut made = Made::new(Platform::Linux);
        for name in ["sda", "sdb", "sdc", "sdd", "sde"] {
            let (reads, ms) = if name == "sde" { (2000.0, 9.0) } else { (others, 3.0) };
            made.rows(DISK, name, 5, &disk(reads, 8.0, ms));
        }
        made
    };
    let hot = family(150.0).only("PL203");
    assert!(hot.severity == Severity::Low && told(&hot).contains("by their names only"), "{hot:#?}");
    assert_eq!(family(2.0).found("PL203"), [], "one disk in use among idle ones");
}

#[test]
fn busy_all_the_time_says_nothing_by_itself() {
    let text = |rows: &[(f64, f64)]| {
        IOSTAT_XM.to_owned()
            + &rows.iter().map(|(r, ms)| reads("sdb", *r, 64.0, *ms, 99.5)).collect::<String>()
    };
    let trap = found("PL204", &text(&[(300.0, 5.0), (310.0, 5.0), (600.0, 5.0), (900.0, 5.0), (890.0, 5.0)]));
    assert_eq!(trap.len(), 1);
    assert!(trap[0].title.contains("at 19 MiB/s and at 56 MiB/s alike"), "{}", trap[0].title);
    let several = found("PL204", &text(&[(1000.0, 8.0); 4]));
    assert!(several[0].title.contains("8.0 I/Os outstanding"), "{}", several[0].title);
    assert_eq!(found("PL204", &text(&[(200.0, 5.0); 6])), [], "one at a time at one throughput");
}

#[test]
fn reads_that_take_long_are_slow_and_writes_of_seconds_are_an_emergency() {
    let mut made = Made::new(Platform::Linux);
    made.rows(DISK, "sdc", 6, &disk(300.0, 8.0, 35.0));
    made.rows(DISK, "sdd", 6, &disk(300.0, 8.0, 6.0));
    let slow = made.only("PL208");
    assert!(
        slow.severity == Severity::Medium && slow.title.contains("reads of sdc take 35.0 ms"),
        "{}",
        slow.title
    );
    assert!(!slow.title.contains("sdd") && told(&slow).contains("does not tell the host queue"), "{slow:#?}");

    let mut made = Made::new(Platform::Aix);
    let row = [
        (ReadIops, 20.0),
        (WriteIops, 60.0),
        (ReadServiceUs, 12e3),
        (WriteServiceUs, 40.2e6),
        (HostWaitUs, 3e6),
        (WriteServiceMaxUs, 41e6),
    ];
    made.rows(DISK, "hdisk4", 5, &row);
    let slow = made.only("PL208");
    assert!(
        slow.severity == Severity::High && slow.title.contains("writes of hdisk4 take 40.2 s"),
        "{}",
        slow.title
    );
    assert!(told(&slow).contains("wait in the host"), "{slow:#?}");
}

#[test]
fn a_few_slow_io_of_an_idle_disk_are_not_slow_io() {
    let mut made = Made::new(Platform::Linux);
    for at in 1..=40 {
        // Three intervals of forty, after the disk slept, and some with one I/O only.
        let (reads, ms) = if at % 13 == 0 { (6.0, 40.0) } else { (400.0, 3.0) };
        made.row(DISK, "sda", f64::from(at), &disk(reads, 8.0, ms));
        made.row(DISK, "sdb", f64::from(at), &disk(0.3, 8.0, 90.0));
    }
    assert_eq!(made.found("PL208"), []);
    // One I/O of eight seconds is told by itself.
    let row = [(ReadIops, 50.0), (WriteIops, 0.0), (ReadServiceUs, 5e3), (ReadServiceMaxUs, 8.4e6)];
    made.row(DISK, "hdisk1", 41.0, &row);
    let single = made.only("PL208");
    assert!(single.title.contains("single I/Os of hdisk1 took up to 8.4 s"), "{}", single.title);
}

#[test]
fn time_in_proportion_to_the_number_is_full_and_constant_time_is_room() {
    let course = |of: fn(f64) -> f64| {
        let mut made = Made::new(Platform::Linux);
        for at in 0..40 {
            let queue = 1.0 + f64::from(at % 10) * 1.7;
            let ms = of(queue) * (1.0 + 0.01 * f64::from(at % 3));
            made.row(DISK, "sdb", f64::from(at), &disk(queue / ms * 1e3, 8.0, ms));
        }
        made
    };
    let full = course(|queue| 2.0 * queue).only("PL209");
    assert!(full.severity == Severity::Medium && full.title.contains("sdb is full"), "{}", full.title);
    let room = course(|_| 2.0).only("PL209");
    assert!(room.severity == Severity::Info && room.title.contains("room left"), "{}", room.title);
    assert!(told(&room).contains("as a load line"), "{room:#?}");
    // In between nothing is claimed, and without spread nothing can be.
    assert_eq!(course(|queue| 2.0 * queue.sqrt()).found("PL209"), []);
    let mut made = Made::new(Platform::Linux);
    made.rows(DISK, "sdb", 40, &disk(1000.0, 8.0, 4.0));
    assert_eq!(made.found("PL209"), []);
}

fn cpu(user: f64, system: f64, iowait: f64, steal: f64) -> Vec<(record::imported::Quantity, f64)> {
    vec![
        (CpuUserPercent, user),
        (CpuSystemPercent, system),
        (CpuIowaitPercent, iowait),
        (CpuStealPercent, steal),
        (CpuIdlePercent, 100.0 - user - system - iowait - steal),
    ]
}

#[test]
fn processors_idle_while_disks_queue() {
    let mut made = Made::new(Platform::Aix);
    made.rows(DISK, "hdisk4", 10, &disk(900.0, 8.0, 18.0));
    made.rows(PlaceKind::Host, "", 10, &cpu(8.0, 3.0, 40.0, 0.0));
    let idle = made.only("PL301");
    assert!(idle.title.contains("11 %") && idle.title.contains("hdisk4"), "{}", idle.title);
    assert_eq!(made.found("PL302"), []);
    // Waiting without a queue, and a queue with processors at work.
    let mut made = Made::new(Platform::Aix);
    made.rows(DISK, "hdisk4", 10, &disk(100.0, 8.0, 4.0));
    made.rows(PlaceKind::Host, "", 10, &cpu(8.0, 3.0, 40.0, 0.0));
    assert_eq!(made.found("PL301"), []);
    let mut made = Made::new(Platform::Aix);
    made.rows(DISK, "hdisk4", 10, &disk(900.0, 8.0, 18.0));
    made.rows(PlaceKind::Host, "", 10, &cpu(60.0, 15.0, 15.0, 0.0));
    assert_eq!(made.found("PL301"), []);
}

#[test]
fn a_processor_that_waits_is_no_limit_and_one_that_works_is() {
    let mut made = Made::new(Platform::Linux);
    made.rows(PlaceKind::Cpu, "77", 12, &cpu(1.02, 2.04, 96.94, 0.0));
    made.rows(PlaceKind::Cpu, "78", 12, &cpu(1.0, 1.0, 0.0, 0.0));
    assert_eq!(made.found("PL302"), []);
    made.rows(PlaceKind::Cpu, "3", 12, &cpu(30.0, 68.0, 0.0, 0.0));
    let one = made.only("PL302");
    assert!(one.severity == Severity::Low && one.title.contains("processor 3 of 3"), "{}", one.title);
    made.rows(PlaceKind::Host, "", 12, &cpu(80.0, 18.0, 0.0, 0.0));
    let all = made.only("PL302");
    assert!(all.severity == Severity::Medium && all.title.contains("all processors"), "{}", all.title);
}

#[test]
fn swapping_beside_slow_io_is_a_memory_problem() {
    let swapping =
        |bytes: f64| [(SwapInBytesPerS, bytes), (SwapOutBytesPerS, bytes / 2.0), (PagesScannedPerS, 9000.0)];
    let mut made = Made::new(Platform::Linux);
    made.rows(DISK, "sda", 10, &disk(300.0, 8.0, 25.0));
    made.rows(PlaceKind::Host, "", 10, &swapping(8e6));
    let short = made.only("PL303");
    assert!(
        short.severity == Severity::Medium && short.title.contains("I/Os of sda take 25.0 ms"),
        "{}",
        short.title
    );
    // The page cache alone scans pages on Linux; on Solaris it says that memory is short.
    for (platform, findings) in [(Platform::Linux, 0), (Platform::Solaris, 1)] {
        let mut made = Made::new(platform);
        made.rows(DISK, "sda", 10, &disk(300.0, 8.0, 25.0));
        made.rows(PlaceKind::Host, "", 10, &swapping(0.0));
        assert_eq!(made.found("PL303").len(), findings, "{platform:?}");
    }
}

#[test]
fn stolen_time_is_told() {
    let mut made = Made::new(Platform::Linux);
    made.rows(PlaceKind::Host, "", 10, &cpu(40.0, 10.0, 5.0, 18.0));
    let stolen = made.only("PL305");
    assert!(stolen.severity == Severity::Medium && stolen.title.contains("18 %"), "{}", stolen.title);
    let mut made = Made::new(Platform::Linux);
    made.rows(PlaceKind::Host, "", 10, &cpu(40.0, 10.0, 5.0, 1.2));
    assert_eq!(made.found("PL305"), []);
}
