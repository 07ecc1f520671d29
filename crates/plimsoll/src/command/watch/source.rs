//! What the numbers come from. Everything behind this point sees only [`HostSample`].

use crate::args::watch::WatchArgs;
use crate::exit::{Exit, Failure};
use host::Root;
use host::observer::{Observer, Tracing};
use host::survey::SurveyOptions;
use record::HostSample;

/// The source of samples.
pub struct Observed(Box<Observer>);

impl Observed {
    /// Opens the best source there is; the first interval begins. `processes`: whether those that do I/O are wanted.
    pub fn open(args: &WatchArgs, processes: bool) -> Result<Self, Failure> {
        let options = SurveyOptions { closely: usize::from(args.closely), processes };
        let tracing = if args.no_trace { Tracing::Off } else { Tracing::WherePossible };
        let observer = Observer::open(&Root::system(), options, tracing).map_err(|cause| {
            refused(&cause)
                .hint("in a container, mount the host's /proc; `plimsoll doctor` says what is missing")
        })?;
        Ok(Self(Box::new(observer)))
    }

    /// Ends the interval and begins the next.
    pub fn next(&mut self) -> Result<&HostSample, Failure> {
        self.0.next().map_err(|cause| refused(&cause))
    }

    /// The interval that ended last.
    pub fn sample(&self) -> &HostSample {
        self.0.sample()
    }
}

fn refused(cause: &std::io::Error) -> Failure {
    Failure::new(Exit::Environment, format!("reading /proc/diskstats: {cause}"))
}
