//! The table of a sweep over cores.

use super::sink::{Role, Sink};
use crate::ProbeReport;
use crate::cores::{CoreRow, rows};
use crate::number::{ABSENT, TimeUnit, fitted};

/// Writes the table when the run swept cores.
pub fn table(out: &mut Sink, report: &ProbeReport) {
    let Some(rows) = rows(report) else { return };
    let largest = rows.iter().filter_map(|r| r.response_us_p99).fold(0.0, f64::max);
    let unit = TimeUnit::for_us(largest);
    out.gap();
    let u = unit.symbol();
    let heading = format!(
        "{:>7}{:>10}{:>10}{:>10}{:>9}{:>9}{:>10}  {}",
        "cores", "MiB/s", "per core", "of first", "mean", "p99", "worker", "limit"
    );
    out.line(Some(Role::Strong), &heading);
    out.line(Some(Role::Strong), &format!("{:>37}{u:>9}{u:>9}{:>10}", "", "busy"));
    for row in &rows {
        out.line(None, &line(row, unit));
    }
    out.line(
        Some(Role::Faint),
        "  busy is work; a worker that waits for its I/O is idle, whatever %iowait says",
    );
}

fn line(row: &CoreRow, unit: TimeUnit) -> String {
    let time = |us: Option<f64>| us.map_or(ABSENT.to_owned(), |us| unit.show(us));
    format!(
        "{:>7}{:>10}{:>10}{:>8.0} %{:>9}{:>9}{:>10}  {}",
        row.cores,
        fitted(row.mib_per_s, 9),
        fitted(row.mib_per_s_per_core, 9),
        100.0 * row.efficiency,
        time(row.response_us_mean),
        time(row.response_us_p99),
        row.busiest_worker.map_or(ABSENT.to_owned(), |b| format!("{:.0} %", 100.0 * b)),
        row.holds.map_or(ABSENT, |h| if h { "holds" } else { "breaks" }),
    )
}
