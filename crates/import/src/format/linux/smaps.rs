//! `/proc/PID/smaps`, `smaps_rollup` and `maps`: each mapping of a process, with the pages that back it.
//!
//! Huge pages of hugetlbfs are not in `Rss` (kernel, Documentation/filesystems/proc.rst); they are added to what is
//! resident here. The text does not name its process: a place is what is mapped.

use crate::format::{Format, LineFormat, Reads, Took};
use crate::out::{Layout, Out};
use crate::recognise::{Head, Likeness};
use crate::text::number::decimal;
use crate::text::words;
use record::imported::Quantity::{HugeBytes, MappedBytes, PageBytes, ResidentBytes, SwapUsedBytes};
use record::imported::{Interval, Origin, PlaceKind, Platform, RowsKind};

/// This format.
pub(super) const FORMAT: Format = Format {
    name: "linux-smaps",
    title: "/proc/PID/smaps, smaps_rollup and maps (Linux)",
    recognise,
    reads: Reads::Lines { new: || Box::new(Smaps::default()), begins: |line| mapping(line).is_some() },
};

fn recognise(head: &Head<'_>) -> Option<Likeness> {
    let first = head.find(|l| mapping(l).is_some())?;
    // /proc/PID/maps is the same without the sizes.
    let has_sizes = head.find(|l| l.starts_with("Rss:")).is_some();
    Likeness::by_line(if has_sizes { 95 } else { 60 }, "mapping", first)
}

/// Name and bytes of what `7f0000000000-7f0000400000 r-xp 00000000 fd:00 1234   /usr/lib/libx.so` maps.
fn mapping(line: &str) -> Option<(&str, f64)> {
    let (range, rest) = line.split_once(' ')?;
    let (start, end) = range.split_once('-')?;
    let is_hex = |t: &str| t.len() >= 4 && t.len() <= 16 && t.bytes().all(|b| b.is_ascii_hexdigit());
    let (mode, rest) = rest.split_once(' ')?;
    let is_mode = mode.len() == 4 && mode.bytes().all(|b| b"rwxsp-".contains(&b));
    let (offset, rest) = rest.split_once(' ')?;
    let (device, rest) = rest.trim_start().split_once(' ')?;
    let (inode, name) = rest.split_once(' ').unwrap_or((rest, ""));
    let is_number = !inode.is_empty() && inode.bytes().all(|b| b.is_ascii_digit());
    let fits = is_hex(start) && is_hex(end) && is_mode && is_hex(offset) && device.contains(':') && is_number;
    let address = |t: &str| u64::from_str_radix(t, 16).ok();
    let bytes = address(end)?.checked_sub(address(start)?)? as f64;
    // A rollup names the first and the last address of the process.
    let bytes = if name.contains("[rollup]") { f64::NAN } else { bytes };
    fits.then_some((name.trim(), bytes))
}

const KIB: f64 = 1024.0;

/// A mapping that is being read.
#[derive(Debug)]
struct Mapping {
    name: String,
    origin: Origin,
    size: f64,
    resident: f64,
    page: f64,
    /// Transparent huge pages of anonymous, shared and file memory.
    huge: f64,
    /// Pages of hugetlbfs.
    hugetlb: f64,
    swapped: f64,
}

/// The reader.
#[derive(Default)]
struct Smaps {
    mapping: Option<Mapping>,
    layout: Option<Layout>,
    unread_told: bool,
}

impl LineFormat for Smaps {
    fn line(&mut self, line: &str, out: &mut Out<'_>) -> Took {
        if line.trim().is_empty() {
            return Took::Yes;
        }
        if let Some((name, size)) = mapping(line) {
            self.finish(out);
            self.mapping = Some(Mapping {
                name: if name.is_empty() { "[anon]" } else { name }.to_owned(),
                origin: out.origin(),
                size,
                resident: f64::NAN,
                page: f64::NAN,
                huge: f64::NAN,
                hugetlb: f64::NAN,
                swapped: f64::NAN,
            });
            return Took::Yes;
        }
        let Some((key, value)) = line.trim_start().split_once(':') else { return Took::No };
        let Some(mapping) = &mut self.mapping else { return Took::No };
        if key == "VmFlags" || key == "THPeligible" || key == "ProtectionKey" {
            return Took::Yes;
        }
        let number = match words(value).as_slice() {
            [number, "kB" | "KB"] => decimal(number),
            _ => None,
        };
        let is_key = key.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
        let Some(bytes) = number.map(|kb| kb * KIB) else {
            if is_key {
                out.complain("a size in kB", line);
            }
            return if is_key { Took::Yes } else { Took::No };
        };
        let add = |to: &mut f64| *to = if to.is_nan() { bytes } else { *to + bytes };
        match key {
            "Size" => mapping.size = bytes,
            "Rss" => mapping.resident = bytes,
            "KernelPageSize" => mapping.page = bytes,
            "AnonHugePages" | "ShmemPmdMapped" | "FilePmdMapped" => add(&mut mapping.huge),
            "Shared_Hugetlb" | "Private_Hugetlb" => add(&mut mapping.hugetlb),
            "Swap" => mapping.swapped = bytes,
            "MMUPageSize" | "Pss" | "Pss_Dirty" | "Pss_Anon" | "Pss_File" | "Pss_Shmem" | "Shared_Clean"
            | "Shared_Dirty" | "Private_Clean" | "Private_Dirty" | "Referenced" | "Anonymous" | "KSM"
            | "LazyFree" | "SwapPss" | "Locked" => {}
            _ if !std::mem::replace(&mut self.unread_told, true) => {
                out.remark(&format!("lines that are not known here were left unread: {key}"));
            }
            _ => {}
        }
        Took::Yes
    }

    fn end(&mut self, out: &mut Out<'_>) {
        self.finish(out);
    }
}

impl Smaps {
    fn finish(&mut self, out: &mut Out<'_>) {
        let Some(of) = self.mapping.take() else { return };
        if self.layout.is_none() {
            out.platform(Platform::Linux);
            out.interval(Interval::unknown(RowsKind::Instant));
        }
        let quantities = [MappedBytes, ResidentBytes, PageBytes, HugeBytes, SwapUsedBytes];
        let layout = *self.layout.get_or_insert_with(|| out.layout(&quantities));
        let place = out.place(PlaceKind::Process, &of.name);
        let resident = if of.hugetlb > 0.0 { of.resident + of.hugetlb } else { of.resident };
        out.row_from(of.origin, layout, place, &[of.size, resident, of.page, of.huge, of.swapped]);
    }
}
