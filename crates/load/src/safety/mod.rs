//! What must hold before a byte is written to something that Plimsoll did not make.

use crate::error::Error;
use host::Root;
use std::fs::File;
use std::path::Path;

/// Why a write was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// A file that exists already.
    #[error(
        "it is a file that Plimsoll did not make, and such files are only read; name its directory to measure writes"
    )]
    NotOurFile,
}

/// Opens a device for writing.
pub fn open_for_writing(
    path: &Path,
    _named_again: Option<&Path>,
    _root: &Root,
    _flags: i32,
) -> Result<File, Error> {
    Err(Error::Refused { target: path.to_owned(), refusal: Refusal::NotOurFile })
}
