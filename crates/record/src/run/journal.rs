//! The journal of an unfinished run: one JSON line per step, as it was measured.

use super::JOURNAL_FILE;
use super::document::RunDocument;
use super::error::{Complaint, RunError};
use crate::step::Step;
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{BufRead, BufReader, Seek, Write};
use std::path::{Path, PathBuf};

/// Schema in the first line.
pub(crate) const JOURNAL_SCHEMA: &str = "plimsoll.journal/1";

/// A line to write.
#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Line<'a> {
    /// First line.
    Schema(&'a str),
    /// What is known of the run before it ends; the last one counts.
    Document(&'a RunDocument),
    /// A measured step.
    Step(&'a Step),
}

/// A line that was read.
#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
enum LineRead {
    Schema(String),
    Document(Box<RunDocument>),
    Step(Box<Step>),
}

/// The open journal.
pub(crate) struct Journal {
    file: File,
    path: PathBuf,
    /// Length up to the last whole line.
    whole_bytes: u64,
}

impl Journal {
    /// Starts the journal of a run in `dir`.
    pub fn create(dir: &Path) -> Result<Self, RunError> {
        let path = dir.join(JOURNAL_FILE);
        let file = File::create(&path).map_err(|cause| RunError::System {
            doing: "creating",
            path: path.clone(),
            cause,
        })?;
        let mut journal = Self { file, path, whole_bytes: 0 };
        journal.write(&Line::Schema(JOURNAL_SCHEMA))?;
        Ok(journal)
    }

    /// Writes one line in one call. When that fails (a full disk), the torn part is cut off again, so that a later
    /// line does not run into it.
    pub fn write(&mut self, line: &Line<'_>) -> Result<(), RunError> {
        let mut bytes = serde_json::to_vec(line).map_err(|cause| RunError::Json {
            doing: "writing",
            path: self.path.clone(),
            cause,
        })?;
        bytes.push(b'\n');
        if let Err(cause) = self.file.write_all(&bytes) {
            // Cutting frees space and so works on a full disk; where it fails too, the reader skips the torn line.
            let cut = self.file.set_len(self.whole_bytes);
            let _ = cut.and_then(|()| self.file.seek(std::io::SeekFrom::Start(self.whole_bytes)));
            return Err(RunError::System { doing: "writing", path: self.path.clone(), cause });
        }
        self.whole_bytes += bytes.len() as u64;
        Ok(())
    }

    /// Removes the journal: the run is finished.
    pub fn remove(self) -> Result<(), RunError> {
        std::fs::remove_file(&self.path).map_err(|cause| RunError::System {
            doing: "removing",
            path: self.path,
            cause,
        })
    }
}

/// What a journal held.
#[derive(Default)]
pub(crate) struct JournalRead {
    pub document: Option<RunDocument>,
    pub steps: Vec<Step>,
    pub complaints: Vec<Complaint>,
}

/// Whether the first line says that this is a journal of ours.
pub(crate) fn is_journal(path: &Path) -> bool {
    let Ok(file) = File::open(path) else { return false };
    let mut first = String::new();
    let read = BufReader::new(std::io::Read::take(file, 4096)).read_line(&mut first);
    read.is_ok()
        && matches!(serde_json::from_str(&first), Ok(LineRead::Schema(s)) if s.starts_with("plimsoll.journal/"))
}

/// Reads a journal; lines that cannot be read become complaints, all others are kept.
pub(crate) fn read_journal(path: &Path) -> Result<JournalRead, RunError> {
    let system = |doing| move |cause| RunError::System { doing, path: path.to_owned(), cause };
    let file = File::open(path).map_err(system("opening"))?;
    let mut read = JournalRead::default();
    for (index, line) in BufReader::new(file).split(b'\n').enumerate() {
        let line = line.map_err(system("reading"))?;
        match serde_json::from_slice(&line) {
            Ok(LineRead::Step(step)) => read.steps.push(*step),
            Ok(LineRead::Document(document)) => read.document = Some(*document),
            Ok(LineRead::Schema(schema)) if schema == JOURNAL_SCHEMA => {}
            Ok(LineRead::Schema(found)) => {
                let expected = JOURNAL_SCHEMA.to_owned();
                return Err(RunError::OtherSchema { path: path.to_owned(), expected, found });
            }
            Err(error) => read.complaints.push(torn(index, line.len(), &error)),
        }
    }
    Ok(read)
}

fn torn(index: usize, length_bytes: usize, error: &serde_json::Error) -> Complaint {
    let found = if error.is_eof() {
        format!("a line torn after {length_bytes} bytes")
    } else {
        format!("{error} in {length_bytes} bytes")
    };
    Complaint {
        file: JOURNAL_FILE.to_owned(),
        line: Some(index as u64 + 1),
        expected: "one measured step as JSON".to_owned(),
        found,
    }
}
