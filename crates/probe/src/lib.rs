//! The search for the load line over any [`record::Subject`].

pub mod answer;

pub use answer::{Answer, Comfort, Knee, LoadLine, OpenPoint, Outcome, Percentiles};
