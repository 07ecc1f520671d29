//! fio: JSON, terse, text, logs.

use super::Format;

/// The formats of this family.
pub static FORMATS: &[Format] = &[];
