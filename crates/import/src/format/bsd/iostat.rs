//! `iostat` of FreeBSD: -x of both generations (`svc_t` before 11, `ms/r ms/w ms/o ms/t` since), the horizontal layout.
//!
//! `qlen`, which older releases call `wait`, is an instant and no mean. The times hold the driver's queue and the device
//! (iostat(8)).

use super::device;
use crate::format::unix_iostat::{Flavour, Iostat, begins, recognise};
use crate::format::{Format, Reads};

/// This format.
pub(super) const FORMAT: Format = Format {
    name: "freebsd-iostat",
    title: "iostat of FreeBSD 5 to 15",
    recognise: |head| recognise(Flavour::FreeBsd, head),
    reads: Reads::Lines {
        new: || Box::new(Iostat::new(Flavour::FreeBsd, device::kind)),
        begins: |line| begins(Flavour::FreeBsd, line),
    },
};
