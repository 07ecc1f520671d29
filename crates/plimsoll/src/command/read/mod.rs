//! `plimsoll read`: what other tools wrote, and what is wrong.

mod progress;

use crate::args::read::ReadArgs;
use crate::exit::{Exit, Failure, chain};
use crate::voice::Voice;
use analyze::Finding;
use analyze::reading::{Digest, findings};
use jiff::Timestamp;
use record::imported::{Both, ImportedWriter};
use record::run::{PAGE_FILE, RunDocument, RunError};
use report::reading::ReadReport;
use report::terminal::{Color, Style};
use std::collections::{BTreeMap, BTreeSet};

/// Reads, concludes, shows.
pub fn run(args: &ReadArgs, voice: &Voice) -> Result<Exit, Failure> {
    if args.formats {
        let known: Vec<(&str, &str)> = import::format::all().map(|f| (f.name, f.title)).collect();
        voice.say(&::report::reading::formats(&known, voice.json));
        return Ok(Exit::Done);
    }
    let started_at = Timestamp::now();
    let mut digest = Digest::default();
    let mut keeper = args.out.as_deref().map(ImportedWriter::create).transpose().map_err(not_kept)?;
    let mut shown = progress::Shown::new(voice.progress);
    let mut digested = Both(&mut digest, &mut shown);
    let reading = match &mut keeper {
        Some(keeper) => import::read(&args.paths, &mut Both(&mut digested, keeper)),
        None => import::read(&args.paths, &mut digested),
    };
    shown.finish();
    let mut found = findings(&digest);
    found.retain(|f| f.severity >= args.least);
    quote(args, &mut found);
    let refused = reading.refused.into_iter().map(|r| (r.path, r.reason)).collect();
    let run = keeper.as_ref().map(|k| k.dir().display().to_string());
    let report = ReadReport { digest: &digest, refused, findings: &found, run };
    if let Some(keeper) = keeper {
        keep(keeper, &report, args, started_at, voice.style())?;
    }
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

/// The page, the tables and the document.
fn keep(
    keeper: ImportedWriter,
    report: &ReadReport<'_>,
    args: &ReadArgs,
    started_at: Timestamp,
    voice_style: Style,
) -> Result<(), Failure> {
    let page = keeper.dir().join(PAGE_FILE);
    std::fs::write(&page, ::report::html::reading(report))
        .map_err(|cause| Failure::new(Exit::Environment, format!("writing {}: {cause}", page.display())))?;
    let mut document = RunDocument::new("read", ::report::ProbeReport::VERSION, started_at.to_string());
    document.ended_at = Some(Timestamp::now().to_string());
    document.options = serde_json::json!({ "paths": args.paths, "least": args.least });
    document.answer = serde_json::from_str(&::report::reading::document(report)).unwrap_or_default();
    document.findings = report.findings.iter().filter_map(|f| serde_json::to_value(f).ok()).collect();
    document.kept = serde_json::json!({ "text": ::report::reading::text(report, Style { color: Color::Never, ..voice_style }) });
    keeper.finish(&document).map_err(not_kept)
}

fn not_kept(error: RunError) -> Failure {
    Failure::new(Exit::Environment, chain(&error))
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
        let key = evidence.file.clone().zip(evidence.line);
        if let Some(text) = key.and_then(|key| quoted.get(&key)) {
            evidence.text.clone_from(text);
        }
    }
}
