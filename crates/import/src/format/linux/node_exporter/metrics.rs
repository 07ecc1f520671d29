//! Samples of the text format, and which metrics are kept.

use record::imported::Quantity::{self, *};

const SECTOR: f64 = 512.0;
const MS: f64 = 1e-3;
/// A word of a Fibre Channel frame.
const FC_WORD: f64 = 4.0;

/// One line: `name{label="value",...} value [time in ms]`.
pub(super) struct Sample<'l> {
    pub name: &'l str,
    labels: &'l str,
    pub value: f64,
    /// Seconds since 1970, where the sample carries a time.
    pub at_s: Option<f64>,
}

/// Reads a line; absent when it is no sample.
pub(super) fn sample(line: &str) -> Option<Sample<'_>> {
    let is_name = |b: u8| b.is_ascii_alphanumeric() || b == b'_' || b == b':';
    let end = line.bytes().position(|b| !is_name(b))?;
    let (name, rest) = line.split_at(end);
    if name.is_empty() || name.as_bytes()[0].is_ascii_digit() {
        return None;
    }
    let (labels, rest) = match rest.strip_prefix('{') {
        Some(inner) => {
            let end = labels_end(inner)?;
            (&inner[..end], &inner[end + 1..])
        }
        None => ("", rest.strip_prefix([' ', '\t'])?),
    };
    let mut cells = rest.split_ascii_whitespace();
    let value = cells.next()?;
    let value = match value {
        "+Inf" | "Inf" | "-Inf" | "NaN" => f64::NAN,
        number => {
            number.parse().ok().filter(|_| number.starts_with(|c: char| c.is_ascii_digit() || c == '-'))?
        }
    };
    // Milliseconds in the format of Prometheus, seconds with a point in OpenMetrics.
    let at_s = cells.next().filter(|t| !t.starts_with('#')).and_then(|t| {
        let number: f64 = t.parse().ok()?;
        Some(if number > 1e11 { number / 1000.0 } else { number })
    });
    Some(Sample { name, labels, value, at_s })
}

/// Where the labels end; braces within quotation marks do not count.
fn labels_end(text: &str) -> Option<usize> {
    let (mut quoted, mut escaped) = (false, false);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            b'"' => quoted = !quoted,
            b'}' if !quoted => return Some(at),
            _ => {}
        }
    }
    None
}

impl Sample<'_> {
    /// The value of a label, escapes resolved.
    pub fn label(&self, wanted: &str) -> Option<String> {
        let mut rest = self.labels;
        loop {
            let (name, after) = rest.split_once('=')?;
            let after = after.trim_start().strip_prefix('"')?;
            let (mut value, mut escaped, mut end) = (String::new(), false, None);
            for (at, c) in after.char_indices() {
                match c {
                    'n' if escaped => value.push('\n'),
                    c if escaped => value.push(c),
                    '\\' => {}
                    '"' => {
                        end = Some(at);
                        break;
                    }
                    c => value.push(c),
                }
                escaped = c == '\\' && !escaped;
            }
            if name.trim().trim_start_matches(',').trim() == wanted {
                return Some(value);
            }
            rest = &after[end? + 1..];
        }
    }
}

/// What a metric is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Metric {
    /// The time of the scrape.
    Time,
    /// A counter or gauge of a block device.
    Device(Quantity, f64),
    /// A gauge of the host.
    Host(Quantity),
    /// A counter of a Fibre Channel port.
    Port(Quantity, f64),
    /// A count of errors of a port since its reset.
    PortCount,
    /// Processor time by mode.
    Processor,
    /// Labels tell name and release of the host.
    HostInfo,
    /// Labels tell what a device is.
    DeviceInfo,
    /// Labels tell what a port is.
    PortInfo,
}

/// The metric of a name; those of 0.15 and before had no `_total` and other units.
pub(super) fn metric(name: &str) -> Option<Metric> {
    use Metric::{Device, Host, Port};
    if let Some(disk) = name.strip_prefix("node_disk_") {
        let (quantity, factor) = match disk.strip_suffix("_total").unwrap_or(disk) {
            "reads_completed" => (Reads, 1.0),
            "reads_merged" => (ReadMerges, 1.0),
            "read_bytes" | "bytes_read" => (ReadBytes, 1.0),
            "sectors_read" => (ReadBytes, SECTOR),
            "read_time_seconds" => (ReadTimeS, 1.0),
            "read_time_ms" => (ReadTimeS, MS),
            "writes_completed" => (Writes, 1.0),
            "writes_merged" => (WriteMerges, 1.0),
            "written_bytes" | "bytes_written" => (WriteBytes, 1.0),
            "sectors_written" => (WriteBytes, SECTOR),
            "write_time_seconds" => (WriteTimeS, 1.0),
            "write_time_ms" => (WriteTimeS, MS),
            "discards_completed" => (Discards, 1.0),
            "discards_merged" => (DiscardMerges, 1.0),
            "discarded_sectors" => (DiscardBytes, SECTOR),
            "discard_time_seconds" => (DiscardTimeS, 1.0),
            "flush_requests" => (Flushes, 1.0),
            "flush_requests_time_seconds" => (FlushTimeS, 1.0),
            "io_now" => (OutstandingInstant, 1.0),
            "io_time_seconds" => (BusyTimeS, 1.0),
            "io_time_ms" => (BusyTimeS, MS),
            "io_time_weighted_seconds" => (WeightedTimeS, 1.0),
            "io_time_weighted" => (WeightedTimeS, MS),
            "info" | "device_mapper_info" => return Some(Metric::DeviceInfo),
            _ => return None,
        };
        return Some(Device(quantity, factor));
    }
    Some(match name {
        "node_time_seconds" | "node_time" => Metric::Time,
        "node_cpu_seconds_total" | "node_cpu" => Metric::Processor,
        "node_uname_info" => Metric::HostInfo,
        "node_load1" => Host(Load1),
        "node_procs_running" => Host(RunQueue),
        "node_procs_blocked" => Host(BlockedTasks),
        "node_memory_MemFree_bytes" | "node_memory_MemFree" => Host(FreeBytes),
        "node_memory_Buffers_bytes" | "node_memory_Buffers" => Host(CacheBytes),
        "node_memory_Cached_bytes" | "node_memory_Cached" => Host(CacheBytes),
        "node_fibrechannel_info" => Metric::PortInfo,
        "node_fibrechannel_rx_words_total" => Port(ReadBytes, FC_WORD),
        "node_fibrechannel_tx_words_total" => Port(WriteBytes, FC_WORD),
        _ if name.starts_with("node_fibrechannel_") && name.ends_with("_total") => Metric::PortCount,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_with_labels_escapes_and_times() {
        let got = sample(r#"node_disk_info{device="dm-0",name="a\"}\\b"} 1 1395066363000"#).unwrap();
        assert_eq!((got.name, got.value, got.at_s), ("node_disk_info", 1.0, Some(1_395_066_363.0)));
        assert_eq!(got.label("name").as_deref(), Some("a\"}\\b"));
        assert_eq!((got.label("device").as_deref(), got.label("none")), (Some("dm-0"), None));
        assert_eq!(sample("node_load1 0.21").map(|s| s.value), Some(0.21));
        assert_eq!(
            sample("node_x 1.2e+06 # {trace=\"1\"} 1").map(|s| (s.value, s.at_s)),
            Some((1.2e6, None))
        );
        for bad in ["", "# HELP x", "node_x", "node_x{a=\"1\" 2", "node_x{a=\"1\"}", "node_x abc", "12 13"] {
            assert!(sample(bad).is_none(), "{bad}");
        }
    }
}
