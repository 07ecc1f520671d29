//! `iostat` of HP-UX: `bps` in kilobytes per second and `sps`, seeks per second. `msps` is said to be milliseconds per
//! seek and is a constant 1.0 (iostat(1)): no latency stands in this text.

use crate::format::unix_iostat::{Flavour, Iostat, begins, recognise};
use crate::format::{Format, Reads};
use record::imported::PlaceKind;

/// This format.
pub(super) const FORMAT: Format = Format {
    name: "hpux-iostat",
    title: "iostat of HP-UX 10 and 11",
    recognise: |head| recognise(Flavour::HpUx, head),
    reads: Reads::Lines {
        new: || Box::new(Iostat::new(Flavour::HpUx, kind)),
        begins: |line| begins(Flavour::HpUx, line),
    },
};

/// What a name describes: disks, or with option -L paths to them.
fn kind(name: &str) -> PlaceKind {
    let is_word =
        |prefix: &str| name.strip_prefix(prefix).is_some_and(|r| r.starts_with(|c: char| c.is_ascii_digit()));
    if name.contains("_lunpath") {
        PlaceKind::Path
    } else if is_word("c") || is_word("disk") {
        PlaceKind::Device
    } else {
        PlaceKind::Other
    }
}
