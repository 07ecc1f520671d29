//! The virtual machine: its command line, and its life.

pub mod arguments;
pub mod leash;
pub mod machine;
