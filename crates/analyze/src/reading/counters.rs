//! Counters that only grow (`/proc/diskstats`, node_exporter) as points: what happened between two looks.

use super::point::DevicePoint;
use record::imported::Quantity::{self, *};
use record::imported::{Interval, Origin, Rows};

const TOTALS: [Quantity; 9] =
    [Reads, Writes, ReadBytes, WriteBytes, ReadTimeS, WriteTimeS, BusyTimeS, WeightedTimeS, Ios];

/// One look at the counters of a device.
#[derive(Clone, Copy, Debug)]
pub(super) struct Look {
    at_s: f64,
    totals: [f64; TOTALS.len()],
}

impl Look {
    /// The counters of a row; absent when it has none.
    pub fn of(rows: &Rows, row: usize) -> Option<Self> {
        let values = rows.row(row);
        let totals = TOTALS.map(|q| rows.column(q).map_or(f64::NAN, |at| values[at]));
        let is_counted = totals.iter().any(|t| !t.is_nan());
        is_counted.then_some(Self { at_s: rows.interval(row).at_s, totals })
    }

    /// What happened since an earlier look; absent when time is unknown or a counter went back.
    pub fn since(&self, earlier: &Self, interval: &Interval, origin: Origin) -> Option<DevicePoint> {
        let length_s = self.at_s - earlier.at_s;
        if !(length_s > 0.0) {
            return None;
        }
        let mut grown = [f64::NAN; TOTALS.len()];
        for (n, by) in grown.iter_mut().enumerate() {
            *by = self.totals[n] - earlier.totals[n];
            if *by < 0.0 {
                return None;
            }
        }
        let [reads, writes, read_bytes, write_bytes, read_s, write_s, busy_s, weighted_s, ios] = grown;
        let per_s = |n: f64| n / length_s;
        let us = |time_s: f64, count: f64| if count > 0.0 { time_s / count * 1e6 } else { f64::NAN };
        let total = if ios.is_nan() { reads + writes } else { ios };
        Some(DevicePoint {
            length_s,
            iops: per_s(total),
            read_iops: per_s(reads),
            write_iops: per_s(writes),
            bytes_per_s: per_s(read_bytes + write_bytes),
            read_bytes_per_s: per_s(read_bytes),
            write_bytes_per_s: per_s(write_bytes),
            outstanding: per_s(weighted_s),
            response_us: us(read_s + write_s, reads + writes),
            read_response_us: us(read_s, reads),
            write_response_us: us(write_s, writes),
            busy_percent: per_s(busy_s) * 100.0,
            ..DevicePoint::unknown(interval, origin)
        })
    }
}
