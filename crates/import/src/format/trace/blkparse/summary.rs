//! The summary: totals of each processor and device.

use crate::format::linux::device;
use crate::out::Out;
use crate::text::number::grouped;
use record::imported::{Interval, Origin, PlaceId, PlaceKind, Quantity, RowsKind};

/// Sections that are kept: processors times devices.
const SECTIONS_MAX: usize = 100_000;

/// One section: `CPU8 (sdb):` or `Total (8,16):`.
#[derive(Clone, Debug)]
struct Section {
    is_total: bool,
    device: String,
    origin: Origin,
    /// Label, count, bytes.
    values: Vec<(String, f64, f64)>,
    /// Bytes per second, reads and writes.
    throughput: Option<(f64, f64)>,
}

/// Reads the summary.
#[derive(Default)]
pub(super) struct Summary {
    sections: Vec<Section>,
    /// Beginning of a line that was wrapped (mail does it).
    wrapped: String,
    /// Within the figures of a process (option -s), which stand in those of the devices already.
    of_process: bool,
}

impl Summary {
    /// One line; false when it is none of the summary.
    pub fn line(&mut self, line: &str, out: &mut Out<'_>) -> bool {
        if let Some((is_total, device)) = heading(line) {
            self.wrapped.clear();
            self.of_process = false;
            if self.sections.len() < SECTIONS_MAX {
                let (device, origin) = (device.to_owned(), out.origin());
                self.sections.push(Section {
                    is_total,
                    device,
                    origin,
                    values: Vec::new(),
                    throughput: None,
                });
            }
            return true;
        }
        if is_process(line) {
            self.of_process = true;
            return true;
        }
        if self.of_process && pairs(line).is_some() {
            return true;
        }
        let Some(section) = self.sections.last_mut() else { return false };
        if let Some(rates) = line.strip_prefix("Throughput (R/W):") {
            let mut rates = rates.split('/').filter(|part| part.trim() != "s").map(|r| amount(r.trim()));
            section.throughput = rates.next().flatten().zip(rates.next().flatten());
            if section.throughput.is_none() {
                out.complain("two rates: 1,024KiB/s / 0KiB/s", line);
            }
            return true;
        }
        if line.starts_with("Events (") || line.starts_with("Skips:") {
            return true;
        }
        let whole =
            if self.wrapped.is_empty() { line.to_owned() } else { format!("{} {line}", self.wrapped) };
        self.wrapped.clear();
        if !whole.contains(':') {
            return false;
        }
        if whole.ends_with(',') {
            self.wrapped = whole;
            return true;
        }
        let Some(values) = pairs(&whole) else {
            // A count and a size belong to it, and it is not one of something else.
            let is_meant = ["Queued:", "Dispatches:", "Completed:", "Merges:", "Requeued:"]
                .iter()
                .any(|l| whole.contains(l));
            if is_meant {
                out.complain("labels with counts and sizes", line);
            }
            return is_meant;
        };
        section.values.extend(values);
        true
    }

    /// Totals of each device: as printed, or the sum over its processors when it has but these.
    /// `named` are devices of the events, by the kernel's names for them.
    pub fn end(&mut self, named: &[(String, String)], out: &mut Out<'_>) {
        let mut sections = std::mem::take(&mut self.sections);
        for section in &mut sections {
            if let Some((_, numbers)) = named.iter().find(|(name, _)| *name == section.device) {
                section.device.clone_from(numbers);
            }
        }
        let mut told: Vec<&str> = Vec::new();
        for section in &sections {
            let device = section.device.as_str();
            if told.contains(&device) {
                continue;
            }
            told.push(device);
            let of: Vec<&Section> = sections.iter().filter(|s| s.device == device).collect();
            let totals: Vec<&Section> = of.iter().filter(|s| s.is_total).copied().collect();
            say(if totals.is_empty() { &of } else { &totals }, of.iter().find_map(|s| s.throughput), out);
        }
    }
}

fn say(sections: &[&Section], throughput: Option<(f64, f64)>, out: &mut Out<'_>) {
    let Some(first) = sections.first() else { return };
    let all: Vec<&(String, f64, f64)> = sections.iter().flat_map(|s| &s.values).collect();
    let sum = |label: &str, of: fn(&(String, f64, f64)) -> f64| {
        let found: Vec<f64> = all.iter().filter(|v| v.0 == label).map(|v| of(v)).collect();
        if found.is_empty() { f64::NAN } else { found.iter().sum() }
    };
    let count = |label: &str| sum(label, |v| v.1);
    let bytes = |label: &str| sum(label, |v| v.2);
    let place = place(&first.device, out);
    out.interval(Interval::unknown(RowsKind::Period));
    let (read, write) = throughput.unwrap_or((f64::NAN, f64::NAN));
    out.put_from(
        first.origin,
        place,
        &[
            (Quantity::Reads, count("Reads Completed")),
            (Quantity::Writes, count("Writes Completed")),
            (Quantity::ReadBytes, bytes("Reads Completed")),
            (Quantity::WriteBytes, bytes("Writes Completed")),
            (Quantity::ReadMerges, count("Read Merges")),
            (Quantity::WriteMerges, count("Write Merges")),
            (Quantity::ReadBytesPerS, read),
            (Quantity::WriteBytesPerS, write),
        ],
    );
    for label in [
        "Reads Queued",
        "Writes Queued",
        "Read Dispatches",
        "Write Dispatches",
        "Reads Requeued",
        "Writes Requeued",
        "IO unplugs",
        "Timer unplugs",
    ] {
        let number = count(label);
        if number.is_finite() {
            out.fact(place, &format!("{}_count", label.to_ascii_lowercase().replace(' ', "_")), number);
        }
    }
    for label in ["Read depth", "Write depth"] {
        let depth = all.iter().filter(|v| v.0 == label).map(|v| v.1).fold(f64::NAN, f64::max);
        if depth.is_finite() {
            out.fact(place, &format!("{}_max", label.to_ascii_lowercase().replace(' ', "_")), depth);
        }
    }
}

fn place(name: &str, out: &mut Out<'_>) -> PlaceId {
    let numbers =
        name.split_once(',').and_then(|(a, b)| Some((a.trim().parse().ok()?, b.trim().parse().ok()?)));
    match numbers {
        Some(numbers) => out.place(super::kind(numbers), &format!("{},{}", numbers.0, numbers.1)),
        None if name.is_empty() => out.place(PlaceKind::Host, ""),
        None => out.place(device::kind(name), name),
    }
}

/// `CPU0 (8,16):`, `Total (sdb):`; the device.
fn heading(line: &str) -> Option<(bool, &str)> {
    let line = line.strip_suffix(':')?;
    let (label, device) = line.split_once(" (")?;
    let device = device.strip_suffix(')')?;
    let is_cpu = label.strip_prefix("CPU").is_some_and(|n| n.bytes().all(|b| b.is_ascii_digit()));
    (is_cpu || label == "Total").then_some((label == "Total", device))
}

/// `fio (77)`: a process and its number.
fn is_process(line: &str) -> bool {
    let number =
        line.trim_end_matches(':').strip_suffix(')').and_then(|l| l.rsplit_once(" (")).map(|(_, n)| n.trim());
    number.is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()))
}

/// `Reads Queued: 1,000, 8,000KiB  Writes Queued: 0, 0KiB`: label, count, bytes.
fn pairs(line: &str) -> Option<Vec<(String, f64, f64)>> {
    let mut all = Vec::new();
    let mut rest = line;
    while let Some((label, after)) = rest.split_once(':') {
        let end = after.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(after.len());
        // The unit belongs to the size; the next label begins after blanks.
        let unit_end = match after.get(end..) {
            Some(unit)
                if unit.starts_with("KiB")
                    || unit.starts_with("MiB")
                    || unit.starts_with("GiB")
                    || unit.starts_with("TiB") =>
            {
                end + 3
            }
            _ => end,
        };
        let (values, next) = (after.get(..unit_end)?, after.get(unit_end..)?);
        let label = label.trim();
        ["Read", "Write", "IO ", "Timer ", "PC "].iter().any(|l| label.starts_with(l)).then_some(())?;
        let mut words = values.split_ascii_whitespace();
        let count = grouped(words.next()?.trim_end_matches(','))?;
        let bytes = words.next().map_or(Some(f64::NAN), amount)?;
        all.push((label.to_owned(), count, bytes));
        rest = next;
    }
    (!all.is_empty() && rest.trim().is_empty()).then_some(all)
}

/// `8,000KiB`, `1,024MiB`, with or without `/s`.
fn amount(text: &str) -> Option<f64> {
    let text = text.trim_end_matches("/s");
    let split = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
    let (number, unit) = text.split_at(split);
    let factor = match unit {
        "" => 1.0,
        "KiB" | "K" => 1024.0,
        "MiB" | "M" => 1_048_576.0,
        "GiB" | "G" => 1_073_741_824.0,
        "TiB" => 1_099_511_627_776.0,
        _ => return None,
    };
    grouped(number.trim()).map(|n| n * factor)
}
