//! Numbers with their doubt: pure functions over slices of numbers.
//!
//! No I/O, no clock, nothing of ours below. A measured series is rarely made of independent samples, so whatever
//! gives an interval here asks for the correlation or finds it ([`series`]). Every routine names its source.
//!
//! | question | where |
//! | --- | --- |
//! | how sure is this mean? | [`series::mean_interval`], [`series::effective_size`] |
//! | how sure is this percentile? | [`order::quantile_ranks`], [`early_stop`] |
//! | how does a rate of misses grow with load? | [`poisson`], [`isotonic`] |
//! | where does warming up end, is it steady, did it step? | [`steady`], [`change`] |
//! | what curve has the path, where is its knee? | [`closed`] |
//! | what would theory say? | [`queueing`], [`network`] |
//! | an interval for anything | [`bootstrap`] |

pub mod bootstrap;
pub mod change;
pub mod closed;
pub mod distribution;
pub mod early_stop;
pub mod isotonic;
pub mod line;
pub mod network;
pub mod order;
pub mod poisson;
pub mod queueing;
pub mod random;
pub mod series;
pub mod station;
pub mod steady;

pub use distribution::{normal_cdf, normal_quantile, student_t_quantile};
pub use random::Random;
