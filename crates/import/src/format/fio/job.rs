//! What fio says about a job and the disks below it, whatever it printed it as.

use crate::format::linux::device;
use crate::out::Out;
use record::imported::Quantity::{self, *};
use record::imported::{Basis, Interval, PlaceKind, RowsKind};

/// Above this fio's histogram ends (2^34 ns): a percentile that stands here was cut off.
const PERCENTILE_LIMIT_US: f64 = 17_112_760.0;

/// Times of one direction, microseconds; NaN where not told.
#[derive(Clone, Debug)]
pub(super) struct Times {
    pub min_us: f64,
    pub max_us: f64,
    pub mean_us: f64,
}

impl Default for Times {
    fn default() -> Self {
        Self { min_us: f64::NAN, max_us: f64::NAN, mean_us: f64::NAN }
    }
}

/// Reads, writes, trims, or all of them mixed (option `unified_rw_reporting`).
#[derive(Clone, Debug)]
pub(super) struct Direction {
    /// I/Os completed.
    pub ios: f64,
    pub iops: f64,
    pub bytes_per_s: f64,
    pub runtime_s: f64,
    /// From fio's call to submission.
    pub submit: Times,
    /// From submission to completion.
    pub completion: Times,
    /// Both together.
    pub total: Times,
    /// Percent and microseconds; of completion times unless fio was told otherwise.
    pub percentiles: Vec<(f64, f64)>,
}

impl Default for Direction {
    fn default() -> Self {
        Self {
            ios: f64::NAN,
            iops: f64::NAN,
            bytes_per_s: f64::NAN,
            runtime_s: f64::NAN,
            submit: Times::default(),
            completion: Times::default(),
            total: Times::default(),
            percentiles: Vec::new(),
        }
    }
}

impl Direction {
    /// Whether it did any I/O.
    pub fn is_used(&self) -> bool {
        self.ios > 0.0 || self.iops > 0.0 || self.bytes_per_s > 0.0
    }

    /// From call to completion; of engines that do not tell, from submission to completion.
    fn response(&self) -> &Times {
        if self.total.mean_us.is_nan() { &self.completion } else { &self.total }
    }

    fn percentile(&self, percent: f64) -> f64 {
        let at = self.percentiles.iter().find(|(p, _)| (p - percent).abs() < 1e-3);
        at.map_or(f64::NAN, |(_, us)| *us)
    }
}

/// One job, or a group of them reported together.
#[derive(Clone, Debug)]
pub(super) struct Job {
    pub name: String,
    pub read: Direction,
    pub write: Direction,
    pub trim: Direction,
    pub mixed: Direction,
    /// fsync and the like: how many, and how long.
    pub syncs: f64,
    pub sync: Times,
    /// I/Os that the job keeps outstanding, as asked.
    pub concurrency: f64,
    /// Processor time, percent of one processor.
    pub user_percent: f64,
    pub system_percent: f64,
    /// When it ended, and what that counts from.
    pub at_s: f64,
    pub basis: Basis,
}

impl Default for Job {
    fn default() -> Self {
        Self {
            name: String::new(),
            read: Direction::default(),
            write: Direction::default(),
            trim: Direction::default(),
            mixed: Direction::default(),
            syncs: f64::NAN,
            sync: Times::default(),
            concurrency: f64::NAN,
            user_percent: f64::NAN,
            system_percent: f64::NAN,
            at_s: f64::NAN,
            basis: Basis::SinceStart,
        }
    }
}

impl Job {
    /// Says it; true when percentiles stand at fio's limit.
    pub fn push(&self, out: &mut Out<'_>) -> bool {
        let directions = [&self.read, &self.write, &self.trim, &self.mixed];
        let length_s = directions.iter().map(|d| d.runtime_s).fold(f64::NAN, f64::max);
        let length_s = if length_s > 0.0 { length_s } else { f64::NAN };
        out.interval(Interval { at_s: self.at_s, length_s, basis: self.basis, kind: RowsKind::Period });
        let place = out.place(PlaceKind::Job, &self.name);
        let used: Vec<&Direction> = directions.into_iter().filter(|d| d.is_used()).collect();
        let mut row = Vec::with_capacity(48);
        one_direction(&self.read, &READ, &mut row);
        one_direction(&self.write, &WRITE, &mut row);
        one_direction(&self.trim, &TRIM, &mut row);
        one_direction(&self.mixed, &MIXED, &mut row);
        row.push((ResponseUs, weighted(&used, |d| d.response().mean_us)));
        row.push((SubmitUs, weighted(&used, |d| d.submit.mean_us)));
        row.push((ResponseMinUs, used.iter().map(|d| d.response().min_us).fold(f64::NAN, f64::min)));
        row.push((ResponseMaxUs, used.iter().map(|d| d.response().max_us).fold(f64::NAN, f64::max)));
        // Percentiles of two directions do not make those of both.
        let only = if let [only] = used.as_slice() { Some(*only) } else { None };
        for (quantity, percent) in
            [(ResponseP50Us, 50.0), (ResponseP95Us, 95.0), (ResponseP99Us, 99.0), (ResponseP999Us, 99.9)]
        {
            row.push((quantity, only.map_or(f64::NAN, |d| d.percentile(percent))));
        }
        if self.syncs > 0.0 || self.sync.mean_us > 0.0 {
            row.push((Flushes, self.syncs));
            row.push((FlushResponseUs, self.sync.mean_us));
        }
        row.push((Concurrency, self.concurrency));
        row.push((CpuUserPercent, self.user_percent));
        row.push((CpuSystemPercent, self.system_percent));
        out.put(place, &row);
        used.iter().any(|d| d.percentile(99.9) >= PERCENTILE_LIMIT_US)
    }
}

/// Quantities of a direction: I/Os per second, bytes per second, I/Os, size, mean time, longest time, percentiles.
struct Names {
    iops: Quantity,
    bytes_per_s: Quantity,
    ios: Quantity,
    size: Quantity,
    mean: Option<Quantity>,
    max: Option<Quantity>,
    percentiles: &'static [(Quantity, f64)],
}

const READ: Names = Names {
    iops: ReadIops,
    bytes_per_s: ReadBytesPerS,
    ios: Reads,
    size: ReadSizeBytes,
    mean: Some(ReadResponseUs),
    max: Some(ReadResponseMaxUs),
    percentiles: &[
        (ReadResponseP50Us, 50.0),
        (ReadResponseP95Us, 95.0),
        (ReadResponseP99Us, 99.0),
        (ReadResponseP999Us, 99.9),
    ],
};
const WRITE: Names = Names {
    iops: WriteIops,
    bytes_per_s: WriteBytesPerS,
    ios: Writes,
    size: WriteSizeBytes,
    mean: Some(WriteResponseUs),
    max: Some(WriteResponseMaxUs),
    percentiles: &[
        (WriteResponseP50Us, 50.0),
        (WriteResponseP95Us, 95.0),
        (WriteResponseP99Us, 99.0),
        (WriteResponseP999Us, 99.9),
    ],
};
const TRIM: Names = Names {
    iops: DiscardIops,
    bytes_per_s: DiscardBytesPerS,
    ios: Discards,
    size: DiscardSizeBytes,
    mean: Some(DiscardResponseUs),
    max: None,
    percentiles: &[],
};
const MIXED: Names = Names {
    iops: Iops,
    bytes_per_s: BytesPerS,
    ios: Ios,
    size: RequestBytes,
    mean: None,
    max: None,
    percentiles: &[],
};

fn one_direction(direction: &Direction, names: &Names, row: &mut Vec<(Quantity, f64)>) {
    row.push((names.iops, direction.iops));
    row.push((names.bytes_per_s, direction.bytes_per_s));
    row.push((names.ios, direction.ios));
    // Of no I/O fio prints times of 0, which are none.
    let used = |value: f64| if direction.is_used() { value } else { f64::NAN };
    row.push((
        names.size,
        if direction.iops > 0.0 { direction.bytes_per_s / direction.iops } else { f64::NAN },
    ));
    row.extend(names.mean.map(|q| (q, used(direction.response().mean_us))));
    row.extend(names.max.map(|q| (q, used(direction.response().max_us))));
    row.extend(names.percentiles.iter().map(|(q, percent)| (*q, used(direction.percentile(*percent)))));
}

/// Mean over directions, weighted by their I/Os.
fn weighted(used: &[&Direction], value: impl Fn(&Direction) -> f64) -> f64 {
    let (mut sum, mut weights) = (0.0, 0.0);
    for direction in used {
        let weight = if direction.ios > 0.0 { direction.ios } else { direction.iops };
        let of = value(direction);
        if of.is_finite() && weight.is_finite() {
            sum += of * weight;
            weights += weight;
        }
    }
    if weights > 0.0 { sum / weights } else { f64::NAN }
}

/// What fio saw a disk do while the jobs ran.
#[derive(Clone, Debug)]
pub(super) struct Disk {
    pub name: String,
    pub reads: f64,
    pub writes: f64,
    pub read_sectors: f64,
    pub write_sectors: f64,
    pub read_merges: f64,
    pub write_merges: f64,
    pub read_ms: f64,
    pub write_ms: f64,
    pub in_queue_ms: f64,
    pub busy_percent: f64,
}

impl Disk {
    /// Says it. Means follow from sums: fio prints none.
    pub fn push(&self, out: &mut Out<'_>) {
        let mean = |ms: f64, ios: f64| if ios > 0.0 { ms * 1e3 / ios } else { f64::NAN };
        let place = out.place(device::kind(&self.name), &self.name);
        out.put(
            place,
            &[
                (Reads, self.reads),
                (Writes, self.writes),
                (ReadBytes, self.read_sectors * 512.0),
                (WriteBytes, self.write_sectors * 512.0),
                (ReadMerges, self.read_merges),
                (WriteMerges, self.write_merges),
                (ReadTimeS, self.read_ms / 1e3),
                (WriteTimeS, self.write_ms / 1e3),
                (ReadResponseUs, mean(self.read_ms, self.reads)),
                (WriteResponseUs, mean(self.write_ms, self.writes)),
                (ResponseUs, mean(self.read_ms + self.write_ms, self.reads + self.writes)),
                (WeightedTimeS, self.in_queue_ms / 1e3),
                (BusyPercent, self.busy_percent),
            ],
        );
    }
}

/// I/Os that a job keeps outstanding: `iodepth` for engines that submit and go on, else one.
pub(super) fn depth(engine: Option<&str>, iodepth: Option<f64>) -> f64 {
    const SYNCHRONOUS: [&str; 10] =
        ["sync", "psync", "vsync", "pvsync", "pvsync2", "mmap", "splice", "falloc", "ftruncate", "cpuio"];
    // Without an engine: psync where the text is Linux, and synchronous nearly everywhere.
    let waits = engine.is_none_or(|e| SYNCHRONOUS.contains(&e));
    if waits { 1.0 } else { iodepth.unwrap_or(1.0) }
}

/// What is said when percentiles stand at the end of the histogram.
pub(super) const CUT_OFF: &str = "percentiles of 17.1 s are the end of fio's histogram: the truth is longer";
