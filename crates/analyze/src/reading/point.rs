//! A row of a device as one set of numbers, whatever tool wrote it: what is missing follows from what is there.

use record::imported::Quantity::{self, *};
use record::imported::{Interval, Origin, Rows};

/// What a device did in one interval. NaN where it is not known and does not follow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DevicePoint {
    /// End of the interval, as the source counts time; NaN when unknown.
    pub at_s: f64,
    /// Its length; NaN when unknown.
    pub length_s: f64,
    /// The line it stands in; of merged points the first.
    pub origin: Origin,
    /// I/Os per second, all classes told.
    pub iops: f64,
    /// Reads per second.
    pub read_iops: f64,
    /// Writes per second.
    pub write_iops: f64,
    /// Bytes per second, reads and writes.
    pub bytes_per_s: f64,
    /// Bytes read per second.
    pub read_bytes_per_s: f64,
    /// Bytes written per second.
    pub write_bytes_per_s: f64,
    /// Mean number in host queue and device.
    pub outstanding: f64,
    /// Mean number in the host queue.
    pub host_queue: f64,
    /// Mean number at the device.
    pub device_queue: f64,
    /// Mean response time.
    pub response_us: f64,
    /// The same of reads.
    pub read_response_us: f64,
    /// The same of writes.
    pub write_response_us: f64,
    /// Mean time in the host queue.
    pub host_wait_us: f64,
    /// Mean time at the device.
    pub service_us: f64,
    /// Longest response or service that the tool told.
    pub longest_us: f64,
    /// Share of time with something outstanding, percent.
    pub busy_percent: f64,
    /// Share of time with something in the host queue, percent (Solaris `%w`).
    pub host_queue_busy_percent: f64,
    /// Times per second that the device queue was full.
    pub queue_full_per_s: f64,
    /// I/Os that failed or timed out in the interval.
    pub failures: f64,
    /// What the tool told of the number outstanding, over rate times response: 1 by Little's law. NaN where the tool did
    /// not tell all three.
    pub little: f64,
}

/// Numbers that are weighted by time when points are merged.
const FIELDS: usize = 20;

impl DevicePoint {
    /// Nothing is known.
    pub fn unknown(interval: &Interval, origin: Origin) -> Self {
        let [at_s, length_s] = [interval.at_s, interval.length_s];
        Self { at_s, length_s, origin, ..Self::from_fields([f64::NAN; FIELDS]) }
    }

    fn fields(&self) -> [f64; FIELDS] {
        [
            self.iops,
            self.read_iops,
            self.write_iops,
            self.bytes_per_s,
            self.read_bytes_per_s,
            self.write_bytes_per_s,
            self.outstanding,
            self.host_queue,
            self.device_queue,
            self.response_us,
            self.read_response_us,
            self.write_response_us,
            self.host_wait_us,
            self.service_us,
            self.longest_us,
            self.busy_percent,
            self.queue_full_per_s,
            self.failures,
            self.little,
            self.host_queue_busy_percent,
        ]
    }

    fn from_fields(f: [f64; FIELDS]) -> Self {
        Self {
            at_s: f64::NAN,
            length_s: f64::NAN,
            origin: Origin::default(),
            iops: f[0],
            read_iops: f[1],
            write_iops: f[2],
            bytes_per_s: f[3],
            read_bytes_per_s: f[4],
            write_bytes_per_s: f[5],
            outstanding: f[6],
            host_queue: f[7],
            device_queue: f[8],
            response_us: f[9],
            read_response_us: f[10],
            write_response_us: f[11],
            host_wait_us: f[12],
            service_us: f[13],
            longest_us: f[14],
            busy_percent: f[15],
            queue_full_per_s: f[16],
            failures: f[17],
            little: f[18],
            host_queue_busy_percent: f[19],
        }
    }

    /// Mean bytes of an I/O; NaN where nothing was done.
    pub fn request_bytes(&self) -> f64 {
        self.bytes_per_s / self.iops
    }

    /// Time weight of this point among others: its length, or 1 where no length is known.
    pub fn weight(&self) -> f64 {
        if self.length_s > 0.0 { self.length_s } else { 1.0 }
    }

    /// Several as one, each by its length, or all alike where lengths are not known.
    pub fn together<'p>(points: impl IntoIterator<Item = &'p Self>) -> Option<Self> {
        let mut is_told = true;
        let weighed = points.into_iter().map(|p| {
            is_told &= p.length_s > 0.0;
            Self { length_s: p.weight(), ..*p }
        });
        let merged = weighed.reduce(|a, b| a.merged(&b))?;
        Some(Self { length_s: if is_told { merged.length_s } else { f64::NAN }, ..merged })
    }

    /// Two neighbours as one: rates and queues by time, times per I/O by I/Os, the longest as the longest.
    pub fn merged(&self, next: &Self) -> Self {
        let (wa, wb) = (self.weight(), next.weight());
        let (ia, ib) = (wa * self.iops.max(0.0), wb * next.iops.max(0.0));
        let mean = |a: f64, b: f64, wa: f64, wb: f64| match (a.is_nan(), b.is_nan()) {
            (true, _) => b,
            (_, true) => a,
            _ if wa + wb > 0.0 => (a * wa + b * wb) / (wa + wb),
            _ => (a + b) / 2.0,
        };
        let (fa, fb) = (self.fields(), next.fields());
        let mut merged = [f64::NAN; FIELDS];
        for (n, field) in merged.iter_mut().enumerate() {
            *field = match n {
                9..=13 if ia + ib > 0.0 => mean(fa[n], fb[n], ia, ib),
                14 => fa[n].max(fb[n]),
                17 => [fa[n], fb[n]]
                    .into_iter()
                    .filter(|v| !v.is_nan())
                    .reduce(|a, b| a + b)
                    .unwrap_or(f64::NAN),
                _ => mean(fa[n], fb[n], wa, wb),
            };
        }
        let length_s =
            if self.length_s > 0.0 && next.length_s > 0.0 { self.length_s + next.length_s } else { f64::NAN };
        Self { at_s: next.at_s, length_s, origin: self.origin, ..Self::from_fields(merged) }
    }
}

/// Where the quantities of some rows stand, looked up once for all of them.
pub(super) struct Columns {
    places: [Option<usize>; WANTED.len()],
}

const WANTED: [Quantity; 31] = [
    ReadIops,
    WriteIops,
    Iops,
    ReadBytesPerS,
    WriteBytesPerS,
    BytesPerS,
    ReadSizeBytes,
    WriteSizeBytes,
    RequestBytes,
    Outstanding,
    HostQueue,
    DeviceQueue,
    ResponseUs,
    ReadResponseUs,
    WriteResponseUs,
    HostWaitUs,
    ServiceUs,
    ReadServiceUs,
    WriteServiceUs,
    BusyPercent,
    QueueFullPerS,
    Timeouts,
    Failures,
    ResponseMaxUs,
    ReadServiceMaxUs,
    WriteServiceMaxUs,
    DiscardIops,
    FlushIops,
    DiscardResponseUs,
    FlushResponseUs,
    HostQueueBusyPercent,
];

impl Columns {
    pub fn of(rows: &Rows) -> Self {
        Self { places: WANTED.map(|quantity| rows.column(quantity)) }
    }

    /// The point of a row.
    pub fn point(&self, values: &[f64], interval: &Interval, origin: Origin) -> DevicePoint {
        let mut seen = [f64::NAN; WANTED.len()];
        for (value, place) in seen.iter_mut().zip(&self.places) {
            if let Some(place) = place {
                *value = values[*place];
            }
        }
        derive(&seen, interval, origin)
    }
}

/// The first that is known.
fn or(a: f64, b: impl FnOnce() -> f64) -> f64 {
    if a.is_nan() { b() } else { a }
}

/// Sum of what is known; NaN when nothing is.
fn sum(parts: &[f64]) -> f64 {
    let known = parts.iter().filter(|p| !p.is_nan());
    known.copied().reduce(|a, b| a + b).unwrap_or(f64::NAN)
}

/// Mean of times by the rates they belong to.
fn by_rate(parts: &[(f64, f64)]) -> f64 {
    let known: Vec<&(f64, f64)> = parts.iter().filter(|(t, rate)| !t.is_nan() && *rate > 0.0).collect();
    let rate: f64 = known.iter().map(|(_, r)| r).sum();
    if rate > 0.0 { known.iter().map(|(t, r)| t * r).sum::<f64>() / rate } else { f64::NAN }
}

fn derive(seen: &[f64; WANTED.len()], interval: &Interval, origin: Origin) -> DevicePoint {
    let [
        read_iops,
        write_iops,
        iops,
        read_bytes,
        write_bytes,
        bytes,
        read_size,
        write_size,
        size,
        told_outstanding,
        host_queue,
        device_queue,
        response,
        read_response,
        write_response,
        host_wait,
        service,
        read_service,
        write_service,
        busy,
        queue_full,
        timeouts,
        failures,
        response_max,
        read_max,
        write_max,
        discard_iops,
        flush_iops,
        discard_response,
        flush_response,
        host_queue_busy,
    ] = *seen;
    let us = 1e-6;
    let iops = or(iops, || sum(&[read_iops, write_iops, discard_iops]));
    let read_bytes = or(read_bytes, || read_iops * read_size);
    let write_bytes = or(write_bytes, || write_iops * write_size);
    let bytes = or(or(bytes, || sum(&[read_bytes, write_bytes])), || iops * size);
    let service = or(service, || by_rate(&[(read_service, read_iops), (write_service, write_iops)]));
    let classes = [
        (read_response, read_iops),
        (write_response, write_iops),
        (discard_response, discard_iops),
        (flush_response, flush_iops),
    ];
    // A rate of 0 hides no time: only classes that did something count.
    let told_response = or(response, || by_rate(&classes));
    let response = or(told_response, || host_wait + service);
    // All classes stand in the queue, flushes too.
    let all_iops = sum(&[iops, flush_iops]);
    let rate = if response.is_nan() { iops } else { all_iops };
    let host_queue = or(host_queue, || iops * host_wait * us);
    let device_queue = or(device_queue, || iops * service * us);
    let outstanding = or(told_outstanding, || or(host_queue + device_queue, || rate * response * us));
    let response = or(response, || if iops > 0.0 { outstanding / iops / us } else { f64::NAN });
    let host_wait = or(host_wait, || if iops > 0.0 { host_queue / iops / us } else { f64::NAN });
    let service = or(service, || if iops > 0.0 { device_queue / iops / us } else { f64::NAN });
    let little = told_outstanding / (rate * told_response * us);
    DevicePoint {
        at_s: interval.at_s,
        length_s: interval.length_s,
        origin,
        iops,
        read_iops,
        write_iops,
        bytes_per_s: bytes,
        read_bytes_per_s: read_bytes,
        write_bytes_per_s: write_bytes,
        outstanding,
        host_queue,
        device_queue,
        response_us: response,
        read_response_us: or(read_response, || read_service),
        write_response_us: or(write_response, || write_service),
        host_wait_us: host_wait,
        service_us: service,
        longest_us: [response_max, read_max, write_max].into_iter().fold(f64::NAN, f64::max),
        busy_percent: busy,
        host_queue_busy_percent: host_queue_busy,
        queue_full_per_s: queue_full,
        failures: sum(&[timeouts, failures]),
        little: if little.is_finite() { little } else { f64::NAN },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::imported::RowsKind;

    fn point(pairs: &[(Quantity, f64)]) -> DevicePoint {
        let quantities: Vec<Quantity> = pairs.iter().map(|p| p.0).collect();
        let values: Vec<f64> = pairs.iter().map(|p| p.1).collect();
        let interval = Interval { length_s: 1.0, ..Interval::unknown(RowsKind::Interval) };
        Columns::of(&Rows::new(&quantities)).point(&values, &interval, Origin::default())
    }

    #[test]
    fn linux_iostat_has_the_sum_of_both_queues() {
        let p = point(&[
            (ReadIops, 2000.0),
            (WriteIops, 100.0),
            (ReadResponseUs, 12e3),
            (WriteResponseUs, 2e3),
            (Outstanding, 24.2),
            (ReadBytesPerS, 16_384_000.0),
            (WriteBytesPerS, 0.0),
        ]);
        assert_eq!((p.iops, p.outstanding, p.bytes_per_s), (2100.0, 24.2, 16_384_000.0));
        assert!((p.response_us - 24.2e6 / 2100.0).abs() < 1e-6 && (p.little - 1.0).abs() < 1e-9);
        assert!(p.host_queue.is_nan() && p.device_queue.is_nan() && p.host_wait_us.is_nan());
    }

    #[test]
    fn solaris_has_both_queues_and_their_times() {
        let p = point(&[
            (ReadIops, 500.0),
            (WriteIops, 0.0),
            (HostQueue, 4.0),
            (DeviceQueue, 8.0),
            (HostWaitUs, 8e3),
            (ServiceUs, 16e3),
        ]);
        assert_eq!((p.outstanding, p.response_us), (12.0, 24e3));
        let sar = point(&[(Iops, 100.0), (HostWaitUs, 5e3), (ServiceUs, 10e3)]);
        assert_eq!((sar.host_queue, sar.device_queue, sar.outstanding), (0.5, 1.0, 1.5));
    }

    #[test]
    fn merging_keeps_little() {
        let a = point(&[(Iops, 100.0), (ResponseUs, 10e3)]);
        let b = point(&[(Iops, 300.0), (ResponseUs, 2e3)]);
        let m = a.merged(&b);
        assert_eq!((m.iops, m.response_us, m.length_s), (200.0, 4000.0, 2.0));
        assert!((m.outstanding - m.iops * m.response_us * 1e-6).abs() < 1e-9);
        assert_eq!(m.merged(&point(&[(Iops, 0.0)])).response_us, 4000.0);
        // Without lengths each counts once.
        let bare = [1.0, 2.0, 6.0].map(|iops| DevicePoint { length_s: f64::NAN, ..point(&[(Iops, iops)]) });
        let together = DevicePoint::together(&bare).unwrap();
        assert!(together.iops == 3.0 && together.length_s.is_nan());
    }
}
