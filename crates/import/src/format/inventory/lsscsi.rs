//! `lsscsi`: SCSI and NVMe devices with their addresses and nodes; options -s (size), -g (generic node), -t (transport),
//! -w, -u, -i (identifier), -l (attributes on lines of their own), -H (hosts).
//!
//! Type, vendor, model and revision are 7, 8, 16 and 4 characters wide; models have blanks.

use crate::format::linux::device;
use crate::format::{Format, LineFormat, Reads, Took};
use crate::out::Out;
use crate::recognise::{Head, Likeness};
use crate::text::number::{decimal, scaled};
use crate::text::words;
use record::imported::{PlaceId, PlaceKind, Platform, facts};

/// This format.
pub(super) const FORMAT: Format = Format {
    name: "lsscsi",
    title: "lsscsi",
    recognise,
    reads: Reads::Lines { new: || Box::new(Lsscsi::default()), begins },
};

fn recognise(head: &Head<'_>) -> Option<Likeness> {
    if let Some(line) = head.find(begins) {
        return Likeness::by_line(92, "address", line);
    }
    // Option -H: nothing but hosts and their drivers.
    let is_host = |l: &str| {
        address(l).is_some_and(|(number, rest)| number.parse::<u32>().is_ok() && words(rest).len() == 1)
    };
    let all = head.lines.iter().filter(|l| !l.trim().is_empty()).all(|l| is_host(l.trim()));
    if all { Likeness::by_line(60, "host", head.find(is_host)?) } else { None }
}

fn begins(line: &str) -> bool {
    address(line).is_some_and(|(address, rest)| {
        let kind = words(rest).first().copied().unwrap_or("");
        address.contains(':') && TYPES.contains(&kind)
    })
}

/// Types of devices as lsscsi shortens them.
const TYPES: [&str; 18] = [
    "disk", "tape", "printer", "process", "worm", "cd/dvd", "scanner", "optical", "mediumx", "comms",
    "storage", "enclosu", "sim", "sim_dsk", "rbc", "osd", "wlun", "zbc",
];
/// What a transport begins with, option -t.
const TRANSPORTS: [&str; 12] =
    ["sas:", "fc:", "sata:", "ata:", "usb:", "spi:", "iqn.", "sbp:", "srp:", "pcie", "fcoe:", "iscsi:"];

/// `[2:0:1:4]` at the beginning, `[N:0:1:1]` of NVMe, `[0]` of a host; and the rest.
fn address(line: &str) -> Option<(&str, &str)> {
    let (address, rest) = line.strip_prefix('[')?.split_once(']')?;
    let fits =
        |part: &str| !part.is_empty() && (part == "N" || part.bytes().all(|b| b.is_ascii_alphanumeric()));
    let parts = address.split(':').count();
    let numbered = address.bytes().any(|b| b.is_ascii_digit());
    (matches!(parts, 1 | 4 | 5) && numbered && address.split(':').all(fits)).then_some((address, rest))
}

/// The reader.
#[derive(Default)]
struct Lsscsi {
    last: Option<PlaceId>,
}

/// What the words after type, vendor, model and revision say.
#[derive(Default)]
struct Rest<'l> {
    node: Option<&'l str>,
    generic: Option<&'l str>,
    size: Option<f64>,
    identifier: Option<&'l str>,
}

impl LineFormat for Lsscsi {
    fn line(&mut self, line: &str, out: &mut Out<'_>) -> Took {
        let trimmed = line.trim();
        if trimmed.is_empty() {
            return Took::Yes;
        }
        if let Some((address, rest)) = address(trimmed) {
            return self.device(address, rest, out);
        }
        // Option -l: `  state=running queue_depth=32 scsi_level=6 ...`.
        let cells = words(trimmed);
        match self.last {
            Some(place) if line.starts_with([' ', '\t']) && cells.iter().all(|c| c.contains(['=', ':'])) => {
                attributes(place, &cells, out);
                Took::Yes
            }
            _ => Took::No,
        }
    }
}

impl Lsscsi {
    fn device(&mut self, address: &str, rest: &str, out: &mut Out<'_>) -> Took {
        out.platform(Platform::Linux);
        let cells = words(rest);
        let Some(kind) = cells.first().copied() else {
            out.complain("type, vendor, model, revision and node of a device", address);
            return Took::Yes;
        };
        if !address.contains(':') {
            let host = out.place(PlaceKind::Adapter, &format!("host{address}"));
            out.fact(host, "driver", kind);
            self.last = Some(host);
            return Took::Yes;
        }
        let transport = cells.get(1).copied().filter(|c| TRANSPORTS.iter().any(|t| c.starts_with(t)));
        let fields = if transport.is_some() { None } else { fields(rest) };
        let after = match &fields {
            Some((.., after)) => words(after),
            None => cells[1..].to_vec(),
        };
        let found = trailing(&after);
        let place = match found.node {
            Some(node) if node != "-" => {
                let name = node.rsplit('/').next().unwrap_or(node);
                let of = if kind == "disk" { device::kind(name) } else { PlaceKind::Device };
                out.place(of, name)
            }
            // Enclosures and controllers have no node.
            _ => out.place(PlaceKind::Other, address),
        };
        self.last = Some(place);
        if found.node.is_none() {
            out.complain("a node such as /dev/sda, or '-'", rest);
        }
        out.fact(place, facts::SCSI_ADDRESS, address);
        out.fact(place, "type", kind);
        if let Some(transport) = transport {
            out.fact(place, "transport", transport);
        }
        if let Some((vendor, model, revision, _)) = fields {
            for (fact, text) in [(facts::VENDOR, vendor), (facts::PRODUCT, model), ("revision", revision)] {
                if !text.is_empty() && text != "-" {
                    out.fact(place, fact, text);
                }
            }
        }
        for (fact, text) in [("generic_node", found.generic), (facts::WWID, found.identifier)] {
            if let Some(text) = text.filter(|t| *t != "-") {
                out.fact(place, fact, text);
            }
        }
        if let Some(size) = found.size {
            out.fact(place, facts::SIZE_BYTES, size);
        }
        Took::Yes
    }
}

/// Vendor, model, revision, and what follows: by their widths, or, where blanks were lost, by the revision before the node.
fn fields(rest: &str) -> Option<(&str, &str, &str, &str)> {
    let start = rest.len() - rest.trim_start().len();
    let after_type = rest.get(start..)?.find(' ').map(|n| start + n)?;
    let vendor_at = start + 8;
    let cut = |from: usize, to: usize| rest.get(from..to.min(rest.len()));
    let blank_at = |at: usize| rest.as_bytes().get(at).is_none_or(|b| *b == b' ');
    let in_columns = blank_at(vendor_at - 1)
        && rest.as_bytes().get(vendor_at).is_some_and(|b| *b != b' ')
        && blank_at(vendor_at + 8)
        && blank_at(vendor_at + 25)
        && rest.len() >= vendor_at + 26;
    if in_columns {
        let end = rest.get(vendor_at + 26..)?.find(' ').map_or(rest.len(), |n| vendor_at + 26 + n);
        return Some((
            cut(vendor_at, vendor_at + 8)?.trim(),
            cut(vendor_at + 9, vendor_at + 25)?.trim(),
            cut(vendor_at + 26, end)?.trim(),
            cut(end, rest.len())?,
        ));
    }
    let text = rest.get(after_type..)?.trim_start();
    let node_at = text.find("/dev/").or_else(|| text.find(" - ").map(|at| at + 1)).unwrap_or(text.len());
    let (before, after) = text.split_at(node_at);
    let (before, revision) = before.trim_end().rsplit_once(' ')?;
    let (vendor, model) = before.trim_end().split_once(' ').unwrap_or(("", before));
    Some((vendor.trim(), model.trim(), revision, after))
}

/// The words after the revision: node, generic node, size, identifier, in whatever order the options give.
fn trailing<'l>(cells: &[&'l str]) -> Rest<'l> {
    let mut found = Rest::default();
    for cell in cells {
        if cell.starts_with("/dev/sg") || cell.starts_with("/dev/bsg") || cell.starts_with("/dev/ng") {
            found.generic = Some(cell);
        } else if cell.starts_with("/dev/") || *cell == "-" && found.node.is_none() {
            found.node = found.node.or(Some(cell));
        } else if let Some(bytes) = size(cell) {
            found.size = Some(bytes);
        } else if cell.len() >= 16 && !TRANSPORTS.iter().any(|t| cell.starts_with(t)) {
            found.identifier = Some(cell);
        }
    }
    found
}

/// `1.00TB` is decimal, `931GiB` binary.
fn size(text: &str) -> Option<f64> {
    let is_unit = text.ends_with('B') && text.starts_with(|c: char| c.is_ascii_digit());
    is_unit.then(|| scaled(text, if text.ends_with("iB") { 1024.0 } else { 1000.0 })).flatten()
}

fn attributes(place: PlaceId, cells: &[&str], out: &mut Out<'_>) {
    for cell in cells {
        let Some((name, text)) = cell.split_once('=') else { continue };
        match (name, decimal(text)) {
            ("queue_depth", Some(depth)) => out.fact(place, facts::QUEUE_DEPTH, depth),
            ("timeout", Some(seconds)) => out.fact(place, "timeout_s", seconds),
            ("can_queue", Some(commands)) => out.fact(place, facts::ADAPTER_COMMANDS, commands),
            (_, Some(number)) => out.fact(place, name, number),
            (_, None) => out.fact(place, name, text),
        }
    }
}
