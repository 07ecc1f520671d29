//! What the numbers come from. Everything behind this point sees only [`HostSample`].

use crate::args::watch::WatchArgs;
use crate::exit::{Exit, Failure};
use host::Root;
use host::survey::{Survey, SurveyOptions};
use record::HostSample;

/// A source of samples. A tracer becomes a further variant.
pub enum Observed {
    /// Counters and readings that need no rights.
    Counters(Box<Survey>),
}

impl Observed {
    /// Opens the best source there is; the first interval begins. `processes`: whether those that do I/O are wanted.
    pub fn open(args: &WatchArgs, processes: bool) -> Result<Self, Failure> {
        let options = SurveyOptions { closely: usize::from(args.closely), processes };
        let survey = Survey::open(&Root::system(), options).map_err(|cause| {
            Failure::new(Exit::Environment, format!("reading /proc/diskstats: {cause}"))
                .hint("in a container, mount the host's /proc; `plimsoll doctor` says what is missing")
        })?;
        Ok(Self::Counters(Box::new(survey)))
    }

    /// Ends the interval and begins the next.
    pub fn next(&mut self) -> Result<&HostSample, Failure> {
        match self {
            Self::Counters(survey) => survey.next().map_err(|cause| {
                Failure::new(Exit::Environment, format!("reading /proc/diskstats: {cause}"))
            }),
        }
    }

    /// The interval that ended last.
    pub fn sample(&self) -> &HostSample {
        match self {
            Self::Counters(survey) => survey.sample(),
        }
    }

    /// Its name in JSON.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Counters(_) => "counters",
        }
    }
}
