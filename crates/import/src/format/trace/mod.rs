//! Traces: blkparse, btt, strace, truss.

mod blkparse;
mod btt;
mod calls;

use super::Format;

/// The formats of this family.
pub static FORMATS: &[Format] = &[blkparse::FORMAT, btt::FORMAT, calls::TRUSS, calls::STRACE];
