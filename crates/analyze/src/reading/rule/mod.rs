//! What each rule looks for: one function per id. Its thresholds stand in `rules/ID.toml`.

mod accident;
mod alike;
mod arrays;
mod busy;
mod course;
mod database;
mod equals;
mod figures;
mod host;
mod latency;
mod limits;
mod missing;
mod pages;
mod paths;
mod queue;
mod scheduler;
mod size;
mod slow;
mod stretch;
mod trouble;
mod words;

use super::case::ReadCase;
use super::digest::Digest;
use crate::finding::Finding;
use crate::rulebook::{Rule, rules};

/// Looks for one thing, and answers with each place where it is found.
type Look = fn(&ReadCase<'_>, &Rule) -> Vec<Finding>;

/// Every rule's function.
const LOOKS: &[(&str, Look)] = &[
    ("PL101", queue::standing_host_queue),
    ("PL102", queue::full_queue),
    ("PL103", trouble::refused),
    ("PL104", limits::array),
    ("PL105", limits::adapters),
    ("PL106", trouble::exhausted),
    ("PL107", trouble::errors),
    ("PL108", accident::adapters),
    ("PL109", paths::unwell),
    ("PL110", accident::transfers),
    ("PL111", paths::endless),
    ("PL112", limits::hidden),
    ("PL114", limits::shallow),
    ("PL115", paths::one_at_a_time),
    ("PL201", latency::few_outstanding),
    ("PL202", size::split),
    ("PL203", equals::hot),
    ("PL204", busy::util_trap),
    ("PL205", course::plateau),
    ("PL206", course::regime),
    ("PL207", course::cliff),
    ("PL208", slow::slow),
    ("PL209", slow::full_or_room),
    ("PL301", host::idle_beside_queues),
    ("PL302", host::processor_bound),
    ("PL303", host::memory),
    ("PL304", scheduler::schedulers),
    ("PL305", host::stolen),
    ("PL401", database::commits),
    ("PL402", database::synchronous),
    ("PL403", database::above_devices),
    ("PL404", database::bound),
    ("PL405", database::small_reads),
    ("PL406", database::tails),
    ("PL501", pages::base_pages),
    ("PL502", pages::advised_pages),
    ("PL503", size::whole),
    ("PL601", figures::little),
    ("PL602", figures::only_averages),
    ("PL603", figures::coarse_or_torn_time),
    ("PL604", figures::torn),
    ("PL605", busy::known_wrong),
    ("PL606", missing::missing),
];

/// Findings of the same rule that are told one by one; what stands behind them is the same.
const OF_ONE_RULE_MAX: usize = 50;

/// Asks every rule; the worst first, then by rule, then as found.
pub fn findings(digest: &Digest) -> Vec<Finding> {
    let case = ReadCase::new(digest);
    let mut all = Vec::new();
    for (id, look) in LOOKS {
        if let Some(rule) = rules().get(*id) {
            let mut found = look(&case, rule);
            found.sort_by_key(|f| std::cmp::Reverse(f.severity));
            found.truncate(OF_ONE_RULE_MAX);
            all.extend(found);
        }
    }
    all.sort_by(|a, b| b.severity.cmp(&a.severity).then_with(|| a.id.cmp(&b.id)));
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_of_the_book_has_its_function_and_the_other_way_round() {
        let known: Vec<&str> = LOOKS.iter().map(|(id, _)| *id).collect();
        let booked: Vec<&str> = rules().keys().map(String::as_str).collect();
        assert_eq!(known, booked);
    }
}
