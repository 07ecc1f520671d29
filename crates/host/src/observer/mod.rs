//! Every block device of the host by the best source there is: counters for rates, sizes and settings, and beside
//! them the tracer, where rights and kernel allow it, for what only it sees.
//!
//! Both windows end within some 100 us of each other. Rates, sizes and merges stay those of the counters, so that they
//! are iostat's with the tracer and without. What the tracer replaces, device by device ([`overlay`]): host queue and
//! device queue (time-weighted, every request counted), host wait and service time, failures told apart.
//!
//! Where the tracer does not start, or fails later, the counters go on alone, and [`record::HostSample::unseen`] says
//! what is lost and why.

mod cgroups;
mod overlay;

use crate::root::Root;
use crate::survey::{Survey, SurveyCost, SurveyOptions};
use crate::trace::{Options, ScsiSource, TraceWindow, Tracer, Unavailable, Why};
use cgroups::Cgroups;
use record::{AskerSample, HostSample, TracedHost};
use std::io;

pub(crate) use overlay::Overlay;

/// Askers listed per interval.
const ASKERS: usize = 200;

/// Lost without the tracer.
const LOSES: &str =
    "no percentiles, requeues, TASK SET FULL apart from other failures, or who waits for which device";

/// Whether to trace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tracing {
    /// Where rights and kernel allow it.
    #[default]
    WherePossible,
    /// Not at all.
    Off,
}

/// All devices of the host, interval after interval.
pub struct Observer {
    survey: Survey,
    tracer: Option<Tracer>,
    cgroups: Cgroups,
}

impl Observer {
    /// Opens the best source; the first interval begins.
    ///
    /// Errors: `/proc/diskstats` cannot be read.
    pub fn open(root: &Root, options: SurveyOptions, tracing: Tracing) -> io::Result<Self> {
        let (tracer, unseen) = match tracing {
            Tracing::Off => (None, vec![format!("by counters alone, as asked: {LOSES}")]),
            Tracing::WherePossible => start(root),
        };
        let survey = Survey::open(root, options)?;
        let mut observer = Self { survey, tracer, cgroups: Cgroups::new(root) };
        observer.survey.sample_mut().unseen = unseen;
        // Its first window began while the counters were being opened.
        observer.window();
        Ok(observer)
    }

    /// Ends the interval and begins the next one.
    ///
    /// Errors: `/proc/diskstats` cannot be read any more.
    #[allow(clippy::should_implement_trait, reason = "it lends its own sample and may fail: no iterator")]
    pub fn next(&mut self) -> io::Result<&HostSample> {
        self.survey.read_ends()?;
        let window = self.window();
        let scsi = self.tracer.as_ref().is_some_and(|t| !matches!(t.parts().scsi, ScsiSource::None(_)));
        self.survey.conclude(window.as_ref());
        self.survey.sample_mut().traced = window.map(|w| self.host(w, scsi));
        Ok(self.survey.sample())
    }

    /// The interval that ended last.
    pub fn sample(&self) -> &HostSample {
        self.survey.sample()
    }

    /// What it cost in that interval beside the caller's own thread.
    pub fn cost(&self) -> SurveyCost {
        self.survey.cost()
    }

    /// The tracer, while there is one.
    pub fn tracer(&self) -> Option<&Tracer> {
        self.tracer.as_ref()
    }

    /// What the tracer saw; when it fails, counters go on alone.
    fn window(&mut self) -> Option<TraceWindow> {
        match self.tracer.as_mut()?.read() {
            Ok(window) => Some(window),
            Err(why) => {
                self.tracer = None;
                self.survey.sample_mut().unseen = vec![alone(&why)];
                None
            }
        }
    }

    fn host(&mut self, window: TraceWindow, scsi: bool) -> TracedHost {
        let askers = window.askers.map(|askers| {
            let mut named = |a: crate::trace::Asker| AskerSample {
                cgroup: self.cgroups.of(a.pid, a.cgroup_id),
                pid: a.pid,
                name: a.comm,
                device: a.device.replace('!', "/"),
                reads: a.reads,
                writes: a.writes,
                others: a.others,
                read_bytes: a.read_bytes,
                write_bytes: a.write_bytes,
            };
            askers.into_iter().map(&mut named).collect()
        });
        self.cgroups.tidy();
        let lost = overlay::lost(&window.lost);
        TracedHost { askers, ios_of_other_askers: window.bios_of_others, scsi, lost }
    }
}

/// Starts the tracer; else, why not. Besides, what it will not see.
fn start(root: &Root) -> (Option<Tracer>, Vec<String>) {
    match Tracer::start(root, Options { askers_max: ASKERS, ..Options::default() }) {
        Ok(tracer) => {
            let parts = tracer.parts();
            let mut unseen: Vec<String> = parts.missing.iter().map(|m| format!("not traced: {m}")).collect();
            if let ScsiSource::None(why) = &parts.scsi
                && crate::trace::scsi_is_loaded(root)
            {
                unseen.push(format!("SCSI answers are not traced: {why}"));
            }
            (Some(tracer), unseen)
        }
        Err(why) => (None, vec![alone(&why)]),
    }
}

fn alone(why: &Unavailable) -> String {
    match why.why {
        // Which of the many calls was refused is no news.
        Why::NotPermitted => format!("by counters alone: {LOSES}; to trace, {}", why.enables),
        _ => format!("by counters alone: {LOSES}; {why}"),
    }
}
