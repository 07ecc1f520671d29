//! Sections of nmon: what the columns of each are, by the section's name and the names in its header.

use crate::format::aix::device as aix;
use crate::format::linux::device as linux;
use record::imported::PlaceKind;
use record::imported::Quantity::{self, *};

const KIB: f64 = 1024.0;
const MIB: f64 = 1_048_576.0;
const US_PER_MS: f64 = 1000.0;
/// A page of AIX `PAGE`.
const PAGE: f64 = 4096.0;

/// What a column is: where it belongs, what it measures, and what turns its unit into ours.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Column {
    pub kind: PlaceKind,
    pub name: String,
    pub quantity: Quantity,
    pub factor: f64,
}

/// How the columns of a section are told.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Section {
    /// A column per disk, all of this quantity.
    Disks(Quantity, f64),
    /// A column per adapter.
    Adapters(Quantity, f64),
    /// `fcs0_read-KB/s`, `fcs0_xfer-tps`.
    AdapterMixed,
    /// Columns of the host, named in the header.
    Host,
    /// The same for one processor.
    Processor,
    /// Processes.
    Top,
}

/// The section of this name; absent when it is not read. Disks beyond a line's limit follow in `DISKBUSY1`, `DISKBUSY2`.
pub(super) fn section(name: &str) -> Option<Section> {
    if is_processor(name) {
        return Some(Section::Processor);
    }
    Some(match name.trim_end_matches(|c: char| c.is_ascii_digit()) {
        "DISKBUSY" => Section::Disks(BusyPercent, 1.0),
        "DISKREAD" => Section::Disks(ReadBytesPerS, KIB),
        "DISKWRITE" => Section::Disks(WriteBytesPerS, KIB),
        "DISKXFER" => Section::Disks(Iops, 1.0),
        "DISKRIO" | "DISKRXFER" => Section::Disks(ReadIops, 1.0),
        "DISKWIO" => Section::Disks(WriteIops, 1.0),
        "DISKBSIZE" => Section::Disks(RequestBytes, KIB),
        "DISKSERV" => Section::Disks(ServiceUs, US_PER_MS),
        // Of all transfers, not of the reads or writes alone: see `per_read_and_write`.
        "DISKREADSERV" => Section::Disks(ReadServiceUs, US_PER_MS),
        "DISKWRITESERV" => Section::Disks(WriteServiceUs, US_PER_MS),
        "DISKWAIT" => Section::Disks(HostWaitUs, US_PER_MS),
        "FCREAD" => Section::Adapters(ReadBytesPerS, KIB),
        "FCWRITE" => Section::Adapters(WriteBytesPerS, KIB),
        "FCXFERIN" => Section::Adapters(ReadIops, 1.0),
        "FCXFEROUT" => Section::Adapters(WriteIops, 1.0),
        "IOADAPT" => Section::AdapterMixed,
        "CPU_ALL" | "MEM" | "PAGE" | "PROC" | "VM" => Section::Host,
        "TOP" => Section::Top,
        _ => return None,
    })
}

/// `CPU01`, `CPU001`.
fn is_processor(name: &str) -> bool {
    name.strip_prefix("CPU").is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()))
}

/// Sections that need no header: their columns have had this order in every version.
pub(super) fn usual_columns(name: &str) -> Option<&'static str> {
    (name == "CPU_ALL" || is_processor(name)).then_some("User%,Sys%,Wait%,Idle%")
}

/// The columns of a section, by the names in its header; `None` where one is not kept.
pub(super) fn columns(section: Section, name: &str, header: &str, is_aix: bool) -> Vec<Option<Column>> {
    let of = |column: &str| -> Option<Column> {
        let column = column.trim();
        match section {
            _ if column.is_empty() => None,
            Section::Disks(quantity, factor) => {
                let kind = if is_aix || column.starts_with("hdisk") {
                    aix::disk_kind(column)
                } else {
                    linux::kind(column)
                };
                Some(Column { kind, name: column.to_owned(), quantity, factor })
            }
            Section::Adapters(quantity, factor) => {
                Some(Column { kind: PlaceKind::Adapter, name: column.to_owned(), quantity, factor })
            }
            Section::AdapterMixed => adapter(column),
            Section::Host => {
                let (quantity, factor) = host(name, column)?;
                Some(Column { kind: PlaceKind::Host, name: String::new(), quantity, factor })
            }
            Section::Processor => {
                let (quantity, factor) = host("CPU_ALL", column)?;
                Some(Column { kind: PlaceKind::Cpu, name: name.to_owned(), quantity, factor })
            }
            Section::Top => None,
        }
    };
    header.split(',').map(of).collect()
}

/// `fcs0_read-KB/s`; older releases write `fcs0_xfer-tps`, too, and `scsi0_write-KB/s`.
fn adapter(column: &str) -> Option<Column> {
    let (name, what) = column.rsplit_once('_').or_else(|| column.split_once('-'))?;
    let (quantity, factor) = match what {
        "read-KB/s" => (ReadBytesPerS, KIB),
        "write-KB/s" => (WriteBytesPerS, KIB),
        "xfer-tps" => (Iops, 1.0),
        _ => return None,
    };
    Some(Column { kind: PlaceKind::Adapter, name: name.to_owned(), quantity, factor })
}

fn host(section: &str, column: &str) -> Option<(Quantity, f64)> {
    Some(match (section, column) {
        ("CPU_ALL", "User%") => (CpuUserPercent, 1.0),
        ("CPU_ALL", "Nice%") => (CpuNicePercent, 1.0),
        ("CPU_ALL", "Sys%") => (CpuSystemPercent, 1.0),
        ("CPU_ALL", "Wait%") => (CpuIowaitPercent, 1.0),
        ("CPU_ALL", "Idle%") => (CpuIdlePercent, 1.0),
        ("CPU_ALL", "Steal%") => (CpuStealPercent, 1.0),
        ("MEM", "memfree" | "Real free(MB)") => (FreeBytes, MIB),
        ("MEM", "cached") => (CacheBytes, MIB),
        ("PAGE", "faults") => (FaultsPerS, 1.0),
        ("PAGE", "pgin") => (PageInBytesPerS, PAGE),
        ("PAGE", "pgout") => (PageOutBytesPerS, PAGE),
        ("PAGE", "pgsin") => (SwapInBytesPerS, PAGE),
        ("PAGE", "pgsout") => (SwapOutBytesPerS, PAGE),
        ("PAGE", "scans") => (PagesScannedPerS, 1.0),
        ("PROC", "Runnable" | "RunQueue") => (RunQueue, 1.0),
        ("PROC", "Blocked") => (BlockedTasks, 1.0),
        ("PROC", "pswitch") => (SwitchesPerS, 1.0),
        // VM of Linux: counts of the interval, not rates; they are left.
        _ => return None,
    })
}

/// nmon of AIX gives the time of reads and of writes per transfer of either kind: the two add up to `DISKSERV`. What is
/// kept is the time per read and per write. Values: service of all, of reads, of writes; rates of all, of reads, of writes.
pub(super) fn per_read_and_write(service: [f64; 3], rates: [f64; 3]) -> [f64; 2] {
    /// Below this a rate with one decimal is too coarse to divide by.
    const RATE_MIN: f64 = 1.0;
    /// Below this share of all transfers the rounding of the times grows to more than a millisecond.
    const SHARE_MIN: f64 = 0.05;
    let [all, read, write] = service;
    let [transfers, reads, writes] = rates;
    if all.is_nan() {
        // Which of the two it is cannot be told.
        return [f64::NAN; 2];
    }
    let adds_up = (all - read - write).abs() <= 150.0;
    let own = |time: f64, rate: f64| {
        if !adds_up {
            // A version that tells them apart.
            time
        } else if rate >= RATE_MIN && rate >= transfers * SHARE_MIN && transfers >= rate * 0.9 {
            time * transfers / rate
        } else {
            f64::NAN
        }
    };
    [own(read, reads), own(write, writes)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn service_per_read_and_per_write() {
        let [read, write] = per_read_and_write([5200.0, 200.0, 5000.0], [45.0, 3.0, 42.0]);
        assert_eq!((read.round(), write.round()), (3000.0, 5357.0));
        let [read, write] = per_read_and_write([4700.0, 200.0, 5000.0], [45.0, 3.0, 42.0]);
        assert_eq!((read, write), (200.0, 5000.0));
        let [read, _] = per_read_and_write([5200.0, 200.0, 5000.0], [45.0, 0.2, 44.8]);
        assert!(read.is_nan());
    }

    #[test]
    fn continued_sections_and_processors() {
        assert_eq!(section("DISKBUSY12"), Some(Section::Disks(BusyPercent, 1.0)));
        assert_eq!(section("CPU012"), Some(Section::Processor));
        assert_eq!(section("CPU_ALL"), Some(Section::Host));
        assert_eq!(section("NET"), None);
        let found = columns(Section::AdapterMixed, "IOADAPT", "fcs0_read-KB/s,fcs0_xfer-tps", true);
        let names: Vec<_> = found.iter().flatten().map(|c| (c.name.as_str(), c.quantity)).collect();
        assert_eq!(names, [("fcs0", ReadBytesPerS), ("fcs0", Iops)]);
    }
}
