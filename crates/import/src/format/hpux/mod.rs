//! HP-UX: sar, iostat.

use super::Format;

/// The formats of this family.
pub static FORMATS: &[Format] = &[];
