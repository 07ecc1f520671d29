//! The search for the load line over any [`record::Subject`].
//!
//! [`search`] puts a subject under load and answers [`Searched`]; with the points, the verdict and the doubts of the
//! `analyze` crate it becomes an [`Answer`]. Nothing here prints; [`Progress`] is told before each window.

pub mod answer;
mod assemble;
mod beyond;
pub mod block;
mod confirm;
pub mod estimate;
mod judge;
mod marks;
mod open;
pub mod options;
mod refine;
mod rise;
mod search;
mod session;
mod shift;
pub mod simulated;
mod sweep;

pub use answer::{Answer, Comfort, Knee, LoadLine, OpenPoint, Outcome, Percentiles};
pub use options::{OpenLoop, Options, ProbeError, Progress, SoFar, State};
pub use search::{Searched, search};
