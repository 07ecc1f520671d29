//! What was imported, kept as a run: tables that grow while text passes, and `run.json` last.
//!
//! | file | holds |
//! | --- | --- |
//! | `samples.parquet` | one row per figure: host, place, time, quantity (its unit in its name), value, file and line |
//! | `notes.parquet` | one row per fact and event |
//!
//! A figure is a row, not a column, because no two tools tell the same set of quantities; a pivot makes columns again.

use super::note::{Complaint, Distribution, Event, Fact};
use super::place::{Host, HostId, Place, PlaceId};
use super::rows::Rows;
use super::sink::{Sink, Source, SourceId};
use crate::run::Kind::{Float, Int, Text};
use crate::run::{Cell, Kind, RunDocument, RunError, RunWriter, Table, TableFile, TableWriter};
use serde::Serialize;
use std::path::Path;

/// Schema of `samples.parquet`.
pub const IMPORTED_SAMPLES_SCHEMA: &str = "plimsoll.imported_samples/1";
/// Schema of `notes.parquet`.
pub const IMPORTED_NOTES_SCHEMA: &str = "plimsoll.imported_notes/1";
/// Rows held in memory: one row group.
const GROUP_ROWS: usize = 64 << 10;

const SAMPLES: [(&str, Kind); 11] = [
    ("host", Text),
    ("place_kind", Text),
    ("place", Text),
    ("at_s", Float),
    ("time_basis", Text),
    ("length_s", Float),
    ("stands_for", Text),
    ("quantity", Text),
    ("value", Float),
    ("file", Text),
    ("line", Int),
];
const NOTES: [(&str, Kind); 9] = [
    ("host", Text),
    ("place_kind", Text),
    ("place", Text),
    ("what", Text),
    ("name", Text),
    ("value", Text),
    ("at_s", Float),
    ("file", Text),
    ("line", Int),
];

/// Takes what readers push and writes it down. The first failure (a full disk) ends the writing; it is told at the end.
pub struct ImportedWriter {
    run: RunWriter,
    samples: Growing,
    notes: Growing,
    hosts: Vec<Host>,
    places: Vec<Place>,
    sources: Vec<Source>,
    failed: Option<RunError>,
}

struct Growing {
    file: &'static str,
    schema: &'static str,
    group: Table,
    writer: TableWriter,
}

impl Growing {
    fn create(
        dir: &Path,
        file: &'static str,
        schema: &'static str,
        columns: &[(&str, Kind)],
    ) -> Result<Self, RunError> {
        let group = Table::new(schema, columns);
        let writer = TableWriter::create(&dir.join(file), &group)?;
        Ok(Self { file, schema, group, writer })
    }

    fn push(&mut self, row: Vec<Cell>) -> Result<(), RunError> {
        self.group.push(row);
        if self.group.rows() >= GROUP_ROWS {
            self.writer.group(&self.group)?;
            self.group.clear();
        }
        Ok(())
    }

    fn finish(mut self) -> Result<TableFile, RunError> {
        if self.group.rows() > 0 {
            self.writer.group(&self.group)?;
        }
        let (rows, size_bytes, crc32) = self.writer.finish()?;
        Ok(TableFile { file: self.file.to_owned(), schema: self.schema.to_owned(), rows, size_bytes, crc32 })
    }
}

impl ImportedWriter {
    /// Opens `dir` for a new run; an earlier run in it is set aside.
    ///
    /// # Errors
    /// As [`RunWriter::create`].
    pub fn create(dir: &Path) -> Result<Self, RunError> {
        let run = RunWriter::create(dir)?;
        let samples = Growing::create(dir, "samples.parquet", IMPORTED_SAMPLES_SCHEMA, &SAMPLES)?;
        let notes = Growing::create(dir, "notes.parquet", IMPORTED_NOTES_SCHEMA, &NOTES)?;
        let (hosts, places, sources) = (Vec::new(), Vec::new(), Vec::new());
        Ok(Self { run, samples, notes, hosts, places, sources, failed: None })
    }

    /// The folder.
    pub fn dir(&self) -> &Path {
        self.run.dir()
    }

    /// Writes the rest of the tables and then `run.json`.
    ///
    /// # Errors
    /// The first thing that failed since the folder was opened. `run.json` does not stand then.
    pub fn finish(self, document: &RunDocument) -> Result<(), RunError> {
        if let Some(error) = self.failed {
            return Err(error);
        }
        let tables = vec![self.samples.finish()?, self.notes.finish()?];
        self.run.finish_with(document, tables)
    }

    fn heads(&self, place: PlaceId) -> [Cell; 3] {
        let place = &self.places[place as usize];
        let host = self.hosts.get(place.host as usize).and_then(|h| h.name.as_deref());
        [host.map_or(Cell::Null, Cell::from), word(&place.kind), Cell::from(place.name.as_str())]
    }

    fn file(&self, source: SourceId) -> Cell {
        self.sources.get(source as usize).map_or(Cell::Null, |s| Cell::from(s.path.as_str()))
    }

    fn note(&mut self, row: Vec<Cell>) {
        if self.failed.is_none() {
            self.failed = self.notes.push(row).err();
        }
    }
}

fn word(value: &impl Serialize) -> Cell {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(word)) => Cell::Text(word),
        _ => Cell::Null,
    }
}

fn line(number: u64) -> Cell {
    if number == 0 { Cell::Null } else { Cell::from(number) }
}

impl Sink for ImportedWriter {
    fn source(&mut self, id: SourceId, source: &Source) {
        if self.sources.len() <= id as usize {
            self.sources.resize(id as usize + 1, Source::default());
        }
        self.sources[id as usize] = source.clone();
    }

    fn host(&mut self, id: HostId, host: &Host) {
        if self.hosts.len() <= id as usize {
            self.hosts.resize(id as usize + 1, Host::default());
        }
        self.hosts[id as usize] = host.clone();
    }

    fn place(&mut self, _: PlaceId, place: &Place) {
        self.places.push(place.clone());
    }

    fn rows(&mut self, rows: &Rows, _: &str) {
        for (n, head) in rows.heads().iter().enumerate() {
            if self.failed.is_some() {
                return;
            }
            let interval = rows.interval(n);
            let [host, kind, place] = self.heads(head.place);
            let file = self.file(head.origin.source);
            for (quantity, value) in rows.quantities().iter().zip(rows.row(n)).filter(|(_, v)| !v.is_nan()) {
                let row = vec![
                    host.clone(),
                    kind.clone(),
                    place.clone(),
                    Some(interval.at_s).into(),
                    word(&interval.basis),
                    Some(interval.length_s).into(),
                    word(&interval.kind),
                    quantity.name().into(),
                    Some(*value).into(),
                    file.clone(),
                    line(head.origin.line),
                ];
                if let Err(error) = self.samples.push(row) {
                    self.failed = Some(error);
                    return;
                }
            }
        }
    }

    fn fact(&mut self, fact: &Fact, _: &str) {
        let mut row = self.heads(fact.place).to_vec();
        row.extend(["fact".into(), fact.name.as_str().into(), fact.value.text().into(), Cell::Null]);
        row.extend([self.file(fact.origin.source), line(fact.origin.line)]);
        self.note(row);
    }

    fn event(&mut self, event: &Event, _: &str) {
        let mut row = self.heads(event.place).to_vec();
        row.extend(["event".into(), word(&event.kind), event.text.as_str().into(), Some(event.at_s).into()]);
        row.extend([self.file(event.origin.source), line(event.origin.line)]);
        self.note(row);
    }

    fn distribution(&mut self, _: &Distribution) {}

    fn complaint(&mut self, source: SourceId, complaint: &Complaint) {
        let mut row = vec![Cell::Null, Cell::Null, Cell::Null, "complaint".into()];
        row.extend([complaint.expected.as_str().into(), complaint.found.as_str().into(), Cell::Null]);
        row.extend([self.file(source), line(complaint.line)]);
        self.note(row);
    }

    fn remark(&mut self, source: SourceId, remark: &str) {
        let mut row = vec![Cell::Null, Cell::Null, Cell::Null, "remark".into()];
        row.extend([Cell::Null, remark.into(), Cell::Null, self.file(source), Cell::Null]);
        self.note(row);
    }

    fn end(&mut self, _: SourceId) {}
}

/// Two sinks, each of which gets everything.
pub struct Both<'s>(
    /// The first.
    pub &'s mut dyn Sink,
    /// The second.
    pub &'s mut dyn Sink,
);

impl Sink for Both<'_> {
    fn source(&mut self, id: SourceId, source: &Source) {
        self.0.source(id, source);
        self.1.source(id, source);
    }
    fn host(&mut self, id: HostId, host: &Host) {
        self.0.host(id, host);
        self.1.host(id, host);
    }
    fn place(&mut self, id: PlaceId, place: &Place) {
        self.0.place(id, place);
        self.1.place(id, place);
    }
    fn rows(&mut self, rows: &Rows, block: &str) {
        self.0.rows(rows, block);
        self.1.rows(rows, block);
    }
    fn fact(&mut self, fact: &Fact, block: &str) {
        self.0.fact(fact, block);
        self.1.fact(fact, block);
    }
    fn event(&mut self, event: &Event, block: &str) {
        self.0.event(event, block);
        self.1.event(event, block);
    }
    fn distribution(&mut self, distribution: &Distribution) {
        self.0.distribution(distribution);
        self.1.distribution(distribution);
    }
    fn complaint(&mut self, source: SourceId, complaint: &Complaint) {
        self.0.complaint(source, complaint);
        self.1.complaint(source, complaint);
    }
    fn remark(&mut self, source: SourceId, remark: &str) {
        self.0.remark(source, remark);
        self.1.remark(source, remark);
    }
    fn end(&mut self, source: SourceId) {
        self.0.end(source);
        self.1.end(source);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::imported::{Interval, Origin, PlaceKind, Quantity, RowsKind};
    use crate::run::{read_run, read_table};

    #[test]
    fn figures_notes_and_the_document_come_back() {
        let dir = tempfile::tempdir().unwrap();
        let run = dir.path().join("run");
        let mut writer = ImportedWriter::create(&run).unwrap();
        writer.source(0, &Source { path: "a.txt".into(), ..Source::default() });
        writer.host(0, &Host { name: Some("db1".into()), ..Host::default() });
        writer.place(0, &Place { host: 0, kind: PlaceKind::Device, name: "sda".into() });
        let mut rows = Rows::new(&[Quantity::ReadIops, Quantity::WriteIops]);
        rows.begin(Interval { at_s: 7.0, ..Interval::unknown(RowsKind::Interval) });
        rows.push(0, Origin { line: 3, ..Origin::default() }, &[5.0, f64::NAN]);
        writer.rows(&rows, "");
        let origin = Origin { line: 9, ..Origin::default() };
        writer.fact(&Fact { place: 0, name: "queue_depth".into(), value: 32.0.into(), origin }, "");
        writer.finish(&RunDocument::new("read", "1", "2026-01-01T00:00:00Z")).unwrap();
        let samples = read_table(&run.join("samples.parquet"), IMPORTED_SAMPLES_SCHEMA).unwrap();
        assert_eq!(
            (samples.rows(), samples.text(0, "quantity"), samples.float(0, "value")),
            (1, Some("read_iops"), Some(5.0))
        );
        assert_eq!(
            (samples.text(0, "host"), samples.int(0, "line"), samples.text(0, "file")),
            (Some("db1"), Some(3), Some("a.txt"))
        );
        let notes = read_table(&run.join("notes.parquet"), IMPORTED_NOTES_SCHEMA).unwrap();
        assert_eq!((notes.text(0, "name"), notes.text(0, "value")), (Some("queue_depth"), Some("32")));
        let read = read_run(&run).unwrap();
        assert!(read.finished && read.complaints.is_empty(), "{:?}", read.complaints);
    }
}
