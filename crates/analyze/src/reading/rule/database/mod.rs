//! What databases wait for, beside what their devices say.

mod asynchronous;
mod commit;
mod reads;
mod report;
mod tail;

pub(super) use asynchronous::synchronous;
pub(super) use commit::commits;
pub(super) use reads::{above_devices, bound, small_reads};
pub(super) use tail::tails;
