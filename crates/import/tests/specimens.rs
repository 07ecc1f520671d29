//! Every specimen of other tools' output is recognised or refused with a reason, and none panics. The specimens are not
//! part of the project: the test runs where a folder of them stands beside the checkout, or where `PLIMSOLL_SPECIMENS`
//! names one. It prints a table of formats by samples read.
#![allow(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

use record::imported::Gathered;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

fn specimens() -> Option<PathBuf> {
    if let Some(named) = std::env::var_os("PLIMSOLL_SPECIMENS") {
        return Some(named.into());
    }
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..");
    let folders = std::fs::read_dir(beside).ok()?;
    folders.filter_map(Result::ok).map(|f| f.path().join("specimens")).find(|p| p.is_dir())
}

#[test]
fn every_specimen_is_recognised_or_refused_with_a_reason() {
    let Some(folder) = specimens() else {
        println!("skipped: no folder of specimens beside the checkout (PLIMSOLL_SPECIMENS names one)");
        return;
    };
    let mut table: BTreeMap<String, [usize; 5]> = BTreeMap::new();
    let mut refused = Vec::new();
    for family in std::fs::read_dir(&folder).unwrap().filter_map(Result::ok).filter(|f| f.path().is_dir()) {
        for file in std::fs::read_dir(family.path()).unwrap().filter_map(Result::ok) {
            if file.file_name() == "INDEX.tsv" {
                continue;
            }
            let mut all = Gathered::default();
            let reading = import::read(&[file.path()], &mut all);
            for r in &reading.refused {
                assert!(!r.reason.is_empty());
                refused.push(format!("{}: {}", r.path, r.reason));
            }
            for (_, formats) in &reading.read {
                let [files, rows, facts, events, complaints] = table.entry(formats.join("+")).or_default();
                *files += 1;
                *rows += all.rows.len();
                *facts += all.facts.len();
                *events += all.events.len() + all.distributions.len();
                *complaints += all.complaints.len();
            }
        }
    }
    println!(
        "{:<40} {:>6} {:>8} {:>7} {:>7} {:>11}",
        "format", "files", "rows", "facts", "events", "complaints"
    );
    for (format, [files, rows, facts, events, complaints]) in &table {
        println!("{format:<40} {files:>6} {rows:>8} {facts:>7} {events:>7} {complaints:>11}");
    }
    refused.sort();
    println!("refused:\n  {}", refused.join("\n  "));
    assert!(!table.is_empty(), "no specimen was read");
}
