//! Reads a run, finished or not.

use super::document::{RUN_SCHEMA, RunDocument, TableFile};
use super::error::{Complaint, RunError};
use super::journal::read_journal;
use super::rows::{slice_of, step_of};
use super::schema::{Columns, SAMPLES, STEPS};
use super::table::{Table, read_table, verify};
use super::{DOCUMENT_FILE, JOURNAL_FILE};
use crate::step::{Slice, Step};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// What a run folder held.
#[derive(Debug)]
pub struct RunRead {
    /// The document; for an unfinished run what was noted before it broke off, if anything.
    pub document: Option<RunDocument>,
    /// Whether the run was finished.
    pub finished: bool,
    /// All steps that could be read, in the order they were measured.
    pub steps: Vec<Step>,
    /// What could not be read.
    pub complaints: Vec<Complaint>,
}

/// Reads the run in `dir`. Damaged parts become complaints; the good part is kept.
///
/// # Errors
/// The folder is no run, its document cannot be read, or another version wrote it.
pub fn read_run(dir: &Path) -> Result<RunRead, RunError> {
    let document = dir.join(DOCUMENT_FILE);
    let journal = dir.join(JOURNAL_FILE);
    if document.exists() {
        read_finished(dir, read_document(&document)?)
    } else if journal.exists() {
        let read = read_journal(&journal)?;
        let (document, steps, complaints) = (read.document, read.steps, read.complaints);
        Ok(RunRead { document, finished: false, steps, complaints })
    } else {
        Err(RunError::NotARun { dir: dir.to_owned() })
    }
}

/// Reads a document of the version this program writes.
pub(crate) fn read_document(path: &Path) -> Result<RunDocument, RunError> {
    let bytes = fs::read(path).map_err(|cause| RunError::System {
        doing: "reading",
        path: path.to_owned(),
        cause,
    })?;
    let json = |cause| RunError::Json { doing: "reading", path: path.to_owned(), cause };
    let value: serde_json::Value = serde_json::from_slice(&bytes).map_err(json)?;
    // The schema comes first: a newer document may well not fit today's fields, and that is not the reader's fault.
    let found = value.get("schema").and_then(|s| s.as_str()).unwrap_or_default();
    if found != RUN_SCHEMA {
        let (expected, found) = (RUN_SCHEMA.to_owned(), found.to_owned());
        return Err(RunError::OtherSchema { path: path.to_owned(), expected, found });
    }
    serde_json::from_value(value).map_err(json)
}

fn read_finished(dir: &Path, document: RunDocument) -> Result<RunRead, RunError> {
    let mut complaints = Vec::new();
    // What was imported has no steps; its tables have columns of their own (`crate::imported`).
    if document.what == "read" {
        return Ok(RunRead { document: Some(document), finished: true, steps: Vec::new(), complaints });
    }
    let mut table = |columns: &Columns| match whole_table(dir, columns, &document.tables) {
        Ok(table) => Some(table),
        Err(error) => {
            complaints.push(unread(columns, &error));
            None
        }
    };
    let (samples, steps) = (table(&SAMPLES), table(&STEPS));
    let mut slices = samples.map(|t| slices_by_step(&t, &mut complaints)).unwrap_or_default();
    let mut kept = Vec::new();
    if let Some(steps) = steps {
        for row in 0..steps.rows() {
            let number = steps.int(row, "step").unwrap_or(-1);
            match step_of(&steps, row, slices.remove(&number).unwrap_or_default()) {
                Ok(step) => kept.push(step),
                Err(found) => complaints.push(bad_row(STEPS.file, row, "a whole step", found)),
            }
        }
    }
    Ok(RunRead { document: Some(document), finished: true, steps: kept, complaints })
}

/// A table whose file is the one that was written. Documents without checksums are taken at their word.
fn whole_table(dir: &Path, columns: &Columns, written: &[TableFile]) -> Result<Table, RunError> {
    let path = dir.join(columns.file);
    if let Some(written) = written.iter().find(|t| t.file == columns.file) {
        verify(&path, written)?;
    }
    read_table(&path, columns.schema)
}

fn unread(columns: &Columns, error: &RunError) -> Complaint {
    Complaint {
        file: columns.file.to_owned(),
        line: None,
        expected: format!("the Parquet table {}", columns.schema),
        found: error.to_string(),
    }
}

fn slices_by_step(samples: &Table, complaints: &mut Vec<Complaint>) -> BTreeMap<i64, Vec<Slice>> {
    let mut slices: BTreeMap<i64, Vec<Slice>> = BTreeMap::new();
    for row in 0..samples.rows() {
        match slice_of(samples, row) {
            Ok(slice) => slices.entry(samples.int(row, "step").unwrap_or(-1)).or_default().push(slice),
            Err(found) => complaints.push(bad_row(SAMPLES.file, row, "a whole slice", found)),
        }
    }
    slices
}

fn bad_row(file: &str, row: usize, expected: &str, found: String) -> Complaint {
    Complaint {
        file: file.to_owned(),
        line: Some(row as u64 + 1),
        expected: format!("{expected} in this row"),
        found,
    }
}
