//! What JSON and XML of sysstat have in common: rows told by keys, hosts, times, restarts.

use super::activity::{Item, column_of_key};
use super::banner::page_bytes;
use super::cells::is_sum;
use super::sadf::time::joined;
use crate::out::Out;
use record::imported::{Basis, EventKind, Host, Interval, PlaceKind, Platform, Quantity, RowsKind};

/// Above this a figure stems from a counter that went back.
const SENSIBLE_MAX: f64 = 1e15;

/// What a document says of its host.
#[derive(Clone, Debug, Default)]
pub(super) struct HostInfo {
    pub nodename: Option<String>,
    pub release: Option<String>,
    pub machine: Option<String>,
    pub processors: Option<u32>,
}

impl HostInfo {
    /// Tells it; the size of a page where the machine shows it.
    pub fn tell(&self, out: &mut Out<'_>) -> Option<f64> {
        out.host(Host {
            name: self.nodename.clone().filter(|n| !n.is_empty()),
            platform: Platform::Linux,
            release: self.release.clone(),
            processors: self.processors,
        });
        page_bytes(self.machine.as_deref()?)
    }
}

/// A time stamp of sadf.
#[derive(Clone, Debug, Default)]
pub(super) struct Stamp {
    pub date: String,
    pub time: String,
    /// `tz="UTC"` or, before 12.7.5, `utc="1"`.
    pub is_utc: bool,
    /// Seconds.
    pub interval_s: f64,
}

impl Stamp {
    /// The moment; absent when date or time are damaged.
    pub fn moment(&self) -> Option<(f64, Basis)> {
        let basis = if self.is_utc { Basis::Utc } else { Basis::Local };
        joined(&self.date, &self.time).map(|at_s| (at_s, basis))
    }

    /// The interval that ends there.
    pub fn interval(&self) -> Option<Interval> {
        let (at_s, basis) = self.moment()?;
        let length_s = if self.interval_s > 0.0 { self.interval_s } else { f64::NAN };
        Some(Interval { at_s, length_s, basis, kind: RowsKind::Interval })
    }

    /// A restart or a comment at this time.
    pub fn event(&self, kind: EventKind, text: &str, out: &mut Out<'_>) {
        let host = out.place(PlaceKind::Host, "");
        out.event(host, kind, self.moment().map_or(f64::NAN, |(at_s, _)| at_s), text);
    }
}

/// The figures of one row.
#[derive(Clone, Debug, Default)]
pub(super) struct Figures {
    values: Vec<(Quantity, f64)>,
}

impl Figures {
    /// A figure of a table, by its key; whether it is one that is kept.
    pub fn add(&mut self, table: &str, key: &str, number: f64, page_bytes: Option<f64>) -> bool {
        let Some((quantity, factor)) = column_of_key(table, key, page_bytes) else { return false };
        self.put(quantity, if number.abs() < SENSIBLE_MAX { number * factor } else { f64::NAN });
        true
    }

    /// sadf tells some figures of a disk in two units; the one in sectors is left out then.
    pub fn is_told_better(key: &str, has: impl Fn(&str) -> bool) -> bool {
        match key {
            "rd_sec" => has("rkB"),
            "wr_sec" => has("wkB"),
            "dc_sec" => has("dkB"),
            "avgrq-sz" => has("areq-sz"),
            "avgqu-sz" => has("aqu-sz"),
            _ => false,
        }
    }

    /// A value; of two that say the same the later one holds.
    pub fn put(&mut self, quantity: Quantity, value: f64) {
        match self.values.iter_mut().find(|(q, _)| *q == quantity) {
            Some((_, known)) if is_sum(quantity) && !known.is_nan() => *known += value,
            Some((_, known)) => *known = value,
            None => self.values.push((quantity, value)),
        }
    }

    /// The row of an item; none when it has no figures.
    pub fn push(&mut self, item: Item, name: &str, out: &mut Out<'_>) {
        let (kind, name) = item.place(name);
        self.push_to(kind, &name, out);
    }

    /// The same for a place.
    pub fn push_to(&mut self, kind: PlaceKind, name: &str, out: &mut Out<'_>) {
        if !self.values.is_empty() {
            let place = out.place(kind, name);
            out.put(place, &self.values);
            self.values.clear();
        }
    }
}
