//! The document of `plimsoll report RUN --json` for a recording, schema `plimsoll.recording/1`. Absent is null, never 0.

use super::RecordingReport;
use analyze::passive::DeviceLine;
use serde::Serialize;
use serde_json::{Value, json};

/// The schema this version writes.
pub const SCHEMA: &str = "plimsoll.recording/1";

#[derive(Serialize)]
struct Device<'a> {
    #[serde(flatten)]
    line: &'a DeviceLine,
    iops_at_limit: Option<f64>,
    peak_share_of_limit: Option<f64>,
    probe: Value,
}

/// The document as text, one trailing newline.
pub fn document(report: &RecordingReport) -> String {
    let devices: Vec<Device<'_>> = report
        .devices
        .iter()
        .map(|d| Device {
            line: &d.line,
            iops_at_limit: d.iops_at_limit,
            peak_share_of_limit: d.line.peak.zip(d.iops_at_limit).map(|(peak, limit)| peak.iops / limit),
            probe: match &d.probed {
                None => Value::Null,
                Some(Ok(share)) => json!(share),
                Some(Err(why)) => json!({ "cannot_compare": why }),
            },
        })
        .collect();
    let at = |s: f64| jiff::Timestamp::from_microsecond((s * 1e6) as i64).map(|t| t.to_string()).ok();
    let complaints: Vec<String> = report.complaints.iter().map(ToString::to_string).collect();
    let document = json!({
        "schema": SCHEMA,
        "version": report.document.version,
        "run": report.folder,
        "started_at": report.document.started_at,
        "ended_at": report.document.ended_at,
        "finished": report.finished,
        "kept_from": report.span_s.and_then(|[first, _]| at(first)),
        "kept_to": report.span_s.and_then(|[_, last]| at(last)),
        "recorded": report.tally,
        "rows": report.rows,
        "limit": report.limit,
        "host": report.document.host,
        "options": report.document.options,
        "devices": devices,
        "complaints": complaints,
    });
    format!("{document:#}\n")
}
