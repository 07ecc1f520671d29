//! `iostat` of Solaris and illumos: -x, -xn and what may be added to them, the horizontal layout, -c, -r, -e, -T.
//!
//! `wait` is the mean length of the wait queue in the host's driver, `actv` of what the device was given; `svc_t` is the
//! time in both, `wsvc_t` and `asvc_t` in each (iostat(1M); integrals kept by kstat_io).

use super::device;
use crate::format::unix_iostat::{Flavour, Iostat, begins, recognise};
use crate::format::{Format, Reads};

/// This format.
pub(super) const FORMAT: Format = Format {
    name: "solaris-iostat",
    title: "iostat of Solaris 2 to 11 and illumos",
    recognise: |head| recognise(Flavour::Solaris, head),
    reads: Reads::Lines {
        new: || Box::new(Iostat::new(Flavour::Solaris, device::kind)),
        begins: |line| begins(Flavour::Solaris, line),
    },
};
