//! What the figures of a fio log are. Nothing in the text says it: all logs are `time, value, direction, size`.

use record::imported::Quantity;

/// One line: `time ms, value, direction, size[, offset]`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Line {
    pub time_ms: f64,
    pub value: f64,
    /// 0 reads, 1 writes, 2 trims.
    pub direction: u8,
    /// Bytes of the I/O; 0 when the line stands for many.
    pub bytes: f64,
    /// It has more than these: version 3, whose times are nanoseconds.
    pub is_wide: bool,
}

/// What was decided.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Kind {
    /// The quantity of reads, writes, trims.
    pub quantities: [Quantity; 3],
    /// From the text's unit to the quantity's.
    pub factor: f64,
    /// What it was decided by, and what else it could be.
    pub why: &'static str,
}

const LATENCY: [Quantity; 3] =
    [Quantity::ReadResponseUs, Quantity::WriteResponseUs, Quantity::DiscardResponseUs];
const RATE: [Quantity; 3] = [Quantity::ReadIops, Quantity::WriteIops, Quantity::DiscardIops];
const BYTES: [Quantity; 3] = [Quantity::ReadBytesPerS, Quantity::WriteBytesPerS, Quantity::DiscardBytesPerS];
const SUBMIT: [Quantity; 3] = [Quantity::SubmitUs; 3];

/// Decides by the first lines: by their spacing, their common divisor, and their size.
pub(super) fn decide(lines: &[Line]) -> Kind {
    let mut values: Vec<f64> = lines.iter().map(|l| l.value).filter(|v| *v > 0.0).collect();
    values.sort_by(f64::total_cmp);
    let median = values.get(values.len() / 2).copied().unwrap_or(0.0);
    let each = lines.iter().all(|l| l.bytes > 0.0);
    if each && values.len() > 1 && values.iter().all(|v| *v == 1.0) {
        return Kind {
            quantities: RATE,
            factor: 1.0,
            why: "read as I/Os per second: each line counts one I/O",
        };
    }
    if each {
        return per_io(lines, &values, median);
    }
    // Rates are taken by the clock, latencies when an I/O completes: their times are not round.
    let step = lines.iter().map(|l| l.time_ms as u64).fold(0, gcd);
    let round = lines.len() > 2 && step >= 50;
    if round {
        let common = values.iter().map(|v| *v as u64).fold(0, gcd);
        if common >= 4 && values.len() > 2 || median > 200_000.0 && median < 1e8 && common > 1 {
            return Kind {
                quantities: BYTES,
                factor: 1024.0,
                why: "read as KiB/s of a bandwidth log: times are round and values have a common divisor; it could be an IOPS or latency log",
            };
        }
        if median < 100_000.0 {
            return Kind {
                quantities: RATE,
                factor: 1.0,
                why: "read as I/Os per second: times are round and values are small; it could be a bandwidth log (KiB/s), or a latency log",
            };
        }
    }
    if median > 0.0 && median < 1000.0 && !lines.iter().all(|l| l.is_wide) {
        return Kind {
            quantities: LATENCY,
            factor: 1.0,
            why: "read as latency in microseconds (fio 2): values are below 1000; it could be a bandwidth or IOPS log",
        };
    }
    latency_ns(median)
}

/// Nanoseconds; so short that only submission takes it, or a response.
fn latency_ns(median: f64) -> Kind {
    if median < 60_000.0 { submit() } else { latency() }
}

fn submit() -> Kind {
    Kind {
        quantities: SUBMIT,
        factor: 1e-3,
        why: "read as submission latency (slat) in nanoseconds: values are short; it could be a latency log (clat, lat) of a very fast device or of cached I/O, or a bandwidth log",
    }
}

fn latency() -> Kind {
    Kind {
        quantities: LATENCY,
        factor: 1e-3,
        why: "read as latency in nanoseconds; a clat log leaves submission out, a lat log does not, a slat log holds nothing else, and the text does not say which it is",
    }
}

/// Below this a line for each I/O is more likely its submission than the whole of it.
const SUBMIT_NS: f64 = 20_000.0;

/// A line for each I/O.
fn per_io(lines: &[Line], sorted: &[f64], median: f64) -> Kind {
    match quotients(lines) {
        Some(true) => {
            return Kind {
                quantities: BYTES,
                factor: 1000.0,
                why: "read as kB/s of single I/Os: each value is their size over a whole number of nanoseconds or microseconds",
            };
        }
        // Times have a long tail, rates a short one, and the other way round below the median.
        None if median > 1000.0 && has_short_tail(sorted, median) => {
            return Kind {
                quantities: BYTES,
                factor: 1000.0,
                why: "read as kB/s of single I/Os: the values reach farther down than up, as those of times do not; it could be a latency log",
            };
        }
        _ => {}
    }
    let span_ms = lines.last().map_or(0.0, |l| l.time_ms) - lines.first().map_or(0.0, |l| l.time_ms);
    let rate = lines.len() as f64 / (span_ms.max(1.0) / 1e3);
    let mean = lines.iter().map(|l| l.value).sum::<f64>() / lines.len().max(1) as f64;
    // Microseconds that make so many I/Os outstanding would be next to none as nanoseconds.
    let is_new = lines.iter().all(|l| l.is_wide);
    let is_us =
        !is_new && (median < 1000.0 || median < 5000.0 && (0.5..4096.0).contains(&(mean * rate / 1e6)));
    if is_us {
        return Kind {
            quantities: LATENCY,
            factor: 1.0,
            why: "read as latency in microseconds (fio 2): as nanoseconds the values would be too short; it could be a submission latency log of fio 3",
        };
    }
    if median < SUBMIT_NS { submit() } else { latency() }
}

/// Whether all values are what fio makes of size and time, a quotient cut to a whole number. Told only where few whole
/// numbers are such quotients.
fn quotients(lines: &[Line]) -> Option<bool> {
    let mut answer = None;
    for scale in [1e6, 1e3] {
        let (mut doubt, mut fits) = (0.0, true);
        for line in lines.iter().filter(|l| l.value > 1.0) {
            let (product, value) = (line.bytes * scale, line.value);
            // How many of the numbers about this value are quotients.
            let share = (product / value / value).min(1.0);
            if share < 1.0 {
                doubt += share.max(1e-3).ln();
                let near = (product / value).floor();
                fits &=
                    [near, near + 1.0].iter().any(|time| *time > 0.0 && (product / time).floor() == value);
            }
        }
        if doubt < -7.0 {
            if fits {
                return Some(true);
            }
            answer = Some(false);
        }
    }
    answer
}

fn has_short_tail(sorted: &[f64], median: f64) -> bool {
    let at = |share: f64| sorted.get((sorted.len() as f64 * share) as usize).copied().unwrap_or(median);
    sorted.len() >= 50 && median / at(0.01).max(1.0) > 1.5 * at(0.99) / median
}

fn gcd(a: u64, b: u64) -> u64 {
    let (mut a, mut b) = (a, b);
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}
