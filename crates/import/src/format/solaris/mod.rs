//! Solaris and illumos: iostat, iostat -E, sar, zpool iostat.

use super::Format;

/// The formats of this family.
pub static FORMATS: &[Format] = &[];
