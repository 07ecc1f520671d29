//! `errpt` of AIX: the summary, a line per entry, newest first, and the detailed report (`-a`).
//!
//! The summary's time is `MMDDhhmmyy`, local. What an entry means for storage is decided from its label or, in the
//! summary, its description, and from the kind of device that reported it.

use super::device::kind;
use crate::clock::{epoch_s, month, time_of_day};
use crate::format::{Format, LineFormat, Reads, Took};
use crate::out::Out;
use crate::recognise::{Head, Likeness};
use crate::text::words;
use jiff::civil::Date;
use record::imported::{EventKind, Host, PlaceId, PlaceKind, Platform};

/// This format.
pub(super) const FORMAT: Format = Format {
    name: "aix-errpt",
    title: "errpt of AIX, summary and detail (-a)",
    recognise,
    reads: Reads::Lines { new: || Box::new(Errpt::default()), begins },
};

fn recognise(head: &Head<'_>) -> Option<Likeness> {
    if let Some(line) = head.find(is_heading) {
        return Likeness::by_line(95, "header", line);
    }
    if let Some(line) = head.find(|l| l.starts_with("LABEL:"))
        && head.find(|l| l.starts_with("IDENTIFIER:")).is_some()
    {
        return Likeness::by_line(92, "entry", line);
    }
    Likeness::by_line(90, "entry", head.find(|l| summary(l).is_some())?)
}

fn begins(line: &str) -> bool {
    is_heading(line) || line.starts_with("LABEL:") || summary(line).is_some()
}

fn is_heading(line: &str) -> bool {
    words(line).iter().take(4).copied().eq(["IDENTIFIER", "TIMESTAMP", "T", "C"])
}

/// An entry of the summary.
struct Summary<'l> {
    at_s: f64,
    resource: &'l str,
    description: &'l str,
}

/// `A5E6DB96   0414083416 I S pmig   Client Partition Migration Completed`.
fn summary(line: &str) -> Option<Summary<'_>> {
    let mut cells = line.split_ascii_whitespace();
    let identifier = cells.next().filter(|w| w.len() == 8 && w.bytes().all(|b| b.is_ascii_hexdigit()))?;
    let time = cells.next().filter(|w| w.len() == 10)?;
    cells.next().filter(|t| {
        matches!(*t, "P" | "T" | "I" | "U" | "PEND" | "PERF" | "INFO" | "TEMP" | "PERM" | "UNKN")
    })?;
    cells.next().filter(|c| matches!(*c, "H" | "S" | "O" | "U"))?;
    let resource = cells.next()?;
    let after = resource.as_ptr() as usize - line.as_ptr() as usize + resource.len();
    let description = line.get(after..).unwrap_or("").trim();
    let _ = identifier;
    Some(Summary { at_s: stamp(time)?, resource, description })
}

/// Seconds since 1970 on the host's clock of `MMDDhhmmyy`.
fn stamp(text: &str) -> Option<f64> {
    if !text.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let part = |at: usize| text.get(at..at + 2)?.parse::<i8>().ok();
    let (month, day, hour, minute, year) = (part(0)?, part(2)?, part(4)?, part(6)?, part(8)?);
    if hour > 23 || minute > 59 {
        return None;
    }
    let year = i16::from(year) + if year < 70 { 2000 } else { 1900 };
    let date = Date::new(year, month, day).ok()?;
    Some(epoch_s(date, f64::from(hour) * 3600.0 + f64::from(minute) * 60.0))
}

/// What `date` prints, and `errpt -a`: `Thu Sep 30 15:29:45 CST 2013`, also without the zone.
pub(super) fn date_line(text: &str) -> Option<(Date, f64)> {
    let words = words(text);
    if !(4..=6).contains(&words.len()) {
        return None;
    }
    let at = words.iter().position(|w| w.contains(':'))?;
    let time = time_of_day(words[at])?;
    let month = words.iter().find_map(|w| month(w))?;
    let day: i8 = words[..at].iter().find_map(|w| w.trim_end_matches('.').parse().ok())?;
    let year: i16 = words.iter().rev().find_map(|w| w.parse().ok().filter(|_| w.len() == 4))?;
    Some((Date::new(year, month, day).ok()?, time))
}

/// What an entry means. `text` is the label and the description in capitals.
fn meaning(text: &str, resource: &str) -> EventKind {
    let has = |parts: &[&str]| parts.iter().any(|p| text.contains(p));
    if has(&["PATH HAS RECOVERED", "PATH HAS BEEN RECOVERED", "PATH RESTORED", "BACK-UP PATH OPERATIVE"]) {
        return EventKind::PathRestored;
    }
    if has(&[
        "PATH HAS FAILED",
        "PATH INOPERATIVE",
        "PATH_DEAD",
        "PATH FAILED",
        "CONNECTION FAILURE",
        "SC_DISK_ERR7",
    ]) {
        return EventKind::PathFailed;
    }
    if has(&["TASK SET FULL", "QUEUE FULL"]) {
        return EventKind::QueueFull;
    }
    if has(&["TIMEOUT", "TIMED OUT", "TIME OUT", "ABORT", "LOGICAL UNIT RESET", "TARGET RESET"]) {
        return EventKind::Timeout;
    }
    if has(&["SYSTEM SHUTDOWN", "REBOOT_ID"]) {
        return EventKind::Restart;
    }
    let is_trouble = has(&["ERR", "FAIL", "DEAD", "LOST", "UNABLE", "DEGRADED", "LINK DOWN"]);
    match kind(resource) {
        PlaceKind::Device if is_trouble => EventKind::DiskError,
        PlaceKind::Adapter if is_trouble => EventKind::AdapterError,
        _ if resource.starts_with("hdiskpower") && is_trouble => EventKind::DiskError,
        _ if has(&["FCP_ERR", "FCS_ERR", "FSCSI_ERR"]) => EventKind::AdapterError,
        _ if has(&["DISK_ERR"]) => EventKind::DiskError,
        _ => EventKind::Other,
    }
}

fn place(resource: &str, out: &mut Out<'_>) -> PlaceId {
    match kind(resource) {
        // Programs and parts of the system report, too: `pmig`, `SYSPROC`, `errdemon`.
        PlaceKind::Volume if !resource.starts_with("hdiskpower") => out.place(PlaceKind::Other, resource),
        kind => out.place(kind, resource),
    }
}

/// The reader.
#[derive(Default)]
struct Errpt {
    /// The detailed entry that is being read.
    entry: Option<Entry>,
    platform_told: bool,
}

#[derive(Default)]
struct Entry {
    label: String,
    at_s: Option<f64>,
    resource: String,
    /// The next line is the description.
    described: bool,
}

impl LineFormat for Errpt {
    fn line(&mut self, line: &str, out: &mut Out<'_>) -> Took {
        if !std::mem::replace(&mut self.platform_told, true) {
            out.platform(Platform::Aix);
        }
        if let Some(entry) = summary(line) {
            self.finish(out);
            let place = place(entry.resource, out);
            let kind = meaning(&entry.description.to_ascii_uppercase(), entry.resource);
            out.event(place, kind, entry.at_s, entry.description);
            return Took::Yes;
        }
        let trimmed = line.trim();
        if trimmed.is_empty() || is_heading(line) {
            return Took::Yes;
        }
        if let Some(label) = line.strip_prefix("LABEL:") {
            self.finish(out);
            self.entry = Some(Entry { label: label.trim().to_owned(), ..Entry::default() });
            return Took::Yes;
        }
        if self.entry.is_some() {
            return self.detail(trimmed, out);
        }
        if trimmed.bytes().all(|b| b == b'-') {
            return Took::Yes;
        }
        if looks_like_summary(trimmed) {
            out.complain("an identifier, a time MMDDhhmmyy, type, class, resource and description", trimmed);
            return Took::Yes;
        }
        Took::No
    }

    fn end(&mut self, out: &mut Out<'_>) {
        self.finish(out);
    }
}

/// Damaged, but meant as an entry of the summary.
fn looks_like_summary(line: &str) -> bool {
    let cells = words(line);
    let is_time = |w: &&str| w.len() >= 8 && w.bytes().filter(u8::is_ascii_digit).count() * 2 > w.len();
    cells.len() >= 4 && cells[0].len() == 8 && cells.get(1).is_some_and(is_time)
}

impl Errpt {
    /// A line of a detailed entry. What belongs to none of the fields is sense data, causes and actions.
    fn detail(&mut self, line: &str, out: &mut Out<'_>) -> Took {
        let Some(entry) = &mut self.entry else { return Took::No };
        if crate::reader::prompted(line).is_some() {
            self.finish(out);
            return Took::No;
        }
        if std::mem::take(&mut entry.described) {
            let entry = std::mem::take(&mut self.entry).unwrap_or_default();
            tell(&entry, line, out);
            self.entry = Some(Entry::default());
            return Took::Yes;
        }
        if let Some((key, value)) = line.split_once(':') {
            let value = value.trim();
            match key {
                "Date/Time" => match date_line(value) {
                    Some((date, time)) => entry.at_s = Some(epoch_s(date, time)),
                    None => out.complain("a date like 'Thu Sep 30 15:29:45 CST 2013'", value),
                },
                "Resource Name" => value.clone_into(&mut entry.resource),
                "Node Id" if !value.is_empty() => {
                    out.host(Host {
                        name: Some(value.to_owned()),
                        platform: Platform::Aix,
                        ..Host::default()
                    });
                }
                _ => {}
            }
        } else if line == "Description" {
            entry.described = true;
        }
        Took::Yes
    }

    /// An entry that was cut off before its description.
    fn finish(&mut self, out: &mut Out<'_>) {
        if let Some(entry) = self.entry.take().filter(|e| !e.label.is_empty()) {
            tell(&entry, "", out);
        }
    }
}

fn tell(entry: &Entry, description: &str, out: &mut Out<'_>) {
    if entry.label.is_empty() && entry.resource.is_empty() {
        return;
    }
    let text = format!("{} {description}", entry.label);
    let kind = meaning(&text.to_ascii_uppercase(), &entry.resource);
    let place = place(&entry.resource, out);
    out.event(place, kind, entry.at_s.unwrap_or(f64::NAN), text.trim());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_entries() {
        assert_eq!(stamp("0930152913"), Some(1_380_554_940.0));
        assert_eq!(stamp("0230152913"), None);
        let (date, time) = date_line("Thu Sep 30 15:29:45 CST 2013").unwrap();
        assert_eq!(epoch_s(date, time), 1_380_554_985.0);
        assert_eq!(date_line("hdisk0 12 1:2 3 4"), None);
    }
}
