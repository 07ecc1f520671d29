//! The load generator: engines, workloads, targets and their safety.
//!
//! Put a target under load in three calls: [`resolve`] finds out what the target is and opens it (making and filling
//! a file of our own when it is a directory), [`open`] puts a workload and an engine to it, and the [`LoadSubject`] answers
//! with measured steps. Between the calls the opened file is known, so that whoever follows the queue can find its path.
//!
//! Guarantees: nothing that Plimsoll did not make is written to, unless the ladder of [`safety`] was climbed; nothing is
//! allocated, locked or formatted per I/O; a step always ends; own files are removed at the end, after a panic, and after
//! `kill -9` by the next start in the same directory.
//!
//! The map: [`engine`] hands I/O to the kernel, [`drive`] keeps an engine loaded and counts, [`crew`] holds the worker threads,
//! [`measure`] makes a step of what they report, [`workload`] chooses I/Os, [`target`] opens what is loaded.

pub mod buffers;
pub mod clock;
pub mod cpu;
pub mod crew;
pub mod drive;
pub mod engine;
pub mod error;
pub mod measure;
pub mod options;
pub mod plan;
pub mod recorder;
pub mod rng;
pub mod safety;
pub mod subject;
pub mod target;
pub mod workload;

pub use engine::EngineKind;
pub use error::{Error, ErrorKind};
pub use options::Options;
pub use plan::open;
pub use subject::LoadSubject;
pub use target::{Filling, Target, TargetKind, resolve};
pub use workload::{Overrides, Pattern, SyncMode, Workload};

/// Blocks of the region that each outstanding I/O must find, so that I/Os in flight seldom meet in one block.
pub const BLOCKS_PER_IO: u64 = 4;
