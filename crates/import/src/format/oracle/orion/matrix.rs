//! Matrices of Orion (`*_iops.csv`, `*_lat.csv`, `*_mbps.csv`): a column for each number of small I/Os outstanding, a row
//! for each number of large ones.

use super::result::Point;
use crate::out::Out;
use crate::text::number::decimal;
use record::imported::Quantity::*;
use record::imported::{Origin, PlaceId, Quantity};

/// What the cells are, as far as the text says it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Cells {
    Iops,
    Mbps,
    /// Times; microseconds of their unit, where it is told.
    Latency(Option<f64>),
}

/// Cells that are kept until the whole matrix tells what they are.
const CELLS_MAX: usize = 100_000;
/// Bytes of the megabyte of `MBPS`.
const MIB: f64 = 1_048_576.0;

/// A matrix that is being read.
#[derive(Clone, Debug, Default)]
pub(super) struct Matrix {
    small: Vec<f64>,
    values: Vec<(Origin, Point, f64)>,
    has_decimals: bool,
    /// What a sentence above it says that it holds.
    pub told: Option<Cells>,
}

/// What a sentence at the top of a file says that it holds.
pub(super) fn told(line: &str) -> Option<Cells> {
    let lower = line.to_ascii_lowercase();
    if lower.contains("latency") && lower.contains("second") {
        let unit = if lower.contains("millisecond") { 1e3 } else { 1.0 };
        Some(Cells::Latency(Some(unit)))
    } else if lower.contains("mbps") && lower.contains("sustained") {
        Some(Cells::Mbps)
    } else if lower.contains("iops") && lower.contains("sustained") {
        Some(Cells::Iops)
    } else {
        None
    }
}

/// Whether a line is the head of a matrix.
pub(super) fn is_head(line: &str) -> bool {
    line.trim_start().starts_with("Large/Small")
}

impl Matrix {
    /// Whether it has no cells yet.
    pub(super) fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// `Large/Small,      1,      2,`
    pub(super) fn head(&mut self, line: &str, out: &mut Out<'_>) {
        let small: Option<Vec<f64>> = cells(line).skip(1).map(decimal).collect();
        match small.filter(|s| !s.is_empty()) {
            Some(small) => self.small = small,
            None => out.complain("numbers of small I/Os", line),
        }
    }

    /// `      0,    173,    311,`; whether the line is a row.
    pub(super) fn row(&mut self, line: &str, out: &mut Out<'_>) -> bool {
        let Some(large) = cells(line).next().and_then(decimal).filter(|_| !self.small.is_empty()) else {
            return false;
        };
        let values: Option<Vec<f64>> = cells(line).skip(1).map(decimal).collect();
        let Some(values) = values.filter(|v| !v.is_empty() && v.len() <= self.small.len()) else {
            out.complain("a number for each column of the matrix", line);
            return true;
        };
        self.has_decimals |= line.contains('.');
        for (small, value) in self.small.iter().zip(values) {
            if self.values.len() < CELLS_MAX {
                self.values.push((out.origin(), Point { small: *small, large }, value));
            }
        }
        true
    }

    /// The matrix has ended: rows of the job. `release_us` is the unit of times of the release, where that is known.
    pub(super) fn end(&mut self, job: PlaceId, release_us: Option<f64>, out: &mut Out<'_>) {
        let matrix = std::mem::take(self);
        let (cells, is_guess) = match matrix.told {
            Some(told) => (told, false),
            None => (matrix.guess(), true),
        };
        if is_guess {
            let what = match cells {
                Cells::Iops => "I/Os per second",
                Cells::Mbps => "megabytes per second",
                Cells::Latency(_) => "times",
            };
            out.remark(&format!(
                "the matrix does not say what it holds; by its numbers it is read as {what}"
            ));
        }
        let (quantity, factor): (Quantity, f64) = match cells {
            Cells::Iops => (Iops, 1.0),
            Cells::Mbps => (BytesPerS, MIB),
            Cells::Latency(told) => (ResponseUs, told.or(release_us).unwrap_or_else(|| matrix.unit_us(out))),
        };
        let layout = out.layout(&[Concurrency, LargeConcurrency, quantity]);
        for (origin, point, value) in &matrix.values {
            out.row_from(*origin, layout, job, &[point.small, point.large, value * factor]);
        }
    }

    /// Without a sentence: whole numbers are I/Os per second; megabytes are told of large I/Os, of which there are some in
    /// every row.
    fn guess(&self) -> Cells {
        let is_with_large = self.values.iter().all(|(_, point, _)| point.large > 0.0);
        match (is_with_large, self.has_decimals) {
            (true, _) => Cells::Mbps,
            (false, true) => Cells::Latency(None),
            (false, false) => Cells::Iops,
        }
    }

    /// Releases up to 11.1 told milliseconds, later ones microseconds. No disk needs 30 ms for the lightest load, and none
    /// answers within 30 us.
    fn unit_us(&self, out: &mut Out<'_>) -> f64 {
        let least = self.values.iter().map(|(_, _, v)| *v).filter(|v| *v > 0.0).fold(f64::INFINITY, f64::min);
        let (unit, factor) = if least < 30.0 { ("milliseconds", 1e3) } else { ("microseconds", 1.0) };
        out.remark(&format!("the matrix of latencies does not say its unit; by its numbers it is {unit}"));
        factor
    }
}

fn cells(line: &str) -> impl Iterator<Item = &str> {
    let has_commas = line.contains([',', ';', '\t']);
    let divides = move |c: char| matches!(c, ',' | ';' | '\t') || (!has_commas && c == ' ');
    line.split(divides).map(str::trim).filter(|c| !c.is_empty())
}
