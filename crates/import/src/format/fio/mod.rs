//! fio: JSON, terse, text, logs.

mod job;
mod json;
mod json_scan;
mod log;
mod log_kind;
mod terse;
mod text;
mod text_line;

use super::Format;

/// The formats of this family.
pub static FORMATS: &[Format] = &[json::FORMAT, terse::FORMAT, text::FORMAT, log::FORMAT];
