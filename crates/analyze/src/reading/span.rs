//! The time that a text covers, and how evenly: gathered while rows pass, whatever they hold.

use record::imported::{Basis, Rows, RowsKind};

/// The time of one text.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Span {
    /// What its times count from; absent while it told none.
    pub basis: Option<Basis>,
    /// Its times count from more than one thing: part of it has a date, part has none.
    pub is_mixed: bool,
    /// Begin of its first interval; NaN when no time was told.
    pub first_s: f64,
    /// End of its last one.
    pub last_s: f64,
    /// Intervals with a known length.
    pub intervals: u64,
    /// Their lengths, summed, seconds.
    pub covered_s: f64,
    /// The longest of them.
    pub longest_s: f64,
    /// Rows of intervals.
    pub interval_rows: u64,
    /// Rows since boot or reset.
    pub since_boot_rows: u64,
    /// Rows of the tool's own averages.
    pub average_rows: u64,
    /// Times that an interval ended before the one above it.
    pub went_back: u64,
}

impl Span {
    /// Nothing was told yet.
    pub fn unknown() -> Self {
        Self { first_s: f64::NAN, last_s: f64::NAN, ..Self::default() }
    }

    /// Mean length of an interval, seconds; NaN when none is known.
    pub fn mean_interval_s(&self) -> f64 {
        self.covered_s / self.intervals as f64
    }

    /// From the first begin to the last end, seconds; NaN when no time was told.
    pub fn length_s(&self) -> f64 {
        self.last_s - self.first_s
    }

    /// Adds the intervals of some rows.
    pub(super) fn add(&mut self, rows: &Rows) {
        let (mut seen, mut last_end) = (None, f64::NAN);
        for (n, head) in rows.heads().iter().enumerate() {
            match rows.interval(n).kind {
                RowsKind::Interval | RowsKind::Instant => self.interval_rows += 1,
                RowsKind::SinceBoot => self.since_boot_rows += 1,
                RowsKind::Average => self.average_rows += 1,
                RowsKind::Request | RowsKind::Period => {}
            }
            if seen == Some(head.interval) {
                continue;
            }
            seen = Some(head.interval);
            let interval = rows.interval(n);
            let counts = matches!(interval.kind, RowsKind::Interval | RowsKind::Instant | RowsKind::Period);
            if !counts || interval.at_s.is_nan() {
                continue;
            }
            match self.basis {
                Some(basis) if basis != interval.basis => {
                    self.is_mixed = true;
                    continue;
                }
                _ => self.basis = Some(interval.basis),
            }
            let length_s = if interval.length_s > 0.0 { interval.length_s } else { 0.0 };
            self.first_s = self.first_s.min(interval.at_s - length_s);
            self.last_s = self.last_s.max(interval.at_s);
            if length_s > 0.0 && interval.kind == RowsKind::Interval {
                self.intervals += 1;
                self.covered_s += length_s;
                self.longest_s = self.longest_s.max(length_s);
            }
            self.went_back += u64::from(interval.at_s < last_end - 0.5);
            last_end = interval.at_s;
        }
    }
}
