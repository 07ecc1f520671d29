//! Columns of vmstat. vmstat(8).

use record::imported::Quantity::{self, *};

const KIB: f64 = 1024.0;

/// What a column is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Column {
    /// A number that is kept, times a factor.
    Kept(Quantity, f64),
    /// Known, and of no use here.
    Dropped,
    /// Not known.
    Unread,
    /// Date and time.
    Time {
        /// The zone is that of the header.
        is_utc: bool,
    },
}

/// The column of a name. `unit` is the number of bytes that memory is told in; blocks are of 1024 bytes since 2.6.
pub(super) fn column(name: &str, unit: f64) -> Column {
    let (quantity, factor) = match name {
        "r" => (RunQueue, 1.0),
        "b" => (BlockedTasks, 1.0),
        "swpd" => (SwapUsedBytes, unit),
        "free" => (FreeBytes, unit),
        "buff" | "cache" => (CacheBytes, unit),
        "si" => (SwapInBytesPerS, KIB),
        "so" => (SwapOutBytesPerS, KIB),
        "bi" => (PageInBytesPerS, KIB),
        "bo" => (PageOutBytesPerS, KIB),
        "in" => (InterruptsPerS, 1.0),
        "cs" => (SwitchesPerS, 1.0),
        "us" => (CpuUserPercent, 1.0),
        "sy" => (CpuSystemPercent, 1.0),
        "id" => (CpuIdlePercent, 1.0),
        "wa" => (CpuIowaitPercent, 1.0),
        "st" => (CpuStealPercent, 1.0),
        "gu" => (CpuGuestPercent, 1.0),
        // Option -a; `w` of old kernels.
        "inact" | "active" | "w" => return Column::Dropped,
        _ => return Column::Unread,
    };
    Column::Kept(quantity, factor)
}
