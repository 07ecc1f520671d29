//! What there is: multipath, lsscsi, lsblk, nvme list, fc_host and SCSI attributes.

use super::Format;

/// The formats of this family.
pub static FORMATS: &[Format] = &[];
