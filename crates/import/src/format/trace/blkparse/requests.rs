//! Requests, put together from their events. What is outstanding is kept in a bounded table.

use super::event::Event;
use super::{kernel_name, kind};
use crate::out::{Layout, Out};
use record::imported::Quantity::{HostWaitUs, IsWrite, OffsetBytes, RequestBytes, ResponseUs, ServiceUs};
use record::imported::{Basis, Interval, PlaceId, RowsKind};
use std::collections::{BTreeMap, HashMap};

/// Outstanding I/Os that are kept; more were lost from the trace.
const OUTSTANDING_MAX: usize = 1 << 18;
const SECTOR_BYTES: f64 = 512.0;

type Device = (u32, u32);

/// Issued to the driver.
#[derive(Clone, Copy)]
struct Issued {
    queued_s: f64,
    issued_s: f64,
    sectors: u64,
}

#[derive(Clone, Copy, Default)]
struct Counts {
    queued: u64,
    issued: u64,
    completed: u64,
    merges: u64,
    splits: u64,
    requeues: u64,
    waits_for_requests: u64,
    without_begin: u64,
    went_back: u64,
}

#[derive(Clone, Copy)]
struct Known {
    place: PlaceId,
    counts: Counts,
}

/// Puts requests together.
#[derive(Default)]
pub(super) struct Requests {
    /// When each I/O was queued, by its first sector.
    queued: BTreeMap<(Device, u64), f64>,
    issued: HashMap<(Device, u64), Issued>,
    devices: BTreeMap<Device, Known>,
    layout: Option<Layout>,
    lost: u64,
}

impl Requests {
    /// Takes an event; a completion gives a row.
    pub fn take(&mut self, event: &Event<'_>, out: &mut Out<'_>) {
        let device = event.device;
        let known = self.devices.entry(device).or_insert_with(|| {
            let place = out.place(kind(device), &format!("{},{}", device.0, device.1));
            if let Some(name) = kernel_name(device) {
                out.fact(place, "kernel_name", name);
            }
            Known { place, counts: Counts::default() }
        });
        let place = known.place;
        let counts = &mut known.counts;
        match event.action {
            "M" | "F" => counts.merges += 1,
            "S" => counts.waits_for_requests += 1,
            _ => {}
        }
        let Some((first, sectors)) = event.sectors else { return };
        let key = (device, first);
        match event.action {
            "Q" => {
                counts.queued += 1;
                if self.queued.len() >= OUTSTANDING_MAX {
                    self.lost += self.queued.len() as u64;
                    self.queued.clear();
                }
                self.queued.insert(key, event.time_s);
            }
            "X" => {
                counts.splits += 1;
                let queued = self.queued.get(&key).copied();
                if let (Some(second), Some(queued_s)) = (event.split_at, queued) {
                    self.queued.insert((device, second), queued_s);
                }
            }
            "R" => {
                counts.requeues += 1;
                if let Some(issued) = self.issued.remove(&key).filter(|i| i.queued_s.is_finite()) {
                    self.queued.insert(key, issued.queued_s);
                }
            }
            "D" => {
                counts.issued += 1;
                let queued_s = self.first_queued(device, first, sectors);
                if self.issued.len() >= OUTSTANDING_MAX {
                    self.lost += self.issued.len() as u64;
                    self.issued.clear();
                }
                self.issued.insert(key, Issued { queued_s, issued_s: event.time_s, sectors });
            }
            "C" => {
                counts.completed += 1;
                self.complete(event, place, first, sectors, out);
            }
            _ => {}
        }
    }

    /// When the first of the I/Os that were merged into a request was queued. All of them are taken out.
    fn first_queued(&mut self, device: Device, first: u64, sectors: u64) -> f64 {
        let end = first.saturating_add(sectors.max(1));
        let inside: Vec<u64> =
            self.queued.range((device, first)..(device, end)).map(|((_, s), _)| *s).collect();
        inside.iter().filter_map(|s| self.queued.remove(&(device, *s))).fold(f64::NAN, f64::min)
    }

    fn complete(&mut self, event: &Event<'_>, place: PlaceId, first: u64, sectors: u64, out: &mut Out<'_>) {
        let device = event.device;
        let issued = self.issued.remove(&(device, first)).unwrap_or_else(|| {
            // Volumes take I/Os and complete them, and issue nothing to a driver.
            Issued { queued_s: self.first_queued(device, first, sectors), issued_s: f64::NAN, sectors }
        });
        let (mut wait, mut service) = (issued.issued_s - issued.queued_s, event.time_s - issued.issued_s);
        let mut response = event.time_s - issued.queued_s;
        if let Some(known) = self.devices.get_mut(&device) {
            known.counts.without_begin += u64::from(service.is_nan() && response.is_nan());
            let back = [wait, service, response].iter().any(|t| *t < 0.0);
            known.counts.went_back += u64::from(back);
        }
        for time in [&mut wait, &mut service, &mut response] {
            if *time < 0.0 {
                *time = f64::NAN;
            }
        }
        if service.is_nan() && response.is_nan() {
            return;
        }
        let quantities = [HostWaitUs, ServiceUs, ResponseUs, RequestBytes, OffsetBytes, IsWrite];
        let layout = *self.layout.get_or_insert_with(|| out.layout(&quantities));
        out.interval(Interval {
            at_s: event.time_s,
            length_s: f64::NAN,
            basis: Basis::SinceStart,
            kind: RowsKind::Request,
        });
        let bytes = issued.sectors.max(sectors) as f64 * SECTOR_BYTES;
        let offset = first as f64 * SECTOR_BYTES;
        out.row(layout, place, &[wait * 1e6, service * 1e6, response * 1e6, bytes, offset, event.is_write()]);
    }

    /// The kernel's names of the devices met, and their numbers.
    pub fn named(&self) -> Vec<(String, String)> {
        let one = |device: &Device| Some((kernel_name(*device)?, format!("{},{}", device.0, device.1)));
        self.devices.keys().filter_map(one).collect()
    }

    /// What was counted.
    pub fn end(&mut self, out: &mut Out<'_>) {
        let (mut outstanding, mut begins, mut back) = (self.issued.len() as u64, 0, 0);
        outstanding += self.queued.len() as u64;
        for known in self.devices.values() {
            let c = known.counts;
            for (name, count) in [
                ("queued_count", c.queued),
                ("issued_count", c.issued),
                ("completed_count", c.completed),
                ("merges_count", c.merges),
                ("splits_count", c.splits),
                ("requeues_count", c.requeues),
                ("waits_for_requests_count", c.waits_for_requests),
            ] {
                out.fact(known.place, name, count as f64);
            }
            begins += c.without_begin;
            back += c.went_back;
        }
        if begins > 0 {
            out.remark(&format!(
                "{begins} completions of I/Os that were queued before the trace began were left out"
            ));
        }
        if outstanding > 0 && begins + outstanding > 0 {
            out.remark(&format!("{outstanding} I/Os had not completed when the trace ended"));
        }
        if back > 0 {
            out.remark(&format!("{back} times were left out because clocks of processors differ"));
        }
        if self.lost > 0 {
            out.remark(&format!("{} I/Os without an end were given up: the trace lost events", self.lost));
        }
        *self = Self::default();
    }
}
