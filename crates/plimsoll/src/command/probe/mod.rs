//! `plimsoll probe`: opens the target, searches, concludes, shows and keeps.

mod cores;
mod keep;
mod meet;
mod progress;

use crate::args::probe::ProbeArgs;
use crate::exit::{Exit, Failure, chain};
use crate::signal;
use crate::voice::Voice;
use ::report::{ProbeReport, json, terminal};
use analyze::Case;
use jiff::Timestamp;
use keep::Keeper;
use probe::{Answer, Outcome, ProbeError, Searched};
use record::{Doubt, Subject, SubjectFacts};
use std::sync::atomic::{AtomicBool, Ordering};

/// Runs the probe.
pub fn run(args: &ProbeArgs, voice: &Voice) -> Result<Exit, Failure> {
    let wish = meet::wish(args)?;
    let interrupt = signal::interrupt_flag()
        .map_err(|e| Failure::new(Exit::Environment, format!("setting up signal handling: {e}")))?;
    // The folder is made before the first minute of load, so that a bad name costs nothing.
    let mut keeper = Keeper::create(args.out.as_deref())?;
    let started_at = Timestamp::now();
    let mut shown = progress::Shown::new(voice.progress, voice.quiet);
    let mut subject = meet::subject(args, &wish, &interrupt, &mut shown)?;
    let facts = subject.facts();
    let doubts = subject.doubts().to_vec();
    meet::check_depths(&wish.search.depths, &facts)?;
    keeper.describe(&facts, &wish.options, started_at)?;
    let searched = {
        let mut recorded = keeper.around(&mut subject);
        probe::search(&mut recorded, &wish.search, &mut shown).map_err(search_failed)
    };
    shown.finish();
    // The own file goes before anything is said, whatever was found.
    let closed = subject.close();
    let searched = searched?;
    closed.map_err(|e| load_failed(&e))?;
    keeper.check()?;
    let report = ProbeReport {
        answer: conclude(searched, &facts, doubts),
        host: host::facts::read(&host::Root::system()),
        path: facts.path.clone(),
        subject: facts,
        options: wish.options,
        started_at,
        run_folder: args.out.as_ref().map(|o| o.display().to_string()),
    };
    let kept = keeper.finish(&report);
    // Where the run cannot be kept, the answer is shown all the same: it took minutes of load.
    show(&report, voice);
    kept?;
    Ok(exit_of(&report.answer, &interrupt))
}

/// From what the search found to the whole answer.
fn conclude(searched: Searched, facts: &SubjectFacts, before: Vec<Doubt>) -> Answer {
    let points = analyze::points(&searched.steps, facts.path.as_ref());
    let bound_by =
        analyze::bound_by(&Case::new(&points, facts, &searched.limit).with_troubles(&searched.steps));
    let mut doubts = before;
    doubts.extend(analyze::doubts(&searched.steps, &points, facts));
    doubts.extend(facts.path.iter().flat_map(host::path::hidden));
    searched.into_answer(points, bound_by, doubts)
}

fn show(report: &ProbeReport, voice: &Voice) {
    if voice.json {
        voice.say(&json::probe(report));
    } else {
        voice.say(&terminal::probe(report, voice.style()));
    }
}

fn exit_of(answer: &Answer, interrupt: &AtomicBool) -> Exit {
    match &answer.outcome {
        _ if interrupt.load(Ordering::Relaxed) => Exit::Interrupted,
        Outcome::BrokenAtOne { .. } => Exit::No,
        Outcome::CannotTell { .. } => Exit::Environment,
        _ => Exit::Done,
    }
}

fn search_failed(error: ProbeError) -> Failure {
    let exit = match &error {
        ProbeError::FirstWindow { .. } => Exit::Environment,
        ProbeError::BudgetTooSmall { .. } | ProbeError::DepthZero => Exit::Usage,
    };
    Failure::new(exit, chain(&error))
}

/// What the load generator refused, with the exit code it deserves.
fn load_failed(error: &load::Error) -> Failure {
    let exit = match error.kind() {
        load::ErrorKind::Usage => Exit::Usage,
        load::ErrorKind::Refused => Exit::Refused,
        load::ErrorKind::Environment => Exit::Environment,
        load::ErrorKind::Interrupted => Exit::Interrupted,
    };
    Failure::new(exit, chain(error))
}
