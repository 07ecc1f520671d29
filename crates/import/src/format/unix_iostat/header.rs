//! Column names of iostat on Solaris, FreeBSD and HP-UX.

use crate::format::columns::{Column, KIB, MIB, US_PER_MS};
use record::imported::Quantity::*;

/// Whose iostat it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flavour {
    Solaris,
    FreeBsd,
    HpUx,
}

/// The column of a name in the table with a row per device. Solaris: `wait` and `actv` are means of the wait queue and
/// the active queue, `svc_t` is the time in both (iostat(1M), kstat_io). FreeBSD: `qlen`, once called `wait`, is an
/// instant (iostat(8)).
pub(super) fn column(flavour: Flavour, name: &str) -> Column {
    use Column::{Dropped, Kept, Name, Unread};
    match name {
        "device" | "disk" | "lunpath" => Name,
        "r/s" => Kept(ReadIops, 1.0),
        "w/s" => Kept(WriteIops, 1.0),
        "kr/s" | "Kr/s" => Kept(ReadBytesPerS, KIB),
        "kw/s" | "Kw/s" => Kept(WriteBytesPerS, KIB),
        "Mr/s" | "mr/s" => Kept(ReadBytesPerS, MIB),
        "Mw/s" | "mw/s" => Kept(WriteBytesPerS, MIB),
        "r/i" => Kept(Reads, 1.0),
        "w/i" => Kept(Writes, 1.0),
        "kr/i" | "Kr/i" => Kept(ReadBytes, KIB),
        "kw/i" | "Kw/i" => Kept(WriteBytes, KIB),
        "Mr/i" => Kept(ReadBytes, MIB),
        "Mw/i" => Kept(WriteBytes, MIB),
        "wait" if flavour == Flavour::FreeBsd => Kept(OutstandingInstant, 1.0),
        "wait" => Kept(HostQueue, 1.0),
        "actv" => Kept(DeviceQueue, 1.0),
        "qlen" => Kept(OutstandingInstant, 1.0),
        "svc_t" | "ms/t" => Kept(ResponseUs, US_PER_MS),
        "ms/r" => Kept(ReadResponseUs, US_PER_MS),
        "ms/w" => Kept(WriteResponseUs, US_PER_MS),
        // Trims and flushes together.
        "ms/o" => Dropped,
        "wsvc_t" => Kept(HostWaitUs, US_PER_MS),
        "asvc_t" => Kept(ServiceUs, US_PER_MS),
        "%w" => Kept(HostQueueBusyPercent, 1.0),
        "%b" => Kept(BusyPercent, 1.0),
        "sb/i" => Kept(BusyTimeS, 1.0),
        // Counts of errors since boot: told as facts.
        "s/w" | "h/w" | "trn" | "tot" => Dropped,
        "bps" => Kept(BytesPerS, KIB),
        "sps" => Kept(SeeksPerS, 1.0),
        // A constant 1.0 (iostat(1) of HP-UX).
        "msps" => Dropped,
        _ => match processor(name) {
            Dropped => Dropped,
            kept @ Kept(..) => kept,
            _ => Unread,
        },
    }
}

/// The column of a name in the table of terminals and processors.
pub(super) fn processor(name: &str) -> Column {
    match name {
        "us" => Column::Kept(CpuUserPercent, 1.0),
        "ni" => Column::Kept(CpuNicePercent, 1.0),
        "sy" => Column::Kept(CpuSystemPercent, 1.0),
        "in" => Column::Kept(CpuIrqPercent, 1.0),
        "wt" => Column::Kept(CpuIowaitPercent, 1.0),
        "st" => Column::Kept(CpuStealPercent, 1.0),
        "id" => Column::Kept(CpuIdlePercent, 1.0),
        // `dt` stands where `wt` stood, and is always 0.
        "tin" | "tout" | "dt" => Column::Dropped,
        _ => Column::Unread,
    }
}

/// The column of a name in the horizontal layout, where each disk has a group of columns.
pub(super) fn of_group(flavour: Flavour, name: &str) -> Column {
    use Column::Kept;
    match (name, flavour) {
        ("kps", Flavour::Solaris) => Kept(BytesPerS, KIB),
        ("tps", Flavour::Solaris | Flavour::FreeBsd) => Kept(Iops, 1.0),
        // Time in both queues per transfer, whole milliseconds.
        ("serv", Flavour::Solaris) => Kept(ResponseUs, US_PER_MS),
        ("rps", Flavour::Solaris) => Kept(ReadIops, 1.0),
        ("wps", Flavour::Solaris) => Kept(WriteIops, 1.0),
        ("util", Flavour::Solaris) => Kept(BusyPercent, 1.0),
        ("KB/t", Flavour::FreeBsd) => Kept(RequestBytes, KIB),
        ("MB/s", Flavour::FreeBsd) => Kept(BytesPerS, MIB),
        ("KB/s", Flavour::FreeBsd) => Kept(BytesPerS, KIB),
        ("xfrs", Flavour::FreeBsd) => Kept(Ios, 1.0),
        _ => Column::Unread,
    }
}

/// The words of a header; Solaris prints commas between them with option -r.
pub(super) fn names(line: &str) -> (Vec<&str>, bool) {
    let line = line.trim().trim_end_matches(',');
    let commas = line.contains(',') && !line.contains(' ');
    if commas { (line.split(',').map(str::trim).collect(), true) } else { (crate::text::words(line), false) }
}

/// Whether the line is the header of this flavour's table with a row per device.
pub(super) fn is_header(flavour: Flavour, line: &str) -> bool {
    if line.len() > 400
        || !line.contains("/s") && !line.contains("/i") && !line.contains("/w") && !line.contains("sps")
    {
        return false;
    }
    let (words, _) = names(line);
    let (Some(first), Some(last)) = (words.first(), words.last()) else { return false };
    let has = |name: &str| words.contains(&name);
    let named = matches!(*first, "device" | "disk" | "lunpath") || *last == "device";
    named
        && match flavour {
            Flavour::Solaris => has("wait") && has("actv") || has("s/w") && has("h/w") && has("trn"),
            Flavour::FreeBsd => {
                (has("r/s") || has("r/i")) && !has("actv") && (has("qlen") || has("wait") && has("svc_t"))
            }
            Flavour::HpUx => has("bps") && has("sps") && has("msps"),
        }
}

/// Whether the line is part of a header whose rest may stand on the next line: pasted text breaks so.
pub(super) fn is_part_of_header(flavour: Flavour, line: &str) -> bool {
    let (words, _) = names(line);
    words.len() >= 4
        && words.contains(&"r/s")
        && words.iter().all(|w| matches!(column(flavour, w), Column::Kept(..) | Column::Dropped))
}

/// Whether the line is the header of the horizontal layout, or of processors alone.
pub(super) fn is_group_header(flavour: Flavour, line: &str) -> bool {
    if line.len() > 400 || line.contains(|c: char| c.is_ascii_digit()) {
        return false;
    }
    let words = crate::text::words(line);
    let group = words.iter().filter(|w| of_group(flavour, w) != Column::Unread).count();
    let rest = words.iter().filter(|w| processor(w) != Column::Unread).count();
    let processors = words.contains(&"us") && words.contains(&"sy") && words.contains(&"id");
    let own = match flavour {
        // Old BSD systems print `ni`, and FreeBSD `in`.
        Flavour::Solaris => ["wt", "st", "dt"].iter().any(|w| words.contains(w)),
        Flavour::FreeBsd => words.contains(&"in"),
        Flavour::HpUx => words.contains(&"ni") && !words.contains(&"in"),
    };
    words.len() >= 3 && group + rest == words.len() && (group >= 3 || processors && own)
}
