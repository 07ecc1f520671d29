//! A recording: what every device of a host did, interval after interval, for days, in a folder of bounded size.
//!
//! | file | holds | written |
//! | --- | --- | --- |
//! | `run.json` | what, when, host, options, how much was kept, lost and dropped ([`crate::run::RunDocument`]) | at the end, by an atomic rename |
//! | `head.json` | the same as far as it was known at the start; it makes an unfinished recording readable | at the start |
//! | `samples-000001.parquet` ... | one row per interval and device | when a segment is full |
//! | `samples-000007.journal` | the segment being written: one checksummed frame per interval | after each interval |
//!
//! The guarantee: after [`RecordingWriter::append`] returned, a crash of the process (`kill -9`) costs nothing of that
//! interval. Reading an unfinished recording yields every whole frame; a torn tail is reported and the rest kept. A
//! power loss may cost what the kernel had not yet written (half a minute by default); syncing each interval would put
//! our own writes among the I/Os that are watched.
//!
//! The folder never grows beyond [`Room::keep_bytes`], and never takes what the file system needs to keep
//! [`Room::leave_free_bytes`] free: the oldest segment is dropped first, and counted. When nothing is left to drop, the
//! interval is lost, and counted; the next one is tried again. Memory does not grow with the length of a recording but for
//! some hundred bytes per segment.
//!
//! A recording that was begun is gone on with when its folder is opened again, finished or not. One process writes
//! at a time: a lock on the folder sees to it.

mod frame;
mod journal;
mod reader;
mod room;
mod row;
mod segment;
mod writer;

pub use reader::{Recording, RecordingRead};
pub use room::Room;
pub use row::DEVICE_SAMPLES_SCHEMA;
pub use writer::{Kept, RecordingWriter, Tally};

/// `what` in the document of a recording.
pub const WHAT: &str = "record";
/// The document of a recording that is not finished.
pub const HEAD_FILE: &str = "head.json";
