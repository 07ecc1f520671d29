//! `run.json`: what was run, when, on what, and what was concluded.

use crate::facts::HostFacts;
use crate::path::IoPath;
use crate::subject::SubjectFacts;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The schema this version writes.
pub const RUN_SCHEMA: &str = "plimsoll.run/1";

/// The document of a run. Absent is null.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RunDocument {
    /// Always [`RUN_SCHEMA`] when written; [`crate::run::read_run`] refuses others.
    pub schema: String,
    /// Version of Plimsoll that made the run.
    pub version: String,
    /// The command: `probe`, `trial` ...
    pub what: String,
    /// Start, RFC 3339 with offset.
    pub started_at: String,
    /// End, RFC 3339; absent in an unfinished run.
    pub ended_at: Option<String>,
    /// The host.
    pub host: HostFacts,
    /// What was put under load.
    pub subject: Option<SubjectFacts>,
    /// The path the I/Os took.
    pub path: Option<IoPath>,
    /// Every setting of the path as it stood at the start.
    pub tunables: Vec<TunableSeen>,
    /// Options in force, as given or by default.
    pub options: Value,
    /// What the command answered: the document of its `--json`, without what is here already.
    pub answer: Value,
    /// What the command itself needs to show the run again; its form is the version's own.
    #[serde(default)]
    pub kept: Value,
    /// Findings, heaviest first.
    pub findings: Vec<Value>,
    /// The tables beside this document, as they were written.
    #[serde(default)]
    pub tables: Vec<TableFile>,
}

/// One table as it was written, so that a damaged copy is told from a whole one before anything is read from it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TableFile {
    /// File name within the run.
    pub file: String,
    /// Its schema and version.
    pub schema: String,
    /// Rows.
    pub rows: u64,
    /// Length of the file.
    pub size_bytes: u64,
    /// CRC-32 of the file (the IEEE polynomial, as in gzip).
    pub crc32: u32,
}

/// One setting as it stood.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TunableSeen {
    /// Kernel name of the layer.
    pub layer: String,
    /// Short name of the setting.
    pub name: String,
    /// Its value as text.
    pub value: String,
    /// The file it was read from.
    pub file: String,
}

impl RunDocument {
    /// A document with everything absent but what, when and by which version.
    pub fn new(what: impl Into<String>, version: impl Into<String>, started_at: impl Into<String>) -> Self {
        Self {
            schema: RUN_SCHEMA.to_owned(),
            version: version.into(),
            what: what.into(),
            started_at: started_at.into(),
            ended_at: None,
            host: HostFacts::default(),
            subject: None,
            path: None,
            tunables: Vec::new(),
            options: Value::Null,
            answer: Value::Null,
            kept: Value::Null,
            findings: Vec::new(),
            tables: Vec::new(),
        }
    }

    /// Takes the path, and lists its settings.
    pub fn with_path(mut self, path: Option<IoPath>) -> Self {
        self.tunables = path.as_ref().map(tunables_of).unwrap_or_default();
        self.path = path;
        self
    }
}

fn tunables_of(path: &IoPath) -> Vec<TunableSeen> {
    let of_layer = |layer: &crate::path::Layer| {
        let name = layer.name.clone();
        layer
            .tunables
            .iter()
            .map(|t| TunableSeen {
                layer: name.clone(),
                name: t.name.clone(),
                value: t.value.clone(),
                file: t.file.clone(),
            })
            .collect::<Vec<_>>()
    };
    path.layers.iter().flat_map(of_layer).collect()
}
