//! Writes a run.

use super::document::{RUN_SCHEMA, RunDocument, TableFile};
use super::error::RunError;
use super::journal::{Journal, Line, is_journal};
use super::rows::Tables;
use super::schema::TABLES;
use super::table::Table;
use super::{DOCUMENT_FILE, JOURNAL_FILE, PAGE_FILE};
use crate::step::Step;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

/// Earlier runs kept beside a new one in the same folder; the next one is refused by the operating system's words.
const EARLIER_MAX: u32 = 10_000;
/// Folders of earlier runs.
const EARLIER: &str = "earlier-";

/// An open run folder. Dropping it without [`RunWriter::finish`] leaves an unfinished, readable run.
pub struct RunWriter {
    dir: PathBuf,
    journal: Journal,
    tables: Tables,
}

impl RunWriter {
    /// Opens `dir` for a new run, making it and its parents when absent.
    ///
    /// A run of ours that is already there is moved to `earlier-1` (`earlier-2` ...) within: a measurement is never
    /// overwritten. Do this before the first minute of load, so that a folder that cannot be written costs nothing.
    ///
    /// # Errors
    /// The folder holds something else ([`RunError::NotOurs`]) or cannot be written.
    pub fn create(dir: &Path) -> Result<Self, RunError> {
        fs::create_dir_all(dir).map_err(system("creating", dir))?;
        if holds_run(dir) {
            set_aside(dir)?;
        } else if let Some(found) = stranger(dir)? {
            return Err(RunError::NotOurs { dir: dir.to_owned(), found });
        }
        let journal = Journal::create(dir)?;
        Ok(Self { dir: dir.to_owned(), journal, tables: Tables::new() })
    }

    /// The folder.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Notes what is known before the first step, so that an unfinished run says what it was.
    pub fn describe(&mut self, document: &RunDocument) -> Result<(), RunError> {
        if let Some(path) = &document.path {
            self.tables.set_leaves(path.leaves().map(|l| l.name.clone()).collect());
        }
        self.journal.write(&Line::Document(document))
    }

    /// Keeps one measured step. After this returned, a crash does not lose it.
    pub fn append(&mut self, step: &Step) -> Result<(), RunError> {
        self.tables.add(step);
        self.journal.write(&Line::Step(step))
    }

    /// Writes the tables and then, by an atomic rename, `run.json`; each is synced, and the folder too.
    ///
    /// # Errors
    /// When anything fails (a full disk), half-written files are removed and the journal stays: the run is
    /// unfinished but readable.
    pub fn finish(self, document: &RunDocument) -> Result<(), RunError> {
        if let Err(error) = self.write_all(document) {
            for name in made_at_the_end() {
                let _ = fs::remove_file(self.dir.join(name));
            }
            return Err(error);
        }
        self.journal.remove()
    }

    /// The same for a run without steps, whose tables stand in the folder already.
    pub(crate) fn finish_with(self, document: &RunDocument, tables: Vec<TableFile>) -> Result<(), RunError> {
        self.write_document(document, tables)?;
        self.journal.remove()
    }

    fn write_all(&self, document: &RunDocument) -> Result<(), RunError> {
        let written = |(file, table): (&str, &Table)| {
            let (size_bytes, crc32) = table.write(&self.dir.join(file))?;
            let rows = table.rows() as u64;
            Ok(TableFile { file: file.to_owned(), schema: table.schema.clone(), rows, size_bytes, crc32 })
        };
        let tables = self.tables.files().into_iter().map(written).collect::<Result<_, RunError>>()?;
        self.write_document(document, tables)
    }

    fn write_document(&self, document: &RunDocument, tables: Vec<TableFile>) -> Result<(), RunError> {
        let document = RunDocument { schema: RUN_SCHEMA.to_owned(), tables, ..document.clone() };
        let path = self.dir.join(DOCUMENT_FILE);
        let mut bytes = serde_json::to_vec_pretty(&document).map_err(|cause| RunError::Json {
            doing: "writing",
            path: path.clone(),
            cause,
        })?;
        bytes.push(b'\n');
        write_atomically(&self.dir, DOCUMENT_FILE, &bytes)
    }
}

fn made_at_the_end() -> impl Iterator<Item = &'static str> {
    TABLES.iter().map(|t| t.file).chain([IMPORTED_NOTES_FILE, DOCUMENT_FILE, DRAFT_FILE])
}

/// Facts and events of a run made by `read`.
pub(crate) const IMPORTED_NOTES_FILE: &str = "notes.parquet";
/// `run.json` before its rename.
const DRAFT_FILE: &str = "run.json.partial";

/// Writes beside, syncs, renames over, syncs the folder: a reader sees the old file or the new one, never a part.
pub(crate) fn write_atomically(dir: &Path, name: &str, bytes: &[u8]) -> Result<(), RunError> {
    let draft = dir.join(format!("{name}.partial"));
    let mut file = File::create(&draft).map_err(system("creating", &draft))?;
    file.write_all(bytes).map_err(system("writing", &draft))?;
    file.sync_all().map_err(system("syncing", &draft))?;
    fs::rename(&draft, dir.join(name)).map_err(system("renaming", &draft))?;
    File::open(dir).and_then(|d| d.sync_all()).map_err(system("syncing", dir))
}

fn system(doing: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> RunError {
    let path = path.to_owned();
    move |cause| RunError::System { doing, path, cause }
}

/// Whether `dir` holds a run of ours, finished or not, of any version.
fn holds_run(dir: &Path) -> bool {
    #[derive(serde::Deserialize)]
    struct Head {
        schema: String,
    }
    let finished = File::open(dir.join(DOCUMENT_FILE))
        .ok()
        .and_then(|f| serde_json::from_reader::<_, Head>(std::io::BufReader::new(f)).ok())
        .is_some_and(|head| head.schema.starts_with("plimsoll.run/"));
    finished || is_journal(&dir.join(JOURNAL_FILE))
}

/// The first name in `dir` that is not a run set aside, if any.
fn stranger(dir: &Path) -> Result<Option<String>, RunError> {
    let names = fs::read_dir(dir).map_err(system("listing", dir))?;
    let names = names.filter_map(Result::ok).map(|e| e.file_name().to_string_lossy().into_owned());
    Ok(names.filter(|name| !name.starts_with(EARLIER)).min())
}

/// Moves the files of an earlier run into a folder of their own. Only files a run is made of are touched.
fn set_aside(dir: &Path) -> Result<(), RunError> {
    let target = (1..EARLIER_MAX)
        .map(|number| dir.join(format!("{EARLIER}{number}")))
        .find(|target| !target.exists())
        .unwrap_or_else(|| dir.join(format!("{EARLIER}{EARLIER_MAX}")));
    fs::create_dir(&target).map_err(system("creating", &target))?;
    for name in made_at_the_end().chain([JOURNAL_FILE, PAGE_FILE]) {
        let from = dir.join(name);
        if from.exists() {
            fs::rename(&from, target.join(name)).map_err(system("moving aside", &from))?;
        }
    }
    Ok(())
}
