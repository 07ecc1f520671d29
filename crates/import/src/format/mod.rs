//! The formats: one folder per family of tools, one file per format.

use crate::out::Out;
use crate::recognise::{Head, Likeness};
use crate::source::DocumentInput;
use record::imported::Platform;

pub mod aix;
pub mod bsd;
pub(crate) mod columns;
pub mod esxi;
pub mod fio;
pub mod hpux;
pub mod inventory;
pub mod linux;
pub mod oracle;
pub mod solaris;
pub(crate) mod stamp;
pub mod sysstat;
pub mod sysv_sar;
pub mod trace;
mod unix_iostat;
mod unix_vmstat;
pub mod veritas;

/// Whether a line was one of this format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Took {
    /// It was, or it was blank.
    Yes,
    /// It was not: another format may know it, else it is complained about.
    No,
}

/// A reader that is given line after line.
pub trait LineFormat {
    /// One line, without its end. Blank lines are given too. Whatever it holds goes into `out`; a line that belongs here but
    /// is damaged is complained about ([`Out::complain`]) and taken.
    fn line(&mut self, line: &str, out: &mut Out<'_>) -> Took;

    /// The command line that stood at a shell prompt above the text, for example `iostat -xn 5`.
    fn command(&mut self, _command: &str) {}

    /// The source has ended, or another format goes on: what is held back must be pushed now.
    fn end(&mut self, _out: &mut Out<'_>) {}
}

/// A reader that is given the whole stream.
pub trait DocumentFormat {
    /// Reads to the end, or as far as it can be read. What it cannot read is complained about; what stood before is kept.
    fn read(&mut self, input: &mut DocumentInput<'_>, out: &mut Out<'_>);
}

/// How a format is read.
#[derive(Clone, Copy)]
pub enum Reads {
    /// Line after line.
    Lines {
        /// Makes a reader.
        new: fn() -> Box<dyn LineFormat>,
        /// Whether a line begins this format and no other: lets a text of several formats be told apart. Must be strict.
        begins: fn(&str) -> bool,
    },
    /// As a whole.
    Document {
        /// Makes a reader.
        new: fn() -> Box<dyn DocumentFormat>,
    },
}

/// A format that can be read.
#[derive(Clone, Copy)]
pub struct Format {
    /// Its short name: `linux-iostat`.
    pub name: &'static str,
    /// What a person calls it, with the versions read.
    pub title: &'static str,
    /// Looks at the beginning of a text. Absent when the text is surely something else.
    pub recognise: fn(&Head<'_>) -> Option<Likeness>,
    /// How it is read.
    pub reads: Reads,
}

impl Format {
    /// The platform whose tool writes this, where it is only one: for texts that name none.
    pub fn platform(&self) -> Platform {
        let only = [
            ("linux-", Platform::Linux),
            ("sadf-", Platform::Linux),
            ("multipath", Platform::Linux),
            ("lsscsi", Platform::Linux),
            ("lsblk", Platform::Linux),
            ("blkparse", Platform::Linux),
            ("btt", Platform::Linux),
            ("strace", Platform::Linux),
            ("node-exporter", Platform::Linux),
            ("solaris-", Platform::Solaris),
            ("aix-", Platform::Aix),
            ("hpux-", Platform::HpUx),
            ("freebsd-", Platform::FreeBsd),
            ("esxtop", Platform::Esxi),
        ];
        only.iter().find(|(name, _)| self.name.starts_with(name)).map_or(Platform::Unknown, |(_, p)| *p)
    }
}

impl std::fmt::Debug for Format {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

/// All formats, family by family.
pub static FORMATS: &[&[Format]] = &[
    sysstat::FORMATS,
    linux::FORMATS,
    sysv_sar::FORMATS,
    solaris::FORMATS,
    aix::FORMATS,
    hpux::FORMATS,
    bsd::FORMATS,
    esxi::FORMATS,
    veritas::FORMATS,
    trace::FORMATS,
    fio::FORMATS,
    oracle::FORMATS,
    inventory::FORMATS,
];

/// All formats, one after the other.
pub fn all() -> impl Iterator<Item = &'static Format> {
    FORMATS.iter().flat_map(|family| family.iter())
}
