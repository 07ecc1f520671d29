//! Cannot tell, and why.

use crate::bound_by::{Advice, BoundBy, BoundLayer};
use crate::case::Case;
use crate::point::Point;

/// No point at all.
pub fn nothing_measured() -> BoundBy {
    verdict("nothing was measured".to_owned(), Vec::new(), "any measured window")
}

/// Points, but no signature.
pub fn cannot_tell(case: &Case, last: &Point) -> BoundBy {
    let growth = case.growth.as_ref();
    let why = if growth.is_none() {
        "one concurrency alone has no slope: measure at least two".to_owned()
    } else if last.layers.is_empty() {
        "no counters of the path could be read".to_owned()
    } else if last.host_queue.mean.is_none() {
        "the counters do not tell the host queue from the device here".to_owned()
    } else {
        "added I/Os stand in no one layer".to_owned()
    };
    let mut verdict = verdict(
        format!("cannot tell: {why}"),
        crate::rule::common_evidence(case),
        "a finer sweep near the load line (--depths)",
    );
    verdict
        .advice
        .push(Advice::words("Probe longer (--budget 120s) or list depths around the load line (--depths)."));
    verdict
}

fn verdict(headline: String, evidence: Vec<String>, refuted_by: &str) -> BoundBy {
    BoundBy {
        layer: BoundLayer::Unknown,
        headline,
        evidence,
        refuted_by: refuted_by.to_owned(),
        runner_up: None,
        advice: Vec::new(),
    }
}
