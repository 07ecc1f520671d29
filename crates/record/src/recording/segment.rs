//! Segments of a recording: a journal while it is written, a Parquet table afterwards, dropped when room is needed.

use super::journal::{self, Tail, system};
use super::row::{COLUMNS, DEVICE_SAMPLES_SCHEMA};
use crate::run::{RunError, Table, TableFile, TableWriter};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Rows held in memory while a journal becomes a table: one row group.
const GROUP_ROWS: usize = 8192;
/// A table is smaller than its journal but for its columns' heads and foot.
pub(crate) const TABLE_OVERHEAD_BYTES: u64 = 64 << 10;
const JOURNAL_END: &str = ".journal";
const TABLE_END: &str = ".parquet";
/// Table that is being written.
const DRAFT_END: &str = ".parquet.partial";

/// One segment on disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Segment {
    pub number: u64,
    /// Whether it is a table already.
    pub closed: bool,
    pub bytes: u64,
    /// As `run.json` lists it; known once it is closed and was written by this process.
    pub written: Option<TableFile>,
}

impl Segment {
    /// Its file in `dir`.
    pub fn path(&self, dir: &Path) -> PathBuf {
        if self.closed { table_path(dir, self.number) } else { journal_path(dir, self.number) }
    }
}

pub(crate) fn journal_path(dir: &Path, number: u64) -> PathBuf {
    dir.join(format!("samples-{number:06}{JOURNAL_END}"))
}

fn table_path(dir: &Path, number: u64) -> PathBuf {
    dir.join(format!("samples-{number:06}{TABLE_END}"))
}

/// Whether a file name is that of a segment, or of one that was being written.
pub(crate) fn is_segment(name: &str) -> bool {
    number_of(name, JOURNAL_END).or(number_of(name, TABLE_END)).or(number_of(name, DRAFT_END)).is_some()
}

fn number_of(name: &str, end: &str) -> Option<u64> {
    let digits = name.strip_prefix("samples-")?.strip_suffix(end)?;
    digits.bytes().all(|b| b.is_ascii_digit()).then(|| digits.parse().ok()).flatten()
}

/// All segments of `dir`, oldest first. Where a crash left a journal beside its finished table, the table counts.
pub(crate) fn list(dir: &Path) -> Result<Vec<Segment>, RunError> {
    let mut found: BTreeMap<u64, Segment> = BTreeMap::new();
    for entry in fs::read_dir(dir).map_err(system("listing", dir))? {
        let entry = entry.map_err(system("listing", dir))?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let (number, closed) = match (number_of(&name, TABLE_END), number_of(&name, JOURNAL_END)) {
            (Some(number), _) => (number, true),
            (None, Some(number)) => (number, false),
            (None, None) => continue,
        };
        if !closed && found.get(&number).is_some_and(|s| s.closed) {
            continue;
        }
        // A file that was dropped since it was listed is no segment any more.
        let Ok(bytes) = entry.metadata().map(|m| m.len()) else { continue };
        found.insert(number, Segment { number, closed, bytes, written: None });
    }
    Ok(found.into_values().collect())
}

/// Removes what a crash in the middle of closing a segment left behind.
pub(crate) fn tidy(dir: &Path) -> Result<(), RunError> {
    let segments = list(dir)?;
    for entry in fs::read_dir(dir).map_err(system("listing", dir))?.filter_map(Result::ok) {
        let name = entry.file_name().to_string_lossy().into_owned();
        let closed = |n: u64| segments.iter().any(|s| s.number == n && s.closed);
        let twice = number_of(&name, JOURNAL_END).is_some_and(closed);
        if twice || number_of(&name, DRAFT_END).is_some() {
            let path = entry.path();
            fs::remove_file(&path).map_err(system("removing", &path))?;
        }
    }
    Ok(())
}

/// Turns a journal into a table, one row group in memory at a time; the journal goes last. A torn tail is left out.
/// A journal without one whole interval just goes.
pub(crate) fn close(dir: &Path, number: u64) -> Result<Option<Segment>, RunError> {
    let journal = journal_path(dir, number);
    let draft = dir.join(format!("samples-{number:06}{DRAFT_END}"));
    let written = write_table(&journal, &draft).inspect_err(|_| {
        let _ = fs::remove_file(&draft);
    })?;
    let path = table_path(dir, number);
    let closed = match written {
        Some((rows, bytes, crc32)) => {
            fs::rename(&draft, &path).map_err(system("renaming", &draft))?;
            let file = path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
            let schema = DEVICE_SAMPLES_SCHEMA.to_owned();
            let written = Some(TableFile { file, schema, rows, size_bytes: bytes, crc32 });
            Some(Segment { number, closed: true, bytes, written })
        }
        None => None,
    };
    fs::remove_file(&journal).map_err(system("removing", &journal))?;
    Ok(closed)
}

fn write_table(journal: &Path, draft: &Path) -> Result<Option<(u64, u64, u32)>, RunError> {
    let mut writer = None;
    let mut group = Table::new(DEVICE_SAMPLES_SCHEMA, &COLUMNS);
    let mut flush = |group: &mut Table| {
        if writer.is_none() {
            writer = Some(TableWriter::create(draft, group)?);
        }
        if let Some(writer) = &mut writer {
            writer.group(group)?;
        }
        group.clear();
        Ok::<(), RunError>(())
    };
    journal::read(journal, |rows| {
        rows.into_iter().for_each(|row| group.push(row));
        if group.rows() >= GROUP_ROWS { flush(&mut group) } else { Ok(()) }
    })?;
    if group.rows() > 0 {
        flush(&mut group)?;
    }
    writer.map(TableWriter::finish).transpose()
}

/// Reads a segment piece by piece: a row group, or as many rows of a journal, at a time.
pub(crate) fn read(
    dir: &Path,
    segment: &Segment,
    columns: &[&str],
    mut each: impl FnMut(&Table),
) -> Result<Tail, RunError> {
    let path = segment.path(dir);
    if segment.closed {
        crate::run::read_groups(&path, DEVICE_SAMPLES_SCHEMA, columns, each)?;
        return Ok(Tail::Whole);
    }
    let mut group = Table::new(DEVICE_SAMPLES_SCHEMA, &COLUMNS);
    let tail = journal::read(&path, |rows| {
        rows.into_iter().for_each(|row| group.push(row));
        if group.rows() >= GROUP_ROWS {
            each(&group);
            group.clear();
        }
        Ok(())
    })?;
    if group.rows() > 0 {
        each(&group);
    }
    Ok(tail)
}

/// Rows, length and checksum of a table that another process closed.
pub(crate) fn summary(dir: &Path, number: u64) -> Result<TableFile, RunError> {
    let path = table_path(dir, number);
    let mut rows = 0;
    crate::run::read_groups(&path, DEVICE_SAMPLES_SCHEMA, &["interval_number"], |group| {
        rows += group.rows() as u64
    })?;
    let mut file = fs::File::open(&path).map_err(system("opening", &path))?;
    let (mut crc, mut size_bytes, mut buffer) = (crc32fast::Hasher::new(), 0, vec![0; 1 << 16]);
    loop {
        let read = std::io::Read::read(&mut file, &mut buffer).map_err(system("reading", &path))?;
        if read == 0 {
            break;
        }
        crc.update(&buffer[..read]);
        size_bytes += read as u64;
    }
    let file = path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
    let schema = DEVICE_SAMPLES_SCHEMA.to_owned();
    Ok(TableFile { file, schema, rows, size_bytes, crc32: crc.finalize() })
}
