//! What the texts themselves can bear: contradictions, averages, times, damage, versions, what is missing; page sizes and
//! whole requests.
#![allow(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

mod reading_support;
mod reading_text;

use analyze::Severity;
use analyze::reading::{Clock, ReadCase};
use reading_support::Made;
use reading_text::{IOSTAT_XM, found, iostat_xm_row, reads, told};
use record::imported::Quantity::*;
use record::imported::{Basis, EventKind, Host, Interval, PlaceKind, Platform, RowsKind, facts};

const DISK: PlaceKind = PlaceKind::Device;

#[test]
fn figures_that_contradict_each_other_are_told() {
    let row =
        |queue: f64| iostat_xm_row("sda", [500.0, 0.0, 4.0, 0.0, 16.0, queue, 8.0, 8.0, 0.0, 0.2, 95.0]);
    let bad = IOSTAT_XM.to_owned() + &[1.3, 1.25, 1.4, 1.31, 1.2, 1.28].map(row).concat();
    let broken = found("PL601", &bad);
    assert_eq!(broken.len(), 1);
    assert!(broken[0].title.contains("sda") && broken[0].title.contains("6 of 6"), "{}", broken[0].title);
    let good = IOSTAT_XM.to_owned() + &[4.0, 3.95, 4.05, 4.1, 3.9, 4.02].map(row).concat();
    assert_eq!(found("PL601", &good), []);
    // One bad interval among good ones.
    let mixed = IOSTAT_XM.to_owned() + &[4.0, 3.95, 1.2, 4.1, 3.9, 4.02].map(row).concat();
    assert_eq!(found("PL601", &mixed), []);
}

#[test]
fn a_report_since_boot_alone_says_nothing_of_peaks() {
    let banner = "Linux 4.4.0-1 (db1) \t11/02/2019 \t_x86_64_\t(8 CPU)\n\n";
    let row = reads("sda", 30.0, 8.0, 2.0, 3.0);
    let alone = banner.to_owned() + IOSTAT_XM + &row;
    let only = found("PL602", &alone);
    assert_eq!(only.len(), 1);
    assert!(only[0].title.contains("averages since boot"), "{}", only[0].title);
    let more = alone.clone() + "\n" + IOSTAT_XM + &row + "\n" + IOSTAT_XM + &row;
    assert_eq!(found("PL602", &more), []);
}

fn interval(at_s: f64, length_s: f64) -> Interval {
    Interval { at_s, length_s, basis: Basis::Local, kind: RowsKind::Interval }
}

#[test]
fn long_intervals_restarts_and_gaps_are_told_and_seconds_are_not() {
    let row = [(Iops, 100.0), (ResponseUs, 4e3)];
    let mut made = Made::new(Platform::Linux);
    for n in 1..=20 {
        made.row_of(DISK, "sda", interval(f64::from(n) * 600.0, 600.0), &row);
    }
    let long = made.only("PL603");
    assert!(long.severity == Severity::Info && long.title.contains("intervals of 10 min"), "{}", long.title);
    made.event(PlaceKind::Host, "", EventKind::Restart, 3000.0, "LINUX RESTART");
    assert!(told(&made.only("PL603")).contains("started anew once"));

    let mut made = Made::new(Platform::Linux);
    for n in 1..=20 {
        made.row_of(DISK, "sda", interval(f64::from(n) * 5.0, 5.0), &row);
    }
    assert_eq!(made.found("PL603"), []);
    for n in 200..=220 {
        made.row_of(DISK, "sda", interval(f64::from(n) * 5.0, 5.0), &row);
    }
    let gap = made.only("PL603");
    assert!(gap.title.contains("a gap of 15 min"), "{}", gap.title);
}

#[test]
fn damaged_lines_are_told_and_prose_is_not() {
    let good = [300.0; 30].map(|r| reads("sda", r, 8.0, 2.0, 50.0)).concat();
    let text = IOSTAT_XM.to_owned() + &good + &"sda 0.00 0.00 300.00 0.00 2.34 0.00 16.00 0.6\n".repeat(4);
    let torn = found("PL604", &text);
    assert_eq!(torn.len(), 1, "{torn:#?}");
    assert!(torn[0].title.contains("4 of 34 lines"), "{}", torn[0].title);
    let prose = "Here I ran the first test, and this is what I saw.\n".repeat(10) + IOSTAT_XM + &good;
    assert_eq!(found("PL604", &prose), []);
}

#[test]
fn kernels_that_count_busy_time_wrong_are_told() {
    let row = [(ReadIops, 900.0), (ReadResponseUs, 1e3), (Outstanding, 0.9), (BusyPercent, 80.0)];
    for (release, findings) in
        [("5.4.0-90-generic", 1), ("3.10.0-1160.el7.x86_64", 0), ("6.12.3", 0), ("6.1.0-9-amd64", 0)]
    {
        let mut made = Made::new(Platform::Linux);
        made.release(release).rows(DISK, "sda", 5, &row);
        assert_eq!(made.found("PL605").len(), findings, "{release}");
    }
    // Sparse small I/O that shows as a busy disk.
    let mut made = Made::new(Platform::Linux);
    let sparse = [(ReadIops, 250.0), (ReadResponseUs, 80.0), (Outstanding, 0.02), (BusyPercent, 91.0)];
    made.release("6.1.0-9-amd64").rows(DISK, "sda", 5, &sparse);
    assert!(made.only("PL605").title.contains("sparse"));
}

#[test]
fn a_queue_without_its_depth_asks_for_more_texts() {
    let row = [(ReadIops, 2000.0), (ReadResponseUs, 8e3), (Outstanding, 16.0)];
    let mut made = Made::new(Platform::Linux);
    made.rows(DISK, "sdb", 5, &row);
    let wanted = made.only("PL606");
    assert!(wanted.advice[0].contains("/sys/block/*/device/queue_depth"), "{wanted:#?}");
    made.fact(DISK, "sdb", facts::QUEUE_DEPTH, 32.0);
    made.rows(
        PlaceKind::Host,
        "",
        5,
        &[(CpuUserPercent, 10.0), (CpuSystemPercent, 5.0), (CpuIdlePercent, 85.0)],
    );
    assert_eq!(made.found("PL606"), []);
    let mut made = Made::new(Platform::Aix);
    made.rows(DISK, "hdisk2", 5, &row);
    let advice = made.only("PL606").advice.join("\n");
    assert!(advice.contains("lsattr -El hdisk2") && advice.contains("fcstat"), "{advice}");
}

/// Calls as truss prints them: a reservation, then pieces of one size, each with or without advice.
fn truss(size: u64, pieces: u64, advised: bool) -> String {
    let base = 0xFFFF_FFFF_7A00_0000_u64;
    let mut text = format!(
        "911/1:  1.5000 mmap(0x00000000, {}, PROT_NONE, MAP_PRIVATE|MAP_NORESERVE, 8, 0) = 0x{base:X}\n",
        size * 8
    );
    for n in 0..pieces {
        let at = base + n * size;
        text += &format!(
            "911/1:  1.60{n:02} mmap(0x{at:X}, {size}, PROT_READ|PROT_WRITE, MAP_PRIVATE|MAP_FIXED, 8, 0) = 0x{at:X}\n"
        );
        if advised {
            text += &format!(
                "911/1:  1.61{n:02} memcntl(0x{at:X}, {size}, MC_HAT_ADVISE, 0xFFFFFFFF7FFF7E00, 0, 0) = 0\n"
            );
        }
    }
    text
}

#[test]
fn chunks_without_advice_lie_on_base_pages() {
    let bare = found("PL501", &truss(65_536, 5, false));
    assert_eq!(bare.len(), 1);
    assert!(bare[0].title.contains("64 KiB chunks without page-size advice (5 calls)"), "{}", bare[0].title);
    assert_eq!(found("PL502", &truss(65_536, 5, false)), []);
    let both = truss(524_288, 3, true) + &truss(4 << 20, 2, true);
    assert_eq!(found("PL501", &both), []);
    let advised = found("PL502", &both);
    assert!(advised[0].title.contains("512 KiB and 4 MiB chunks with MC_HAT_ADVISE"), "{}", advised[0].title);
    assert_eq!(advised[0].severity, Severity::Info);
}

#[test]
fn mappings_of_libraries_are_no_heap() {
    let text = "911/1:  mmap(0x00000000, 106496, PROT_READ|PROT_EXEC, MAP_PRIVATE|MAP_ALIGN, 4, 0) = 0xFF260000\n\
                911/1:  mmap(0x00000000, 24576, PROT_NONE, MAP_PRIVATE|MAP_NORESERVE, 4, 0) = 0xFF250000\n\
                911/1:  mmap(0x00000000, 8192, PROT_READ|PROT_WRITE, MAP_PRIVATE|MAP_ANON, -1, 0) = 0xFF240000\n";
    assert_eq!(found("PL501", text), []);
}

#[test]
fn large_shared_memory_on_base_pages_is_told() {
    let gib = 1_073_741_824.0;
    let row = |page: f64, size: f64| {
        [(MappedBytes, size), (ResidentBytes, size), (PageBytes, page), (HugeBytes, 0.0)]
    };
    let instant = Interval { kind: RowsKind::Instant, ..Interval::unknown(RowsKind::Instant) };
    let mut made = Made::new(Platform::Linux);
    made.row_of(PlaceKind::Process, "/SYSV00000000 (deleted)", instant, &row(4096.0, 12.0 * gib));
    let bare = made.only("PL501");
    assert!(bare.severity == Severity::Medium && bare.title.contains("12 GiB"), "{}", bare.title);
    for (name, page, size) in [
        ("/SYSV00000000 (deleted)", 2_097_152.0, 12.0 * gib),
        ("/usr/lib/libc.so", 4096.0, 2.0 * gib),
        ("[heap]", 4096.0, 1e7),
    ] {
        let mut made = Made::new(Platform::Linux);
        made.row_of(PlaceKind::Process, name, instant, &row(page, size));
        assert_eq!(made.found("PL501"), [], "{name}");
    }
}

#[test]
fn whole_requests_are_not_split_by_the_filesystem() {
    let fstyp = "root@db1:> fstyp -v /dev/vx/rdsk/datadg/vol1\nvxfs\nbsize 1024 size 1048576 dsize 0 ninode 1048576 nau 0\n";
    let request = |id: u32, len: u32| {
        format!(
            "{id} START read vol vol1 op 0 block {} len {len}\n{id} END read vol vol1 op 0 block {} len {len} time 0\n",
            id * 128,
            id * 128
        )
    };
    let trace = |sizes: [u32; 4]| (0..4).map(|n| request(100 + n, sizes[n as usize])).collect::<String>();
    let text = trace([32, 128, 32, 128]) + fstyp;
    let whole = found("PL503", &text);
    assert_eq!(whole.len(), 1, "{whole:#?}");
    assert_eq!(
        whole[0].title,
        "requests of 16 KiB and 64 KiB reach vol1 whole: never split by the filesystem block of 1 KiB"
    );
    assert_eq!(found("PL503", &(trace([2, 2, 2, 2]) + fstyp)), [], "requests of the block's size");
}

#[test]
fn texts_of_one_host_are_joined_on_time() {
    let row = [(ReadIops, 100.0), (ReadResponseUs, 4e3)];
    let mut made = Made::new(Platform::Linux);
    let start = 1_600_000_000.0;
    for n in 1..=60 {
        let at = Interval {
            at_s: start + f64::from(n),
            length_s: 1.0,
            basis: Basis::Utc,
            kind: RowsKind::Interval,
        };
        made.row_of(DISK, "sda", at, &row);
    }
    made.text("case/cpu");
    let two_hours = 7200.0;
    for n in 1..=60 {
        let at = start + two_hours + f64::from(n);
        let at = Interval { at_s: at, length_s: 1.0, basis: Basis::Local, kind: RowsKind::Interval };
        made.row_of(PlaceKind::Host, "", at, &[(CpuUserPercent, f64::from(n))]);
    }
    let case = ReadCase::new(&made.digest);
    let (device, series) = made.digest.devices.iter().next().unwrap();
    let window = case.window_of(&series.points()[9]).unwrap();
    assert_eq!(window.clock, Clock::Utc);
    let host = *made.digest.processors.keys().next().unwrap();
    let users: Vec<f64> = case.processor_in(host, &window).iter().map(|p| p.value(CpuUserPercent)).collect();
    assert_eq!(users, [10.0]);
    assert_eq!(case.device_in(*device, &window).unwrap().iops, 100.0);
    assert!(case.clocks().apart().is_empty());
}

#[test]
fn hosts_of_the_same_short_name_are_one() {
    let named = |name: &str| Host { name: Some(name.into()), ..Host::default() };
    let mut made = Made::new(Platform::Linux);
    made.host(named("DB1.example.com")).host(named("db2")).host(named("10.1.2.3")).host(named("10.1.2.4"));
    let case = ReadCase::new(&made.digest);
    assert_eq!(case.hosts().collect::<Vec<_>>(), [0, 2, 3, 4]);
    assert_eq!(case.joined(1), 0);
}
