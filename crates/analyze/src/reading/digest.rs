//! What readers pushed, in bounded memory: the course of each device and processor, facts, events, reports of databases.

use super::counters::Look;
use super::point::{Columns, DevicePoint};
use super::processor::{ProcessorColumns, ProcessorSeries};
use super::requests::Requests;
use super::series::{POINTS_MAX, Series};
use super::span::Span;
use record::imported::{
    Complaint, Distribution, Event, Fact, Host, HostId, Interval, Origin, Place, PlaceId, PlaceKind,
    Quantity, Rows, RowsKind, Sink, Source, SourceId, facts,
};
use std::collections::BTreeMap;

/// Points of all devices together: about 100 MiB.
const ALL_POINTS_MAX: usize = 512 << 10;
/// Rows of reports, facts, events and distributions that are kept, each.
const NOTES_MAX: usize = 200_000;

/// A text and what was read from it.
#[derive(Clone, Debug)]
pub struct SourceSeen {
    /// Where it stands, and what it is.
    pub source: Source,
    /// The host it is about; absent when it says nothing of one.
    pub host: Option<HostId>,
    /// Rows and facts.
    pub samples: u64,
    /// What could not be read.
    pub complaints: Vec<Complaint>,
    /// What else is to be known about it.
    pub remarks: Vec<String>,
    /// The time it covers.
    pub span: Span,
}

impl Default for SourceSeen {
    fn default() -> Self {
        Self {
            source: Source::default(),
            host: None,
            samples: 0,
            complaints: Vec::new(),
            remarks: Vec::new(),
            span: Span::unknown(),
        }
    }
}

/// A row of a report: of a database, a load generator.
#[derive(Clone, Debug)]
pub struct ReportRow {
    /// What it describes.
    pub place: PlaceId,
    /// Its window.
    pub interval: Interval,
    /// Where it stands.
    pub origin: Origin,
    /// What was told; absent values left out.
    pub values: Vec<(Quantity, f64)>,
}

impl ReportRow {
    /// A value; NaN when the row has none.
    pub fn value(&self, quantity: Quantity) -> f64 {
        self.values.iter().find(|(q, _)| *q == quantity).map_or(f64::NAN, |(_, v)| *v)
    }
}

/// Everything that was read, digested.
#[derive(Clone, Debug, Default)]
pub struct Digest {
    /// Sources, by their number.
    pub sources: Vec<SourceSeen>,
    /// Hosts, by their number.
    pub hosts: Vec<Host>,
    /// Places, by their number.
    pub places: Vec<Place>,
    /// Devices, volumes, paths, adapters, pools: their course.
    pub devices: BTreeMap<PlaceId, Series>,
    /// The same since boot or reset, where that was told.
    pub since_boot: BTreeMap<PlaceId, DevicePoint>,
    /// Processors, alone and of whole hosts.
    pub processors: BTreeMap<PlaceId, ProcessorSeries>,
    /// Traced requests and calls.
    pub requests: BTreeMap<PlaceId, Requests>,
    /// Rows of reports.
    pub reports: Vec<ReportRow>,
    /// Settings, identities, counts.
    pub facts: Vec<Fact>,
    /// What happened.
    pub events: Vec<Event>,
    /// Distributions.
    pub distributions: Vec<Distribution>,
    /// Lines at hand of facts and events, so that they need not be read again.
    pub quotes: BTreeMap<(SourceId, u64), String>,
    looks: BTreeMap<PlaceId, Look>,
    points: usize,
}

impl Digest {
    /// The place of a number.
    pub fn place_of(&self, id: PlaceId) -> &Place {
        &self.places[id as usize]
    }

    /// The path of a source.
    pub fn path_of(&self, source: SourceId) -> Option<&str> {
        self.sources.get(source as usize).map(|s| s.source.path.as_str())
    }

    /// The format of a source.
    pub fn format_of(&self, source: SourceId) -> &str {
        self.sources.get(source as usize).map_or("", |s| s.source.format.as_str())
    }

    /// Facts of this name.
    pub fn facts_named<'d>(&'d self, name: &'d str) -> impl Iterator<Item = &'d Fact> {
        self.facts.iter().filter(move |f| f.name == name)
    }

    /// The last fact of a place by this name.
    pub fn fact(&self, place: PlaceId, name: &str) -> Option<&Fact> {
        self.facts.iter().rfind(|f| f.place == place && f.name == name)
    }

    fn is_device(kind: PlaceKind) -> bool {
        use PlaceKind::{Adapter, Device, Filesystem, Partition, Path, Pool, Volume};
        matches!(kind, Device | Volume | Path | Adapter | Pool | Partition | Filesystem)
    }

    fn device_rows(&mut self, rows: &Rows) {
        let columns = Columns::of(rows);
        for (n, head) in rows.heads().iter().enumerate() {
            let interval = rows.interval(n);
            match interval.kind {
                RowsKind::Interval => {
                    let point = columns.point(rows.row(n), interval, head.origin);
                    self.device_point(head.place, &point);
                }
                RowsKind::SinceBoot => {
                    let point = columns.point(rows.row(n), interval, head.origin);
                    self.since_boot.insert(head.place, point);
                }
                RowsKind::Instant => self.device_look(rows, n),
                RowsKind::Request => self.requests.entry(head.place).or_default().add(rows, n),
                RowsKind::Period => self.report_row(rows, n),
                RowsKind::Average => {}
            }
        }
    }

    fn device_point(&mut self, place: PlaceId, point: &DevicePoint) {
        let series = self.devices.entry(place).or_default();
        let before = series.points().len();
        series.add(point);
        self.points = self.points + series.points().len() - before;
        if self.points > ALL_POINTS_MAX {
            for series in self.devices.values_mut().filter(|s| s.points().len() > 16) {
                series.halve();
            }
            self.points = self.devices.values().map(|s| s.points().len()).sum();
        }
    }

    fn device_look(&mut self, rows: &Rows, n: usize) {
        let head = rows.heads()[n];
        match Look::of(rows, n) {
            Some(look) => {
                let earlier = self.looks.insert(head.place, look);
                let point = earlier.and_then(|e| look.since(&e, rows.interval(n), head.origin));
                if let Some(point) = point {
                    self.device_point(head.place, &point);
                }
            }
            // A reading at an instant (FreeBSD gstat) is as good as an interval for all but its queue.
            None => {
                let point = Columns::of(rows).point(rows.row(n), rows.interval(n), head.origin);
                self.device_point(head.place, &point);
            }
        }
    }

    fn report_row(&mut self, rows: &Rows, n: usize) {
        if self.reports.len() >= NOTES_MAX {
            return;
        }
        let head = rows.heads()[n];
        let pairs = rows.quantities().iter().copied().zip(rows.row(n).iter().copied());
        let values = pairs.filter(|(_, v)| !v.is_nan()).collect();
        let interval = *rows.interval(n);
        self.reports.push(ReportRow { place: head.place, interval, origin: head.origin, values });
    }

    fn quote(&mut self, origin: Origin, block: &str) {
        if let Some(text) = block.get(origin.start as usize..origin.end as usize).filter(|t| !t.is_empty()) {
            self.quotes.insert((origin.source, origin.line), text.trim().to_owned());
        }
    }

    fn counted(&mut self, source: SourceId, samples: u64, place: Option<PlaceId>) {
        let host = place.and_then(|p| self.places.get(p as usize)).map(|p| p.host);
        if let Some(seen) = self.sources.get_mut(source as usize) {
            seen.samples += samples;
            seen.host = seen.host.or(host);
        }
    }
}

impl Sink for Digest {
    fn source(&mut self, id: SourceId, source: &Source) {
        if self.sources.len() <= id as usize {
            self.sources.resize(id as usize + 1, SourceSeen::default());
        }
        self.sources[id as usize].source = source.clone();
    }

    fn host(&mut self, id: HostId, host: &Host) {
        if self.hosts.len() <= id as usize {
            self.hosts.resize(id as usize + 1, Host::default());
        }
        self.hosts[id as usize] = host.clone();
    }

    fn place(&mut self, _: PlaceId, place: &Place) {
        self.places.push(place.clone());
    }

    fn rows(&mut self, rows: &Rows, _: &str) {
        let Some(first) = rows.heads().first().copied() else { return };
        self.counted(first.origin.source, rows.len() as u64, Some(first.place));
        if let Some(seen) = self.sources.get_mut(first.origin.source as usize) {
            seen.span.add(rows);
        }
        let kind_of = |digest: &Self, place: PlaceId| digest.places[place as usize].kind;
        // Rows of one set of quantities mostly describe one kind of thing; where they do not, they go one by one.
        let kinds: Vec<PlaceKind> = rows.heads().iter().map(|h| kind_of(self, h.place)).collect();
        if kinds.iter().all(|k| Self::is_device(*k)) {
            return self.device_rows(rows);
        }
        let processors = ProcessorColumns::of(rows);
        let columns = Columns::of(rows);
        for (n, head) in rows.heads().iter().enumerate() {
            let interval = rows.interval(n);
            match (kinds[n], interval.kind) {
                (PlaceKind::Host | PlaceKind::Cpu, RowsKind::Interval) => {
                    let point = processors.point(rows.row(n), interval, head.origin);
                    self.processors.entry(head.place).or_default().add(point);
                }
                (_, RowsKind::Request) => self.requests.entry(head.place).or_default().add(rows, n),
                (kind, RowsKind::Interval) if Self::is_device(kind) => {
                    let point = columns.point(rows.row(n), interval, head.origin);
                    self.device_point(head.place, &point);
                }
                (kind, RowsKind::Instant) if Self::is_device(kind) => self.device_look(rows, n),
                (
                    PlaceKind::Host | PlaceKind::Cpu | PlaceKind::Process,
                    RowsKind::SinceBoot | RowsKind::Average,
                ) => {}
                (_, RowsKind::SinceBoot) if Self::is_device(kinds[n]) => {
                    self.since_boot.insert(head.place, columns.point(rows.row(n), interval, head.origin));
                }
                _ => self.report_row(rows, n),
            }
        }
    }

    fn fact(&mut self, fact: &Fact, block: &str) {
        self.counted(fact.origin.source, u64::from(fact.name != facts::TOOL_VERSION), Some(fact.place));
        if self.facts.len() < NOTES_MAX {
            self.quote(fact.origin, block);
            self.facts.push(fact.clone());
        }
    }

    fn event(&mut self, event: &Event, block: &str) {
        self.counted(event.origin.source, 1, Some(event.place));
        if self.events.len() < NOTES_MAX {
            self.quote(event.origin, block);
            self.events.push(event.clone());
        }
    }

    fn distribution(&mut self, distribution: &Distribution) {
        self.counted(distribution.origin.source, 1, Some(distribution.place));
        if self.distributions.len() < NOTES_MAX {
            self.distributions.push(distribution.clone());
        }
    }

    fn complaint(&mut self, source: SourceId, complaint: &Complaint) {
        if let Some(seen) = self.sources.get_mut(source as usize) {
            seen.complaints.push(complaint.clone());
        }
    }

    fn remark(&mut self, source: SourceId, remark: &str) {
        if let Some(seen) = self.sources.get_mut(source as usize) {
            seen.remarks.push(remark.to_owned());
        }
    }

    fn end(&mut self, _: SourceId) {
        debug_assert!(self.devices.values().all(|s| s.points().len() <= POINTS_MAX));
    }
}
