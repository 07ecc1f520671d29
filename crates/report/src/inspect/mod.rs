//! `plimsoll inspect`: how a process does I/O, as text and as JSON.

mod json;
mod text;

pub use json::document;
pub use text::text;

use analyze::inspect::{Caching, HowItDoesIo, Way, WayInUse};

/// The answer in one sentence per way.
fn sentences(how: &HowItDoesIo) -> Vec<String> {
    if how.ways.is_empty() {
        return vec!["No I/O on files was seen.".to_owned()];
    }
    how.ways.iter().enumerate().map(|(at, way)| sentence(way, at > 0)).collect()
}

fn sentence(way: &WayInUse, besides: bool) -> String {
    let kind = match way.way {
        Way::IoUring => "asynchronous I/O (io_uring)",
        Way::Libaio => "asynchronous I/O (libaio)",
        Way::Synchronous => "synchronous I/O",
    };
    let caching = match way.caching {
        Some(Caching::Direct) => ", direct (past the page cache)",
        Some(Caching::Buffered) => ", buffered (through the page cache)",
        Some(Caching::Both) => ", direct on some files and buffered on others",
        None => "",
    };
    let start = if besides { "Besides, it does" } else { "It does" };
    let at_least = way.outstanding_at_least;
    let outstanding = match (way.outstanding.or(at_least), way.outstanding_limit) {
        (Some(mean), _) => {
            let least = if way.outstanding.is_none() { "at least " } else { "" };
            format!("; {least}{} outstanding on average", crate::number::standing(mean))
        }
        (None, Some(limit)) => format!("; at most {limit} may be outstanding"),
        (None, None) => String::new(),
    };
    format!("{start} {kind}{caching}{outstanding}.")
}
