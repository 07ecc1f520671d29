//! The rules as data: one file per rule in `rules/`, with all that is said about it and every threshold it uses.
//!
//! What a rule looks for is told twice: for people in `condition`, where `{name}` stands for a threshold, and for the
//! program in the function of the same id (`reading/rule/`), which takes its thresholds from here and nowhere else.

use crate::finding::Severity;
use record::imported::Platform;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::OnceLock;

/// One rule.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// `PL101`.
    pub id: String,
    /// What is found, in one line.
    pub title: String,
    /// How much it matters, unless the case says otherwise.
    pub severity: Severity,
    /// When it holds; `{name}` is a threshold.
    pub condition: String,
    /// What the numbers mean.
    pub meaning: String,
    /// Why it happens.
    pub cause: String,
    /// What to do, by platform (`linux`, `solaris`, `aix`, `hp-ux`, `free-bsd`, `esxi`), or for `any`; best first.
    pub advice: BTreeMap<String, Vec<String>>,
    /// What would prove a finding wrong.
    pub refuted_by: String,
    /// Where it is written: papers, manuals, kernel documents.
    pub sources: Vec<String>,
    /// Numbers that the condition uses.
    #[serde(default)]
    pub thresholds: BTreeMap<String, f64>,
    /// Sentences that a finding adds where its case calls for them.
    #[serde(default)]
    pub texts: BTreeMap<String, String>,
}

impl Rule {
    /// A threshold.
    ///
    /// # Panics
    /// When the rule has none of this name: its function and its file have come apart, which a test would show.
    pub fn threshold(&self, name: &str) -> f64 {
        match self.thresholds.get(name) {
            Some(number) => *number,
            None => panic!("rule {} has no threshold '{name}'", self.id),
        }
    }

    /// One of the sentences.
    ///
    /// # Panics
    /// When the rule has none of this name: its function and its file have come apart, which a test would show.
    pub fn text(&self, name: &str) -> &str {
        match self.texts.get(name) {
            Some(text) => text,
            None => panic!("rule {} has no text '{name}'", self.id),
        }
    }

    /// The condition with its thresholds filled in.
    pub fn condition_in_numbers(&self) -> String {
        let mut text = self.condition.clone();
        for (name, number) in &self.thresholds {
            text = text.replace(&format!("{{{name}}}"), &number.to_string());
        }
        text
    }

    /// What to do on a platform: what is said for it, then what is said for any.
    pub fn advice_for(&self, platform: Platform) -> Vec<String> {
        let key = match serde_json::to_value(platform) {
            Ok(serde_json::Value::String(word)) => word,
            _ => String::new(),
        };
        let any = self.advice.get("any").into_iter().flatten().cloned();
        if platform == Platform::Unknown {
            // Nobody knows the platform: what each of them would do, by its name.
            let others = self.advice.iter().filter(|(platform, _)| *platform != "any");
            let named =
                others.flat_map(|(platform, texts)| texts.iter().map(move |t| format!("{platform}: {t}")));
            return named.chain(any).collect();
        }
        self.advice.get(&key).into_iter().flatten().cloned().chain(any).collect()
    }
}

/// All rules, by id.
pub fn rules() -> &'static BTreeMap<String, Rule> {
    static RULES: OnceLock<BTreeMap<String, Rule>> = OnceLock::new();
    RULES.get_or_init(|| {
        FILES
            .iter()
            .map(|(name, text)| {
                let rule: Rule = toml::from_str(text).unwrap_or_else(|e| panic!("rules/{name}: {e}"));
                (rule.id.clone(), rule)
            })
            .collect()
    })
}

/// A rule by its id, in any case.
pub fn rule(id: &str) -> Option<&'static Rule> {
    rules().get(&id.to_ascii_uppercase())
}

include!(concat!(env!("OUT_DIR"), "/rule_files.rs"));

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_says_all_that_it_should() {
        assert!(!rules().is_empty());
        for ((id, rule), (name, _)) in rules().iter().zip(FILES) {
            assert_eq!(&format!("{id}.toml"), name, "a rule stands in the file of its id");
            assert!(id.starts_with("PL") && id.len() == 5, "{id}");
            for (what, text) in [
                ("title", &rule.title),
                ("condition", &rule.condition),
                ("meaning", &rule.meaning),
                ("cause", &rule.cause),
                ("refuted_by", &rule.refuted_by),
            ] {
                assert!(!text.trim().is_empty(), "{id} has no {what}");
            }
            assert!(!rule.sources.is_empty() && !rule.advice.is_empty(), "{id}");
            let platforms = ["any", "linux", "solaris", "aix", "hp-ux", "free-bsd", "esxi"];
            assert!(
                rule.advice.keys().all(|k| platforms.contains(&k.as_str())),
                "{id}: {:?}",
                rule.advice.keys()
            );
            assert!(!rule.advice_for(Platform::Linux).is_empty(), "{id} has no advice for Linux or for any");
            let rest = rule.condition_in_numbers();
            assert!(!rest.contains('{'), "{id}: a threshold of the condition is missing: {rest}");
            for threshold in rule.thresholds.keys() {
                assert!(
                    rule.condition.contains(&format!("{{{threshold}}}")),
                    "{id}: the condition hides {threshold}"
                );
            }
        }
    }
}
