//! What another tool wrote, in one model: text of iostat, sar, AWR, fcstat ... from any platform.
//!
//! A reader pushes what it finds into a [`Sink`], block by block, so that a file of any size passes in bounded memory:
//! [`Rows`] of measurements, [`Fact`]s (settings and what things are), [`Event`]s, [`Distribution`]s, and [`Complaint`]s
//! about what it could not read. Every one of them knows its source and line. Units are converted once, by the reader:
//! a [`Quantity`] has one unit, which stands in its name. Absent is NaN in rows and `None` elsewhere, never 0.

mod gathered;
mod keep;
mod note;
mod place;
mod quantity;
mod rows;
mod sink;

pub use gathered::{Gathered, Row};
pub use keep::{Both, IMPORTED_NOTES_SCHEMA, IMPORTED_SAMPLES_SCHEMA, ImportedWriter};
pub use note::{Complaint, Distribution, Event, EventKind, Fact, Value, facts};
pub use place::{Host, HostId, Place, PlaceId, PlaceKind, Platform};
pub use quantity::Quantity;
pub use rows::{Basis, Interval, Origin, RowHead, Rows, RowsKind};
pub use sink::{Sink, Source, SourceId};
