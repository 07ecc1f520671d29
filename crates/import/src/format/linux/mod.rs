//! Linux outside sysstat: vmstat, /proc/diskstats, node_exporter, memory maps.

pub(crate) mod device;
mod pmap;
mod smaps;

use super::Format;

/// The formats of this family.
pub static FORMATS: &[Format] = &[smaps::FORMAT, pmap::FORMAT];
