//! The JSON of sysstat: `iostat -o JSON`, `mpstat -o JSON`, `pidstat -o JSON` and `sadf -j`, all in one shape:
//! `sysstat.hosts[].statistics[]`.

mod element;
mod scan;

use super::report::{HostInfo, Stamp};
use crate::clock::{Clock, DateOrder, date};
use crate::format::{DocumentFormat, Format, Reads};
use crate::out::Out;
use crate::recognise::{Head, Likeness};
use crate::source::DocumentInput;
use element::Elements;
use record::imported::EventKind;
use scan::{Piece, Scan};

/// iostat.
pub(super) const IOSTAT: Format = Format {
    name: "linux-iostat-json",
    title: "iostat -o JSON of sysstat 11.5 to 12",
    recognise: |head| recognise(head, &["\"avg-cpu\"", "\"disk_device\""]),
    reads: Reads::Document { new: || Box::new(Json { is_iostat: true }) },
};
/// sadf.
pub(super) const SADF: Format = Format {
    name: "sadf-json",
    title: "sadf -j of sysstat 9 to 12",
    recognise: |head| recognise(head, &["\"file-date\"", "\"disk-device\"", "\"sysdata-version\""]),
    reads: Reads::Document { new: || Box::new(Json { is_iostat: false }) },
};
/// mpstat.
pub(super) const MPSTAT: Format = Format {
    name: "linux-mpstat-json",
    title: "mpstat -o JSON of sysstat 11.5 to 12",
    recognise: |head| {
        let is_other = head.text.contains("\"file-date\"");
        let keys = ["\"cpu-load\"", "\"node-load\"", "\"sum-interrupts\"", "\"soft-interrupts\""];
        recognise(head, &keys).filter(|_| !is_other)
    },
    reads: Reads::Document { new: || Box::new(Json { is_iostat: false }) },
};
/// pidstat.
pub(super) const PIDSTAT: Format = Format {
    name: "linux-pidstat-json",
    title: "pidstat -o JSON of sysstat 12.7",
    recognise: |head| recognise(head, &["\"TGID\"", "\"PID\""]),
    reads: Reads::Document { new: || Box::new(Json { is_iostat: false }) },
};

/// Restarts and comments of a document that are told.
const EVENTS_MAX: usize = 1000;
/// Bytes between two arrays that are looked at.
const AROUND_MAX_BYTES: usize = 1 << 20;

fn recognise(head: &Head<'_>, keys: &[&str]) -> Option<Likeness> {
    // A prompt may stand above the document.
    let begins = head.first_char() == Some('{') || head.lines.iter().any(|l| l.starts_with("{\"sysstat\""));
    if !begins || !head.text.contains("\"sysstat\"") {
        return None;
    }
    let has = |line: &str| keys.iter().any(|key| line.contains(key));
    head.find(has).and_then(|line| Likeness::by_line(97, "sysstat JSON with", line))
}

/// The reader.
struct Json {
    is_iostat: bool,
}

impl DocumentFormat for Json {
    fn read(&mut self, input: &mut DocumentInput<'_>, out: &mut Out<'_>) {
        let mut scan = Scan::new(input);
        let mut elements = Elements::new(self.is_iostat);
        let mut count = 0u64;
        while let Some(piece) = scan.next_piece() {
            match piece {
                Piece::Around(text, line) => around(&text, line, &mut elements, out),
                Piece::Element(text, line) => {
                    count += 1;
                    out.at_line(line);
                    elements.read(&text, line, out);
                }
                Piece::Cut(text, line) => {
                    count += 1;
                    let found = "the end of the text, or too long a report";
                    out.complain_at(line, "the end of an interval's report", found);
                    if !text.is_empty() {
                        elements.read(&text, line, out);
                    }
                }
            }
        }
        elements.end(out);
        if count == 0 {
            out.complain_at(0, "reports in an array \"statistics\"", "none");
        }
    }
}

/// What stands between arrays: restarts of the host before, and the host that follows.
fn around(text: &str, line: u64, elements: &mut Elements, out: &mut Out<'_>) {
    // Both are short in truth; a text that pretends otherwise is of no use.
    let text = text.get(text.len().saturating_sub(AROUND_MAX_BYTES)..).unwrap_or(text);
    let host_at = text.rfind("\"nodename\"").unwrap_or(text.len());
    let (before, host) = text.split_at(host_at);
    let at = |n: usize, out: &mut Out<'_>| {
        out.at_line(line + before[..n].bytes().filter(|b| *b == b'\n').count() as u64);
    };
    for (n, _) in before.match_indices("\"boot\"").take(EVENTS_MAX) {
        at(n, out);
        let stamp = stamp(&before[n..]);
        stamp.event(EventKind::Restart, "LINUX RESTART", out);
    }
    for (n, _) in before.match_indices("\"com\"").take(EVENTS_MAX) {
        at(n, out);
        let from = before[..n].rfind('{').unwrap_or(0);
        let comment = string(&before[from..], "com").unwrap_or_default();
        stamp(&before[from..]).event(EventKind::Other, &comment, out);
    }
    if host.is_empty() {
        return;
    }
    let info = HostInfo {
        nodename: string(host, "nodename"),
        release: string(host, "release"),
        machine: string(host, "machine"),
        processors: number(host, "number-of-cpus").map(|n| n as u32),
    };
    let page_bytes = info.tell(out);
    let mut clock = Clock::new();
    let day = string(host, "date").unwrap_or_default();
    if let Some(date) = date(&day, DateOrder::default()) {
        clock.set_date(date);
        let other = self::date(&day, DateOrder::DayFirst);
        if other != Some(date) {
            elements.doubtful_date(&day);
        }
    }
    elements.host(page_bytes, clock);
}

/// Date, time and zone that follow.
fn stamp(text: &str) -> Stamp {
    let text = text.split('}').next().unwrap_or("");
    Stamp {
        date: string(text, "date").unwrap_or_default(),
        time: string(text, "time").unwrap_or_default(),
        is_utc: string(text, "tz").is_some_and(|zone| zone == "UTC") || number(text, "utc") == Some(1.0),
        interval_s: f64::NAN,
    }
}

/// What stands after a key, up to the end of the line or of the object.
fn after<'t>(text: &'t str, key: &str) -> Option<&'t str> {
    let quoted = format!("\"{key}\"");
    let rest = &text[text.find(&quoted)? + quoted.len()..];
    Some(rest.trim_start().strip_prefix(':')?.trim_start())
}

fn string(text: &str, key: &str) -> Option<String> {
    let rest = after(text, key)?;
    let mut parts = serde_json::Deserializer::from_str(rest).into_iter::<String>();
    parts.next()?.ok()
}

fn number(text: &str, key: &str) -> Option<f64> {
    let rest = after(text, key)?;
    let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    rest[..end].parse().ok()
}
