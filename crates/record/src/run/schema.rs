//! Columns of the tables. Names are those of the data model; units stand in them.

use super::cell::Kind::{self, Bytes, Float, Int, Text};

/// Schema and columns of one table.
pub(crate) struct Columns {
    /// File name within the run.
    pub file: &'static str,
    /// Schema with version.
    pub schema: &'static str,
    /// Columns in order.
    pub columns: &'static [(&'static str, Kind)],
}

/// All tables of a run.
pub(crate) const TABLES: [&Columns; 5] = [&SAMPLES, &STEPS, &LATENCY, &LAYERS, &EVENTS];

/// One row per slice. `run_s` counts from the start of the run, `start_s` from the start of the step's window.
pub(crate) const SAMPLES: Columns = Columns {
    file: "samples.parquet",
    schema: "plimsoll.samples/1",
    columns: &[
        ("step", Int),
        ("slice", Int),
        ("run_s", Float),
        ("start_s", Float),
        ("length_s", Float),
        ("iops", Float),
        ("mib_per_s", Float),
        ("outstanding_mean", Float),
        ("response_mean_us", Float),
        ("response_p50_us", Float),
        ("response_p99_us", Float),
        ("read_ios", Int),
        ("read_bytes", Int),
        ("read_errors", Int),
        ("read_sum_ns", Int),
        ("read_hdr", Bytes),
        ("write_ios", Int),
        ("write_bytes", Int),
        ("write_errors", Int),
        ("write_sum_ns", Int),
        ("write_hdr", Bytes),
        ("flush_ios", Int),
        ("flush_bytes", Int),
        ("flush_errors", Int),
        ("flush_sum_ns", Int),
        ("flush_hdr", Bytes),
    ],
};

/// One row per step. `host_queue` and `device_queue` are requests at the lowest layers of the path, `above` is what is
/// left of the outstanding I/Os; they are null where a counter is missing or where one I/O is not one request.
/// `detail_json` holds the nested parts of the step for reading it back; everything else is flat.
pub(crate) const STEPS: Columns = Columns {
    file: "steps.parquet",
    schema: "plimsoll.steps/1",
    columns: &[
        ("step", Int),
        ("phase", Text),
        ("demand", Text),
        ("concurrency", Int),
        ("rate_iops", Float),
        ("start_s", Float),
        ("settle_s", Float),
        ("measured_s", Float),
        ("ios", Int),
        ("bytes", Int),
        ("errors", Int),
        ("iops", Float),
        ("mib_per_s", Float),
        ("response_mean_us", Float),
        ("response_p50_us", Float),
        ("response_p95_us", Float),
        ("response_p99_us", Float),
        ("response_p999_us", Float),
        ("response_max_us", Float),
        ("outstanding_mean", Float),
        ("above", Float),
        ("host_queue", Float),
        ("device_queue", Float),
        ("cpu_user_us_per_io", Float),
        ("cpu_sys_us_per_io", Float),
        ("cpu_irq_us_per_io", Float),
        ("busiest_worker", Float),
        ("iops_per_core", Float),
        ("psi_cpu_some", Float),
        ("steal", Float),
        ("run_queue_mean", Float),
        ("foreign_iops", Float),
        ("ended", Text),
        ("detail_json", Text),
    ],
};

/// One row per step and class that completed I/Os. `hdr` is an HdrHistogram of nanoseconds in the V2 encoding;
/// histograms of any two rows add up without loss. `sum_ns` is exact, so means carry no bucket error.
pub(crate) const LATENCY: Columns = Columns {
    file: "latency.parquet",
    schema: "plimsoll.latency/1",
    columns: &[
        ("step", Int),
        ("class", Text),
        ("ios", Int),
        ("sum_ns", Int),
        ("mean_us", Float),
        ("p50_us", Float),
        ("p90_us", Float),
        ("p95_us", Float),
        ("p99_us", Float),
        ("p999_us", Float),
        ("p9999_us", Float),
        ("max_us", Float),
        ("hdr", Bytes),
    ],
};

/// One row per step and layer, `position` 0 at the top of the path.
pub(crate) const LAYERS: Columns = Columns {
    file: "layers.parquet",
    schema: "plimsoll.layers/1",
    columns: &[
        ("step", Int),
        ("position", Int),
        ("layer", Text),
        ("requests_per_s", Float),
        ("mib_per_s", Float),
        ("request_bytes_mean", Float),
        ("merges_per_s", Float),
        ("inside", Float),
        ("inside_low", Float),
        ("inside_high", Float),
        ("host_queue", Float),
        ("host_queue_low", Float),
        ("host_queue_high", Float),
        ("device_queue", Float),
        ("device_queue_low", Float),
        ("device_queue_high", Float),
        ("device_queue_peak", Float),
        ("device_queue_limit", Float),
        ("device_queue_limit_low", Float),
        ("device_queue_limit_high", Float),
        ("response_us", Float),
        ("host_wait_us", Float),
        ("service_us", Float),
        ("little_error", Float),
        ("scsi_requested", Int),
        ("scsi_done", Int),
        ("scsi_errors", Int),
        ("scsi_timeouts", Int),
    ],
};

/// One row per event. `run_s` counts from the start of the run.
pub(crate) const EVENTS: Columns = Columns {
    file: "events.parquet",
    schema: "plimsoll.events/1",
    columns: &[
        ("run_s", Float),
        ("step", Int),
        ("kind", Text),
        ("id", Text),
        ("weight", Text),
        ("text", Text),
    ],
};
