//! Rows of the device table.

use super::split::Split;
use crate::format::sysstat::cells::{Cells, Values, WIDTH_MAX};
use crate::format::sysstat::device_columns::Column;
use crate::format::sysstat::known::Known;
use crate::out::Out;
use crate::text::number::decimal;
use crate::text::words;
use record::imported::PlaceKind;
use record::imported::Quantity::{Iops, ReadIops, WriteIops};

/// Reads rows by the columns of their header.
#[derive(Default)]
pub(super) struct Devices {
    cells: Cells,
    /// The name stands in the last column (options --pretty, -j).
    name_last: bool,
    known: Known,
    /// Blanks before the header, in a pasted capture.
    indent: usize,
    /// Some of the columns of option -x stand in tables of their own.
    is_split: bool,
    split: Split,
}

impl Devices {
    /// Takes the columns of a header.
    pub fn set_columns(&mut self, header: &str, columns: &[Column], out: &mut Out<'_>) {
        self.name_last = columns.last() == Some(&Column::Name);
        self.indent = if self.name_last { 0 } else { header.len() - header.trim_start().len() };
        let has = |wanted| columns.iter().any(|c| c.kept().is_some_and(|(quantity, _)| quantity == wanted));
        let is_whole = has(Iops) || has(ReadIops) && has(WriteIops);
        self.is_split = self.name_last && !is_whole;
        let numbers: Vec<_> = columns.iter().filter(|c| **c != Column::Name).map(Column::kept).collect();
        self.cells = Cells::new(&numbers, false, out);
    }

    /// Numbers in a row.
    pub fn columns(&self) -> usize {
        self.cells.len()
    }

    /// The host has changed: names mean other devices.
    pub fn forget(&mut self) {
        self.known.forget();
    }

    /// A table begins.
    pub fn begin_table(&mut self, out: &Out<'_>) {
        self.known.begin_table();
        if self.is_split {
            self.split.begin_table(out);
        }
    }

    /// A report has ended: what was held back is pushed.
    pub fn end_report(&mut self, out: &mut Out<'_>) {
        self.split.push(out);
    }

    /// Whether a line that is no good row was meant as one: it has a name and mostly numbers.
    pub fn looks_like_row(&self, line: &str) -> bool {
        let cells = words(line);
        let numbers = cells.iter().filter(|c| decimal(c).is_some()).count();
        cells.len() > 1 && numbers * 2 >= cells.len() && numbers * 2 >= self.columns()
    }

    /// One row; false when the line is none.
    #[inline]
    pub fn row(&mut self, line: &str, out: &mut Out<'_>) -> bool {
        let Some(layout) = self.cells.layout() else { return false };
        let line = if self.indent > 0 { self.unindented(line) } else { line };
        let (name, numbers) = if self.name_last { split_last(line) } else { split_first(line) };
        if name.is_empty() && !self.name_last {
            return self.group(line.trim_start(), out);
        }
        let mut values: Values = [f64::NAN; WIDTH_MAX];
        if name.is_empty() || !self.cells.blanks(numbers, &mut values) {
            return false;
        }
        let place = self.known.device(name, out);
        if self.is_split {
            self.split.add(place, self.cells.quantities(), &values[..self.cells.width()], out);
            return true;
        }
        out.row(layout, place, &values[..self.cells.width()]);
        true
    }

    #[cold]
    fn unindented<'l>(&self, line: &'l str) -> &'l str {
        let blanks = line.len() - line.trim_start().len();
        &line[blanks.min(self.indent)..]
    }

    /// A group (option -g) is indented by one blank: the sum of devices that have rows of their own.
    #[cold]
    fn group(&mut self, line: &str, out: &mut Out<'_>) -> bool {
        let Some(layout) = self.cells.layout() else { return false };
        let (name, numbers) = split_first(line);
        let mut values: Values = [f64::NAN; WIDTH_MAX];
        if name.is_empty() || decimal(name).is_some() || !self.cells.blanks(numbers, &mut values) {
            return false;
        }
        let place = out.place(PlaceKind::Other, name);
        out.row(layout, place, &values[..self.cells.width()]);
        true
    }
}

/// The name is what follows the last number.
fn split_last(line: &str) -> (&str, &str) {
    let line = line.trim_end();
    let at = line.rfind([' ', '\t']).map_or(0, |at| at + 1);
    (&line[at..], &line[..at])
}

/// The name ends at the first blank.
fn split_first(line: &str) -> (&str, &str) {
    let end = memchr::memchr2(b' ', b'\t', line.as_bytes()).unwrap_or(line.len());
    line.split_at(end)
}
