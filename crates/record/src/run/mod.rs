//! The run on disk: a folder that is safe to copy and can be opened years later.
//!
//! | file | holds | written |
//! | --- | --- | --- |
//! | `run.json` | what, when, host facts, path, tunables, subject, answer, findings ([`RunDocument`]) | last, by an atomic rename |
//! | `samples.parquet` | one row per slice of about 100 ms: counts, bytes, throughput, latency histograms | at the end |
//! | `steps.parquet` | one row per step: what was asked, throughput, response times, queues, processor time | at the end |
//! | `latency.parquet` | one row per step and class: percentiles and the HdrHistogram (V2 encoding, deflate not used) | at the end |
//! | `layers.parquet` | one row per step and layer of the path: rates, queues with their bounds, times | at the end |
//! | `events.parquet` | one row per doubt and per step that ended early | at the end |
//! | `steps.jsonl.partial` | the journal: one line per step as it was measured; removed once `run.json` stands | after each step |
//!
//! The guarantee: after [`RunWriter::append`] returned, a crash of the process costs nothing of that step, and a
//! crash in the middle of a step costs that step at most. (A power loss may cost what the kernel had not yet written;
//! syncing after every step would put our own writes among the I/Os being measured.) A folder without `run.json` is
//! an unfinished run; [`read_run`] reads its journal. A torn last line is reported with file and line, the rest is kept.
//!
//! Columns are named like the fields of the data model, with their units. Absent values are null, never zero.
//! Each table carries its schema under the key `plimsoll.schema` in its Parquet metadata (`plimsoll.steps/1`).
//! Columns may be added within a version; a renamed or reinterpreted column raises it.
//!
//! `run.json` holds the length and the CRC-32 of each table, so a copy that was damaged on its way is told from a whole
//! one before anything is read from it.
//!
//! What this does not do: it never appends to a finished run, and it keeps no lock. Two writers on one folder are the
//! command's business.

mod cell;
mod document;
mod error;
mod groups;
mod journal;
mod reader;
mod rows;
mod schema;
mod table;
mod writer;

pub(crate) use cell::fits;
pub use cell::{Cell, Kind};
pub use document::{RUN_SCHEMA, RunDocument, TableFile, TunableSeen};
pub use error::{Complaint, RunError};
pub(crate) use groups::{TableWriter, read_groups};
pub(crate) use reader::read_document;
pub use reader::{RunRead, read_run};
pub use table::{Table, read_table};
pub use writer::RunWriter;
pub(crate) use writer::write_atomically;

/// The document of a finished run.
pub const DOCUMENT_FILE: &str = "run.json";
/// The journal of an unfinished run.
pub const JOURNAL_FILE: &str = "steps.jsonl.partial";
/// The page drawn beside the run.
pub const PAGE_FILE: &str = "report.html";
