//! Bound by: the signature table as a decision over what was measured.
//!
//! Each rule looks for one signature and answers with evidence or not at all. They are asked in an order that lets
//! the surest speak first: a cap that stands in a file, a processor that has no time left, a queue that stands at its
//! own limit; then where the added I/Os stand; and last, that there was too little load to tell.

use crate::bound_by::{BoundBy, BoundLayer};
use crate::case::Case;
use crate::rule;

/// The layer that stops the path. `unknown` is an answer.
pub fn bound_by(case: &Case) -> BoundBy {
    let Some(last) = case.last() else {
        let trouble = rule::pushed_back::task_set_full(case).or_else(|| rule::pushed_back::timed_out(case));
        return trouble.unwrap_or_else(rule::unknown::nothing_measured);
    };
    let rules: [fn(&Case) -> Option<BoundBy>; 18] = [
        rule::pushed_back::task_set_full,
        rule::pushed_back::timed_out,
        rule::throttle::known_cap,
        rule::throttle::io_cost,
        rule::cpu::no_time_left,
        rule::concurrency::still_scales,
        rule::path::uneven,
        rule::device_queue::hot_lun,
        rule::saturation::full_device,
        rule::host_tags::shared,
        rule::host_tags::adapter,
        rule::target::window,
        rule::target::line,
        rule::device_queue::lun_depth,
        rule::throttle::by_the_clock,
        rule::host_queue::requests,
        rule::throttle::flat_as_a_cap,
        rule::standing::where_added_ios_stand,
    ];
    let mut found = rules.iter().filter_map(|rule| rule(case));
    let Some(mut verdict) = found.next() else {
        return rule::unknown::cannot_tell(case, last);
    };
    if verdict.runner_up.is_none() {
        verdict.runner_up = found.find(|v| v.layer != verdict.layer).map(|v| (v.layer, v.headline));
    }
    if verdict.layer != BoundLayer::Unknown {
        verdict.evidence.extend(rule::common_evidence(case));
    }
    verdict
}
