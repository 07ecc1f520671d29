//! From other tools' text to findings.
//!
//! A [`Digest`] takes what readers push, in bounded memory, whatever the tool: the course of every device as one kind of
//! [`DevicePoint`], processors, traced requests, rows of database reports, facts and events. [`findings`] asks every rule
//! (`rules/*.toml` says what each looks for, `rule/` does it) and puts the worst first.

#![allow(
    clippy::neg_cmp_op_on_partial_ord,
    reason = "what is not known is NaN, and no comparison holds for it"
)]

mod case;
mod counters;
mod digest;
mod joined;
mod point;
mod processor;
mod requests;
mod rule;
mod series;
mod span;

pub use case::{ReadCase, computed};
pub use digest::{Digest, ReportRow, SourceSeen};
pub use joined::{Clock, Clocks, Window};
pub use point::DevicePoint;
pub use processor::{ProcessorPoint, ProcessorSeries};
pub use requests::{OfSize, Requests};
pub use rule::findings;
pub use series::Series;
pub use span::Span;
