//! One command each.

pub mod doctor;
pub mod probe;
pub mod report;
pub mod watch;
