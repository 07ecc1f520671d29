//! `plimsoll watch`: one sample of a host as lines of text, as a line of JSON, or on the live screen.
//!
//! Everything here draws data that is handed in. The screen is drawn here too, into a buffer of ratatui, so that all
//! three forms choose, order and round alike; the command owns the terminal, its keys and its signals.

mod askers;
pub mod cells;
pub mod json;
pub mod screen;
pub mod text;
pub mod view;

pub use json::line;
pub use text::{TextOptions, block};
pub use view::{Line, Order, View};

/// What the counters of a kernel without a tracer cannot tell, by the name in JSON and in words.
pub const NOT_COUNTED: [(&str, &str); 4] = [
    ("task_set_full", "TASK SET FULL told from other failures"),
    ("latency_percentiles", "percentiles of host wait and service time"),
    ("requeues", "requests that the device sent back"),
    ("io_by_process_and_device", "which process waits for which device"),
];

/// What the numbers of a sample come from.
pub fn source(sample: &record::HostSample) -> &'static str {
    if sample.traced.is_some() { "tracer" } else { "counters" }
}

/// What the tracer lost in the interval, in words; absent when nothing was lost.
pub fn lost(sample: &record::HostSample) -> Option<String> {
    let lost = sample.traced.as_ref()?.lost;
    let parts: Vec<String> = [
        (lost.completions, "completions (counted later, without times)"),
        (lost.in_flight, "requests in flight"),
        (lost.ios_of_unfollowed_devices, "I/Os of devices not followed"),
        (lost.scsi, "SCSI answers"),
        (lost.askers, "I/Os whose asker is not known"),
        (lost.counts, "merges, splits or requeues"),
    ]
    .into_iter()
    .filter(|(count, _)| *count > 0)
    .map(|(count, what)| format!("{count} {what}"))
    .collect();
    (!parts.is_empty()).then(|| format!("the tracer lost {}", parts.join(", ")))
}
