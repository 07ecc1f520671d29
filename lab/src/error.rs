//! Why the lab could not do what was asked, and the exit code that says so.

use std::fmt::Display;
use std::path::Path;

/// What went wrong.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The command line or `rigs.toml` is wrong.
    #[error("{0}")]
    Usage(String),
    /// The machine lacks something: QEMU, a kernel, a tool.
    #[error("{0}")]
    Environment(String),
    /// The user ended it.
    #[error("interrupted; the virtual machines were ended")]
    Interrupted,
}

/// The usual result.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// The exit code of the process.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Usage(_) => 2,
            Self::Environment(_) => 4,
            Self::Interrupted => 130,
        }
    }

    /// Something done to a file that did not work.
    pub fn file(doing: &str, path: &Path, why: impl Display) -> Self {
        Self::Environment(format!("cannot {doing} {}: {why}", path.display()))
    }
}
