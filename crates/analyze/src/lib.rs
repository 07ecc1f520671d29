//! From what was seen to what it means: follow the queue, bound by, doubts. Nothing here measures or prints.

pub mod bound_by;
pub mod case;
pub mod ceiling;
pub mod doubts;
pub mod finding;
pub mod growth;
pub mod happenings;
pub mod inspect;
pub mod outlook;
pub mod passive;
pub mod point;
pub mod reading;
pub mod regime;
pub mod rule;
pub mod rulebook;
pub mod split;
pub mod totals;
pub mod trouble;
pub mod verdict;

pub use bound_by::{Advice, BoundBy, BoundLayer};
pub use case::Case;
pub use doubts::doubts;
pub use finding::{Evidence, Finding, Severity};
pub use happenings::{Happening, HappeningKind, Happenings};
pub use point::{Point, Queue, points};
pub use split::{Offered, Split, split};
pub use trouble::DeviceTrouble;
pub use verdict::bound_by;
