//! Keeps the run: each step as it is measured, the document and the page at the end.

use crate::exit::{Exit, Failure, chain};
use ::report::{ProbeReport, html, json};
use jiff::Timestamp;
use record::run::{PAGE_FILE, RunDocument, RunError, RunWriter};
use record::{Load, Step, Subject, SubjectError, SubjectFacts, Watch};
use serde_json::Value;
use std::path::Path;

/// Writes the run folder, if one was asked for.
pub struct Keeper {
    writer: Option<RunWriter>,
    failed: Option<RunError>,
}

impl Keeper {
    /// Makes the folder.
    pub fn create(folder: Option<&Path>) -> Result<Self, Failure> {
        let writer = folder.map(RunWriter::create).transpose().map_err(|e| run_failed(&e, Exit::Usage))?;
        Ok(Self { writer, failed: None })
    }

    /// Notes what is about to be measured, so that an unfinished run says what it was.
    pub fn describe(
        &mut self,
        facts: &SubjectFacts,
        options: &Value,
        started_at: Timestamp,
    ) -> Result<(), Failure> {
        let Some(writer) = &mut self.writer else { return Ok(()) };
        let mut document = RunDocument::new("probe", ProbeReport::VERSION, started_at.to_string())
            .with_path(facts.path.clone());
        document.host = host::facts::read(&host::Root::system());
        document.subject = Some(SubjectFacts { path: None, ..facts.clone() });
        document.options = options.clone();
        writer.describe(&document).map_err(|e| run_failed(&e, Exit::Environment))
    }

    /// The subject with every step kept.
    pub fn around<'a>(&'a mut self, subject: &'a mut dyn Subject) -> Recorded<'a> {
        Recorded { subject, keeper: self }
    }

    /// Says what went wrong while steps were kept. The measurement went on without: it may be hard to repeat.
    pub fn check(&mut self) -> Result<(), Failure> {
        if let Some(error) = self.failed.take() {
            eprintln!("warning: the run could not be kept whole: {}", chain(&error));
        }
        Ok(())
    }

    /// Writes the page, the tables and the document.
    pub fn finish(self, report: &ProbeReport) -> Result<(), Failure> {
        let Some(writer) = self.writer else { return Ok(()) };
        let page = writer.dir().join(PAGE_FILE);
        std::fs::write(&page, html::probe(report)).map_err(|cause| {
            Failure::new(Exit::Environment, format!("writing {}: {cause}", page.display()))
        })?;
        let document = json::run_document(report, Some(Timestamp::now()));
        writer.finish(&document).map_err(|e| run_failed(&e, Exit::Environment))
    }
}

fn run_failed(error: &RunError, exit: Exit) -> Failure {
    Failure::new(exit, chain(error))
}

/// A subject whose steps are kept as they are measured.
pub struct Recorded<'a> {
    subject: &'a mut dyn Subject,
    keeper: &'a mut Keeper,
}

impl Subject for Recorded<'_> {
    fn facts(&self) -> SubjectFacts {
        self.subject.facts()
    }

    fn measure(&mut self, load: &Load, watch: &mut dyn Watch) -> Result<Step, SubjectError> {
        let step = self.subject.measure(load, watch)?;
        if let (Some(writer), None) = (&mut self.keeper.writer, &self.keeper.failed) {
            self.keeper.failed = writer.append(&step).err();
        }
        Ok(step)
    }
}
