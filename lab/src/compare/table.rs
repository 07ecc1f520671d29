//! The comparison as a page a person reads, and the same as JSON.

use super::{Check, Figure, Quantity, Unit};
use crate::truth::range::Range;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// All checks as one JSON document.
pub fn json(checks: &[Check]) -> String {
    let document = serde_json::json!({ "schema": "lab.truth/1", "checks": sorted(checks) });
    let mut text = serde_json::to_string_pretty(&document).expect("the document has text keys only");
    text.push('\n');
    text
}

/// All checks as Markdown: failures first, a line per boot, then the figures of each.
pub fn table(checks: &[Check]) -> String {
    let checks = sorted(checks);
    let mut page = String::from("# The probe against the truth of each rig\n\n");
    let counted = checks.iter().filter(|c| c.counted).count();
    let failed: Vec<&Check> = checks.iter().copied().filter(|c| c.failed()).collect();
    line(
        &mut page,
        format!("{} of {counted} checks passed, {} failed.\n", counted - failed.len(), failed.len()),
    );
    failures(&mut page, &failed);
    let boots = by_boot(&checks);
    summary(&mut page, &boots);
    for ((rig, kernel), checks) in &boots {
        line(&mut page, format!("## {}, kernel {kernel}\n", cell(rig)));
        for job in by_job(checks) {
            figures(&mut page, &job);
        }
    }
    page
}

type Boots<'a> = BTreeMap<(&'a str, &'a str), Vec<&'a Check>>;

fn sorted(checks: &[Check]) -> Vec<&Check> {
    let mut all: Vec<&Check> = checks.iter().collect();
    all.sort_by(|a, b| key(a).cmp(&key(b)));
    all
}

fn key(c: &Check) -> (&str, &str, usize, Quantity, Option<u32>) {
    (&c.rig, &c.kernel, c.job_index, c.quantity, c.n)
}

fn by_boot<'a>(checks: &[&'a Check]) -> Boots<'a> {
    let mut boots = Boots::new();
    for check in checks {
        boots.entry((&check.rig, &check.kernel)).or_default().push(check);
    }
    boots
}

fn by_job<'a>(checks: &[&'a Check]) -> Vec<Vec<&'a Check>> {
    let mut jobs: BTreeMap<usize, Vec<&Check>> = BTreeMap::new();
    for check in checks {
        jobs.entry(check.job_index).or_default().push(check);
    }
    jobs.into_values().collect()
}

fn failures(page: &mut String, failed: &[&Check]) {
    if failed.is_empty() {
        return;
    }
    line(page, "## Failed\n".to_owned());
    line(page, "| rig | kernel | job | what | N | truth | seen | apart | allowed |".to_owned());
    line(page, "|---|---|---|---|--:|---|---|--:|--:|".to_owned());
    for c in failed {
        line(
            page,
            format!(
                "| {} | {} | {} | {} | {} | {} | {} | {} | {} |",
                cell(&c.rig),
                c.kernel,
                cell(&c.job),
                c.quantity.word(),
                c.n.map_or("-".to_owned(), |n| n.to_string()),
                figure(&c.truth),
                figure(&c.seen),
                c.departs_by.map_or("-".to_owned(), |d| departure(d, c.unit)),
                if c.unit == Unit::Exact { "exact".to_owned() } else { departure(c.tolerance, c.unit) },
            ),
        );
    }
    page.push('\n');
}

fn summary(page: &mut String, boots: &Boots<'_>) {
    line(page, "## Each boot\n\nThe worst departures are of what counts.\n".to_owned());
    line(page, "| rig | kernel | passed | X | R | above | host queue | device queue | knee | prediction | bound by |".to_owned());
    line(page, "|---|---|--:|--:|--:|--:|--:|--:|--:|--:|---|".to_owned());
    for ((rig, kernel), checks) in boots {
        let counted = checks.iter().filter(|c| c.counted).count();
        let failed = checks.iter().filter(|c| c.failed()).count();
        let worst: Vec<String> = [
            Quantity::Throughput,
            Quantity::Response,
            Quantity::Above,
            Quantity::HostQueue,
            Quantity::DeviceQueue,
            Quantity::Knee,
            Quantity::Prediction,
        ]
        .into_iter()
        .map(|quantity| worst(checks, quantity))
        .collect();
        let verdicts: Vec<String> =
            checks.iter().filter(|c| c.quantity == Quantity::BoundBy).map(|c| figure(&c.seen)).collect();
        let (rig, verdicts) = (cell(rig), verdicts.join(", "));
        line(
            page,
            format!(
                "| {rig} | {kernel} | {}/{counted} | {} | {verdicts} |",
                counted - failed,
                worst.join(" | ")
            ),
        );
    }
    page.push('\n');
}

fn worst(checks: &[&Check], quantity: Quantity) -> String {
    let of = checks.iter().filter(|c| c.quantity == quantity && c.counted);
    let worst = of.filter_map(|c| Some((c.departs_by?, c.unit))).max_by(|a, b| a.0.total_cmp(&b.0));
    worst.map_or("-".to_owned(), |(d, unit)| departure(d, unit))
}

/// One job: what was said, then a row per concurrency, truth / seen.
fn figures(page: &mut String, checks: &[&Check]) {
    let Some(first) = checks.first() else { return };
    line(page, format!("### {}\n", cell(&first.job)));
    for c in checks.iter().filter(|c| !stepwise(c.quantity)) {
        if c.quantity == Quantity::Remark {
            line(page, format!("- {}", cell(&c.note)));
            continue;
        }
        let n = c.n.map_or(String::new(), |n| format!(" at {n}"));
        let (truth, seen) = (figure(&c.truth), figure(&c.seen));
        let truth = if truth.is_empty() { "-" } else { truth.as_str() };
        let note = if c.note.is_empty() { String::new() } else { format!(" ({})", c.note) };
        line(page, format!("- {}{n}: {truth} / {seen}{}{note}", c.quantity.word(), mark(c)));
    }
    let ns: BTreeSet<u32> = checks.iter().filter(|c| stepwise(c.quantity)).filter_map(|c| c.n).collect();
    if !ns.is_empty() {
        line(page, "\nTruth / seen; `!` failed, `~` does not count.\n".to_owned());
        line(page, "| N | X, IOPS | R, us | above | host queue | device queue |".to_owned());
        line(page, "|--:|--:|--:|--:|--:|--:|".to_owned());
    }
    for n in ns {
        let cells: Vec<String> = [
            Quantity::Throughput,
            Quantity::Response,
            Quantity::Above,
            Quantity::HostQueue,
            Quantity::DeviceQueue,
        ]
        .into_iter()
        .map(|quantity| {
            let found = checks.iter().find(|c| c.quantity == quantity && c.n == Some(n));
            found.map_or("-".to_owned(), |c| format!("{} / {}{}", figure(&c.truth), figure(&c.seen), mark(c)))
        })
        .collect();
        line(page, format!("| {n} | {} |", cells.join(" | ")));
    }
    page.push('\n');
}

fn stepwise(quantity: Quantity) -> bool {
    quantity >= Quantity::Throughput
}

fn mark(check: &Check) -> &'static str {
    match (check.failed(), check.counted) {
        (true, _) => " !",
        (false, false) => " ~",
        (false, true) => "",
    }
}

fn departure(value: f64, unit: Unit) -> String {
    match unit {
        Unit::Share => format!("{:.1} %", 100.0 * value),
        _ => format!("{value:.2}"),
    }
}

fn figure(figure: &Figure) -> String {
    match figure {
        Figure::Absent => "null".to_owned(),
        Figure::Text(text) => cell(text),
        Figure::Number(Range { low, high }) if low == high => number(*low),
        Figure::Number(Range { low, high }) => format!("{}..{}", number(*low), number(*high)),
    }
}

fn number(value: f64) -> String {
    if value.abs() >= 100.0 { format!("{value:.0}") } else { format!("{value:.2}") }
}

/// Text that must not break a table.
fn cell(text: &str) -> String {
    text.replace('|', "/").replace(['\n', '\r'], " ")
}

fn line(page: &mut String, text: String) {
    // Writing to a String cannot fail.
    let _ = writeln!(page, "{text}");
}
