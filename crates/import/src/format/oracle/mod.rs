//! Oracle: AWR as text and HTML, Statspack, SLOB, Orion.

mod html;
mod report;
mod text;

use super::Format;

/// The formats of this family.
pub static FORMATS: &[Format] = &[text::AWR_FORMAT, text::STATSPACK_FORMAT, html::AWR_HTML];
