//! A sweep over how many cores drive the load: one worker on one core, then on two, and so on.

use crate::args::cores::Cores;
use crate::args::probe::{EngineName, ProbeArgs};
use crate::exit::{Exit, Failure};
use load::LoadSubject;
use record::{Doubt, Load, Step, Subject, SubjectError, SubjectFacts, Watch};

/// A sweep as it will be run.
pub struct Plan {
    /// First number of cores.
    pub first: u32,
    /// The cores, in the order they are taken; as many as the largest number.
    pub cores: Vec<u32>,
    /// I/Os each core keeps outstanding.
    pub per_core: u32,
}

/// Reads `--cores 1..N` with `--depths`; absent when no sweep was asked.
pub fn plan(args: &ProbeArgs) -> Result<Option<Plan>, Failure> {
    let Some(Cores::Sweep { first, last }) = args.cores else { return Ok(None) };
    let usage = |message: String| Err(Failure::new(Exit::Usage, message));
    let per_core = match args.depths.as_ref().map(|d| d.0.as_slice()) {
        None => 1,
        Some([one]) => *one,
        Some(_) => {
            return usage(
                "--cores FIRST..LAST takes one depth: the I/Os that each core keeps outstanding".to_owned(),
            );
        }
    };
    if per_core > 1 && args.engine == Some(EngineName::Sync) {
        return usage("--engine sync keeps one I/O per thread: a core sweep with it has depth 1".to_owned());
    }
    if args.rate.is_some() || args.sweep {
        return usage("--cores FIRST..LAST is a sweep of its own; leave out --rate and --sweep".to_owned());
    }
    let allowed = host::facts::read(&host::Root::system()).cpus_allowed;
    if (last as usize) > allowed.len() {
        return usage(format!("--cores {first}..{last}: this process may use {} cores", allowed.len()));
    }
    Ok(Some(Plan { first, cores: allowed[..last as usize].to_vec(), per_core }))
}

/// The subject of a probe. In a core sweep, the concurrency asked decides how many workers carry it.
pub struct CoreSweep {
    inner: LoadSubject,
    per_core: Option<u32>,
}

impl CoreSweep {
    /// A plain subject, or one whose workers grow with its load.
    pub fn new(inner: LoadSubject, per_core: Option<u32>) -> Self {
        Self { inner, per_core }
    }

    /// What was noticed before any load.
    pub fn doubts(&self) -> &[Doubt] {
        self.inner.doubts()
    }

    /// Ends the workers and removes the own file.
    pub fn close(self) -> Result<(), load::Error> {
        self.inner.close()
    }
}

impl Subject for CoreSweep {
    fn facts(&self) -> SubjectFacts {
        self.inner.facts()
    }

    fn measure(&mut self, load: &Load, watch: &mut dyn Watch) -> Result<Step, SubjectError> {
        if let (Some(per_core), Some(concurrency)) = (self.per_core, load.demand.concurrency()) {
            self.inner.set_workers(concurrency.div_ceil(per_core).max(1));
        }
        self.inner.measure(load, watch)
    }
}
