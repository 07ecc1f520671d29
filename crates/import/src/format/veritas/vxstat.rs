//! `vxstat`: operations, blocks of 512 bytes, and mean times of volumes, plexes, subdisks and disks. The numbers are counts,
//! of the interval; those of the first report are since boot or since the last reset (vxstat(1M)). The time is the whole
//! stay within the volume manager and below it.

use super::kind;
use crate::clock::Clock;
use crate::format::columns::{KIB, SECTOR, US_PER_MS};
use crate::format::{Format, LineFormat, Reads, Took, stamp};
use crate::out::Out;
use crate::recognise::{Head, Likeness};
use crate::text::number::{decimal, scaled};
use crate::text::words;
use record::imported::Quantity::{self, *};
use record::imported::RowsKind;
use std::collections::HashSet;

/// This format.
pub(super) const FORMAT: Format = Format {
    name: "vxstat",
    title: "vxstat of Veritas Volume Manager",
    recognise,
    reads: Reads::Lines { new: || Box::new(Vxstat::default()), begins },
};

/// Rows of a report that are remembered, to see where the next begins.
const SEEN_MAX: usize = 100_000;

fn recognise(head: &Head<'_>) -> Option<Likeness> {
    Likeness::by_line(95, "header", head.find(|l| groups(l).is_some() || is_header(l))?)
}

fn begins(line: &str) -> bool {
    groups(line).is_some() || is_header(line)
}

/// `TYP NAME READ WRITE READ WRITE READ WRITE`.
fn is_header(line: &str) -> bool {
    let words = words(line);
    words.starts_with(&["TYP", "NAME"])
        && words.len() > 3
        && words.iter().skip(2).all(|w| matches!(*w, "READ" | "WRITE"))
}

/// What a pair of columns counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Group {
    Operations,
    /// Units of this many bytes.
    Blocks(u32),
    Time,
}

/// The groups in the line above the header: `OPERATIONS BLOCKS AVG TIME(ms)`.
fn groups(line: &str) -> Option<Vec<Group>> {
    let mut groups = Vec::new();
    for word in words(line) {
        match word {
            "OPERATIONS" => groups.push(Group::Operations),
            "BLOCKS" => groups.push(Group::Blocks(SECTOR as u32)),
            "KBYTES" | "BLOCKS(K)" => groups.push(Group::Blocks(KIB as u32)),
            "BYTES" => groups.push(Group::Blocks(1)),
            "TIME(ms)" | "TIME" => groups.push(Group::Time),
            "AVG" | "(ms)" => {}
            _ => return None,
        }
    }
    (groups.len() >= 2 && groups.contains(&Group::Operations)).then_some(groups)
}

/// The reader.
#[derive(Default)]
struct Vxstat {
    clock: Clock,
    reports: u64,
    begun: bool,
    groups: Vec<Group>,
    /// What each number is, with its factor.
    columns: Vec<(Quantity, f64)>,
    seen: HashSet<String>,
}

impl LineFormat for Vxstat {
    fn line(&mut self, line: &str, out: &mut Out<'_>) -> Took {
        let line = line.trim();
        if line.is_empty() {
            return Took::Yes;
        }
        if let Some(groups) = groups(line) {
            self.groups = groups;
            return Took::Yes;
        }
        if is_header(line) {
            self.header(line);
            return Took::Yes;
        }
        if let Some((at_s, basis)) = stamp::moment(line) {
            self.reports += 1;
            let kind = self.kind();
            let interval = self.clock.moment(at_s, basis, kind);
            out.interval(interval);
            self.begun = true;
            return Took::Yes;
        }
        let cells = words(line);
        // The disk group that the records below belong to.
        if let ["DG" | "dg", _] = cells.as_slice() {
            return Took::Yes;
        }
        let [of, name, figures @ ..] = cells.as_slice() else { return Took::No };
        let Some(kind) = kind(of) else { return Took::No };
        if self.columns.is_empty() {
            return Took::No;
        }
        let numbers: Option<Vec<f64>> =
            figures.iter().zip(&self.columns).map(|(f, (q, factor))| figure(f, *q, *factor)).collect();
        let Some(numbers) = numbers.filter(|_| figures.len() == self.columns.len()) else {
            out.complain(&format!("a type, a name and {} numbers", self.columns.len()), line);
            return Took::Yes;
        };
        self.begin_row(&format!("{of} {name}"), out);
        let place = out.place(kind, name);
        let values: Vec<(Quantity, f64)> = self.columns.iter().map(|(q, _)| *q).zip(numbers).collect();
        out.put(place, &values);
        Took::Yes
    }

    fn command(&mut self, command: &str) {
        let words = words(command);
        let asked = words.iter().enumerate().find_map(|(n, w)| match w.strip_prefix("-i") {
            Some("") => words.get(n + 1).and_then(|s| decimal(s)),
            Some(seconds) => decimal(seconds),
            None => None,
        });
        if let Some(seconds) = asked {
            self.clock.asked(seconds);
        }
        self.reports = 0;
    }
}

impl Vxstat {
    fn kind(&self) -> RowsKind {
        if self.reports <= 1 { RowsKind::SinceBoot } else { RowsKind::Interval }
    }

    fn header(&mut self, line: &str) {
        if self.groups.is_empty() {
            self.groups = vec![Group::Operations, Group::Blocks(SECTOR as u32), Group::Time];
        }
        let groups = self.groups.iter().flat_map(|g| [g, g]);
        let of = |(group, name): (&Group, &str)| match (group, name == "READ") {
            (Group::Operations, true) => (Reads, 1.0),
            (Group::Operations, false) => (Writes, 1.0),
            (Group::Blocks(bytes), true) => (ReadBytes, f64::from(*bytes)),
            (Group::Blocks(bytes), false) => (WriteBytes, f64::from(*bytes)),
            (Group::Time, true) => (ReadResponseUs, US_PER_MS),
            (Group::Time, false) => (WriteResponseUs, US_PER_MS),
        };
        self.columns = groups.zip(words(line).into_iter().skip(2)).map(of).collect();
    }

    /// A record that was met before begins the next report, where no time line does.
    fn begin_row(&mut self, record: &str, out: &mut Out<'_>) {
        let begun = std::mem::replace(&mut self.begun, false);
        if begun || self.reports == 0 || self.seen.contains(record) {
            self.seen.clear();
            if !begun {
                self.reports += 1;
                let kind = self.kind();
                let interval = self.clock.next(kind);
                out.interval(interval);
            }
        }
        if self.seen.len() < SEEN_MAX {
            self.seen.insert(record.to_owned());
        }
    }
}

/// A number; with option -u blocks come with a unit letter, and are bytes.
fn figure(text: &str, quantity: Quantity, factor: f64) -> Option<f64> {
    let with_unit = text.ends_with(|c: char| c.is_ascii_alphabetic());
    if with_unit && matches!(quantity, ReadBytes | WriteBytes) {
        return scaled(text, 1024.0);
    }
    decimal(text).map(|n| n * factor)
}
