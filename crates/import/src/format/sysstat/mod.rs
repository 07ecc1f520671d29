//! sysstat on Linux: iostat, sar, sadf, mpstat, pidstat.

mod activity;
mod banner;
mod cells;
mod device_columns;
mod iostat;
mod json;
mod known;
mod pidstat;
mod process;
mod report;
mod sadf;
mod sar;

use super::Format;

/// Whether a line is the first one of a tool of sysstat: kernel, host, date.
pub(crate) fn is_banner(line: &str) -> bool {
    banner::Banner::read(line).is_some()
}

/// The formats of this family.
pub static FORMATS: &[Format] = &[
    iostat::FORMAT,
    sar::SAR,
    sar::MPSTAT,
    sadf::SEMICOLONS,
    sadf::TABS,
    sadf::XML,
    json::IOSTAT,
    json::SADF,
    json::MPSTAT,
    json::PIDSTAT,
    pidstat::FORMAT,
];
