//! FreeBSD: iostat, gstat.

pub(crate) mod device;
mod gstat;
mod iostat;

use super::Format;

/// The formats of this family.
pub static FORMATS: &[Format] = &[iostat::FORMAT, gstat::FORMAT];
