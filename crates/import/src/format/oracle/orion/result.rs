//! Results of Orion: `Maximum Small IOPS=19019 @ Small=5 and Large=0`, latencies, histograms.

use crate::text::number::decimal;

/// Beginnings of results. Two may share a line.
const RESULTS: [&str; 9] = [
    "Maximum Large MBPS=",
    "Maximum Small IOPS=",
    "Minimum Small Latency=",
    "Small Read Latency:",
    "Small Write Latency:",
    "Large Read Latency:",
    "Large Write Latency:",
    "Small Read / Write Latency Histogram",
    "Large Read / Write Latency Histogram",
];

/// I/Os kept outstanding at a data point: small and large ones.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Point {
    pub small: f64,
    pub large: f64,
}

/// A result.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum What {
    /// Small I/Os per second.
    Iops(f64),
    /// Megabytes per second of large I/Os.
    Mbps(f64),
    /// Mean time of small I/Os, and the microseconds of its unit where it has one.
    Latency(f64, Option<f64>),
    /// Mean, shortest and longest time, microseconds.
    Times { is_write: bool, is_large: bool, mean_us: f64, min_us: f64, max_us: f64 },
    /// A histogram follows.
    Histogram { is_large: bool },
}

/// Splits a line where results begin; absent when it has none.
pub(super) fn split(line: &str) -> Option<Vec<&str>> {
    let mut starts: Vec<usize> =
        RESULTS.iter().flat_map(|start| line.match_indices(start).map(|(at, _)| at)).collect();
    starts.sort_unstable();
    starts.first()?;
    let ends = starts.iter().skip(1).copied().chain([line.len()]);
    Some(starts.iter().zip(ends).map(|(from, to)| line[*from..to].trim()).collect())
}

/// Reads one result and its point. Absent when it is damaged.
pub(super) fn read(text: &str) -> Option<(What, Option<Point>)> {
    let (body, point) = match text.split_once('@') {
        Some((body, point)) => (body.trim(), Some(point_of(point)?)),
        None => (text, None),
    };
    let after = |start: &str| body.strip_prefix(start).map(str::trim);
    let what = if let Some(rest) = after("Maximum Large MBPS=") {
        What::Mbps(decimal(rest)?)
    } else if let Some(rest) = after("Maximum Small IOPS=") {
        What::Iops(decimal(rest)?)
    } else if let Some(rest) = after("Minimum Small Latency=") {
        let (number, unit) = rest.split_once(' ').unwrap_or((rest, ""));
        What::Latency(decimal(number)?, if unit.trim().is_empty() { None } else { Some(unit_us(unit)?) })
    } else if body.contains("Histogram") {
        What::Histogram { is_large: body.starts_with("Large") }
    } else {
        let (head, rest) = body.split_once(':')?;
        let of = |name: &str| {
            let value = rest.split(',').find_map(|part| part.trim().strip_prefix(name)?.strip_prefix('='))?;
            let (number, unit) = value.split_once(' ').unwrap_or((value, "us"));
            Some(decimal(number)? * unit_us(unit)?)
        };
        What::Times {
            is_write: head.contains("Write"),
            is_large: head.starts_with("Large"),
            mean_us: of("avg")?,
            min_us: of("min").unwrap_or(f64::NAN),
            max_us: of("max").unwrap_or(f64::NAN),
        }
    };
    Some((what, point))
}

/// ` Small=5 and Large=0`
pub(super) fn point_of(text: &str) -> Option<Point> {
    let of = |name: &str| {
        let lower = text.to_ascii_lowercase();
        let rest = &lower[lower.find(name)? + name.len()..];
        let digits = rest.trim_start_matches([' ', '=', ':']);
        let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
        digits[..end].parse().ok()
    };
    Some(Point { small: of("small")?, large: of("large")? })
}

/// Microseconds of a unit of time.
pub(super) fn unit_us(unit: &str) -> Option<f64> {
    match unit.trim().trim_end_matches('.') {
        "us" | "usec" | "usecs" | "microseconds" => Some(1.0),
        "ms" | "msec" | "msecs" | "milliseconds" => Some(1e3),
        "s" | "sec" | "secs" | "seconds" => Some(1e6),
        _ => None,
    }
}

/// A row of a histogram: `64 - 128  us:  1112243 ( 91.12%)   0 (  0.00%)`: upper bound, reads, writes. The percents are
/// cumulative, and are left. Absent when the line is none.
pub(super) fn bucket(line: &str) -> Option<(f64, f64, Option<f64>)> {
    let (range, counts) = line.split_once(':')?;
    let (_, upper) = range.split_once('-')?;
    let mut upper = upper.split_ascii_whitespace();
    let bound = decimal(upper.next()?)? * unit_us(upper.next()?)?;
    let mut numbers = counts.split('(').map(|part| part.rsplit_once(')').map_or(part, |(_, after)| after));
    let reads = decimal(numbers.next()?.trim())?;
    let writes = numbers.next().map(str::trim).filter(|t| !t.is_empty()).and_then(decimal);
    Some((bound, reads, writes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_results_of_one_line() {
        let line = "Small Write Latency: avg=73935.104 us, min=62631.574 us, max=187240.852 us, std dev=12 us @ Small=68 and Large=0Minimum Small Latency=4409.929 usec";
        let parts = split(line).unwrap();
        let (times, point) = read(parts[0]).unwrap();
        let expected = What::Times {
            is_write: true,
            is_large: false,
            mean_us: 73_935.104,
            min_us: 62_631.574,
            max_us: 187_240.852,
        };
        assert_eq!((times, point), (expected, Some(Point { small: 68.0, large: 0.0 })));
        assert_eq!(read(parts[1]), Some((What::Latency(4409.929, Some(1.0)), None)));
        assert_eq!(split("Setting ftype=0"), None);
        assert_eq!(read("Maximum Small IOPS=19x @ Small=5 and Large=0"), None);
    }

    #[test]
    fn buckets_with_reads_and_writes() {
        let line = "       64 - 128        us:         1112243 ( 91.12%)              7 (  0.00%)";
        assert_eq!(bucket(line), Some((128.0, 1_112_243.0, Some(7.0))));
        assert_eq!(bucket(" 4096 - 268435456  us:  0 (100.00%)"), Some((268_435_456.0, 0.0, None)));
        assert_eq!((bucket("        Latency:   # of IOs (read)"), bucket("x - y us: 1")), (None, None));
    }
}
