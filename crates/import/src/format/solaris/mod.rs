//! Solaris and illumos: iostat, iostat -E, zpool iostat, mpstat, and the vmstat that HP-UX and FreeBSD have too. Their sar
//! is in [`super::sysv_sar`].

pub(crate) mod device;
mod errors;
mod iostat;
mod zpool;

use super::{Format, unix_vmstat};

/// The formats of this family.
pub static FORMATS: &[Format] = &[
    iostat::FORMAT,
    errors::FORMAT,
    zpool::FORMAT,
    zpool::HISTOGRAM,
    unix_vmstat::VMSTAT,
    unix_vmstat::MPSTAT,
];
