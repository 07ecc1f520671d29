//! I/O schedulers: those in force, and runs that compare them.

use super::alike::{fold, names};
use super::trouble::is_storage;
use crate::finding::{Finding, Severity};
use crate::reading::case::{ReadCase, computed};
use crate::rulebook::Rule;
use record::imported::{HostId, Origin, PlaceKind, Quantity, facts};
use std::collections::{BTreeMap, BTreeSet};

/// PL304: schedulers that idle for others, and which of several was ahead.
pub(super) fn schedulers(case: &ReadCase<'_>, rule: &Rule) -> Vec<Finding> {
    let in_force = case.hosts().flat_map(|host| in_force(case, rule, host)).collect();
    let mut found = fold(in_force, 2);
    found.extend(compared(case, rule));
    found
}

/// The scheduler in brackets of `noop [deadline] cfq`, or the only word.
fn chosen(text: &str) -> &str {
    let bracketed = text.split_once('[').and_then(|(_, rest)| rest.split_once(']')).map(|(name, _)| name);
    bracketed.unwrap_or(text).trim()
}

fn in_force(case: &ReadCase<'_>, rule: &Rule, host: HostId) -> Vec<Finding> {
    let mut found = Vec::new();
    let of = |kind| case.places(host, kind).map(|p| case.digest.place_of(p).name.as_str());
    let disks: BTreeSet<&str> = of(PlaceKind::Device).chain(of(PlaceKind::Path)).collect();
    for (disk, (value, origin)) in case.told(host, facts::SCHEDULER) {
        let text = value.text();
        let scheduler = chosen(&text);
        let idles = |name: &str| case.fact_named(host, disk, name).and_then(|(v, _)| v.number());
        let slice_idle = idles("slice_idle").or_else(|| idles("slice_idle_us"));
        if !matches!(scheduler, "cfq" | "anticipatory" | "as" | "bfq") || slice_idle == Some(0.0) {
            continue;
        }
        // Runs are named by their schedulers, too, and partitions repeat what their disk has.
        if !disks.contains(disk) || !is_storage(disk) {
            continue;
        }
        let series =
            case.devices().find(|(p, _, _)| case.host(*p) == host && case.digest.place_of(*p).name == disk);
        let iops = series.map(|(_, _, s)| s.mean(|p| p.iops));
        // A disk that is seen to do nothing does not matter.
        if iops.is_some_and(|n| n < rule.threshold("iops")) {
            continue;
        }
        let title = format!(
            "{disk} has the I/O scheduler {scheduler}, which lets it idle after synchronous requests"
        );
        let mut finding = case.finding_of_host(rule, host, title, vec![case.line(origin)]);
        finding.device = Some(disk.to_owned());
        if scheduler == "bfq" || iops.is_none() {
            finding.severity = Severity::Low;
        }
        found.push(finding);
    }
    found
}

/// Results of a scheduler: rate, line.
#[derive(Default)]
struct Arm {
    results: Vec<(f64, Origin)>,
    /// Share of the database's time in `log file sync`.
    sync_percent: f64,
}

impl Arm {
    fn mean(&self) -> f64 {
        self.results.iter().map(|r| r.0).sum::<f64>() / self.results.len() as f64
    }

    /// Standard error of the mean: by its own results where there are three or more.
    fn error(&self, rule: &Rule) -> f64 {
        let mean = self.mean();
        let n = self.results.len() as f64;
        if n >= 3.0 {
            let square: f64 = self.results.iter().map(|r| (r.0 - mean).powi(2)).sum();
            return (square / (n - 1.0) / n).sqrt();
        }
        rule.threshold("spread") * mean / (rule.threshold("cycles") * n).sqrt()
    }
}

/// The scheduler that a name tells: of a job, a run, or the file of a report.
fn scheduler_in(name: &str) -> Option<&'static str> {
    const NAMES: [(&str, &str); 9] = [
        ("mq-deadline", "mq-deadline"),
        ("mqdeadline", "mq-deadline"),
        ("deadline", "deadline"),
        ("anticipatory", "anticipatory"),
        ("noop", "noop"),
        ("none", "none"),
        ("kyber", "kyber"),
        ("bfq", "bfq"),
        ("cfq", "cfq"),
    ];
    let name = name.to_ascii_lowercase().replace('_', "-");
    let is_word = |at: usize, end: usize| {
        let letter = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphabetic());
        !letter(name[..at].chars().next_back()) && !letter(name[end..].chars().next())
    };
    NAMES
        .iter()
        .find(|(n, _)| name.match_indices(n).any(|(at, _)| is_word(at, at + n.len())))
        .map(|(_, s)| *s)
}

fn compared(case: &ReadCase<'_>, rule: &Rule) -> Option<Finding> {
    let mut arms: BTreeMap<&'static str, Arm> = BTreeMap::new();
    let mut by_transactions = true;
    for rates in
        [&[Quantity::TransactionsPerS][..], &[Quantity::Iops, Quantity::ReadIops, Quantity::WriteIops][..]]
    {
        by_transactions = rates.len() == 1;
        for row in &case.digest.reports {
            let about = case.digest.place_of(row.place);
            let path = case.digest.path_of(row.origin.source).unwrap_or_default();
            let scheduler = match about.kind {
                PlaceKind::Job => scheduler_in(&about.name).or_else(|| scheduler_in(stem(path))),
                PlaceKind::Database => scheduler_in(stem(path)),
                _ => None,
            };
            let told: Vec<f64> = rates.iter().map(|q| row.value(*q)).filter(|v| v.is_finite()).collect();
            // The sum of both directions where no total is told.
            let rate = if row.value(Quantity::Iops).is_finite() && !by_transactions {
                told[0]
            } else {
                told.iter().sum()
            };
            if let (Some(scheduler), true) = (scheduler, !told.is_empty() && rate > 0.0) {
                let arm = arms.entry(scheduler).or_default();
                arm.results.push((rate, row.origin));
                if let Some((percent, _)) = case.number_of(row.place, "log_file_sync_percent") {
                    arm.sync_percent = percent;
                }
            }
        }
        if arms.len() >= 2 {
            break;
        }
        arms.clear();
    }
    if arms.len() < 2 {
        return None;
    }
    for row in &case.digest.reports {
        let is_sync = case.digest.place_of(row.place).name == "log file sync";
        let scheduler = case.digest.path_of(row.origin.source).and_then(|p| scheduler_in(stem(p)));
        if let (true, Some(arm)) = (is_sync, scheduler.and_then(|s| arms.get_mut(s))) {
            arm.sync_percent = arm.sync_percent.max(row.value(Quantity::DatabaseTimePercent));
        }
    }
    let mut ranked: Vec<(&str, Arm)> = arms.into_iter().collect();
    ranked.sort_by(|a, b| b.1.mean().total_cmp(&a.1.mean()));
    // The gap beyond doubt: everybody above it is ahead of everybody below it.
    let beyond = |a: &Arm, b: &Arm| {
        let error = (a.error(rule).powi(2) + b.error(rule).powi(2)).sqrt();
        a.mean() - b.mean() > rule.threshold("t") * error
    };
    let split = (1..ranked.len()).find(|at| beyond(&ranked[at - 1].1, &ranked[*at].1));
    let all = |part: &[(&str, Arm)]| part.iter().map(|r| r.0.to_owned()).collect::<Vec<_>>().join(" and ");
    let numbers = |part: &[(&str, Arm)]| {
        part.iter().map(|r| format!("{:.1}", r.1.mean())).collect::<Vec<_>>().join(" and ")
    };
    let rates = if by_transactions { "transactions" } else { "I/Os" };
    let difference = |a: &Arm, b: &Arm| format!("{:+.1} %", (a.mean() / b.mean() - 1.0) * 100.0);
    let title = match split {
        Some(at) => {
            let (ahead, behind) = ranked.split_at(at);
            let undecided = match ahead {
                [first, second, ..] => {
                    format!(
                        "; {} against {} ({}) is undecided",
                        first.0,
                        second.0,
                        difference(&first.1, &second.1)
                    )
                }
                _ => String::new(),
            };
            format!(
                "{} {} ahead of {} beyond doubt ({} {rates} per second against {}){undecided}",
                all(ahead),
                if ahead.len() == 1 { "is" } else { "are" },
                all(behind),
                numbers(ahead),
                numbers(behind)
            )
        }
        None => format!(
            "which of {} is ahead is undecided ({} {rates} per second)",
            all(&ranked),
            numbers(&ranked)
        ),
    };
    let mut evidence: Vec<_> =
        ranked.iter().filter_map(|r| r.1.results.first()).map(|r| case.line(r.1)).collect();
    let told: Vec<String> = ranked
        .iter()
        .filter(|r| r.1.sync_percent > 0.0)
        .map(|r| format!("{} {:.1} %", r.0, r.1.sync_percent))
        .collect();
    if !told.is_empty() {
        evidence.push(computed(format!("share of the database's time in log file sync: {}", names(&told))));
    }
    evidence.push(computed(if ranked.iter().all(|r| r.1.results.len() >= 3) {
        "the spread is that of the results themselves".to_owned()
    } else {
        format!(
            "assumed where a scheduler has fewer than three results: each is the mean of {:.0} cycles that spread by {:.0} %, as a typical run does",
            rule.threshold("cycles"),
            rule.threshold("spread") * 100.0
        )
    }));
    let place = ranked.first()?.1.results.first()?.1;
    let row = case.digest.reports.iter().find(|r| r.origin == place)?;
    let mut finding = case.finding_of_host(rule, case.host(row.place), title, evidence);
    if split.is_none() {
        finding.severity = Severity::Info;
    }
    Some(finding)
}

/// The name of a file, without its folders and ending.
fn stem(path: &str) -> &str {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.split_once('.').map_or(name, |(stem, _)| stem)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schedulers_in_names() {
        assert_eq!(scheduler_in("oltp-mq-deadline-2"), Some("mq-deadline"));
        assert_eq!(scheduler_in("awr_deadline"), Some("deadline"));
        assert_eq!(scheduler_in("awr_cfq_1"), Some("cfq"));
        assert_eq!((scheduler_in("nonesuch"), scheduler_in("randread")), (None, None));
        assert_eq!(chosen("noop anticipatory [deadline] cfq"), "deadline");
        assert_eq!((chosen("none"), stem("runs/awr_noop.txt")), ("none", "awr_noop"));
    }
}
