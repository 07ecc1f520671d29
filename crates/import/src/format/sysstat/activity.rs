//! The tables of sar, sadf and mpstat ("activities"): which are kept, and what their columns are. sar(1), mpstat(1).

use super::device_columns;
use crate::out::Out;
use record::imported::PlaceKind;
use record::imported::Quantity::{self, *};

const KIB: f64 = 1024.0;
/// `bread/s`: "a block is equivalent to a sector, and therefore has a size of 512 bytes".
const SECTOR: f64 = 512.0;
/// A word of a Fibre Channel frame.
const FC_WORD: f64 = 4.0;

/// What a row of a table describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Item {
    /// The host; rows have no name.
    Host,
    /// A block device.
    Device,
    /// A processor, or `all` (-1 in `sadf -d`).
    Processor,
    /// An interrupt; `sum` is kept.
    Interrupt,
    /// A Fibre Channel port.
    FibreHost,
}

impl Item {
    /// Kind and name of the place that a row's name means.
    pub fn place(self, name: &str) -> (PlaceKind, String) {
        match self {
            Self::Host | Self::Interrupt => (PlaceKind::Host, String::new()),
            Self::Processor if matches!(name, "all" | "-1") => (PlaceKind::Host, String::new()),
            // `cpu0` in `sadf -p`.
            Self::Processor => (PlaceKind::Cpu, name.trim_start_matches("cpu").to_owned()),
            Self::Device => (crate::format::linux::device::kind(name), name.to_owned()),
            Self::FibreHost => (PlaceKind::Adapter, name.to_owned()),
        }
    }
}

/// A table that is kept.
#[derive(Clone, Debug)]
pub(super) struct Activity {
    /// What its rows describe.
    pub item: Item,
    /// The name stands in the last column (option --pretty).
    pub item_last: bool,
    /// Words after the name that tell where a processor sits (`CORE SOCK NODE`, option -T of mpstat), and that the row of
    /// all processors lacks. They are none of the columns.
    pub topology: usize,
    /// Columns beside the name.
    pub columns: Vec<Option<(Quantity, f64)>>,
}

/// What is known of a table by the names of its columns.
#[derive(Clone, Debug)]
pub(super) enum Known {
    /// It is kept.
    Kept(Activity),
    /// It is known to be of no use here, or not known.
    Skipped,
}

/// The table that has these columns, without time and host. `page_bytes` is the size of a page where it is known.
pub(super) fn activity(names: &[&str], page_bytes: Option<f64>, out: &mut Out<'_>) -> Known {
    let (Some(first), Some(last)) = (names.first(), names.last()) else { return Known::Skipped };
    let item = |name: &str| match name {
        "DEV" => Some(Item::Device),
        "CPU" => Some(Item::Processor),
        "INTR" => Some(Item::Interrupt),
        "FCHOST" => Some(Item::FibreHost),
        _ => None,
    };
    let (item, item_last) = match (item(first), item(last)) {
        (Some(item), _) => (item, false),
        (None, Some(item)) => (item, true),
        // Other tables with a name in them: interfaces, terminals, fans, filesystems.
        (None, None) if [first, last].iter().any(|n| is_upper(n)) => return Known::Skipped,
        (None, None) => (Item::Host, false),
    };
    let rest = match (item, item_last) {
        (Item::Host, _) => names,
        (_, false) => &names[1..],
        (_, true) => &names[..names.len() - 1],
    };
    let is_topology = |name: &&&str| item == Item::Processor && matches!(**name, "CORE" | "SOCK" | "NODE");
    let topology = rest.iter().take_while(is_topology).count();
    let rest = &rest[topology..];
    let columns: Vec<_> = match item {
        Item::Device => device(rest, out),
        // Softnet statistics and frequencies have processors too.
        Item::Processor => rest.iter().map(|n| processor(n)).collect(),
        Item::Host => rest.iter().map(|n| host(n, page_bytes)).collect(),
        Item::FibreHost => rest.iter().map(|n| fibre_host(n)).collect(),
        // `intr/s`, or since 12.5.6 one column for all processors and one for each.
        Item::Interrupt if rest.len() == 1 || matches!(rest.first(), Some(&"all" | &"CPU*")) => {
            rest.iter().enumerate().map(|(n, _)| (n == 0).then_some((InterruptsPerS, 1.0))).collect()
        }
        Item::Interrupt => return Known::Skipped,
    };
    if columns.iter().all(Option::is_none) {
        return Known::Skipped;
    }
    Known::Kept(Activity { item, item_last, topology, columns })
}

fn is_upper(name: &str) -> bool {
    name.len() > 1 && name.bytes().all(|b| b.is_ascii_uppercase())
}

fn device(names: &[&str], out: &mut Out<'_>) -> Vec<Option<(Quantity, f64)>> {
    let columns: Vec<_> = names.iter().map(|n| device_columns::column(n)).collect();
    let mut unread = Vec::new();
    for (name, column) in names.iter().zip(&columns) {
        if *column == device_columns::Column::Unread {
            unread.push(*name);
        }
    }
    if !unread.is_empty() {
        out.remark(&format!("columns that are not known here were left unread: {}", unread.join(" ")));
    }
    columns.iter().map(device_columns::Column::kept).collect()
}

/// Columns of processor time. Option `-u ALL` and mpstat tell user and guest apart, `-u` alone does not: there `%user`
/// holds guests and `%system` interrupts.
pub(super) fn processor(name: &str) -> Option<(Quantity, f64)> {
    let quantity = match name {
        "%user" | "%usr" => CpuUserPercent,
        "%nice" => CpuNicePercent,
        "%system" | "%sys" => CpuSystemPercent,
        "%iowait" => CpuIowaitPercent,
        "%steal" => CpuStealPercent,
        "%irq" => CpuIrqPercent,
        "%soft" => CpuSoftirqPercent,
        "%guest" | "%gnice" => CpuGuestPercent,
        "%idle" => CpuIdlePercent,
        "intr/s" => InterruptsPerS,
        _ => return None,
    };
    Some((quantity, 1.0))
}

/// Columns about the host as a whole.
pub(super) fn host(name: &str, page_bytes: Option<f64>) -> Option<(Quantity, f64)> {
    Some(match name {
        // -b
        "tps" => (Iops, 1.0),
        "rtps" => (ReadIops, 1.0),
        "wtps" => (WriteIops, 1.0),
        "dtps" => (DiscardIops, 1.0),
        "bread/s" => (ReadBytesPerS, SECTOR),
        "bwrtn/s" => (WriteBytesPerS, SECTOR),
        "bdscd/s" => (DiscardBytesPerS, SECTOR),
        // -B
        "pgpgin/s" => (PageInBytesPerS, KIB),
        "pgpgout/s" => (PageOutBytesPerS, KIB),
        "fault/s" => (FaultsPerS, 1.0),
        "majflt/s" => (MajorFaultsPerS, 1.0),
        "pgscank/s" | "pgscand/s" => (PagesScannedPerS, 1.0),
        // -W counts pages.
        "pswpin/s" => page_bytes.map_or((SwapInPagesPerS, 1.0), |bytes| (SwapInBytesPerS, bytes)),
        "pswpout/s" => page_bytes.map_or((SwapOutPagesPerS, 1.0), |bytes| (SwapOutBytesPerS, bytes)),
        // -r and -S
        "kbmemfree" => (FreeBytes, KIB),
        "kbbuffers" | "kbcached" => (CacheBytes, KIB),
        "kbswpused" => (SwapUsedBytes, KIB),
        // -q
        "runq-sz" => (RunQueue, 1.0),
        "blocked" => (BlockedTasks, 1.0),
        "ldavg-1" => (Load1, 1.0),
        // -w
        "cswch/s" => (SwitchesPerS, 1.0),
        _ => return None,
    })
}

fn fibre_host(name: &str) -> Option<(Quantity, f64)> {
    match name {
        "fch_rxw/s" => Some((ReadBytesPerS, FC_WORD)),
        "fch_txw/s" => Some((WriteBytesPerS, FC_WORD)),
        _ => None,
    }
}

/// Names of columns as the text has them, from the keys of JSON and the attributes of XML: `util-percent`, `rkB`, `usr`.
pub(super) fn column_of_key(table: &str, key: &str, page_bytes: Option<f64>) -> Option<(Quantity, f64)> {
    match table {
        "disk" | "disk-device" => match key {
            "util-percent" | "util" => Some((BusyPercent, 1.0)),
            "tps" | "await" | "r_await" | "w_await" | "d_await" | "f_await" => {
                device_columns::column(key).kept()
            }
            _ if key.contains('/') || key.ends_with("-sz") => device_columns::column(key).kept(),
            // Without a rate in its name in sadf; a total in iostat has its unit first.
            _ if key.ends_with("_sec") || key.ends_with("kB") => {
                device_columns::column(&format!("{key}/s")).kept()
            }
            _ => device_columns::column(key).kept(),
        },
        "cpu-load" | "cpu-load-all" | "cpu" | "avg-cpu" => processor(&format!("%{key}")),
        "memory" => host(&format!("kb{key}"), None),
        "fc-host" | "fchost" | "fchosts" => fibre_host(&format!("{key}/s")),
        _ => host(key, page_bytes).or_else(|| host(&format!("{key}/s"), page_bytes)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_columns() {
        assert_eq!(column_of_key("disk", "rd_sec", None), Some((ReadBytesPerS, 512.0)));
        assert_eq!(column_of_key("disk", "rkB", None), Some((ReadBytesPerS, 1024.0)));
        assert_eq!(column_of_key("disk", "kB_read", None), Some((ReadBytes, 1024.0)));
        assert_eq!(column_of_key("disk", "kB_read/s", None), Some((ReadBytesPerS, 1024.0)));
        assert_eq!(column_of_key("disk", "rrqm", None), None);
        assert_eq!(column_of_key("disk", "util-percent", None), Some((BusyPercent, 1.0)));
        assert_eq!(column_of_key("memory", "cached", None), Some((CacheBytes, 1024.0)));
        assert_eq!(column_of_key("io-reads", "bread", None), Some((ReadBytesPerS, 512.0)));
        assert_eq!(column_of_key("queue", "ldavg-1", None), Some((Load1, 1.0)));
        assert_eq!(column_of_key("cpu-load", "sys", None), Some((CpuSystemPercent, 1.0)));
    }
}
