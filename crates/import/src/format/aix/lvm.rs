//! `lspv`, `lslv` and `lsvg` of AIX: which disks a volume group has, which volumes it has, and where their partitions lie.
//!
//! What matters for I/O is the spread: a volume whose partitions follow each other on one disk uses one service queue
//! after the other. `lslv -m` is therefore summed up by disk, with the longest run on one of them.

use super::device::{arguments, disk_kind, runs};
use super::fcstat::snake;
use crate::format::{Format, LineFormat, Reads, Took};
use crate::out::Out;
use crate::recognise::{Head, Likeness};
use crate::text::number::decimal;
use crate::text::words;
use record::imported::{PlaceId, PlaceKind, Platform, facts};
use std::collections::BTreeMap;

const MIB: f64 = 1_048_576.0;

/// This format.
pub(super) const FORMAT: Format = Format {
    name: "aix-lvm",
    title: "lspv, lslv and lsvg of AIX",
    recognise,
    reads: Reads::Lines { new: || Box::new(Lvm::default()), begins },
};

fn recognise(head: &Head<'_>) -> Option<Likeness> {
    if let Some(line) = head.find(|l| table(l).is_some() || is_pair_title(l)) {
        return Likeness::by_line(95, "header", line);
    }
    Likeness::by_line(90, "disk", head.find(|l| listed(l).is_some())?)
}

fn begins(line: &str) -> bool {
    table(line).is_some() || is_pair_title(line) || listed(line).is_some()
}

/// `VOLUME GROUP:  data   VG IDENTIFIER: ...` and its like for disks and volumes.
fn is_pair_title(line: &str) -> bool {
    (line.starts_with("VOLUME GROUP:") && line.contains("VG IDENTIFIER:"))
        || (line.starts_with("PHYSICAL VOLUME:") || line.starts_with("LOGICAL VOLUME:"))
            && line.contains("VOLUME GROUP:")
}

/// A line of plain `lspv`: disk, identifier or `none`, volume group or `None`, perhaps its state.
fn listed(line: &str) -> Option<(&str, &str, &str, Option<&str>)> {
    let cells = words(line);
    let (disk, id, group) = (*cells.first()?, *cells.get(1)?, *cells.get(2)?);
    let is_id =
        |w: &str| matches!(w.len(), 16 | 32) && w.bytes().all(|b| b.is_ascii_hexdigit()) || w == "none";
    let states = ["active", "concurrent", "locked", "missing", "removed"];
    let state = cells.get(3).copied();
    let fits =
        disk.contains("disk") && is_id(id) && cells.len() <= 6 && state.is_none_or(|s| states.contains(&s));
    fits.then_some((disk, id, group, state))
}

/// The tables with a header line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Table {
    #[default]
    None,
    /// `lsvg -l`: volumes of a group.
    Volumes,
    /// `lsvg -p`: disks of a group.
    Disks,
    /// `lspv -l`: volumes of a disk.
    VolumesOnDisk,
    /// `lspv -p`: ranges of partitions of a disk.
    Ranges,
    /// `lslv -m`: disk and partition of each logical partition.
    Map,
    /// `lslv -l`: disks of a volume.
    DisksOfVolume,
}

fn table(line: &str) -> Option<Table> {
    let names = words(line);
    let begins = |with: &[&str]| names.get(..with.len()).is_some_and(|n| n == with);
    if begins(&["LV", "NAME", "TYPE", "LPs", "PPs"]) {
        Some(Table::Volumes)
    } else if begins(&["LV", "NAME", "LPs", "PPs", "DISTRIBUTION"]) {
        Some(Table::VolumesOnDisk)
    } else if begins(&["PV_NAME", "PV", "STATE"]) {
        Some(Table::Disks)
    } else if begins(&["PP", "RANGE", "STATE"]) {
        Some(Table::Ranges)
    } else if begins(&["LP", "PP1", "PV1"]) || begins(&["LP", "PP1", "PVID1"]) {
        Some(Table::Map)
    } else if begins(&["PV", "COPIES", "IN", "BAND"]) {
        Some(Table::DisksOfVolume)
    } else {
        None
    }
}

/// The reader.
#[derive(Default)]
pub(crate) struct Lvm {
    table: Table,
    /// What the line above the header names: `rootvg:`, `hdisk0:`, `lv01:/data`.
    owner: String,
    /// Of the pairs: what they describe.
    about: Option<PlaceId>,
    pairs_of: &'static str,
    map: Map,
    platform_told: bool,
}

/// Sum of `lslv -m`.
#[derive(Default)]
struct Map {
    volume: String,
    on: BTreeMap<String, u64>,
    last: String,
    run: u64,
    longest: u64,
}

impl LineFormat for Lvm {
    fn line(&mut self, line: &str, out: &mut Out<'_>) -> Took {
        let trimmed = line.trim();
        if trimmed.is_empty() {
            return Took::Yes;
        }
        if crate::reader::prompted(trimmed).is_some() {
            return Took::No;
        }
        if let Some(table) = table(trimmed) {
            self.finish_map(out);
            self.table = table;
            self.about = None;
            // A command below may name another volume before the sum is told.
            self.map.volume.clone_from(&self.owner);
            self.tell_platform(out);
            return Took::Yes;
        }
        // `lv01:/data`, `rootvg:`
        if let Some((owner, rest)) = trimmed.split_once(':')
            && !owner.contains(' ')
            && (rest.is_empty() || rest.starts_with('/') || rest == "N/A")
        {
            self.finish_map(out);
            owner.clone_into(&mut self.owner);
            self.table = Table::None;
            self.about = None;
            return Took::Yes;
        }
        let is_pair = |l: &str| pairs(l).is_some() && !l.starts_with("FIBRE") && !l.starts_with("LABEL");
        if is_pair_title(trimmed) || self.about.is_some() && is_pair(trimmed) {
            self.finish_map(out);
            self.table = Table::None;
            self.tell_platform(out);
            return self.pairs(trimmed, out);
        }
        // The heading that a virtual I/O server prints.
        if words(trimmed) == ["NAME", "PVID", "VG", "STATUS"] {
            return Took::Yes;
        }
        if let Some((disk, id, group, state)) = listed(trimmed) {
            self.tell_platform(out);
            let place = out.place(disk_kind(disk), disk);
            if id != "none" {
                out.fact(place, "pvid", id);
            }
            if group != "None" {
                out.fact(place, facts::PART_OF, group);
            }
            if let Some(state) = state {
                out.fact(place, "volume_group_state", state);
            }
            return Took::Yes;
        }
        if self.table != Table::None {
            return self.row(trimmed, out);
        }
        Took::No
    }

    fn command(&mut self, command: &str) {
        self.table = if runs(command, "lspv") { Table::None } else { self.table };
        if let Some(owner) = arguments(command).find(|w| !w.starts_with('-'))
            && ["lsvg", "lspv", "lslv"].iter().any(|p| runs(command, p))
        {
            owner.clone_into(&mut self.owner);
        }
    }

    fn end(&mut self, out: &mut Out<'_>) {
        self.finish_map(out);
    }
}

impl Lvm {
    fn tell_platform(&mut self, out: &mut Out<'_>) {
        if !std::mem::replace(&mut self.platform_told, true) {
            out.platform(Platform::Aix);
        }
    }

    /// A line of `KEY: value   KEY: value`.
    fn pairs(&mut self, line: &str, out: &mut Out<'_>) -> Took {
        let Some(found) = pairs(line) else {
            out.complain("a key, a colon and a value, twice", line);
            return Took::Yes;
        };
        let first = found.first().map_or("", |(key, _)| *key);
        if is_pair_title(line) {
            let name = found.first().and_then(|(_, v)| v.split_ascii_whitespace().next()).unwrap_or("");
            (self.about, self.pairs_of) = match first {
                "PHYSICAL VOLUME" => (Some(out.place(disk_kind(name), name)), "disk"),
                "LOGICAL VOLUME" => (Some(out.place(PlaceKind::Volume, name)), "volume"),
                _ => (Some(out.place(PlaceKind::Other, name)), "group"),
            };
        }
        let Some(place) = self.about else { return Took::No };
        for (key, value) in found {
            if value.is_empty() || key == first && is_pair_title(line) {
                continue;
            }
            if key == "VOLUME GROUP" {
                out.fact(place, facts::PART_OF, value);
            } else if let Some(bytes) = size_bytes(value) {
                out.fact(place, &format!("{}_bytes", snake(key)), bytes);
            } else if let Some(number) = decimal(value.split(' ').next().unwrap_or("")) {
                out.fact(place, &snake(key), number);
            } else {
                out.fact(place, &snake(key), value);
            }
        }
        Took::Yes
    }

    fn row(&mut self, line: &str, out: &mut Out<'_>) -> Took {
        let cells = words(line);
        let number = |at: usize| cells.get(at).and_then(|c| decimal(c));
        let name = cells.first().copied().unwrap_or("");
        match self.table {
            Table::Volumes => {
                let (Some(lps), Some(pps), Some(pvs)) = (number(2), number(3), number(4)) else {
                    return bad("a volume, its type, LPs, PPs, PVs, state and mount point", line, out);
                };
                let place = out.place(PlaceKind::Volume, name);
                if !self.owner.is_empty() {
                    out.fact(place, facts::PART_OF, self.owner.as_str());
                }
                for (fact, value) in
                    [("logical_partitions", lps), ("physical_partitions", pps), ("physical_volumes", pvs)]
                {
                    out.fact(place, fact, value);
                }
                for (at, fact) in [(1, "type"), (5, "state"), (6, "mount_point")] {
                    if let Some(text) = cells.get(at).filter(|t| **t != "N/A") {
                        out.fact(place, fact, *text);
                    }
                }
            }
            Table::Disks => {
                let (Some(total), Some(free)) = (number(2), number(3)) else {
                    return bad("a disk, its state, total and free partitions", line, out);
                };
                let place = out.place(disk_kind(name), name);
                if !self.owner.is_empty() {
                    out.fact(place, facts::PART_OF, self.owner.as_str());
                }
                out.fact(place, "physical_partitions", total);
                out.fact(place, "free_partitions", free);
                out.fact(place, "pv_state", cells.get(1).copied().unwrap_or(""));
            }
            Table::VolumesOnDisk => {
                let (Some(_), Some(pps)) = (number(1), number(2)) else {
                    return bad("a volume, LPs, PPs and their distribution", line, out);
                };
                let disk = self.owner.clone();
                let place = out.place(PlaceKind::Volume, name);
                out.fact(place, &format!("partitions_on_{disk}"), pps);
            }
            Table::DisksOfVolume => {
                if cells.len() < 2 || !cells.get(1).is_some_and(|c| c.contains(':')) {
                    return bad("a disk, copies, share in band, distribution", line, out);
                }
                let copies: f64 = cells[1].split(':').filter_map(decimal).sum();
                let place = out.place(PlaceKind::Volume, &self.owner);
                out.fact(place, &format!("partitions_on_{name}"), copies);
            }
            Table::Ranges => return self.range(line, &cells, out),
            Table::Map => return self.mapped(line, &cells, out),
            Table::None => return Took::No,
        }
        Took::Yes
    }

    /// `111-220   used   outer middle   lv01   jfs2   /data`; free ranges have neither volume nor type.
    fn range(&mut self, line: &str, cells: &[&str], out: &mut Out<'_>) -> Took {
        let bounds = cells.first().and_then(|range| {
            let (first, last) = range.split_once('-').unwrap_or((range, range));
            Some((decimal(first)?, decimal(last)?))
        });
        let (Some((first, last)), Some(state)) = (bounds, cells.get(1)) else {
            return bad("a range of partitions, its state, region, volume and type", line, out);
        };
        // The region is one or two words: `center`, `outer edge`, `inner middle`.
        let region = if cells.get(2) == Some(&"center") { 1 } else { 2 };
        if *state == "used"
            && let Some(volume) = cells.get(2 + region)
        {
            let place = out.place(PlaceKind::Volume, volume);
            let text = format!("{first}-{last}");
            out.fact(place, &format!("range_on_{}", self.owner), text);
        }
        Took::Yes
    }

    /// `0001  0110 hdisk2   0110 hdisk3`: the first copy is summed up.
    fn mapped(&mut self, line: &str, cells: &[&str], out: &mut Out<'_>) -> Took {
        let (Some(_), Some(_), Some(disk)) =
            (cells.first().and_then(|c| decimal(c)), cells.get(1).and_then(|c| decimal(c)), cells.get(2))
        else {
            return bad("a logical partition, a physical one and its disk", line, out);
        };
        *self.map.on.entry((*disk).to_owned()).or_default() += 1;
        self.map.run = if self.map.last == *disk { self.map.run + 1 } else { 1 };
        self.map.longest = self.map.longest.max(self.map.run);
        (*disk).clone_into(&mut self.map.last);
        Took::Yes
    }

    fn finish_map(&mut self, out: &mut Out<'_>) {
        let map = std::mem::take(&mut self.map);
        if map.on.is_empty() {
            return;
        }
        let place = out.place(PlaceKind::Volume, &map.volume);
        for (disk, partitions) in &map.on {
            out.fact(place, &format!("partitions_on_{disk}"), *partitions as f64);
        }
        out.fact(place, "longest_run_of_partitions_on_one_disk", map.longest as f64);
    }
}

fn bad(expected: &str, line: &str, out: &mut Out<'_>) -> Took {
    if words(line).len() < 2 {
        return Took::No;
    }
    out.complain(expected, line);
    Took::Yes
}

/// The pairs of a line. The second key begins after two blanks, or, where a long value fills its column, with the words
/// before its colon that look like one.
fn pairs(line: &str) -> Option<Vec<(&str, &str)>> {
    let (key, rest) = line.split_once(':')?;
    let is_end = |at: usize| rest[at + 1..].starts_with([' ', '\t']) || rest.len() == at + 1;
    let colon = rest.rmatch_indices(':').map(|(at, _)| at).find(|at| is_end(*at));
    // `lspv` forgets the colon of this one.
    let (key_end, value) = match (colon, rest.find("VG IDENTIFIER ")) {
        (Some(colon), _) => (colon, rest[colon + 1..].trim()),
        (None, Some(at)) => (at + 13, rest[at + 13..].trim()),
        (None, None) => return Some(vec![(key.trim(), rest.trim())]),
    };
    let mut start = key_end;
    for (at, word) in crate::text::words_at(&rest[..key_end]).into_iter().rev() {
        let gap = start - (at + word.len());
        let is_key = word.bytes().all(|b| b.is_ascii_alphabetic() || matches!(b, b'-' | b'(' | b')'))
            && (word.bytes().any(|b| b.is_ascii_uppercase()) || word == "per");
        if start < key_end && gap > 1 || !is_key {
            break;
        }
        start = at;
    }
    let second = rest[start..key_end].trim();
    if second.is_empty() {
        return Some(vec![(key.trim(), rest.trim())]);
    }
    Some(vec![(key.trim(), rest[..start].trim()), (second, value)])
}

/// `128 megabyte(s)`, `256 kilobytes`. A number of partitions with its size in brackets is none.
fn size_bytes(value: &str) -> Option<f64> {
    let mut words = value.split_ascii_whitespace();
    let number = decimal(words.next()?)?;
    let unit = words.next()?;
    if unit.starts_with("megabyte") {
        Some(number * MIB)
    } else if unit.starts_with("kilobyte") {
        Some(number * 1024.0)
    } else {
        None
    }
}
