//! Tables below the charts: the points, open loops, the path, the host, the options.

use super::svg::escape;
use crate::ProbeReport;
use crate::curve::{self, Known};
use crate::number::{ABSENT, bytes, significant, standing, time, whole};
use crate::terminal::limit_words;
use analyze::{Point, Queue};
use probe::{Answer, OpenPoint};
use record::{HostFacts, IoPath, Layer};
use serde_json::Value;

/// All sections.
pub fn sections(report: &ProbeReport) -> String {
    let path = report.path.as_ref().map_or(String::new(), path_section);
    [points(&report.answer), open_loop(&report.answer.open_loop), path, host(&report.host), options(report)]
        .concat()
}

fn table(class: &str, headings: &[&str], rows: impl Iterator<Item = (&'static str, Vec<String>)>) -> String {
    let heading: String = headings.iter().map(|h| format!("<th scope=\"col\">{}</th>", escape(h))).collect();
    let cell = |text: &String| format!("<td>{}</td>", escape(text));
    let row = |(class, cells): (&str, Vec<String>)| {
        format!("<tr{class}>{}</tr>", cells.iter().map(cell).collect::<String>())
    };
    let rows: String = rows.map(row).collect();
    format!(
        "<div class=\"scroll\"><table class=\"{class}\"><thead><tr>{heading}</tr></thead><tbody>{rows}</tbody></table></div>"
    )
}

fn points(answer: &Answer) -> String {
    if answer.points.is_empty() {
        return String::new();
    }
    let line = curve::load_line(answer).and_then(|l| curve::marked(&answer.points, f64::from(l.concurrency)));
    let rows = answer.points.iter().enumerate().map(|(i, p)| {
        let class = if line == Some(i) { " class=\"good\"" } else { "" };
        (class, point_cells(p))
    });
    let headings = [
        "N",
        "IOPS",
        "95 % interval",
        "MiB/s",
        "mean",
        "p50",
        "p95",
        "p99",
        "p99.9",
        "largest",
        "above",
        "host queue",
        "device queue",
        "CPU us per I/O",
        "seconds",
        "errors",
    ];
    let note =
        if line.is_some() { "<p class=\"faint\">The row in bold is nearest to the result.</p>" } else { "" };
    format!("<section><h2>Points</h2>{note}{}</section>\n", table("numbers", &headings, rows))
}

fn point_cells(point: &Point) -> Vec<String> {
    let quantile = |q| curve::quantile_us(point, q).map_or(ABSENT.to_owned(), time);
    let or_absent = |value: Option<f64>, show: fn(f64) -> String| value.map_or(ABSENT.to_owned(), show);
    vec![
        point.concurrency.to_string(),
        whole(point.iops),
        point.iops_ci95.map_or(ABSENT.to_owned(), |[low, high]| format!("{} to {}", whole(low), whole(high))),
        significant(point.mib_per_s),
        or_absent(curve::mean_us(point), time),
        quantile(0.5),
        quantile(0.95),
        quantile(0.99),
        quantile(0.999),
        or_absent(point.response.max_ns().map(|ns| ns as f64 / 1e3), time),
        queue(&point.above),
        queue(&point.host_queue),
        queue(&point.device_queue),
        or_absent(point.cpu_us_per_io, significant),
        significant(point.seconds),
        point.errors.to_string(),
    ]
}

fn queue(queue: &Queue) -> String {
    match Known::of(queue) {
        Known::Absent => ABSENT.to_owned(),
        Known::Mean(mean) => standing(mean),
        Known::Between(low, high) if high.is_finite() => {
            format!("{} to {}", standing(low), standing(high))
        }
        Known::Between(low, _) => format!("at least {}", standing(low)),
    }
}

fn open_loop(rates: &[OpenPoint]) -> String {
    if rates.is_empty() {
        return String::new();
    }
    let rows = rates.iter().map(|r| {
        let cells = vec![
            r.share.map_or(ABSENT.to_owned(), |s| format!("{:.0} %", s * 100.0)),
            whole(r.asked_iops),
            whole(r.iops),
            time(r.response_us.mean),
            time(r.response_us.p99),
            time(r.response_us.p999),
            significant(r.outstanding_mean),
            curve::open_word(r).to_owned(),
            r.lag.clone().unwrap_or_default(),
        ];
        ("", cells)
    });
    let headings = [
        "of the load line",
        "asked IOPS",
        "done IOPS",
        "mean",
        "p99",
        "p99.9",
        "outstanding",
        "limit",
        "remark",
    ];
    format!(
        "<section><h2>Open loop</h2><p class=\"faint\">I/Os due at a rate whatever the path does; response times count \
         from the instant each was due.</p>{}</section>\n",
        table("numbers", &headings, rows)
    )
}

fn path_section(path: &IoPath) -> String {
    let rows = path.layers.iter().map(|layer| ("", layer_cells(layer)));
    let complaints: String = path.complaints.iter().map(|c| format!("<li>{}</li>", escape(c))).collect();
    let complaints =
        if complaints.is_empty() { complaints } else { format!("<p>Not read:</p><ul>{complaints}</ul>") };
    format!(
        "<section><h2>Path</h2><p class=\"faint\">{}</p>{}{complaints}</section>\n",
        escape(&path.target),
        table("words", &["layer", "kind", "on", "limits", "settings", "facts"], rows)
    )
}

fn layer_cells(layer: &Layer) -> Vec<String> {
    let kind = serde_json::to_value(layer.kind).ok().and_then(|v| v.as_str().map(str::to_owned));
    let name = match &layer.label {
        Some(label) => format!("{} ({label})", layer.name),
        None => layer.name.clone(),
    };
    let limits: Vec<String> = layer.limits.iter().map(limit_words).collect();
    let tunables: Vec<String> = layer.tunables.iter().map(|t| format!("{} {}", t.name, t.value)).collect();
    let facts: Vec<String> = layer.facts.iter().map(|(name, value)| format!("{name} {value}")).collect();
    vec![
        name,
        kind.unwrap_or_default(),
        layer.below.join(", "),
        limits.join(", "),
        tunables.join(", "),
        facts.join(", "),
    ]
}

fn list(title: &str, rows: &[(String, String)]) -> String {
    let row =
        |(name, value): &(String, String)| format!("<dt>{}</dt><dd>{}</dd>", escape(name), escape(value));
    let rows: String = rows.iter().map(row).collect();
    format!("<section><h2>{}</h2><dl>{rows}</dl></section>\n", escape(title))
}

fn host(host: &HostFacts) -> String {
    let allowed = (!host.cpus_allowed.is_empty()).then(|| host.cpus_allowed.len().to_string());
    let rows = [
        ("host", host.hostname.clone()),
        ("kernel", host.kernel.clone()),
        ("distribution", host.distribution.clone()),
        ("processor", host.cpu_model.clone()),
        ("CPUs online", host.cpus_online.map(|n| n.to_string())),
        ("CPUs allowed", allowed),
        ("memory", host.memory_bytes.map(bytes)),
        ("memory available", host.memory_available_bytes.map(bytes)),
        ("virtualization", host.virtualization.clone()),
        ("tuned profile", host.tuned_profile.clone()),
        ("root", Some(if host.root { "yes" } else { "no" }.to_owned())),
    ];
    let known: Vec<(String, String)> =
        rows.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect();
    list("Host", &known)
}

fn options(report: &ProbeReport) -> String {
    let subject = &report.subject;
    let mut rows = vec![
        ("target".to_owned(), format!("{} ({})", subject.target, subject.kind)),
        ("workload".to_owned(), subject.workload.clone()),
        ("block".to_owned(), bytes(subject.block_bytes)),
        ("region".to_owned(), bytes(subject.region_bytes)),
        ("engine".to_owned(), subject.engine.clone()),
        ("load".to_owned(), format!("{} s spent", significant(report.answer.spent_s))),
    ];
    if let Value::Object(fields) = &report.options {
        let named = fields.iter().filter(|(_, value)| !value.is_null());
        rows.extend(named.map(|(name, value)| (format!("option {name}"), option_text(value))));
    }
    rows.extend(report.run_folder.iter().map(|run| ("run".to_owned(), run.clone())));
    rows.push(("Plimsoll".to_owned(), ProbeReport::VERSION.to_owned()));
    list("What was run", &rows)
}

fn option_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
