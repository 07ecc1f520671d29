//! AIX: iostat, sar, fcstat, lsattr, lspv, lslv, lvmstat, errpt, lsmpio, nmon.

use super::Format;

/// The formats of this family.
pub static FORMATS: &[Format] = &[];
