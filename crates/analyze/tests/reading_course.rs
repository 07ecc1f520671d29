//! What changes in the course of a load: latency-bound streams, regimes, throttles, write caches.
#![allow(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

mod reading_support;
mod reading_text;

use analyze::Severity;
use reading_support::Made;
use reading_text::{IOSTAT_XM, digest, found, iostat_xm_row, reads, told};
use record::imported::Quantity::*;
use record::imported::{PlaceKind, Platform};

/// Published second by second: one reader of 1 MiB direct reads, bound to one processor. r/s, w/s, rMB/s, avgqu-sz, await,
/// %util.
const ONE_READER: [[f64; 6]; 18] = [
    [1.0, 4.0, 0.02, 0.00, 0.60, 0.30],
    [571.0, 3.0, 140.17, 0.71, 1.23, 19.5],
    [1829.0, 7.0, 456.08, 3.08, 1.68, 97.3],
    [1781.0, 7.0, 445.02, 3.45, 1.93, 98.5],
    [2201.0, 4.0, 547.91, 3.12, 1.41, 97.9],
    [821.0, 7.0, 203.08, 2.39, 2.86, 99.2],
    [829.0, 5.0, 206.78, 2.35, 2.78, 99.6],
    [1205.0, 4.0, 298.67, 3.55, 2.97, 98.2],
    [1049.0, 9.0, 261.08, 3.86, 3.67, 98.8],
    [835.0, 4.0, 208.52, 2.50, 2.94, 99.0],
    [890.0, 5.0, 219.69, 2.86, 3.22, 98.7],
    [971.0, 6.0, 242.05, 3.80, 3.80, 98.6],
    [806.0, 4.0, 200.80, 2.98, 3.80, 99.5],
    [732.0, 4.0, 179.48, 2.43, 3.30, 98.7],
    [733.0, 8.0, 182.08, 2.16, 2.91, 98.5],
    [698.0, 7.0, 174.03, 3.26, 4.63, 99.4],
    [153.0, 3.0, 36.14, 0.43, 2.79, 14.4],
    [6.0, 6.0, 0.09, 0.01, 0.42, 0.5],
];

/// The same with two readers at once.
const TWO_READERS: [[f64; 6]; 17] = [
    [5.0, 8.0, 0.08, 0.01, 0.62, 0.7],
    [2500.0, 3.0, 623.12, 4.63, 1.85, 67.6],
    [2855.0, 7.0, 713.05, 7.45, 2.51, 99.8],
    [3321.0, 14.0, 829.08, 7.34, 2.28, 99.6],
    [3719.0, 10.0, 926.70, 6.63, 1.77, 99.8],
    [1105.0, 8.0, 275.55, 4.55, 3.99, 100.0],
    [1674.26, 3.96, 417.87, 5.08, 3.08, 98.91],
    [2111.0, 4.0, 525.17, 6.57, 3.08, 99.9],
    [2598.0, 5.0, 649.03, 7.59, 2.95, 99.9],
    [1709.0, 4.0, 426.08, 5.55, 3.20, 99.8],
    [1602.0, 3.0, 398.16, 5.90, 3.72, 99.8],
    [1963.0, 6.0, 490.05, 7.50, 3.81, 99.9],
    [1885.0, 8.0, 470.08, 6.93, 3.64, 99.6],
    [2135.0, 3.0, 530.94, 5.47, 2.58, 99.8],
    [1614.0, 7.0, 403.27, 5.07, 3.12, 100.1],
    [1280.0, 5.0, 319.06, 5.52, 4.31, 71.9],
    [11.0, 3.0, 0.17, 0.01, 0.36, 0.5],
];

const DD: &str = "$ taskset -c 77 dd if=/dev/dm-71 of=/dev/null iflag=direct bs=1M count=4000\n";

fn table(rows: &[[f64; 6]]) -> String {
    let row = |[r, w, mib, queue, await_ms, busy]: &[f64; 6]| {
        let sectors = mib * 2048.0 / (r + w);
        iostat_xm_row("dm-71", [*r, *w, *mib, 0.03, sectors, *queue, *await_ms, *await_ms, 0.5, 0.5, *busy])
    };
    IOSTAT_XM.to_owned() + &rows.iter().map(row).collect::<String>()
}

#[test]
fn one_reader_is_latency_bound_and_no_processor_is() {
    let text = DD.to_owned() + &table(&ONE_READER);
    let bound = found("PL201", &text);
    assert_eq!(bound.len(), 1, "{bound:#?}");
    assert!(bound[0].title.contains("one outstanding request of 1 MiB, split in four"), "{}", bound[0].title);
    assert!(told(&bound[0]).contains("%util 99 means"), "{bound:#?}");
    let regime = found("PL206", &text);
    assert_eq!(regime.len(), 1, "{regime:#?}");
    assert!(
        regime[0].title.contains("after 3 intervals, about 3 s: 483 MiB/s -> 216 MiB/s"),
        "{}",
        regime[0].title
    );
    for id in ["PL205", "PL207", "PL302"] {
        assert_eq!(found(id, &text), [], "{id}");
    }
}

#[test]
fn two_readers_are_latency_bound_as_well() {
    let text = DD.to_owned() + &table(&TWO_READERS);
    let bound = found("PL201", &text);
    assert!(
        bound[0].title.contains("two outstanding requests of 1 MiB, split in four"),
        "{}",
        bound[0].title
    );
    let regime = found("PL206", &text);
    assert!(
        regime[0].title.contains("after 3 intervals, about 3 s: 823 MiB/s -> 459 MiB/s"),
        "{}",
        regime[0].title
    );
}

#[test]
fn without_the_command_the_split_is_only_a_likeness() {
    let bound = found("PL201", &table(&ONE_READER));
    let title = &bound[0].title;
    assert!(title.contains("about four requests outstanding of 255 KiB"), "{title}");
    assert!(title.contains("as one larger request split in four would give"), "{title}");
    let bound = found("PL201", &table(&TWO_READERS));
    assert!(bound[0].title.contains("as two larger requests, each split in four"), "{}", bound[0].title);
}

#[test]
fn load_that_comes_from_outside_is_not_latency_bound() {
    // More arrives, so more is outstanding and more is done: nobody waits for an answer before asking again.
    let rows = [900.0, 1500.0, 2400.0, 1200.0, 2100.0, 1700.0, 2600.0, 1100.0];
    let text = IOSTAT_XM.to_owned() + &rows.map(|r| reads("sda", r, 8.0, 1.0 + r / 2000.0, 95.0)).concat();
    assert_eq!(found("PL201", &text), []);
    // A device that is mostly idle.
    let text = IOSTAT_XM.to_owned() + &[100.0; 8].map(|r| reads("sda", r, 8.0, 0.5, 5.0)).concat();
    assert_eq!(found("PL201", &text), []);
    // Many outstanding.
    let text = IOSTAT_XM.to_owned() + &[4000.0; 8].map(|r| reads("sda", r, 8.0, 8.0, 100.0)).concat();
    assert_eq!(found("PL201", &text), []);
}

#[test]
fn a_load_that_goes_away_is_no_regime_change() {
    let rows = [900.0, 910.0, 905.0, 890.0, 400.0, 410.0, 405.0, 395.0, 402.0];
    let text = IOSTAT_XM.to_owned() + &rows.map(|r| reads("sda", r, 8.0, 4.0, 90.0)).concat();
    assert_eq!(found("PL206", &text), []);
    // The same fall with the same number outstanding is one.
    let text = IOSTAT_XM.to_owned() + &rows.map(|r| reads("sda", r, 8.0, 3600.0 / r, 100.0)).concat();
    let regime = found("PL206", &text);
    assert_eq!(regime.len(), 1);
    assert!(told(&regime[0]).contains("the load did not go away"));
    // Smaller pieces at the same pace are another load.
    let text = IOSTAT_XM.to_owned()
        + &rows.map(|r| reads("sda", 900.0, if r > 500.0 { 64.0 } else { 28.0 }, 4.0, 100.0)).concat();
    assert_eq!(found("PL206", &text), []);
}

#[test]
fn a_throttle_shows_in_a_throughput_that_stays() {
    let queues = [3.0, 12.0, 5.0, 22.0, 31.0, 8.0, 4.0, 15.0, 28.0, 9.0, 18.0, 6.0, 25.0, 11.0];
    let mut made = Made::new(Platform::Linux);
    for (n, queue) in queues.iter().enumerate() {
        let iops = 3000.0 + f64::from(n as u32 % 3) * 8.0;
        let values = [
            (ReadIops, iops),
            (WriteIops, 0.0),
            (ReadBytesPerS, iops * 8192.0 * (1.0 + 0.1 * f64::from(n as u32 % 2))),
            (Outstanding, *queue),
            (ReadResponseUs, queue / iops * 1e6),
            (BusyPercent, 100.0),
        ];
        made.row(PlaceKind::Device, "nvme1n1", n as f64 + 1.0, &values);
    }
    let held = made.only("PL205");
    assert!(held.title.contains("3008 I/Os per second") && told(&held).contains("gp3"), "{held:#?}");
    // The same queues on a device that scatters.
    let mut made = Made::new(Platform::Linux);
    for (n, queue) in queues.iter().enumerate() {
        let iops = 3000.0 * (1.0 + 0.06 * f64::from((n * 7 % 5) as u32));
        let values = [(ReadIops, iops), (Outstanding, *queue), (ReadResponseUs, queue / iops * 1e6)];
        made.row(PlaceKind::Device, "sda", n as f64 + 1.0, &values);
    }
    assert_eq!(made.found("PL205"), []);
    // A program that paces itself: the queue stays short.
    let mut made = Made::new(Platform::Linux);
    for n in 1..=14 {
        let queue = 0.3 + 0.1 * f64::from(n % 4);
        made.row(PlaceKind::Device, "sda", f64::from(n), &[(ReadIops, 3000.0), (Outstanding, queue)]);
    }
    assert_eq!(made.found("PL205"), []);
}

#[test]
fn a_write_cache_that_fills_is_a_cliff() {
    let write = |n: f64, mib: f64, ms: f64| {
        let queue = n * ms / 1e3;
        iostat_xm_row("sdc", [20.0, n, 0.2, mib, mib * 2048.0 / n, queue, ms, ms * 0.8, ms, 0.1, 100.0])
    };
    let before: String = (0..8).map(|n| write(2000.0 + f64::from(n), 500.0 + f64::from(n), 4.0)).collect();
    let after: String = (0..12).map(|n| write(800.0 - f64::from(n), 200.0 + f64::from(n), 40.0)).collect();
    let text = IOSTAT_XM.to_owned() + &before + &after;
    let cliff = found("PL207", &text);
    assert_eq!(cliff.len(), 1, "{cliff:#?}");
    assert_eq!(cliff[0].severity, Severity::High);
    assert!(told(&cliff[0]).contains("reads follow"), "{cliff:#?}");
    assert_eq!(found("PL206", &text), [], "one finding per cause");
    // Writes that end are no cliff.
    let ended: String = (0..12).map(|n| write(800.0 - f64::from(n), 200.0 + f64::from(n), 2.0)).collect();
    assert_eq!(found("PL207", &(IOSTAT_XM.to_owned() + &before + &ended)), []);
}

#[test]
fn a_size_asked_for_belongs_to_its_device() {
    let digest = digest(&[("case/text", &(DD.to_owned() + &table(&ONE_READER)))]);
    let fact = digest.facts.iter().find(|f| f.name == "asked_bytes").unwrap();
    assert_eq!(
        (digest.place_of(fact.place).name.as_str(), fact.value.number()),
        ("dm-71", Some(1_048_576.0))
    );
    assert!(digest.quotes.values().any(|quoted| quoted == DD.trim()), "{:?}", digest.quotes);
}
