//! VMware ESXi: esxtop.

mod esxtop;

use super::Format;

/// The formats of this family.
pub static FORMATS: &[Format] = &[esxtop::FORMAT];
