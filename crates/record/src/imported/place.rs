//! Where a measurement belongs: a host, and a thing on it.

use serde::{Deserialize, Serialize};

/// Index of a [`Host`] in the order in which a [`super::Sink`] met them.
pub type HostId = u32;
/// Index of a [`Place`] in the order in which a [`super::Sink`] met them.
pub type PlaceId = u32;

/// The operating system that wrote a text. Advice depends on it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Platform {
    /// Linux.
    Linux,
    /// Oracle Solaris and illumos.
    Solaris,
    /// IBM AIX.
    Aix,
    /// HP-UX.
    HpUx,
    /// FreeBSD.
    FreeBsd,
    /// VMware ESXi.
    Esxi,
    /// Not told by the text.
    #[default]
    Unknown,
}

impl Platform {
    /// Its name, as its makers write it.
    pub fn title(self) -> &'static str {
        match self {
            Self::Linux => "Linux",
            Self::Solaris => "Solaris",
            Self::Aix => "AIX",
            Self::HpUx => "HP-UX",
            Self::FreeBsd => "FreeBSD",
            Self::Esxi => "ESXi",
            Self::Unknown => "unknown",
        }
    }
}

/// A host, as far as a text names it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Host {
    /// Its name; absent where the text has none.
    pub name: Option<String>,
    /// What it runs.
    pub platform: Platform,
    /// Release of the operating system, as written: `3.10.0-1062.el7.x86_64`, `5.10`.
    pub release: Option<String>,
    /// Logical processors.
    pub processors: Option<u32>,
}

/// What kind of thing a row describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PlaceKind {
    /// The host as a whole: all processors, memory.
    Host,
    /// One processor.
    Cpu,
    /// A disk or LUN, as the operating system shows it.
    Device,
    /// A partition or slice of a disk.
    Partition,
    /// A logical volume, device-mapper or MD device, or another layer above disks.
    Volume,
    /// One path to a LUN.
    Path,
    /// A host bus adapter or its port.
    Adapter,
    /// A ZFS pool or one of its groups (vdev).
    Pool,
    /// A mounted filesystem, network filesystems included.
    Filesystem,
    /// A terminal or a tape.
    Other,
    /// A process or thread.
    Process,
    /// A kind of system call.
    Call,
    /// A database instance as a whole.
    Database,
    /// A wait event of a database.
    WaitEvent,
    /// A function of a database that does I/O (`LGWR`, `Buffer Cache Reads`).
    IoFunction,
    /// A tablespace.
    Tablespace,
    /// A file of a database.
    DatabaseFile,
    /// A job or step of a load generator (fio, Orion).
    Job,
}

/// A thing on a host.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Place {
    /// The host.
    pub host: HostId,
    /// What it is.
    pub kind: PlaceKind,
    /// Its name as the text has it; empty for a host as a whole.
    pub name: String,
}
