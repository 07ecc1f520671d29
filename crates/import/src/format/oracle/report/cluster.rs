//! Reports of all instances of a cluster (awrgrpt): tables with a column `I#`, the number of the instance; `*`, `Sum`,
//! `Avg` and `Std` are of all of them and are left.

use super::heading::{moment, platform};
use super::{Report, value};
use crate::out::Out;
use record::imported::Quantity::{self, *};
use record::imported::{Basis, Host, Interval, PlaceKind, RowsKind, facts};

/// Instances that are kept: a cluster has fewer.
const INSTANCES_MAX: usize = 200;

/// Rates of `System Statistics - Per Second` by their label, and the factor to the quantity's unit.
const RATES: [(&str, Quantity, f64); 9] = [
    ("logicalreads/s", LogicalReadsPerS, 1.0),
    ("physicalreads/s", PhysicalReadBlocksPerS, 1.0),
    ("physicalwrites/s", PhysicalWriteBlocksPerS, 1.0),
    ("redosize(k)/s", RedoBytesPerS, 1024.0),
    ("redosize/s", RedoBytesPerS, 1.0),
    ("usercalls/s", UserCallsPerS, 1.0),
    ("execs/s", ExecutionsPerS, 1.0),
    ("txns/s", TransactionsPerS, 1.0),
    ("transactions/s", TransactionsPerS, 1.0),
];

/// The cluster, as far as it has been read.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cluster {
    /// Whether the heading is one of a cluster.
    pub(crate) is_one: bool,
    instances: Vec<Instance>,
    /// Number of the instance that rows belong to; a blank number is the one above.
    pub(super) current: String,
}

#[derive(Clone, Debug)]
struct Instance {
    number: String,
    name: String,
    host: Host,
    interval: Interval,
    sessions: f64,
}

impl Report {
    /// The cell below one of these labels.
    fn cell_of<'c>(&self, cells: &[&'c str], labels: &[&str]) -> Option<&'c str> {
        let at = self.table.columns.iter().position(|c| labels.contains(&c.as_str()))?;
        cells.get(at).map(|c| c.trim()).filter(|c| !value::is_absent(c))
    }

    /// A row of the table of instances.
    pub(crate) fn instance(&mut self, cells: &[&str], out: &mut Out<'_>) {
        let of = |labels: &[&str]| self.cell_of(cells, labels);
        let (Some(number), Some(name)) = (of(&["i#", "inst#", "inst"]), of(&["instance", "instancename"]))
        else {
            return;
        };
        let number_of = |labels: &[&str]| of(labels).and_then(value::plain).unwrap_or(f64::NAN);
        let minutes = number_of(&["elapsedtime(min)", "elapsed(min)"]);
        let begin = of(&["beginsnaptime", "begintime"]).and_then(moment);
        let end = of(&["endsnaptime", "endtime"]).and_then(moment);
        let between = begin.zip(end).map(|(b, e)| e - b).filter(|s| *s > 0.0);
        // Times have no seconds; minutes have two decimals.
        let length_s = if minutes > 0.0 { minutes * 60.0 } else { between.unwrap_or(f64::NAN) };
        let basis = if end.is_some() { Basis::Local } else { Basis::SinceStart };
        let interval = Interval { at_s: end.unwrap_or(f64::NAN), length_s, basis, kind: RowsKind::Period };
        let host = Host {
            name: of(&["host", "hostname"]).map(str::to_owned),
            platform: of(&["platform"]).map(platform).unwrap_or_default(),
            ..Host::default()
        };
        let sessions = number_of(&["avgactivesessions", "avgactivesess", "avgactivesession"]);
        let release = of(&["release"]).map(str::to_owned);
        let instance =
            Instance { number: number.to_owned(), name: name.to_owned(), host, interval, sessions };
        instance.enter(out);
        let database = out.place(PlaceKind::Database, &instance.name);
        if let Some(release) = release {
            out.fact(database, facts::DATABASE_RELEASE, release);
        }
        if sessions.is_finite() {
            out.put(database, &[(ActiveSessions, instance.sessions)]);
        }
        if self.cluster.instances.len() < INSTANCES_MAX {
            self.cluster.instances.push(instance);
        }
    }

    /// Rows that follow are of the instance whose number a row has; whether there is such an instance.
    pub(crate) fn enter_instance(&mut self, cells: &[&str], out: &mut Out<'_>) -> bool {
        if let Some(number) = self.cell_of(cells, &["i#"]) {
            number.clone_into(&mut self.cluster.current);
        }
        let found = self.cluster.instances.iter().find(|i| i.number == self.cluster.current);
        if let Some(instance) = found {
            instance.enter(out);
        }
        found.is_some()
    }

    /// A row of rates of an instance.
    pub(crate) fn instance_rates(&mut self, cells: &[&str], out: &mut Out<'_>) {
        // A blank row divides instances from their sum.
        if cells.iter().all(|c| value::is_absent(c)) || !self.enter_instance(cells, out) {
            return;
        }
        let rates: Option<Vec<(Quantity, f64)>> = self
            .table
            .columns
            .iter()
            .zip(cells)
            .filter_map(|(c, cell)| RATES.iter().find(|(l, ..)| l == c).map(|(_, q, f)| (*q, *f, cell)))
            .map(|(quantity, factor, cell)| value::count(cell).map(|n| (quantity, n * factor)))
            .collect();
        let name = self.cluster.instances.iter().find(|i| i.number == self.cluster.current).map(|i| &i.name);
        match (rates, name) {
            (Some(rates), Some(name)) if !rates.is_empty() => {
                let database = out.place(PlaceKind::Database, name);
                out.put(database, &rates);
            }
            _ => out.complain("rates of an instance", &cells.join(" ")),
        }
    }

    /// Whether the table tells instances apart.
    pub(crate) fn has_instances(&self) -> bool {
        self.table.columns.iter().any(|c| c == "i#")
    }

    /// The report has ended.
    pub(crate) fn end_cluster(&mut self, out: &mut Out<'_>) {
        if self.cluster.is_one {
            if self.cluster.instances.is_empty() {
                out.complain("the instances of a cluster's report", "none: make a report for each instance");
            } else {
                out.remark("a report of a cluster: rates and events of each instance are read; for I/O and histograms make a report for each");
            }
        }
    }
}

impl Instance {
    fn enter(&self, out: &mut Out<'_>) {
        if self.host.name.is_some() {
            out.host(self.host.clone());
        }
        out.interval(self.interval);
    }
}
