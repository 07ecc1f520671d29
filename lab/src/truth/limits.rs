//! The limits of a chain: which of them binds, what raises it, and what that would give.

use super::rate::Cap;
use super::station::Station;
use super::{AdviceTruth, FileAdvice, Model};

/// The words of `bound_by.layer`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Word {
    /// Too little load.
    Concurrency,
    /// nr_requests, host tags.
    HostQueue,
    /// The LUN queue depth.
    DeviceQueueLimit,
    /// A multipath's paths.
    Path,
    /// Device, port or array, its invisible slots included.
    Device,
    /// A cap on rate.
    Throttle,
    /// Cannot tell, where the rig hides the counter.
    Unknown,
}

impl Word {
    /// As `--json` says it.
    pub fn text(self) -> &'static str {
        match self {
            Self::Concurrency => "concurrency",
            Self::HostQueue => "host-queue",
            Self::DeviceQueueLimit => "device-queue-limit",
            Self::Path => "path",
            Self::Device => "device",
            Self::Throttle => "throttle",
            Self::Unknown => "unknown",
        }
    }
}

/// One limit on what the host sends at once.
#[derive(Clone, Debug, PartialEq)]
pub struct Bound {
    /// I/Os.
    pub slots: u32,
    /// The word for being bound by it.
    pub word: Word,
    /// How the file that sets it ends, and the largest value it takes; absent where no file does.
    pub file: Option<(String, u32)>,
}

/// Limits of the host one after another, then the slots of the target.
#[derive(Clone, Debug, PartialEq)]
pub struct Chain {
    /// Time one I/O is served, us.
    pub service_us: f64,
    /// Limits of the host.
    pub bounds: Vec<Bound>,
    /// Slots of the target that no file of this host shows; `u32::MAX` where it has none.
    pub slots: u32,
    /// I/Os of other hosts at the target.
    pub others: u32,
    /// A cap on rate.
    pub cap: Option<Cap>,
}

impl Chain {
    /// I/Os sent at once: the smallest limit.
    pub fn sent(&self) -> u32 {
        self.bounds.iter().map(|b| b.slots).min().unwrap_or(u32::MAX)
    }

    /// The chain as a station.
    pub fn station(&self) -> Station {
        Station {
            service_us: self.service_us,
            sent: self.sent(),
            slots: self.slots,
            others: self.others,
            cap: self.cap,
        }
    }

    /// The host's limits that bind.
    pub fn binding(&self) -> Vec<&Bound> {
        self.bounds.iter().filter(|b| b.slots == self.sent()).collect()
    }

    /// The words that are right when the chain is full. Equal limits bind together, so each may be named.
    pub fn words(&self) -> Vec<Word> {
        let station = self.station();
        let mut words: Vec<Word> = Vec::new();
        // A host that sends less than the target's slots holds a part of them that its own limit fixes, full or not.
        if !station.target_is_full(station.sent) || station.sent < station.slots {
            words.extend(self.binding().iter().map(|b| b.word));
        }
        if station.others.saturating_add(station.sent) >= station.slots {
            words.push(Word::Device);
        }
        words.dedup();
        words
    }

    /// What must be advised when the chain is full: the one limit that binds, doubled within what its file takes.
    pub fn advice(&self) -> AdviceTruth {
        let station = self.station();
        if station.target_is_full(station.sent) {
            let more_of_it = station.sent < station.slots;
            return if more_of_it { AdviceTruth::Open } else { AdviceTruth::NoFile };
        }
        let binding = self.binding();
        let raised = |bound: &Bound| {
            let (file, most) = bound.file.clone()?;
            (most > bound.slots).then(|| (file, (2 * bound.slots).min(most)))
        };
        // A limit that no file raises makes raising its equals useless.
        let Some(files) = binding.iter().map(|b| raised(b)).collect::<Option<Vec<_>>>() else {
            return AdviceTruth::NoFile;
        };
        match files.as_slice() {
            // The target's slots are as many: full the moment more is sent, which this host cannot know.
            _ if station.others.saturating_add(station.sent) == station.slots => AdviceTruth::Open,
            [(file, value)] => AdviceTruth::File(FileAdvice {
                files: vec![file.clone()],
                value: Some(u64::from(*value)),
                after: Some(Box::new(Model::Station(self.with(file, *value).station()))),
            }),
            several => AdviceTruth::File(FileAdvice {
                files: several.iter().map(|(file, _)| file.clone()).collect(),
                value: None,
                after: None,
            }),
        }
    }

    /// The chain after a file was changed.
    pub fn with(&self, file: &str, value: u32) -> Self {
        let mut changed = self.clone();
        for bound in &mut changed.bounds {
            if bound.file.as_ref().is_some_and(|(f, _)| f == file) {
                bound.slots = value;
            }
        }
        changed
    }
}
