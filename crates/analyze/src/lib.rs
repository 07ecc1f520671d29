//! From what was seen to what it means: follow the queue, bound by, doubts. Nothing here measures or prints.

pub mod bound_by;
pub mod point;

pub use bound_by::{Advice, BoundBy, BoundLayer};
pub use point::{Point, Queue};
