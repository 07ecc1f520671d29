//! The report of a probe, from the answer down to where it is kept.

use super::sink::{Role, Sink};
use super::{Style, bars, cores, points};
use crate::number::{ABSENT, TimeUnit, count, fitted, significant, standing, time, whole};
use crate::{ProbeReport, curve, words};
use analyze::BoundBy;
use probe::{Answer, OpenPoint};
use record::{Doubt, IoPath, Layer, Limit, LimitKind, Weight};

/// Width of the labels in the margin.
const MARGIN: usize = 12;
/// Evidence and advice shown here; the page and JSON have them all.
const SHOWN_MAX: usize = 3;

/// The whole report.
pub fn probe(report: &ProbeReport, style: Style) -> String {
    let mut out = Sink::new(style);
    let answer = &report.answer;
    head(&mut out, report);
    verdict(&mut out, answer);
    bound_by(&mut out, &answer.bound_by);
    doubts(&mut out, &answer.doubts);
    cores::table(&mut out, report);
    if !answer.points.is_empty() {
        points::table(&mut out, answer);
        bars::chart(&mut out, answer);
    }
    open_loop(&mut out, &answer.open_loop);
    if let Some(path) = &report.path {
        path_layers(&mut out, path);
    }
    foot(&mut out, report);
    out.finish()
}

fn head(out: &mut Sink, report: &ProbeReport) {
    out.labelled(Some(Role::Faint), "", 0, &words::subject_line(&report.subject));
    out.gap();
}

fn verdict(out: &mut Sink, answer: &Answer) {
    let verdict = words::verdict(answer);
    let good = verdict.label == "Load line";
    let role = if good { Role::Good } else { Role::Warn };
    if good {
        out.labelled(Some(role), verdict.label, MARGIN, &verdict.headline);
    } else {
        out.labelled(Some(role), "", 0, &format!("{}: {}", verdict.label, verdict.headline));
    }
    for more in &verdict.more {
        out.labelled(None, "", MARGIN, more);
    }
    if let Some(marks) = marks(answer) {
        out.labelled(None, "Marks", MARGIN, &marks);
    }
}

/// Knee and comfort marks in one line.
fn marks(answer: &Answer) -> Option<String> {
    let comfort = &answer.comfort;
    let knee = answer.knee.as_ref().map(|k| {
        let unloaded = time(k.response_unloaded_us);
        format!("knee at {} I/Os (unloaded {unloaded})", count(k.concurrency))
    });
    let most = comfort.saturation_concurrency.map(|n| format!("95 % of all throughput at {}", count(n)));
    let power =
        comfort.power_concurrency.map(|n| format!("best throughput per response time at {}", count(n)));
    let falls = comfort.retrograde.map(|_| "throughput falls with depth".to_owned());
    let marks: Vec<String> = [knee, most, power, falls].into_iter().flatten().collect();
    (!marks.is_empty()).then(|| marks.join("; "))
}

fn bound_by(out: &mut Sink, bound: &BoundBy) {
    out.gap();
    let layer = bound.layer.word();
    out.labelled(
        Some(Role::Strong),
        "Bound by",
        MARGIN,
        &format!("{layer}: {}", words::sentence(&bound.headline)),
    );
    for evidence in bound.evidence.iter().take(SHOWN_MAX) {
        out.labelled(None, "          -", MARGIN, evidence);
    }
    if !bound.refuted_by.is_empty() {
        out.labelled(Some(Role::Faint), "", MARGIN, &format!("Would be wrong if: {}", bound.refuted_by));
    }
    if let Some((layer, why)) = &bound.runner_up {
        let text = format!("Next most likely: {} ({why})", layer.word());
        out.labelled(Some(Role::Faint), "", MARGIN, &text);
    }
    for (index, advice) in bound.advice.iter().take(SHOWN_MAX).enumerate() {
        let label = if index == 0 { "Try" } else { "" };
        out.labelled(None, label, MARGIN, &format!("{}. {}", index + 1, advice.text));
        for more in words::change(advice).iter().chain(&advice.expected) {
            out.labelled(None, "", MARGIN + 3, more);
        }
    }
}

/// What weighs is told in full; notes are named only, so that they do not bury the answer.
fn doubts(out: &mut Sink, doubts: &[Doubt]) {
    let mut heavy: Vec<&Doubt> = doubts.iter().filter(|d| d.weight > Weight::Note).collect();
    heavy.sort_by_key(|d| std::cmp::Reverse(d.weight));
    if !doubts.is_empty() {
        out.gap();
    }
    for (index, doubt) in heavy.into_iter().enumerate() {
        let label = if index == 0 { "Doubt" } else { "" };
        let text = format!(
            "{} ({}): {}",
            words::doubt_words(doubt.id),
            words::weight_word(doubt.weight),
            doubt.text
        );
        out.labelled(Some(Role::Warn), label, MARGIN, &text);
    }
    let notes: Vec<&str> =
        doubts.iter().filter(|d| d.weight == Weight::Note).map(|d| words::doubt_words(d.id)).collect();
    if !notes.is_empty() {
        out.labelled(None, "Notes", MARGIN, &format!("{} (in full: --json, page)", notes.join("; ")));
    }
}

/// Rates tried in an open loop.
fn open_loop(out: &mut Sink, rates: &[OpenPoint]) {
    let Some(slowest_us) = curve::largest(rates.iter().map(|r| r.response_us.p99)) else { return };
    let unit = TimeUnit::for_us(slowest_us);
    out.gap();
    let title = "Open loop: I/Os due at a rate; response times from when each was due";
    out.line(Some(Role::Strong), &format!("{title}, {}", unit.symbol()));
    let heading = ["of line", "asked IOPS", "done IOPS", "mean", "p99", "p99.9", "standing", "limit"];
    out.line(Some(Role::Strong), &open_row(&heading.map(str::to_owned)));
    for rate in rates {
        out.line(None, &open_row(&open_cells(rate, unit)));
        if let Some(lag) = &rate.lag {
            out.labelled(Some(Role::Warn), "", MARGIN, lag);
        }
    }
}

fn open_row(cells: &[String; 8]) -> String {
    let [share, asked, done, mean, p99, p999, standing, limit] = cells;
    format!("{share:>9}{asked:>12}{done:>11}{mean:>8}{p99:>8}{p999:>8}{standing:>10}  {limit}")
}

fn open_cells(rate: &OpenPoint, unit: TimeUnit) -> [String; 8] {
    [
        rate.share.map_or(ABSENT.to_owned(), |s| format!("{:.0} %", s * 100.0)),
        fitted(rate.asked_iops, 11),
        fitted(rate.iops, 10),
        unit.show(rate.response_us.mean),
        unit.show(rate.response_us.p99),
        unit.show(rate.response_us.p999),
        standing(rate.outstanding_mean),
        curve::open_word(rate).to_owned(),
    ]
}

fn path_layers(out: &mut Sink, path: &IoPath) {
    out.gap();
    for (index, layer) in path.layers.iter().enumerate() {
        let label = if index == 0 { "Path" } else { "" };
        out.labelled(None, label, MARGIN, &layer_line(layer));
    }
    for complaint in &path.complaints {
        out.labelled(Some(Role::Warn), "", MARGIN, &format!("not read: {complaint}"));
    }
}

fn layer_line(layer: &Layer) -> String {
    let kind = serde_json::to_value(layer.kind).ok().and_then(|v| v.as_str().map(str::to_owned));
    let label = layer.label.as_ref().map_or(String::new(), |l| format!(" \"{l}\""));
    let mut line = format!("{}{label} [{}]", layer.name, kind.unwrap_or_default());
    let limits: Vec<String> = layer.limits.iter().map(limit_words).collect();
    let scheduler = layer.tunable("scheduler").map(|t| format!("scheduler {}", t.value));
    let facts: Vec<String> = scheduler.into_iter().chain(limits).collect();
    if !facts.is_empty() {
        line.push_str(&format!(": {}", facts.join(", ")));
    }
    line
}

/// A limit in few words.
pub fn limit_words(limit: &Limit) -> String {
    let value = limit.value;
    match limit.kind {
        LimitKind::RequestsPerQueue => format!("nr_requests {}", whole(value)),
        LimitKind::HardwareQueues => {
            format!("{} hardware queue{}", whole(value), if value == 1.0 { "" } else { "s" })
        }
        LimitKind::TagsPerQueue => format!("{} tags per queue", whole(value)),
        LimitKind::LunQueueDepth => format!("LUN queue depth {}", whole(value)),
        LimitKind::HostCanQueue => format!("adapter can_queue {}", whole(value)),
        LimitKind::RequestBytes => format!("requests up to {}", crate::number::bytes(value.max(0.0) as u64)),
        LimitKind::ReadIops => format!("reads capped at {} IOPS", whole(value)),
        LimitKind::WriteIops => format!("writes capped at {} IOPS", whole(value)),
        LimitKind::ReadBytesPerS => {
            format!("reads capped at {} MiB/s", significant(value / (1 << 20) as f64))
        }
        LimitKind::WriteBytesPerS => {
            format!("writes capped at {} MiB/s", significant(value / (1 << 20) as f64))
        }
    }
}

fn foot(out: &mut Sink, report: &ProbeReport) {
    out.gap();
    // The head may have left the screen by now.
    let verdict = words::verdict(&report.answer);
    let layer = report.answer.bound_by.layer.word();
    let headline = verdict.headline.trim_end_matches('.');
    let again = format!("{}: {headline}; bound by {layer}", verdict.label);
    out.labelled(Some(Role::Strong), "", 0, &again);
    out.labelled(None, "Spent", MARGIN, &format!("{} s of load", count(report.answer.spent_s)));
    if let Some(folder) = &report.run_folder {
        out.labelled(None, "Run", MARGIN, folder);
    }
    if let Some(page) = report.page() {
        out.labelled(None, "Page", MARGIN, &page);
    }
}
