//! `vmstat` of Solaris, HP-UX and FreeBSD, and `mpstat` of Solaris: processors, run queue, scanning.
//!
//! Columns of disks are left out: their names are cut to two letters. `sy` stands twice in the header of vmstat, first for
//! calls and then for processor time. The first report is since boot on all of them (vmstat(1M), mpstat(1M), vmstat(8)).

use super::columns::{Column, KIB, Table, unread};
use super::{Format, LineFormat, Reads, Took, stamp};
use crate::clock::Clock;
use crate::out::Out;
use crate::recognise::{Head, Likeness};
use crate::text::number::{decimal, scaled};
use crate::text::words;
use record::imported::Quantity::*;
use record::imported::{PlaceKind, Platform, RowsKind};

/// vmstat.
pub(super) const VMSTAT: Format = Format {
    name: "unix-vmstat",
    title: "vmstat of Solaris, HP-UX and FreeBSD",
    recognise: |head| recognise(head, vmstat_platform),
    reads: Reads::Lines {
        new: || Box::new(Vmstat::new(vmstat_platform)),
        begins: |line| vmstat_platform(line).is_some(),
    },
};

/// mpstat.
pub(super) const MPSTAT: Format = Format {
    name: "solaris-mpstat",
    title: "mpstat of Solaris and illumos",
    recognise: |head| recognise(head, mpstat_platform),
    reads: Reads::Lines {
        new: || Box::new(Vmstat::new(mpstat_platform)),
        begins: |line| mpstat_platform(line).is_some(),
    },
};

type PlatformOf = fn(&str) -> Option<Platform>;

fn recognise(head: &Head<'_>, platform: PlatformOf) -> Option<Likeness> {
    Likeness::by_line(92, "header", head.find(|l| platform(l).is_some())?)
}

/// The platform whose vmstat has this header.
fn vmstat_platform(line: &str) -> Option<Platform> {
    if line.len() > 400 || !line.contains("us") {
        return None;
    }
    let words = words(line);
    let has = |run: &[&str]| words.windows(run.len()).any(|w| w == run);
    if !words.starts_with(&["r", "b", "w"]) || !has(&["in", "sy", "cs"]) || !has(&["us", "sy", "id"]) {
        return None;
    }
    if has(&["swap", "free", "re", "mf"]) || has(&["swap", "free", "si", "so"]) {
        Some(Platform::Solaris)
    } else if has(&["avm", "free", "re", "at"]) {
        Some(Platform::HpUx)
    } else if has(&["avm", "fre"]) {
        Some(Platform::FreeBsd)
    } else {
        None
    }
}

fn mpstat_platform(line: &str) -> Option<Platform> {
    let header = line.len() < 400 && words(line).starts_with(&["CPU", "minf", "mjf", "xcal", "intr"]);
    header.then_some(Platform::Solaris)
}

/// The columns of a header. What pages and memory are counted in depends on the platform; only kilobytes are kept.
fn columns(header: &[&str], platform: Platform) -> Vec<Column> {
    use Column::{Dropped, Kept, Name};
    let mut columns = Vec::new();
    let (mut calls_seen, mut after_interrupts) = (false, false);
    let solaris = platform == Platform::Solaris;
    for name in header {
        after_interrupts |= *name == "in";
        columns.push(match *name {
            "CPU" => Name,
            "r" => Kept(RunQueue, 1.0),
            "b" => Kept(BlockedTasks, 1.0),
            "free" if solaris => Kept(FreeBytes, KIB),
            "fre" => Kept(FreeBytes, KIB),
            "pi" if solaris => Kept(PageInBytesPerS, KIB),
            "po" if solaris => Kept(PageOutBytesPerS, KIB),
            "sr" => Kept(PagesScannedPerS, 1.0),
            "flt" => Kept(FaultsPerS, 1.0),
            "mjf" => Kept(MajorFaultsPerS, 1.0),
            "in" | "intr" => Kept(InterruptsPerS, 1.0),
            "sy" if !std::mem::replace(&mut calls_seen, true) => Dropped,
            "cs" | "csw" => Kept(SwitchesPerS, 1.0),
            "us" | "usr" => Kept(CpuUserPercent, 1.0),
            "sy" | "sys" => Kept(CpuSystemPercent, 1.0),
            "wt" => Kept(CpuIowaitPercent, 1.0),
            "st" => Kept(CpuStealPercent, 1.0),
            "id" | "idl" => Kept(CpuIdlePercent, 1.0),
            "w" | "swap" | "free" | "avm" | "re" | "mf" | "at" | "pi" | "po" | "fr" | "de" | "si" | "so" => {
                Dropped
            }
            "minf" | "xcal" | "ithr" | "icsw" | "migr" | "smtx" | "srw" | "syscl" | "set" | "sze" => Dropped,
            // Disks.
            _ if !after_interrupts && !header.contains(&"CPU") => Dropped,
            _ => Column::Unread,
        });
    }
    columns
}

/// The reader of both.
struct Vmstat {
    platform_of: PlatformOf,
    clock: Clock,
    reports: u64,
    begun: bool,
    header: String,
    table: Option<Table>,
    per_processor: bool,
}

impl Vmstat {
    fn new(platform_of: PlatformOf) -> Self {
        let clock = Clock::default();
        let header = String::new();
        Self { platform_of, clock, reports: 0, begun: false, header, table: None, per_processor: false }
    }

    fn kind(&self) -> RowsKind {
        if self.reports <= 1 { RowsKind::SinceBoot } else { RowsKind::Interval }
    }

    fn begin_report(&mut self, out: &mut Out<'_>) {
        if !std::mem::replace(&mut self.begun, false) {
            self.reports += 1;
            let kind = self.kind();
            let interval = self.clock.next(kind);
            out.interval(interval);
        }
    }

    fn take_header(&mut self, line: &str, platform: Platform, out: &mut Out<'_>) {
        if self.header != line {
            out.platform(platform);
            let names = words(line);
            let columns = columns(&names, platform);
            if let Some(remark) = unread(&names, &columns) {
                out.remark(&remark);
            }
            self.table = Some(Table::new(&columns, out));
            self.per_processor = columns.first() == Some(&Column::Name);
            line.clone_into(&mut self.header);
        }
        // mpstat repeats its header above each report, vmstat after a screen of rows.
        if self.per_processor {
            self.begin_report(out);
        }
    }
}

impl LineFormat for Vmstat {
    fn line(&mut self, line: &str, out: &mut Out<'_>) -> Took {
        let line = line.trim();
        if line.is_empty() || line.starts_with("kthr") || line.starts_with("procs") {
            return Took::Yes;
        }
        if let Some(platform) = (self.platform_of)(line) {
            self.take_header(line, platform, out);
            return Took::Yes;
        }
        if let Some((at_s, basis)) = stamp::moment(line) {
            // Each stamp of OSWatcher stands above a new run.
            if line.starts_with("zzz") {
                self.reports = 0;
            }
            self.reports += 1;
            let kind = self.kind();
            let interval = self.clock.moment(at_s, basis, kind);
            out.interval(interval);
            self.begun = true;
            return Took::Yes;
        }
        let Some(table) = self.table.clone() else { return Took::No };
        let mut cells = words(line);
        let wanted = table.len() + usize::from(self.per_processor);
        let numeric = cells.iter().filter(|c| decimal(c).is_some()).count();
        if numeric * 2 < wanted {
            return Took::No;
        }
        // FreeBSD scales memory: `1.2G`; its columns are in kilobytes otherwise.
        let number = |cell: &&str| decimal(cell).or_else(|| scaled(cell, 1024.0).map(|n| n / KIB));
        let numbers: Option<Vec<f64>> = cells.iter().map(number).collect();
        let Some(numbers) = numbers.filter(|n| n.len() == wanted) else {
            out.complain(&format!("{wanted} numbers"), line);
            return Took::Yes;
        };
        if self.per_processor {
            let place = out.place(PlaceKind::Cpu, cells.remove(0));
            table.push(place, numbers.get(1..).unwrap_or(&[]), out);
        } else {
            self.begin_report(out);
            let host = out.place(PlaceKind::Host, "");
            table.push(host, &numbers, out);
        }
        Took::Yes
    }

    fn command(&mut self, command: &str) {
        if let Some(seconds) = words(command).into_iter().find_map(|w| decimal(w).filter(|s| *s > 0.0)) {
            self.clock.asked(seconds);
        }
        self.reports = 0;
    }
}
