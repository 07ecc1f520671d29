//! A table of rows: which columns it has, and what a row of it says.

use super::columns::{Cell, Column, column, value};
use super::rulers::Named;
use crate::clock::time_of_day;
use crate::out::{Layout, Out};
use crate::text::words;
use record::imported::Quantity;

/// Largest number of columns.
const COLUMNS_MAX: usize = 48;

/// What the rows of a table are about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) enum About {
    /// The row has no name: terminals and processors.
    #[default]
    Processors,
    /// The host as a whole: `Physical`.
    System,
    /// Adapters, virtual ones included.
    Adapters,
    /// Disks, and paths among them.
    Disks,
    /// Paths.
    Paths,
    /// Filesystems.
    Filesystems,
}

/// Quantities that are counted for reads and for writes, and kept as their sum.
pub(super) fn is_sum(quantity: Quantity) -> bool {
    matches!(quantity, Quantity::Timeouts | Quantity::Failures)
}

/// The columns of a table.
#[derive(Clone, Debug, Default)]
pub(super) struct Table {
    pub about: About,
    columns: Vec<Option<(usize, Cell)>>,
    quantities: Vec<Quantity>,
    layout: Option<Layout>,
}

/// A row that was read.
pub(super) struct Row<'l> {
    /// Empty where rows have no name.
    pub name: &'l str,
    /// Of the table's quantities.
    pub values: Vec<f64>,
    /// Time of the day, with option -T.
    pub time_s: Option<f64>,
    /// The first cell that could not be read.
    pub bad: Option<&'l str>,
}

impl Table {
    /// Of these columns; those that are not known are given back.
    pub fn new(about: About, named: &[Named], out: &mut Out<'_>) -> (Self, Vec<String>) {
        let mut table = Self { about, ..Self::default() };
        let mut unread = Vec::new();
        for (group, name) in named.iter().take(COLUMNS_MAX) {
            let kept = match column(*group, name) {
                Column::Kept(quantity, cell) if !table.quantities.contains(&quantity) => {
                    table.quantities.push(quantity);
                    Some((table.quantities.len() - 1, cell))
                }
                // Timeouts and fails of reads and of writes are told together.
                Column::Kept(quantity, cell) if is_sum(quantity) => {
                    table.quantities.iter().position(|q| *q == quantity).map(|at| (at, cell))
                }
                Column::Kept(..) | Column::Dropped => None,
                Column::Unread => {
                    unread.push(name.clone());
                    None
                }
            };
            table.columns.push(kept);
        }
        table.layout = Some(out.layout(&table.quantities));
        (table, unread)
    }

    /// The layout of its rows.
    pub fn layout(&self) -> Option<Layout> {
        self.layout
    }

    /// How many figures a row has.
    pub fn width(&self) -> usize {
        self.columns.len()
    }

    /// Its quantities with the values of a row; for rows that are gathered from several tables.
    pub fn pairs<'t>(&'t self, row: &'t Row<'_>) -> impl Iterator<Item = (Quantity, f64)> + 't {
        self.quantities.iter().copied().zip(row.values.iter().copied())
    }

    /// A row; absent when the line is none: too few cells, or mostly no figures.
    pub fn row<'l>(&self, line: &'l str) -> Option<Row<'l>> {
        if self.quantities.is_empty() {
            return None;
        }
        let mut cells = line.split_ascii_whitespace();
        // Releases up to 5.1 have no name in the row of the system.
        let nameless = self.about == About::System && cells.clone().count() == self.columns.len();
        let name = if nameless || self.about == About::Processors { "" } else { cells.next()? };
        let mut row = Row { name, values: vec![f64::NAN; self.quantities.len()], time_s: None, bad: None };
        let (mut kept, mut good) = (0, 0);
        for column in &self.columns {
            let text = cells.next()?;
            let Some((at, cell)) = column else { continue };
            kept += 1;
            let Some(number) = value(*cell, text) else {
                if !matches!(text, "-" | "--" | "N/A") {
                    row.bad = row.bad.or(Some(text));
                }
                continue;
            };
            good += 1;
            let known = row.values[*at];
            row.values[*at] = if known.is_nan() { number } else { known + number };
        }
        if good * 2 < kept {
            return None;
        }
        if let Some(first) = cells.next() {
            let rest = cells.fold(first.to_owned(), |all, cell| all + " " + cell);
            row.time_s = Some(time_of_day(&rest)?);
        }
        Some(row)
    }

    /// Whether a line that is no row was meant as one.
    pub fn looks_like_row(&self, line: &str) -> bool {
        let cells = words(line);
        let figures = cells.iter().skip(1).filter(|c| value(Cell::Number(1.0), c).is_some()).count();
        figures > 0 && figures * 2 >= cells.len().saturating_sub(1) && figures * 2 >= self.columns.len()
    }
}
