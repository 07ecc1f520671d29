//! This host: the I/O path with its limits and tunables, samplers that follow the queue, and what can be measured.
//!
//! Three entry points: [`path::trace`] resolves a target down to its devices, [`sample::PathFollower`] says where
//! the I/Os stood during a window, [`doctor::examine`] says what can be measured here. All of them only read, and
//! read only files named in this crate (an allow-list): a mere read of some driver's sysfs file has side effects.

pub mod doctor;
pub mod facts;
pub mod path;
pub mod root;
pub mod sample;
pub mod trace;

mod notes;

pub use root::Root;
