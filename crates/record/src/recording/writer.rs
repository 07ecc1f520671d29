//! Writes a recording.

use super::frame::encode;
use super::journal::{Journal, system};
use super::room::{Room, SEGMENT_S_MAX, free_bytes};
use super::row::row_of;
use super::segment::{self, Segment, TABLE_OVERHEAD_BYTES, journal_path};
use super::{HEAD_FILE, WHAT};
use crate::run::{Cell, DOCUMENT_FILE, PAGE_FILE, RunDocument, RunError, TableFile, write_atomically};
use crate::sample::{DeviceSample, HostSample};
use serde::{Deserialize, Serialize};
use std::fs::{self, File};
use std::path::{Path, PathBuf};

/// What a recording holds and what it had to give up. `dropped_*` and `lost_intervals` count from its first start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally {
    /// Intervals that were written, dropped ones included.
    pub intervals: u64,
    /// Intervals that could not be written: the disk was full and nothing was left to drop.
    pub lost_intervals: u64,
    /// Segments dropped to make room.
    pub dropped_segments: u64,
    /// Segments in the folder.
    pub segments: u64,
    /// Their length.
    pub bytes: u64,
}

/// How an interval fared.
#[derive(Debug)]
pub enum Kept {
    /// It was written; as many old segments were dropped for it.
    Yes {
        /// Segments dropped.
        dropped: u64,
    },
    /// It was lost.
    Lost(RunError),
}

/// An open recording. Dropping it without [`RecordingWriter::finish`] leaves an unfinished, readable recording.
#[derive(Debug)]
pub struct RecordingWriter {
    dir: PathBuf,
    room: Room,
    head: RunDocument,
    /// Held as long as this process writes.
    _lock: File,
    /// Oldest first, without the one being written.
    segments: Vec<Segment>,
    journal: Option<Journal>,
    number: u64,
    /// End of the first interval of the segment being written.
    segment_began_s: Option<f64>,
    tally: Tally,
    resumed: bool,
    frame: Vec<u8>,
}

impl RecordingWriter {
    /// Opens `dir` for a recording, making it and its parents when absent; one that is there is gone on with. `head`
    /// says what is known at the start; of one that is gone on with, the start stays.
    ///
    /// # Errors
    /// The folder holds something else ([`RunError::NotOurs`]), another process records there ([`RunError::InUse`]), the
    /// file system has no room ([`RunError::NoRoom`]), or it cannot be written.
    pub fn create(dir: &Path, room: Room, head: RunDocument) -> Result<Self, RunError> {
        fs::create_dir_all(dir).map_err(system("creating", dir))?;
        let lock = lock(dir)?;
        let before = earlier(dir)?;
        if before.is_none() {
            only_ours(dir)?;
        }
        segment::tidy(dir)?;
        let resumed = before.is_some();
        let (mut head, mut tally) = (head, Tally::default());
        if let Some(before) = before {
            head.started_at = before.started_at;
            tally = serde_json::from_value(before.answer["tally"].clone()).unwrap_or_default();
        }
        let segments = segment::list(dir)?;
        // What was written after the head was noted last stands in the names and rows of the segments.
        let newest = segments.last().map_or(0, |s| s.number);
        tally.dropped_segments =
            segments.first().map_or(newest, |s| s.number - 1).max(tally.dropped_segments);
        let mut writer = Self {
            dir: dir.to_owned(),
            room,
            head,
            _lock: lock,
            segments,
            journal: None,
            number: newest,
            segment_began_s: None,
            tally,
            resumed,
            frame: Vec::new(),
        };
        writer.has_room()?;
        writer.tally.intervals = writer.tally.intervals.max(writer.next_interval()?);
        writer.note_head()?;
        remove(&dir.join(DOCUMENT_FILE))?;
        writer.close_all();
        writer.check_closed();
        Ok(writer)
    }

    /// Whether a recording was there already.
    pub fn resumed(&self) -> bool {
        self.resumed
    }

    /// The folder.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// What it holds.
    pub fn tally(&self) -> Tally {
        let open = self.journal.as_ref();
        Tally {
            segments: self.segments.len() as u64 + u64::from(open.is_some()),
            bytes: self.used_bytes(),
            ..self.tally
        }
    }

    /// Writes one interval: the devices that `wanted` chooses. After this returned [`Kept::Yes`], a crash does not lose
    /// it. An interval without a device takes no room.
    pub fn append(&mut self, sample: &HostSample, wanted: impl Fn(&DeviceSample) -> bool) -> Kept {
        let interval = self.tally.intervals + self.tally.lost_intervals;
        let rows: Vec<Vec<Cell>> =
            sample.devices.iter().filter(|d| wanted(d)).map(|d| row_of(interval, sample, d)).collect();
        let dropped_before = self.tally.dropped_segments;
        if !rows.is_empty() {
            let mut frame = std::mem::take(&mut self.frame);
            frame.clear();
            encode(rows.iter(), &mut frame);
            let written = self.write(&frame, sample.at_s);
            self.frame = frame;
            if let Err(error) = written {
                self.tally.lost_intervals += 1;
                return Kept::Lost(error);
            }
        }
        self.tally.intervals += 1;
        Kept::Yes { dropped: self.tally.dropped_segments - dropped_before }
    }

    /// Closes the last segment and writes `run.json`. `document` says what is known at the end; start, counts and tables
    /// are filled in.
    pub fn finish(mut self, document: RunDocument) -> Result<Tally, RunError> {
        self.end_segment();
        self.close_all();
        let tally = self.tally();
        let tables = self.tables();
        let mut document = RunDocument { started_at: self.head.started_at.clone(), tables, ..document };
        document.what = WHAT.to_owned();
        document.answer = serde_json::json!({ "tally": tally });
        let written = write_document(&self.dir, DOCUMENT_FILE, &document);
        // On a full disk history makes room for the end; an unfinished recording is readable too, so once is enough.
        if written.is_err() && self.drop_oldest() {
            document.tables = self.tables();
            document.answer = serde_json::json!({ "tally": self.tally() });
            write_document(&self.dir, DOCUMENT_FILE, &document)?;
        } else {
            written?;
        }
        remove(&self.dir.join(HEAD_FILE))?;
        Ok(self.tally())
    }

    fn tables(&self) -> Vec<TableFile> {
        self.segments.iter().filter_map(|s| s.written.clone()).collect()
    }

    fn write(&mut self, frame: &[u8], at_s: f64) -> Result<(), RunError> {
        let full = self.journal.as_ref().is_some_and(|j| j.bytes() >= self.room.segment_bytes());
        let old = self.segment_began_s.is_some_and(|began| !(0.0..SEGMENT_S_MAX).contains(&(at_s - began)));
        if full || old {
            self.end_segment();
            self.close_all();
        }
        loop {
            let tried = self.make_room(frame.len() as u64).and_then(|()| self.append_frame(frame));
            match tried {
                Ok(()) => break,
                Err(RunError::System { cause, .. }) if is_full(&cause) && self.drop_oldest() => {}
                Err(error) => return Err(error),
            }
        }
        self.segment_began_s.get_or_insert(at_s);
        Ok(())
    }

    fn append_frame(&mut self, frame: &[u8]) -> Result<(), RunError> {
        if self.journal.is_none() {
            self.number += 1;
            let made = Journal::create(journal_path(&self.dir, self.number));
            self.journal = Some(made.inspect_err(|_| self.number -= 1)?);
        }
        let Some(journal) = &mut self.journal else { return Ok(()) };
        let path = journal.path().to_owned();
        journal.append(frame).map_err(system("writing", &path))
    }

    /// Drops the oldest segments until `more` bytes fit into the room and onto the file system.
    fn make_room(&mut self, more: u64) -> Result<(), RunError> {
        while self.used_bytes() + more > self.room.segments_bytes() {
            if !self.drop_oldest() {
                return self.no_room(self.room.segments_bytes().saturating_sub(self.used_bytes()));
            }
        }
        self.keep_free(more)
    }

    fn keep_free(&mut self, more: u64) -> Result<(), RunError> {
        while let Some(free) = free_bytes(&self.dir) {
            if free >= self.room.leave_free_bytes + more {
                break;
            }
            if !self.drop_oldest() {
                return self.no_room(free);
            }
        }
        Ok(())
    }

    /// At the start nothing is dropped to make room on a file system that others filled.
    fn has_room(&self) -> Result<(), RunError> {
        match free_bytes(&self.dir) {
            Some(free) if free < self.room.leave_free_bytes && self.segments.is_empty() => self.no_room(free),
            _ => Ok(()),
        }
    }

    fn no_room(&self, free_bytes: u64) -> Result<(), RunError> {
        let (dir, leave_free_bytes) = (self.dir.clone(), self.room.leave_free_bytes);
        Err(RunError::NoRoom { dir, free_bytes, leave_free_bytes })
    }

    fn used_bytes(&self) -> u64 {
        self.segments.iter().map(|s| s.bytes).sum::<u64>() + self.journal.as_ref().map_or(0, Journal::bytes)
    }

    /// Drops the oldest closed part; false when only the segment being written is left.
    fn drop_oldest(&mut self) -> bool {
        if self.segments.is_empty() {
            return false;
        }
        let oldest = self.segments.remove(0);
        // What cannot be removed is not ours to count any more, and the next one is tried.
        let _ = fs::remove_file(oldest.path(&self.dir));
        self.tally.dropped_segments += 1;
        true
    }

    /// Ends the segment being written; it stays a journal until [`Self::close_all`].
    fn end_segment(&mut self) {
        self.segment_began_s = None;
        if let Some(journal) = self.journal.take() {
            let number = self.number;
            self.segments.push(Segment { number, closed: false, bytes: journal.bytes(), written: None });
        }
    }

    /// Turns ended journals into tables. Where that fails (a full disk) they stay journals, which read as well, and are
    /// tried again with the next segment.
    fn close_all(&mut self) {
        for number in self.segments.iter().filter(|s| !s.closed).map(|s| s.number).collect::<Vec<_>>() {
            let Some(bytes) = self.segments.iter().find(|s| s.number == number).map(|s| s.bytes) else {
                continue;
            };
            // Journal and table stand side by side for a moment; old segments make room, the journal itself must not go.
            let need = bytes + TABLE_OVERHEAD_BYTES;
            while self.used_bytes() + need > self.room.segments_bytes()
                && self.segments.first().is_some_and(|s| s.number < number)
                && self.drop_oldest()
            {}
            let Ok(closed) = segment::close(&self.dir, number) else { continue };
            let place = self.segments.iter().position(|s| s.number == number);
            match (place, closed) {
                (Some(place), Some(closed)) => self.segments[place] = closed,
                (Some(place), None) => {
                    self.segments.remove(place);
                }
                (None, _) => {}
            }
        }
    }

    /// Length and checksum of tables that an earlier process wrote, for the list in `run.json`.
    fn check_closed(&mut self) {
        for segment in self.segments.iter_mut().filter(|s| s.closed && s.written.is_none()) {
            segment.written = segment::summary(&self.dir, segment.number).ok();
        }
    }

    /// Number of the first interval after those in the segments.
    fn next_interval(&self) -> Result<u64, RunError> {
        let mut last = None;
        for segment in self.segments.iter().rev() {
            // A damaged segment says nothing; the one before it does.
            let _ = segment::read(&self.dir, segment, &["interval_number"], |group| {
                last = group.rows().checked_sub(1).and_then(|row| group.int(row, "interval_number")).or(last);
            });
            if last.is_some() {
                break;
            }
        }
        Ok(last.map_or(0, |l| (l as u64 + 1).saturating_sub(self.tally.lost_intervals)))
    }

    fn note_head(&mut self) -> Result<(), RunError> {
        self.head.what = WHAT.to_owned();
        self.head.answer = serde_json::json!({ "tally": self.tally });
        write_document(&self.dir, HEAD_FILE, &self.head)
    }
}

fn is_full(cause: &std::io::Error) -> bool {
    matches!(cause.kind(), std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded)
}

fn lock(dir: &Path) -> Result<File, RunError> {
    let file = File::open(dir).map_err(system("opening", dir))?;
    match rustix::fs::flock(&file, rustix::fs::FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(file),
        Err(rustix::io::Errno::WOULDBLOCK) => Err(RunError::InUse { dir: dir.to_owned() }),
        // A file system without locks: the command's user has to know.
        Err(_) => Ok(file),
    }
}

/// The document of a recording that is there already.
fn earlier(dir: &Path) -> Result<Option<RunDocument>, RunError> {
    for name in [DOCUMENT_FILE, HEAD_FILE] {
        let path = dir.join(name);
        if !path.exists() {
            continue;
        }
        let not_ours = || RunError::NotOurs { dir: dir.to_owned(), found: name.to_owned() };
        let document = crate::run::read_document(&path).map_err(|_| not_ours())?;
        return if document.what == WHAT { Ok(Some(document)) } else { Err(not_ours()) };
    }
    Ok(None)
}

/// Fails when a folder without a document holds anything but segments.
fn only_ours(dir: &Path) -> Result<(), RunError> {
    let names = fs::read_dir(dir).map_err(system("listing", dir))?;
    let names = names.filter_map(Result::ok).map(|e| e.file_name().to_string_lossy().into_owned());
    match names.filter(|n| !segment::is_segment(n) && n != PAGE_FILE && !n.ends_with(".partial")).min() {
        Some(found) => Err(RunError::NotOurs { dir: dir.to_owned(), found }),
        None => Ok(()),
    }
}

fn write_document(dir: &Path, name: &'static str, document: &RunDocument) -> Result<(), RunError> {
    let path = dir.join(name);
    let mut bytes = serde_json::to_vec_pretty(document).map_err(|cause| RunError::Json {
        doing: "writing",
        path,
        cause,
    })?;
    bytes.push(b'\n');
    write_atomically(dir, name, &bytes)
}

fn remove(path: &Path) -> Result<(), RunError> {
    match fs::remove_file(path) {
        Err(cause) if cause.kind() != std::io::ErrorKind::NotFound => Err(system("removing", path)(cause)),
        _ => Ok(()),
    }
}
