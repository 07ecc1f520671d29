//! Windows counted in cells of throughput and response time: the scatter, bounded however long the recording is.

use super::window::{IOS_MIN, Sums};
use serde::Serialize;
use stats::station::Seen;
use std::collections::HashMap;

/// Width of a cell in logarithms: 5 %.
const STEP: f64 = 0.05;
/// Parts of the recording that can be left out one by one.
pub(crate) const PARTS: usize = 12;
/// Cells handed out at most: more tell a curve no better and cost time.
const CELLS_MAX: usize = 300;
/// A part begins with this length; when there are twice as many as needed, neighbours are joined.
const PART_S: f64 = 60.0;

/// Some time at about one throughput and one response time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Cell {
    /// Requests per second.
    pub iops: f64,
    /// MiB (2^20) per second.
    pub mib_per_s: f64,
    /// Mean response time by Little's law, microseconds.
    pub response_us: f64,
    /// Mean I/Os inside.
    pub standing: f64,
    /// Of those, in the host queue; absent where that could not be told.
    pub host_queue: Option<f64>,
    /// Of those, at the device.
    pub device_queue: Option<f64>,
    /// How long it was so.
    pub seconds: f64,
}

/// Cells of some stretch of time.
#[derive(Clone, Debug, Default)]
pub(crate) struct Part {
    pub cells: HashMap<(i16, i16), Sums>,
    /// All windows, quiet ones included.
    pub seconds: f64,
}

impl Part {
    fn add(&mut self, window: &Sums) {
        self.seconds += window.seconds;
        if window.requests >= IOS_MIN && window.inside > 0.0 {
            let place = |value: f64| (value.ln() / STEP).round().clamp(-32_000.0, 32_000.0) as i16;
            let key = (place(window.iops()), place(window.response_s()));
            self.cells.entry(key).or_default().merge(window);
        }
    }

    fn join(&mut self, other: Self) {
        self.seconds += other.seconds;
        for (key, sums) in other.cells {
            self.cells.entry(key).or_default().merge(&sums);
        }
    }
}

/// All cells of a device, by parts of the recording in the order of time.
#[derive(Clone, Debug)]
pub(crate) struct Cells {
    parts: Vec<Part>,
    part_s: f64,
}

impl Default for Cells {
    fn default() -> Self {
        Self { parts: Vec::new(), part_s: PART_S }
    }
}

impl Cells {
    pub fn add(&mut self, window: &Sums) {
        if self.parts.last().is_none_or(|p| p.seconds >= self.part_s) {
            if self.parts.len() == 2 * PARTS {
                let mut joined: Vec<Part> = Vec::with_capacity(2 * PARTS);
                for (index, part) in std::mem::take(&mut self.parts).into_iter().enumerate() {
                    match joined.last_mut() {
                        Some(last) if index % 2 == 1 => last.join(part),
                        _ => joined.push(part),
                    }
                }
                self.parts = joined;
                self.part_s *= 2.0;
            }
            self.parts.push(Part::default());
        }
        if let Some(part) = self.parts.last_mut() {
            part.add(window);
        }
    }

    /// Parts in the order of time.
    pub fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// Cells of the parts that `which` chooses, by throughput and response time; wider ones where they would be too many.
    pub fn sums(&self, which: impl Fn(usize) -> bool) -> Vec<Sums> {
        let mut all: HashMap<(i16, i16), Sums> = HashMap::new();
        for (_, part) in self.parts.iter().enumerate().filter(|(index, _)| which(*index)) {
            for (key, sums) in &part.cells {
                all.entry(*key).or_default().merge(sums);
            }
        }
        while all.len() > CELLS_MAX {
            let mut wider: HashMap<(i16, i16), Sums> = HashMap::new();
            for ((iops, response), sums) in all {
                wider.entry((iops.div_euclid(2), response.div_euclid(2))).or_default().merge(&sums);
            }
            all = wider;
        }
        let mut cells: Vec<_> = all.into_iter().collect();
        cells.sort_by_key(|(key, _)| *key);
        cells.into_iter().map(|(_, sums)| sums).collect()
    }
}

/// A cell counts by the square root of its time, so that a few minutes at the peak are not drowned by a quiet week.
pub(crate) fn seen(cells: &[Sums]) -> Vec<Seen> {
    let one = |s: &Sums| Seen { throughput: s.iops(), response_s: s.response_s(), weight: s.seconds.sqrt() };
    cells.iter().map(one).collect()
}

impl From<&Sums> for Cell {
    fn from(s: &Sums) -> Self {
        let host_queue = s.host_share().map(|share| share * s.standing());
        Self {
            iops: s.iops(),
            mib_per_s: s.bytes / s.seconds.max(1e-9) / f64::from(1 << 20),
            response_us: s.response_s() * 1e6,
            standing: s.standing(),
            host_queue,
            device_queue: host_queue.map(|host| s.standing() - host),
            seconds: s.seconds,
        }
    }
}
