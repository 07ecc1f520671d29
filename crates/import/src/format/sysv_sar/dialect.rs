//! What the columns of `sar -d` mean on each platform. The header is the same and the meanings are not.
//!
//! | | Solaris | HP-UX | AIX |
//! |---|---|---|---|
//! | avque | wait and active together, time mean | as seen while busy, floor 0.50 | wait queue |
//! | avwait | ms in the wait queue, per I/O | the same | of those I/Os that waited |
//! | avserv | ms at the device | the same | the same |
//!
//! Solaris: the rows add up, avque = r+w/s x (avwait + avserv). HP-UX: 0.50 is what an idle disk prints. AIX: r+w/s x avwait
//! is far above avque, so avwait is no mean over all; before 5.3 the three were not measured and print 0.0.

use crate::format::columns::{Column, KIB, MIB, SECTOR, US_PER_MS};
use crate::format::solaris;
use record::imported::Quantity::*;
use record::imported::{PlaceKind, Platform};

/// Whose sar it is, as far as the meanings depend on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Dialect {
    pub platform: Platform,
    /// Whether queue and times are measured: not by AIX before 5.3.
    pub measures_queues: bool,
}

impl Dialect {
    /// Of a platform and the release in its banner.
    pub fn new(platform: Platform, release: Option<&str>) -> Self {
        let number: Option<f64> = release.and_then(|r| r.parse().ok());
        let old = platform == Platform::Aix && number.is_some_and(|n| n < 5.3);
        Self { platform, measures_queues: !old }
    }

    /// The column of a name in the tables of devices, paths and adapters.
    pub fn column(self, name: &str) -> Column {
        use Column::{Dropped, Kept};
        match name {
            "device" | "lunpath" | "ctlr" => Column::Name,
            "%busy" | "%util" | "util" => Kept(BusyPercent, 1.0),
            "r+w/s" | "IO/s" => Kept(Iops, 1.0),
            "r/s" => Kept(ReadIops, 1.0),
            "w/s" => Kept(WriteIops, 1.0),
            "blks/s" => Kept(BytesPerS, SECTOR),
            "Kbs/s" | "Kbs" | "kbs/s" => Kept(BytesPerS, KIB),
            "t-put" => Kept(BytesPerS, MIB),
            "read" => Kept(ReadBytesPerS, MIB),
            "write" => Kept(WriteBytesPerS, MIB),
            "avque" | "avwait" | "avserv" if !self.measures_queues => Dropped,
            "avserv" => Kept(ServiceUs, US_PER_MS),
            "avque" => match self.platform {
                Platform::Solaris => Kept(Outstanding, 1.0),
                Platform::HpUx => Kept(QueueWhenBusy, 1.0),
                Platform::Aix => Kept(HostQueue, 1.0),
                _ => Dropped,
            },
            "avwait" => match self.platform {
                Platform::Solaris | Platform::HpUx => Kept(HostWaitUs, US_PER_MS),
                Platform::Aix => Kept(HostWaitOfWaitersUs, US_PER_MS),
                _ => Dropped,
            },
            _ => Column::Unread,
        }
    }

    /// What a row of a table with this name column describes.
    pub fn kind(self, column: &str, name: &str) -> PlaceKind {
        match (column, self.platform) {
            ("ctlr", _) => PlaceKind::Adapter,
            ("lunpath", _) => PlaceKind::Path,
            (_, Platform::Solaris) => match solaris::device::kind(name) {
                // sar prints no pools.
                PlaceKind::Pool => PlaceKind::Device,
                kind => kind,
            },
            (_, Platform::Aix) if name.contains('/') => PlaceKind::Volume,
            _ => PlaceKind::Device,
        }
    }
}

/// What a row tells of its platform where no banner does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Evidence {
    pub platform: Platform,
    pub why: String,
}

/// The evidence of a row of `sar -d` under this header; absent when the row fits several platforms.
pub(super) fn evidence(header: &[&str], name: &str, cells: &[&str]) -> Option<Evidence> {
    let says = |platform, why: String| Some(Evidence { platform, why });
    if header.iter().any(|h| h.starts_with("Kbs")) {
        return says(Platform::Aix, "its column Kbs/s".to_owned());
    }
    if let Some(own) = header.iter().find(|h| matches!(**h, "ctlr" | "lunpath" | "r/s")) {
        return says(Platform::HpUx, format!("its column {own}"));
    }
    let starts =
        |prefix: &str| name.strip_prefix(prefix).is_some_and(|r| r.starts_with(|c: char| c.is_ascii_digit()));
    if starts("hdisk") || starts("hdiskpower") || starts("vpath") || name.contains('/') {
        return says(Platform::Aix, format!("the device '{name}'"));
    }
    // Solaris and AIX print whole percents and one decimal place, HP-UX two of each.
    let decimals = |cell: &str| cell.rsplit_once(['.', ',']).map_or(0, |(_, d)| d.len());
    let of = |column: &str| header.iter().skip(1).position(|h| *h == column).and_then(|at| cells.get(at));
    // SCO prints two as well, and names its disks `Sdsk-0`: whose queue that is, is not known here.
    if name.contains('-') {
        return None;
    }
    if let Some(cell) = of("%busy").filter(|c| decimals(c) > 0).or(of("avque").filter(|c| decimals(c) == 2)) {
        return says(Platform::HpUx, format!("the decimal places of '{cell}'"));
    }
    if starts("disk") || name.starts_with("lunpath") {
        return says(Platform::HpUx, format!("the device '{name}'"));
    }
    let solaris = !starts("cd") && solaris::device::kind(name) != PlaceKind::Pool;
    if solaris && !starts("c") {
        return says(Platform::Solaris, format!("the device '{name}'"));
    }
    None
}

/// The column of a name in the tables of the whole host, or of one processor.
pub(super) fn of_host(name: &str) -> Column {
    use Column::{Dropped, Kept};
    match name {
        "cpu" => Column::Name,
        "%usr" => Kept(CpuUserPercent, 1.0),
        "%sys" => Kept(CpuSystemPercent, 1.0),
        "%wio" => Kept(CpuIowaitPercent, 1.0),
        "%idle" => Kept(CpuIdlePercent, 1.0),
        "runq-sz" => Kept(RunQueueWhenOccupied, 1.0),
        "%runocc" => Kept(RunQueueOccupiedPercent, 1.0),
        "pswch/s" | "cswch/s" => Kept(SwitchesPerS, 1.0),
        "pgscan/s" => Kept(PagesScannedPerS, 1.0),
        // Shares of entitled capacity; how long tasks waited for the swapper.
        "physc" | "%entc" | "physb" | "%swpocc" | "swpq-sz" => Dropped,
        _ => Column::Unread,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: [&str; 7] = ["device", "%busy", "avque", "r+w/s", "blks/s", "avwait", "avserv"];

    #[test]
    fn rows_tell_their_platform() {
        let of = |name, cells: &[&str]| evidence(&HEADER, name, cells).map(|e| e.platform);
        assert_eq!(of("sd9", &["0", "0.1", "4", "64", "0.0", "21.5"]), Some(Platform::Solaris));
        assert_eq!(of("hdisk0", &["2", "0.1", "3", "24", "0.0", "1.5"]), Some(Platform::Aix));
        assert_eq!(of("c2t1d0", &["1.20", "0.50", "0", "5", "0.00", "0.00"]), Some(Platform::HpUx));
        assert_eq!(of("disk12", &["1", "0.5", "0", "5", "0.0", "0.0"]), Some(Platform::HpUx));
        assert_eq!(of("cd0", &["0", "0.0", "0", "0", "0.0", "0.0"]), None);
        let aix = evidence(&["device", "%busy", "avque", "r+w/s", "Kbs/s", "avwait", "avserv"], "cd0", &[]);
        assert_eq!(aix.map(|e| e.platform), Some(Platform::Aix));
    }

    #[test]
    fn the_same_header_means_three_things() {
        let solaris = Dialect::new(Platform::Solaris, Some("5.10"));
        let hpux = Dialect::new(Platform::HpUx, Some("B.11.31"));
        let (aix, old) = (Dialect::new(Platform::Aix, Some("7.2")), Dialect::new(Platform::Aix, Some("4.3")));
        assert_eq!(solaris.column("avque"), Column::Kept(Outstanding, 1.0));
        assert_eq!(hpux.column("avque"), Column::Kept(QueueWhenBusy, 1.0));
        assert_eq!(aix.column("avque"), Column::Kept(HostQueue, 1.0));
        assert_eq!(aix.column("avwait"), Column::Kept(HostWaitOfWaitersUs, 1000.0));
        assert_eq!(old.column("avserv"), Column::Dropped);
    }
}
