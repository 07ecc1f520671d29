//! The live screen: what it knows, what keys do to it, how it is drawn. No terminal is touched here.

mod bars;
mod draw;
mod help;
mod panels;
mod table;

use super::view::{Order, View};
use crate::terminal::{Charset, Color};
use analyze::Happening;
use record::{DeviceSample, HostSample};
use std::collections::{HashMap, HashSet, VecDeque};

pub use draw::draw;

/// Intervals kept for the trend.
const HISTORY: usize = 64;

/// Happenings kept.
const HAPPENED: usize = 100;

/// Intervals offered by the keys, seconds.
const INTERVALS_S: [f64; 8] = [0.25, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0];

/// What a key asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Select the line above.
    Up,
    /// Select the line below.
    Down,
    /// Ten lines up.
    PageUp,
    /// Ten lines down.
    PageDown,
    /// The first line, whichever device comes to stand there.
    First,
    /// The last line.
    Last,
    /// Show or hide the parts of the selected device.
    Expand,
    /// Show or hide the parts of all.
    ExpandAll,
    /// Order by the next property.
    Order,
    /// Begin to type a filter.
    Filter,
    /// A letter of it.
    Letter(char),
    /// Take one back.
    Erase,
    /// Keep it.
    Accept,
    /// Close what is open: help, filter; then clear the filter.
    Escape,
    /// Stop and go on.
    Pause,
    /// Shorter intervals.
    Faster,
    /// Longer intervals.
    Slower,
    /// Devices that never did any I/O too.
    Unused,
    /// Show or hide the help.
    Help,
}

/// The live screen.
#[derive(Clone, Debug)]
pub struct Screen {
    /// Name of the host.
    pub host: String,
    /// Length of an interval, seconds.
    pub interval_s: f64,
    /// Whether colours may be used.
    pub color: Color,
    /// Which characters may be used.
    pub charset: Charset,
    view: View,
    sample: HostSample,
    history: HashMap<String, VecDeque<f64>>,
    happened: VecDeque<Happening>,
    /// Name of the selected device; absent while the first line is selected, whoever stands there.
    selected: Option<String>,
    typing: bool,
    paused: bool,
    help: bool,
}

impl Screen {
    /// An empty screen.
    pub fn new(host: String, interval_s: f64, mut view: View, color: Color, charset: Charset) -> Self {
        view.expanded = Some(HashSet::new());
        Self {
            host,
            interval_s,
            color,
            charset,
            view,
            sample: HostSample::default(),
            history: HashMap::new(),
            happened: VecDeque::new(),
            selected: None,
            typing: false,
            paused: false,
            help: false,
        }
    }

    /// Whether letters go into the filter.
    pub fn is_typing(&self) -> bool {
        self.typing
    }

    /// Takes the next sample. While paused only the trends and the happenings go on.
    pub fn take(&mut self, sample: &HostSample, happened: Vec<Happening>) {
        for device in sample.devices.iter().filter(|d| d.ever_used) {
            let trend = self.history.entry(device.facts.name.clone()).or_default();
            trend.push_back(device.standing());
            if trend.len() > HISTORY {
                trend.pop_front();
            }
        }
        if self.history.len() > sample.devices.len() {
            self.history.retain(|name, _| sample.devices.iter().any(|d| d.facts.name == *name));
        }
        self.happened.extend(happened);
        while self.happened.len() > HAPPENED {
            self.happened.pop_front();
        }
        if !self.paused {
            self.sample.clone_from(sample);
        }
    }

    /// Does what a key asks for.
    pub fn act(&mut self, action: Action) {
        match action {
            Action::Up => self.select(-1),
            Action::Down => self.select(1),
            Action::PageUp => self.select(-10),
            Action::PageDown => self.select(10),
            Action::First => self.selected = None,
            Action::Last => self.select(isize::MAX),
            Action::Expand => self.expand(),
            Action::ExpandAll => {
                let nothing = Some(HashSet::new());
                self.view.expanded = if self.view.expanded.is_none() { nothing } else { None };
            }
            Action::Order => self.view.order = self.view.order.next(),
            Action::Filter => self.typing = true,
            Action::Letter(c) if self.view.filter.chars().count() < 40 => self.view.filter.push(c),
            Action::Letter(_) => {}
            Action::Erase => {
                self.view.filter.pop();
            }
            Action::Accept => self.typing = false,
            Action::Escape => self.escape(),
            Action::Pause => self.paused = !self.paused,
            Action::Faster => self.step_interval(|s, now| s < now, true),
            Action::Slower => self.step_interval(|s, now| s > now, false),
            Action::Unused => self.view.unused = !self.view.unused,
            Action::Help => self.help = !self.help,
        }
    }

    fn escape(&mut self) {
        if self.help {
            self.help = false;
        } else if self.typing {
            self.typing = false;
            self.view.filter.clear();
        } else {
            self.view.filter.clear();
        }
    }

    fn step_interval(&mut self, fits: impl Fn(f64, f64) -> bool, last: bool) {
        let mut found = INTERVALS_S.iter().copied().filter(|s| fits(*s, self.interval_s));
        let next = if last { found.next_back() } else { found.next() };
        self.interval_s = next.unwrap_or(self.interval_s);
    }

    fn select(&mut self, by: isize) {
        let lines = self.view.lines(&self.sample);
        let place = self.selected_line(&lines).saturating_add_signed(by).min(lines.len().saturating_sub(1));
        self.selected = match place {
            0 => None,
            _ => lines.get(place).map(|l| self.sample.devices[l.place].facts.name.clone()),
        };
    }

    fn selected_line(&self, lines: &[super::view::Line]) -> usize {
        let Some(name) = &self.selected else { return 0 };
        lines.iter().position(|l| self.sample.devices[l.place].facts.name == *name).unwrap_or(0)
    }

    fn selected_device(&self) -> Option<&DeviceSample> {
        let lines = self.view.lines(&self.sample);
        lines.get(self.selected_line(&lines)).map(|l| &self.sample.devices[l.place])
    }

    fn expand(&mut self) {
        let Some(name) = self.selected_device().map(|d| d.facts.name.clone()) else { return };
        let all = || self.sample.devices.iter().map(|d| d.facts.name.clone()).collect();
        let expanded = self.view.expanded.get_or_insert_with(all);
        if !expanded.remove(&name) {
            expanded.insert(name);
        }
    }

    fn order(&self) -> Order {
        self.view.order
    }
}
