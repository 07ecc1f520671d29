//! What I/O to make: block size, pattern, mix and durability, by a name a DBA uses or by free choice.

pub mod picker;
pub mod region;
pub mod size;

use crate::engine::EngineKind;
use crate::error::Error;
use std::fmt;

pub use picker::{Next, Picker};
pub use region::{Region, split};
pub use size::parse_size;

/// Order of addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pattern {
    /// Uniformly random blocks.
    Random,
    /// One ascending stream per worker, from a random start, wrapping in the worker's region.
    Sequential,
}

/// How writes become durable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SyncMode {
    /// Not at all: a write is done when the kernel or device says so.
    None,
    /// Each write is followed by fdatasync and is done when that is; what PostgreSQL does by default.
    ///
    /// The write's response time runs from the start of the write to the end of its fdatasync. The fdatasync alone
    /// is recorded in the flush class.
    Fdatasync,
    /// Each write is durable by itself (RWF_DSYNC, as O_DSYNC); what Oracle does.
    ///
    /// The whole response time of the write is recorded in the write class, and in the flush class too: it is the wait of a
    /// write that is itself durable.
    Dsync,
}

/// A workload, complete.
#[derive(Clone, Debug, PartialEq)]
pub struct Workload {
    /// Name it was asked by, `custom` once a part was overridden.
    pub name: String,
    /// Bytes of one I/O.
    pub block_bytes: u64,
    /// Order of addresses.
    pub pattern: Pattern,
    /// Share of writes, 0 to 100.
    pub write_percent: f64,
    /// How writes become durable.
    pub sync: SyncMode,
}

/// Parts of a workload that the user chose by flags.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Overrides {
    /// `--block`, in bytes.
    pub block_bytes: Option<u64>,
    /// `--pattern`.
    pub pattern: Option<Pattern>,
    /// `--write`, in percent.
    pub write_percent: Option<f64>,
    /// `--sync`.
    pub sync: Option<SyncMode>,
}

/// Names of the workloads and what they stand for, for help texts.
pub const NAMES: [(&str, &str); 5] = [
    ("oltp", "8 KiB random reads: index and table blocks of an OLTP database"),
    ("oltp-mixed", "8 KiB random, 85 % reads and 15 % writes: OLTP with its database writer"),
    ("scan", "1 MiB sequential reads: full scans and backups, one stream per worker"),
    ("log", "8 KiB sequential writes, each made durable by fdatasync: the log writer"),
    ("dss", "1 MiB random reads: parallel queries of a warehouse"),
];

/// Largest block: one I/O of 16 MiB is more than any database issues.
pub const BLOCK_BYTES_MAX: u64 = 16 << 20;
/// Smallest block: a sector.
pub const BLOCK_BYTES_MIN: u64 = 512;

impl Workload {
    /// A workload by its name (see [`NAMES`]).
    pub fn named(name: &str) -> Result<Self, Error> {
        use Pattern::{Random, Sequential};
        let (block_bytes, pattern, write_percent, sync) = match name {
            "oltp" => (8 << 10, Random, 0.0, SyncMode::None),
            "oltp-mixed" => (8 << 10, Random, 15.0, SyncMode::None),
            "scan" => (1 << 20, Sequential, 0.0, SyncMode::None),
            "log" => (8 << 10, Sequential, 100.0, SyncMode::Fdatasync),
            "dss" => (1 << 20, Random, 0.0, SyncMode::None),
            _ => {
                return Err(Error::Usage {
                    flag: "--workload",
                    given: name.to_owned(),
                    expected: NAMES.map(|(name, _)| name).join(", "),
                });
            }
        };
        Ok(Self { name: name.to_owned(), block_bytes, pattern, write_percent, sync })
    }

    /// The same with parts replaced, checked.
    pub fn with(mut self, overrides: &Overrides) -> Result<Self, Error> {
        let before = self.clone();
        self.block_bytes = overrides.block_bytes.unwrap_or(self.block_bytes);
        self.pattern = overrides.pattern.unwrap_or(self.pattern);
        self.write_percent = overrides.write_percent.unwrap_or(self.write_percent);
        self.sync = overrides.sync.unwrap_or(if self.writes() { self.sync } else { SyncMode::None });
        if self != before {
            self.name = "custom".to_owned();
        }
        self.check()?;
        Ok(self)
    }

    fn check(&self) -> Result<(), Error> {
        let fail = |flag, given: String, expected: &str| {
            Err(Error::Usage { flag, given, expected: expected.to_owned() })
        };
        if !(BLOCK_BYTES_MIN..=BLOCK_BYTES_MAX).contains(&self.block_bytes)
            || !self.block_bytes.is_multiple_of(512)
        {
            return fail("--block", self.block_bytes.to_string(), "a multiple of 512 bytes, from 512 to 16m");
        }
        if !(0.0..=100.0).contains(&self.write_percent) {
            return fail("--write", self.write_percent.to_string(), "a percentage between 0 and 100");
        }
        if self.sync != SyncMode::None && !self.writes() {
            return fail("--sync", self.sync.to_string(), "a workload that writes (add --write PERCENT)");
        }
        Ok(())
    }

    /// Whether any I/O writes.
    pub fn writes(&self) -> bool {
        self.write_percent > 0.0
    }

    /// Whether any I/O reads.
    pub fn reads(&self) -> bool {
        self.write_percent < 100.0
    }

    /// The engine this workload's owner would use: log writers are threads that wait for their own write; everything
    /// else is asynchronous. (Under io_uring every fdatasync is handed to a kernel worker thread.)
    pub fn natural_engine(&self) -> EngineKind {
        if self.sync == SyncMode::Fdatasync { EngineKind::Sync } else { EngineKind::IoUring }
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Random => "random",
            Self::Sequential => "sequential",
        })
    }
}

impl std::str::FromStr for Pattern {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        match text {
            "random" => Ok(Self::Random),
            "sequential" => Ok(Self::Sequential),
            _ => Err(Error::Usage {
                flag: "--pattern",
                given: text.to_owned(),
                expected: "random or sequential".to_owned(),
            }),
        }
    }
}

impl fmt::Display for SyncMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::None => "none",
            Self::Fdatasync => "fdatasync",
            Self::Dsync => "dsync",
        })
    }
}

impl std::str::FromStr for SyncMode {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        match text {
            "none" => Ok(Self::None),
            "fdatasync" => Ok(Self::Fdatasync),
            "dsync" => Ok(Self::Dsync),
            _ => Err(Error::Usage {
                flag: "--sync",
                given: text.to_owned(),
                expected: "none, fdatasync or dsync".to_owned(),
            }),
        }
    }
}

impl fmt::Display for Workload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let size = size::show_size(self.block_bytes);
        match (self.reads(), self.writes()) {
            (true, false) => write!(f, "{size} {} reads", self.pattern)?,
            (false, _) => write!(f, "{size} {} writes", self.pattern)?,
            (true, true) => write!(
                f,
                "{size} {}, {} % reads and {} % writes",
                self.pattern,
                100.0 - self.write_percent,
                self.write_percent
            )?,
        }
        match self.sync {
            SyncMode::None => Ok(()),
            SyncMode::Fdatasync => write!(f, ", each made durable by fdatasync"),
            SyncMode::Dsync => write!(f, ", each durable by itself (dsync)"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_a_workload_and_says_what_it_does() {
        let shown = |name: &str| Workload::named(name).unwrap().to_string();
        assert_eq!(
            NAMES.map(|(n, _)| shown(n)),
            [
                "8 KiB random reads",
                "8 KiB random, 85 % reads and 15 % writes",
                "1 MiB sequential reads",
                "8 KiB sequential writes, each made durable by fdatasync",
                "1 MiB random reads",
            ]
        );
    }

    #[test]
    fn unknown_names_list_the_known_ones() {
        let error = Workload::named("tpcc").unwrap_err().to_string();
        assert!(error.contains("oltp-mixed") && error.contains("tpcc"), "{error}");
    }

    #[test]
    fn overrides_make_a_custom_workload() {
        let overrides =
            Overrides { block_bytes: Some(16 << 10), write_percent: Some(15.0), ..Overrides::default() };
        let workload = Workload::named("oltp").unwrap().with(&overrides).unwrap();
        assert_eq!(workload.name, "custom");
        assert_eq!(workload.to_string(), "16 KiB random, 85 % reads and 15 % writes");
        let same = Workload::named("oltp").unwrap().with(&Overrides::default()).unwrap();
        assert_eq!(same.name, "oltp");
    }

    #[test]
    fn making_a_log_read_drops_its_sync() {
        let overrides = Overrides { write_percent: Some(0.0), ..Overrides::default() };
        assert_eq!(Workload::named("log").unwrap().with(&overrides).unwrap().sync, SyncMode::None);
    }

    #[test]
    fn nonsense_is_refused_with_the_flag_that_said_it() {
        let check = |overrides: Overrides, flag: &str| {
            let error = Workload::named("oltp").unwrap().with(&overrides).unwrap_err().to_string();
            assert!(error.contains(flag), "{error}");
        };
        check(Overrides { block_bytes: Some(1000), ..Overrides::default() }, "--block");
        check(Overrides { block_bytes: Some(32 << 20), ..Overrides::default() }, "--block");
        check(Overrides { write_percent: Some(101.0), ..Overrides::default() }, "--write");
        check(Overrides { write_percent: Some(f64::NAN), ..Overrides::default() }, "--write");
        check(Overrides { sync: Some(SyncMode::Dsync), ..Overrides::default() }, "--sync");
    }
}
