//! FreeBSD: iostat, gstat.

use super::Format;

/// The formats of this family.
pub static FORMATS: &[Format] = &[];
