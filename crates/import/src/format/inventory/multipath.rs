//! `multipath -ll`: maps, their path groups and paths, as the device mapper's tools have printed them since 2005.
//!
//! 0.4.7 (RHEL 5) puts everything in brackets, `\_` before paths; 0.4.9 and later draw a tree; native NVMe multipathing has
//! `[nvme]:` in place of `dm-`. Debug lines (`-v3`) may stand in between.

use crate::format::linux::device;
use crate::format::{Format, LineFormat, Reads, Took};
use crate::out::Out;
use crate::recognise::{Head, Likeness};
use crate::text::number::{decimal, scaled};
use crate::text::words;
use record::imported::{PlaceId, PlaceKind, Platform, facts};

/// This format.
pub(super) const FORMAT: Format = Format {
    name: "multipath",
    title: "multipath -ll of Linux",
    recognise,
    reads: Reads::Lines { new: || Box::new(Multipath::default()), begins },
};

fn recognise(head: &Head<'_>) -> Option<Likeness> {
    if let Some(line) = head.find(is_features) {
        return Likeness::by_line(95, "map", line);
    }
    if let Some(line) = head.find(|l| map(l).is_some_and(|m| m.kernel_name.is_some())) {
        return Likeness::by_line(85, "map", line);
    }
    let line =
        head.find(|l| l.contains("===== paths list =====") || l.contains("DM multipath kernel driver"))?;
    Likeness::by_line(85, "line", line)
}

fn begins(line: &str) -> bool {
    let is_map =
        map(line).is_some_and(|m| m.kernel_name.is_some() && (line.contains(") dm-") || line.contains(',')));
    is_map || line.starts_with("===== paths list =====")
}

/// `size=54T features='...' hwhandler='...' wp=rw`, `[size=100G][features=...]...`.
fn is_features(line: &str) -> bool {
    let line = line.trim_start();
    (line.starts_with("size=") || line.starts_with("[size=")) && line.contains("features=")
}

/// The first line of a map.
struct Map<'l> {
    name: &'l str,
    wwid: &'l str,
    /// `dm-3`; `nvme0n1` of native NVMe multipathing.
    kernel_name: Option<&'l str>,
    /// `DGC,RAID 5`.
    product: &'l str,
}

/// `mpatha (3600...) dm-2 DGC,RAID 5`, `3600... dm-2 DGC,RAID 5`, with what was done before it: `create: mpatha (...) undef`.
fn map(line: &str) -> Option<Map<'_>> {
    let mut line = line.trim_end();
    if line.starts_with([' ', '|', '`', '\\', '[']) || line.starts_with("size=") {
        return None;
    }
    if let Some((first, rest)) = line.split_once(": ")
        && matches!(first, "create" | "reload" | "reject" | "switchpg" | "rename" | "resize" | "unchanged")
    {
        line = rest;
    }
    let (names, kernel_name, product) = match kernel_name(line) {
        Some((at, name)) => (&line[..at], Some(name.trim_start_matches("[nvme]:")), &line[at + name.len()..]),
        // 0.4.5 has no kernel name.
        None if line.ends_with(')') && line.contains(" (") => (line, None, ""),
        None => {
            let (names, product) = line.split_once(" undef ")?;
            (names, None, product)
        }
    };
    let names = names.trim_end();
    let (name, wwid) = match names.split_once(" (") {
        Some((name, wwid)) => (name, wwid.strip_suffix(')')?),
        None => (names, names),
    };
    let fits = !name.is_empty() && (kernel_name.is_some() || wwid.len() >= 16 && !wwid.contains(' '));
    fits.then_some(Map { name, wwid, kernel_name, product: product.trim() })
}

/// Where the kernel's name stands. RHEL 5 glued it to a world-wide identifier without alias.
fn kernel_name(line: &str) -> Option<(usize, &str)> {
    for marker in ["dm-", "[nvme]:"] {
        let Some(at) = line.find(marker).filter(|at| *at > 0) else { continue };
        let end = line[at..].find(' ').map_or(line.len(), |n| at + n);
        let name = &line[at..end];
        if marker == "[nvme]:" || name.len() > 3 && name[3..].bytes().all(|b| b.is_ascii_digit()) {
            return Some((at, name));
        }
    }
    None
}

/// A path: address, device, states.
struct PathLine<'l> {
    address: &'l str,
    device: &'l str,
    state: String,
}

/// `| |- 12:0:0:1 sdc 8:32 active ready running`, ` \_ 3:0:1:4 sdk 8:160 [active][ready]`.
fn path(line: &str) -> Option<PathLine<'_>> {
    let drawn = line.trim_start_matches([' ', '|', '`', '-', '\\', '_', '+', '├', '└', '─', '│']);
    let mut cells = drawn.split_ascii_whitespace();
    let address = cells.next().filter(|a| a.matches(':').count() >= 2)?;
    let is_part = |p: &str| p == "#" || p == "-" || !p.is_empty() && p.bytes().all(|b| b.is_ascii_digit());
    if !address.split(':').all(is_part) {
        return None;
    }
    let device = cells.next()?;
    let number = cells.next()?;
    if !number.contains(':') {
        return None;
    }
    let state: Vec<&str> = cells.flat_map(|c| c.split(['[', ']'])).filter(|c| !c.is_empty()).collect();
    Some(PathLine { address, device, state: state.join(" ") })
}

/// The value of `key=value` or `[key=value]` or `key='value'`.
fn setting<'l>(line: &'l str, key: &str) -> Option<&'l str> {
    let mut from = 0;
    loop {
        let at = from + line.get(from..)?.find(key)?;
        let is_first = at == 0 || matches!(line.as_bytes()[at - 1], b' ' | b'[');
        let after = &line[at + key.len()..];
        let Some(value) = after.strip_prefix('=').filter(|_| is_first) else {
            from = at + key.len();
            continue;
        };
        for quote in ['\'', '"'] {
            if let Some(quoted) = value.strip_prefix(quote) {
                return quoted.split(quote).next();
            }
        }
        let end = if line.trim_start().starts_with(['[', '\\']) { ']' } else { ' ' };
        return value.split(end).next();
    }
}

/// The reader.
#[derive(Default)]
pub(crate) struct Multipath {
    map: Option<(String, PlaceId)>,
    /// The selector was told for this map; further groups have the same one.
    selector_told: bool,
    group: Option<String>,
    /// Rows of `paths list` are read as paths of no map.
    listing: bool,
    complained: bool,
}

impl LineFormat for Multipath {
    fn line(&mut self, line: &str, out: &mut Out<'_>) -> Took {
        let trimmed = line.trim();
        if trimmed.is_empty() {
            return Took::Yes;
        }
        if crate::reader::prompted(trimmed).is_some() {
            return Took::No;
        }
        if is_features(trimmed) {
            self.features(trimmed, out);
        } else if let Some(found) = path(line) {
            self.path(&found, out);
        } else if self.group(trimmed, out) {
        } else if let Some(found) = map(trimmed).filter(|_| !is_noise(trimmed)) {
            self.begin(&found, out);
        } else if trimmed.starts_with("===== paths list") {
            self.listing = true;
            self.map = None;
        } else if is_noise(trimmed) {
            if trimmed.contains("kernel driver not loaded") && !std::mem::replace(&mut self.complained, true)
            {
                out.remark("multipath reported that its kernel driver is not loaded: there are no maps");
            }
        } else if trimmed.starts_with(['|', '`', '\\']) {
            out.complain("a path: address, device, major:minor, states", trimmed);
        } else {
            return Took::No;
        }
        Took::Yes
    }
}

/// Lines of debugging, and messages.
fn is_noise(line: &str) -> bool {
    let first = words(line).first().copied().unwrap_or("");
    line.contains(" | ")
        || line.contains(" = ")
        || line.starts_with("uuid ")
        || matches!(
            first,
            "forked" | "process" | "error" | "libdevmapper:" | "multipath.conf" | "params" | "status"
        )
        || [
            "blacklisted",
            "whitelisted",
            "not found",
            "kernel driver",
            "multipath.conf",
            "pathvec",
            "orphan",
            "reassign",
        ]
        .iter()
        .any(|w| line.contains(w))
        || first.ends_with(':') && device::kind(first.trim_end_matches(':')) == PlaceKind::Device
}

impl Multipath {
    fn begin(&mut self, map: &Map<'_>, out: &mut Out<'_>) {
        out.platform(Platform::Linux);
        self.listing = false;
        self.selector_told = false;
        self.group = None;
        let name = map.name.to_owned();
        let place = out.place(PlaceKind::Volume, &name);
        if !map.wwid.is_empty() {
            out.fact(place, facts::WWID, map.wwid);
        }
        if let Some(kernel_name) = map.kernel_name {
            out.fact(place, "kernel_name", kernel_name);
        }
        if let Some((vendor, product)) = map.product.split_once(',').filter(|(vendor, _)| *vendor != "##") {
            out.fact(place, facts::VENDOR, vendor.trim());
            out.fact(place, facts::PRODUCT, product.trim());
        }
        self.map = Some((name, place));
    }

    fn features(&mut self, line: &str, out: &mut Out<'_>) {
        let Some((_, place)) = self.map else {
            return out.complain("the name of a map above its size", line);
        };
        if let Some(size) = setting(line, "size") {
            match scaled(&size.replace(' ', ""), 1024.0) {
                Some(bytes) => out.fact(place, facts::SIZE_BYTES, bytes),
                None => out.complain("a size such as 100G", size),
            }
        }
        for (key, fact) in
            [("features", "features"), ("hwhandler", "hardware_handler"), ("wp", "write_protect")]
        {
            if let Some(text) = setting(line, key) {
                out.fact(place, fact, text);
            }
        }
    }

    /// `|-+- policy='service-time 0' prio=1 status=active`, `\_ round-robin 0 [prio=1][active]`.
    fn group(&mut self, line: &str, out: &mut Out<'_>) -> bool {
        let (selector, status, priority) = if let Some(policy) = setting(line, "policy") {
            (policy, setting(line, "status"), setting(line, "prio"))
        } else if let Some(rest) = line.strip_prefix("\\_ ") {
            let (selector, brackets) = rest.split_once('[').unwrap_or((rest, ""));
            let status = brackets.rsplit(['[', ']']).find(|p| !p.is_empty() && !p.contains('='));
            (selector.trim(), status, setting(line, "prio"))
        } else {
            return false;
        };
        let Some((_, place)) = self.map else {
            out.complain("the name of a map above its path groups", line);
            return true;
        };
        if !std::mem::replace(&mut self.selector_told, true) {
            out.fact(place, facts::PATH_SELECTOR, selector);
        }
        let priority = priority.and_then(decimal).map_or(String::new(), |p| format!(" priority {p}"));
        self.group = Some(format!("{}{priority}", status.unwrap_or("unknown")));
        true
    }

    fn path(&mut self, path: &PathLine<'_>, out: &mut Out<'_>) {
        if path.device == "-" {
            // The device has gone; the map still counts on it.
            if let Some((name, _)) = &self.map {
                let place = out.place(PlaceKind::Path, &format!("{name}/{}", path.address));
                out.fact(place, facts::PATH_STATE, path.state.as_str());
            }
            return;
        }
        let place = out.place(device::kind(path.device), path.device);
        out.fact(place, facts::SCSI_ADDRESS, path.address);
        if let Some((name, _)) = self.map.as_ref().filter(|_| !self.listing) {
            out.fact(place, facts::PART_OF, name.as_str());
            out.fact(place, facts::PATH_STATE, path.state.as_str());
            if let Some(group) = &self.group {
                out.fact(place, "path_group", group.as_str());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_lines_of_maps() {
        let found = map("mpatha (1IET     00080001) dm-0 IET,VIRTUAL-DISK").unwrap();
        assert_eq!(
            (found.name, found.wwid, found.kernel_name),
            ("mpatha", "1IET     00080001", Some("dm-0"))
        );
        let found = map("360060160ade32800f2e3baf47665e211dm-9 DGC,RAID 5").unwrap();
        assert_eq!((found.wwid, found.product), ("360060160ade32800f2e3baf47665e211", "DGC,RAID 5"));
        assert!(map("sda  8:0  100 dm").is_none());
        assert_eq!(setting("size=2.0G features='0' hwhandler='1 alua' wp=rw", "hwhandler"), Some("1 alua"));
        assert_eq!(setting("[size=100 GB][features=1 queue_if_no_path][rw]", "size"), Some("100 GB"));
    }
}
