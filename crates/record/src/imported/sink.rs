//! Whoever takes what a reader finds.

use super::note::{Complaint, Distribution, Event, Fact};
use super::place::{Host, HostId, Place, PlaceId};
use super::rows::Rows;

/// Index of a [`Source`] in the order in which a [`Sink`] met them.
pub type SourceId = u32;

/// A text: a file, a member of an archive, or standard input.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Source {
    /// Its path; of a member `archive.tar.gz/inner/file`; `-` for standard input.
    pub path: String,
    /// Short name of its format: `linux-iostat`.
    pub format: String,
    /// What the format was recognised by.
    pub why: String,
}

/// Takes what a reader finds, in the order of the text. A host or place is announced before the first use of its index.
pub trait Sink {
    /// A source is begun; all that follows stems from it until the next. A source of several formats is begun several
    /// times, with the same path.
    fn source(&mut self, id: SourceId, source: &Source);
    /// A host was met for the first time, or more is known of it.
    fn host(&mut self, id: HostId, host: &Host);
    /// A place was met for the first time.
    fn place(&mut self, id: PlaceId, place: &Place);
    /// Rows. `block` is the text their origins point into; rows of documents (JSON, XML, HTML) point nowhere.
    fn rows(&mut self, rows: &Rows, block: &str);
    /// A setting, an identity, a count.
    fn fact(&mut self, fact: &Fact, block: &str);
    /// Something happened.
    fn event(&mut self, event: &Event, block: &str);
    /// A distribution.
    fn distribution(&mut self, distribution: &Distribution);
    /// Something could not be read.
    fn complaint(&mut self, source: SourceId, complaint: &Complaint);
    /// Something about the source that whoever reads the answer should know: an ambiguity and how it was decided, columns
    /// that were left unread.
    fn remark(&mut self, source: SourceId, remark: &str);
    /// The source ended.
    fn end(&mut self, source: SourceId);
}
