//! A week at one interval a second, in minutes: the disk stays bounded and memory does not grow.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod recording;

use record::recording::Recording;
use recording::*;

const WEEK: u64 = 604_800;

fn resident_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|l| l.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches("kB").trim().parse().unwrap()
}

#[test]
fn a_week_fits_its_room_in_flat_memory() {
    let dir = tempfile::tempdir().unwrap();
    let keep_bytes = 48 * MIB;
    let mut made_up = MadeUp::new(3);
    let mut writer = create(dir.path(), keep_bytes);
    let mut days = [0; 7];
    for second in 0..WEEK {
        keep(&mut writer, made_up.next());
        if second % 600 == 0 {
            assert!(folder_bytes(dir.path()) <= keep_bytes, "{} after {second} s", folder_bytes(dir.path()));
            let day = &mut days[(second / 86_400) as usize];
            *day = resident_kib().max(*day);
        }
    }
    // The first day fills the room and settles the allocator.
    let most = days[2..].iter().max().unwrap();
    assert!(*most <= days[1] + 4 * 1024, "memory grew from day to day: {days:?} KiB");
    let tally = writer.finish(head()).unwrap();
    assert_eq!((tally.intervals, tally.lost_intervals), (WEEK, 0));
    assert!(tally.dropped_segments > 0, "the room was never full: this tests nothing");
    let recording = Recording::open(dir.path()).unwrap();
    let (mut rows, mut last) = (0, -1);
    let read = recording.read(&["interval_number"], |group| {
        rows += group.rows() as u64;
        last = group.int(group.rows() - 1, "interval_number").unwrap();
    });
    assert_eq!(read.complaints, vec![]);
    assert_eq!(last as u64, WEEK - 1);
    eprintln!(
        "a week of 3 devices: {} segments dropped, {} kept with {} MiB and {rows} rows ({:.1} bytes a row), memory by day {days:?} KiB",
        tally.dropped_segments,
        tally.segments,
        tally.bytes >> 20,
        tally.bytes as f64 / rows as f64
    );
}
