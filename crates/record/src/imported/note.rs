//! What is no series of numbers: settings, events, distributions, and complaints.

use super::place::PlaceId;
use super::quantity::Quantity;
use super::rows::Origin;
use crate::step::IoClass;
use serde::{Deserialize, Serialize};

/// A value of a setting.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Value {
    /// A number, in the unit that the fact's name says.
    Number(f64),
    /// Anything else, as written.
    Text(String),
}

impl Value {
    /// The number, where it is one.
    pub fn number(&self) -> Option<f64> {
        match self {
            Self::Number(n) => Some(*n),
            Self::Text(_) => None,
        }
    }

    /// The text; a number as it is usually written.
    pub fn text(&self) -> String {
        match self {
            Self::Number(n) => n.to_string(),
            Self::Text(t) => t.clone(),
        }
    }
}

impl From<f64> for Value {
    fn from(n: f64) -> Self {
        Self::Number(n)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

/// Names of facts that conclusions rest on. Readers may state others under names of their own.
pub mod facts {
    /// LUN queue depth in force.
    pub const QUEUE_DEPTH: &str = "queue_depth";
    /// Commands an adapter takes at once (AIX `num_cmd_elems`, `can_queue`).
    pub const ADAPTER_COMMANDS: &str = "adapter_commands";
    /// Largest transfer of an adapter or device, bytes.
    pub const MAX_TRANSFER_BYTES: &str = "max_transfer_bytes";
    /// I/O scheduler in force.
    pub const SCHEDULER: &str = "scheduler";
    /// `nr_requests`.
    pub const NR_REQUESTS: &str = "nr_requests";
    /// Path selector or algorithm of a multipath device.
    pub const PATH_SELECTOR: &str = "path_selector";
    /// Name of the device that this is a path of, a partition of, or a member of.
    pub const PART_OF: &str = "part_of";
    /// State of a path, as written: `active ready running`, `Enabled`, `failed`.
    pub const PATH_STATE: &str = "path_state";
    /// Size in bytes.
    pub const SIZE_BYTES: &str = "size_bytes";
    /// Vendor.
    pub const VENDOR: &str = "vendor";
    /// Product.
    pub const PRODUCT: &str = "product";
    /// World-wide identifier.
    pub const WWID: &str = "wwid";
    /// SCSI address `host:channel:target:lun`.
    pub const SCSI_ADDRESS: &str = "scsi_address";
    /// Counts since an adapter was reset: no command element was free.
    pub const NO_COMMAND_RESOURCE: &str = "no_command_resource_count";
    /// No adapter element was free.
    pub const NO_ADAPTER_ELEMENTS: &str = "no_adapter_elements_count";
    /// No DMA memory was free.
    pub const NO_DMA_RESOURCE: &str = "no_dma_resource_count";
    /// Seconds since the counts above were reset.
    pub const SINCE_RESET_S: &str = "since_reset_s";
    /// Block size of a database, bytes.
    pub const DATABASE_BLOCK_BYTES: &str = "database_block_bytes";
    /// Release of a database.
    pub const DATABASE_RELEASE: &str = "database_release";
    /// Version of the tool that wrote the text.
    pub const TOOL_VERSION: &str = "tool_version";
    /// Hard errors, soft errors, transport errors since boot (Solaris `iostat -E`).
    pub const HARD_ERRORS: &str = "hard_errors";
    /// See [`HARD_ERRORS`].
    pub const SOFT_ERRORS: &str = "soft_errors";
    /// See [`HARD_ERRORS`].
    pub const TRANSPORT_ERRORS: &str = "transport_errors";
    /// Bytes that a program asked for at once, as its command line says (`dd bs=1M`), on the device it names or on the host.
    pub const ASKED_BYTES: &str = "asked_bytes";
    /// Block size of a filesystem, bytes (`fstyp -v`), on the volume it lies on or on the host.
    pub const FILESYSTEM_BLOCK_BYTES: &str = "filesystem_block_bytes";
    /// Speed of a port, bits per second.
    pub const PORT_SPEED_BITS_PER_S: &str = "port_speed_bits_per_s";
}

/// A setting, an identity, or a count since some reset.
#[derive(Clone, Debug, PartialEq)]
pub struct Fact {
    /// What it belongs to.
    pub place: PlaceId,
    /// One of [`facts`], or the reader's own name, in snake case and with its unit.
    pub name: String,
    /// Its value.
    pub value: Value,
    /// Where it stands.
    pub origin: Origin,
}

/// Kinds of events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EventKind {
    /// The host or the tool was started again: counters began anew.
    Restart,
    /// A device appeared.
    DeviceAdded,
    /// A device went.
    DeviceRemoved,
    /// A disk or LUN reported an error.
    DiskError,
    /// An adapter, link or fabric reported an error.
    AdapterError,
    /// A path failed.
    PathFailed,
    /// A path came back.
    PathRestored,
    /// TASK SET FULL, QUEUE FULL or BUSY.
    QueueFull,
    /// A command timed out, was aborted, or a reset was sent.
    Timeout,
    /// Anything else worth a line.
    Other,
}

/// Something that happened.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// What it happened to.
    pub place: PlaceId,
    /// What kind.
    pub kind: EventKind,
    /// When, on the clock of the source (see [`super::Interval::at_s`]); NaN when not told.
    pub at_s: f64,
    /// What was written, or its label and description.
    pub text: String,
    /// Where it stands.
    pub origin: Origin,
}

/// How a quantity was distributed.
#[derive(Clone, Debug, PartialEq)]
pub struct Distribution {
    /// What it belongs to.
    pub place: PlaceId,
    /// What was counted, for example [`Quantity::ResponseUs`].
    pub quantity: Quantity,
    /// Reads, writes, or all.
    pub class: Option<IoClass>,
    /// Upper bound of each bucket in the quantity's unit (the last may be infinite), and how many fell into it (not
    /// cumulative). Shares are given as numbers that sum to 1.
    pub buckets: Vec<(f64, f64)>,
    /// Where it begins.
    pub origin: Origin,
}

/// Something that could not be read. What stands around it is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Complaint {
    /// Line, from 1; 0 for the source as a whole.
    pub line: u64,
    /// What was expected there.
    pub expected: String,
    /// What was found, shortened.
    pub found: String,
}
