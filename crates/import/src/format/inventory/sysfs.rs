//! Attributes below `/sys`: statistics of Fibre Channel hosts, settings and counts of SCSI devices, hosts and block queues.
//!
//! Read as `grep . FILES` prints them (`path:value`), as `head` or `tail` do (`==> path <==` and the value), and as `cat`
//! at a prompt does. Statistics of `fc_host` are hexadecimal; all ones mean that the driver does not count.

use crate::format::linux::device;
use crate::format::{Format, LineFormat, Reads, Took};
use crate::out::Out;
use crate::recognise::{Head, Likeness};
use crate::text::number::decimal;
use crate::text::words;
use record::imported::{PlaceId, PlaceKind, Platform, facts};
use std::collections::VecDeque;

/// More seconds than this since a reset (20 years): some drivers give seconds since 1970 instead.
const SINCE_RESET_MAX_S: f64 = 20.0 * 365.25 * 86_400.0;

/// This format.
pub(super) const FORMAT: Format = Format {
    name: "linux-sysfs",
    title: "attributes of /sys: fc_host, scsi_host, SCSI devices, block queues",
    recognise,
    reads: Reads::Lines { new: || Box::new(Sysfs::default()), begins },
};

fn recognise(head: &Head<'_>) -> Option<Likeness> {
    if let Some(line) = head.find(begins) {
        return Likeness::by_line(92, "attribute", line);
    }
    let asked =
        |l: &str| crate::reader::prompted(l).is_some_and(|c| c.starts_with("cat ") && c.contains("/sys/"));
    if let Some(line) = head.find(asked) {
        return Likeness::by_line(80, "command", line);
    }
    if head.count(|l| bare(l).is_some()) > 2 {
        return Likeness::by_line(70, "attribute", head.find(|l| bare(l).is_some())?);
    }
    Likeness::by_line(60, "listing", head.find(is_listing)?)
}

fn begins(line: &str) -> bool {
    attribute(line).is_some() || named(line).is_some()
}

/// Attributes of a SCSI device and of its queue that no other kind of folder has.
const OF_DEVICES: [&str; 20] = [
    "iorequest_cnt",
    "iodone_cnt",
    "ioerr_cnt",
    "iotmo_cnt",
    "iocounterbits",
    "device_blocked",
    "device_busy",
    "eh_timeout",
    "evt_media_change",
    "queue_depth",
    "queue_type",
    "queue_ramp_up_period",
    "scsi_level",
    "nr_requests",
    "scheduler",
    "max_sectors_kb",
    "max_hw_sectors_kb",
    "rq_affinity",
    "nomerges",
    "rotational",
];

/// `queue_depth:32`, `./queue_depth:32`: printed within the folder of a device, whose name is not told.
fn bare(line: &str) -> Option<(&str, &str)> {
    let line = line.trim();
    let (name, value) = line.strip_prefix("./").unwrap_or(line).split_once(':')?;
    let is_name = name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    (is_name && OF_DEVICES.contains(&name)).then_some((name, value.trim()))
}

/// A listing of a SCSI device's folder: names and no values.
fn is_listing(line: &str) -> bool {
    let names = words(line);
    let known = OF_DEVICES;
    let is_name = |n: &&str| n.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b':'));
    names.len() > 2 && names.iter().all(is_name) && names.iter().filter(|n| known.contains(n)).count() > 1
}

/// `==> /sys/block/sda/device/queue_depth <==`, or the path alone.
fn named(line: &str) -> Option<&str> {
    let line = line.trim();
    let path = match line.strip_prefix("==> ") {
        Some(rest) => rest.strip_suffix(" <==")?,
        None => line.starts_with("/sys/").then(|| line.strip_suffix(':').unwrap_or(line))?,
    };
    let is_path = !path.contains([' ', '\t', '*', '=', '[']) && attribute(path).is_none();
    place_of(path).filter(|_| is_path).map(|_| path)
}

/// The path and the value of a line. Paths have colons in them (`0:0:0:0`), so the attribute is the last part of a path
/// that is a plain name.
fn attribute(line: &str) -> Option<(&str, &str)> {
    let line = line.trim();
    if !(line.starts_with("/sys/")
        || line.starts_with("sys/")
        || line.starts_with("./")
        || line.contains("/sys/"))
    {
        // Below a folder that was changed into: `queue_depth:32` alone says nothing of its device.
        if !line.starts_with("host") && !line.contains("/queue/") && !line.contains("/device/") {
            return None;
        }
    }
    for (at, _) in line.rmatch_indices('/') {
        let rest = &line[at + 1..];
        let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(rest.len());
        let after = rest[end..].trim_start_matches([' ', '\t']);
        let Some(value) = after.strip_prefix([':', '=']) else { continue };
        let path = &line[..at + 1 + end];
        if rest.starts_with(|c: char| c.is_ascii_lowercase()) && end > 0 && place_of(path).is_some() {
            return Some((path, value.trim()));
        }
    }
    None
}

/// What an attribute belongs to, and its name.
struct Attribute<'p> {
    kind: PlaceKind,
    name: &'p str,
    attribute: &'p str,
    /// `H:C:T:L`, where the path has it.
    address: Option<&'p str>,
    /// It is a statistic of a Fibre Channel host.
    is_statistic: bool,
}

fn place_of(path: &str) -> Option<Attribute<'_>> {
    let parts: Vec<&str> = path.split('/').filter(|p| !p.is_empty()).collect();
    let (attribute, folders) = parts.split_last()?;
    let after =
        |folder: &str| folders.iter().rposition(|p| *p == folder).and_then(|at| folders.get(at + 1)).copied();
    let address = folders.iter().rev().find(|p| p.split(':').count() == 4).copied();
    let of = |kind, name| Some(Attribute { kind, name, attribute, address, is_statistic: false });
    if let Some(host) = after("fc_host") {
        let is_statistic = folders.last() == Some(&"statistics");
        return Some(Attribute {
            kind: PlaceKind::Adapter,
            name: host,
            attribute,
            address: None,
            is_statistic,
        });
    }
    if let Some(host) = after("scsi_host") {
        return Some(Attribute {
            kind: PlaceKind::Adapter,
            name: host,
            attribute,
            address: None,
            is_statistic: false,
        });
    }
    if let Some(disk) = after("block") {
        // `/sys/block/sda/sda1/...` is a partition's.
        let last = folders.iter().rev().find(|f| f.starts_with(disk)).copied().unwrap_or(disk);
        return of(device::kind(last), last);
    }
    if folders.last() == Some(&"queue") || folders.last() == Some(&"device") {
        // Relative paths: `sda/queue/scheduler`.
        if let Some(disk) = folders.iter().rev().nth(1).filter(|d| d.split(':').count() == 1) {
            return of(device::kind(disk), disk);
        }
    }
    let address = address?;
    of(PlaceKind::Device, address)
}

/// The reader.
#[derive(Default)]
struct Sysfs {
    /// Paths whose values follow on lines of their own.
    awaited: VecDeque<String>,
    reset_told: bool,
    listing_told: bool,
    unnamed_told: bool,
}

impl LineFormat for Sysfs {
    fn line(&mut self, line: &str, out: &mut Out<'_>) -> Took {
        let trimmed = line.trim();
        if trimmed.is_empty() {
            return Took::Yes;
        }
        if let Some(path) = named(trimmed) {
            self.awaited.clear();
            self.awaited.push_back(path.to_owned());
            return Took::Yes;
        }
        if let Some((path, value)) = attribute(trimmed) {
            self.tell(path, value, out);
            return Took::Yes;
        }
        if let Some((name, value)) = bare(trimmed) {
            let place = out.place(PlaceKind::Device, "");
            if !std::mem::replace(&mut self.unnamed_told, true) {
                out.remark("which device these attributes belong to is not told: the values were printed within its folder");
            }
            let of = Attribute {
                kind: PlaceKind::Device,
                name: "",
                attribute: name,
                address: None,
                is_statistic: false,
            };
            setting(place, &of, value, out);
            return Took::Yes;
        }
        if is_message(trimmed) || trimmed.contains("grep ") && trimmed.contains("/sys/") {
            return Took::Yes;
        }
        if crate::reader::prompted(trimmed).is_some() {
            return Took::No;
        }
        if let Some(path) = self.awaited.pop_front() {
            self.tell(&path, trimmed, out);
            return Took::Yes;
        }
        if is_listing(trimmed) || self.listing_told && !trimmed.contains(['=', '/']) {
            if !std::mem::replace(&mut self.listing_told, true) {
                out.remark("a listing of a SCSI device's attributes, without their values: 'grep . *' in its folder prints them");
            }
            return Took::Yes;
        }
        Took::No
    }

    fn command(&mut self, command: &str) {
        self.awaited.clear();
        if let Some(rest) = command.strip_prefix("cat ") {
            let end = rest.find(['|', '>', ';']).unwrap_or(rest.len());
            // What a pattern stood for is not told.
            let paths = words(&rest[..end]).into_iter().filter(|p| !p.starts_with('-'));
            let paths: Vec<&str> = paths.collect();
            if paths.iter().all(|p| place_of(p).is_some() && !p.contains(['*', '?', '$', '{'])) {
                self.awaited.extend(paths.into_iter().map(str::to_owned));
            }
        }
    }
}

/// What grep and cat say of files that cannot be read.
fn is_message(line: &str) -> bool {
    ["Permission denied", "Invalid argument", "Is a directory", "No such file", "Input/output error"]
        .iter()
        .any(|m| line.ends_with(m))
}

/// A number: decimal, or hexadecimal with `0x`. All ones of 64 or 32 bits are no number.
fn number(value: &str) -> Option<f64> {
    let Some(digits) = value.strip_prefix("0x") else { return decimal(value) };
    let number = u64::from_str_radix(digits, 16).ok()?;
    (number != u64::MAX && number != u64::from(u32::MAX)).then_some(number as f64)
}

impl Sysfs {
    fn tell(&mut self, path: &str, value: &str, out: &mut Out<'_>) {
        let Some(of) = place_of(path) else { return };
        out.platform(Platform::Linux);
        let place = out.place(of.kind, of.name);
        if let Some(address) = of.address {
            out.fact(place, facts::SCSI_ADDRESS, address);
        }
        if of.is_statistic {
            self.statistic(place, of.attribute, value, out);
        } else {
            setting(place, &of, value, out);
        }
    }

    fn statistic(&mut self, place: PlaceId, name: &str, value: &str, out: &mut Out<'_>) {
        let is_ones = value.strip_prefix("0x").is_some_and(|d| !d.is_empty() && d.bytes().all(|b| b == b'f'));
        match number(value) {
            _ if is_ones => {}
            Some(seconds) if name == "seconds_since_last_reset" => {
                if seconds <= SINCE_RESET_MAX_S {
                    out.fact(place, facts::SINCE_RESET_S, seconds);
                } else if !std::mem::replace(&mut self.reset_told, true) {
                    out.remark("seconds_since_last_reset is no time since a reset on this driver: it was left unread");
                }
            }
            Some(count) => out.fact(place, name, count),
            None => out.complain(&format!("a hexadecimal number of {name}"), value),
        }
    }
}

/// A setting of a device, its queue, or a host.
fn setting(place: PlaceId, of: &Attribute<'_>, value: &str, out: &mut Out<'_>) {
    let kib = |n: f64| n * 1024.0;
    let same = |n: f64| n;
    let numeric: (&str, fn(f64) -> f64) = match of.attribute {
        "queue_depth" => (facts::QUEUE_DEPTH, same),
        "nr_requests" => (facts::NR_REQUESTS, same),
        "can_queue" => (facts::ADAPTER_COMMANDS, same),
        "max_sectors_kb" => (facts::MAX_TRANSFER_BYTES, kib),
        "max_hw_sectors_kb" => ("max_hardware_transfer_bytes", kib),
        "read_ahead_kb" => ("read_ahead_bytes", kib),
        "logical_block_size" => ("logical_sector_bytes", same),
        "physical_block_size" => ("physical_sector_bytes", same),
        "timeout" => ("timeout_s", same),
        "dev_loss_tmo" => ("dev_loss_tmo_s", same),
        // Sectors of 512 bytes, whatever the device has.
        "size" if of.kind != PlaceKind::Adapter => (facts::SIZE_BYTES, |n| n * 512.0),
        "scheduler" => return out.fact(place, facts::SCHEDULER, in_force(value)),
        "vendor" => return out.fact(place, facts::VENDOR, value),
        "model" => return out.fact(place, facts::PRODUCT, value),
        "wwid" | "port_name" => return out.fact(place, facts::WWID, value),
        "speed" if of.kind == PlaceKind::Adapter => return speed(place, value, out),
        // Identifiers and lists that only look like numbers.
        "node_name" | "fabric_name" | "port_id" | "rev" | "modalias" | "uevent" | "dev" | "inquiry"
        | "stat" => {
            return out.fact(place, of.attribute, value);
        }
        name => {
            return match number(value) {
                Some(number) => out.fact(place, name, number),
                None if value.is_empty() => {}
                None => out.fact(place, name, value),
            };
        }
    };
    match number(value) {
        Some(found) => out.fact(place, numeric.0, numeric.1(found)),
        None => out.complain(&format!("a number as {}", of.attribute), value),
    }
}

/// The scheduler in brackets: `noop [deadline] cfq`; `none` where there is no choice.
fn in_force(value: &str) -> &str {
    value.split_once('[').and_then(|(_, rest)| rest.split_once(']')).map_or(value, |(name, _)| name)
}

/// `8 Gbit`; `unknown` while the link is down.
fn speed(place: PlaceId, value: &str, out: &mut Out<'_>) {
    let mut cells = value.split_ascii_whitespace();
    let number = cells.next().and_then(decimal);
    let unit = cells.next().unwrap_or("").to_ascii_lowercase();
    match number {
        Some(n) if unit.starts_with("gb") => out.fact(place, facts::PORT_SPEED_BITS_PER_S, n * 1e9),
        Some(n) if unit.starts_with("mb") => out.fact(place, facts::PORT_SPEED_BITS_PER_S, n * 1e6),
        _ => out.fact(place, "speed", value),
    }
}
