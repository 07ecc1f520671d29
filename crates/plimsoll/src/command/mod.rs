//! One command each.

pub mod doctor;
pub mod export;
pub mod inspect;
pub mod probe;
pub mod record;
pub mod report;
pub mod watch;
