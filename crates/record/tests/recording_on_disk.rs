//! A recording on disk: bounded, whole after a crash, gone on with, and readable.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod recording;

use proptest::prelude::*;
use record::recording::{Kept, Recording, RecordingWriter, Room};
use record::run::{RunError, RunWriter};
use recording::*;
use std::fs;
use std::path::{Path, PathBuf};

/// Numbers of the intervals in order, each once.
fn intervals(dir: &Path) -> Vec<i64> {
    let mut found = Vec::new();
    let read = Recording::open(dir).unwrap().read(&["interval_number"], |group| {
        for row in 0..group.rows() {
            let number = group.int(row, "interval_number").unwrap();
            if found.last() != Some(&number) {
                found.push(number);
            }
        }
    });
    assert!(read.rows >= found.len() as u64);
    found
}

fn journal(dir: &Path) -> PathBuf {
    let names = fs::read_dir(dir).unwrap().map(|e| e.unwrap().path());
    names.filter(|p| p.extension().is_some_and(|e| e == "journal")).max().unwrap()
}

#[test]
fn what_was_recorded_reads_back() {
    let dir = tempfile::tempdir().unwrap();
    let mut made_up = MadeUp::new(3);
    let mut writer = create(dir.path(), 64 * MIB);
    let mut expected = Vec::new();
    for _ in 0..10 {
        keep(&mut writer, made_up.next());
        let sums =
            made_up.sample.devices.iter().map(|d| (d.facts.name.clone(), d.read.count as i64, d.iops()));
        expected.extend(sums);
    }
    let unfinished = Recording::open(dir.path()).unwrap();
    assert!(!unfinished.finished && Recording::is_at(dir.path()));
    let seen = |recording: &Recording| {
        let mut seen = Vec::new();
        let read = recording.read(&["device", "read_ios", "iops"], |group| {
            seen.extend((0..group.rows()).map(|row| {
                (
                    group.text(row, "device").unwrap().to_owned(),
                    group.int(row, "read_ios").unwrap(),
                    group.float(row, "iops"),
                )
            }));
        });
        assert_eq!(read.complaints, vec![]);
        seen
    };
    assert_eq!(seen(&unfinished), expected);
    let tally = writer.finish(head()).unwrap();
    assert_eq!(
        (tally.intervals, tally.lost_intervals, tally.dropped_segments, tally.segments),
        (10, 0, 0, 1)
    );
    let finished = Recording::open(dir.path()).unwrap();
    assert!(finished.finished);
    assert_eq!(seen(&finished), expected);
    assert_eq!(finished.document.tables[0].rows, 30);
    let bytes = fs::read(dir.path().join(&finished.document.tables[0].file)).unwrap();
    assert_eq!(finished.document.tables[0].crc32, crc32fast::hash(&bytes));
    assert_eq!(finished.document.tables[0].size_bytes, bytes.len() as u64);
}

#[test]
fn the_folder_never_outgrows_its_room_and_the_oldest_goes_first() {
    let dir = tempfile::tempdir().unwrap();
    let mut made_up = MadeUp::new(4);
    let mut writer = create(dir.path(), 2 * MIB);
    let mut dropped = 0;
    for _ in 0..12_000 {
        dropped += keep(&mut writer, made_up.next());
        assert!(folder_bytes(dir.path()) <= 2 * MIB);
    }
    assert!(dropped > 3, "{dropped}");
    let tally = writer.tally();
    assert_eq!((tally.dropped_segments, tally.lost_intervals), (dropped, 0));
    assert!(tally.bytes > MIB, "more than half of the room is used: {}", tally.bytes);
    let left = intervals(dir.path());
    let first = left[0];
    assert!(first > 0);
    assert_eq!(left, (first..12_000).collect::<Vec<_>>(), "what is left has no gap");
    assert_eq!(Recording::open(dir.path()).unwrap().dropped_segments(), dropped);
    writer.finish(head()).unwrap();
    assert!(folder_bytes(dir.path()) <= 2 * MIB);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn a_tail_torn_anywhere_costs_only_what_was_cut(count in 1usize..6, cut in 0.0f64..1.0) {
        let dir = tempfile::tempdir().unwrap();
        let mut made_up = MadeUp::new(2);
        let mut writer = create(dir.path(), 64 * MIB);
        let mut ends = vec![8];
        for _ in 0..count {
            keep(&mut writer, made_up.next());
            ends.push(fs::metadata(journal(dir.path())).unwrap().len());
        }
        drop(writer);
        let length = (cut * *ends.last().unwrap() as f64) as u64;
        fs::OpenOptions::new().write(true).open(journal(dir.path())).unwrap().set_len(length).unwrap();
        let whole = ends.iter().filter(|end| **end <= length).count().saturating_sub(1);
        prop_assert_eq!(intervals(dir.path()), (0..whole as i64).collect::<Vec<_>>());
        let read = Recording::open(dir.path()).unwrap().read(&[], |_| {});
        prop_assert_eq!(read.complaints.len(), usize::from(!ends.contains(&length)));
        // It is gone on with after the last whole interval.
        let mut writer = create(dir.path(), 64 * MIB);
        prop_assert!(writer.resumed());
        keep(&mut writer, made_up.next());
        writer.finish(head()).unwrap();
        prop_assert_eq!(intervals(dir.path()), (0..=whole as i64).collect::<Vec<_>>());
    }

    #[test]
    fn damage_anywhere_is_a_complaint_and_never_a_panic(
        closed: bool,
        at in 0.0f64..1.0,
        damage in prop::collection::vec(any::<u8>(), 1..12),
    ) {
        let dir = tempfile::tempdir().unwrap();
        let mut made_up = MadeUp::new(2);
        let mut writer = create(dir.path(), 64 * MIB);
        (0..4).for_each(|_| { keep(&mut writer, made_up.next()); });
        let path = if closed {
            writer.finish(head()).unwrap();
            dir.path().join("samples-000001.parquet")
        } else {
            drop(writer);
            journal(dir.path())
        };
        let whole = fs::read(&path).unwrap();
        let mut bytes = whole.clone();
        let start = ((bytes.len() - damage.len()) as f64 * at) as usize;
        bytes[start..start + damage.len()].copy_from_slice(&damage);
        fs::write(&path, &bytes).unwrap();
        let read = Recording::open(dir.path()).unwrap().read(&[], |_| {});
        // The journal has a checksum over everything; Parquet has none over its pages, run.json holds it.
        prop_assert!(closed || read.complaints.is_empty() == (bytes == whole));
        prop_assert!(read.rows <= 8);
    }
}

#[test]
fn a_crash_while_a_segment_is_closed_costs_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let mut made_up = MadeUp::new(2);
    let mut writer = create(dir.path(), 64 * MIB);
    (0..5).for_each(|_| {
        keep(&mut writer, made_up.next());
    });
    let open = fs::read(journal(dir.path())).unwrap();
    writer.finish(head()).unwrap();
    // As after a crash between the rename of the table and the removal of the journal, and one in the middle of a table.
    fs::write(dir.path().join("samples-000001.journal"), &open).unwrap();
    fs::write(dir.path().join("samples-000002.parquet.partial"), b"PAR1").unwrap();
    assert_eq!(intervals(dir.path()), [0, 1, 2, 3, 4]);
    let mut writer = create(dir.path(), 64 * MIB);
    keep(&mut writer, made_up.next());
    writer.finish(head()).unwrap();
    assert_eq!(intervals(dir.path()), [0, 1, 2, 3, 4, 5]);
    let names: Vec<_> = fs::read_dir(dir.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert!(
        names
            .iter()
            .all(|n| !n.to_string_lossy().ends_with("journal") && !n.to_string_lossy().ends_with("partial"))
    );
    assert_eq!(Recording::open(dir.path()).unwrap().document.tables.len(), 2);
}

#[test]
fn a_recording_is_gone_on_with_where_it_ended() {
    let dir = tempfile::tempdir().unwrap();
    let mut made_up = MadeUp::new(1);
    for _ in 0..3 {
        let mut writer = create(dir.path(), 64 * MIB);
        (0..4).for_each(|_| {
            keep(&mut writer, made_up.next());
        });
        writer.finish(head()).unwrap();
    }
    let recording = Recording::open(dir.path()).unwrap();
    assert_eq!(intervals(dir.path()), (0..12).collect::<Vec<_>>());
    assert_eq!(recording.document.answer["tally"]["intervals"], 12);
    assert_eq!(recording.size().0, 3);
}

#[test]
fn two_cannot_record_into_one_folder() {
    let dir = tempfile::tempdir().unwrap();
    let first = create(dir.path(), 64 * MIB);
    let second = RecordingWriter::create(dir.path(), room(64 * MIB), head());
    assert!(matches!(second, Err(RunError::InUse { .. })));
    drop(first);
    create(dir.path(), 64 * MIB);
}

#[test]
fn other_folders_are_refused_and_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("ORACLE.dbf"), "mine").unwrap();
    let refused = RecordingWriter::create(dir.path(), room(64 * MIB), head());
    assert!(matches!(refused, Err(RunError::NotOurs { found, .. }) if found == "ORACLE.dbf"));
    let probe = tempfile::tempdir().unwrap();
    RunWriter::create(probe.path())
        .unwrap()
        .finish(&record::run::RunDocument::new("probe", "0", "now"))
        .unwrap();
    let refused = RecordingWriter::create(probe.path(), room(64 * MIB), head());
    assert!(matches!(refused, Err(RunError::NotOurs { found, .. }) if found == "run.json"));
    assert!(!Recording::is_at(probe.path()) && probe.path().join("run.json").exists());
}

/// A file system of one size, when this process may mount one.
struct SmallDisk(tempfile::TempDir);

impl SmallDisk {
    fn mount(size: &str) -> Option<Self> {
        let dir = tempfile::tempdir().ok()?;
        let status = std::process::Command::new("mount")
            .args(["-t", "tmpfs", "-o", &format!("size={size}"), "tmpfs"])
            .arg(dir.path())
            .stderr(std::process::Stdio::null())
            .status();
        status.is_ok_and(|s| s.success()).then_some(Self(dir))
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = std::process::Command::new("umount").arg(self.0.path()).status();
    }
}

#[test]
fn a_full_disk_costs_history_first_and_intervals_last() {
    let Some(disk) = SmallDisk::mount("4m") else {
        eprintln!(
            "skipped: a_full_disk_costs_history_first_and_intervals_last (mounting a tmpfs needs root)"
        );
        return;
    };
    let dir = disk.0.path().join("run");
    let mut made_up = MadeUp::new(4);
    // More room than the disk has: the disk itself is the bound.
    let mut writer = create(&dir, 8 * MIB);
    for _ in 0..10_000 {
        keep(&mut writer, made_up.next());
    }
    assert!(writer.tally().dropped_segments > 0);
    assert_eq!(writer.tally().lost_intervals, 0);
    // Somebody else takes all that is left: the recording gives up its history, then intervals, and says each.
    let ballast = disk.0.path().join("ballast");
    let mut taken = fs::File::create(&ballast).unwrap();
    while std::io::Write::write(&mut taken, &[0; 4096]).is_ok_and(|n| n > 0) {}
    let mut lost = Vec::new();
    for number in 10_000..14_000 {
        while std::io::Write::write(&mut taken, &[0; 4096]).is_ok_and(|n| n > 0) {}
        if let Kept::Lost(error) = writer.append(made_up.next(), all) {
            let words = error.to_string();
            assert!(words.contains("No space left on device") || words.starts_with("no room in"), "{words}");
            lost.push(number);
        }
    }
    assert!(!lost.is_empty());
    assert_eq!(writer.tally().lost_intervals, lost.len() as u64);
    let left = intervals(&dir);
    let expected: Vec<i64> = (left[0]..14_000).filter(|n| !lost.contains(n)).collect();
    assert_eq!(left, expected, "what is left has no gaps but those that were told");
    // There is room again: it goes on.
    fs::remove_file(&ballast).unwrap();
    drop(taken);
    (0..10).for_each(|_| {
        keep(&mut writer, made_up.next());
    });
    writer.finish(head()).unwrap();
    let recording = Recording::open(&dir).unwrap();
    assert!(recording.finished);
    assert_eq!(intervals(&dir).last(), Some(&14_009));
    assert_eq!(recording.read(&[], |_| {}).complaints, vec![]);
}

#[test]
fn what_others_need_stays_free() {
    let Some(disk) = SmallDisk::mount("4m") else {
        eprintln!("skipped: what_others_need_stays_free (mounting a tmpfs needs root)");
        return;
    };
    let free = || {
        let told = rustix::fs::statvfs(disk.0.path()).unwrap();
        told.f_bavail * told.f_frsize
    };
    let dir = disk.0.path().join("run");
    let room = Room { keep_bytes: 64 * MIB, leave_free_bytes: 2 * MIB };
    let mut made_up = MadeUp::new(4);
    let mut writer = RecordingWriter::create(&dir, room, head()).unwrap();
    let mut lost = 0;
    for _ in 0..6000 {
        lost += u64::from(matches!(writer.append(made_up.next(), all), Kept::Lost(RunError::NoRoom { .. })));
        // A table may stand beside its journal for a moment; afterwards the promise holds again to a page.
        assert!(free() + 8192 >= 2 * MIB, "{}", free());
    }
    assert_eq!(writer.tally().lost_intervals, lost);
    drop(writer);
    fs::remove_dir_all(&dir).unwrap();
    fs::write(disk.0.path().join("ballast"), vec![0; 3 * MIB as usize]).unwrap();
    assert!(matches!(RecordingWriter::create(&dir, room, head()), Err(RunError::NoRoom { .. })));
}
