//! Solaris and illumos: iostat, iostat -E, zpool iostat, vmstat, mpstat. Their sar is in [`super::sysv_sar`].

pub(crate) mod device;
mod errors;
mod iostat;
mod zpool;

use super::Format;

/// The formats of this family.
pub static FORMATS: &[Format] = &[iostat::FORMAT, errors::FORMAT, zpool::FORMAT];
