//! What a boot brought back, against what must come out: one [`Check`] per figure, and the table a person reads.
//!
//! The accuracy asked for: binding layer and advised file exactly; the knee to the nearest whole I/O up to a depth of 16
//! and within 10 % above; throughput and mean response within 5 % while N is no more than eight times the depth;
//! queues within 0.3 I/Os or 5 %, whichever is more, at each N; a prediction within 5 % of what the next probe measures.
//! All of it below [`CPU_IOPS`](crate::truth::CPU_IOPS): beyond, the guest's processor is the limit.

mod change;
mod figures;
mod seen;
mod table;
mod watch;
mod words;

pub use table::{json, table};

use crate::outcome::{JobOutcome, Outcome};
use crate::rig::{Job, Rig};
use crate::truth::range::Range;
use crate::truth::{self, Truth};
use seen::Probe;
use serde::Serialize;

/// What is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Quantity {
    /// The boot went to its end without complaints.
    Finished,
    /// The job's command ended with the exit code expected.
    Exit,
    /// There is a readable document.
    Document,
    /// `bound_by.layer`.
    BoundBy,
    /// The file of the first advice.
    AdviceFile,
    /// Its value to try.
    AdviceValue,
    /// The rate it expects, against the model of the changed path.
    AdviceExpects,
    /// The rate it expects, against what the next probe measured.
    Prediction,
    /// What was advised could be written.
    Applied,
    /// Words in the verdict or its evidence.
    Says,
    /// Words in a warning.
    Warns,
    /// The plateau of a cap.
    Plateau,
    /// `knee.concurrency`.
    Knee,
    /// Share of all paths' rate that is lost. Shown only: how much a selector wastes is not fixed by the rig.
    Lost,
    /// What is not asserted and why, in words.
    Remark,
    /// What a watch's numbers come from.
    Source,
    /// Reads that a watch counted.
    Reads,
    /// Reads that it saw one process ask for.
    Asked,
    /// TASK SET FULL answers that it counted.
    TaskSetFull,
    /// IOPS at one concurrency.
    Throughput,
    /// Mean response time, us.
    Response,
    /// Standing above the block layer.
    Above,
    /// Standing in host queues.
    HostQueue,
    /// Standing at the device.
    DeviceQueue,
}

/// A figure or a word.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Figure {
    /// A number, or the two it lies between.
    Number(Range),
    /// Text.
    Text(String),
    /// Nothing is there: `null`.
    Absent,
}

/// What a departure is counted in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unit {
    /// A share of the truth.
    Share,
    /// I/Os.
    Ios,
    /// Right or wrong.
    Exact,
}

/// One comparison.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Check {
    /// The rig.
    pub rig: String,
    /// The kernel series it ran on.
    pub kernel: String,
    /// Place of the job in the rig.
    pub job_index: usize,
    /// The job.
    pub job: String,
    /// What is compared.
    pub quantity: Quantity,
    /// Concurrency, where it belongs to one.
    pub n: Option<u32>,
    /// What must come out.
    pub truth: Figure,
    /// What came out.
    pub seen: Figure,
    /// How far apart; absent where nothing was seen, or words are compared.
    pub departs_by: Option<f64>,
    /// How far apart they may be.
    pub tolerance: f64,
    /// Unit of both.
    pub unit: Unit,
    /// Whether it counts; what does not is shown only.
    pub counted: bool,
    /// Within the tolerance.
    pub pass: bool,
    /// Why it does not count, or what else there is to know.
    pub note: String,
}

impl Check {
    /// It counts, and it is wrong.
    pub fn failed(&self) -> bool {
        self.counted && !self.pass
    }
}

/// Collects the checks of one job.
pub(crate) struct Sheet<'a> {
    rig: &'a str,
    kernel: &'a str,
    job_index: usize,
    job: &'a Job,
    checks: Vec<Check>,
}

impl Sheet<'_> {
    /// A number against a range. `note` says why it is only shown; empty when it counts.
    fn number(
        &mut self,
        (quantity, n): (Quantity, Option<u32>),
        truth: Range,
        seen: Option<f64>,
        (tolerance, unit): (f64, Unit),
        note: &str,
    ) {
        let departs_by = seen.filter(|s| s.is_finite()).map(|s| match unit {
            Unit::Share => truth.distance(s) / truth.nearest(s).abs().max(f64::MIN_POSITIVE),
            _ => truth.distance(s),
        });
        let pass = departs_by.is_some_and(|d| d <= tolerance);
        let seen = seen.map_or(Figure::Absent, |s| Figure::Number(Range::of(s)));
        self.push(quantity, n, (Figure::Number(truth), seen), (departs_by, tolerance, unit, pass), note);
    }

    /// Words, right or wrong.
    fn word(&mut self, quantity: Quantity, truth: String, seen: Figure, pass: bool, note: &str) {
        self.push(quantity, None, (Figure::Text(truth), seen), (None, 0.0, Unit::Exact, pass), note);
    }

    fn push(
        &mut self,
        quantity: Quantity,
        n: Option<u32>,
        (truth, seen): (Figure, Figure),
        (departs_by, tolerance, unit, pass): (Option<f64>, f64, Unit, bool),
        note: &str,
    ) {
        let skipped = self.job.expect.skip.iter().any(|word| quantity.goes_by(word));
        let note = if skipped && note.is_empty() { "declared as not comparable" } else { note };
        self.checks.push(Check {
            rig: self.rig.to_owned(),
            kernel: self.kernel.to_owned(),
            job_index: self.job_index,
            job: self.job.name.clone(),
            quantity,
            n,
            truth,
            seen,
            departs_by,
            tolerance,
            unit,
            counted: note.is_empty(),
            pass,
            note: note.to_owned(),
        });
    }
}

impl Quantity {
    /// The kebab-case word of JSON and of `skip` in `rigs.toml`.
    pub fn word(self) -> &'static str {
        match self {
            Self::Finished => "finished",
            Self::Exit => "exit",
            Self::Document => "document",
            Self::BoundBy => "bound-by",
            Self::AdviceFile => "advice-file",
            Self::AdviceValue => "advice-value",
            Self::AdviceExpects => "advice-expects",
            Self::Prediction => "prediction",
            Self::Applied => "applied",
            Self::Says => "says",
            Self::Warns => "warns",
            Self::Plateau => "plateau",
            Self::Knee => "knee",
            Self::Lost => "lost",
            Self::Remark => "remark",
            Self::Throughput => "throughput",
            Self::Response => "response",
            Self::Above => "above",
            Self::HostQueue => "host-queue",
            Self::DeviceQueue => "device-queue",
            Self::Source => "source",
            Self::Reads => "reads",
            Self::Asked => "asked",
            Self::TaskSetFull => "task-set-full",
        }
    }

    /// Whether a word of `skip` means this; underscores and units are forgiven.
    fn goes_by(self, word: &str) -> bool {
        let word = word.to_lowercase().replace('_', "-");
        let word = word.trim_end_matches("-us");
        let other = match self {
            Self::Throughput => "iops",
            Self::Response => "response-time",
            _ => "",
        };
        word == self.word() || word == other && !other.is_empty()
    }
}

/// All checks of one boot, in the order of its jobs.
pub fn rig(name: &str, kernel: &str, rig: &Rig, outcome: &Outcome) -> Vec<Check> {
    let mut checks = Vec::new();
    for (job_index, job) in rig.job.iter().enumerate() {
        let mut sheet = Sheet { rig: name, kernel, job_index, job, checks: Vec::new() };
        if job_index == 0 {
            finished(&mut sheet, outcome);
        }
        match outcome.jobs.get(job_index) {
            Some(done) => one_job(&mut sheet, rig, outcome, done),
            None => sheet.word(Quantity::Document, "the job was done".to_owned(), Figure::Absent, false, ""),
        }
        checks.extend(sheet.checks);
    }
    checks
}

fn finished(sheet: &mut Sheet<'_>, outcome: &Outcome) {
    let pass = outcome.finished && outcome.complaints.is_empty();
    let seen = match (outcome.finished, outcome.complaints.as_slice()) {
        (true, []) => "to its end".to_owned(),
        (false, []) => "not to its end".to_owned(),
        (_, complaints) => complaints.join("; "),
    };
    sheet.word(Quantity::Finished, "to its end".to_owned(), Figure::Text(seen), pass, "");
}

fn one_job(sheet: &mut Sheet<'_>, rig: &Rig, outcome: &Outcome, done: &JobOutcome) {
    let job = sheet.job;
    if job.probe.is_some() || job.watch.is_some() || job.run.is_some() {
        let wanted = job.expect.exit.unwrap_or(0);
        let seen = done.exit.map_or(Figure::Absent, |code| Figure::Text(code.to_string()));
        sheet.word(Quantity::Exit, wanted.to_string(), seen, done.exit == Some(wanted), "");
    }
    if let Some(of) = &job.apply_advice_of {
        change::applied(sheet, of, done);
    }
    if job.watch.is_some() {
        watch::all(sheet, &truth::of(rig, sheet.job_index, outcome), outcome, done);
    }
    if job.probe.is_none() {
        return;
    }
    match Probe::read(done) {
        Ok(probe) => {
            let truth = truth::of(rig, sheet.job_index, outcome);
            one_probe(sheet, &truth, &probe);
            change::prediction(sheet, rig, outcome, &probe);
        }
        // A probe that must fail need not say anything more.
        Err(_) if job.expect.exit.is_some_and(|code| code != 0) => {}
        Err(why) => {
            sheet.word(Quantity::Document, "a document of a probe".to_owned(), Figure::Text(why), false, "");
        }
    }
}

fn one_probe(sheet: &mut Sheet<'_>, truth: &Truth, probe: &Probe) {
    words::bound_by(sheet, truth, probe);
    words::advice(sheet, truth, probe);
    words::says(sheet, truth, probe);
    words::warns(sheet, probe);
    figures::plateau(sheet, probe);
    figures::knee(sheet, truth, probe);
    figures::lost(sheet, truth, probe);
    figures::steps(sheet, truth, probe);
    for remark in &truth.notes {
        sheet.word(Quantity::Remark, String::new(), Figure::Absent, true, remark);
    }
}
