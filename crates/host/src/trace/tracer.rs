//! The tracer itself: start, read, drop.

use super::askers::AskersMap;
use super::attach::{self, Room};
use super::devices::{self, Device};
use super::in_flight::{InFlightMap, Spent, Standing};
use super::layout::{COUNTS_WORDS, LOST_WORDS, Sums, WINDOW_WORDS, latency};
use super::scsi::ScsiMap;
use super::slots::SlotsMap;
use super::sums::{self, SumsMap};
use super::unavailable::{Unavailable, Why};
use super::window::{Asker, Class, ClassWindow, DeviceWindow, Lost, ScsiWindow, TraceWindow};
use crate::Root;
use aya::Ebpf;
use aya::maps::{Array, MapData, MapError};
use std::collections::HashMap as Memory;
use std::os::fd::{AsFd, AsRawFd};

/// Devices that there is room for at least, within the memory allowed.
const SLOTS_MIN: u64 = 16;

/// What to trace, and what it may take.
#[derive(Clone, Debug)]
pub struct Options {
    /// Kernel names of the devices to follow; `None` follows all.
    pub devices: Option<Vec<String>>,
    /// Keep a table of requests in flight: queues exact at the ends of windows and during a hang, and dispatch times
    /// on queues that do not stamp them. Two more programs per I/O.
    pub in_flight: bool,
    /// Count who asked. One more program per bio.
    pub askers: bool,
    /// Askers listed in a window.
    pub askers_max: usize,
    /// Count splits and merges.
    pub merges: bool,
    /// Count SCSI answers other than GOOD.
    pub scsi: bool,
    /// Kernel memory for sums and histograms, taken at the start. Within it each processor has its own copy, or
    /// processors share.
    pub memory_max_bytes: u64,
    /// Do as on a kernel whose requests carry no times (for tests of that way).
    pub ignore_stamps: bool,
    /// Do as on a kernel that does not describe its SCSI types (for tests of that way).
    pub scsi_by_events: bool,
    /// Do as on a kernel that may run a program in the middle of itself (for tests of that way).
    pub before_6_1: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            devices: None,
            in_flight: true,
            askers: true,
            askers_max: 20,
            merges: true,
            scsi: true,
            memory_max_bytes: 64 << 20,
            ignore_stamps: false,
            scsi_by_events: false,
            before_6_1: false,
        }
    }
}

/// Where SCSI answers come from.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ScsiSource {
    /// Raw tracepoints, by the described types of the SCSI layer.
    RawTracepoints,
    /// Classic tracepoints, by the fields that tracefs describes.
    Tracepoints,
    /// Not traced, and why.
    None(String),
}

/// What this tracer sees and what it does not.
#[derive(Clone, Debug, serde::Serialize)]
pub struct Parts {
    /// Whether the table of requests in flight is kept.
    pub in_flight: bool,
    /// Whether askers are counted.
    pub askers: bool,
    /// Where SCSI answers come from.
    pub scsi: ScsiSource,
    /// What this kernel would not let us trace, each in a line.
    pub missing: Vec<String>,
    /// Copies of each sum.
    pub shards: u32,
    /// Devices for which the memory allowed did not suffice.
    pub left_out: Vec<String>,
}

/// A running tracer. Dropping it detaches everything.
pub struct Tracer {
    root: Root,
    options: Options,
    parts: Parts,
    ebpf: Ebpf,
    slots: SlotsMap,
    sums: SumsMap,
    counts: Array<MapData, [u64; COUNTS_WORDS]>,
    /// By slot.
    counts_last: Memory<u32, [u64; COUNTS_WORDS]>,
    in_flight: InFlightMap,
    /// What requests in flight had spent when the present window began.
    spent_last: Memory<(u32, Class), Spent>,
    askers: AskersMap,
    scsi: ScsiMap,
    lost: Array<MapData, [u64; LOST_WORDS]>,
    lost_last: Lost,
    window: Array<MapData, [u64; WINDOW_WORDS]>,
    /// Its number. From 2 on, so that what was never used is idle for long.
    number: u64,
    /// Beginning of the present window.
    start_ns: u64,
    /// When all parts were attached.
    attached_ns: u64,
    /// The set of sums that the present window fills.
    set: u64,
    followed: Vec<Device>,
}

impl Tracer {
    /// Loads, attaches and begins the first window. Fails with the reason when this kernel or these rights do not
    /// suffice; then the sampler is what remains.
    pub fn start(root: &Root, options: Options) -> Result<Self, Unavailable> {
        let devices = wanted(root, &options).len() as u64;
        let processors = aya::util::nr_cpus().map_or(1, |n| u32::try_from(n).unwrap_or(1));
        // Half of the room is for devices that come later.
        let shards = sums::shards(processors, 2 * devices, options.memory_max_bytes);
        let slots = sums::slots((2 * devices).max(SLOTS_MIN), shards, options.memory_max_bytes);
        let entries = u32::try_from(u64::from(slots) * sums::entries_each(shards)).unwrap_or(u32::MAX);
        let attached = attach::attach(root, &options, &Room { processors, shards, slots, entries })?;
        let mut ebpf = attached.ebpf;
        let parts = Parts {
            in_flight: options.in_flight,
            askers: attached.askers,
            scsi: attached.scsi,
            missing: attached.missing,
            shards,
            left_out: Vec::new(),
        };
        let failed = |e: MapError| attach::refused("opening the tracer's maps", &e);
        let mut tracer = Self {
            slots: SlotsMap::new(take(&mut ebpf, "slots")?.try_into().map_err(failed)?, slots),
            sums: SumsMap::new(take(&mut ebpf, "sums")?.try_into().map_err(failed)?, shards),
            counts: take(&mut ebpf, "counts")?.try_into().map_err(failed)?,
            counts_last: Memory::new(),
            in_flight: InFlightMap::new(take(&mut ebpf, "in_flight")?.try_into().map_err(failed)?),
            spent_last: Memory::new(),
            askers: AskersMap::new(
                take(&mut ebpf, "askers")?.try_into().map_err(failed)?,
                take(&mut ebpf, "cells")?.try_into().map_err(failed)?,
            ),
            scsi: ScsiMap::new(take(&mut ebpf, "scsi")?.try_into().map_err(failed)?),
            lost: take(&mut ebpf, "lost")?.try_into().map_err(failed)?,
            lost_last: Lost::default(),
            window: take(&mut ebpf, "window")?.try_into().map_err(failed)?,
            start_ns: monotonic_ns(),
            attached_ns: monotonic_ns(),
            set: 0,
            number: 1,
            followed: Vec::new(),
            root: root.clone(),
            options,
            parts,
            ebpf,
        };
        // What came while the parts were attached one by one is of no window.
        tracer.refresh();
        tracer.read()?;
        Ok(tracer)
    }

    /// What is seen and what is not.
    pub fn parts(&self) -> &Parts {
        &self.parts
    }

    /// What was seen since the last read (the first time: since the start), and the next window begins.
    pub fn read(&mut self) -> Result<TraceWindow, Unavailable> {
        self.take_window().map_err(|e| attach::refused("reading the tracer's maps", &e))
    }

    fn take_window(&mut self) -> Result<TraceWindow, MapError> {
        let (start_ns, set) = (self.start_ns, self.set);
        // One store ends the window: programs take the other set and the new beginning with the same word.
        let end_ns = monotonic_ns() & !1;
        self.number += 1;
        self.window.set(0, [end_ns | (set ^ 1), self.number], 0)?;
        self.start_ns = end_ns;
        self.set = set ^ 1;

        let spent = self.spent(end_ns)?;
        let spent_before = std::mem::replace(&mut self.spent_last, spent.clone());
        let seconds = (end_ns - start_ns.min(end_ns)) as f64 / 1e9;
        let mut devices = Vec::new();
        for device in self.followed.clone() {
            let number = device.number();
            let Some(slot) = self.slots.of(number) else { continue };
            let mut classes = Vec::new();
            for class in Class::ALL {
                let sums = self.sums.take(slot, class, set)?;
                let of = |spent: &Memory<_, Spent>| spent.get(&(number, class)).copied().unwrap_or_default();
                classes.extend(class_window(class, &sums, of(&spent_before), of(&spent), seconds));
            }
            let counts = self.counts_of(slot);
            if !classes.is_empty() || counts.iter().any(|c| *c > 0) {
                let [requeues, splits, front_merges, back_merges, flush_waits] = counts;
                let device_number = (device.major, device.minor);
                devices.push(DeviceWindow {
                    name: device.name,
                    device_number,
                    classes,
                    requeues,
                    splits,
                    front_merges,
                    back_merges,
                    flush_waits,
                });
            }
        }
        let scsi = match self.parts.scsi {
            ScsiSource::None(_) => None,
            _ => Some(self.scsi_window()?),
        };
        let (askers, bios_of_others) = match self.parts.askers {
            true => self.askers_window().map(|(askers, others)| (Some(askers), others))?,
            false => (None, 0),
        };
        let lost = self.lost()?;
        self.refresh();
        Ok(TraceWindow {
            start_monotonic_ns: start_ns,
            end_monotonic_ns: end_ns,
            devices,
            scsi,
            askers,
            bios_of_others,
            lost,
        })
    }

    /// What requests in flight have spent, by device and class.
    fn spent(&self, end_ns: u64) -> Result<Memory<(u32, Class), Spent>, MapError> {
        let mut spent: Memory<(u32, Class), Spent> = Memory::new();
        if !self.options.in_flight {
            return Ok(spent);
        }
        let mut idle: Memory<u32, bool> = Memory::new();
        let standing = self.in_flight.standing(end_ns)?;
        // Of an older one the end may have come before the part that sees ends was attached.
        for one in standing.into_iter().filter(|one| one.start_ns >= self.attached_ns) {
            let is_idle = |device: u32| *idle.entry(device).or_insert_with(|| self.is_idle(device));
            if !vanished(&one, end_ns, is_idle) {
                spent.entry((one.device, one.class)).or_default().add(&one, end_ns);
            }
        }
        Ok(spent)
    }

    /// Whether the kernel itself counts nothing in flight on a device.
    fn is_idle(&self, number: u32) -> bool {
        let device = self.followed.iter().find(|d| d.number() == number);
        let text = device.and_then(|d| self.root.text(format!("/sys/block/{}/inflight", d.name)).ok());
        text.is_some_and(|t| t.split_ascii_whitespace().all(|n| n == "0"))
    }

    fn counts_of(&mut self, slot: u32) -> [u64; COUNTS_WORDS] {
        let Ok(now) = self.counts.get(&slot, 0) else { return [0; COUNTS_WORDS] };
        let before = self.counts_last.insert(slot, now).unwrap_or([0; COUNTS_WORDS]);
        std::array::from_fn(|i| now[i].wrapping_sub(before[i]))
    }

    fn scsi_window(&mut self) -> Result<Vec<ScsiWindow>, MapError> {
        let disk = |address: &str| {
            self.followed.iter().find(|d| d.address.as_deref() == Some(address)).map(|d| d.name.clone())
        };
        let all = self.scsi.take()?;
        Ok(all
            .into_iter()
            .map(|(address, counts)| ScsiWindow { device: disk(&address), address, counts })
            .collect())
    }

    fn askers_window(&mut self) -> Result<(Vec<Asker>, u64), MapError> {
        let named = |number| {
            let device = self.followed.iter().find(|d| d.number() == number);
            device.map_or_else(|| devices::written(number), |d| d.name.clone())
        };
        let mut all: Vec<Asker> = self
            .askers
            .take()?
            .into_iter()
            .map(|a| {
                let [reads, writes, others, read_bytes, write_bytes] = a.grown;
                Asker {
                    pid: a.pid,
                    comm: a.comm,
                    cgroup_id: a.cgroup_id,
                    device: named(a.device),
                    reads,
                    writes,
                    others,
                    read_bytes,
                    write_bytes,
                }
            })
            .collect();
        all.sort_by(|a, b| b.bios().cmp(&a.bios()).then(a.pid.cmp(&b.pid)).then(a.device.cmp(&b.device)));
        let rest = all.split_off(all.len().min(self.options.askers_max));
        Ok((all, rest.iter().map(Asker::bios).sum()))
    }

    fn lost(&mut self) -> Result<Lost, MapError> {
        let [ios_of_unfollowed_devices, in_flight, asked, scsi, completions, ..] = self.lost.get(&0, 0)?;
        let mut now = Lost { ios_of_unfollowed_devices, in_flight, asked, scsi, completions, counts: 0 };
        for (name, program) in self.ebpf.programs() {
            let missed = missed_runs(program);
            match name {
                // Those that stood in the table are found when their memory is used again.
                "rq_complete" => now.completions = now.completions.max(missed),
                "rq_insert" | "rq_issue" => now.in_flight += missed,
                "bio_queue" => now.asked += missed,
                name if name.starts_with("scsi_") => now.scsi += missed,
                _ => now.counts += missed,
            }
        }
        let before = std::mem::replace(&mut self.lost_last, now);
        Ok(Lost {
            // Where devices were chosen, the others are no loss.
            ios_of_unfollowed_devices: match self.options.devices {
                Some(_) => 0,
                None => now.ios_of_unfollowed_devices - before.ios_of_unfollowed_devices,
            },
            completions: now.completions - before.completions,
            in_flight: now.in_flight - before.in_flight,
            asked: now.asked - before.asked,
            scsi: now.scsi - before.scsi,
            counts: now.counts - before.counts,
        })
    }

    /// Programs in the kernel, by the number the kernel gave them: whoever measures our cost finds them by it.
    pub fn program_ids(&self) -> Vec<u32> {
        self.ebpf.programs().filter_map(|(_, p)| p.info().ok()).map(|i| i.id()).collect()
    }

    /// Follows devices that came, and forgets those that went.
    fn refresh(&mut self) {
        let now = wanted(&self.root, &self.options);
        if now == self.followed {
            return;
        }
        let gone: Vec<Device> = self.followed.iter().filter(|d| !now.contains(d)).cloned().collect();
        for device in gone {
            self.slots.forget(device.number());
            self.followed.retain(|d| *d != device);
        }
        self.parts.left_out.retain(|name| now.iter().any(|d| d.name == *name));
        for device in now {
            if self.followed.contains(&device) || self.parts.left_out.contains(&device.name) {
                continue;
            }
            match self.follow(device.number()) {
                Ok(true) => self.followed.push(device),
                Ok(false) | Err(_) => self.parts.left_out.push(device.name),
            }
        }
        self.followed.sort_by(|a, b| a.name.cmp(&b.name));
    }

    /// Whether there was room. What the slot counted for another device before is read away first.
    fn follow(&mut self, number: u32) -> Result<bool, MapError> {
        let Some(slot) = self.slots.next() else { return Ok(false) };
        self.sums.prepare(slot)?;
        self.counts_of(slot);
        self.slots.follow(number)
    }
}

/// Runs of a program that the kernel left out because the same program was running on that processor; it tells since
/// 5.12, and leaves out since 6.1.
fn missed_runs(program: &aya::programs::Program) -> u64 {
    let told = || {
        let fd = program.fd().ok()?.as_fd().as_raw_fd();
        let text = std::fs::read_to_string(format!("/proc/self/fdinfo/{fd}")).ok()?;
        text.lines().find_map(|l| l.strip_prefix("recursion_misses:"))?.trim().parse().ok()
    };
    told().unwrap_or(0)
}

fn take(ebpf: &mut Ebpf, name: &str) -> Result<aya::maps::Map, Unavailable> {
    let absent = || Unavailable::new(Why::Failed, format!("the tracer's object has no map {name}"));
    ebpf.take_map(name).ok_or_else(absent)
}

fn wanted(root: &Root, options: &Options) -> Vec<Device> {
    let mut all = devices::all(root);
    if let Some(names) = &options.devices {
        all.retain(|d| names.contains(&d.name));
    }
    all
}

fn monotonic_ns() -> u64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

/// A request that is old while its device is idle was freed without completion.
fn vanished(one: &Standing, end_ns: u64, is_idle: impl FnOnce(u32) -> bool) -> bool {
    one.is_old(end_ns) && is_idle(one.device)
}

/// The time spent in a queue within a window is that of requests completed in it, less what they had spent when it
/// began, plus what those in flight at its end have spent. Each of the last two is credited once and taken back once,
/// so no error of theirs adds up over windows.
fn class_window(
    class: Class,
    sums: &Sums,
    before: Spent,
    at_end: Spent,
    seconds: f64,
) -> Option<ClassWindow> {
    let host_wait = latency(sums.host_wait(), sums.host_wait_ns);
    let service = latency(sums.service(), sums.service_ns);
    let ios = service.count() + sums.untimed;
    if ios == 0 && sums.bytes == 0 && at_end == Spent::default() && before == Spent::default() {
        return None;
    }
    let mean = |completed_ns: u64, before_ns: u64, at_end_ns: u64| {
        let spent_ns = (completed_ns + at_end_ns).saturating_sub(before_ns);
        if seconds > 0.0 { spent_ns as f64 / 1e9 / seconds } else { 0.0 }
    };
    let mut sizes = [0; 16];
    sizes.copy_from_slice(sums.sizes());
    Some(ClassWindow {
        class,
        ios,
        bytes: sums.bytes,
        errors: sums.errors,
        untimed: sums.untimed,
        host_queue: mean(sums.host_wait_ns, sums.host_wait_before_ns + before.host_ns, at_end.host_ns),
        device_queue: mean(sums.service_ns, sums.service_before_ns + before.device_ns, at_end.device_ns),
        host_queue_at_end: at_end.in_host,
        device_queue_at_end: at_end.at_device,
        oldest_in_flight_ns: at_end.oldest_ns,
        host_wait,
        service,
        sizes,
    })
}
