//! What lsblk says of one device, whichever way it was printed.

use crate::format::linux::device;
use crate::out::Out;
use crate::text::number::{decimal, scaled};
use record::imported::{PlaceId, PlaceKind, Platform, Value, facts};

const KIB: f64 = 1024.0;

/// How the value of a column is kept.
enum Kept {
    /// A size with K, M, G in steps of 1024, or plain bytes.
    Bytes(&'static str),
    /// A number.
    Number(&'static str),
    /// KiB.
    Kib(&'static str),
    /// As written.
    Text(&'static str),
}

/// The columns of lsblk (`lsblk --help` lists them) that are kept.
fn kept(column: &str) -> Option<Kept> {
    Some(match column {
        "SIZE" => Kept::Bytes(facts::SIZE_BYTES),
        "SCHED" => Kept::Text(facts::SCHEDULER),
        "RQ-SIZE" => Kept::Number(facts::NR_REQUESTS),
        "RA" => Kept::Kib("read_ahead_bytes"),
        "ROTA" => Kept::Number("rotational"),
        "MODEL" => Kept::Text(facts::PRODUCT),
        "VENDOR" => Kept::Text(facts::VENDOR),
        "WWN" => Kept::Text(facts::WWID),
        "HCTL" => Kept::Text(facts::SCSI_ADDRESS),
        "TRAN" => Kept::Text("transport"),
        "STATE" => Kept::Text("state"),
        "SERIAL" => Kept::Text("serial"),
        "REV" => Kept::Text("revision"),
        "KNAME" => Kept::Text("kernel_name"),
        "MAJ-MIN" => Kept::Text("major_minor"),
        "TYPE" => Kept::Text("type"),
        "FSTYPE" => Kept::Text("filesystem"),
        "MOUNTPOINT" | "MOUNTPOINTS" => Kept::Text("mount_point"),
        "MIN-IO" => Kept::Bytes("minimum_io_bytes"),
        "OPT-IO" => Kept::Bytes("optimal_io_bytes"),
        "PHY-SEC" => Kept::Bytes("physical_sector_bytes"),
        "LOG-SEC" => Kept::Bytes("logical_sector_bytes"),
        "ZONED" => Kept::Text("zoned"),
        _ => return None,
    })
}

/// A column's name as lsblk has it in tables: `maj:min`, `MAJ_MIN` and `MAJ:MIN` are one.
pub(super) fn column(name: &str) -> String {
    name.trim().to_ascii_uppercase().replace(['_', ':'], "-")
}

/// The kind of a device, by its type where told.
fn kind(name: &str, of_type: Option<&str>) -> PlaceKind {
    match of_type {
        Some("disk" | "rom") => PlaceKind::Device,
        Some("part") => PlaceKind::Partition,
        Some("lvm" | "crypt" | "mpath" | "dm" | "md" | "loop") => PlaceKind::Volume,
        Some(raid) if raid.starts_with("raid") || raid == "linear" => PlaceKind::Volume,
        _ => device::kind(name),
    }
}

/// A device: names and values of its columns, and the device it stands below.
pub(super) struct Device<'d> {
    pub cells: &'d [(String, String)],
    pub parent: Option<&'d (String, PlaceId)>,
}

impl Device<'_> {
    fn cell(&self, column: &str) -> Option<&str> {
        let found = self.cells.iter().find(|(name, _)| name == column)?;
        Some(found.1.trim()).filter(|v| !v.is_empty())
    }

    /// Tells the facts; the device's name and place.
    pub fn tell(&self, out: &mut Out<'_>) -> Option<(String, PlaceId)> {
        let (name, kernel_name) = split_name(self.cell("NAME").or_else(|| self.cell("KNAME"))?);
        let name = name.rsplit('/').next().unwrap_or(name);
        out.platform(Platform::Linux);
        let of_type = self.cell("TYPE");
        let kind = kind(name, of_type);
        let place = out.place(kind, name);
        if let Some(kernel_name) = kernel_name {
            out.fact(place, "kernel_name", kernel_name);
        }
        let parent = self.parent.map(|(name, _)| name.as_str()).or_else(|| self.cell("PKNAME"));
        match (parent, of_type) {
            (Some(parent), Some("part")) => out.fact(place, facts::PART_OF, parent),
            (Some(parent), None) if kind == PlaceKind::Partition => out.fact(place, facts::PART_OF, parent),
            // The disk above is a path of the multipath device below it.
            (Some(parent), Some("mpath")) => {
                let path = self.parent.map_or_else(|| out.place(device::kind(parent), parent), |(_, id)| *id);
                out.fact(path, facts::PART_OF, name);
            }
            (Some(parent), _) => out.fact(place, "lies_on", parent),
            (None, _) => {}
        }
        for (column, text) in self.cells {
            let text = text.trim();
            if let Some(kept) = kept(column).filter(|_| !text.is_empty()) {
                value(&kept, place, column, text, out);
            }
        }
        Some((name.to_owned(), place))
    }
}

fn value(kept: &Kept, place: PlaceId, column: &str, text: &str, out: &mut Out<'_>) {
    let (fact, number) = match kept {
        Kept::Text(fact) => return out.fact(place, fact, Value::from(text)),
        Kept::Bytes(fact) => (fact, scaled(text, KIB)),
        Kept::Number(fact) => (fact, decimal(text)),
        Kept::Kib(fact) => (fact, decimal(text).map(|n| n * KIB)),
    };
    match number {
        Some(number) => out.fact(place, fact, number),
        None => out.complain(&format!("a number as {column}"), text),
    }
}

/// `vg-root (dm-0)`: older versions print both names.
fn split_name(name: &str) -> (&str, Option<&str>) {
    match name.split_once(" (") {
        Some((name, rest)) => (name.trim_end(), rest.strip_suffix(')')),
        None => (name, None),
    }
}
