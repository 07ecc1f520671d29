//! `plimsoll read`: what other tools wrote, and what is wrong.

use crate::args::read::ReadArgs;
use crate::exit::{Exit, Failure};
use crate::voice::Voice;
use analyze::Finding;
use analyze::reading::{Digest, findings};
use report::reading::ReadReport;
use std::collections::{BTreeMap, BTreeSet};

/// Reads, concludes, shows.
pub fn run(args: &ReadArgs, voice: &Voice) -> Result<Exit, Failure> {
    if args.formats {
        let known: Vec<(&str, &str)> = import::format::all().map(|f| (f.name, f.title)).collect();
        voice.say(&::report::reading::formats(&known, voice.json));
        return Ok(Exit::Done);
    }
    let mut digest = Digest::default();
    let reading = import::read(&args.paths, &mut digest);
    let mut found = findings(&digest);
    found.retain(|f| f.severity >= args.least);
    quote(args, &mut found);
    let refused = reading.refused.into_iter().map(|r| (r.path, r.reason)).collect();
    let report = ReadReport { digest: &digest, refused, findings: &found, run: None };
    if voice.json {
        voice.say(&::report::reading::document(&report));
    } else {
        voice.say(&::report::reading::text(&report, voice.style()));
    }
    if reading.read.is_empty() {
        let what = if report.refused.is_empty() { "no file was found" } else { "no file could be read" };
        return Err(Failure::new(Exit::Usage, what).hint("`plimsoll read --formats` lists what can be read"));
    }
    let fails = args.fail_on.is_some_and(|least| found.iter().any(|f| f.severity >= least));
    Ok(if fails { Exit::No } else { Exit::Done })
}

/// Fills in the lines that the evidence names.
fn quote(args: &ReadArgs, found: &mut [Finding]) {
    let mut wanted: BTreeMap<String, BTreeSet<u64>> = BTreeMap::new();
    let unquoted = found.iter().flat_map(|f| &f.evidence).filter(|e| e.text.is_empty());
    for evidence in unquoted {
        if let (Some(file), Some(line)) = (&evidence.file, evidence.line) {
            wanted.entry(file.clone()).or_default().insert(line);
        }
    }
    let quoted = if wanted.is_empty() { BTreeMap::new() } else { import::quote(&args.paths, &wanted) };
    for evidence in found.iter_mut().flat_map(|f| &mut f.evidence).filter(|e| e.text.is_empty()) {
        if let (Some(file), Some(line)) = (&evidence.file, evidence.line) {
            if let Some(text) = quoted.get(&(file.clone(), line)) {
                evidence.text.clone_from(text);
            }
        }
    }
}
