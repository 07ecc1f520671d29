//! This host: the I/O path, limits and tunables, samplers.

pub mod root;

pub use root::Root;
