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
        return per_io(lines, median);
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
    if median > 0.0 && median < 1000.0 {
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
    if median < 60_000.0 {
        return Kind {
            quantities: SUBMIT,
            factor: 1e-3,
            why: "read as submission latency (slat) in nanoseconds: values are below 60 us; it could be a latency log (clat, lat) of a very fast device, or a bandwidth log",
        };
    }
    Kind {
        quantities: LATENCY,
        factor: 1e-3,
        why: "read as latency in nanoseconds: times are not round; a clat log leaves submission out, a lat log does not, and the text does not say which it is",
    }
}

/// A line for each I/O: latency times rate is what was outstanding, of nanoseconds a number of I/Os.
fn per_io(lines: &[Line], median: f64) -> Kind {
    let span_ms = lines.last().map_or(0.0, |l| l.time_ms) - lines.first().map_or(0.0, |l| l.time_ms);
    let rate = lines.len() as f64 / (span_ms.max(1.0) / 1e3);
    let sum: f64 = lines.iter().map(|l| l.value).sum();
    let outstanding = sum / lines.len().max(1) as f64 * rate / 1e9;
    let bytes: f64 = lines.iter().map(|l| l.bytes).sum();
    let throughput_kib = bytes / 1024.0 / (span_ms.max(1.0) / 1e3);
    // One I/O at a time at the bandwidth of the lines makes at most the throughput of all of them.
    let by_bandwidth = throughput_kib / median.max(1.0);
    if (0.5..4096.0).contains(&outstanding) {
        return latency_ns(median);
    }
    if (0.5..4096.0).contains(&(outstanding * 1e3)) && median < 1e6 && !(0.8..1.25).contains(&by_bandwidth) {
        return Kind {
            quantities: LATENCY,
            factor: 1.0,
            why: "read as latency in microseconds (fio 2): times the rate of the lines it makes a number of I/Os outstanding; it could be a bandwidth log",
        };
    }
    if (0.5..4096.0).contains(&by_bandwidth) {
        return Kind {
            quantities: BYTES,
            factor: 1024.0,
            why: "read as KiB/s of single I/Os: as nanoseconds the values would be too short for the rate of the lines; it could be a submission latency log",
        };
    }
    latency_ns(median)
}

fn gcd(a: u64, b: u64) -> u64 {
    let (mut a, mut b) = (a, b);
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}
