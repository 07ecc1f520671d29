//! Caps on rate.

use crate::rig::NullBlk;

/// A cap.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cap {
    /// I/Os per second let through.
    pub iops: f64,
    /// Where those wait that it holds back.
    pub waits: Waits,
}

/// Where held back I/Os wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waits {
    /// Above the block layer: `blk-throttle` holds bios before they become requests.
    Above,
    /// In the host queue: the driver gives the request back.
    HostQueue,
}

/// The lowest cap on reads that a line of `io.max` sets, and the value as written (Documentation/admin-guide/cgroup-v2.rst).
pub fn group_caps(line: &str, block_bytes: u64) -> Option<(f64, u64)> {
    let caps = line.split_whitespace().filter_map(|word| {
        let (key, value) = word.split_once('=')?;
        let value: u64 = value.parse().ok()?;
        match key {
            "riops" => Some((value as f64, value)),
            "rbps" => Some((value as f64 / block_bytes as f64, value)),
            _ => None,
        }
    });
    caps.min_by(|a, b| a.0.total_cmp(&b.0))
}

/// null_blk's own throttle: fifty times a second the budget is set to a fiftieth of `mbps` MiB, and a request that finds
/// less than its size waits for the next (drivers/block/null_blk/main.c, `mb_per_tick`, `null_handle_throttled`).
/// What is left of a budget is lost, so whole requests count.
pub fn null_blk_iops(device: &NullBlk, block_bytes: u64) -> Option<f64> {
    const TICKS_PER_S: u64 = 50;
    let budget_bytes = (1 << 20) / TICKS_PER_S * u64::from(device.mb_per_s);
    let per_tick = budget_bytes / block_bytes;
    (per_tick > 0).then(|| (per_tick * TICKS_PER_S) as f64)
}
