//! Other tools' output, read into one model.
//!
//! [`read`] takes files, folders, archives or standard input; recognises what each is from its content, never from its
//! name; and pushes rows, facts, events and complaints into a [`record::imported::Sink`]. Memory is bounded: text passes in
//! blocks. One folder of `format/` holds the readers of one family of tools; each reader is one type that is given line
//! after line ([`LineFormat`]) or, where lines mean nothing (JSON, XML, HTML), the whole stream ([`DocumentFormat`]).
//!
//! Nothing here concludes: what a number means for the host is said in `analyze`.

mod aside;
pub mod clock;
pub mod format;
mod out;
mod quote;
mod reader;
mod recognise;
mod source;
pub mod text;

pub use format::{DocumentFormat, FORMATS, Format, LineFormat, Reads, Took};
pub use out::{Layout, Out};
pub use quote::quote;
pub use reader::{Reading, Refused, read, read_stream, read_stream_as};
pub use recognise::{Head, Likeness, recognise};
pub use source::DocumentInput;
