//! sysstat on Linux: iostat, sar, sadf, mpstat, pidstat.

mod banner;
mod iostat;

use super::Format;

/// The formats of this family.
pub static FORMATS: &[Format] = &[iostat::FORMAT];
