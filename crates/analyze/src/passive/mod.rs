//! The passive load line: what recorded production load alone says about how much a device carries.
//!
//! Nobody chose this load, so nobody knows whether it ever came near the limit. The chain is: intervals are gathered
//! into windows that hold enough I/Os to have a mean ([`window`]); windows are counted in cells of throughput and
//! response time ([`cells`]), bounded however long the recording is; a curve is fitted ([`curve`]) and believed only where
//! the load visited both its flat part and its bend, where one curve describes all of the recording, and where the
//! intervals left out one by one do not move it. Otherwise the answer is 'cannot tell', with the reason and with what is
//! sure all the same: the largest throughput that was seen.
//!
//! Response time here is Little's: I/Os inside the device's queues over completions, so queues, throughput and time of a
//! window agree by construction.

mod cells;
mod curve;
mod device;
mod gather;
mod probed;
mod window;

pub use cells::Cell;
pub use curve::{CannotTell, Curve};
pub use device::{Added, DeviceLine, Moment, Visited};
pub use gather::{COLUMNS, Passive};
pub use probed::{ProbeLine, ProbeShare, compare};
pub use window::Interval;
