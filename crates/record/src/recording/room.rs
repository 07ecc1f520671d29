//! How much room a recording may take.

use std::path::Path;

/// The least that is worth keeping: some segments and the files beside them.
pub const KEEP_BYTES_MIN: u64 = 1 << 20;
/// Part of the room that stays free for the documents.
const DOCUMENTS_SHARE: u64 = 16;
/// A segment is at most this part of the room, so that dropping one costs little of the history.
const SEGMENT_SHARE: u64 = 16;
/// Longest segment.
const SEGMENT_BYTES_MAX: u64 = 32 << 20;
/// Longest time in one segment: what is older than this can be read as Parquet.
pub(crate) const SEGMENT_S_MAX: f64 = 3600.0;

/// Bounds on the room a recording takes on disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Room {
    /// The folder is never larger, bytes.
    pub keep_bytes: u64,
    /// The file system keeps at least this much free, bytes.
    pub leave_free_bytes: u64,
}

impl Room {
    /// The smallest room a recording can live in, bytes.
    pub const KEEP_BYTES_MIN: u64 = KEEP_BYTES_MIN;

    /// Room for segments.
    pub(crate) fn segments_bytes(&self) -> u64 {
        self.keep_bytes - self.keep_bytes / DOCUMENTS_SHARE
    }

    /// Length at which a segment is closed.
    pub(crate) fn segment_bytes(&self) -> u64 {
        (self.keep_bytes / SEGMENT_SHARE).clamp(1, SEGMENT_BYTES_MAX)
    }
}

/// Bytes that may still be written to the file system of `dir`; `None` when it does not say.
pub(crate) fn free_bytes(dir: &Path) -> Option<u64> {
    let told = rustix::fs::statvfs(dir).ok()?;
    told.f_bavail.checked_mul(told.f_frsize)
}
