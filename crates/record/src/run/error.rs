//! What can go wrong with a run folder.

use std::fmt;
use std::io;
use std::path::PathBuf;

/// Why a run could not be written or read.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The operating system refused something.
    #[error("{doing} {}: {cause}", path.display())]
    System {
        /// What was being done: `creating`, `writing` ...
        doing: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        #[source]
        cause: io::Error,
    },
    /// The folder holds something that is not a run.
    #[error(
        "{} is not empty and holds no Plimsoll run (found '{found}'); nothing was written. \
         Name a folder that does not exist yet or is empty",
        dir.display()
    )]
    NotOurs {
        /// The folder.
        dir: PathBuf,
        /// A name found in it.
        found: String,
    },
    /// Another process records into the folder.
    #[error("{} is in use: another plimsoll records there", dir.display())]
    InUse {
        /// The folder.
        dir: PathBuf,
    },
    /// The file system has less free than is to stay free, and there is nothing of ours to drop.
    #[error(
        "no room in {}: {} MiB can be taken and {} MiB are to stay free",
        dir.display(), free_bytes >> 20, leave_free_bytes >> 20
    )]
    NoRoom {
        /// The folder.
        dir: PathBuf,
        /// What could be written.
        free_bytes: u64,
        /// What is to stay free.
        leave_free_bytes: u64,
    },
    /// The folder to read is not a run.
    #[error(
        "{} is not a run: expected a folder with run.json (finished), or steps.jsonl.partial or head.json (unfinished)",
        dir.display()
    )]
    NotARun {
        /// The folder.
        dir: PathBuf,
    },
    /// A document or table written by another version.
    #[error("{}: expected schema {expected}, found '{found}'; it was written by another version of Plimsoll", path.display())]
    OtherSchema {
        /// The file.
        path: PathBuf,
        /// What this version reads.
        expected: String,
        /// What stands there.
        found: String,
    },
    /// Parquet refused a table.
    #[error("{doing} table {}: {cause}", path.display())]
    Table {
        /// What was being done.
        doing: &'static str,
        /// The file.
        path: PathBuf,
        /// What the library said.
        #[source]
        cause: parquet::errors::ParquetError,
    },
    /// A table is not what was written.
    #[error("{} is damaged: expected {expected}, found {found}; copy the run again", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What `run.json` says, or what the format demands.
        expected: String,
        /// What stands there.
        found: String,
    },
    /// JSON refused a document.
    #[error("{doing} {}: {cause}", path.display())]
    Json {
        /// What was being done.
        doing: &'static str,
        /// The file.
        path: PathBuf,
        /// What the library said, with line and column.
        #[source]
        cause: serde_json::Error,
    },
}

/// A part of a run that could not be read. The rest was kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Complaint {
    /// File within the run folder.
    pub file: String,
    /// Line, counted from 1, where the file has lines.
    pub line: Option<u64>,
    /// What was expected there.
    pub expected: String,
    /// What was found.
    pub found: String,
}

impl fmt::Display for Complaint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { file, line, expected, found } = self;
        match line {
            Some(line) => write!(f, "{file}:{line}: expected {expected}, found {found}"),
            None => write!(f, "{file}: expected {expected}, found {found}"),
        }
    }
}
