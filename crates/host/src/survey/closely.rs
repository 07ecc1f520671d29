//! The few devices whose queues are read many times a second.
//!
//! The thread is that of [`crate::sample`]: irregular instants, at most a hundredth of a core, slower when the devices
//! are many. Which devices it reads is decided between intervals: those in which the most I/Os stand. A device that
//! has just begun to work is followed from the next interval on.

use crate::path::{DeviceNumber, trace_device};
use crate::root::Root;
use crate::sample::readings_count_accepted;
use crate::sample::sampler::{Gathered, Instants, Sampler};
use crate::sample::sources::Source;
use std::sync::Arc;
use std::time::Instant;

/// Intervals that a followed device may rest before its place is given up.
const LINGER: u32 = 30;

/// A newcomer takes the place of a device in which this many times fewer I/Os stand.
const CLEARLY_MORE: f64 = 2.0;

/// A device that may be followed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Candidate {
    /// Its place in the table of the survey.
    pub place: usize,
    /// Its place among the followed ones, when it is.
    pub followed: Option<usize>,
    /// I/Os that stood inside.
    pub standing: f64,
    /// Intervals since it last did anything.
    pub quiet_for: u32,
}

impl Candidate {
    fn weight(&self) -> f64 {
        self.standing * if self.followed.is_some() { CLEARLY_MORE } else { 1.0 }
    }
}

/// The followed devices and their thread.
#[derive(Debug)]
pub(crate) struct Closely {
    root: Root,
    most: usize,
    sources: Arc<Vec<Source>>,
    sampler: Option<Sampler>,
    gathered: Gathered,
    counts_accepted: bool,
    /// Those to follow, kept so that choosing allocates nothing.
    wanted: Vec<Candidate>,
}

impl Closely {
    pub fn new(root: &Root, most: usize) -> Self {
        let counts_accepted = crate::sample::release_counts_accepted(root);
        Self {
            root: root.clone(),
            most,
            sources: Arc::default(),
            sampler: None,
            gathered: Gathered::default(),
            counts_accepted,
            wanted: Vec::with_capacity(most + 1),
        }
    }

    /// Whether the in-flight field of the counters is known to count what is accepted, not only what was sent.
    pub fn counts_accepted(&self) -> bool {
        self.counts_accepted
    }

    /// Processor time of the thread in the interval that ended last, seconds.
    pub fn cpu_s(&self) -> f64 {
        self.gathered.cpu_s
    }

    /// What was seen of the device at this place among the followed ones in the interval that ended last.
    pub fn seen(&self, followed: usize) -> Option<(&Source, &Instants)> {
        Some((self.sources.get(followed)?, self.gathered.layers.get(followed)?))
    }

    /// Names of the followed devices, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.sources.iter().map(|s| s.name.as_str())
    }

    /// The interval ends.
    pub fn end(&mut self) {
        self.gathered = self.sampler.as_ref().map(Sampler::end).unwrap_or_default();
        self.counts_accepted |= readings_count_accepted(&self.sources, &self.gathered);
    }

    /// The next interval begins; `unscheduled` tells of each followed device whether it has no scheduler.
    pub fn begin(&mut self, unscheduled: impl FnOnce(usize) -> Vec<bool>) {
        if let Some(sampler) = &self.sampler {
            sampler.begin(Instant::now(), unscheduled(self.sources.len()));
        }
    }

    /// Chooses whom to follow from now on; true when these are others than before. `candidates` are all devices that
    /// could be, `identity` tells name and number of one by its place.
    pub fn choose(
        &mut self,
        candidates: impl Iterator<Item = Candidate>,
        identity: impl Fn(usize) -> (String, DeviceNumber),
    ) -> bool {
        self.want(candidates);
        let same =
            self.wanted.len() == self.sources.len() && self.wanted.iter().all(|w| w.followed.is_some());
        if same {
            return false;
        }
        // The thread holds the files; it ends before they change hands.
        self.sampler = None;
        let kept = std::mem::take(&mut self.sources);
        let kept = Arc::try_unwrap(kept).unwrap_or_default();
        let mut kept: Vec<Option<Source>> = kept.into_iter().map(Some).collect();
        let mut sources = Vec::with_capacity(self.wanted.len());
        for candidate in &self.wanted {
            let own = candidate.followed.and_then(|f| kept.get_mut(f)?.take());
            sources.extend(own.or_else(|| {
                let (name, number) = identity(candidate.place);
                open(&self.root, &name, number)
            }));
        }
        self.sources = Arc::new(sources);
        if !self.sources.is_empty() {
            // Without a thread the split has only bounds, and says so.
            self.sampler = Sampler::start(Arc::clone(&self.sources), None, &[], self.counts_accepted).ok();
        }
        true
    }

    /// The `most` heaviest of the candidates.
    fn want(&mut self, candidates: impl Iterator<Item = Candidate>) {
        self.wanted.clear();
        for candidate in candidates {
            let rests = candidate.quiet_for > 0;
            if rests && (candidate.followed.is_none() || candidate.quiet_for > LINGER) {
                continue;
            }
            self.wanted.push(candidate);
            if self.wanted.len() > self.most {
                let weights = self.wanted.iter().map(Candidate::weight).enumerate();
                let lightest = weights.min_by(|a, b| a.1.total_cmp(&b.1));
                self.wanted.swap_remove(lightest.map_or(0, |(place, _)| place));
            }
        }
    }
}

/// Opens the files of one device.
fn open(root: &Root, name: &str, number: DeviceNumber) -> Option<Source> {
    let path = trace_device(root, number, name, false);
    let (sources, _) = Source::of_path(root, &path, &[]);
    sources.into_iter().find(|s| s.name == super::topology::sysfs_name(name))
}
