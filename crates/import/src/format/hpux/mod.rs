//! HP-UX: iostat. Its sar is in [`super::sysv_sar`].

mod iostat;

use super::Format;

/// The formats of this family.
pub static FORMATS: &[Format] = &[iostat::FORMAT];
