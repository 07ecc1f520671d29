//! This host: the I/O path with its limits and tunables, samplers that follow the queue, and what can be measured.
//!
//! Four entry points: [`path::trace`] resolves a target down to its devices, [`sample::PathFollower`] says where
//! the I/Os of one path stood during a window, [`survey::Survey`] says the same of every device of the host, interval
//! after interval, and [`doctor::examine`] says what can be measured here. All of them only read, and
//! read only files named in this crate (an allow-list): a mere read of some driver's sysfs file has side effects.

pub mod doctor;
pub mod facts;
pub mod inspect;
pub mod observer;
pub mod path;
pub mod root;
pub mod sample;
pub mod survey;
pub mod trace;

mod notes;

pub use root::Root;
