//! From what was seen to what it means: follow the queue, bound by, doubts. Nothing here measures or prints.

pub mod bound_by;
pub mod case;
pub mod doubts;
pub mod growth;
pub mod happenings;
pub mod point;
pub mod rule;
pub mod split;
pub mod verdict;

pub use bound_by::{Advice, BoundBy, BoundLayer};
pub use case::Case;
pub use doubts::doubts;
pub use happenings::{Happening, HappeningKind, Happenings};
pub use point::{Point, Queue, points};
pub use split::{Split, split};
pub use verdict::bound_by;
