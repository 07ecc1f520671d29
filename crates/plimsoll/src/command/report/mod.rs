//! `plimsoll report`: a kept run, shown again.

use crate::args::ReportArgs;
use crate::exit::{Exit, Failure, chain};
use crate::voice::Voice;
use ::report::{ProbeReport, html, json, terminal};
use probe::Answer;
use record::recording::Recording;
use record::run::{RunDocument, RunRead, read_run};

mod recorded;

/// Reads the run folder and draws it.
pub fn run(args: &ReportArgs, voice: &Voice) -> Result<Exit, Failure> {
    if Recording::is_at(&args.run) {
        return recorded::run(args, voice);
    }
    if !args.devices.is_empty() || args.limit.is_some() || args.probe.is_some() {
        let words = format!(
            "{} is no recording: --devices, --limit and --probe are for recordings",
            args.run.display()
        );
        return Err(Failure::new(Exit::Usage, words));
    }
    let read = read_run(&args.run).map_err(|e| Failure::new(Exit::Usage, chain(&e)))?;
    for complaint in &read.complaints {
        eprintln!("warning: {complaint}");
    }
    if let Some(document) = read.document.as_ref().filter(|d| d.what == "read") {
        return imported(args, document, voice);
    }
    let report = restored(args, read)?;
    if let Some(page) = &args.page {
        std::fs::write(page, html::probe(&report)).map_err(|cause| {
            Failure::new(Exit::Environment, format!("writing {}: {cause}", page.display()))
        })?;
    }
    if voice.json {
        voice.say(&json::probe(&report));
    } else if args.page.is_none() {
        voice.say(&terminal::probe(&report, voice.style()));
    }
    Ok(Exit::Done)
}

/// What other tools wrote and what was concluded, as it was printed.
fn imported(args: &ReportArgs, document: &RunDocument, voice: &Voice) -> Result<Exit, Failure> {
    if let Some(page) = &args.page {
        let kept = args.run.join(record::run::PAGE_FILE);
        std::fs::copy(&kept, page).map_err(|cause| {
            Failure::new(
                Exit::Environment,
                format!("copying {} to {}: {cause}", kept.display(), page.display()),
            )
        })?;
    }
    if voice.json {
        voice.say(&format!("{:#}\n", document.answer));
    } else if args.page.is_none() {
        voice.say(document.kept["text"].as_str().unwrap_or_default());
    }
    Ok(Exit::Done)
}

/// The report as it was, its histograms pooled anew from the steps.
fn restored(args: &ReportArgs, read: RunRead) -> Result<ProbeReport, Failure> {
    let unfinished = || {
        Failure::new(
            Exit::Usage,
            format!("{}: the run was not finished, so it has no answer", args.run.display()),
        )
        .hint(format!("its {} measured steps can be read from its journal", read.steps.len()))
    };
    let document: &RunDocument = read.document.as_ref().filter(|_| read.finished).ok_or_else(unfinished)?;
    let bad = |what: &str| Failure::new(Exit::Usage, format!("{}/run.json: {what}", args.run.display()));
    let mut answer: Answer = serde_json::from_value(document.kept.clone())
        .map_err(|e| bad(&format!("the kept answer does not read: {e}")))?;
    let mut subject = document.subject.clone().ok_or_else(|| bad("no subject"))?;
    subject.path.clone_from(&document.path);
    for point in &mut answer.points {
        point.take_latencies(&read.steps);
    }
    answer.steps = read.steps;
    Ok(ProbeReport {
        answer,
        subject,
        host: document.host.clone(),
        path: document.path.clone(),
        options: document.options.clone(),
        started_at: document.started_at.parse().map_err(|e| bad(&format!("started_at: {e}")))?,
        run_folder: Some(args.run.display().to_string()),
    })
}
