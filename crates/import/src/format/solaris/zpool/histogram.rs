//! `zpool iostat -w` and `-r`: histograms of times and of request sizes, one table per pool or vdev and report.
//!
//! A label of -w is the longest time of its bucket, one of -r the smallest size (zpool-iostat(8)). The counts of the first
//! report are since the pool was imported; distributions carry no interval, so that is said once.

use super::columns::microseconds;
use crate::format::columns::numbers;
use crate::format::{Format, LineFormat, Reads, Took, bsd, linux, solaris, stamp};
use crate::out::Out;
use crate::recognise::{Head, Likeness};
use crate::text::number::scaled;
use crate::text::words;
use record::IoClass;
use record::imported::{PlaceKind, Quantity};
use std::collections::HashSet;

/// This format.
pub(in crate::format::solaris) const FORMAT: Format = Format {
    name: "zpool-iostat-histogram",
    title: "zpool iostat -w and -r of OpenZFS",
    recognise,
    reads: Reads::Lines { new: || Box::new(Histogram::default()), begins: |line| title(line).is_some() },
};

/// Buckets of a table; the tool prints 37 and fewer.
const BUCKETS_MAX: usize = 128;
/// Names that are remembered as met.
const MET_MAX: usize = 100_000;

/// What is counted: the quantity, its class, and the columns that are added.
type Counted = (Quantity, IoClass, Vec<usize>);

fn recognise(head: &Head<'_>) -> Option<Likeness> {
    Likeness::by_line(94, "header", head.find(|l| title(l).is_some())?)
}

/// Name and groups of a title: `tank  total_wait  disk_wait ...`.
fn title(line: &str) -> Option<(&str, Vec<&str>)> {
    let mut words = words(line);
    let known =
        words.get(1..3).is_some_and(|g| g == ["total_wait", "disk_wait"] || g == ["sync_read", "sync_write"]);
    (line.len() < 1000 && known).then(|| (words.remove(0), words))
}

/// What the columns below these groups count. Each group has two, but for scrub and what follows it in -w.
fn counted(groups: &[&str], is_size: bool) -> Vec<Counted> {
    let at = |name: &str| groups.iter().position(|g| *g == name).map(|n| n * 2);
    let mut counted = Vec::new();
    if is_size {
        for (class, names) in
            [(IoClass::Read, ["sync_read", "async_read"]), (IoClass::Write, ["sync_write", "async_write"])]
        {
            // Issued alone and issued as one of several that were joined.
            let columns = names.iter().filter_map(|n| at(n)).flat_map(|n| [n, n + 1]).collect();
            counted.push((Quantity::RequestBytes, class, columns));
        }
        return counted;
    }
    for (group, read, write) in [
        ("total_wait", Quantity::ReadResponseUs, Quantity::WriteResponseUs),
        ("disk_wait", Quantity::ReadServiceUs, Quantity::WriteServiceUs),
    ] {
        if let Some(n) = at(group) {
            counted.push((read, IoClass::Read, vec![n]));
            counted.push((write, IoClass::Write, vec![n + 1]));
        }
    }
    counted
}

/// The reader.
#[derive(Default)]
struct Histogram {
    name: String,
    groups: Vec<String>,
    is_size: bool,
    width: usize,
    /// Upper bound and counts of each bucket so far.
    buckets: Vec<(f64, Vec<f64>)>,
    met: HashSet<String>,
    told: bool,
}

impl LineFormat for Histogram {
    fn line(&mut self, line: &str, out: &mut Out<'_>) -> Took {
        let line = line.trim();
        if line.is_empty() || stamp::moment(line).is_some() {
            return Took::Yes;
        }
        if let Some((name, groups)) = title(line) {
            self.finish(out);
            name.clone_into(&mut self.name);
            self.is_size = groups.first() == Some(&"sync_read");
            self.groups = groups.iter().map(|g| (*g).to_owned()).collect();
            return Took::Yes;
        }
        if line.bytes().all(|b| matches!(b, b'-' | b' ')) {
            self.finish(out);
            return Took::Yes;
        }
        let cells = words(line);
        let Some((label, cells)) = cells.split_first() else { return Took::Yes };
        if matches!(*label, "latency" | "req_size") {
            self.width = cells.len();
            return Took::Yes;
        }
        let bound = if self.is_size {
            scaled(label, 1024.0).map(|smallest| smallest * 2.0 - 1.0)
        } else {
            microseconds(label)
        };
        let Some(bound) = bound.filter(|_| self.width > 0) else { return Took::No };
        let counts: Option<Vec<f64>> = match numbers(cells.iter().copied()) {
            Some(counts) => Some(counts),
            None => cells.iter().map(|c| if *c == "-" { Some(0.0) } else { scaled(c, 1024.0) }).collect(),
        };
        match counts.filter(|c| c.len() == self.width && self.buckets.len() < BUCKETS_MAX) {
            Some(counts) => self.buckets.push((bound, counts)),
            None => out.complain(&format!("a bucket and {} counts", self.width), line),
        }
        Took::Yes
    }

    fn end(&mut self, out: &mut Out<'_>) {
        self.finish(out);
    }
}

impl Histogram {
    /// The table has ended.
    fn finish(&mut self, out: &mut Out<'_>) {
        let buckets = std::mem::take(&mut self.buckets);
        if buckets.is_empty() {
            return;
        }
        if !self.met.insert(self.name.clone()) && !std::mem::replace(&mut self.told, true) {
            out.remark("the first histogram of each pool and vdev is since the pool was imported, those after it of intervals");
        }
        if self.met.len() > MET_MAX {
            self.met.clear();
        }
        let place = out.place(kind(&self.name), &self.name);
        let groups: Vec<&str> = self.groups.iter().map(String::as_str).collect();
        for (quantity, class, columns) in counted(&groups, self.is_size) {
            let sum = |counts: &[f64]| columns.iter().filter_map(|c| counts.get(*c)).sum::<f64>();
            let of: Vec<(f64, f64)> = buckets.iter().map(|(bound, counts)| (*bound, sum(counts))).collect();
            if of.iter().any(|(_, count)| *count > 0.0) {
                out.distribution(place, quantity, Some(class), of);
            }
        }
    }
}

/// A disk by the names of three systems, else a pool or a group of it: the table does not tell.
fn kind(name: &str) -> PlaceKind {
    let is_disk = [linux::device::kind(name), bsd::device::kind(name), solaris::device::kind(name)]
        .iter()
        .any(|k| matches!(k, PlaceKind::Device | PlaceKind::Partition));
    if is_disk { PlaceKind::Device } else { PlaceKind::Pool }
}
