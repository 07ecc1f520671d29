//! What tests of rules share: a digest filled by hand, as readers fill it.
#![allow(dead_code, reason = "each test file uses its part")]

use analyze::Finding;
use analyze::reading::{Digest, findings};
use record::imported::{
    Distribution, Event, EventKind, Fact, Host, HostId, Interval, Origin, Place, PlaceId, PlaceKind,
    Platform, Quantity, Rows, RowsKind, Sink, Source, SourceId, Value,
};

/// A digest in the making.
pub struct Made {
    pub digest: Digest,
    source: SourceId,
    line: u64,
    host: HostId,
}

impl Made {
    /// One host, one text.
    pub fn new(platform: Platform) -> Self {
        let mut made = Self { digest: Digest::default(), source: 0, line: 0, host: 0 };
        made.text("case/text");
        made.digest.host(0, &Host { name: Some("db1".into()), platform, ..Host::default() });
        made
    }

    /// Another text is begun.
    pub fn text(&mut self, path: &str) -> &mut Self {
        self.source = self.digest.sources.len() as SourceId;
        let source = Source { path: path.into(), format: "made".into(), why: String::new() };
        self.digest.source(self.source, &source);
        self.line = 0;
        self
    }

    /// Another host.
    pub fn host(&mut self, host: Host) -> &mut Self {
        self.host = self.digest.hosts.len() as HostId;
        self.digest.host(self.host, &host);
        self
    }

    /// More is known of the host.
    pub fn release(&mut self, release: &str) -> &mut Self {
        self.digest.hosts[self.host as usize].release = Some(release.into());
        self
    }

    /// A thing on the host.
    pub fn place(&mut self, kind: PlaceKind, name: &str) -> PlaceId {
        let place = Place { host: self.host, kind, name: name.into() };
        if let Some(known) = self.digest.places.iter().position(|p| *p == place) {
            return known as PlaceId;
        }
        let id = self.digest.places.len() as PlaceId;
        self.digest.place(id, &place);
        id
    }

    fn origin(&mut self) -> Origin {
        self.line += 1;
        Origin { source: self.source, line: self.line, ..Origin::default() }
    }

    pub fn fact(&mut self, kind: PlaceKind, of: &str, name: &str, value: impl Into<Value>) -> &mut Self {
        let place = self.place(kind, of);
        let origin = self.origin();
        Sink::fact(&mut self.digest, &Fact { place, name: name.into(), value: value.into(), origin }, "");
        self
    }

    pub fn event(&mut self, kind: PlaceKind, of: &str, what: EventKind, at_s: f64, text: &str) -> &mut Self {
        let place = self.place(kind, of);
        let origin = self.origin();
        self.digest.event(&Event { place, kind: what, at_s, text: text.into(), origin }, "");
        self
    }

    /// A row of a second's interval that ends at `at_s`.
    pub fn row(&mut self, kind: PlaceKind, of: &str, at_s: f64, values: &[(Quantity, f64)]) -> &mut Self {
        let interval = Interval { at_s, length_s: 1.0, ..Interval::unknown(RowsKind::Interval) };
        self.row_of(kind, of, interval, values)
    }

    /// The same row in several intervals.
    pub fn rows(&mut self, kind: PlaceKind, of: &str, times: usize, values: &[(Quantity, f64)]) -> &mut Self {
        for at in 1..=times {
            self.row(kind, of, at as f64, values);
        }
        self
    }

    /// A row of a report over a period.
    pub fn report(
        &mut self,
        kind: PlaceKind,
        of: &str,
        length_s: f64,
        values: &[(Quantity, f64)],
    ) -> &mut Self {
        let interval = Interval { at_s: length_s, length_s, ..Interval::unknown(RowsKind::Period) };
        self.row_of(kind, of, interval, values)
    }

    pub fn row_of(
        &mut self,
        kind: PlaceKind,
        of: &str,
        interval: Interval,
        values: &[(Quantity, f64)],
    ) -> &mut Self {
        let place = self.place(kind, of);
        let origin = self.origin();
        let quantities: Vec<Quantity> = values.iter().map(|v| v.0).collect();
        let numbers: Vec<f64> = values.iter().map(|v| v.1).collect();
        let mut rows = Rows::new(&quantities);
        rows.begin(interval);
        rows.push(place, origin, &numbers);
        self.digest.rows(&rows, "");
        self
    }

    pub fn distribution(
        &mut self,
        kind: PlaceKind,
        of: &str,
        quantity: Quantity,
        buckets: &[(f64, f64)],
    ) -> &mut Self {
        let place = self.place(kind, of);
        let origin = self.origin();
        let buckets = buckets.to_vec();
        self.digest.distribution(&Distribution { place, quantity, class: None, buckets, origin });
        self
    }

    /// What one rule finds.
    pub fn found(&self, id: &str) -> Vec<Finding> {
        findings(&self.digest).into_iter().filter(|f| f.id == id).collect()
    }

    /// The only finding of a rule.
    pub fn only(&self, id: &str) -> Finding {
        let mut found = self.found(id);
        assert_eq!(found.len(), 1, "{id}: {found:#?}");
        found.remove(0)
    }
}
