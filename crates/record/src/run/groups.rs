//! Tables too long for memory: written and read one row group at a time.

use super::cell::{Cell, Kind};
use super::error::RunError;
use super::table::{SCHEMA_KEY, Table, kind_of};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{ByteArray, DataType};
use parquet::file::reader::{FileReader, RowGroupReader, SerializedFileReader};
use parquet::file::writer::SerializedFileWriter;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// Rows of one group at most: a forged file must not fill memory.
const GROUP_ROWS_MAX: i64 = 1 << 20;

/// A table that is written piece by piece.
pub(crate) struct TableWriter {
    path: PathBuf,
    writer: SerializedFileWriter<Summed>,
    rows: u64,
}

impl TableWriter {
    /// Starts the file at `path`, with the columns of `like`.
    pub fn create(path: &Path, like: &Table) -> Result<Self, RunError> {
        let file = File::create(path).map_err(|cause| RunError::System {
            doing: "creating",
            path: path.to_owned(),
            cause,
        })?;
        let summed = Summed { file: BufWriter::new(file), bytes: 0, crc: crc32fast::Hasher::new() };
        let writer = like.open(summed).map_err(refused(path, "writing"))?;
        Ok(Self { path: path.to_owned(), writer, rows: 0 })
    }

    /// Adds a row group.
    pub fn group(&mut self, group: &Table) -> Result<(), RunError> {
        self.rows += group.rows() as u64;
        group.write_group(&mut self.writer).map_err(refused(&self.path, "writing"))
    }

    /// Writes the foot and syncs; answers with rows, length and checksum.
    pub fn finish(self) -> Result<(u64, u64, u32), RunError> {
        let Self { path, writer, rows } = self;
        let summed = writer.into_inner().map_err(refused(&path, "writing"))?;
        let system = |doing| {
            let path = path.clone();
            move |cause| RunError::System { doing, path, cause }
        };
        let file = summed.file.into_inner().map_err(|e| system("writing")(e.into_error()))?;
        file.sync_all().map_err(system("syncing"))?;
        Ok((rows, summed.bytes, summed.crc.finalize()))
    }
}

/// Counts and sums what passes.
struct Summed {
    file: BufWriter<File>,
    bytes: u64,
    crc: crc32fast::Hasher,
}

impl Write for Summed {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.file.write(bytes)?;
        self.crc.update(&bytes[..written]);
        self.bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// Reads the named columns of a table, one row group after the other; all columns when none is named.
///
/// # Errors
/// The file is absent, is no Parquet, or carries another schema. Groups before the damage were handed out.
pub(crate) fn read_groups(
    path: &Path,
    expected: &str,
    columns: &[&str],
    mut each: impl FnMut(&Table),
) -> Result<(), RunError> {
    // The library asserts in places where a damaged file breaks its expectations; that becomes an error like any other.
    let each = std::panic::AssertUnwindSafe(&mut each);
    let attempt = std::panic::catch_unwind(move || {
        let std::panic::AssertUnwindSafe(each) = { each };
        read(path, expected, columns, each)
    });
    attempt.unwrap_or_else(|_| {
        Err(RunError::Damaged {
            path: path.to_owned(),
            expected: "pages as Parquet has them".to_owned(),
            found: "pages that contradict each other".to_owned(),
        })
    })
}

fn read(path: &Path, expected: &str, columns: &[&str], each: &mut dyn FnMut(&Table)) -> Result<(), RunError> {
    let file = File::open(path).map_err(|cause| RunError::System {
        doing: "opening",
        path: path.to_owned(),
        cause,
    })?;
    let reader = SerializedFileReader::new(file).map_err(refused(path, "reading"))?;
    let metadata = reader.metadata().file_metadata();
    let found = metadata
        .key_value_metadata()
        .and_then(|pairs| pairs.iter().find(|p| p.key == SCHEMA_KEY)?.value.clone())
        .unwrap_or_default();
    if found != expected {
        return Err(RunError::OtherSchema { path: path.to_owned(), expected: expected.to_owned(), found });
    }
    for index in 0..reader.num_row_groups() {
        let group = reader.get_row_group(index).map_err(refused(path, "reading"))?;
        let table = table_of(group.as_ref(), expected, columns).map_err(refused(path, "reading"))?;
        each(&table);
    }
    Ok(())
}

fn table_of(group: &dyn RowGroupReader, schema: &str, wanted: &[&str]) -> parquet::errors::Result<Table> {
    let rows = group.metadata().num_rows();
    if !(0..=GROUP_ROWS_MAX).contains(&rows) {
        return Err(parquet::errors::ParquetError::General(format!("a row group of {rows} rows")));
    }
    let rows = rows as usize;
    let mut columns = Vec::new();
    for index in 0..group.num_columns() {
        let described = group.metadata().column(index).column_descr_ptr();
        if !wanted.is_empty() && !wanted.contains(&described.name()) {
            continue;
        }
        let kind = kind_of(&described);
        let optional = described.max_def_level() > 0;
        let cells = match (group.get_column_reader(index)?, kind) {
            (ColumnReader::Int64ColumnReader(r), Kind::Int) => {
                cells(r, rows, optional, |v| Some(Cell::Int(*v)))?
            }
            (ColumnReader::DoubleColumnReader(r), Kind::Float) => {
                cells(r, rows, optional, |v| Some(Cell::Float(*v)))?
            }
            (ColumnReader::ByteArrayColumnReader(r), Kind::Text) => cells(r, rows, optional, text)?,
            // Written by no version of ours.
            _ => vec![Cell::Null; rows],
        };
        columns.push((described.name().to_owned(), kind, cells));
    }
    Ok(Table::from_columns(schema, columns, rows))
}

fn text(bytes: &ByteArray) -> Option<Cell> {
    Some(Cell::Text(bytes.as_utf8().ok()?.to_owned()))
}

/// The values of a column with nulls where nothing stands.
fn cells<T: DataType>(
    mut reader: ColumnReaderImpl<T>,
    rows: usize,
    optional: bool,
    cell: impl Fn(&T::T) -> Option<Cell>,
) -> parquet::errors::Result<Vec<Cell>> {
    let (mut levels, mut values) = (Vec::with_capacity(rows), Vec::with_capacity(rows));
    let mut read = 0;
    while read < rows {
        let (records, _, _) = reader.read_records(rows - read, Some(&mut levels), None, &mut values)?;
        if records == 0 {
            return Err(parquet::errors::ParquetError::General(format!("{read} of {rows} rows")));
        }
        read += records;
    }
    let mut values = values.iter();
    let mut next = || values.next().and_then(&cell).unwrap_or(Cell::Null);
    Ok(match optional {
        true => levels.iter().map(|level| if *level > 0 { next() } else { Cell::Null }).collect(),
        false => (0..rows).map(|_| next()).collect(),
    })
}

fn refused(path: &Path, doing: &'static str) -> impl FnOnce(parquet::errors::ParquetError) -> RunError {
    let path = path.to_owned();
    move |cause| RunError::Table { doing, path, cause }
}
