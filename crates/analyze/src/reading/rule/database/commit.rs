//! PL401: commits wait.

use super::report::{BLOCK_READ, COMMIT, LOG_WRITE, Report, Waited, reports};
use crate::finding::{Finding, Severity};
use crate::reading::case::{ReadCase, computed};
use crate::rulebook::Rule;

/// PL401: a commit waits long, and where.
pub(in super::super) fn commits(case: &ReadCase<'_>, rule: &Rule) -> Vec<Finding> {
    reports(case).iter().filter_map(|report| slow(report, rule)).collect()
}

fn slow(report: &Report<'_, '_>, rule: &Rule) -> Option<Finding> {
    let commit = report.event(&COMMIT).filter(|c| c.waits >= rule.threshold("waits") && c.mean_us > 0.0)?;
    let [write, read] = [report.event(&LOG_WRITE), report.event(&BLOCK_READ)];
    let ms = commit.mean_us / 1e3;
    let against = read.map_or(f64::NAN, |r| commit.mean_us / r.mean_us);
    let is_long = ms >= rule.threshold("long_ms");
    let is_longer = is_long && against >= rule.threshold("ratio");
    let is_much = commit.percent >= rule.threshold("share");
    if !is_longer && !is_much {
        return None;
    }
    let share = if commit.percent.is_nan() {
        String::new()
    } else {
        format!(", {:.1} % of the database's time", commit.percent)
    };
    let beside = match read {
        Some(read) if read.mean_us > 0.0 => {
            format!(", and a read of one block takes {}", short(read.mean_us))
        }
        _ => String::new(),
    };
    let title = format!(
        "a commit waits {} on average ({}{share}){beside}",
        short(commit.mean_us),
        report.case.digest.place_of(commit.place).name
    );
    let mut evidence = report.lines(&[Some(commit), write, read]);
    let storage = write.map_or(f64::NAN, |w| w.mean_us / commit.mean_us);
    evidence.push(computed(divided(&commit, write.as_ref(), storage)));
    let mut finding = report.case.finding(rule, commit.place, title, evidence);
    if storage >= rule.threshold("storage") {
        finding.advice.insert(0, rule.text("storage_advice").to_owned());
    } else if storage.is_finite() {
        finding.advice.insert(0, rule.text("rest_advice").to_owned());
    }
    finding.severity = if is_long && commit.percent >= rule.threshold("much") {
        Severity::High
    } else if is_long {
        rule.severity
    } else {
        Severity::Low
    };
    Some(finding)
}

fn divided(commit: &Waited, write: Option<&Waited>, storage: f64) -> String {
    match write {
        Some(write) if storage > 1.0 => format!(
            "the log writer's own write takes {}, longer than a commit waits: storage is all of it",
            short(write.mean_us)
        ),
        Some(write) if storage.is_finite() => format!(
            "of it the log writer's write (storage) {}, {:.0} %; the rest, {}, is waiting for the log writer and for the processor",
            short(write.mean_us),
            storage * 100.0,
            short(commit.mean_us - write.mean_us)
        ),
        _ => {
            "how much of it is the write itself is not told: the report has no line of the log writer's write"
                .to_owned()
        }
    }
}

/// Microseconds, short.
pub(super) fn short(us: f64) -> String {
    match us {
        us if us >= 1e6 => format!("{:.1} s", us / 1e6),
        us if us >= 1e5 => format!("{:.0} ms", us / 1e3),
        us if us >= 1e3 => format!("{:.1} ms", us / 1e3),
        us => format!("{us:.0} us"),
    }
}
