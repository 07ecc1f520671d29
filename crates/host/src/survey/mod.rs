//! Every block device of the host, interval after interval, from counters anybody may read.
//!
//! [`Survey::next`] ends an interval: it reads `/proc/diskstats` once for all devices, and for the few devices in which
//! the most I/Os stand it takes what a thread read of their queues many times a second meanwhile, by the rules in the
//! head of [`crate::sample`]. The rest of a device (limits, failed commands, what it is built on) stands in sysfs and
//! is looked at in turn, [`LOOKS`] devices per interval.
//!
//! # What a number rests on
//!
//! - Rates, sizes, merges, response times: differences of counters, exact for what completed in the interval.
//! - `inside`: time of all requests that completed / length of the interval; where I/Os last long beside the interval
//!   or hang, the mean of the readings instead, since durations are added only where they end.
//! - Host and device queue: readings, see [`crate::sample`]. Devices that are not read closely and could hold requests
//!   back have bounds only. Devices that pass I/Os on (LV, multipath, MD, partitions) stand as the devices below them,
//!   in proportion: exact when nobody else uses these.
//! - Failed commands, queue depth: as read in turn; absent in an interval in which a device had no turn.
//!
//! No number is derived from the busy time.
//!
//! The walk over all devices allocates nothing in the steady state; the devices that are read closely and those whose
//! turn it is cost a few short strings.

mod closely;
mod counters;
mod device;
mod processes;
mod split;
mod topology;

use crate::observer::Overlay;
use crate::path::DeviceNumber;
use crate::root::Root;
use crate::trace::TraceWindow;
use closely::{Candidate, Closely};
use counters::{Diskstats, Row, next_line};
use device::Device;
use processes::Processes;
use record::{DeviceSample, HostSample};
use std::collections::HashMap;
use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Devices looked at in sysfs per interval, in turn. About ten small files each.
const LOOKS: usize = 64;

/// Before the first interval the busiest devices are found by two readings this far apart, when more devices were ever
/// used than can be read closely.
const GLANCE: Duration = Duration::from_millis(100);

/// How closely to look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SurveyOptions {
    /// Devices whose queues are read many times a second; 0 reads counters alone.
    pub closely: usize,
    /// Whether to read which processes do I/O.
    pub processes: bool,
}

impl Default for SurveyOptions {
    fn default() -> Self {
        Self { closely: 16, processes: false }
    }
}

/// What the survey itself cost in the interval that ended last.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SurveyCost {
    /// Processor time of the thread that reads queues, seconds.
    pub readings_s: f64,
}

/// All devices of the host.
#[derive(Debug)]
pub struct Survey {
    root: Root,
    diskstats: Diskstats,
    devices: Vec<Device>,
    sample: HostSample,
    /// Devices built on others, lower ones first.
    stacked: Vec<usize>,
    closely: Closely,
    processes: Option<Processes>,
    read_at: Instant,
    turn: usize,
    round: u64,
}

impl Survey {
    /// Reads the counters for the first time; the first interval begins now.
    ///
    /// Errors: `/proc/diskstats` cannot be read.
    pub fn open(root: &Root, options: SurveyOptions) -> io::Result<Self> {
        let mut survey = Self {
            root: root.clone(),
            diskstats: Diskstats::open(root)?,
            devices: Vec::new(),
            sample: HostSample::default(),
            stacked: Vec::new(),
            closely: Closely::new(root, options.closely),
            processes: options.processes.then(|| Processes::new(root)),
            read_at: Instant::now(),
            turn: 0,
            round: 0,
        };
        survey.read()?;
        let used = |d: &&Device| d.splits() && (d.now.completed() > 0 || d.now.in_flight() > 0);
        if survey.devices.iter().filter(used).count() > options.closely && options.closely > 0 {
            std::thread::sleep(GLANCE);
            survey.read()?;
        }
        survey.measure(None);
        if let Some(processes) = &mut survey.processes {
            processes.next();
        }
        survey.choose();
        survey.begin();
        Ok(survey)
    }

    /// Ends the interval and begins the next one.
    ///
    /// Errors: `/proc/diskstats` cannot be read any more.
    #[allow(clippy::should_implement_trait, reason = "it lends its own sample and may fail: no iterator")]
    pub fn next(&mut self) -> io::Result<&HostSample> {
        self.read_ends()?;
        self.conclude(None);
        Ok(&self.sample)
    }

    /// Reads the counters at the end of the interval, and nothing else: another source that ends its window right
    /// after has the same interval.
    pub(crate) fn read_ends(&mut self) -> io::Result<()> {
        self.closely.end();
        self.read()
    }

    /// Makes the sample of what was read, with what a tracer saw of the same interval, and begins the next interval.
    pub(crate) fn conclude(&mut self, traced: Option<&TraceWindow>) {
        self.sample.processes = self.processes.as_mut().map(Processes::next);
        self.look_in_turn();
        self.measure(traced.map(Overlay::new).as_ref());
        self.choose();
        self.begin();
    }

    /// The sample, for those who add to it.
    pub(crate) fn sample_mut(&mut self) -> &mut HostSample {
        &mut self.sample
    }

    /// The interval that ended last.
    pub fn sample(&self) -> &HostSample {
        &self.sample
    }

    /// What the survey cost in that interval beside the caller's own thread.
    pub fn cost(&self) -> SurveyCost {
        SurveyCost { readings_s: self.closely.cpu_s() }
    }

    fn begin(&mut self) {
        let devices = &self.devices;
        self.closely.begin(|count| {
            let mut unscheduled = vec![true; count];
            for device in devices {
                if let Some(slot) = device.followed.and_then(|f| unscheduled.get_mut(f)) {
                    *slot = device.unscheduled();
                }
            }
            unscheduled
        });
    }

    /// Reads the counters of all devices into the table.
    fn read(&mut self) -> io::Result<()> {
        let began = Instant::now();
        self.round += 1;
        self.diskstats.read()?;
        // A row is formatted somewhere between the two instants; on hosts with thousands of devices that takes long.
        let at = began + began.elapsed() / 2;
        self.sample.length_s = (at - self.read_at).as_secs_f64();
        self.read_at = at;
        self.sample.at_s = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64();
        if !self.update() {
            self.rebuild();
        }
        Ok(())
    }

    /// Takes over the counters where the rows name the same devices as before; false when they do not.
    fn update(&mut self) -> bool {
        let (text, before) = (self.diskstats.text(), self.diskstats.text_before());
        let mut at = 0;
        let mut place = 0;
        while let Some(line) = next_line(text, &mut at) {
            let Some(device) = self.devices.get_mut(place) else { return false };
            let unchanged = before.get(device.row.clone()) == Some(&text[line.clone()]);
            if unchanged {
                device.before = device.now;
            } else {
                let Some(row) = Row::parse(text, line.clone()) else { return false };
                let known = self.sample.devices[place].facts.name.as_bytes();
                if known != &text[row.name] || device.minor != row.minor || device.major != row.major {
                    return false;
                }
                device.before = device.now;
                device.now = row.counters;
            }
            device.has_before = true;
            device.row = line;
            device.round = self.round;
            place += 1;
        }
        place == self.devices.len()
    }

    /// Makes the table anew, keeping what is known of devices that are still there.
    fn rebuild(&mut self) {
        let samples = std::mem::take(&mut self.sample.devices);
        let mut known: HashMap<String, (Device, DeviceSample)> = std::mem::take(&mut self.devices)
            .into_iter()
            .zip(samples)
            .map(|(d, s)| (s.facts.name.clone(), (d, s)))
            .collect();
        let text = self.diskstats.text();
        let mut at = 0;
        while let Some(line) = next_line(text, &mut at) {
            let Some(row) = Row::parse(text, line.clone()) else { continue };
            let name = String::from_utf8_lossy(&text[row.name.clone()]).into_owned();
            let same = |d: &Device| (d.major, d.minor) == (row.major, row.minor);
            let met = known.remove(&name).filter(|(d, _)| same(d));
            let (mut device, sample) =
                met.unwrap_or_else(|| Device::meet(&self.root, row.major, row.minor, &name));
            // Rows before the first difference were taken over already.
            if device.round != self.round {
                device.has_before = device.round > 0;
                device.before = device.now;
                device.now = row.counters;
                device.round = self.round;
            }
            device.row = line;
            self.devices.push(device);
            self.sample.devices.push(sample);
        }
        self.restack();
    }

    /// Ties devices to those below and above them.
    fn restack(&mut self) {
        let names: Vec<String> = self.sample.devices.iter().map(|s| s.facts.name.clone()).collect();
        let places: HashMap<&str, usize> = names.iter().enumerate().map(|(p, n)| (n.as_str(), p)).collect();
        let mut above = vec![Vec::new(); names.len()];
        for (place, device) in self.devices.iter_mut().enumerate() {
            device.below = device.look.below.iter().filter_map(|n| places.get(n.as_str()).copied()).collect();
            device.below.retain(|b| *b != place);
            for below in device.below.iter().filter(|_| device.place.disk.is_none()) {
                above[*below].push(names[place].clone());
            }
        }
        for (sample, above) in self.sample.devices.iter_mut().zip(above) {
            if sample.facts.above != above {
                let mut facts = (*sample.facts).clone();
                facts.above = above;
                sample.facts = Arc::new(facts);
            }
        }
        let mut heights = vec![0_u32; self.devices.len()];
        // Stacks are a few levels deep; a circle, which sysfs never shows, ends here too.
        for _ in 0..32 {
            let mut moved = false;
            for (place, device) in self.devices.iter().enumerate() {
                let height = device.below.iter().map(|b| heights[*b] + 1).max().unwrap_or(0).min(64);
                moved |= height > heights[place];
                heights[place] = heights[place].max(height);
            }
            if !moved {
                break;
            }
        }
        self.stacked = (0..self.devices.len()).filter(|p| heights[*p] > 0).collect();
        self.stacked.sort_by_key(|p| heights[*p]);
    }

    fn look_in_turn(&mut self) {
        for sample in &mut self.sample.devices {
            sample.failed = None;
            sample.timed_out = None;
        }
        let count = self.devices.len();
        let mut restacked = false;
        let mut looks = 0;
        for _ in 0..count {
            if looks == LOOKS {
                break;
            }
            self.turn = (self.turn + 1) % count;
            let device = &mut self.devices[self.turn];
            if device.place.folder.is_none() || device.place.disk.is_some() {
                continue;
            }
            restacked |= device.look_again(&self.root, &mut self.sample.devices[self.turn]);
            looks += 1;
        }
        if restacked {
            self.restack();
        }
    }

    fn measure(&mut self, traced: Option<&Overlay<'_>>) {
        let length_s = self.sample.length_s;
        for (device, sample) in self.devices.iter_mut().zip(&mut self.sample.devices) {
            split::fill(device, &self.closely, length_s, sample);
            if let Some(overlay) = traced.filter(|_| device.splits()) {
                overlay.lay(&topology::sysfs_name(&sample.facts.name), device.place.lun, sample);
            }
            let moved = sample.requests() > 0 || sample.in_flight > 0;
            device.quiet_for = if moved { 0 } else { device.quiet_for.saturating_add(1) };
        }
        split::fill_stacked(&self.devices, &mut self.sample.devices, &self.stacked);
    }

    fn choose(&mut self) {
        let (devices, samples) = (&self.devices, &self.sample.devices);
        let candidates = devices.iter().zip(samples).enumerate().filter(|(_, (d, _))| d.splits()).map(
            |(place, (device, sample))| {
                let never = device.now.completed() == 0 && device.now.in_flight() == 0;
                Candidate {
                    place,
                    followed: device.followed,
                    standing: sample.standing(),
                    quiet_for: if never { u32::MAX } else { device.quiet_for },
                }
            },
        );
        let identity = |place: usize| {
            let device = &devices[place];
            let number = DeviceNumber { major: device.major, minor: device.minor };
            (samples[place].facts.name.clone(), number)
        };
        if !self.closely.choose(candidates, identity) {
            return;
        }
        let names: HashMap<String, usize> =
            self.closely.names().enumerate().map(|(place, name)| (name.to_owned(), place)).collect();
        for (device, sample) in self.devices.iter_mut().zip(&self.sample.devices) {
            device.followed = names.get(&topology::sysfs_name(&sample.facts.name)).copied();
        }
    }
}
