//! Which devices are shown, in which order, as which tree: one rule for text, JSON and screen.

use super::cells::name;
use record::{DeviceSample, HostSample};
use std::collections::{HashMap, HashSet};

/// What devices are ordered by, largest first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// I/Os that stand in it, host queue and device queue together.
    #[default]
    Standing,
    /// I/Os in the host queue.
    HostQueue,
    /// I/Os per second.
    Iops,
    /// MiB per second.
    Throughput,
    /// Response time.
    Response,
    /// By name, smallest first.
    Name,
}

impl Order {
    /// All, in the order a key goes through them.
    pub const ALL: [Self; 6] =
        [Self::Standing, Self::HostQueue, Self::Iops, Self::Throughput, Self::Response, Self::Name];

    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            Self::Standing => "I/Os standing",
            Self::HostQueue => "host queue",
            Self::Iops => "IOPS",
            Self::Throughput => "MiB/s",
            Self::Response => "response time",
            Self::Name => "name",
        }
    }

    /// The next one, round and round.
    pub fn next(self) -> Self {
        let place = Self::ALL.iter().position(|o| *o == self).unwrap_or(0);
        Self::ALL[(place + 1) % Self::ALL.len()]
    }

    fn weight(self, device: &DeviceSample) -> f64 {
        match self {
            Self::Standing => device.standing(),
            Self::HostQueue => device.waiting(),
            Self::Iops => device.iops().unwrap_or(0.0),
            Self::Throughput => device.mib_per_s().unwrap_or(0.0),
            Self::Response => device.response_us().unwrap_or(0.0),
            Self::Name => 0.0,
        }
    }
}

/// What is shown.
#[derive(Clone, Debug, Default)]
pub struct View {
    /// Order of devices; what they are built on follows each.
    pub order: Order,
    /// Names asked for: kernel names or labels. Empty means all.
    pub named: Vec<String>,
    /// Text that a name must contain, besides.
    pub filter: String,
    /// Devices that never did any I/O too.
    pub unused: bool,
    /// Devices whose parts are shown; `None` shows those of all.
    pub expanded: Option<HashSet<String>>,
}

/// One shown device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line {
    /// Its place in the sample.
    pub place: usize,
    /// How far below its root it stands in the tree.
    pub depth: usize,
    /// It is built on devices that could be shown below it.
    pub has_parts: bool,
}

impl View {
    /// The lines of a sample, each device once.
    pub fn lines(&self, sample: &HostSample) -> Vec<Line> {
        let devices = &sample.devices;
        let shown: Vec<bool> = devices.iter().map(|d| self.shows(d)).collect();
        let places: HashMap<&str, usize> =
            devices.iter().enumerate().map(|(p, d)| (d.facts.name.as_str(), p)).collect();
        let place = |name: &String| places.get(name.as_str()).copied();
        let mut roots: Vec<usize> = (0..devices.len())
            .filter(|p| shown[*p])
            .filter(|p| !devices[*p].facts.above.iter().filter_map(place).any(|above| shown[above]))
            .collect();
        self.sort(&mut roots, sample);
        let mut walk =
            Walk { view: self, sample, place: &place, seen: vec![false; devices.len()], lines: vec![] };
        for root in roots {
            walk.step(root, 0);
        }
        walk.lines
    }

    /// Devices named on the command line that the sample does not hold.
    pub fn missing<'v>(&'v self, sample: &HostSample) -> Vec<&'v str> {
        let held = |named: &String| sample.devices.iter().any(|d| is_called(d, named));
        self.named.iter().filter(|n| !held(n)).map(String::as_str).collect()
    }

    /// Whether a device is shown.
    pub fn shows(&self, device: &DeviceSample) -> bool {
        let named = self.named.iter().any(|n| is_called(device, n));
        if !self.named.is_empty() && !named {
            return false;
        }
        let facts = &device.facts;
        let wanted = named || (facts.disk.is_none() && (device.ever_used || self.unused));
        let matches = |text: &str| text.to_lowercase().contains(&self.filter.to_lowercase());
        wanted
            && (self.filter.is_empty()
                || matches(&facts.name)
                || facts.label.as_deref().is_some_and(matches)
                || facts.below.iter().any(|b| matches(b)))
    }

    fn sort(&self, places: &mut [usize], sample: &HostSample) {
        let devices = &sample.devices;
        if self.order == Order::Name {
            places.sort_by_key(|p| natural(name(&devices[*p])));
        } else {
            let weight = |p: usize| self.order.weight(&devices[p]);
            // What stands still keeps the order of the kernel.
            places.sort_by(|a, b| weight(*b).total_cmp(&weight(*a)).then(a.cmp(b)));
        }
    }

    pub(crate) fn is_open(&self, device: &DeviceSample) -> bool {
        self.expanded.as_ref().is_none_or(|e| e.contains(&device.facts.name))
    }
}

/// By the kernel's name, or by the label.
fn is_called(device: &DeviceSample, named: &str) -> bool {
    device.facts.name == named || device.facts.label.as_deref() == Some(named)
}

/// Names with their numbers as numbers: `sd2` stands before `sd10`.
fn natural(name: &str) -> Vec<(u64, String)> {
    let mut parts = Vec::new();
    let mut rest = name;
    while !rest.is_empty() {
        let letters = rest.find(|c: char| c.is_ascii_digit()).unwrap_or(rest.len());
        let digits = rest[letters..].find(|c: char| !c.is_ascii_digit()).map_or(rest.len(), |n| letters + n);
        parts.push((rest[letters..digits].parse().unwrap_or(0), rest[..letters].to_owned()));
        rest = &rest[digits..];
    }
    // Letters first, then the number behind them.
    parts.into_iter().flat_map(|(number, letters)| [(0, letters), (number, String::new())]).collect()
}

struct Walk<'a, P> {
    view: &'a View,
    sample: &'a HostSample,
    place: &'a P,
    seen: Vec<bool>,
    lines: Vec<Line>,
}

impl<P: Fn(&String) -> Option<usize>> Walk<'_, P> {
    fn step(&mut self, place: usize, depth: usize) {
        // A path below several volumes is shown once, below the first of them.
        if std::mem::replace(&mut self.seen[place], true) {
            return;
        }
        let device = &self.sample.devices[place];
        let mut parts: Vec<usize> = device.facts.below.iter().filter_map(self.place).collect();
        self.lines.push(Line { place, depth, has_parts: !parts.is_empty() });
        if self.view.is_open(device) {
            self.view.sort(&mut parts, self.sample);
            for part in parts {
                self.step(part, depth + 1);
            }
        }
    }
}
