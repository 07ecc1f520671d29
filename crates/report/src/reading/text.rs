//! The verdict page in the terminal: what is wrong, worst first, each with evidence and next step; then what was read.

use super::ReadReport;
use crate::terminal::{Role, Sink, Style};
use analyze::{Evidence, Finding, Severity};
use std::collections::BTreeMap;

const MARGIN: usize = 14;
/// Lines of evidence shown of one finding; JSON has all.
const EVIDENCE: usize = 4;
/// Findings of one rule that are shown whole; of the others a line each.
const WHOLE: usize = 3;
/// Complaints shown of one file.
const COMPLAINTS: usize = 5;

/// The whole page.
pub fn text(report: &ReadReport<'_>, style: Style) -> String {
    let mut out = Sink::new(style);
    head(&mut out, report);
    let mut shown: BTreeMap<&str, usize> = BTreeMap::new();
    for finding in report.findings {
        let number = shown.entry(finding.id.as_str()).or_default();
        *number += 1;
        if *number <= WHOLE {
            out.gap();
            one(&mut out, finding, *number == 1);
        } else {
            out.labelled(None, &finding.id, MARGIN, &format!("{}{}", whose(finding), finding.title));
        }
    }
    sources(&mut out, report);
    out.finish()
}

fn head(out: &mut Sink, report: &ReadReport<'_>) {
    let count = |s: Severity| report.findings.iter().filter(|f| f.severity == s).count();
    let counts: Vec<String> = Severity::ALL
        .into_iter()
        .rev()
        .filter(|s| count(*s) > 0)
        .map(|s| format!("{} {}", count(s), s.word()))
        .collect();
    match report.findings.first() {
        Some(worst) if worst.severity > Severity::Info => {
            let role = if worst.severity == Severity::High { Role::Warn } else { Role::Strong };
            out.labelled(Some(role), "Verdict", MARGIN, &format!("{}{}", whose(worst), worst.title));
            out.labelled(
                None,
                "Findings",
                MARGIN,
                &format!("{} (plimsoll explain ID tells more)", counts.join(", ")),
            );
        }
        Some(_) => {
            out.labelled(
                Some(Role::Good),
                "Verdict",
                MARGIN,
                "nothing that costs throughput or latency was found in these texts",
            );
            out.labelled(None, "Findings", MARGIN, &counts.join(", "));
        }
        None if report.digest.sources.is_empty() => {
            out.labelled(Some(Role::Warn), "Verdict", MARGIN, "nothing could be read")
        }
        None => out.labelled(Some(Role::Good), "Verdict", MARGIN, "nothing was found in these texts"),
    }
}

fn whose(finding: &Finding) -> String {
    finding.host.as_ref().map_or(String::new(), |host| format!("{host}: "))
}

fn one(out: &mut Sink, finding: &Finding, is_first: bool) {
    let role = match finding.severity {
        Severity::High => Role::Warn,
        Severity::Medium => Role::Strong,
        Severity::Low | Severity::Info => Role::Faint,
    };
    out.labelled(
        Some(role),
        &format!("{} {}", finding.id, finding.severity.word()),
        MARGIN,
        &format!("{}{}", whose(finding), finding.title),
    );
    for evidence in finding.evidence.iter().take(EVIDENCE) {
        out.labelled(None, "", MARGIN, &quoted(evidence));
    }
    if finding.evidence.len() > EVIDENCE {
        out.labelled(
            Some(Role::Faint),
            "",
            MARGIN,
            &format!("and {} lines more (--json has all)", finding.evidence.len() - EVIDENCE),
        );
    }
    // What to do is the same for all findings of a rule on one platform.
    if is_first {
        out.labelled(None, "why", MARGIN, &finding.cause);
        for (n, advice) in finding.advice.iter().enumerate() {
            out.labelled(None, if n == 0 { "try" } else { "or" }, MARGIN, advice);
        }
        out.labelled(Some(Role::Faint), "refuted by", MARGIN, &finding.refuted_by);
    }
}

fn quoted(evidence: &Evidence) -> String {
    match (&evidence.file, evidence.line) {
        (Some(file), Some(line)) => format!("{file}:{line}: {}", evidence.text),
        (Some(file), None) => format!("{file}: {}", evidence.text),
        _ => evidence.text.clone(),
    }
}

fn sources(out: &mut Sink, report: &ReadReport<'_>) {
    out.gap();
    for (n, seen) in report.digest.sources.iter().enumerate() {
        let host = seen.host.and_then(|h| report.digest.hosts.get(h as usize)).and_then(|h| h.name.clone());
        let of = host.map_or(String::new(), |h| format!(" of {h}"));
        let words = format!("{}: {}{of}, {} samples", seen.source.path, seen.source.format, seen.samples);
        out.labelled(None, if n == 0 { "read" } else { "" }, MARGIN, &words);
        for complaint in seen.complaints.iter().take(COMPLAINTS) {
            let place = if complaint.line > 0 {
                format!("{}:{}", seen.source.path, complaint.line)
            } else {
                seen.source.path.clone()
            };
            out.labelled(
                Some(Role::Warn),
                "",
                MARGIN,
                &format!("  {place}: expected {}, found '{}'", complaint.expected, complaint.found),
            );
        }
        if seen.complaints.len() > COMPLAINTS {
            out.labelled(
                Some(Role::Warn),
                "",
                MARGIN,
                &format!("  and {} lines more", seen.complaints.len() - COMPLAINTS),
            );
        }
        for remark in &seen.remarks {
            out.labelled(Some(Role::Faint), "", MARGIN, &format!("  {remark}"));
        }
    }
    for (n, (path, reason)) in report.refused.iter().enumerate() {
        out.labelled(
            Some(Role::Warn),
            if n == 0 { "not read" } else { "" },
            MARGIN,
            &format!("{path}: {reason}"),
        );
    }
    if let Some(run) = &report.run {
        out.labelled(None, "kept", MARGIN, run);
    }
}
