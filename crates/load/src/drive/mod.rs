//! Keeps an engine loaded as asked, and counts what comes back.
//!
//! **Clock reads.** One per batch: after reaping. All I/Os of a batch get that instant as their completion, and the
//! I/Os that refill their slots get it as their start. A start is therefore early by the time it takes to record and
//! refill the batch (about 20 ns per I/O): response times are never too short, and too long by at most that. On a real device a
//! batch holds one or a few I/Os and the stamp is exact; where everything completes within the system call that
//! submits it (page cache), the batch is the whole depth and each response is the time of a whole turn, which is what
//! Little's law demands of a closed loop: N I/Os outstanding at X per second stay N/X.

pub mod closed;
pub mod lane;
pub mod meter;
pub mod open;

pub use lane::{Lane, LaneDemand};
pub use meter::{Control, Failure, Meter, Progress, Report, SliceCounts, WindowSeen};
