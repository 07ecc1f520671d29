//! One signature each.

pub mod concurrency;
pub mod cpu;
pub mod device_queue;
pub mod host_queue;
pub mod host_tags;
pub mod path;
pub mod pushed_back;
pub mod saturation;
pub mod standing;
pub mod target;
pub mod throttle;
pub mod unknown;

use crate::case::Case;
use crate::growth::Growth;

/// Below this gain throughput counts as flat.
pub const FLAT: f64 = 0.25;
/// Above this gain throughput still follows concurrency.
pub const SCALES: f64 = 0.6;
/// An added I/O stands in a layer when at least this share of it does.
pub const STANDS: f64 = 0.5;

/// Whether throughput stopped growing at the end of the curve.
pub fn is_flat(growth: &Growth) -> bool {
    growth.gain < FLAT
}

/// What every verdict rests on besides its own signature.
pub fn common_evidence(case: &Case) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(g) = &case.growth {
        lines.push(format!(
            "from {} to {} outstanding, throughput went {:.0} -> {:.0} IOPS and mean response {} -> {}",
            g.from,
            g.to,
            g.iops.0,
            g.iops.1,
            time(g.response_us.0),
            time(g.response_us.1),
        ));
        if let (Some(above), Some(host), Some(device)) = (g.above, g.host_queue, g.device_queue) {
            lines.push(format!(
                "of each added I/O, {:.0} % stood above the block layer, {:.0} % in the host queue, {:.0} % at the device",
                percent(above),
                percent(host),
                percent(device)
            ));
        }
    }
    lines
}

fn percent(share: f64) -> f64 {
    (100.0 * share).clamp(0.0, 100.0)
}

/// A time in the unit a reader would choose.
pub fn time(us: f64) -> String {
    match us {
        us if !us.is_finite() => "-".to_owned(),
        us if us < 1e3 => format!("{us:.0} us"),
        us if us < 1e6 => format!("{:.2} ms", us / 1e3),
        us => format!("{:.2} s", us / 1e6),
    }
}
