//! Linux outside sysstat: vmstat, /proc/diskstats, node_exporter, memory maps.

pub(crate) mod collector;
pub(crate) mod device;
mod diskstats;
mod node_exporter;
mod pmap;
mod smaps;
mod vmstat;

use super::Format;

/// The formats of this family.
pub static FORMATS: &[Format] =
    &[smaps::FORMAT, pmap::FORMAT, vmstat::FORMAT, diskstats::FORMAT, node_exporter::FORMAT];
