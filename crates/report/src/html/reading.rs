//! The page of `plimsoll read`: the verdict, every finding with its lines, the course of the busiest devices, the sources.

use super::axis::{Frame, Scale};
use super::svg::{Anchor, Svg, escape, figure as wrap};
use super::{POLICY, SCRIPT, STYLE};
use crate::number::compact;
use crate::reading::ReadReport;
use analyze::reading::{DevicePoint, ReadCase, Series};
use analyze::{Evidence, Finding, Severity};
use record::imported::PlaceId;

const WIDTH: f64 = 560.0;
const HEIGHT: f64 = 260.0;
const ACROSS: (f64, f64) = (72.0, 546.0);
const UPWARD: (f64, f64) = (214.0, 34.0);
/// Devices drawn, each with two charts; their ids on the page.
const IDS: [[&str; 2]; 6] =
    [["q0", "r0"], ["q1", "r1"], ["q2", "r2"], ["q3", "r3"], ["q4", "r4"], ["q5", "r5"]];
/// Points of a chart; neighbours are merged.
const PLACES_MAX: usize = 700;
/// Findings of one rule whose cause and advice are repeated on the page.
const EVIDENCE: usize = 8;

/// The page.
pub fn reading(report: &ReadReport<'_>) -> String {
    let worst = report.findings.first().filter(|f| f.severity > Severity::Info);
    let title =
        worst.map_or("Nothing that costs throughput or latency was found".to_owned(), |f| f.title.clone());
    let mut page = String::with_capacity(64 << 10);
    page.push_str(&format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
         <meta name=\"color-scheme\" content=\"light dark\">\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\
         <title>{}</title><style>{STYLE}</style></head>\n<body><main>\n",
        escape(&title)
    ));
    let class = if worst.is_some() { "warn" } else { "good" };
    page.push_str(&format!(
        "<header><p class=\"faint\">Plimsoll read &middot; {} texts</p><h1><span class=\"{class}\">{}</span></h1></header>\n",
        report.digest.sources.len(),
        escape(&title)
    ));
    for finding in report.findings {
        page.push_str(&card(finding));
    }
    page.push_str(&courses(report));
    page.push_str(&sources(report));
    page.push_str(&format!("</main><script>{SCRIPT}</script></body></html>\n"));
    page
}

fn card(finding: &Finding) -> String {
    let class = match finding.severity {
        Severity::High => "warn",
        Severity::Medium => "",
        Severity::Low | Severity::Info => "faint",
    };
    let whose = [finding.host.as_deref(), finding.device.as_deref()].into_iter().flatten();
    let whose = whose.map(escape).collect::<Vec<_>>().join(" &middot; ");
    let lines: String = finding.evidence.iter().take(EVIDENCE).map(evidence).collect();
    let advice: String = finding.advice.iter().map(|a| format!("<li>{}</li>", escape(a))).collect();
    format!(
        "<section><h2 class=\"{class}\">{} {} {}</h2><p class=\"faint\">{whose}</p><div class=\"two\"><div><p class=\"label\">Evidence</p>\
         <ul>{lines}</ul></div><div><p class=\"label\">Why</p><p>{}</p><p class=\"label\">What to do</p><ol>{advice}</ol>\
         <p class=\"faint\">Refuted by: {}</p></div></div></section>\n",
        escape(&finding.id),
        finding.severity.word(),
        escape(&finding.title),
        escape(&finding.cause),
        escape(&finding.refuted_by)
    )
}

fn evidence(of: &Evidence) -> String {
    let place = match (&of.file, of.line) {
        (Some(file), Some(line)) => format!("<span class=\"faint\">{}:{line}</span> ", escape(file)),
        (Some(file), None) => format!("<span class=\"faint\">{}</span> ", escape(file)),
        _ => String::new(),
    };
    format!("<li>{place}<code>{}</code></li>", escape(&of.text))
}

/// The devices that hold most I/Os.
fn courses(report: &ReadReport<'_>) -> String {
    let case = ReadCase::new(report.digest);
    let mut busiest: Vec<(PlaceId, &Series)> = case
        .devices()
        .map(|(place, _, series)| (place, series))
        .filter(|(_, s)| s.points().len() > 2)
        .collect();
    let standing = |s: &Series| Some(s.mean(|p| p.outstanding)).filter(|v| !v.is_nan()).unwrap_or(0.0);
    busiest.sort_by(|a, b| standing(b.1).total_cmp(&standing(a.1)));
    let figures: String = busiest
        .iter()
        .zip(IDS)
        .map(|((place, series), [queue_id, rate_id])| {
            let host = case.host_name(case.host(*place)).map_or(String::new(), |h| format!("{h}: "));
            let name = format!("{host}{}", case.digest.place_of(*place).name);
            let points = thinned(series.points());
            queues(queue_id, &name, &points) + &rates(rate_id, &name, &points)
        })
        .collect();
    if figures.is_empty() {
        return String::new();
    }
    format!(
        "<section><h2>The course of the busiest devices</h2><div class=\"charts\">{figures}</div></section>\n"
    )
}

fn thinned(points: &[DevicePoint]) -> Vec<DevicePoint> {
    let together = points.len().div_ceil(PLACES_MAX).max(1);
    let merge = |part: &[DevicePoint]| part[1..].iter().fold(part[0], |sum, p| sum.merged(p));
    points.chunks(together).map(merge).collect()
}

/// Where points stand across: by time where it is told, else by their number.
fn places(points: &[DevicePoint]) -> (Vec<f64>, &'static str) {
    let is_timed = points.iter().all(|p| p.at_s.is_finite());
    if is_timed {
        let first = points.first().map_or(0.0, |p| p.at_s);
        return (points.iter().map(|p| p.at_s - first).collect(), "seconds since the first interval");
    }
    ((0..points.len()).map(|n| n as f64).collect(), "interval")
}

fn frame(xs: &[f64], high: f64) -> Frame {
    let last = xs.iter().copied().fold(1.0, f64::max);
    Frame {
        x: Scale::linear(0.0, last, ACROSS),
        y: Scale::linear(0.0, if high > 0.0 { high * 1.06 } else { 1.0 }, UPWARD),
    }
}

fn queues(id: &'static str, name: &str, points: &[DevicePoint]) -> String {
    let (xs, across) = places(points);
    let known = |v: f64| if v.is_finite() { v.max(0.0) } else { 0.0 };
    let is_split = points.iter().any(|p| p.device_queue.is_finite());
    let high = points.iter().map(|p| known(p.outstanding)).fold(0.0, f64::max);
    let frame = frame(&xs, high);
    let mut svg = Svg::new(id, WIDTH, HEIGHT);
    frame.rows(&mut svg, &frame.y.ticks(5), compact, "");
    frame.columns(&mut svg, &frame.x.ticks(6), compact, across);
    svg.text("axis", (frame.left() - 6.0, 14.0), Anchor::Start, "I/Os standing");
    let line = |of: &dyn Fn(&DevicePoint) -> f64| -> Vec<(f64, f64)> {
        xs.iter().zip(points).map(|(x, p)| (frame.x.at(*x), frame.y.at(of(p)))).collect()
    };
    let zero = line(&|_| 0.0);
    let keys: Vec<(&str, String)> = if is_split {
        let device = line(&|p| known(p.device_queue));
        let all = line(&|p| known(p.device_queue) + known(p.host_queue));
        svg.area("area device", &device, &zero);
        svg.area("area host0", &all, &device);
        vec![("device", "at the device".to_owned()), ("host0", "in the host queue".to_owned())]
    } else {
        svg.area("area rest", &line(&|p| known(p.outstanding)), &zero);
        vec![("rest", "host queue and device together".to_owned())]
    };
    let drawing = svg.finish(&format!("I/Os standing at {name}"), "Mean number outstanding per interval.");
    wrap(name, "Where the I/Os stand, interval after interval.", &keys, &drawing)
}

fn rates(id: &'static str, name: &str, points: &[DevicePoint]) -> String {
    let (xs, across) = places(points);
    let high = points.iter().map(|p| p.iops).filter(|v| v.is_finite()).fold(0.0, f64::max);
    let frame = frame(&xs, high);
    let mut svg = Svg::new(id, WIDTH, HEIGHT);
    frame.rows(&mut svg, &frame.y.ticks(5), compact, "");
    frame.columns(&mut svg, &frame.x.ticks(6), compact, across);
    svg.text("axis", (frame.left() - 6.0, 14.0), Anchor::Start, "IOPS");
    let course =
        xs.iter().zip(points).map(|(x, p)| p.iops.is_finite().then(|| (frame.x.at(*x), frame.y.at(p.iops))));
    svg.line_through("rate", course);
    let drawing = svg.finish(&format!("Throughput of {name}"), "I/Os completed per second.");
    wrap(name, "Throughput, interval after interval.", &[("k-rate", "IOPS".to_owned())], &drawing)
}

fn sources(report: &ReadReport<'_>) -> String {
    let rows: String = report
        .digest
        .sources
        .iter()
        .map(|seen| {
            let host =
                seen.host.and_then(|h| report.digest.hosts.get(h as usize)).and_then(|h| h.name.as_deref());
            let complaints = seen.complaints.iter().take(5).map(|c| {
                format!("line {}: expected {}, found '{}'", c.line, escape(&c.expected), escape(&c.found))
            });
            let notes: Vec<String> = complaints.chain(seen.remarks.iter().map(|r| escape(r))).collect();
            format!(
                "<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>",
                escape(&seen.source.path),
                escape(&seen.source.format),
                escape(host.unwrap_or("")),
                seen.samples,
                notes.join("<br>")
            )
        })
        .chain(report.refused.iter().map(|(path, reason)| {
            format!(
                "<tr><td>{}</td><td class=\"warn\">not read</td><td></td><td></td><td>{}</td></tr>",
                escape(path),
                escape(reason)
            )
        }))
        .collect();
    format!(
        "<section><h2>What was read</h2><div class=\"scroll\"><table class=\"words\"><thead><tr><th>file</th><th>format</th><th>host</th>\
         <th>samples</th><th>notes</th></tr></thead><tbody>{rows}</tbody></table></div></section>\n"
    )
}
