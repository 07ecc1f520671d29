//! `lvmstat` of AIX: I/O of a volume group by logical volume (`-v`), or of a logical volume by partition (`-l`).
//!
//! The first report is since statistics were enabled. Lines are sorted by count, so most intervals name other volumes.

use super::device::{arguments, runs};
use crate::clock::Clock;
use crate::format::{Format, LineFormat, Reads, Took};
use crate::out::{Layout, Out};
use crate::recognise::{Head, Likeness};
use crate::text::number::decimal;
use crate::text::words;
use record::imported::Quantity::{self, *};
use record::imported::{PlaceKind, Platform, RowsKind, facts};

const KIB: f64 = 1024.0;

/// This format.
pub(super) const FORMAT: Format = Format {
    name: "aix-lvmstat",
    title: "lvmstat of AIX, by volume (-v) and by partition (-l)",
    recognise,
    reads: Reads::Lines { new: || Box::new(Lvmstat::default()), begins },
};

fn recognise(head: &Head<'_>) -> Option<Likeness> {
    Likeness::by_line(95, "header", head.find(begins)?)
}

fn begins(line: &str) -> bool {
    let words = words(line);
    words.contains(&"iocnt") && words.contains(&"Kb_read")
}

/// The reader.
#[derive(Default)]
struct Lvmstat {
    clock: Clock,
    columns: Vec<Option<(usize, f64)>>,
    layout: Option<Layout>,
    width: usize,
    /// Rows are partitions of a volume, not volumes.
    partitions: bool,
    /// The volume of option -l, where the command line told it.
    volume: Option<String>,
    reports: u64,
}

fn column(name: &str) -> Option<(Quantity, f64)> {
    Some(match name {
        "iocnt" => (Ios, 1.0),
        "Kb_read" => (ReadBytes, KIB),
        "Kb_wrtn" => (WriteBytes, KIB),
        "Kbps" => (BytesPerS, KIB),
        _ => return None,
    })
}

impl LineFormat for Lvmstat {
    fn line(&mut self, line: &str, out: &mut Out<'_>) -> Took {
        let trimmed = line.trim();
        // A dot stands for an interval without I/O.
        if trimmed.bytes().all(|b| b == b'.') {
            return Took::Yes;
        }
        if begins(trimmed) {
            self.header(trimmed, out);
            return Took::Yes;
        }
        if let Some((name, "")) = trimmed.split_once(':').map(|(n, rest)| (n, rest.trim())) {
            self.volume = Some(name.to_owned());
            return Took::Yes;
        }
        let Some(layout) = self.layout else { return Took::No };
        let cells = words(trimmed);
        let named = if self.partitions { 2 } else { 1 };
        let figures = cells.get(named..).unwrap_or_default();
        let numbers: Option<Vec<f64>> = figures.iter().map(|c| decimal(c)).collect();
        let Some(numbers) = numbers.filter(|n| n.len() == self.columns.len()) else {
            if figures.iter().any(|c| decimal(c).is_some()) {
                out.complain(&format!("{} figures", self.columns.len()), trimmed);
                return Took::Yes;
            }
            return Took::No;
        };
        let mut values = vec![f64::NAN; self.width];
        for (number, column) in numbers.iter().zip(&self.columns) {
            if let Some((at, factor)) = column {
                values[*at] = number * factor;
            }
        }
        let place = if self.partitions {
            let volume = self.volume.clone().unwrap_or_default();
            // The copy tells the mirrors of a partition apart.
            let place = out.place(PlaceKind::Partition, &format!("{volume}:{}:{}", cells[0], cells[1]));
            if !volume.is_empty() {
                out.fact(place, facts::PART_OF, volume);
            }
            place
        } else {
            out.place(PlaceKind::Volume, cells[0])
        };
        out.row(layout, place, &values);
        Took::Yes
    }

    fn command(&mut self, command: &str) {
        if !runs(command, "lvmstat") {
            return;
        }
        self.reports = 0;
        let mut words = arguments(command).peekable();
        while let Some(word) = words.next() {
            if word == "-l" {
                self.volume = words.peek().map(|w| (*w).to_owned());
            } else if let Some(interval) = decimal(word).filter(|n| *n > 0.0) {
                self.clock.asked(interval);
                break;
            }
        }
    }
}

impl Lvmstat {
    fn header(&mut self, line: &str, out: &mut Out<'_>) {
        out.platform(Platform::Aix);
        let names = words(line);
        self.partitions = names.contains(&"Log_part");
        let at = names.iter().position(|n| *n == "iocnt").unwrap_or(0);
        let mut quantities = Vec::new();
        self.columns.clear();
        for name in &names[at..] {
            self.columns.push(column(name).map(|(quantity, factor)| {
                quantities.push(quantity);
                (quantities.len() - 1, factor)
            }));
        }
        self.width = quantities.len();
        self.layout = Some(out.layout(&quantities));
        self.reports += 1;
        let kind = if self.reports == 1 { RowsKind::SinceBoot } else { RowsKind::Interval };
        let interval = self.clock.next(kind);
        out.interval(interval);
    }
}
