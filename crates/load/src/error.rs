//! What can go wrong before load starts, and which exit code it deserves.

use crate::engine::EngineKind;
use crate::safety::Refusal;
use crate::workload::size::show_size;
use std::io;
use std::path::PathBuf;

/// What sort of error it is; the command maps it to an exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// Wrong usage or bad input.
    Usage,
    /// Refused for safety, or not permitted.
    Refused,
    /// The environment cannot do it.
    Environment,
    /// A signal ended it; everything was undone.
    Interrupted,
}

/// An error before or between measurements.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A flag's value cannot be used.
    #[error("{flag} {given}: expected {expected}")]
    Usage {
        /// The flag.
        flag: &'static str,
        /// Its value.
        given: String,
        /// What would do.
        expected: String,
    },
    /// A target that does not hold what the workload needs.
    #[error(
        "{target}: {have} are too small for {need_for}, which needs {need}; use a larger target (--size for a \
         directory) or a smaller --block",
        have = show_size(*have_bytes), need = show_size(*need_bytes)
    )]
    TooSmall {
        /// The target.
        target: PathBuf,
        /// Usable bytes it has.
        have_bytes: u64,
        /// Bytes needed at least.
        need_bytes: u64,
        /// For what.
        need_for: String,
    },
    /// Writing was refused for safety.
    #[error("refused to write to {target}: {refusal}")]
    Refused {
        /// The target.
        target: PathBuf,
        /// Why.
        refusal: Refusal,
    },
    /// Not enough free space for the own file.
    #[error(
        "{folder}: a file of {asked} was asked for, but only {free} are free and {keep} of them must stay free; use a \
         smaller --size or another folder",
        asked = show_size(*asked_bytes), free = show_size(*free_bytes), keep = show_size(*keep_bytes)
    )]
    NoSpace {
        /// The folder.
        folder: PathBuf,
        /// Size of the file.
        asked_bytes: u64,
        /// Free space for this user.
        free_bytes: u64,
        /// What must stay free.
        keep_bytes: u64,
    },
    /// The filesystem filled up while the own file was being written; the file was removed.
    #[error("{folder}: the filesystem filled up after {written} (the file was removed); free some space or use a smaller --size",
        written = show_size(*written_bytes))]
    Full {
        /// The folder.
        folder: PathBuf,
        /// How far it went.
        written_bytes: u64,
    },
    /// Direct I/O does not work on this target.
    #[error(
        "{target}: direct I/O does not work here ({why}); add --buffered to measure through the page cache"
    )]
    NoDirect {
        /// The target.
        target: PathBuf,
        /// Filesystem or errno.
        why: String,
    },
    /// The block size does not fit the target's sectors.
    #[error(
        "{target}: an I/O of {block_bytes} bytes was refused; direct I/O here needs whole sectors of {sector_bytes} bytes (use --block, or --buffered)"
    )]
    Misaligned {
        /// The target.
        target: PathBuf,
        /// Asked block.
        block_bytes: u64,
        /// Sector size.
        sector_bytes: u64,
    },
    /// The engine cannot be used here.
    #[error("engine {engine} cannot be used here: {cause}; {remedy}")]
    Engine {
        /// Which.
        engine: EngineKind,
        /// What the system said.
        #[source]
        cause: io::Error,
        /// What to do.
        remedy: &'static str,
    },
    /// A thing that is neither directory, file nor block device.
    #[error("{target}: is {what}; expected a directory, a regular file or a block device")]
    Kind {
        /// The target.
        target: PathBuf,
        /// What it is.
        what: &'static str,
    },
    /// The operating system refused something.
    #[error("{doing} {path}: {cause}")]
    System {
        /// What was being done.
        doing: &'static str,
        /// To what.
        path: PathBuf,
        /// What the system said.
        #[source]
        cause: io::Error,
    },
    /// A signal came; the own file was removed.
    #[error("interrupted while preparing {target}; what was made has been removed")]
    Interrupted {
        /// The target.
        target: PathBuf,
    },
}

impl Error {
    /// What sort of error this is.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Usage { .. } | Self::TooSmall { .. } | Self::Kind { .. } | Self::Misaligned { .. } => {
                ErrorKind::Usage
            }
            Self::Refused { .. } => ErrorKind::Refused,
            Self::System { cause, .. } => match cause.kind() {
                io::ErrorKind::PermissionDenied => ErrorKind::Refused,
                io::ErrorKind::NotFound => ErrorKind::Usage,
                _ => ErrorKind::Environment,
            },
            Self::NoSpace { .. } | Self::Full { .. } | Self::NoDirect { .. } | Self::Engine { .. } => {
                ErrorKind::Environment
            }
            Self::Interrupted { .. } => ErrorKind::Interrupted,
        }
    }

    /// For `map_err`: what was being done to which path.
    pub(crate) fn system<E: Into<io::Error>>(
        doing: &'static str,
        path: impl Into<PathBuf>,
    ) -> impl FnOnce(E) -> Self {
        let path = path.into();
        move |cause| Self::System { doing, path, cause: cause.into() }
    }
}
