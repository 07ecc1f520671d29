//! A sink that keeps everything: for texts that are known to be short, and for tests.

use super::note::{Complaint, Distribution, Event, Fact};
use super::place::{Host, HostId, Place, PlaceId, PlaceKind};
use super::quantity::Quantity;
use super::rows::{Interval, Origin, Rows};
use super::sink::{Sink, Source, SourceId};

/// One row, by itself.
#[derive(Clone, Debug)]
pub struct Row {
    /// What it describes.
    pub place: PlaceId,
    /// Its stretch of time.
    pub interval: Interval,
    /// Where it stands.
    pub origin: Origin,
    /// The line itself; empty where there is none to quote.
    pub text: String,
    /// What was measured; absent values left out.
    pub values: Vec<(Quantity, f64)>,
}

impl Row {
    /// A value; absent when the row has none.
    pub fn value(&self, quantity: Quantity) -> Option<f64> {
        self.values.iter().find(|(q, _)| *q == quantity).map(|(_, v)| *v)
    }
}

/// Keeps everything. Memory grows with the text.
#[derive(Clone, Debug, Default)]
pub struct Gathered {
    /// Sources in order.
    pub sources: Vec<Source>,
    /// Hosts in order.
    pub hosts: Vec<Host>,
    /// Places in order.
    pub places: Vec<Place>,
    /// Rows in the order of their blocks.
    pub rows: Vec<Row>,
    /// Facts.
    pub facts: Vec<Fact>,
    /// Events.
    pub events: Vec<Event>,
    /// Distributions.
    pub distributions: Vec<Distribution>,
    /// Complaints, with their source.
    pub complaints: Vec<(SourceId, Complaint)>,
    /// Remarks, with their source.
    pub remarks: Vec<(SourceId, String)>,
}

impl Gathered {
    /// Rows of a place of this kind and name, on any host.
    pub fn of(&self, kind: PlaceKind, name: &str) -> Vec<&Row> {
        let fits = |row: &&Row| {
            let place = &self.places[row.place as usize];
            place.kind == kind && place.name == name
        };
        self.rows.iter().filter(fits).collect()
    }

    /// The value of a fact of a place by this name; the last one told.
    pub fn fact(&self, place: &str, name: &str) -> Option<&super::note::Value> {
        let fits = |f: &&Fact| f.name == name && self.places[f.place as usize].name == place;
        self.facts.iter().rfind(fits).map(|f| &f.value)
    }
}

impl Sink for Gathered {
    fn source(&mut self, _: SourceId, source: &Source) {
        self.sources.push(source.clone());
    }

    fn host(&mut self, id: HostId, host: &Host) {
        self.hosts.resize((id as usize + 1).max(self.hosts.len()), Host::default());
        self.hosts[id as usize] = host.clone();
    }

    fn place(&mut self, _: PlaceId, place: &Place) {
        self.places.push(place.clone());
    }

    fn rows(&mut self, rows: &Rows, block: &str) {
        for (n, head) in rows.heads().iter().enumerate() {
            let pairs = rows.quantities().iter().copied().zip(rows.row(n).iter().copied());
            let text = block.get(head.origin.start as usize..head.origin.end as usize).unwrap_or_default();
            self.rows.push(Row {
                place: head.place,
                interval: *rows.interval(n),
                origin: head.origin,
                text: text.to_owned(),
                values: pairs.filter(|(_, v)| !v.is_nan()).collect(),
            });
        }
    }

    fn fact(&mut self, fact: &Fact, _: &str) {
        self.facts.push(fact.clone());
    }

    fn event(&mut self, event: &Event, _: &str) {
        self.events.push(event.clone());
    }

    fn distribution(&mut self, distribution: &Distribution) {
        self.distributions.push(distribution.clone());
    }

    fn complaint(&mut self, source: SourceId, complaint: &Complaint) {
        self.complaints.push((source, complaint.clone()));
    }

    fn remark(&mut self, source: SourceId, remark: &str) {
        self.remarks.push((source, remark.to_owned()));
    }

    fn end(&mut self, _: SourceId) {}
}
