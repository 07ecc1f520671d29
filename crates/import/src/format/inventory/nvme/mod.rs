//! `nvme list`: the table, with or without the column `Generic` of version 2; [`json`] reads `-o json`.

pub(super) mod json;

use crate::format::linux::device;
use crate::format::{Format, LineFormat, Reads, Took};
use crate::out::Out;
use crate::recognise::{Head, Likeness};
use crate::text::number::{decimal, scaled};
use crate::text::{words, words_at};
use record::imported::facts;

/// This format.
pub(super) const FORMAT: Format = Format {
    name: "nvme-list",
    title: "nvme list, table",
    recognise,
    reads: Reads::Lines { new: || Box::new(NvmeList::default()), begins },
};

fn recognise(head: &Head<'_>) -> Option<Likeness> {
    Likeness::by_line(95, "header", head.find(begins)?)
}

fn begins(line: &str) -> bool {
    let names = words(line);
    names.first() == Some(&"Node") && names.contains(&"SN") && names.contains(&"Namespace")
}

/// Column titles, in the order in which they may stand.
const TITLES: [&str; 8] = ["Node", "Generic", "SN", "Model", "Namespace", "Usage", "Format", "FW Rev"];

/// The reader.
#[derive(Default)]
struct NvmeList {
    header: String,
    /// Title and the bytes from which to which a column reaches.
    columns: Vec<(&'static str, usize, usize)>,
}

impl LineFormat for NvmeList {
    fn line(&mut self, line: &str, out: &mut Out<'_>) -> Took {
        let trimmed = line.trim();
        if trimmed.is_empty() {
            return Took::Yes;
        }
        if begins(trimmed) {
            line.clone_into(&mut self.header);
            self.columns.clear();
            return Took::Yes;
        }
        if trimmed.bytes().all(|b| b == b'-' || b == b' ') {
            self.rulers(line);
            return Took::Yes;
        }
        if !trimmed.starts_with("/dev/") || self.header.is_empty() {
            return Took::No;
        }
        let cells: Vec<(&str, &str)> =
            self.columns.iter().map(|(title, from, to)| (*title, cut(line, *from, *to))).collect();
        let cell =
            |title: &str| cells.iter().find(|(t, _)| *t == title).map(|(_, v)| *v).filter(|v| !v.is_empty());
        let (Some(node), Some(usage)) = (cell("Node"), cell("Usage")) else {
            out.complain("a device in the columns of its header", trimmed);
            return Took::Yes;
        };
        let name = node.rsplit('/').next().unwrap_or(node);
        let place = out.place(device::kind(name), name);
        for (title, fact) in
            [("SN", "serial"), ("Model", facts::PRODUCT), ("FW Rev", "firmware"), ("Generic", "generic_node")]
        {
            if let Some(text) = cell(title) {
                out.fact(place, fact, text);
            }
        }
        if let Some(number) = cell("Namespace").and_then(namespace) {
            out.fact(place, "namespace_id", number);
        }
        match usage.split_once('/').map(|(used, size)| (bytes(used), bytes(size))) {
            Some((Some(used), Some(size))) => {
                out.fact(place, "used_bytes", used);
                out.fact(place, facts::SIZE_BYTES, size);
            }
            _ => out.complain("usage such as '1.5 GB / 2.0 TB'", usage),
        }
        if let Some(sector) = cell("Format").and_then(|f| f.split('+').next()).and_then(sector_bytes) {
            out.fact(place, "logical_sector_bytes", sector);
        }
        Took::Yes
    }
}

impl NvmeList {
    /// Each ruler stands under a title.
    fn rulers(&mut self, line: &str) {
        self.columns.clear();
        for (from, dashes) in words_at(line) {
            let to = from + dashes.len();
            let title = cut(&self.header, from, to);
            if let Some(known) = TITLES.iter().find(|t| title.starts_with(**t)) {
                self.columns.push((known, from, to));
            }
        }
        // The last one reaches to the end of the line.
        if let Some(last) = self.columns.last_mut() {
            last.2 = usize::MAX;
        }
    }
}

fn cut(line: &str, from: usize, to: usize) -> &str {
    line.get(from..to.min(line.len())).or_else(|| line.get(from..)).unwrap_or("").trim()
}

/// `1`, `0x1`.
fn namespace(text: &str) -> Option<f64> {
    let hexadecimal = text.strip_prefix("0x").and_then(|h| u64::from_str_radix(h, 16).ok());
    hexadecimal.map(|n| n as f64).or_else(|| decimal(text))
}

/// `500.11  GB`: decimal steps.
fn bytes(text: &str) -> Option<f64> {
    scaled(&words(text).concat(), if text.contains("iB") { 1024.0 } else { 1000.0 })
}

/// `512   B`, `4 KiB`: binary steps, also where it says `KB`.
fn sector_bytes(text: &str) -> Option<f64> {
    scaled(&words(text).concat(), 1024.0)
}
