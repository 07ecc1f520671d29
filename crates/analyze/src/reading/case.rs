//! What a rule is given: the digest, with hosts joined and questions answered that many rules ask.

use super::digest::Digest;
use super::joined::Clocks;
use super::point::DevicePoint;
use super::series::Series;
use crate::finding::{Evidence, Finding};
use crate::rulebook::Rule;
use record::imported::{HostId, Origin, PlaceId, PlaceKind, Platform, Value, facts};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// A digest with its hosts joined.
pub struct ReadCase<'d> {
    /// What was read.
    pub digest: &'d Digest,
    /// The host that each host is: texts of one folder that name no host belong to the one that is named there, or together
    /// where none is.
    joined: Vec<HostId>,
    clocks: Clocks,
    /// By host and name of a fact: the last one of each thing, by its name.
    told: HashMap<(HostId, &'d str), BTreeMap<&'d str, usize>>,
}

impl<'d> ReadCase<'d> {
    /// Joins hosts.
    pub fn new(digest: &'d Digest) -> Self {
        let mut folders: BTreeMap<&str, Vec<HostId>> = BTreeMap::new();
        let named = |host: HostId| digest.hosts[host as usize].name.is_some();
        for seen in &digest.sources {
            let Some(host) = seen.host.filter(|h| named(*h)) else { continue };
            let hosts = folders.entry(folder(&seen.source.path)).or_default();
            if !hosts.contains(&host) {
                hosts.push(host);
            }
        }
        let mut joined: Vec<HostId> = (0..digest.hosts.len() as HostId).collect();
        for seen in &digest.sources {
            let Some(host) = seen.host.filter(|h| !named(*h)) else { continue };
            if let Some([only]) = folders.get(folder(&seen.source.path)).map(Vec::as_slice) {
                joined[host as usize] = *only;
            }
        }
        join_unnamed(digest, &folders, &mut joined);
        join_short_names(digest, &mut joined);
        let clocks = Clocks::new(digest, |h| joined.get(h as usize).copied().unwrap_or(h));
        let mut told: HashMap<_, BTreeMap<_, _>> = HashMap::new();
        for (n, fact) in digest.facts.iter().enumerate() {
            let place = digest.place_of(fact.place);
            let key = (joined[place.host as usize], fact.name.as_str());
            told.entry(key).or_default().insert(place.name.as_str(), n);
        }
        Self { digest, joined, clocks, told }
    }

    /// The clock of each text.
    pub fn clocks(&self) -> &Clocks {
        &self.clocks
    }

    /// The host of a place, after joining.
    pub fn host(&self, place: PlaceId) -> HostId {
        self.joined[self.digest.place_of(place).host as usize]
    }

    /// The host that a host is, after joining.
    pub fn joined(&self, host: HostId) -> HostId {
        self.joined.get(host as usize).copied().unwrap_or(host)
    }

    /// All hosts that remain.
    pub fn hosts(&self) -> impl Iterator<Item = HostId> + '_ {
        (0..self.joined.len() as HostId).filter(|h| self.joined[*h as usize] == *h)
    }

    /// The platform of a host: its own, or that of a text joined to it.
    pub fn platform(&self, host: HostId) -> Platform {
        let own = self.digest.hosts.get(host as usize).map_or(Platform::Unknown, |h| h.platform);
        if own != Platform::Unknown {
            return own;
        }
        let others = self.digest.hosts.iter().zip(&self.joined).filter(|(_, j)| **j == host);
        others.map(|(h, _)| h.platform).find(|p| *p != Platform::Unknown).unwrap_or_default()
    }

    /// Release of its operating system, where a text tells it.
    pub fn release(&self, host: HostId) -> Option<&'d str> {
        let all = self.digest.hosts.iter().zip(&self.joined).filter(|(_, j)| **j == host);
        all.filter_map(|(h, _)| h.release.as_deref()).next()
    }

    /// Its name.
    pub fn host_name(&self, host: HostId) -> Option<&'d str> {
        self.digest.hosts.get(host as usize)?.name.as_deref()
    }

    /// Devices of all hosts with their course: disks, LUNs, volumes, paths, adapters, pools.
    pub fn devices(&self) -> impl Iterator<Item = (PlaceId, PlaceKind, &'d Series)> {
        self.digest.devices.iter().map(|(place, series)| (*place, self.digest.place_of(*place).kind, series))
    }

    /// Disks and paths of which only one report was told, each as a course of one point.
    pub fn since_boot_only(&self) -> impl Iterator<Item = (PlaceId, Series)> + '_ {
        let is_disk = |kind| matches!(kind, PlaceKind::Device | PlaceKind::Path);
        let alone = self.digest.since_boot.iter().filter(move |(place, _)| {
            is_disk(self.digest.place_of(**place).kind) && !self.digest.devices.contains_key(place)
        });
        alone.map(|(place, point)| {
            let mut series = Series::default();
            series.add(point);
            (*place, series)
        })
    }

    /// Places of a host, of one kind.
    pub fn places(&self, host: HostId, kind: PlaceKind) -> impl Iterator<Item = PlaceId> + '_ {
        let fits = move |id: &PlaceId| self.digest.place_of(*id).kind == kind && self.host(*id) == host;
        (0..self.digest.places.len() as PlaceId).filter(fits)
    }

    /// A fact of a device by name, also when another text of the same host tells it (`lsattr` beside `iostat`).
    pub fn fact_of(&self, place: PlaceId, name: &str) -> Option<(&'d Value, Origin)> {
        let about = self.digest.place_of(place);
        self.fact_named(self.host(place), &about.name, name)
    }

    /// A fact of what has this name on a host.
    pub fn fact_named(&self, host: HostId, of: &str, name: &str) -> Option<(&'d Value, Origin)> {
        let fact = &self.digest.facts[*self.told.get(&(host, name))?.get(of)?];
        Some((&fact.value, fact.origin))
    }

    /// A fact of a device that is a number.
    pub fn number_of(&self, place: PlaceId, name: &str) -> Option<(f64, Origin)> {
        let (value, origin) = self.fact_of(place, name)?;
        value.number().map(|n| (n, origin))
    }

    /// All things of a host of which a fact of this name is told: name, value, line; each once, by its last line.
    pub fn told(&self, host: HostId, name: &str) -> BTreeMap<&'d str, (&'d Value, Origin)> {
        let found = self.told.get(&(host, name)).into_iter().flatten();
        found.map(|(of, n)| (*of, (&self.digest.facts[*n].value, self.digest.facts[*n].origin))).collect()
    }

    /// All things of a host of which a number of this name is told.
    pub fn numbers(&self, host: HostId, name: &str) -> BTreeMap<&'d str, (f64, Origin)> {
        let all = self.told(host, name);
        all.into_iter().filter_map(|(of, (v, origin))| Some((of, (v.number()?, origin)))).collect()
    }

    /// The size of I/Os that a program asked of a device, as the command line nearest above a line tells, or else any.
    pub fn asked_bytes(&self, place: PlaceId, line: Origin) -> Option<(f64, Origin)> {
        let host = self.host(place);
        let name = &self.digest.place_of(place).name;
        let path = self.digest.path_of(line.source);
        let told: Vec<(f64, Origin)> = self
            .digest
            .facts_named(facts::ASKED_BYTES)
            .filter(|f| {
                let of = self.digest.place_of(f.place);
                self.host(f.place) == host && (of.name == *name || of.kind == PlaceKind::Host)
            })
            .filter_map(|f| Some((f.value.number().filter(|n| *n > 0.0)?, f.origin)))
            .collect();
        let above = |o: &Origin| self.digest.path_of(o.source) == path && o.line < line.line;
        told.iter().rfind(|(_, o)| above(o)).or(told.last()).copied()
    }

    /// The LUN queue depth that a text tells, and where.
    pub fn queue_depth(&self, place: PlaceId) -> Option<(f64, Origin)> {
        let (value, origin) = self.fact_of(place, facts::QUEUE_DEPTH)?;
        value.number().filter(|n| *n > 0.0).map(|n| (n, origin))
    }

    /// Whether anything tells how processors of a host spent their time.
    pub fn processors_told(&self, host: HostId) -> bool {
        let own = self.digest.processors.iter().filter(|(place, _)| self.host(**place) == host);
        own.flat_map(|(_, series)| series.points()).any(|p| p.working_percent().is_finite())
    }

    /// A line as evidence, quoted where the text is at hand and otherwise later.
    pub fn line(&self, origin: Origin) -> Evidence {
        let text = self.digest.quotes.get(&(origin.source, origin.line)).cloned().unwrap_or_default();
        let line = Some(origin.line).filter(|l| *l > 0);
        Evidence { file: self.digest.path_of(origin.source).map(str::to_owned), line, text }
    }

    /// The lines of points as evidence.
    pub fn lines(&self, points: &[DevicePoint]) -> Vec<Evidence> {
        points.iter().map(|p| self.line(p.origin)).collect()
    }

    /// A finding about a place, with what its rule says for the platform.
    pub fn finding(&self, rule: &Rule, place: PlaceId, title: String, evidence: Vec<Evidence>) -> Finding {
        let about = self.digest.place_of(place);
        let host = self.host(place);
        let device = Some(about.name.clone()).filter(|n| !n.is_empty());
        Finding { device, ..self.finding_of_host(rule, host, title, evidence) }
    }

    /// A finding about a host as a whole.
    pub fn finding_of_host(
        &self,
        rule: &Rule,
        host: HostId,
        title: String,
        evidence: Vec<Evidence>,
    ) -> Finding {
        let platform = self.platform(host);
        Finding {
            id: rule.id.clone(),
            severity: rule.severity,
            title,
            host: self.host_name(host).map(str::to_owned),
            platform,
            device: None,
            evidence,
            cause: rule.cause.clone(),
            advice: rule.advice_for(platform),
            refuted_by: rule.refuted_by.clone(),
        }
    }
}

/// Something computed, as evidence.
pub fn computed(text: impl Into<String>) -> Evidence {
    Evidence { file: None, line: None, text: text.into() }
}

/// `db1` and `db1.example.com` are one host.
fn join_short_names(digest: &Digest, joined: &mut [HostId]) {
    let mut first: BTreeMap<String, HostId> = BTreeMap::new();
    for (id, host) in digest.hosts.iter().enumerate() {
        let Some(name) = &host.name else { continue };
        let is_address = name.starts_with(|c: char| c.is_ascii_digit());
        let short = if is_address { name.as_str() } else { name.split('.').next().unwrap_or(name) };
        let kept = *first.entry(short.to_ascii_lowercase()).or_insert(id as HostId);
        for other in joined.iter_mut().filter(|j| **j == id as HostId) {
            *other = kept;
        }
    }
}

fn folder(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// Texts of one folder in which no host is named at all (`lsattr`, `fcstat`, `errpt`) are of one host, unless they are of
/// several operating systems.
fn join_unnamed(digest: &Digest, named: &BTreeMap<&str, Vec<HostId>>, joined: &mut [HostId]) {
    let mut unnamed: BTreeMap<&str, Vec<HostId>> = BTreeMap::new();
    for seen in &digest.sources {
        let folder = folder(&seen.source.path);
        if let (Some(host), false) = (seen.host, named.contains_key(folder)) {
            unnamed.entry(folder).or_default().push(host);
        }
    }
    for hosts in unnamed.into_values() {
        let platforms = hosts.iter().map(|h| digest.hosts[*h as usize].platform);
        let known: BTreeSet<Platform> = platforms.filter(|p| *p != Platform::Unknown).collect();
        if let (Some(first), true) = (hosts.first(), known.len() <= 1) {
            for host in &hosts {
                joined[*host as usize] = *first;
            }
        }
    }
}
