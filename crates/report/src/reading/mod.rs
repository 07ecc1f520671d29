//! What other tools' text says: verdict page and JSON drawn from one struct, [`ReadReport`]; and the rules explained.

mod explain;
mod json;
mod text;

pub use explain::{formats, rule, rules};
pub use json::{SCHEMA, document};
pub use text::text;

use analyze::Finding;
use analyze::reading::Digest;

/// What was read and concluded.
#[derive(Clone, Debug)]
pub struct ReadReport<'r> {
    /// What was read.
    pub digest: &'r Digest,
    /// Texts that were not read, and why.
    pub refused: Vec<(String, String)>,
    /// The worst first.
    pub findings: &'r [Finding],
    /// Where it was kept; absent when it was not.
    pub run: Option<String>,
}
