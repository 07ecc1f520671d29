//! PL406: a few waits are many times longer than the rest.

use super::commit::short;
use crate::finding::{Finding, Severity};
use crate::reading::case::{ReadCase, computed};
use crate::reading::rule::alike::fold;
use crate::rulebook::Rule;
use record::imported::{Distribution, PlaceId, PlaceKind, Quantity};

/// Waits for storage: those of others have tails that belong to them.
fn is_storage_wait(name: &str) -> bool {
    let begins =
        ["log file ", "db file ", "direct path ", "control file ", "cell single block", "WAL", "DataFile"];
    begins.iter().any(|b| name.starts_with(b)) && !name.starts_with("log file switch")
}

/// PL406: the tail of a histogram of waits.
pub(in super::super) fn tails(case: &ReadCase<'_>, rule: &Rule) -> Vec<Finding> {
    let mut found: Vec<(f64, Finding)> = Vec::new();
    for distribution in &case.digest.distributions {
        let about = case.digest.place_of(distribution.place);
        let is_wait = about.kind == PlaceKind::WaitEvent && distribution.quantity == Quantity::WaitUs;
        if is_wait && is_storage_wait(&about.name) {
            found.extend(tail(case, rule, distribution));
        }
    }
    found.sort_by(|a, b| b.0.total_cmp(&a.0));
    fold(found.into_iter().map(|(_, f)| f).collect(), 3)
}

fn tail(case: &ReadCase<'_>, rule: &Rule, distribution: &Distribution) -> Option<(f64, Finding)> {
    let all: f64 = distribution.buckets.iter().map(|b| b.1).sum();
    let waits = waits_of(case, distribution.place);
    // Of few waits a few percent are one or two.
    if !(all > 0.0) || waits < rule.threshold("waits") {
        return None;
    }
    let mut sum = 0.0;
    let median = distribution.buckets.iter().find(|(_, share)| {
        sum += share;
        sum >= all / 2.0
    })?;
    let least = (median.0 * rule.threshold("times")).max(rule.threshold("least_ms") * 1e3);
    // Buckets that begin at or beyond it, so that all in them is beyond it.
    let mut begin = 0.0;
    let (mut beyond, mut from) = (0.0, f64::NAN);
    for (end, share) in &distribution.buckets {
        if begin >= least {
            beyond += share / all;
            from = if from.is_nan() { begin } else { from };
        }
        begin = *end;
    }
    if !(beyond >= rule.threshold("share") / 100.0) || !median.0.is_finite() {
        return None;
    }
    let name = &case.digest.place_of(distribution.place).name;
    let title = format!(
        "{:.1} % of the waits for {name} are longer than {}, and half of them at most {}",
        beyond * 100.0,
        short(from),
        short(median.0)
    );
    let mut evidence = vec![case.line(distribution.origin)];
    if waits.is_finite() {
        evidence.push(computed(format!(
            "{waits:.0} waits in the period: about {:.0} of them are in the tail",
            waits * beyond
        )));
    }
    let mut finding = case.finding(rule, distribution.place, title, evidence);
    if name.starts_with("log file ") && beyond >= rule.threshold("many") / 100.0 {
        finding.severity = Severity::Medium;
    }
    Some((beyond, finding))
}

/// Waits of the event; NaN where no table tells them.
fn waits_of(case: &ReadCase<'_>, place: PlaceId) -> f64 {
    let told = case.digest.reports.iter().filter(|r| r.place == place).map(|r| r.value(Quantity::Waits));
    told.fold(f64::NAN, f64::max)
}
