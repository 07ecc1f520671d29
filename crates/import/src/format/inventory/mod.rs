//! What there is: multipath, lsscsi, lsblk, nvme list, fc_host and SCSI attributes.

mod json;
mod lsblk;
mod lsscsi;
mod multipath;
mod nvme;
mod sysfs;

pub(crate) use lsblk::Lsblk;
pub(crate) use multipath::Multipath;

use super::Format;

/// The formats of this family.
pub static FORMATS: &[Format] = &[
    multipath::FORMAT,
    lsscsi::FORMAT,
    lsblk::FORMAT,
    lsblk::json::FORMAT,
    nvme::FORMAT,
    nvme::json::FORMAT,
    sysfs::FORMAT,
];
