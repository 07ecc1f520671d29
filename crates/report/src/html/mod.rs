//! `report.html`: one self-contained file that works offline.
//!
//! No request leaves it: a content security policy forbids what the text itself does not ask for. Charts are drawn here
//! as SVG, with a title, a description and a table beside them; a few lines of script show the numbers under the
//! pointer, and without script the browser's own tooltips do. Every foreign string is escaped.

mod axis;
mod course;
mod facts;
mod percentiles;
mod reading;
mod standing;
mod svg;
mod throughput_latency;

use crate::{ProbeReport, words};
use analyze::BoundBy;
use probe::Answer;
pub use reading::reading;
use record::{Doubt, Weight};
use svg::escape;

const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = include_str!("hover.js");
/// Nothing from anywhere but this file.
const POLICY: &str =
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:";

/// The page of a probe.
pub fn probe(report: &ProbeReport) -> String {
    let answer = &report.answer;
    let verdict = words::verdict(answer);
    let title = format!("{}: {}", verdict.label, verdict.headline);
    let mut page = String::with_capacity(64 << 10);
    page.push_str(&format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
         <meta name=\"color-scheme\" content=\"light dark\">\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\
         <title>{}</title><style>{STYLE}</style></head>\n<body><main>\n",
        escape(&title)
    ));
    page.push_str(&head(report));
    page.push_str(&bound_by(&answer.bound_by));
    page.push_str(&doubts(&answer.doubts));
    page.push_str(&charts(answer));
    page.push_str(&facts::sections(report));
    page.push_str(&format!("</main><script>{SCRIPT}</script></body></html>\n"));
    page
}

fn head(report: &ProbeReport) -> String {
    let verdict = words::verdict(&report.answer);
    let (label, headline) = (escape(verdict.label), escape(&verdict.headline));
    let headline = if verdict.label == "Load line" {
        format!("<p class=\"label good\">{label}</p><h1>{headline}</h1>")
    } else {
        format!("<h1><span class=\"warn\">{label}:</span> {headline}</h1>")
    };
    let more: String = verdict.more.iter().map(|m| format!("<p>{}</p>", escape(m))).collect();
    format!(
        "<header><p class=\"faint\">Plimsoll probe &middot; {}</p>\
         {headline}{more}<p class=\"faint\">{}</p></header>\n",
        escape(&report.started_at.strftime("%Y-%m-%d %H:%M UTC").to_string()),
        escape(&words::subject_line(&report.subject)),
    )
}

fn bound_by(bound: &BoundBy) -> String {
    let evidence: String = bound.evidence.iter().map(|e| format!("<li>{}</li>", escape(e))).collect();
    let refuted = match bound.refuted_by.as_str() {
        "" => String::new(),
        text => format!("<p class=\"faint\">Would be wrong if: {}</p>", escape(text)),
    };
    let runner_up = bound.runner_up.as_ref().map_or(String::new(), |(layer, why)| {
        format!("<p class=\"faint\">Next most likely: {} ({})</p>", words::layer_words(*layer), escape(why))
    });
    format!(
        "<section class=\"two\"><div><h2>Bound by: {}</h2><p>{}</p><ul>{evidence}</ul>{refuted}{runner_up}</div>\
         <div><h2>Try</h2>{}</div></section>\n",
        words::layer_words(bound.layer),
        escape(&words::sentence(&bound.headline)),
        advice(bound)
    )
}

fn advice(bound: &BoundBy) -> String {
    if bound.advice.is_empty() {
        return "<p>Nothing to change was found.</p>".to_owned();
    }
    let item = |advice: &analyze::Advice| {
        let change =
            words::change(advice).map_or(String::new(), |c| format!("<br><code>{}</code>", escape(&c)));
        let expected = advice.expected.as_ref();
        let expected =
            expected.map_or(String::new(), |e| format!("<br><span class=\"faint\">{}</span>", escape(e)));
        format!("<li>{}{change}{expected}</li>", escape(&advice.text))
    };
    format!("<ol>{}</ol>", bound.advice.iter().map(item).collect::<String>())
}

fn doubts(doubts: &[Doubt]) -> String {
    let mut doubts: Vec<&Doubt> = doubts.iter().collect();
    doubts.sort_by_key(|d| std::cmp::Reverse(d.weight));
    if doubts.is_empty() {
        return String::new();
    }
    let item = |doubt: &&Doubt| {
        let class = if doubt.weight == Weight::Note { "" } else { " class=\"warn\"" };
        let (what, weight) = (words::doubt_words(doubt.id), words::weight_word(doubt.weight));
        format!("<li><b{class}>{what}</b> ({weight}): {}</li>", escape(&doubt.text))
    };
    let items: String = doubts.iter().map(item).collect();
    format!("<section><h2>Doubts</h2><ul>{items}</ul></section>\n")
}

fn charts(answer: &Answer) -> String {
    if answer.points.is_empty() && answer.steps.is_empty() {
        return "<section><h2>Curves</h2><p>Nothing was measured.</p></section>\n".to_owned();
    }
    let charts = [
        throughput_latency::figure(answer),
        standing::figure(answer),
        percentiles::figure(answer),
        course::figure(answer),
    ];
    format!("<section class=\"charts\">{}</section>\n", charts.concat())
}
