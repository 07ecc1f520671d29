//! Processors: how their time was spent, in bounded memory.

use record::imported::Quantity::{self, *};
use record::imported::{Interval, Origin, Rows};

/// Points kept of one processor or host.
const POINTS_MAX: usize = 2048;
const WANTED: [Quantity; 14] = [
    CpuUserPercent,
    CpuNicePercent,
    CpuSystemPercent,
    CpuIowaitPercent,
    CpuIrqPercent,
    CpuSoftirqPercent,
    CpuStealPercent,
    CpuGuestPercent,
    CpuIdlePercent,
    RunQueue,
    BlockedTasks,
    SwapInBytesPerS,
    SwapOutBytesPerS,
    PagesScannedPerS,
];

/// How processor time was spent in one interval, percent; NaN where not told.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ProcessorPoint {
    /// End of the interval, as the source counts time.
    pub at_s: f64,
    /// Its length; NaN when unknown.
    pub length_s: f64,
    /// The line it stands in.
    pub origin: Origin,
    values: [f64; WANTED.len()],
}

impl ProcessorPoint {
    /// A number; NaN where not told.
    pub fn value(&self, quantity: Quantity) -> f64 {
        WANTED.iter().position(|q| *q == quantity).map_or(f64::NAN, |at| self.values[at])
    }

    /// Time in which the processor worked: user, system and interrupts. Waiting for I/O is idle time.
    pub fn working_percent(&self) -> f64 {
        let parts = [
            CpuUserPercent,
            CpuNicePercent,
            CpuSystemPercent,
            CpuIrqPercent,
            CpuSoftirqPercent,
            CpuGuestPercent,
        ];
        let known = parts.iter().map(|q| self.value(*q)).filter(|v| !v.is_nan());
        known.reduce(|a, b| a + b).unwrap_or_else(|| {
            let idle = [CpuIdlePercent, CpuIowaitPercent, CpuStealPercent].map(|q| self.value(q));
            100.0 - idle[0] - idle[1..].iter().filter(|v| !v.is_nan()).sum::<f64>()
        })
    }
}

/// Where the quantities of some rows stand.
pub(super) struct ProcessorColumns([Option<usize>; WANTED.len()]);

impl ProcessorColumns {
    pub fn of(rows: &Rows) -> Self {
        Self(WANTED.map(|q| rows.column(q)))
    }

    pub fn point(&self, values: &[f64], interval: &Interval, origin: Origin) -> ProcessorPoint {
        let values = self.0.map(|at| at.map_or(f64::NAN, |at| values[at]));
        ProcessorPoint { at_s: interval.at_s, length_s: interval.length_s, origin, values }
    }
}

/// Points in the order of time; every second one is dropped when there are too many.
#[derive(Clone, Debug, Default)]
pub struct ProcessorSeries {
    points: Vec<ProcessorPoint>,
    stride: u64,
    rows: u64,
}

impl ProcessorSeries {
    pub(super) fn add(&mut self, point: ProcessorPoint) {
        let stride = self.stride.max(1);
        if self.rows.is_multiple_of(stride) {
            self.points.push(point);
        }
        self.rows += 1;
        if self.points.len() > POINTS_MAX {
            let mut keep = false;
            self.points.retain(|_| {
                keep = !keep;
                keep
            });
            self.stride = stride * 2;
        }
    }

    /// The course.
    pub fn points(&self) -> &[ProcessorPoint] {
        &self.points
    }

    /// Mean of a number where it is known; NaN where it never is.
    pub fn mean(&self, of: impl Fn(&ProcessorPoint) -> f64) -> f64 {
        let known: Vec<f64> = self.points.iter().map(of).filter(|v| !v.is_nan()).collect();
        known.iter().sum::<f64>() / known.len() as f64
    }
}
