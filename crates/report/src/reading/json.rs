//! The document of `plimsoll read --json`, schema `plimsoll.read/1`. Absent is null, never 0.

use super::ReadReport;
use record::imported::facts;
use serde_json::{Value, json};

/// The schema this version writes.
pub const SCHEMA: &str = "plimsoll.read/1";

/// The document as text, one trailing newline.
pub fn document(report: &ReadReport<'_>) -> String {
    let digest = report.digest;
    let case = analyze::reading::ReadCase::new(digest);
    let host_of = |seen: &analyze::reading::SourceSeen| {
        seen.host.map(|h| case.joined(h)).and_then(|h| case.host_name(h).map(str::to_owned))
    };
    let read = digest.sources.iter().enumerate().map(|(number, seen)| {
        // What the text tells of the tool that wrote it; of a report of a database its release.
        let told = |name| digest.facts_named(name).find(|f| f.origin.source as usize == number);
        let version =
            [facts::TOOL_VERSION, "fio_version", facts::DATABASE_RELEASE].into_iter().find_map(told);
        json!({
            "file": seen.source.path,
            "format": seen.source.format,
            "version": version.map(|f| f.value.text()),
            "recognised_by": seen.source.why,
            "host": host_of(seen),
            "samples": seen.samples,
            "complaints": seen.complaints.iter().map(|c| json!({
                "line": c.line, "expected": c.expected, "found": c.found
            })).collect::<Vec<_>>(),
            "remarks": seen.remarks,
        })
    });
    let refused = report.refused.iter().map(|(path, reason)| {
        json!({
            "file": path, "format": Value::Null, "version": Value::Null, "recognised_by": Value::Null, "host": Value::Null, "samples": 0,
            "complaints": [{ "line": 0, "expected": "a format that is known here (plimsoll read --formats)", "found": reason }],
            "remarks": [],
        })
    });
    let sources: Vec<Value> = read.chain(refused).collect();
    let hosts: Vec<Value> = case
        .hosts()
        .filter_map(|h| digest.hosts.get(h as usize).map(|host| (h, host)))
        .map(|(h, host)| {
            json!({
                "name": host.name, "platform": case.platform(h), "release": host.release, "processors": host.processors,
            })
        })
        .collect();
    let document = json!({
        "schema": SCHEMA,
        "version": crate::ProbeReport::VERSION,
        "sources": sources,
        "hosts": hosts,
        "findings": report.findings,
        "run": report.run,
    });
    format!("{document:#}\n")
}
