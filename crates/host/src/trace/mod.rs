//! The tracer: with root, where every block request stands, summed up in the kernel by a small eBPF program.
//!
//! A request carries two times: its acceptance by the block layer and its dispatch to the driver. At completion host
//! wait = dispatch - acceptance and service time = completion - dispatch, so one program on one tracepoint sees both
//! queues, without a map that remembers requests. Histograms and sums stay in the kernel; [`Tracer::read`] takes what
//! was added since the last read.
//!
//! **Time-weighted queues.** The mean number standing in a queue over a window is the time spent there by all
//! requests within the window, divided by its length: the whole times of requests completed in the window, less what
//! they had spent when it began, plus what those in flight at its end have spent. The last two are read from a table
//! of requests in flight (so the queue of a hung device, which completes nothing, is seen). The table is read within
//! some 100 us after the window's end (longer when the reader is kept from its processor); what completes in between
//! shows in the next window instead, so nothing is lost or counted twice over windows.
//!
//! **What is counted where.** A request that the driver gave back (requeue) waits in the host again: only its last
//! time at the device is service. A write without data, which only waits for a flush, is not an I/O of the device:
//! it is counted in `flush_waits`, and the flush itself in its class. Since 6.9 the kernel takes acceptance times once
//! per plugged batch, so waits are exact to the length of a batch's submission (microseconds).
//!
//! Bio-based devices (device mapper in bio mode, MD, zram) have no requests: only who asked is seen of them.
//!
//! Everything is bounded by [`Options::memory_max_bytes`] and by fixed tables; whatever finds no place is counted in
//! [`Lost`]. Dropping the tracer detaches it.

mod askers;
mod attach;
mod btf;
mod devices;
mod in_flight;
mod layout;
mod scsi;
mod slots;
mod sums;
mod tracer;
mod unavailable;
mod window;

pub(crate) use scsi::is_loaded as scsi_is_loaded;
pub use tracer::{Options, Parts, ScsiSource, Tracer};
pub use unavailable::{Unavailable, Why};
pub use window::{
    Asker, Class, ClassWindow, DeviceWindow, Lost, ScsiCounts, ScsiWindow, TraceWindow, size_of_bucket_bytes,
};
