//! Rows that wait: for the other sections of their snapshot, and for its time.
//!
//! A file as nmon writes it tells the time first and then all sections of the snapshot. A file that was sorted tells all
//! snapshots of one section, then the next section, and the times last of all. What waits is bounded: beyond it the
//! oldest snapshots are handed over with the time that the start and the interval of the run let expect.

use super::sections::per_read_and_write;
use crate::clock::Clock;
use crate::out::Out;
use record::imported::Quantity::{self, *};
use record::imported::{Basis, Interval, Origin, PlaceId, RowsKind};
use std::collections::BTreeMap;

/// Values that may wait; one takes 16 bytes.
const WAITING_MAX: usize = 6_000_000;

/// A value of a snapshot.
type Value = (PlaceId, Quantity, f64);

/// A snapshot: its first line, and the values read so far.
#[derive(Default)]
struct Snapshot {
    origin: Origin,
    values: Vec<Value>,
}

/// What waits.
#[derive(Default)]
pub(super) struct Held {
    snapshots: BTreeMap<u32, Snapshot>,
    waiting: usize,
    /// Time of each snapshot, as far as told.
    times: BTreeMap<u32, f64>,
    /// Seconds since 1970, local, when the run began.
    pub start_s: Option<f64>,
    /// Seconds asked for between snapshots.
    pub interval_s: Option<f64>,
    last: Option<(u32, f64)>,
    estimated_told: bool,
    clock: Clock,
}

impl Held {
    /// The time of a snapshot: what came before it is complete.
    pub fn time(&mut self, snapshot: u32, at_s: f64, out: &mut Out<'_>) {
        self.times.insert(snapshot, at_s);
        while let Some((&first, _)) = self.snapshots.first_key_value() {
            if first >= snapshot || !self.times.contains_key(&first) {
                break;
            }
            self.hand_over(out);
        }
    }

    /// Values of a snapshot.
    pub fn values(&mut self, snapshot: u32, values: &[Value], out: &mut Out<'_>) {
        let entry = self
            .snapshots
            .entry(snapshot)
            .or_insert_with(|| Snapshot { origin: out.origin(), values: Vec::new() });
        entry.values.extend_from_slice(values);
        self.waiting += values.len();
        while self.waiting > WAITING_MAX && !self.snapshots.is_empty() {
            if !std::mem::replace(&mut self.estimated_told, true) {
                out.remark("the times of the snapshots (ZZZZ) stand too far behind their values: they were counted from the start of the run");
            }
            self.hand_over(out);
        }
    }

    /// Another run begins in the same text: its snapshots count from 1 again.
    pub fn new_run(&mut self, out: &mut Out<'_>) {
        self.all(out);
        self.times.clear();
        self.last = None;
        (self.start_s, self.interval_s) = (None, None);
    }

    /// Hands over all.
    pub fn all(&mut self, out: &mut Out<'_>) {
        while !self.snapshots.is_empty() {
            self.hand_over(out);
        }
    }

    /// The interval that ends with a snapshot.
    fn interval(&mut self, snapshot: u32) -> Interval {
        let told = self.times.get(&snapshot).copied();
        let counted = || Some(self.start_s? + self.interval_s? * f64::from(snapshot));
        let Some(at_s) = told.or_else(counted) else {
            return Interval {
                at_s: self.interval_s.map_or(f64::NAN, |i| i * f64::from(snapshot)),
                length_s: self.interval_s.unwrap_or(f64::NAN),
                basis: Basis::SinceStart,
                kind: RowsKind::Interval,
            };
        };
        let mut interval = self.clock.moment(at_s, Basis::Local, RowsKind::Interval);
        // From the snapshot before; the first from the start of the run, but no longer than was asked for: nmon first
        // looks at the machine for some seconds.
        let before = match self.last {
            Some((number, before)) if number + 1 == snapshot => Some(at_s - before),
            _ => None,
        };
        let from_start = self.start_s.map(|s| at_s - s).filter(|_| self.last.is_none());
        let asked = self.interval_s.unwrap_or(f64::INFINITY);
        let length = before.or_else(|| from_start.map(|l| l.min(asked))).or(self.interval_s);
        interval.length_s = length.filter(|l| *l > 0.0).unwrap_or(f64::NAN);
        self.last = Some((snapshot, at_s));
        interval
    }

    fn hand_over(&mut self, out: &mut Out<'_>) {
        let Some((number, snapshot)) = self.snapshots.pop_first() else { return };
        let Snapshot { mut origin, mut values } = snapshot;
        self.waiting -= values.len();
        let interval = self.interval(number);
        out.interval(interval);
        // A row gathers several lines: there is none to quote.
        (origin.start, origin.end) = (0, 0);
        values.sort_by_key(|(place, _, _)| *place);
        for of_place in values.chunk_by(|a, b| a.0 == b.0) {
            let Some((place, _, _)) = of_place.first() else { continue };
            let mut pairs: Vec<(Quantity, f64)> = Vec::new();
            for (_, quantity, value) in of_place {
                // The first of two sections that tell the same.
                if !pairs.iter().any(|(q, _)| q == quantity) {
                    pairs.push((*quantity, *value));
                }
            }
            split_service(&mut pairs);
            out.put_from(origin, *place, &pairs);
        }
    }
}

/// Times of reads and of writes become times per read and per write.
fn split_service(pairs: &mut [(Quantity, f64)]) {
    let of = |quantity| pairs.iter().find(|(q, _)| *q == quantity).map_or(f64::NAN, |(_, v)| *v);
    let service = [of(ServiceUs), of(ReadServiceUs), of(WriteServiceUs)];
    if service[1].is_nan() && service[2].is_nan() {
        return;
    }
    let [read, write] = per_read_and_write(service, [of(Iops), of(ReadIops), of(WriteIops)]);
    for (quantity, value) in pairs {
        match quantity {
            ReadServiceUs => *value = read,
            WriteServiceUs => *value = write,
            _ => {}
        }
    }
}
