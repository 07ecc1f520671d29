//! The rules, and the formats, explained.

use crate::terminal::{Role, Sink, Style};
use analyze::rulebook::{self, Rule};
use serde_json::{Value, json};

const MARGIN: usize = 12;

fn as_json(rule: &Rule) -> Value {
    json!({
        "id": rule.id, "title": rule.title, "severity": rule.severity, "condition": rule.condition_in_numbers(),
        "meaning": rule.meaning, "cause": rule.cause, "advice": rule.advice, "refuted_by": rule.refuted_by,
        "sources": rule.sources, "thresholds": rule.thresholds,
    })
}

/// One rule, whole.
pub fn rule(rule: &Rule, is_json: bool, style: Style) -> String {
    if is_json {
        return format!("{:#}\n", json!({ "schema": "plimsoll.explain/1", "rules": [as_json(rule)] }));
    }
    let mut out = Sink::new(style);
    out.labelled(Some(Role::Strong), &rule.id, MARGIN, &format!("{} ({})", rule.title, rule.severity.word()));
    out.gap();
    out.labelled(None, "when", MARGIN, &rule.condition_in_numbers());
    out.gap();
    out.labelled(None, "meaning", MARGIN, &rule.meaning);
    out.gap();
    out.labelled(None, "why", MARGIN, &rule.cause);
    for (platform, texts) in &rule.advice {
        out.gap();
        let name = if platform == "any" { "anywhere" } else { platform };
        for (n, text) in texts.iter().enumerate() {
            out.labelled(None, if n == 0 { name } else { "" }, MARGIN, text);
        }
    }
    out.gap();
    out.labelled(None, "refuted by", MARGIN, &rule.refuted_by);
    out.gap();
    for (n, source) in rule.sources.iter().enumerate() {
        out.labelled(Some(Role::Faint), if n == 0 { "sources" } else { "" }, MARGIN, source);
    }
    out.finish()
}

/// All rules, a line each.
pub fn rules(is_json: bool, style: Style) -> String {
    let all = rulebook::rules();
    if is_json {
        let all: Vec<Value> = all.values().map(as_json).collect();
        return format!("{:#}\n", json!({ "schema": "plimsoll.explain/1", "rules": all }));
    }
    let mut out = Sink::new(style);
    for rule in all.values() {
        out.labelled(None, &format!("{} {}", rule.id, rule.severity.word()), MARGIN + 2, &rule.title);
    }
    out.finish()
}

/// The formats that can be read: short name and title of each.
pub fn formats(known: &[(&str, &str)], is_json: bool) -> String {
    if is_json {
        let all: Vec<Value> =
            known.iter().map(|(name, title)| json!({ "name": name, "title": title })).collect();
        return format!("{:#}\n", json!({ "schema": "plimsoll.formats/1", "formats": all }));
    }
    let width = known.iter().map(|(name, _)| name.len()).max().unwrap_or(0) + 2;
    known.iter().map(|(name, title)| format!("{name:<width$}{title}\n")).collect()
}
