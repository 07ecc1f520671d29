//! Oracle: AWR as text and HTML, Statspack, SLOB, Orion.

use super::Format;

/// The formats of this family.
pub static FORMATS: &[Format] = &[];
