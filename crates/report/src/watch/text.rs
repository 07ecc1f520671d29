//! Samples as plain text, 80 columns: for pipes, logs and terminals that are looked at later.

use super::askers;
use super::cells::{self, amount, ms, name, queue, rate, shortened};
use super::view::{Line, View};
use crate::terminal::{Color, Style};
use analyze::Happening;
use record::{ClassTotals, Counted, DeviceSample, HostSample, SplitBy};
use std::fmt::Write;

/// Columns of a device's name.
const NAME: usize = 11;

/// What else to print.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TextOptions {
    /// A line for each class of requests below each device.
    pub classes: bool,
    /// Lines for the percentiles of host wait and service time below each device (traced).
    pub percentiles: bool,
    /// Lines for processes.
    pub processes: bool,
    /// Say what the source cannot see.
    pub unseen: bool,
}

/// Processes printed at most.
const PROCESSES: usize = 20;

const HEADING: [&str; 2] = [
    "                                 I/Os standing, mean        mean time, ms",
    "device         IOPS  MiB/s KiB/IO   host device  limit   host device    all fail",
];

/// One sample: a line with its time, headings, a line per device, then what should be said.
pub fn block(
    sample: &HostSample,
    happened: &[Happening],
    view: &View,
    options: TextOptions,
    style: Style,
) -> String {
    let mut text = String::new();
    let at = jiff::Timestamp::from_second(sample.at_s as i64).unwrap_or_default();
    let local = at.to_zoned(jiff::tz::TimeZone::system());
    let time = local.strftime("%Y-%m-%d %H:%M:%S %z");
    let _ = writeln!(text, "{time}, {:.2} s, by {}", sample.length_s, super::source(sample));
    if options.unseen {
        for unseen in &sample.unseen {
            remark(&mut text, unseen, style);
        }
    }
    for heading in HEADING {
        text.push_str(&painted(heading, "1", style));
        text.push('\n');
    }
    let lines = view.lines(sample);
    for line in &lines {
        device(&mut text, &sample.devices[line.place], line, options);
    }
    if lines.is_empty() {
        text.push_str("no device did any I/O since it was set up (--all shows those too)\n");
    }
    if options.processes {
        processes(&mut text, sample, view, &lines, style);
    }
    for said in remarks(sample, happened, &lines) {
        remark(&mut text, &said, style);
    }
    text.push('\n');
    text
}

fn remark(text: &mut String, said: &str, style: Style) {
    let indent = "  ";
    for part in crate::terminal::wrapped(&cells::safe(said), 80 - indent.len()) {
        text.push_str(&painted(&format!("{indent}{part}"), "33", style));
        text.push('\n');
    }
}

/// Who asked which device, or where no tracer knows that, who did I/O at all.
fn processes(text: &mut String, sample: &HostSample, view: &View, lines: &[Line], style: Style) {
    let shown = |device: &String| {
        view.named.is_empty() || lines.iter().any(|l| sample.devices[l.place].facts.name == *device)
    };
    let mut rows = askers::rows(sample, None);
    rows.retain(|r| r.device.as_ref().is_none_or(shown));
    if rows.is_empty() {
        return;
    }
    let heading = format!(
        "{:22}{:10}{:>9}{:>9}{:>8}{:>8}  {}",
        "process", "device", "reads/s", "writes/s", "MiB/s r", "MiB/s w", "cgroup"
    );
    text.push_str(&painted(&heading, "1", style));
    text.push('\n');
    for row in rows.iter().take(PROCESSES) {
        let _ = writeln!(
            text,
            "{:22}{:10}{:>9}{:>9}{:>8}{:>8}  {}",
            row.label(21),
            row.device.as_deref().map_or("all".to_owned(), |d| shortened(d, 9)),
            rate(row.reads_per_s, 8),
            rate(row.writes_per_s, 8),
            amount(Some(row.read_mib_per_s), 7),
            amount(Some(row.write_mib_per_s), 7),
            shortened(row.cgroup.as_deref().unwrap_or("-"), 12),
        );
    }
}

/// Percentiles in milliseconds of what a tracer timed.
fn percentiles(text: &mut String, device: &DeviceSample, depth: usize) {
    let Some(traced) = device.traced.as_deref().filter(|_| device.is_counted()) else { return };
    for (what, times) in [("host", traced.host_wait()), ("device", traced.service())] {
        let Some(times) = times else { continue };
        let at = |quantile| ms(times.quantile_ns(quantile).map(|ns| ns as f64 / 1e3), 7);
        let _ = writeln!(
            text,
            "{:NAME$}  p50 {:>7}  p90 {:>7}  p99 {:>7}  p99.9 {:>7}  max {:>7}",
            format!("{}  {what}", " ".repeat(depth.min(4))),
            at(0.5),
            at(0.9),
            at(0.99),
            at(0.999),
            ms(times.max_ns().map(|ns| ns as f64 / 1e3), 7),
        );
    }
}

fn painted(text: &str, code: &str, style: Style) -> String {
    match style.color {
        Color::Ansi => format!("\x1b[{code}m{text}\x1b[0m"),
        Color::Never => text.to_owned(),
    }
}

fn device(text: &mut String, device: &DeviceSample, line: &Line, options: TextOptions) {
    let shown = format!("{}{}", " ".repeat(line.depth.min(4)), cells::safe(name(device)));
    // A name that is longer than its column stands on a line of its own, as df does it.
    let label = if shown.chars().count() > NAME {
        let _ = writeln!(text, "{}", shortened(&shown, 79));
        String::new()
    } else {
        shown
    };
    let ios = device.ios();
    let kib = ios.bytes_mean().filter(|_| device.is_counted()).map(|b| b / 1024.0);
    let limit = device.limits.device_queue;
    let limit = if device.facts.disk.is_some() { None } else { limit };
    let _ = writeln!(
        text,
        "{label:NAME$}{:>8}{:>7}{:>7}{:>7}{:>7}{:>7}{:>7}{:>7}{:>7}{:>5}",
        rate(device.iops(), 7),
        amount(device.mib_per_s(), 6),
        amount(kib, 6),
        queue(&device.host_queue, 6),
        queue(&device.device_queue, 6),
        rate(limit, 6),
        ms(device.host_wait_us(), 6),
        ms(device.service_us(), 6),
        ms(device.response_us(), 6),
        rate(device.failed.map(|f| f as f64), 4),
    );
    if options.percentiles {
        percentiles(text, device, line.depth);
    }
    if options.classes && device.is_counted() {
        let mut class = |name: &str, totals: Option<ClassTotals>| {
            let Some(totals) = totals.filter(|t| t.count > 0) else { return };
            let merged = format!("merged {}/s", rate(device.per_s(totals.merges as f64), 8));
            let bytes = totals.bytes as f64;
            let _ = writeln!(
                text,
                "{:NAME$}{:>8}{:>7}{:>7}{merged:>21}{:>21}",
                format!("{}  {name}", " ".repeat(line.depth.min(4))),
                rate(device.per_s(totals.count as f64), 7),
                amount(device.per_s(bytes / f64::from(1 << 20)).filter(|_| bytes > 0.0), 6),
                amount(totals.bytes_mean().filter(|_| bytes > 0.0).map(|b| b / 1024.0), 6),
                ms(totals.response_us(), 6),
            );
        };
        class("read", Some(device.read));
        class("write", Some(device.write));
        class("discard", device.discard);
        class("flush", device.flush);
    }
}

fn remarks(sample: &HostSample, happened: &[Happening], lines: &[Line]) -> Vec<String> {
    let shown = |name: &str| lines.iter().any(|l| sample.devices[l.place].facts.name == name);
    let mut said: Vec<String> =
        happened.iter().filter(|h| shown(&h.device)).map(|h| format!("{}: {}", h.device, h.text)).collect();
    said.extend(super::lost(sample));
    let mut bounds = false;
    for device in lines.iter().map(|l| &sample.devices[l.place]) {
        let name = &device.facts.name;
        bounds |= device.split_by == SplitBy::Bounds;
        said.extend(device.remarks.iter().map(|r| format!("{name}: {r}")));
        if let Some((now, highest)) = device.depth_lowered() {
            said.push(format!("{name}: its queue depth stands at {now}, below {highest} seen before"));
        }
        match device.counted {
            Counted::Appeared => said.push(format!("{name}: new; numbers come with the next interval")),
            Counted::Off => {
                said.push(format!("{name}: I/O accounting is off (queue/iostats is 0): no numbers"))
            }
            Counted::Reset | Counted::Yes => {}
        }
    }
    if bounds {
        said.push("< at most, > at least: host and device queue could not be told apart there".to_owned());
    }
    said.dedup();
    said
}
