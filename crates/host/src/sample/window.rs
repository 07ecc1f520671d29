//! One closed window: both ends, the readings in between, and what they come to.

use super::kept::Buffer;
use super::layer::{Observation, Seen};
use super::machine::{Moment, Ticks};
use super::sampler::Gathered;
use super::sources::{QueueKind, Source};
use super::stat::{BlockStat, StatDelta};
use record::{CpuSeen, Doubt, DoubtId, Followed, HostSeen, IoPath, LayerKind, ScsiSeen, Weight, Window};
use std::time::Instant;

/// What the path says about how its layers' bytes relate.
#[derive(Clone, Debug, Default)]
pub(crate) struct PathShape {
    /// Bytes multiply on the way down: mirrors, parity, snapshots.
    multiplies: bool,
    /// Kernel threads carry our I/O: their system time is ours and nobody can tell.
    kernel_threads: bool,
}

impl PathShape {
    pub fn of(path: &IoPath) -> Self {
        Self {
            multiplies: path.layers.iter().any(multiplies),
            kernel_threads: path.layers.iter().any(|l| {
                let crypt = l.facts.iter().any(|(name, value)| name == "dm_use" && value == "crypt");
                matches!(l.kind, LayerKind::Loop | LayerKind::Md | LayerKind::Multipath) || crypt
            }),
        }
    }
}

/// The parts of mirrored, cached, thin and snapshot volumes carry these endings in LVM's names.
fn multiplies(layer: &record::Layer) -> bool {
    const PARTS: [&str; 8] =
        ["_rimage_", "_mimage_", "_rmeta_", "_mlog", "_cdata", "_tdata", "_cow", "_cpool"];
    let label = layer.label.as_deref().unwrap_or_default();
    match layer.kind {
        LayerKind::Md => !matches!(label, "raid0" | "linear"),
        LayerKind::DeviceMapper => label.ends_with("-cow") || PARTS.iter().any(|p| label.contains(p)),
        LayerKind::Filesystem => layer.below.len() > 1,
        LayerKind::OtherBlock => layer.name.starts_with("drbd") || layer.name.starts_with("bcache"),
        _ => false,
    }
}

/// One layer at one end of a window.
#[derive(Clone, Debug)]
pub(crate) struct LayerEnd {
    at: Instant,
    stat: Option<BlockStat>,
    scsi: Option<ScsiSeen>,
    counts_io: bool,
    pub unscheduled: bool,
}

impl LayerEnd {
    pub fn read(source: &Source, buffer: &mut Buffer) -> Self {
        let at = Instant::now();
        Self {
            at,
            stat: source.stat(buffer),
            scsi: source.scsi(buffer),
            counts_io: source.counts_io(buffer),
            unscheduled: source.unscheduled(buffer),
        }
    }
}

/// Everything at one end of a window.
#[derive(Clone, Debug)]
pub(crate) struct End {
    pub layers: Vec<LayerEnd>,
    pub moment: Moment,
}

impl End {
    /// Requests of one layer from this moment until another.
    pub fn requests_until(&self, after: &Self, place: usize) -> Option<u64> {
        let (before, after) = (&self.layers[place], &after.layers[place]);
        let length_s = (after.at - before.at).as_secs_f64();
        Some(StatDelta::between(&before.stat?, &after.stat?, length_s)?.requests)
    }
}

/// A window with both ends.
pub(crate) struct Closed<'a> {
    pub sources: &'a [Source],
    pub shape: &'a PathShape,
    pub cores: &'a [u32],
    pub ticks_per_s: f64,
    pub lost: &'a [String],
    pub before: &'a End,
    pub after: &'a End,
    pub gathered: &'a Gathered,
    /// Whether the in-flight field of `stat` is known to count what is accepted.
    pub counts_accepted: bool,
    pub window: &'a Window,
}

impl Closed<'_> {
    pub fn followed(&self) -> Followed {
        let mut doubts: Vec<Doubt> =
            self.lost.iter().map(|name| off(name, "its stat file cannot be read")).collect();
        let mut seen: Vec<(usize, Seen)> = Vec::new();
        for place in 0..self.sources.len() {
            match self.layer(place) {
                Ok(layer) => seen.push((place, layer)),
                Err(doubt) => doubts.push(doubt),
            }
        }
        self.drop_silent(&mut seen, &mut doubts);
        for (_, layer) in &seen {
            doubts.extend(layer.doubts.iter().cloned());
        }
        let host = self.host(&seen, &mut doubts);
        Followed {
            layers: seen.into_iter().map(|(_, s)| s.layer).collect(),
            cpu: self.cpu(),
            host: Some(host),
            doubts,
        }
    }

    fn layer(&self, place: usize) -> Result<Seen, Doubt> {
        let source = &self.sources[place];
        let (before, after) = (&self.before.layers[place], &self.after.layers[place]);
        if !before.counts_io || !after.counts_io {
            return Err(off(&source.name, "queue/iostats is 0; write 1 to it to measure this layer"));
        }
        let (Some(first), Some(last)) = (before.stat, after.stat) else {
            return Err(off(
                &source.name,
                "its counters cannot be read: the device went away or its stat is torn",
            ));
        };
        let empty = super::sampler::Instants::default();
        let observation = Observation {
            name: &source.name,
            kind: source.kind,
            stat_file: &source.stat.path,
            sent_file: source
                .busy
                .as_ref()
                .or(source.inflight.as_ref())
                .map(|f| f.path.clone())
                .unwrap_or_default(),
            length_s: (after.at - before.at).as_secs_f64(),
            before: first,
            after: last,
            scsi: before.scsi.zip(after.scsi),
            instants: self.gathered.layers.get(place).unwrap_or(&empty),
            unscheduled: before.unscheduled,
            counts_accepted: self.counts_accepted,
            lun: source.lun_depth.is_some(),
            outstanding: self.outstanding(place),
        };
        observation
            .seen()
            .ok_or_else(|| off(&source.name, "its counters went back: it was set up anew meanwhile"))
    }

    /// I/Os that are at this layer or wait for it: what stands inside the layer above, or what the generator keeps
    /// outstanding, less what stands in the lowest devices beside this one. Absent where no such sum can be told.
    fn outstanding(&self, place: usize) -> Option<f64> {
        let source = &self.sources[place];
        let leaves: Vec<usize> = (0..self.sources.len()).filter(|p| self.sources[*p].leaf).collect();
        let all = self.window.outstanding_mean;
        // A partition accounts its requests once they have a tag: waiters are in it as little as in its disk.
        let holds_waiters = |p: &usize| self.sources[*p].kind != QueueKind::Partition;
        let mut candidates = if leaves.len() <= 1 { (0..place).rev() } else { (0..place.min(1)).rev() };
        let above =
            candidates.find(|p| holds_waiters(p) && !self.sources[*p].leaf && self.inside(*p).is_some());
        let upper = above.and_then(|p| self.inside(p)).map_or(all, |inside| inside.min(all));
        match (leaves.len(), source.leaf) {
            (0 | 1, _) => Some(upper),
            (_, false) => (place == 0).then_some(upper),
            (_, true) => {
                let others = leaves.iter().filter(|p| **p != place);
                let beside: f64 = others.map(|p| self.inside(*p).unwrap_or(0.0)).sum();
                Some((upper - beside).max(0.0))
            }
        }
    }

    /// Mean number inside a layer by its durations alone; absent where it counted nothing.
    fn inside(&self, place: usize) -> Option<f64> {
        let (before, after) = (&self.before.layers[place], &self.after.layers[place]);
        let length_s = (after.at - before.at).as_secs_f64();
        let delta = StatDelta::between(&before.stat?, &after.stat?, length_s)?;
        (length_s > 0.0 && delta.requests > 0).then(|| delta.all_s / length_s)
    }

    /// A layer that counted nothing while a layer below it did, and the generator worked, keeps no counts (heads of
    /// NVMe multipath before 6.10, for one): its zeros are no measurement.
    fn drop_silent(&self, seen: &mut Vec<(usize, Seen)>, doubts: &mut Vec<Doubt>) {
        let busy_below = |place: usize, seen: &[(usize, Seen)]| {
            seen.iter().any(|(other, s)| *other > place && s.delta.bytes > self.window.bytes / 2)
        };
        if self.window.bytes == 0 {
            return;
        }
        let silent: Vec<usize> = seen
            .iter()
            .filter(|(place, _)| !self.sources[*place].leaf)
            .filter(|(place, s)| s.delta.requests == 0 && busy_below(*place, seen))
            .map(|(place, _)| *place)
            .collect();
        for place in silent {
            doubts.push(off(
                &self.sources[place].name,
                "it counted nothing while a layer below it carried the I/O",
            ));
            seen.retain(|(p, _)| *p != place);
        }
    }

    fn length_s(&self) -> f64 {
        (self.after.moment.at - self.before.moment.at).as_secs_f64().max(1e-9)
    }

    fn host(&self, seen: &[(usize, Seen)], doubts: &mut Vec<Doubt>) -> HostSeen {
        let (before, after) = (&self.before.moment, &self.after.moment);
        let pressure = |which: usize| {
            let (before, after) = (before.pressure_us[which]?, after.pressure_us[which]?);
            Some((after.saturating_sub(before) as f64 / 1e6 / self.length_s()).min(1.0))
        };
        let all = self.all_ticks();
        let running = &self.gathered.running;
        let foreign = self.foreign(seen, doubts);
        HostSeen {
            psi_cpu_some: pressure(0),
            psi_io_some: pressure(1),
            psi_memory_some: pressure(2),
            steal: all.and_then(|t| t.shares(0)).map(|s| s.steal),
            run_queue_mean: (running.count > 0).then_some(running.mean),
            foreign_cores_busy: all.map(|t| self.foreign_cores(&t)),
            worker_run_delay: None,
            foreign_iops: foreign.and_then(|f| f.iops),
            foreign_mib_per_s: foreign.map(|f| f.mib_per_s),
        }
    }

    fn all_ticks(&self) -> Option<Ticks> {
        Some(self.after.moment.all?.since(&self.before.moment.all?))
    }

    fn foreign_cores(&self, all: &Ticks) -> f64 {
        let ours = self.after.moment.process - self.before.moment.process;
        let seconds = |ticks: u64| ticks as f64 / self.ticks_per_s;
        let foreign_s = if self.shape.kernel_threads {
            seconds(all.user) - ours.user_s
        } else {
            seconds(all.user.saturating_add(all.system)) - ours.total_s()
        };
        (foreign_s / self.length_s()).max(0.0)
    }

    fn cpu(&self) -> Option<CpuSeen> {
        let per_io = |seconds: f64| (self.window.ios > 0).then(|| seconds * 1e6 / self.window.ios as f64);
        let ours = self.after.moment.process - self.before.moment.process;
        let deltas: Vec<(u32, Ticks)> = self
            .after
            .moment
            .cores
            .iter()
            .filter(|(cpu, _)| self.cores.is_empty() || self.cores.contains(cpu))
            .filter_map(|(cpu, after)| {
                let before = self.before.moment.cores.iter().find(|(c, _)| c == cpu)?;
                Some((*cpu, after.since(&before.1)))
            })
            .collect();
        let irq =
            deltas.iter().fold(0_u64, |sum, (_, t)| sum.saturating_add(t.irq).saturating_add(t.softirq));
        let irq_us = (!deltas.is_empty()).then(|| per_io(irq as f64 / self.ticks_per_s)).flatten();
        let user_us = per_io(ours.user_s);
        // The sampling thread's own time is nearly all system time.
        let system_us = per_io((ours.system_s - self.gathered.cpu_s).max(0.0));
        let whole_us = user_us.unwrap_or(0.0) + system_us.unwrap_or(0.0) + irq_us.unwrap_or(0.0);
        Some(CpuSeen {
            user_us_per_io: user_us.unwrap_or(0.0),
            sys_us_per_io: system_us.unwrap_or(0.0),
            irq_us_per_io: irq_us,
            busiest_worker: 0.0,
            iops_per_core: (whole_us > 0.0).then(|| 1e6 / whole_us),
            cores: deltas.iter().filter_map(|(cpu, ticks)| ticks.shares(*cpu)).collect(),
        })
    }

    /// I/O on the path's devices that is not the generator's.
    fn foreign(&self, seen: &[(usize, Seen)], doubts: &mut Vec<Doubt>) -> Option<Foreign> {
        if !self.lost.is_empty() {
            return None;
        }
        let (bytes, ios, merges) = self.carried(seen)?;
        let ours = self.window.bytes;
        if (bytes as f64) < 0.9 * ours as f64 {
            doubts.push(self.taken_away(bytes));
            return None;
        }
        // What was in flight at the ends is counted on one side and not on the other.
        let block = ours as f64 / self.window.ios.max(1) as f64;
        let edge = 2.0 * self.window.outstanding_mean.max(1.0) * block;
        let extra = bytes as f64 - ours as f64;
        if extra <= edge {
            return Some(Foreign { mib_per_s: 0.0, iops: Some(0.0) });
        }
        let length_s = self.length_s();
        // Numbers of I/Os compare only where nothing was merged; large I/Os may be split, which adds to the devices'.
        let whole = merges == 0 && block <= 65536.0;
        let iops = whole.then(|| ios.saturating_sub(self.window.ios) as f64 / length_s);
        Some(Foreign { mib_per_s: extra / f64::from(1 << 20) / length_s, iops })
    }

    /// Bytes, I/Os and merges of the lowest devices, or of the uppermost one where bytes multiply below it. `None`
    /// when one of them told nothing.
    fn carried(&self, seen: &[(usize, Seen)]) -> Option<(u64, u64, u64)> {
        let wanted: Vec<usize> = if self.shape.multiplies {
            (!self.sources.is_empty()).then_some(0).into_iter().collect()
        } else {
            (0..self.sources.len()).filter(|p| self.sources[*p].leaf).collect()
        };
        let deltas: Option<Vec<&StatDelta>> =
            wanted.iter().map(|place| seen.iter().find(|(p, _)| p == place).map(|(_, s)| &s.delta)).collect();
        let deltas = deltas.filter(|d| !d.is_empty())?;
        let sum = |of: fn(&StatDelta) -> u64| deltas.iter().map(|d| of(d)).fold(0, u64::saturating_add);
        Some((sum(|d| d.bytes), sum(|d| d.ios), sum(|d| d.merges)))
    }

    fn taken_away(&self, bytes: u64) -> Doubt {
        let share = 100.0 * bytes as f64 / self.window.bytes.max(1) as f64;
        let text = format!(
            "only {share:.0} % of the {:.1} MiB moved reached the devices: the rest came out of or stayed in this host's \
             page cache, or touched extents that were never written",
            self.window.bytes as f64 / f64::from(1 << 20)
        );
        Doubt { id: DoubtId::PageCacheHits, weight: Weight::Caution, text }
    }
}

#[derive(Clone, Copy)]
struct Foreign {
    mib_per_s: f64,
    iops: Option<f64>,
}

fn off(name: &str, why: &str) -> Doubt {
    let text = format!("{name}: no numbers: {why}");
    Doubt { id: DoubtId::CountersOff, weight: Weight::Caution, text }
}
