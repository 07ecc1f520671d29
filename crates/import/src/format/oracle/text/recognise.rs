//! What a text report is known by.

use crate::recognise::{Head, Likeness};

/// Whether a line heads a report of one instance, AWR or Statspack.
pub(super) fn is_heading(line: &str) -> bool {
    begins_awr(line) || begins_statspack(line)
}

/// The heading of AWR.
pub(super) fn begins_awr(line: &str) -> bool {
    line.trim().starts_with("WORKLOAD REPOSITORY report for")
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
    let likeness = Likeness::by_line(84, "section", excerpt)?;
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
            || l.trim_start().starts_with("Snapshot       Snap Id")
    };
    head.find(is).is_some()
}

/// A section that AWR and Statspack have and nothing else.
fn excerpt<'h>(head: &Head<'h>) -> Option<(usize, &'h str)> {
    let is_section = |line: &str| {
        let line = line.trim_start();
        let is_top = line.strip_prefix("Top ").is_some_and(|rest| {
            let rest = rest.trim_start_matches(|c: char| c.is_ascii_digit());
            [" Timed ", " Foreground Events by ", " Wait Events"].iter().any(|w| rest.starts_with(w))
        });
        let is_profile = line.starts_with("Load Profile") && !line.contains('<');
        let is_named = line.contains("DB/Inst:") && line.contains("Snaps:");
        is_top || is_profile || is_named || line.starts_with("Begin Snap:")
    };
    let found = head.find(is_section)?;
    let is_text = head.find(|l| l.trim_start().starts_with("~~~~") || l.contains("-----")).is_some();
    is_text.then_some(found)
}

/// Whether the text is HTML.
pub(in super::super) fn is_markup(head: &Head<'_>) -> bool {
    let tags = ["<html", "<table", "<head>", "<td"];
    head.find(|l| l.contains('<') && tags.iter().any(|t| l.to_ascii_lowercase().contains(t))).is_some()
}
