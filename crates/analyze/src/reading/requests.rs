//! Traced requests and calls of one place, counted by size, with their times.

use record::imported::{Origin, Quantity, Rows};
use std::collections::BTreeMap;

/// Sizes told apart; rarer ones beyond that are counted together.
const SIZES_MAX: usize = 4096;

/// Requests of one size.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct OfSize {
    /// How many.
    pub count: u64,
    /// The first of them.
    pub first: Origin,
}

/// What was traced.
#[derive(Clone, Debug, Default)]
pub struct Requests {
    /// How many.
    pub count: u64,
    /// Writes among them, where that is told.
    pub writes: u64,
    /// By size in bytes.
    pub sizes: BTreeMap<u64, OfSize>,
    /// Those of a size that was met too late to be counted by itself.
    pub other_sizes: u64,
    /// By page size asked for, bytes (memory maps).
    pub page_sizes: BTreeMap<u64, OfSize>,
    /// Time in the host, summed over those that tell it, and how many do.
    pub host_wait_us: (f64, u64),
    /// Time at the device.
    pub service_us: (f64, u64),
    /// Whole time.
    pub response_us: (f64, u64),
    /// Time in calls.
    pub call_us: (f64, u64),
    /// Calls told as counts (summaries).
    pub calls: f64,
    /// The first line.
    pub first: Option<Origin>,
}

impl Requests {
    pub(super) fn add(&mut self, rows: &Rows, n: usize) {
        let origin = rows.heads()[n].origin;
        self.count += 1;
        self.first.get_or_insert(origin);
        for (quantity, value) in rows.quantities().iter().zip(rows.row(n)).filter(|(_, v)| !v.is_nan()) {
            let add = |sum: &mut (f64, u64)| *sum = (sum.0 + value, sum.1 + 1);
            match quantity {
                Quantity::RequestBytes | Quantity::CallBytes | Quantity::MappedBytes => {
                    let is_counted = count(&mut self.sizes, *value, origin);
                    self.other_sizes += u64::from(!is_counted);
                }
                Quantity::PageBytes => {
                    count(&mut self.page_sizes, *value, origin);
                }
                Quantity::IsWrite => self.writes += u64::from(*value > 0.5),
                Quantity::HostWaitUs => add(&mut self.host_wait_us),
                Quantity::ServiceUs => add(&mut self.service_us),
                Quantity::ResponseUs => add(&mut self.response_us),
                Quantity::CallUs => add(&mut self.call_us),
                Quantity::Calls => self.calls += value,
                _ => {}
            }
        }
    }

    /// Mean of one of the sums; NaN where nothing told it.
    pub fn mean((sum, count): (f64, u64)) -> f64 {
        sum / count as f64
    }
}

fn count(sizes: &mut BTreeMap<u64, OfSize>, bytes: f64, first: Origin) -> bool {
    let bytes = bytes.max(0.0) as u64;
    if sizes.len() >= SIZES_MAX && !sizes.contains_key(&bytes) {
        return false;
    }
    sizes.entry(bytes).or_insert(OfSize { count: 0, first }).count += 1;
    true
}
