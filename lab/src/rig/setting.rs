//! The names of settings in `rigs.toml`, and the file each stands for.
//!
//! `lun0.queue_depth` is `/sys/block/<kernel name of lun0>/device/queue_depth`; a name that begins with `/` is a file, with
//! `{lun0}` standing for the kernel name and `{lun0:hctl}` for its SCSI address.

/// The file below `/sys/block/<device>/` that a short name stands for.
pub fn file_of(knob: &str) -> Option<&'static str> {
    Some(match knob {
        "queue_depth" => "device/queue_depth",
        "queue_ramp_up_period" => "device/queue_ramp_up_period",
        "timeout" => "device/timeout",
        "state" => "device/state",
        "scheduler" => "queue/scheduler",
        "nr_requests" => "queue/nr_requests",
        "max_sectors_kb" => "queue/max_sectors_kb",
        _ => return None,
    })
}
