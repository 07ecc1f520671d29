//! PL402: one I/O at a time where several could be outstanding.

use super::commit::short;
use super::report::{Report, reports};
use crate::finding::{Finding, Severity};
use crate::reading::case::{ReadCase, computed};
use crate::reading::rule::alike::names;
use crate::rulebook::Rule;
use record::imported::{HostId, PlaceKind};

/// Engines of fio that have one I/O outstanding, whatever depth is asked.
const SYNCHRONOUS: [&str; 9] =
    ["sync", "psync", "vsync", "pvsync", "pvsync2", "mmap", "splice", "net", "ftruncate"];
/// Calls that submit or collect asynchronous I/O.
const ASYNCHRONOUS: [&str; 9] = [
    "io_submit",
    "io_getevents",
    "io_pgetevents",
    "io_uring_enter",
    "kaio",
    "aio_write",
    "aio_read",
    "lio_listio",
    "aiowrite",
];

/// PL402: synchronous I/O where asynchronous is possible.
pub(in super::super) fn synchronous(case: &ReadCase<'_>, rule: &Rule) -> Vec<Finding> {
    let mut found = Vec::new();
    for host in case.hosts() {
        found.extend(by_parameters(case, rule, host));
        found.extend(by_calls(case, rule, host));
        found.extend(by_engine(case, rule, host));
    }
    for report in reports(case) {
        let is_told = found.iter().any(|f: &Finding| f.host.as_deref() == case.host_name(report.host));
        if !is_told {
            found.extend(by_waits(&report, rule));
        }
    }
    found
}

/// What the parameters of the instance say.
fn by_parameters(case: &ReadCase<'_>, rule: &Rule, host: HostId) -> Option<Finding> {
    let lower = |v: &record::imported::Value| v.text().trim().to_ascii_lowercase();
    let options = case.told(host, "filesystemio_options").into_iter().find(|(_, (v, _))| {
        let text = lower(v);
        text == "none" || text == "directio"
    });
    let disk = case
        .told(host, "disk_asynch_io")
        .into_iter()
        .find(|(_, (v, _))| matches!(lower(v).as_str(), "false" | "0" | "off"));
    // In a disk group or on raw devices the option has no say.
    let on_files =
        case.places(host, PlaceKind::DatabaseFile).any(|p| case.digest.place_of(p).name.starts_with('/'));
    let (instance, told, origin) = match (disk, options) {
        (Some((instance, (_, origin))), _) => (instance, "disk_asynch_io=false".to_owned(), origin),
        (None, Some((instance, (value, origin)))) if on_files => {
            (instance, format!("filesystemio_options={}", lower(value)), origin)
        }
        _ => return None,
    };
    let name = if instance.is_empty() { "the database" } else { instance };
    let title = format!("{name} runs with {told}: each of its processes has one I/O outstanding at a time");
    let mut finding = case.finding_of_host(rule, host, title, vec![case.line(origin)]);
    finding.device = Some(instance.to_owned()).filter(|i| !i.is_empty());
    Some(finding)
}

/// What the waits say where parameters are not told: submitting takes as long as writing.
fn by_waits(report: &Report<'_, '_>, rule: &Rule) -> Option<Finding> {
    let submit = report.event(&["db file async I/O submit"])?;
    let is_blocking =
        submit.waits >= rule.threshold("waits") && submit.mean_us >= rule.threshold("submit_ms") * 1e3;
    if !is_blocking {
        return None;
    }
    let title = format!(
        "submitting asynchronous writes takes {} each (db file async I/O submit): they are done one after the other",
        short(submit.mean_us)
    );
    let write = report.event(&["db file parallel write"]);
    let finding = report.case.finding(rule, submit.place, title, report.lines(&[Some(submit), write]));
    Some(Finding { severity: Severity::Low, ..finding })
}

/// What a trace of calls shows: many positioned writes, and nothing submitted.
fn by_calls(case: &ReadCase<'_>, rule: &Rule, host: HostId) -> Option<Finding> {
    let calls: Vec<(&str, f64, Option<record::imported::Origin>)> = case
        .places(host, PlaceKind::Call)
        .filter_map(|p| Some((case.digest.place_of(p).name.as_str(), case.digest.requests.get(&p)?)))
        .map(|(name, r)| (name, if r.calls > 0.0 { r.calls } else { r.count as f64 }, r.first))
        .collect();
    if calls.iter().any(|(name, _, _)| ASYNCHRONOUS.iter().any(|a| name.contains(a))) {
        return None;
    }
    let writes: Vec<_> = calls.iter().filter(|(n, _, _)| n.starts_with("pwrite")).collect();
    let count: f64 = writes.iter().map(|w| w.1).sum();
    if count < rule.threshold("calls") {
        return None;
    }
    let told: Vec<&str> = writes.iter().map(|w| w.0).collect();
    let title = format!(
        "{count:.0} writes by {} and no call of asynchronous I/O: one write at a time per process",
        names(&told)
    );
    let mut evidence: Vec<_> = writes.iter().filter_map(|w| w.2).map(|o| case.line(o)).collect();
    evidence.push(computed("I/O of io_uring that the kernel polls for leaves no call"));
    let finding = case.finding_of_host(rule, host, title, evidence);
    Some(Finding { severity: Severity::Low, ..finding })
}

/// fio was asked for a depth that its engine does not have.
fn by_engine(case: &ReadCase<'_>, rule: &Rule, host: HostId) -> Option<Finding> {
    let engines = case.told(host, "fio_ioengine");
    let depths = case.told(host, "fio_iodepth");
    let asked = |job: &str| {
        let option = depths.get(job).or_else(|| depths.get("")).map(|(v, _)| v.text());
        option.and_then(|o| o.trim().parse::<f64>().ok()).unwrap_or(f64::NAN)
    };
    let found: Vec<(&str, String, f64, record::imported::Origin)> = engines
        .iter()
        .map(|(job, (engine, origin))| (*job, engine.text(), asked(job), *origin))
        .filter(|(_, engine, depth, _)| SYNCHRONOUS.contains(&engine.trim()) && *depth > 1.0)
        .collect();
    let (job, engine, depth, origin) = found.first()?;
    let name = if job.is_empty() { "fio" } else { job };
    let title = format!(
        "{name} asks for iodepth {depth:.0} with the engine {engine}, which has one I/O outstanding at a time"
    );
    let finding = case.finding_of_host(rule, host, title, vec![case.line(*origin)]);
    let advice = vec![rule.text("fio_advice").to_owned()];
    Some(Finding { device: Some(name.to_owned()), severity: Severity::Low, advice, ..finding })
}
