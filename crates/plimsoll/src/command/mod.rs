//! One command each.

pub mod doctor;
pub mod explain;
pub mod export;
pub mod inspect;
pub mod probe;
pub mod read;
pub mod record;
pub mod report;
pub mod watch;
