//! Reports of databases as rules look at them: one period of one instance, and what the devices of its host did meanwhile.

use crate::finding::Evidence;
use crate::reading::ReportRow;
use crate::reading::case::ReadCase;
use record::imported::{HostId, Origin, PlaceId, PlaceKind, Quantity, SourceId};
use std::collections::BTreeMap;

/// Times from here on are of a calendar; smaller ones count from the beginning of their text.
const CALENDAR_S: f64 = 1e8;

/// A period of an instance.
pub(super) struct Report<'c, 'd> {
    pub case: &'c ReadCase<'d>,
    pub host: HostId,
    rows: Vec<&'d ReportRow>,
    /// End of the period; NaN when not told.
    pub at_s: f64,
    /// Its length; NaN when not told.
    pub length_s: f64,
}

/// Waits of an event in a period. NaN where not told.
#[derive(Clone, Copy, Debug)]
pub(super) struct Waited {
    pub place: PlaceId,
    pub origin: Origin,
    pub waits: f64,
    pub time_s: f64,
    pub mean_us: f64,
    /// Share of the database's time.
    pub percent: f64,
}

/// Reports of everything that was read.
pub(super) fn reports<'c, 'd>(case: &'c ReadCase<'d>) -> Vec<Report<'c, 'd>> {
    use PlaceKind::{Database, DatabaseFile, IoFunction, Tablespace, WaitEvent};
    let mut periods: BTreeMap<(SourceId, HostId, u64), Vec<&'d ReportRow>> = BTreeMap::new();
    for row in &case.digest.reports {
        if matches!(
            case.digest.place_of(row.place).kind,
            Database | DatabaseFile | IoFunction | Tablespace | WaitEvent
        ) {
            let key = (row.origin.source, case.host(row.place), row.interval.at_s.to_bits());
            periods.entry(key).or_default().push(row);
        }
    }
    let report = |((_, host, _), rows): (_, Vec<&'d ReportRow>)| {
        let first = rows.first().map(|r| r.interval);
        let [at_s, length_s] = first.map_or([f64::NAN; 2], |i| [i.at_s, i.length_s]);
        Report { case, host, rows, at_s, length_s }
    };
    periods.into_iter().map(report).collect()
}

impl<'d> Report<'_, 'd> {
    /// Rows of one kind, with their names.
    pub fn of(&self, kind: PlaceKind) -> impl Iterator<Item = (&'d str, &'d ReportRow)> {
        let digest = self.case.digest;
        let named = move |row: &&'d ReportRow| (digest.place_of(row.place), *row);
        self.rows.iter().map(named).filter(move |(p, _)| p.kind == kind).map(|(p, r)| (p.name.as_str(), r))
    }

    /// All wait events, each once: the row that tells its share of the database's time, else the one with most waits.
    pub fn events(&self) -> BTreeMap<&'d str, Waited> {
        let mut events: BTreeMap<&str, Waited> = BTreeMap::new();
        for (name, row) in self.of(PlaceKind::WaitEvent) {
            let [waits, time_s, mean_us, percent] =
                [Quantity::Waits, Quantity::WaitTimeS, Quantity::WaitUs, Quantity::DatabaseTimePercent]
                    .map(|q| row.value(q));
            let mean_us = if mean_us.is_nan() && waits > 0.0 { time_s / waits * 1e6 } else { mean_us };
            let found = Waited { place: row.place, origin: row.origin, waits, time_s, mean_us, percent };
            let is_better = |old: &Waited| match (old.percent.is_nan(), percent.is_nan()) {
                (true, false) => true,
                (false, true) => false,
                _ => waits > old.waits,
            };
            if events.get(name).is_none_or(is_better) {
                events.insert(name, found);
            }
        }
        events
    }

    /// An event by one of its names, where it has waits.
    pub fn event(&self, names: &[&str]) -> Option<Waited> {
        let events = self.events();
        names.iter().find_map(|n| events.get(n).copied()).filter(|e| e.waits > 0.0)
    }

    /// A rate of the instance; NaN when not told.
    pub fn rate(&self, quantity: Quantity) -> f64 {
        let told = self.of(PlaceKind::Database).map(|(_, row)| row.value(quantity));
        told.fold(f64::NAN, |known, v| if known.is_nan() { v } else { known })
    }

    /// What the devices of the host did in this period; absent where no text tells it.
    pub fn devices(&self) -> Option<Devices> {
        let mut all = Devices::default();
        let (mut reads, mut read_time) = (0.0, 0.0);
        let mut busiest = 0.0;
        for (place, kind, series) in self.case.devices() {
            // Volumes and partitions count the same I/O again.
            if kind != PlaceKind::Device || self.case.host(place) != self.host {
                continue;
            }
            let inside = series.points().iter().filter(|p| {
                let has_clocks = p.at_s >= CALENDAR_S && self.at_s >= CALENDAR_S;
                !has_clocks || (p.at_s > self.at_s - self.length_s && p.at_s <= self.at_s)
            });
            let (mut weight, mut outstanding, mut of_device) = (0.0, 0.0, 0.0);
            for point in inside {
                all.has_clock |= point.at_s >= CALENDAR_S && self.at_s >= CALENDAR_S;
                weight += point.weight();
                outstanding +=
                    if point.outstanding.is_nan() { 0.0 } else { point.outstanding * point.weight() };
                let is_split = !point.read_response_us.is_nan() && !point.read_iops.is_nan();
                let (rate, time) = if is_split {
                    (point.read_iops, point.read_response_us)
                } else {
                    (point.iops, point.response_us)
                };
                if rate > 0.0 && time >= 0.0 {
                    of_device += rate * point.weight();
                    read_time += rate * point.weight() * time;
                    if rate > busiest {
                        busiest = rate;
                        all.line = Some(point.origin);
                    }
                }
            }
            if weight > 0.0 {
                all.reads_per_s += of_device / weight;
                all.outstanding += outstanding / weight;
            }
            reads += of_device;
        }
        all.read_us = read_time / reads;
        (reads > 0.0).then_some(all)
    }

    /// Lines as evidence.
    pub fn lines(&self, waited: &[Option<Waited>]) -> Vec<Evidence> {
        waited.iter().flatten().map(|w| self.case.line(w.origin)).collect()
    }
}

/// Devices of a host over a period.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Devices {
    /// Mean response of reads, of all I/Os where reads are not told apart.
    pub read_us: f64,
    /// Reads per second of all devices.
    pub reads_per_s: f64,
    /// Mean number outstanding at all devices.
    pub outstanding: f64,
    /// Whether both texts tell the time of day; otherwise they are taken to belong together.
    pub has_clock: bool,
    /// The line of the busiest device.
    pub line: Option<Origin>,
}

/// Names of the waits of several databases.
pub(super) const COMMIT: [&str; 3] = ["log file sync", "WALSync", "WalSync"];
/// Writes of the log.
pub(super) const LOG_WRITE: [&str; 3] = ["log file parallel write", "WALWrite", "WalWrite"];
/// Reads of one block.
pub(super) const BLOCK_READ: [&str; 3] =
    ["db file sequential read", "cell single block physical read", "DataFileRead"];

/// Whether a wait is for reading or writing data on behalf of a session.
pub(super) fn is_user_io(name: &str) -> bool {
    let begins = [
        "db file sequential read",
        "db file scattered read",
        "db file parallel read",
        "db file single write",
        "direct path ",
        "read by other session",
        "local write wait",
        "cell single block",
        "cell multiblock",
        "cell smart",
        "DataFile",
    ];
    begins.iter().any(|b| name.starts_with(b))
}
