//! Columns of pidstat, and the names of processes. pidstat(1).

use record::imported::Quantity::{self, *};

const KIB: f64 = 1024.0;
/// `iodelay` counts ticks of USER_HZ, which is 100 on every architecture of today.
const TICKS_PER_S: f64 = 100.0;

/// A column that is kept, by its name in text or its key in JSON.
pub(super) fn column(name: &str) -> Option<(Quantity, f64)> {
    Some(match name {
        "kB_rd/s" => (ReadBytesPerS, KIB),
        "kB_wr/s" => (WriteBytesPerS, KIB),
        "kB_ccwr/s" => (CancelledBytesPerS, KIB),
        "iodelay" => (IoDelayS, 1.0 / TICKS_PER_S),
        // Of one processor; several threads can take more than 100.
        "%usr" | "%user" | "usr" => (CpuUserPercent, 1.0),
        "%system" | "system" => (CpuSystemPercent, 1.0),
        "%guest" | "guest" => (CpuGuestPercent, 1.0),
        "majflt/s" => (MajorFaultsPerS, 1.0),
        "RSS" => (ResidentBytes, KIB),
        "cswch/s" | "nvcswch/s" => (SwitchesPerS, 1.0),
        _ => return None,
    })
}

/// A figure; absent where pidstat was not permitted to look, which it prints as -1.
pub(super) fn figure(printed: f64) -> f64 {
    if printed < 0.0 { f64::NAN } else { printed }
}

/// The name of a process or thread: `8741 firefox`, `8741/8785 JS Helper`.
pub(super) fn name(process: &str, thread: &str, command: &str) -> String {
    let command = command.trim().trim_start_matches("|__");
    let is_none = |id: &str| matches!(id, "" | "-" | "0");
    match (is_none(process), is_none(thread)) {
        (false, false) => format!("{process}/{thread} {command}"),
        (true, false) => format!("/{thread} {command}"),
        _ => format!("{process} {command}"),
    }
}
