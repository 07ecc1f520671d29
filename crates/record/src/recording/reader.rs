//! Reads a recording, finished or not.

use super::journal::Tail;
use super::segment::{self, Segment};
use super::{HEAD_FILE, WHAT};
use crate::run::{Complaint, DOCUMENT_FILE, RunDocument, RunError, Table, read_document};
use std::path::{Path, PathBuf};

/// A recording that was opened for reading. It may still be written: segments that vanish meanwhile are told.
#[derive(Debug)]
pub struct Recording {
    /// The document; of an unfinished recording what was known at its start.
    pub document: RunDocument,
    /// Whether it was ended.
    pub finished: bool,
    dir: PathBuf,
    segments: Vec<Segment>,
}

/// What reading a recording yielded besides its rows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecordingRead {
    /// Rows that were handed out.
    pub rows: u64,
    /// What could not be read.
    pub complaints: Vec<Complaint>,
}

impl Recording {
    /// Whether `dir` holds a recording rather than another kind of run.
    pub fn is_at(dir: &Path) -> bool {
        let head = |name: &str| read_document(&dir.join(name)).is_ok_and(|d| d.what == WHAT);
        if dir.join(DOCUMENT_FILE).exists() { head(DOCUMENT_FILE) } else { head(HEAD_FILE) }
    }

    /// Opens the recording in `dir`.
    ///
    /// # Errors
    /// The folder is no recording, or another version wrote it.
    pub fn open(dir: &Path) -> Result<Self, RunError> {
        let finished = dir.join(DOCUMENT_FILE).exists();
        let name = if finished { DOCUMENT_FILE } else { HEAD_FILE };
        if !dir.join(name).exists() {
            return Err(RunError::NotARun { dir: dir.to_owned() });
        }
        let document = read_document(&dir.join(name))?;
        Ok(Self { document, finished, dir: dir.to_owned(), segments: segment::list(dir)? })
    }

    /// Segments and their length in bytes.
    pub fn size(&self) -> (usize, u64) {
        (self.segments.len(), self.segments.iter().map(|s| s.bytes).sum())
    }

    /// Segments that were dropped to make room before the oldest one that is left.
    pub fn dropped_segments(&self) -> u64 {
        self.segments.first().map_or(0, |s| s.number.saturating_sub(1))
    }

    /// Hands out the rows in the order of time, some thousands at once, with the named columns (all when none is
    /// named). Damaged parts become complaints; the rest is handed out.
    pub fn read(&self, columns: &[&str], mut each: impl FnMut(&Table)) -> RecordingRead {
        let mut read = RecordingRead::default();
        for segment in &self.segments {
            let rows = &mut read.rows;
            let done = segment::read(&self.dir, segment, columns, |group| {
                *rows += group.rows() as u64;
                each(group);
            });
            let file = segment.path(&self.dir).file_name().map(|n| n.to_string_lossy().into_owned());
            let file = file.unwrap_or_default();
            match done {
                Ok(Tail::Whole) => {}
                Ok(Tail::Torn { whole_bytes, file_bytes }) => read.complaints.push(Complaint {
                    file,
                    line: None,
                    expected: format!("one whole interval after byte {whole_bytes}"),
                    found: format!("{} bytes of a torn one", file_bytes - whole_bytes),
                }),
                Err(error) => read.complaints.push(Complaint {
                    file,
                    line: None,
                    expected: "a segment of the recording".to_owned(),
                    found: error.to_string(),
                }),
            }
        }
        read
    }
}
