//! Windows that belong together: those measured while the path stayed the same.
//!
//! A LUN queue depth that moved (the kernel lowered it after TASK SET FULL, raised it again, or somebody wrote it), or a
//! path that failed, makes two paths out of one; their windows are no points of one curve. Windows that never reached
//! the smaller of two limits are the same under both.

use record::{LayerSeen, Step};
use std::collections::BTreeMap;

/// Limits by layer.
type Limits<'a> = BTreeMap<&'a str, (f64, f64)>;

fn limits(step: &Step) -> Limits<'_> {
    let range =
        |l: &LayerSeen| l.device_queue_limit_range.filter(|(low, high)| low.is_finite() && high.is_finite());
    step.layers.iter().filter_map(|l| Some((l.name.as_str(), range(l)?))).collect()
}

fn outstanding(step: &Step) -> f64 {
    let measured = step.outstanding_mean().unwrap_or(0.0);
    step.concurrency().map_or(measured, f64::from)
}

/// Whether each step belongs to the path as it was last: same limits on device queues, or never as deep as any of them.
pub fn comparable(steps: &[Step]) -> Vec<bool> {
    // Lowest value of each limit seen in the whole run: what stays below it cannot have met any.
    let mut lowest: BTreeMap<&str, f64> = BTreeMap::new();
    for (name, (low, _)) in steps.iter().flat_map(limits) {
        lowest.entry(name).and_modify(|l| *l = l.min(low)).or_insert(low);
    }
    let shallow = |step: &Step| lowest.values().all(|low| outstanding(step) <= *low);
    let present = steps.iter().rev().find(|s| !shallow(s) && !limits(s).is_empty()).map(limits);
    steps
        .iter()
        .map(|step| match &present {
            None => true,
            Some(_) if shallow(step) => true,
            Some(present) => limits(step).iter().all(|(name, (low, high))| {
                low == high && present.get(name).is_none_or(|(_, last)| last == high)
            }),
        })
        .collect()
}

/// Whether a step is a window of its path as it is: nothing was refused, no path came or went, and it belongs to the
/// path as it was last.
pub fn clean(steps: &[Step]) -> Vec<bool> {
    comparable(steps)
        .into_iter()
        .zip(steps)
        .map(|(comparable, step)| {
            comparable && !step.incidents.pushed_back() && !step.incidents.paths_changed()
        })
        .collect()
}
