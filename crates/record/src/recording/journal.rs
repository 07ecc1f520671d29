//! The journal of the segment being written: frames appended one by one, each whole or cut off again.

use super::frame::{FRAME_BYTES_MAX, HEAD_BYTES, MAGIC, decode, head};
use crate::run::{Cell, RunError};
use std::fs::File;
use std::io::{self, BufReader, ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// An open journal.
#[derive(Debug)]
pub(crate) struct Journal {
    file: File,
    path: PathBuf,
    /// Length up to the last whole frame.
    whole_bytes: u64,
}

impl Journal {
    /// Starts a journal at `path`.
    pub fn create(path: PathBuf) -> Result<Self, RunError> {
        let mut file = File::create(&path).map_err(system("creating", &path))?;
        if let Err(cause) = file.write_all(MAGIC) {
            // An empty file is no journal: better none at all.
            let _ = std::fs::remove_file(&path);
            return Err(RunError::System { doing: "writing", path, cause });
        }
        Ok(Self { file, path, whole_bytes: MAGIC.len() as u64 })
    }

    /// Appends a frame in one call. When that fails (a full disk), the torn part is cut off again.
    pub fn append(&mut self, frame: &[u8]) -> io::Result<()> {
        if let Err(cause) = self.file.write_all(frame) {
            // Cutting frees space and so works on a full disk.
            self.file.set_len(self.whole_bytes)?;
            self.file.seek(SeekFrom::Start(self.whole_bytes))?;
            return Err(cause);
        }
        self.whole_bytes += frame.len() as u64;
        Ok(())
    }

    /// Length.
    pub fn bytes(&self) -> u64 {
        self.whole_bytes
    }

    /// Where it stands.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// How a journal ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Tail {
    /// After a whole frame.
    Whole,
    /// Bytes follow that are no whole frame.
    Torn {
        /// Length up to there.
        whole_bytes: u64,
        /// Length of the file.
        file_bytes: u64,
    },
}

/// Hands out the rows of each whole frame in order, up to the torn tail.
pub(crate) fn read(
    path: &Path,
    mut each: impl FnMut(Vec<Vec<Cell>>) -> Result<(), RunError>,
) -> Result<Tail, RunError> {
    let file = File::open(path).map_err(system("opening", path))?;
    let file_bytes = file.metadata().map_err(system("looking at", path))?.len();
    let mut reader = BufReader::with_capacity(1 << 16, file);
    let torn = |whole_bytes| Ok(Tail::Torn { whole_bytes, file_bytes });
    let mut magic = [0; MAGIC.len()];
    match reader.read_exact(&mut magic) {
        Ok(()) if magic == *MAGIC => {}
        Ok(()) => {
            let words = |bytes: &[u8]| String::from_utf8_lossy(bytes).escape_default().to_string();
            let (expected, found) = (words(MAGIC), words(&magic));
            return Err(RunError::OtherSchema { path: path.to_owned(), expected, found });
        }
        Err(e) if e.kind() == ErrorKind::UnexpectedEof => return torn(0),
        Err(e) => return Err(system("reading", path)(e)),
    }
    let mut whole = MAGIC.len() as u64;
    let mut body = Vec::new();
    while whole < file_bytes {
        let left = file_bytes - whole;
        let mut bytes = [0; HEAD_BYTES];
        if left < HEAD_BYTES as u64 || !filled(reader.read_exact(&mut bytes), path)? {
            return torn(whole);
        }
        let Some((length, crc)) = head(bytes) else { return torn(whole) };
        if length as u64 > left - HEAD_BYTES as u64 || length > FRAME_BYTES_MAX {
            return torn(whole);
        }
        body.resize(length, 0);
        if !filled(reader.read_exact(&mut body), path)? {
            return torn(whole);
        }
        let Some(rows) = decode(&body, crc) else { return torn(whole) };
        each(rows)?;
        whole += (HEAD_BYTES + length) as u64;
    }
    Ok(Tail::Whole)
}

/// Whether all of it was there; the file may be cut while it is read.
fn filled(read: io::Result<()>, path: &Path) -> Result<bool, RunError> {
    match read {
        Ok(()) => Ok(true),
        Err(e) if e.kind() == ErrorKind::UnexpectedEof => Ok(false),
        Err(e) => Err(system("reading", path)(e)),
    }
}

pub(crate) fn system(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> RunError {
    let path = path.to_owned();
    move |cause| RunError::System { doing, path, cause }
}
