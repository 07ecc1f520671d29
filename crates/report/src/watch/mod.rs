//! `plimsoll watch`: one sample of a host as lines of text, as a line of JSON, or on the live screen.
//!
//! Everything here draws data that is handed in. The screen is drawn here too, into a buffer of ratatui, so that all
//! three forms choose, order and round alike; the command owns the terminal, its keys and its signals.

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
