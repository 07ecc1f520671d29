//! `zpool iostat` of OpenZFS, illumos and Solaris: pools, with -v their vdevs, with -l waits, with -q queues, -H and -p.
//!
//! A pool's row is what ZFS sent to it, no LUN's. A group (`mirror-0`) is told as `pool/mirror-0`, a disk under its own name
//! with the group as a fact; never add the rows of several levels. The first report is since the pool was imported.

mod columns;
mod histogram;

pub(super) use histogram::FORMAT as HISTOGRAM;

use super::super::stamp;
use super::super::{Format, LineFormat, Reads, Took};
use crate::clock::Clock;
use crate::out::Out;
use crate::recognise::{Head, Likeness};
use crate::text::number::{decimal, scaled};
use crate::text::words;
use columns::{Cell, cells, groups_of, names_below, number, title};
use record::imported::Quantity::{self, CapacityBytes, OutstandingInstant, UsedBytes};
use record::imported::{PlaceKind, RowsKind, facts};
use std::collections::{HashMap, HashSet};

/// This format.
pub(super) const FORMAT: Format = Format {
    name: "zpool-iostat",
    title: "zpool iostat of OpenZFS, illumos and Solaris",
    recognise,
    reads: Reads::Lines { new: || Box::new(Zpool::default()), begins },
};

/// Names that are remembered as told.
const TOLD_MAX: usize = 100_000;

fn recognise(head: &Head<'_>) -> Option<Likeness> {
    if let Some(line) = head.find(is_header) {
        return Likeness::by_line(95, "header", line);
    }
    // Option -H: tabs between a name and numbers, and no header.
    let rows = head.count(is_scripted);
    let told = head.first().contains("zpool iostat");
    let all = is_scripted(head.first()) && rows * 10 >= head.lines.len() * 9;
    if rows == 0 || !told && !all {
        return None;
    }
    let why = "rows of a name and six sizes between tabs, as zpool iostat -H prints them";
    let likeness = Likeness::new(if told { 90 } else { 35 }, why)?;
    let doubt = "rows without a header were read as zpool iostat -H: allocated, free, reads, writes, bytes read and written";
    Some(if told { likeness } else { likeness.with_ambiguity(doubt) })
}

fn begins(line: &str) -> bool {
    is_header(line) || title(line).is_some()
}

fn is_header(line: &str) -> bool {
    let words = words(line);
    let Some((&"pool", rest)) = words.split_first() else { return false };
    let capacity = rest.starts_with(&["alloc", "free"]) || rest.starts_with(&["used", "avail"]);
    capacity && rest.get(2..6).is_some_and(|r| r == ["read", "write", "read", "write"])
}

fn is_scripted(line: &str) -> bool {
    let parts: Vec<&str> = line.split('\t').collect();
    let [name, figures @ ..] = parts.as_slice() else { return false };
    let size = |t: &&str| *t == "-" || scaled(t, 1024.0).is_some();
    !name.is_empty()
        && decimal(name).is_none()
        && groups_of(figures.len()).is_some()
        && figures.iter().take(6).all(size)
}

/// The reader.
#[derive(Default)]
struct Zpool {
    clock: Clock,
    /// Reports seen; the first is since the pool was imported.
    reports: u64,
    skips_boot: bool,
    /// A time line has begun the report that follows.
    begun: bool,
    groups: Vec<&'static str>,
    cells: Vec<Cell>,
    quantities: Vec<Quantity>,
    /// Blanks before the names of pools.
    margin: usize,
    /// Pools of this report, and the groups met in the current one.
    seen: HashSet<String>,
    pool: String,
    group: String,
    unnumbered: u32,
    told: HashMap<String, String>,
    unread_told: bool,
}

impl LineFormat for Zpool {
    fn line(&mut self, line: &str, out: &mut Out<'_>) -> Took {
        let trimmed = line.trim();
        if trimmed.is_empty() || trimmed.bytes().all(|b| matches!(b, b'-' | b' ' | b'\t')) {
            return Took::Yes;
        }
        if let Some(groups) = title(trimmed) {
            self.groups = groups;
            return Took::Yes;
        }
        if is_header(trimmed) {
            self.header(line, out);
            return Took::Yes;
        }
        if let Some((at_s, basis)) = stamp::moment(trimmed) {
            self.reports += 1;
            let kind = self.kind();
            let interval = self.clock.moment(at_s, basis, kind);
            out.interval(interval);
            self.begun = true;
            self.seen.clear();
            return Took::Yes;
        }
        if self.cells.is_empty() && is_scripted(line) {
            let count = line.split('\t').count() - 1;
            self.groups = groups_of(count).or_else(|| groups_of(6)).unwrap_or_default();
            let mut names = names_below(&self.groups);
            names.resize(count, "");
            self.columns(&names, out);
        }
        self.row(line, out)
    }

    fn command(&mut self, command: &str) {
        for word in words(command.split(['|', '>', ';']).next().unwrap_or("")) {
            self.skips_boot |= word.starts_with('-') && word.contains('y');
            if let Some(seconds) = decimal(word).filter(|s| *s > 0.0) {
                self.clock.asked(seconds);
                break;
            }
        }
        self.reports = 0;
        self.seen.clear();
    }
}

impl Zpool {
    fn kind(&self) -> RowsKind {
        if self.reports <= 1 && !self.skips_boot { RowsKind::SinceBoot } else { RowsKind::Interval }
    }

    fn header(&mut self, line: &str, out: &mut Out<'_>) {
        self.margin = line.len() - line.trim_start().len();
        if self.groups.is_empty() {
            self.groups = vec!["capacity", "operations", "bandwidth"];
        }
        let names: Vec<&str> = words(line).into_iter().skip(1).collect();
        self.columns(&names, out);
    }

    fn columns(&mut self, names: &[&str], out: &mut Out<'_>) {
        self.cells = cells(&self.groups, names);
        let kept = |c: &Cell| match c {
            Cell::Count(q) | Cell::Time(q) => Some(*q),
            _ => None,
        };
        self.quantities = self.cells.iter().filter_map(kept).chain([CapacityBytes]).collect();
        if self.cells.contains(&Cell::Queued) {
            self.quantities.push(OutstandingInstant);
        }
        if self.cells.contains(&Cell::Unread) && !std::mem::replace(&mut self.unread_told, true) {
            let of = |(n, c): (&&str, &Cell)| (*c == Cell::Unread).then(|| (*n).to_owned());
            let unknown: Vec<String> = names.iter().zip(&self.cells).filter_map(of).collect();
            out.remark(&format!("columns that are not known here were left unread: {}", unknown.join(" ")));
        }
    }

    fn row(&mut self, line: &str, out: &mut Out<'_>) -> Took {
        let mut parts = words(line);
        if parts.is_empty() || self.cells.is_empty() {
            return Took::No;
        }
        let name = parts.remove(0);
        if parts.len() != self.cells.len() {
            let figures = parts.iter().filter(|p| **p == "-" || scaled(p, 1024.0).is_some()).count();
            if figures * 2 < self.cells.len() {
                return Took::No;
            }
            out.complain(&format!("a name and {} figures", self.cells.len()), line);
            return Took::Yes;
        }
        let figures: Option<Vec<f64>> = self.cells.iter().zip(&parts).map(|(c, p)| number(*c, p)).collect();
        let Some(figures) = figures else {
            out.complain(&format!("a name and {} figures", self.cells.len()), line);
            return Took::Yes;
        };
        let depth = (line.len() - line.trim_start().len()).saturating_sub(self.margin);
        if depth == 0 && matches!(name, "logs" | "cache" | "spares" | "special" | "dedup" | "log") {
            self.group.clear();
            return Took::Yes;
        }
        if depth == 0 {
            self.begin_pool(name, out);
        }
        self.push(depth, name, &figures, out);
        Took::Yes
    }

    /// A row of a pool. One that was met before begins the next report.
    fn begin_pool(&mut self, name: &str, out: &mut Out<'_>) {
        if !std::mem::replace(&mut self.begun, false) && (self.seen.is_empty() || self.seen.contains(name)) {
            self.seen.clear();
            self.reports += 1;
            let kind = self.kind();
            let interval = self.clock.next(kind);
            out.interval(interval);
        }
        self.seen.insert(name.to_owned());
        name.clone_into(&mut self.pool);
        self.group.clear();
        self.unnumbered = 0;
    }

    fn push(&mut self, depth: usize, name: &str, figures: &[f64], out: &mut Out<'_>) {
        let place = if depth == 0 {
            out.place(PlaceKind::Pool, name)
        } else if is_group(name) {
            let own = if name.contains('-') {
                format!("{}/{name}", self.pool)
            } else {
                // Old releases print `mirror` for each.
                self.unnumbered += 1;
                format!("{}/{name}-{}", self.pool, self.unnumbered - 1)
            };
            let place = out.place(PlaceKind::Pool, &own);
            self.tell_part(place, &own, &self.pool.clone(), out);
            self.group = own;
            place
        } else {
            let place = out.place(PlaceKind::Device, name);
            // Two blanks stand before what belongs to the pool itself, four before what belongs to a group.
            let of = if depth <= 2 || self.group.is_empty() { self.pool.clone() } else { self.group.clone() };
            self.tell_part(place, name, &of, out);
            place
        };
        let mut values: Vec<f64> = Vec::with_capacity(self.quantities.len());
        let (mut free, mut used, mut queued) = (f64::NAN, f64::NAN, f64::NAN);
        for (cell, figure) in self.cells.iter().zip(figures) {
            match cell {
                Cell::Count(quantity) | Cell::Time(quantity) => {
                    if *quantity == UsedBytes {
                        used = *figure;
                    }
                    values.push(*figure);
                }
                Cell::Free => free = *figure,
                Cell::Queued if !figure.is_nan() => {
                    queued = if queued.is_nan() { *figure } else { queued + figure }
                }
                _ => {}
            }
        }
        values.push(free + used);
        if self.quantities.contains(&OutstandingInstant) {
            values.push(queued);
        }
        let layout = out.layout(&self.quantities);
        out.row(layout, place, &values);
    }

    fn tell_part(&mut self, place: record::imported::PlaceId, name: &str, of: &str, out: &mut Out<'_>) {
        if !of.is_empty() && self.told.get(name).is_none_or(|t| t != of) && self.told.len() < TOLD_MAX {
            out.fact(place, facts::PART_OF, of);
            self.told.insert(name.to_owned(), of.to_owned());
        }
    }
}

/// Whether a vdev is a group of others.
fn is_group(name: &str) -> bool {
    ["mirror", "raidz", "draid", "spare", "replacing", "indirect", "hole", "missing"].iter().any(|g| {
        name.strip_prefix(g).is_some_and(|rest| rest.is_empty() || rest.starts_with(['-', '1', '2', '3']))
    })
}
