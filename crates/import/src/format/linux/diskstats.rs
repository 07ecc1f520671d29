//! `/proc/diskstats` and `/sys/block/*/stat` as saved by hand or by collectors: one dump or many. Kernel documentation,
//! `admin-guide/iostats.rst`.

use super::collector::{is_noise, moment};
use super::device;
use crate::format::{Format, LineFormat, Reads, Took};
use crate::out::Out;
use crate::recognise::{Head, Likeness};
use crate::text::number::decimal;
use crate::text::words;
use record::imported::Quantity::{self, *};
use record::imported::{Interval, PlaceKind, Platform, RowsKind};
use std::collections::HashSet;

/// This format.
pub(super) const FORMAT: Format = Format {
    name: "linux-diskstats",
    title: "/proc/diskstats of Linux 2.6 and later",
    recognise,
    reads: Reads::Lines {
        new: || Box::new(Diskstats::default()),
        begins: |line| row(line).is_some_and(|(_, counters)| counters.len() > 4),
    },
};

const SECTOR: f64 = 512.0;
/// Counters of time are in milliseconds.
const MS: f64 = 1e-3;

fn recognise(head: &Head<'_>) -> Option<Likeness> {
    let rows = head.count(|l| row(l).is_some());
    let lines = head.count(|l| !l.trim().is_empty());
    let line = head.find(|l| row(l).is_some()).filter(|_| rows * 2 >= lines)?;
    Likeness::by_line(90, "counters", line)
}

/// Device and counters: 4 (partitions before 2.6.25), 11, 15 since 4.18 (discards), 17 since 5.5 (flushes).
fn row(line: &str) -> Option<(&str, Vec<f64>)> {
    if !line.trim_start().starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let cells = words(line);
    let (head, counters) = cells.split_at_checked(3)?;
    let is_counter = |c: &&str| c.bytes().all(|b| b.is_ascii_digit());
    let named = head[..2].iter().all(is_counter) && head[2].starts_with(|c: char| c.is_ascii_alphabetic());
    if !named || !matches!(counters.len(), 4 | 11 | 15 | 17) || !counters.iter().all(is_counter) {
        return None;
    }
    Some((head[2], counters.iter().filter_map(|c| decimal(c)).collect()))
}

/// The reader.
#[derive(Default)]
struct Diskstats {
    /// Devices of this dump: one that comes again begins the next.
    seen: HashSet<String>,
    /// A time stood above the dump.
    timed: bool,
    begun: bool,
}

impl LineFormat for Diskstats {
    fn line(&mut self, line: &str, out: &mut Out<'_>) -> Took {
        let trimmed = line.trim();
        if trimmed.is_empty() {
            return Took::Yes;
        }
        if let Some((name, counters)) = row(trimmed) {
            self.row(name, &counters, out);
            return Took::Yes;
        }
        if let Some((at_s, basis)) = moment(trimmed) {
            self.begin(Interval { at_s, length_s: f64::NAN, basis, kind: RowsKind::Instant }, out);
            self.timed = true;
            return Took::Yes;
        }
        if is_noise(trimmed) {
            return Took::Yes;
        }
        let cells = words(trimmed);
        let numbers = cells.iter().filter(|c| decimal(c).is_some()).count();
        if cells.len() >= 5 && numbers + 2 >= cells.len() && decimal(cells[0]).is_some() {
            out.complain("major and minor number, a device, and 4, 11, 15 or 17 counters", trimmed);
            return Took::Yes;
        }
        Took::No
    }
}

impl Diskstats {
    fn begin(&mut self, interval: Interval, out: &mut Out<'_>) {
        if !std::mem::replace(&mut self.begun, true) {
            out.platform(Platform::Linux);
        }
        self.seen.clear();
        out.interval(interval);
    }

    fn row(&mut self, name: &str, counters: &[f64], out: &mut Out<'_>) {
        if self.seen.contains(name) || !self.begun {
            self.begin(Interval::unknown(RowsKind::Instant), out);
            self.timed = false;
        }
        if self.seen.len() < 65_536 {
            self.seen.insert(name.to_owned());
        }
        const PARTITION: [(Quantity, f64); 4] =
            [(Reads, 1.0), (ReadBytes, SECTOR), (Writes, 1.0), (WriteBytes, SECTOR)];
        const WHOLE: [(Quantity, f64); 17] = [
            (Reads, 1.0),
            (ReadMerges, 1.0),
            (ReadBytes, SECTOR),
            (ReadTimeS, MS),
            (Writes, 1.0),
            (WriteMerges, 1.0),
            (WriteBytes, SECTOR),
            (WriteTimeS, MS),
            (OutstandingInstant, 1.0),
            (BusyTimeS, MS),
            (WeightedTimeS, MS),
            (Discards, 1.0),
            (DiscardMerges, 1.0),
            (DiscardBytes, SECTOR),
            (DiscardTimeS, MS),
            (Flushes, 1.0),
            (FlushTimeS, MS),
        ];
        let columns: &[(Quantity, f64)] = if counters.len() == 4 { &PARTITION } else { &WHOLE };
        let kind = if counters.len() == 4 { PlaceKind::Partition } else { device::kind(name) };
        let values: Vec<(Quantity, f64)> = columns
            .iter()
            .zip(counters)
            .map(|((q, factor), counter)| (*q, scaled(*counter, *factor)))
            .collect();
        let place = out.place(kind, name);
        out.put(place, &values);
    }
}

/// Milliseconds are divided, so that no digit is lost to a factor that has no exact form.
fn scaled(counter: f64, factor: f64) -> f64 {
    if factor == MS { counter / 1000.0 } else { counter * factor }
}
