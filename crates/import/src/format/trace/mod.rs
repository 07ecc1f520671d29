//! Traces: blkparse, btt, strace, truss.

use super::Format;

/// The formats of this family.
pub static FORMATS: &[Format] = &[];
