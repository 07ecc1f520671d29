//! Many findings of one cause as one that names them all.

use crate::finding::Finding;
use crate::reading::case::computed;
use std::collections::BTreeMap;

/// Names told in a title or line; the rest is counted.
const NAMES_MAX: usize = 12;

/// Findings of one host and severity beyond `most` become one: the first speaks, the others are named. They come worst
/// first.
pub(super) fn fold(findings: Vec<Finding>, most: usize) -> Vec<Finding> {
    let mut groups: BTreeMap<_, Vec<Finding>> = BTreeMap::new();
    for finding in findings {
        groups.entry((std::cmp::Reverse(finding.severity), finding.host.clone())).or_default().push(finding);
    }
    let mut all = Vec::new();
    for group in groups.into_values() {
        if group.len() <= most {
            all.extend(group);
            continue;
        }
        let mut group = group.into_iter();
        let Some(mut first) = group.next() else { continue };
        let mut others = Vec::new();
        for other in group {
            if first.evidence.len() < NAMES_MAX {
                first.evidence.extend(other.evidence.iter().take(1).cloned());
            }
            others.push(other.device.unwrap_or_default());
        }
        first.title = format!("{}; the same holds for {} more", first.title, others.len());
        first.evidence.push(computed(format!("also: {}", names(&others))));
        all.push(first);
    }
    all
}

/// `sda, sdb and 3 more`.
pub(super) fn names<S: AsRef<str>>(names: &[S]) -> String {
    let told: Vec<&str> = names.iter().take(NAMES_MAX).map(AsRef::as_ref).collect();
    match names.len().saturating_sub(NAMES_MAX) {
        0 => told.join(", "),
        rest => format!("{} and {rest} more", told.join(", ")),
    }
}

/// `1 path`, `3 paths`.
pub(super) fn counted(count: usize, thing: &str) -> String {
    format!("{count} {thing}{}", if count == 1 { "" } else { "s" })
}
