//! What must come out of a probe, computed from the rig's own parameters and from nothing that was measured.
//!
//! A path is a chain: I/Os that found no room in a limit wait before it, those let in are served a fixed time S. For such
//! a chain the operational laws give everything in closed form. With N I/Os outstanding and room for c at once,
//! X = min(N, c) / S (Denning & Buzen, "The Operational Analysis of Queueing Network Models", Computing Surveys 10(3),
//! 1978) and R = N / X (Little, "A Proof for the Queuing Formula L = lambda W", Operations Research 9(3), 1961); the
//! same law, applied to one layer, says how many stand there. Where order or chance decides, only bounds are given.
//!
//! Processor time per I/O is no part of it: a tolerance has to carry it, and the service times of rigs are chosen so
//! that it can.

pub mod build;
pub mod limits;
pub mod paths;
pub mod range;
pub mod rate;
pub mod scsi;
pub mod settings;
pub mod spread;
pub mod station;

pub use build::of;

use limits::Word;
use paths::Paths;
use range::Row;
use spread::Spread;
use station::Station;

/// Above this rate the guest's processor is the limit, not the path.
pub const CPU_IOPS: f64 = 30_000.0;

/// What must come out of one probe.
#[derive(Clone, Debug, Default)]
pub struct Truth {
    /// The device probed, by its name in the rig.
    pub device: String,
    /// Throughput, response and queues at every concurrency; absent where the rig's parameters do not fix them.
    pub model: Option<Model>,
    /// What stops the path once it is full: any of these words. Empty: not asserted.
    pub bound_by: Vec<Word>,
    /// What the first advice must be.
    pub advice: AdviceTruth,
    /// Words that the verdict or its evidence must contain.
    pub says: Vec<String>,
    /// The rate that all paths together could carry, where one of them may waste it.
    pub whole_iops: Option<f64>,
    /// Why something is not asserted, or is bounded only.
    pub notes: Vec<String>,
}

/// What the advice must be.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum AdviceTruth {
    /// Not asserted.
    #[default]
    Open,
    /// No file of this host gives more.
    NoFile,
    /// One of these files, to this value.
    File(FileAdvice),
}

/// A file to change.
#[derive(Clone, Debug, PartialEq)]
pub struct FileAdvice {
    /// The advised file must end in one of these.
    pub files: Vec<String>,
    /// The value to try; absent where more than one is right.
    pub value: Option<u64>,
    /// What the path is once it is changed; absent where that is not certain.
    pub after: Option<Box<Model>>,
}

/// How a path answers concurrency.
#[derive(Clone, Debug, PartialEq)]
pub enum Model {
    /// One bank of slots behind limits, or behind a cap on rate.
    Station(Station),
    /// Several, each I/O sent to one of them by its address.
    Spread(Spread),
    /// Several paths of one LUN, each I/O sent down one of them by a selector.
    Paths(Paths),
}

impl Model {
    /// What N outstanding I/Os give, and where they stand.
    pub fn at(&self, n: u32) -> Row {
        match self {
            Self::Station(s) => s.at(n),
            Self::Spread(s) => s.at(n),
            Self::Paths(p) => p.at(n),
        }
    }

    /// The concurrency where the two asymptotes cross, N* = X_max R_0; absent where the curve has no sharp bend.
    pub fn knee(&self) -> Option<f64> {
        match self {
            Self::Station(s) => s.knee(),
            Self::Spread(_) => None,
            Self::Paths(p) => p.knee(),
        }
    }

    /// The concurrency at which the path is full at the latest, for all that is known.
    pub fn full_at(&self) -> f64 {
        match self {
            Self::Station(s) => s.full_at(),
            Self::Spread(s) => s.full_at(),
            Self::Paths(p) => p.full_at(),
        }
    }

    /// The depth that N is compared with when one asks how far a load is beyond it; absent where a rate binds.
    pub fn depth(&self) -> Option<f64> {
        match self {
            Self::Station(s) => s.depth(),
            Self::Spread(s) => Some(s.full_at()),
            Self::Paths(p) => Some(p.full_at()),
        }
    }
}

impl Truth {
    /// The words that are right for a probe that went up to `most` outstanding; empty: not asserted.
    pub fn bound_by_at(&self, most: u32) -> Vec<Word> {
        let Some(model) = &self.model else { return self.bound_by.clone() };
        if model.at(most).iops.high > CPU_IOPS {
            return Vec::new();
        }
        let (full_at, most) = (model.full_at(), f64::from(most));
        match () {
            () if most <= full_at => vec![Word::Concurrency],
            () if self.bound_by.is_empty() => Vec::new(),
            // Just past the bend both may be said: some of the last added I/Os became throughput.
            () if most < 2.0 * full_at => [self.bound_by.clone(), vec![Word::Concurrency]].concat(),
            () => self.bound_by.clone(),
        }
    }

    /// What must be advised after a probe that went up to `most` outstanding.
    pub fn advice_at(&self, most: u32) -> AdviceTruth {
        let Some(model) = &self.model else { return self.advice.clone() };
        match () {
            () if model.at(most).iops.high > CPU_IOPS => AdviceTruth::Open,
            () if f64::from(most) <= model.full_at() => AdviceTruth::NoFile,
            () if f64::from(most) < 2.0 * model.full_at() => AdviceTruth::Open,
            () => self.advice.clone(),
        }
    }
}
