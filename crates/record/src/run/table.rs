//! A small columnar table and its Parquet file.
//!
//! Only the flat part of Parquet that every reader knows: one row group, optional columns of 64-bit integers, doubles,
//! UTF-8 text and bytes, Snappy compression. Arrow is left out on purpose: it triples the build of this crate and
//! gives a writer of a few thousand rows nothing.

use super::cell::{Cell, Kind, fits};
use super::document::TableFile;
use super::error::RunError;
use parquet::basic::Compression;
use parquet::column::writer::ColumnWriter;
use parquet::data_type::ByteArray;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::writer::SerializedFileWriter;
use parquet::record::Field;
use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

/// Under this key the Parquet metadata holds the table's schema and version.
pub(super) const SCHEMA_KEY: &str = "plimsoll.schema";
/// Files of runs are small; a foreign file with more rows than this is not one of ours.
const ROWS_MAX: i64 = 10_000_000;

/// Rows under named columns.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// Schema and version: `plimsoll.steps/1`.
    pub schema: String,
    columns: Vec<Column>,
    rows: usize,
}

#[derive(Clone, Debug, PartialEq)]
struct Column {
    name: String,
    kind: Kind,
    cells: Vec<Cell>,
}

impl Table {
    /// An empty table.
    pub fn new(schema: &str, columns: &[(&str, Kind)]) -> Self {
        let columns = columns
            .iter()
            .map(|&(name, kind)| Column { name: name.to_owned(), kind, cells: Vec::new() })
            .collect();
        Self { schema: schema.to_owned(), columns, rows: 0 }
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Names of the columns.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.columns.iter().map(|c| c.name.as_str())
    }

    /// A value; `Null` for a column or row that is not there.
    pub fn cell(&self, row: usize, column: &str) -> &Cell {
        let found = self.columns.iter().find(|c| c.name == column);
        found.and_then(|c| c.cells.get(row)).unwrap_or(&Cell::Null)
    }

    /// An integer; absent when null or of another kind.
    pub fn int(&self, row: usize, column: &str) -> Option<i64> {
        if let Cell::Int(value) = self.cell(row, column) { Some(*value) } else { None }
    }

    /// A double; absent when null or of another kind.
    pub fn float(&self, row: usize, column: &str) -> Option<f64> {
        if let Cell::Float(value) = self.cell(row, column) { Some(*value) } else { None }
    }

    /// Text; absent when null or of another kind.
    pub fn text(&self, row: usize, column: &str) -> Option<&str> {
        if let Cell::Text(value) = self.cell(row, column) { Some(value) } else { None }
    }

    /// Bytes; absent when null or of another kind.
    pub fn bytes(&self, row: usize, column: &str) -> Option<&[u8]> {
        if let Cell::Bytes(value) = self.cell(row, column) { Some(value) } else { None }
    }

    /// Adds a row, one cell per column in order.
    ///
    /// # Panics
    /// When the row does not fit the columns: rows are made by this crate next to the list of their columns.
    pub(crate) fn push(&mut self, row: Vec<Cell>) {
        assert_eq!(row.len(), self.columns.len(), "a row of {} has one cell per column", self.schema);
        for (column, cell) in self.columns.iter_mut().zip(row) {
            assert!(fits(column.kind, &cell), "{}.{} is {:?}", self.schema, column.name, column.kind);
            column.cells.push(cell);
        }
        self.rows += 1;
    }

    /// Forgets all rows and keeps the columns.
    pub(crate) fn clear(&mut self) {
        self.columns.iter_mut().for_each(|c| c.cells.clear());
        self.rows = 0;
    }

    /// Writes the table to `path` and syncs it to disk; answers with length and checksum.
    pub(crate) fn write(&self, path: &Path) -> Result<(u64, u32), RunError> {
        let system = |doing| move |cause| RunError::System { doing, path: path.to_owned(), cause };
        let bytes = self.to_parquet().map_err(|cause| RunError::Table {
            doing: "writing",
            path: path.to_owned(),
            cause,
        })?;
        let mut file = File::create(path).map_err(system("creating"))?;
        file.write_all(&bytes).map_err(system("writing"))?;
        file.sync_all().map_err(system("syncing"))?;
        Ok((bytes.len() as u64, crc32fast::hash(&bytes)))
    }

    /// The file in memory: tables of a run are small, and a checksum needs all of it anyway.
    fn to_parquet(&self) -> parquet::errors::Result<Vec<u8>> {
        let mut writer = self.open(Vec::new())?;
        self.write_group(&mut writer)?;
        writer.into_inner()
    }

    /// A Parquet file with the columns of this table and no rows yet.
    pub(super) fn open<W: Write + Send>(&self, into: W) -> parquet::errors::Result<SerializedFileWriter<W>> {
        let schema = Arc::new(parquet::schema::parser::parse_message_type(&self.message())?);
        let properties = WriterProperties::builder()
            .set_compression(Compression::SNAPPY)
            .set_created_by("plimsoll".to_owned())
            .set_key_value_metadata(Some(vec![KeyValue::new(SCHEMA_KEY.to_owned(), self.schema.clone())]))
            .build();
        SerializedFileWriter::new(into, schema, Arc::new(properties))
    }

    /// Adds the rows of this table as a row group.
    pub(super) fn write_group<W: Write + Send>(
        &self,
        writer: &mut SerializedFileWriter<W>,
    ) -> parquet::errors::Result<()> {
        let mut group = writer.next_row_group()?;
        for column in &self.columns {
            if let Some(mut open) = group.next_column()? {
                column.write(open.untyped())?;
                open.close()?;
            }
        }
        group.close()?;
        Ok(())
    }

    /// A table from columns of equal length.
    pub(super) fn from_columns(schema: &str, columns: Vec<(String, Kind, Vec<Cell>)>, rows: usize) -> Self {
        let columns = columns.into_iter().map(|(name, kind, cells)| Column { name, kind, cells }).collect();
        Self { schema: schema.to_owned(), columns, rows }
    }

    /// The schema in Parquet's own words.
    fn message(&self) -> String {
        let field = |column: &Column| {
            let name = &column.name;
            match column.kind {
                Kind::Int => format!("optional int64 {name};"),
                Kind::Float => format!("optional double {name};"),
                Kind::Text => format!("optional binary {name} (UTF8);"),
                Kind::Bytes => format!("optional binary {name};"),
            }
        };
        let fields: String = self.columns.iter().map(field).collect();
        format!("message plimsoll {{ {fields} }}")
    }
}

impl Column {
    fn write(&self, writer: &mut ColumnWriter<'_>) -> parquet::errors::Result<()> {
        // Definition level 1 means present, 0 null: the column is optional and flat.
        let present: Vec<i16> = self.cells.iter().map(|c| i16::from(*c != Cell::Null)).collect();
        match writer {
            ColumnWriter::Int64ColumnWriter(typed) => {
                let values: Vec<i64> = self
                    .cells
                    .iter()
                    .filter_map(|c| if let Cell::Int(v) = c { Some(*v) } else { None })
                    .collect();
                typed.write_batch(&values, Some(&present), None)?;
            }
            ColumnWriter::DoubleColumnWriter(typed) => {
                let values: Vec<f64> = self
                    .cells
                    .iter()
                    .filter_map(|c| if let Cell::Float(v) = c { Some(*v) } else { None })
                    .collect();
                typed.write_batch(&values, Some(&present), None)?;
            }
            ColumnWriter::ByteArrayColumnWriter(typed) => {
                let values: Vec<ByteArray> = self.cells.iter().filter_map(byte_array).collect();
                typed.write_batch(&values, Some(&present), None)?;
            }
            _ => unreachable!("a table has no columns of other kinds"),
        }
        Ok(())
    }
}

fn byte_array(cell: &Cell) -> Option<ByteArray> {
    match cell {
        Cell::Text(text) => Some(ByteArray::from(text.as_str())),
        Cell::Bytes(bytes) => Some(ByteArray::from(bytes.clone())),
        Cell::Null | Cell::Int(_) | Cell::Float(_) => None,
    }
}

/// Fails when the file at `path` is not the one that was written.
pub(crate) fn verify(path: &Path, written: &TableFile) -> Result<(), RunError> {
    let bytes = std::fs::read(path).map_err(|cause| RunError::System {
        doing: "reading",
        path: path.to_owned(),
        cause,
    })?;
    let told = |size: u64, crc: u32| format!("{size} bytes with CRC-32 {crc:08x}");
    let expected = told(written.size_bytes, written.crc32);
    let found = told(bytes.len() as u64, crc32fast::hash(&bytes));
    if expected == found { Ok(()) } else { Err(RunError::Damaged { path: path.to_owned(), expected, found }) }
}

/// Reads a table back whose schema is `expected`, all row groups together.
///
/// # Errors
/// The file is absent, is no Parquet, or carries another schema.
pub fn read_table(path: &Path, expected: &str) -> Result<Table, RunError> {
    // The library asserts in places where a damaged or forged file breaks its expectations. A run may come from
    // anywhere, so that becomes an error like any other; nothing outlives the attempt that could be left half changed.
    let attempt = std::panic::catch_unwind(|| read_parquet(path, expected));
    attempt.unwrap_or_else(|_| {
        Err(RunError::Damaged {
            path: path.to_owned(),
            expected: "pages as Parquet has them".to_owned(),
            found: "pages that contradict each other".to_owned(),
        })
    })
}

fn read_parquet(path: &Path, expected: &str) -> Result<Table, RunError> {
    let file = File::open(path).map_err(|cause| RunError::System {
        doing: "opening",
        path: path.to_owned(),
        cause,
    })?;
    let refused = |cause| RunError::Table { doing: "reading", path: path.to_owned(), cause };
    let reader = SerializedFileReader::new(file).map_err(refused)?;
    let metadata = reader.metadata().file_metadata();
    let found = metadata
        .key_value_metadata()
        .and_then(|pairs| pairs.iter().find(|p| p.key == SCHEMA_KEY)?.value.clone())
        .unwrap_or_default();
    if found != expected || metadata.num_rows() > ROWS_MAX {
        return Err(RunError::OtherSchema { path: path.to_owned(), expected: expected.to_owned(), found });
    }
    read_rows(&reader, expected).map_err(refused)
}

fn read_rows(reader: &SerializedFileReader<File>, schema: &str) -> parquet::errors::Result<Table> {
    let described = reader.metadata().file_metadata().schema_descr();
    let columns: Vec<(&str, Kind)> = described.columns().iter().map(|c| (c.name(), kind_of(c))).collect();
    let mut table = Table::new(schema, &columns);
    for row in reader.get_row_iter(None)? {
        let cells = row?.into_columns().into_iter().map(|(_, field)| cell_of(field));
        for (column, cell) in table.columns.iter_mut().zip(cells) {
            column.cells.push(if fits(column.kind, &cell) { cell } else { Cell::Null });
        }
        table.rows += 1;
    }
    Ok(table)
}

pub(super) fn kind_of(column: &parquet::schema::types::ColumnDescriptor) -> Kind {
    use parquet::basic::{ConvertedType, Type};
    match (column.physical_type(), column.converted_type()) {
        (Type::DOUBLE | Type::FLOAT, _) => Kind::Float,
        (Type::BYTE_ARRAY, ConvertedType::UTF8) => Kind::Text,
        (Type::BYTE_ARRAY, _) => Kind::Bytes,
        _ => Kind::Int,
    }
}

fn cell_of(field: Field) -> Cell {
    match field {
        Field::Long(value) => Cell::Int(value),
        Field::Double(value) => Cell::Float(value),
        Field::Str(value) => Cell::Text(value),
        Field::Bytes(value) => Cell::Bytes(value.data().to_vec()),
        _ => Cell::Null,
    }
}
