//! Tables whose columns have names: what each column is, and rows of numbers under them.

use crate::out::{Layout, Out};
use crate::text::number::decimal;
use record::imported::{Origin, PlaceId, Quantity};

/// Bytes of a sector or block in the old Unix tools.
pub(crate) const SECTOR: f64 = 512.0;
/// Bytes of what these tools call a kilobyte.
pub(crate) const KIB: f64 = 1024.0;
/// Bytes of what these tools call a megabyte.
pub(crate) const MIB: f64 = 1_048_576.0;
/// Microseconds of a millisecond.
pub(crate) const US_PER_MS: f64 = 1000.0;
/// Columns of one table that are kept; no tool read through this has as many.
const KEPT_MAX: usize = 64;

/// What a column is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Column {
    /// What the row describes.
    Name,
    /// A number that is kept, times a factor.
    Kept(Quantity, f64),
    /// A number that is known and left out: it means nothing, follows from others, or is no matter of storage.
    Dropped,
    /// A column that is not known here.
    Unread,
}

/// The names of columns that are not known, for a remark; absent when there are none.
pub(crate) fn unread(names: &[&str], columns: &[Column]) -> Option<String> {
    let unknown = names.iter().zip(columns).filter(|(_, c)| **c == Column::Unread);
    let unknown: Vec<&str> = unknown.map(|(n, _)| *n).collect();
    (!unknown.is_empty())
        .then(|| format!("columns that are not known here were left unread: {}", unknown.join(" ")))
}

/// Numbers of a row; absent when one of the cells is none.
pub(crate) fn numbers<'c>(cells: impl IntoIterator<Item = &'c str>) -> Option<Vec<f64>> {
    cells.into_iter().map(decimal).collect()
}

/// The numbers of a table's rows, without the name.
#[derive(Clone, Debug)]
pub(crate) struct Table {
    /// Per number: its place in the row and its factor; `None` where it is not kept.
    slots: Vec<Option<(usize, f64)>>,
    layout: Layout,
    width: usize,
}

impl Table {
    /// Of columns; names among them count for nothing. A quantity that comes twice is kept once.
    pub fn new(columns: &[Column], out: &mut Out<'_>) -> Self {
        let mut quantities: Vec<Quantity> = Vec::new();
        let mut slots = Vec::new();
        for column in columns {
            match column {
                Column::Name => {}
                Column::Kept(quantity, factor)
                    if !quantities.contains(quantity) && quantities.len() < KEPT_MAX =>
                {
                    slots.push(Some((quantities.len(), *factor)));
                    quantities.push(*quantity);
                }
                _ => slots.push(None),
            }
        }
        Self { slots, layout: out.layout(&quantities), width: quantities.len() }
    }

    /// Numbers in a row.
    pub fn len(&self) -> usize {
        self.slots.len()
    }

    /// Whether any of them is kept.
    pub fn keeps(&self) -> bool {
        self.width > 0
    }

    /// Pushes a row of as many numbers as there are columns; absent ones are NaN.
    pub fn push(&self, place: PlaceId, numbers: &[f64], out: &mut Out<'_>) {
        self.push_from(out.origin(), place, numbers, out);
    }

    /// The same for a row that stands on an earlier line.
    pub fn push_from(&self, origin: Origin, place: PlaceId, numbers: &[f64], out: &mut Out<'_>) {
        let mut values = [f64::NAN; KEPT_MAX];
        for (slot, number) in self.slots.iter().zip(numbers) {
            if let Some((at, factor)) = slot
                && let Some(value) = values.get_mut(*at)
            {
                *value = number * factor;
            }
        }
        // Of a block that is gone no line can be quoted.
        let gone = origin.block != out.origin().block;
        let origin = if gone { Origin { start: 0, end: 0, ..origin } } else { origin };
        if self.keeps() {
            out.row_from(origin, self.layout, place, values.get(..self.width).unwrap_or(&values));
        }
    }
}
