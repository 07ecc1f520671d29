//! `iostat -x --pretty` prints several tables per report, each with some of the columns and with the name last; here they
//! become one row per device again.

use crate::out::Out;
use record::imported::{Interval, Origin, PlaceId, Quantity};

/// Devices of a report; more are pushed as they come.
const DEVICES_MAX: usize = 16_384;

/// A row as far as it is known.
type Held = (PlaceId, Origin, Vec<(Quantity, f64)>);

/// Rows of the report that is being read.
#[derive(Debug, Default)]
pub(super) struct Split {
    rows: Vec<Held>,
    interval: Interval,
    /// Where the next row is looked for: tables repeat the order of the one before.
    next: usize,
}

impl Split {
    /// A table of the report begins.
    pub fn begin_table(&mut self, out: &Out<'_>) {
        self.interval = out.current_interval();
        self.next = 0;
    }

    /// Part of a row.
    pub fn add(&mut self, place: PlaceId, quantities: &[Quantity], values: &[f64], out: &mut Out<'_>) {
        let at = match self.rows.get(self.next).filter(|(known, ..)| *known == place) {
            Some(_) => Some(self.next),
            None => self.rows.iter().position(|(known, ..)| *known == place),
        };
        let at = at.unwrap_or_else(|| {
            if self.rows.len() >= DEVICES_MAX {
                self.push(out);
            }
            self.rows.push((place, out.origin(), Vec::new()));
            self.rows.len() - 1
        });
        self.next = at + 1;
        self.rows[at].2.extend(quantities.iter().copied().zip(values.iter().copied()));
    }

    /// The report has ended. The interval begun last is left as it was.
    pub fn push(&mut self, out: &mut Out<'_>) {
        if self.rows.is_empty() {
            return;
        }
        let now = out.current_interval();
        out.interval(self.interval);
        for (place, mut origin, values) in self.rows.drain(..) {
            if origin.block != out.origin().block {
                // Its text has gone.
                (origin.block, origin.start, origin.end) = (out.origin().block, 0, 0);
            }
            out.put_from(origin, place, &values);
        }
        out.interval(now);
    }
}
