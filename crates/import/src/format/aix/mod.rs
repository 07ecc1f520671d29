//! AIX: iostat, sar, fcstat, lsattr, lspv, lslv, lvmstat, errpt, lsmpio, nmon.

pub(crate) mod device;
mod errpt;
mod fcstat;
mod iostat;
pub(crate) mod lsattr;
mod lsmpio;
mod lvm;
mod lvmstat;
mod nmon;
mod vmstat;

use super::Format;

/// The formats of this family.
pub static FORMATS: &[Format] = &[
    iostat::FORMAT,
    fcstat::FORMAT,
    lsattr::FORMAT,
    lvm::FORMAT,
    lvmstat::FORMAT,
    errpt::FORMAT,
    lsmpio::FORMAT,
    nmon::FORMAT,
    vmstat::FORMAT,
];
