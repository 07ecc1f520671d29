//! What a text report is known by.

use super::ruler::{Dashes, Ruler};
use crate::format::oracle::report::Section;
use crate::recognise::{Head, Likeness};

/// Lines between a title and the ruler of its table.
const TABLE_WITHIN: usize = 12;

/// Whether a line heads a report of one instance, AWR or Statspack.
pub(super) fn is_heading(line: &str) -> bool {
    begins_awr(line) || begins_statspack(line)
}

/// The heading of AWR, or the title of its list of events: excerpts begin with it.
pub(super) fn begins(line: &str) -> bool {
    begins_awr(line) || is_top(line.trim_start())
}

/// The heading of AWR.
fn begins_awr(line: &str) -> bool {
    let line = line.trim();
    line.starts_with("WORKLOAD REPOSITORY report for")
        || line.starts_with("WORKLOAD REPOSITORY PDB report")
        || is_cluster(line)
}

/// The heading of a report of all instances of a cluster.
pub(super) fn is_cluster(line: &str) -> bool {
    line.trim().starts_with("WORKLOAD REPOSITORY REPORT (RAC)")
}

/// The heading of Statspack.
pub(super) fn begins_statspack(line: &str) -> bool {
    let line = line.trim();
    line.starts_with("STATSPACK report for") || line.starts_with("STATSPACK Statistics Report for")
}

/// AWR, whole or an excerpt.
pub(super) fn awr(head: &Head<'_>) -> Option<Likeness> {
    if is_markup(head) {
        return None;
    }
    if let Some(line) = head.find(begins_awr) {
        return Likeness::by_line(98, "heading", line);
    }
    let excerpt = excerpt(head)?;
    // A title that other tools may have too weighs less than a list of events.
    let line = excerpt.1.trim_start();
    let score = if is_top(line) || line.contains("DB/Inst:") { 84 } else { 70 };
    let likeness = Likeness::by_line(score, "section", excerpt)?;
    Some(if is_statspack(head) {
        return None;
    } else if head.find(|l| l.contains("Wait Class")).is_some() {
        likeness
    } else {
        likeness.with_ambiguity("an excerpt without its heading: read as AWR, it may be from Statspack")
    })
}

/// Statspack, whole or an excerpt.
pub(super) fn statspack(head: &Head<'_>) -> Option<Likeness> {
    if is_markup(head) {
        return None;
    }
    if let Some(line) = head.find(begins_statspack) {
        return Likeness::by_line(98, "heading", line);
    }
    let excerpt = excerpt(head)?;
    is_statspack(head).then(|| Likeness::by_line(85, "section", excerpt)).flatten()
}

/// What only Statspack prints.
fn is_statspack(head: &Head<'_>) -> bool {
    let is = |l: &str| {
        l.contains("Av Act Sess:")
            || l.contains("->Mx Rd Bkt")
            || l.starts_with("Instance Efficiency Indicators")
            || l.starts_with("File Read Histogram Stats")
            || l.contains("Ela Time")
            || (l.contains(" for DB: ") && l.contains("Snaps:"))
            || l.trim_start().starts_with("Snapshot       Snap Id")
    };
    head.find(is).is_some()
}

/// A section that AWR and Statspack have and nothing else.
fn excerpt<'h>(head: &Head<'h>) -> Option<(usize, &'h str)> {
    let is_section = |line: &str| {
        let line = line.trim_start();
        let is_named = line.contains("DB/Inst:") && line.contains("Snaps:");
        is_top(line)
            || is_named
            || line.starts_with("Begin Snap:")
            || (line.contains('\t') && super::is_table(line))
    };
    // Any other title needs its table within a few lines.
    let is_titled = |at: usize| {
        Section::of(head.lines[at]) != Section::Other
            && head.lines.iter().skip(at + 1).take(TABLE_WITHIN).any(|l| is_ruler(l))
    };
    let found = head
        .find(is_section)
        .or_else(|| (0..head.lines.len()).find(|at| is_titled(*at)).map(|at| (at + 1, head.lines[at])))?;
    let is_ruled = |l: &str| l.trim_start().starts_with("~~~~") || l.contains("-----");
    let is_text = head.find(|l| is_ruled(l) || (l.contains('\t') && super::is_table(l))).is_some();
    is_text.then_some(found)
}

/// Dashes under several columns.
fn is_ruler(line: &str) -> bool {
    matches!(Ruler::read(line), Some(Dashes::Ruler(ruler)) if ruler.columns() >= 3)
}

/// `Top 5 Timed Foreground Events`, `Top 10 Foreground Events by Total Wait Time`, `Top 5 Wait Events`.
fn is_top(line: &str) -> bool {
    line.strip_prefix("Top ").is_some_and(|rest| {
        let after = rest.trim_start_matches(|c: char| c.is_ascii_digit());
        let kinds =
            [" Timed Events", " Timed Foreground Events", " Foreground Events by Total", " Wait Events"];
        after.len() < rest.len() && kinds.iter().any(|kind| after.starts_with(kind))
    })
}

/// Whether the text is HTML.
pub(in super::super) fn is_markup(head: &Head<'_>) -> bool {
    let tags = ["<html", "<table", "<head>", "<td"];
    head.find(|l| l.contains('<') && tags.iter().any(|t| l.to_ascii_lowercase().contains(t))).is_some()
}
