//! What a reader says, gathered into blocks for the sink.

use crate::text::shortened;
use record::IoClass;
use record::imported::{
    Complaint, Distribution, Event, EventKind, Fact, Host, HostId, Interval, Origin, Place, PlaceId,
    PlaceKind, Quantity, Rows, Sink, Source, SourceId, Value,
};
use std::collections::HashMap;

/// Complaints that are told one by one; of what follows only the number is told.
const COMPLAINTS_MAX: u64 = 50;
/// Rows after which a document hands over what it has.
const DOCUMENT_ROWS: usize = 4096;

/// A set of quantities whose rows were asked for. See [`Out::layout`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout(usize);

/// Where readers put what they find.
pub struct Out<'s> {
    sink: &'s mut dyn Sink,
    layouts: Vec<(Rows, u64)>,
    by_quantities: HashMap<Vec<Quantity>, usize>,
    names: Names,
    interval: Interval,
    /// Counts calls of [`Out::interval`], so that a layout knows whether it has begun the latest.
    intervals: u64,
    origin: Origin,
    /// Facts and events wait for the end of their block, so that their line can be quoted.
    waiting: Vec<Waiting>,
    sources: u32,
    complaints: u64,
    pending_rows: usize,
    document: bool,
}

enum Waiting {
    Fact(Fact),
    Event(Event),
    Distribution(Distribution),
}

/// Hosts and places met so far.
#[derive(Default)]
struct Names {
    hosts: Vec<Host>,
    /// The host that rows of this source belong to; none yet when nothing was asked for.
    current: Option<HostId>,
    /// The host of each path, for a text of several formats.
    by_path: HashMap<String, HostId>,
    path: String,
    places: HashMap<(HostId, PlaceKind), HashMap<String, PlaceId>>,
    place_count: PlaceId,
}

impl<'s> Out<'s> {
    /// Into a sink.
    pub fn new(sink: &'s mut dyn Sink) -> Self {
        Self {
            sink,
            layouts: Vec::new(),
            by_quantities: HashMap::new(),
            names: Names::default(),
            interval: Interval::default(),
            intervals: 0,
            origin: Origin::default(),
            waiting: Vec::new(),
            sources: 0,
            complaints: 0,
            pending_rows: 0,
            document: false,
        }
    }

    // What readers use.

    /// The host that the text is about, as its banner says. What is told later in the same text belongs to it. Hosts of
    /// the same name are one host, also across files.
    pub fn host(&mut self, host: Host) {
        let known = self.names.hosts.iter().position(|h| h.name.is_some() && h.name == host.name);
        let id = match (known, self.names.current) {
            (Some(known), _) => known,
            // A host that had no name until now.
            (None, Some(current)) if self.names.hosts[current as usize].name.is_none() => current as usize,
            (None, _) => {
                self.names.hosts.push(Host::default());
                self.names.hosts.len() - 1
            }
        };
        let merged = &mut self.names.hosts[id];
        let before = merged.clone();
        merged.name = host.name.or(merged.name.take());
        if host.platform != record::imported::Platform::Unknown {
            merged.platform = host.platform;
        }
        merged.release = host.release.or(merged.release.take());
        merged.processors = host.processors.or(merged.processors);
        let changed = *merged != before || known.is_none();
        let id = id as HostId;
        if changed {
            self.sink.host(id, &self.names.hosts[id as usize]);
        }
        self.names.current = Some(id);
        self.names.by_path.insert(self.names.path.clone(), id);
    }

    /// The platform alone, when the text shows it without naming the host.
    pub fn platform(&mut self, platform: record::imported::Platform) {
        let current = self.current_host();
        if self.names.hosts[current as usize].platform != platform {
            self.names.hosts[current as usize].platform = platform;
            self.sink.host(current, &self.names.hosts[current as usize]);
        }
    }

    fn current_host(&mut self) -> HostId {
        if let Some(id) = self.names.current {
            return id;
        }
        let id = self.names.hosts.len() as HostId;
        self.names.hosts.push(Host::default());
        self.sink.host(id, &Host::default());
        self.names.current = Some(id);
        self.names.by_path.insert(self.names.path.clone(), id);
        id
    }

    /// A thing on the current host. The number holds until the host changes.
    pub fn place(&mut self, kind: PlaceKind, name: &str) -> PlaceId {
        let host = self.current_host();
        let of_kind = self.names.places.entry((host, kind)).or_default();
        if let Some(id) = of_kind.get(name) {
            return *id;
        }
        let id = self.names.place_count;
        self.names.place_count += 1;
        of_kind.insert(name.to_owned(), id);
        self.sink.place(id, &Place { host, kind, name: name.to_owned() });
        id
    }

    /// Begins an interval: rows from now on belong to it.
    pub fn interval(&mut self, interval: Interval) {
        self.interval = interval;
        self.intervals += 1;
    }

    /// The interval begun last.
    pub fn current_interval(&self) -> Interval {
        self.interval
    }

    /// A set of quantities, for many rows of the same kind.
    pub fn layout(&mut self, quantities: &[Quantity]) -> Layout {
        if let Some(known) = self.by_quantities.get(quantities) {
            return Layout(*known);
        }
        self.layouts.push((Rows::new(quantities), 0));
        self.by_quantities.insert(quantities.to_vec(), self.layouts.len() - 1);
        Layout(self.layouts.len() - 1)
    }

    /// A row of the current line: values in the order of the layout's quantities, NaN where absent.
    #[inline]
    pub fn row(&mut self, layout: Layout, place: PlaceId, values: &[f64]) {
        self.row_from(self.origin, layout, place, values);
    }

    /// A row that began on an earlier line. See [`Out::origin`].
    #[inline]
    pub fn row_from(&mut self, origin: Origin, layout: Layout, place: PlaceId, values: &[f64]) {
        let (rows, begun) = &mut self.layouts[layout.0];
        if *begun != self.intervals || rows.is_empty() {
            rows.begin(self.interval);
            *begun = self.intervals;
        }
        rows.push(place, origin, values);
        if self.document {
            self.pending_rows += 1;
            if self.pending_rows >= DOCUMENT_ROWS {
                self.flush("");
            }
        }
    }

    /// A row of the current line, told by name. Quantities that are NaN may be left out or given.
    pub fn put(&mut self, place: PlaceId, values: &[(Quantity, f64)]) {
        self.put_from(self.origin, place, values);
    }

    /// The same for a row that began on an earlier line.
    pub fn put_from(&mut self, origin: Origin, place: PlaceId, values: &[(Quantity, f64)]) {
        let quantities: Vec<Quantity> = values.iter().map(|(q, _)| *q).collect();
        let numbers: Vec<f64> = values.iter().map(|(_, v)| *v).collect();
        let layout = self.layout(&quantities);
        self.row_from(origin, layout, place, &numbers);
    }

    /// A setting, an identity or a count of the current line. `name` is one of [`record::imported::facts`] or the
    /// reader's own.
    pub fn fact(&mut self, place: PlaceId, name: &str, value: impl Into<Value>) {
        let fact = Fact { place, name: name.to_owned(), value: value.into(), origin: self.origin };
        self.waiting.push(Waiting::Fact(fact));
    }

    /// Something that happened, told by the current line.
    pub fn event(&mut self, place: PlaceId, kind: EventKind, at_s: f64, text: &str) {
        let event = Event { place, kind, at_s, text: text.to_owned(), origin: self.origin };
        self.waiting.push(Waiting::Event(event));
    }

    /// How a quantity was distributed: upper bound and number of each bucket.
    pub fn distribution(
        &mut self,
        place: PlaceId,
        quantity: Quantity,
        class: Option<IoClass>,
        buckets: Vec<(f64, f64)>,
    ) {
        self.distribution_from(self.origin, place, quantity, class, buckets);
    }

    /// The same for a distribution that began on an earlier line.
    pub fn distribution_from(
        &mut self,
        origin: Origin,
        place: PlaceId,
        quantity: Quantity,
        class: Option<IoClass>,
        buckets: Vec<(f64, f64)>,
    ) {
        self.waiting.push(Waiting::Distribution(Distribution { place, quantity, class, buckets, origin }));
    }

    /// Where the current line stands.
    pub fn origin(&self) -> Origin {
        self.origin
    }

    /// Of documents: the line that is being read.
    pub fn at_line(&mut self, line: u64) {
        self.origin.line = line;
    }

    /// The current line is not as it should be.
    pub fn complain(&mut self, expected: &str, found: &str) {
        self.complain_at(self.origin.line, expected, found);
    }

    /// A line is not as it should be; 0 for the text as a whole.
    pub fn complain_at(&mut self, line: u64, expected: &str, found: &str) {
        self.complaints += 1;
        if self.complaints <= COMPLAINTS_MAX {
            let complaint = Complaint { line, expected: expected.to_owned(), found: shortened(found, 80) };
            self.sink.complaint(self.origin.source, &complaint);
        }
    }

    /// Something about the text that whoever reads the answer should know.
    pub fn remark(&mut self, remark: &str) {
        self.sink.remark(self.origin.source, remark);
    }

    // What the driver uses.

    pub(crate) fn begin_source(&mut self, source: &Source, document: bool) -> SourceId {
        self.origin = Origin { source: self.sources, line: 0, ..Origin::default() };
        self.sources += 1;
        self.document = document;
        self.names.path.clone_from(&source.path);
        self.names.current = self.names.by_path.get(&source.path).copied();
        self.interval(Interval::unknown(record::imported::RowsKind::Interval));
        self.sink.source(self.origin.source, source);
        self.origin.source
    }

    /// Goes on with a source begun earlier.
    pub(crate) fn again(&mut self, source: SourceId) {
        self.origin.source = source;
    }

    #[inline]
    pub(crate) fn at(&mut self, line: u64, start: usize, end: usize) {
        self.origin.line = line;
        self.origin.start = start as u32;
        self.origin.end = end as u32;
    }

    /// Hands over what the block held.
    pub(crate) fn flush(&mut self, block: &str) {
        for (rows, _) in &mut self.layouts {
            if !rows.is_empty() {
                self.sink.rows(rows, block);
                rows.clear();
            }
        }
        for waiting in self.waiting.drain(..) {
            match waiting {
                Waiting::Fact(fact) => self.sink.fact(&fact, block),
                Waiting::Event(event) => self.sink.event(&event, block),
                Waiting::Distribution(distribution) => self.sink.distribution(&distribution),
            }
        }
        self.pending_rows = 0;
        self.origin.block += 1;
        (self.origin.start, self.origin.end) = (0, 0);
    }

    /// The platform of the current host, where nothing told another.
    pub(crate) fn assume(&mut self, platform: record::imported::Platform) {
        let unknown = record::imported::Platform::Unknown;
        let is_unknown = |id: HostId| self.names.hosts[id as usize].platform == unknown;
        if platform != unknown && self.names.current.is_some_and(is_unknown) {
            self.platform(platform);
        }
    }

    pub(crate) fn end_source(&mut self, source: SourceId) {
        self.sink.end(source);
    }

    /// Says how many complaints were not told one by one, at the end of a path.
    pub(crate) fn end_complaints(&mut self) {
        if self.complaints > COMPLAINTS_MAX {
            let more = self.complaints - COMPLAINTS_MAX;
            self.sink.remark(self.origin.source, &format!("{more} more lines could not be read"));
        }
        self.complaints = 0;
    }
}
