//! Rows of measurements: same quantities, row after row, each with its place, interval and line.

use super::place::PlaceId;
use super::quantity::Quantity;
use super::sink::SourceId;
use serde::{Deserialize, Serialize};

/// What a row stands for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RowsKind {
    /// An interval between two looks: the usual case.
    #[default]
    Interval,
    /// Everything since boot or since counters were reset: the first report of most interval tools. Never mixed with
    /// intervals.
    SinceBoot,
    /// The tool's own average over its intervals. Not one more interval.
    Average,
    /// A reading at an instant, or counters that only grow.
    Instant,
    /// A single request or call (traces).
    Request,
    /// A long window that a report was made for (AWR, Statspack, one run of a load generator).
    Period,
}

/// What [`Interval::at_s`] counts from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Basis {
    /// Seconds since 1970, UTC: the text told the zone, or the time was an epoch.
    Utc,
    /// Seconds since 1970 as if the host's local time were UTC: date and time were told, the zone was not.
    Local,
    /// Seconds since midnight of the first day: the text has times and no date.
    TimeOfDay,
    /// Seconds since the source began: intervals were counted, or times were relative.
    #[default]
    SinceStart,
}

/// The stretch of time that rows belong to.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Interval {
    /// End, in seconds from what `basis` says; NaN when neither time nor interval length is known.
    pub at_s: f64,
    /// Length in seconds; NaN when unknown.
    pub length_s: f64,
    /// What `at_s` counts from.
    pub basis: Basis,
    /// What the rows stand for.
    pub kind: RowsKind,
}

impl Interval {
    /// Of unknown time and length.
    pub fn unknown(kind: RowsKind) -> Self {
        Self { at_s: f64::NAN, length_s: f64::NAN, basis: Basis::SinceStart, kind }
    }
}

/// A place in a source.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Origin {
    /// The source.
    pub source: SourceId,
    /// Line, from 1.
    pub line: u64,
    /// The block of text it stands in, and the bytes within it: for whoever wants to quote the line while the block is
    /// at hand. Equal bounds mean that there is no line to quote.
    pub block: u32,
    /// First byte within the block.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

/// Where a row belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowHead {
    /// What it describes.
    pub place: PlaceId,
    /// Index into the intervals of these rows.
    pub interval: u32,
    /// Where it stands.
    pub origin: Origin,
}

/// Rows with the same quantities. Row-major: a row is one slice.
#[derive(Clone, Debug, Default)]
pub struct Rows {
    quantities: Vec<Quantity>,
    values: Vec<f64>,
    heads: Vec<RowHead>,
    intervals: Vec<Interval>,
}

impl Rows {
    /// No rows yet, of these quantities.
    pub fn new(quantities: &[Quantity]) -> Self {
        Self { quantities: quantities.to_vec(), ..Self::default() }
    }

    /// The quantities, in the order of each row's values.
    pub fn quantities(&self) -> &[Quantity] {
        &self.quantities
    }

    /// Position of a quantity in a row; absent when these rows have none.
    pub fn column(&self, quantity: Quantity) -> Option<usize> {
        self.quantities.iter().position(|q| *q == quantity)
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.heads.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.heads.is_empty()
    }

    /// Where each row belongs.
    pub fn heads(&self) -> &[RowHead] {
        &self.heads
    }

    /// The values of a row; NaN where absent.
    pub fn row(&self, row: usize) -> &[f64] {
        let width = self.quantities.len();
        &self.values[row * width..(row + 1) * width]
    }

    /// The interval of a row.
    pub fn interval(&self, row: usize) -> &Interval {
        &self.intervals[self.heads[row].interval as usize]
    }

    /// Begins an interval: rows pushed from now on belong to it.
    pub fn begin(&mut self, interval: Interval) {
        let same = self.intervals.len().checked_sub(1) == self.heads.last().map(|h| h.interval as usize);
        // An interval that no row used is replaced.
        if same || self.intervals.is_empty() {
            self.intervals.push(interval);
        } else if let Some(last) = self.intervals.last_mut() {
            *last = interval;
        }
    }

    /// Adds a row to the interval begun last.
    ///
    /// # Panics
    /// When `values` has another length than the quantities: an error of the reader, not of its input.
    #[inline]
    pub fn push(&mut self, place: PlaceId, origin: Origin, values: &[f64]) {
        assert_eq!(values.len(), self.quantities.len(), "a row needs a value for each quantity");
        if self.intervals.is_empty() {
            self.intervals.push(Interval::unknown(RowsKind::Interval));
        }
        self.values.extend_from_slice(values);
        self.heads.push(RowHead { place, interval: (self.intervals.len() - 1) as u32, origin });
    }

    /// Forgets the rows and keeps the interval begun last, and the memory.
    pub fn clear(&mut self) {
        self.values.clear();
        self.heads.clear();
        if let Some(last) = self.intervals.pop() {
            self.intervals.clear();
            self.intervals.push(last);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(at_s: f64) -> Interval {
        Interval { at_s, length_s: 1.0, ..Interval::default() }
    }

    #[test]
    fn each_row_finds_its_interval_and_values() {
        let mut rows = Rows::new(&[Quantity::ReadIops, Quantity::WriteIops]);
        rows.begin(at(1.0));
        rows.begin(at(2.0));
        rows.push(7, Origin::default(), &[1.0, 2.0]);
        rows.push(8, Origin::default(), &[3.0, 4.0]);
        rows.begin(at(3.0));
        rows.push(7, Origin::default(), &[5.0, f64::NAN]);
        assert_eq!((rows.len(), rows.row(1), rows.interval(1).at_s), (3, &[3.0, 4.0][..], 2.0));
        assert_eq!((rows.interval(2).at_s, rows.column(Quantity::WriteIops)), (3.0, Some(1)));
        rows.clear();
        rows.push(9, Origin::default(), &[6.0, 7.0]);
        assert_eq!((rows.len(), rows.interval(0).at_s), (1, 3.0));
    }
}
