//! Figures that are known, or known to lie between two.

use serde::Serialize;

/// Lowest and highest value a figure can have; equal where it is certain.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Range {
    /// Lowest.
    pub low: f64,
    /// Highest.
    pub high: f64,
}

impl Range {
    /// A certain value.
    pub fn of(value: f64) -> Self {
        Self { low: value, high: value }
    }

    /// Between two values, in either order.
    pub fn between(a: f64, b: f64) -> Self {
        Self { low: a.min(b), high: a.max(b) }
    }

    /// How far a value lies outside; 0 inside.
    pub fn distance(&self, value: f64) -> f64 {
        (self.low - value).max(value - self.high).max(0.0)
    }

    /// The end of the range nearest to a value.
    pub fn nearest(&self, value: f64) -> f64 {
        value.clamp(self.low, self.high)
    }
}

/// One concurrency: what comes out and where the I/Os stand. Means over time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Row {
    /// I/Os outstanding.
    pub n: u32,
    /// Throughput, I/Os per second.
    pub iops: Range,
    /// Mean response time, us.
    pub response_us: Range,
    /// Standing above the block layer.
    pub above: Range,
    /// Standing in host queues.
    pub host_queue: Range,
    /// Sent to the device and not completed.
    pub device_queue: Range,
}

impl Row {
    /// A row whose devices are busy with all they hold: device queue = X S, and the rest waits in the host
    /// (Little's law for the device alone).
    pub fn waiting_in_host(n: u32, busy: Range, service_us: f64) -> Self {
        let iops = Range { low: busy.low / service_us * 1e6, high: busy.high / service_us * 1e6 };
        let outstanding = f64::from(n);
        Self {
            n,
            iops,
            response_us: Range::between(outstanding / iops.high * 1e6, outstanding / iops.low * 1e6),
            above: Range::of(0.0),
            host_queue: Range::between(outstanding - busy.high, outstanding - busy.low),
            device_queue: busy,
        }
    }
}
