//! Follow the queue: where the I/Os stood during a window, from counters anybody may read.
//!
//! [`PathFollower`] keeps the files of every counted layer of a path open. At both ends of a window it reads the
//! counters; in between one parked thread reads instant values about 200 times per second, at irregular moments,
//! and slower where that would cost more than 1 % of a core ([`PathFollower::cost`] tells what it did cost).
//!
//! # The rules, for each layer
//!
//! - `inside` = time spent by all requests completed in the window / its length = X R. The kernel adds a request's
//!   time where it completes, so what is in flight at an end is counted whole or not at all: an error of at most
//!   n R / T for n in flight at the ends, which `low` and `high` carry. Newer kernels sum nanoseconds (only the sum is
//!   cut to ms); devices that pass bios on sum jiffies, which widens the range further.
//! - `device_queue`, request-based, since 6.16: `inside` times the share that was sent, from pairs of readings:
//!   `device/device_busy` for SCSI and `inflight` otherwise (sent to the driver and nothing else) against the in-flight
//!   field of `stat` (everything accepted). Instants at which a thread gets a core are not fair, but unfair to both.
//! - `device_queue`, request-based, older kernels (both files count the same): mean of the readings. Where requests
//!   are so short that unfair instants may spoil it, `inside` without a scheduler and a LUN, else only bounds.
//!   `low` and `high` are two standard errors away, longer response times making fewer readings independent.
//! - `host_queue` = `inside` - `device_queue`, not below 0.
//! - Requests that wait for a tag are in no counter of the layer. When readings stood at what may be allocated
//!   (`nr_requests` or the driver's tags, times the hardware queues that the load's cores map to) and more I/Os were
//!   outstanding than inside, `host_queue` keeps only bounds, the upper one with those waiters, and the doubt
//!   `split-unknown` says so.
//! - Bio-based devices (linear, striped, crypt, MD, zram, NVMe multipath heads) and partitions have no queue of
//!   their own: `host_queue` is 0 and `device_queue` is what is inside.
//! - `device_queue_limit`: LUN queue depth for SCSI, driver tags otherwise (`nr_requests` where that is lower and no
//!   scheduler stands before the driver), read every 100 ms.
//! - `little_error` compares `inside` by durations with the mean of the in-flight readings of `stat`, where these count
//!   everything accepted and requests last at least 1 ms (shorter ones are not met at fair instants). Above 5 % and
//!   beyond three standard errors it is `counters-disagree`.
//! - `tag_sharing`: the other LUNs of the SCSI host whose `iorequest_cnt` moved in the window or in the 5 s before, and for
//!   root the kernel's own count of active LUNs.
//! - `queue/iostats` = 0, counters that were reset, or that stood still while the layers around counted: no numbers,
//!   but the doubt `counters-off`.
//! - `response_us` = time / requests, `service_us` = `device_queue` / X and `host_wait_us` = `host_queue` / X (Little).
//!
//! # The host
//!
//! - `foreign_*` = bytes on the lowest devices beyond the generator's own, where the path does not multiply bytes
//!   (mirrors, parity, snapshots: then the uppermost device is compared) and no cache took some away.
//! - `foreign_cores_busy` = user and system time of all cores minus this process. Interrupts belong to nobody and are
//!   left out; so is all system time where kernel threads do our own I/O (loop, MD, crypt), which no counter ties to us.
//! - [`record::CpuSeen`]: shares of the chosen cores, and process-wide times per I/O without the sampling thread; the
//!   load generator, which knows its threads, puts better numbers in their place.

pub(crate) mod kept;
pub(crate) mod layer;
mod machine;
pub(crate) mod moments;
mod process;
pub(crate) mod sampler;
pub(crate) mod siblings;
mod silent;
pub(crate) mod sources;
pub(crate) mod stat;
mod trouble;
mod window;

pub use sampler::CoursePoint;
pub use stat::{BlockStat, StatDelta};

use crate::root::Root;
use kept::{Buffer, Kept};
use machine::Machine;
use record::{Follow, Followed, IoPath, Trouble, Window};
use sampler::{Gathered, Sampler};
use siblings::Siblings;
use silent::Silence;
use sources::{QueueKind, Source};
use std::sync::Arc;
use std::time::Instant;
use trouble::Troubles;
use window::{End, PathShape};

/// What following cost.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FollowCost {
    /// Rounds of readings in all windows.
    pub rounds: u64,
    /// Length of all windows together.
    pub windows_s: f64,
    /// Processor time of the sampling thread in them.
    pub cpu_s: f64,
}

impl FollowCost {
    /// Share of one core that the sampling thread took; absent before the first window.
    pub fn core_share(&self) -> Option<f64> {
        (self.windows_s > 0.0).then(|| self.cpu_s / self.windows_s)
    }
}

/// Follows the queue along one path.
#[derive(Debug)]
pub struct PathFollower {
    sources: Arc<Vec<Source>>,
    sampler: Sampler,
    machine: Machine,
    buffer: Buffer,
    siblings: Siblings,
    shape: PathShape,
    cores: Vec<u32>,
    ticks_per_s: f64,
    /// Layers whose files could not be opened.
    lost: Vec<String>,
    /// See the rule of `device_queue`.
    counts_accepted: bool,
    begun: Option<End>,
    troubles: Troubles,
    silence: Silence,
    course: Vec<CoursePoint>,
    cost: FollowCost,
}

impl PathFollower {
    /// Opens the files of all counted layers and starts the sampling thread, parked.
    ///
    /// `cores` are the logical CPUs of the load, empty when it is not pinned. Errors: no thread could be started.
    pub fn new(root: &Root, path: &IoPath, cores: &[u32]) -> std::io::Result<Self> {
        let (sources, lost) = Source::of_path(root, path, cores);
        let sources = Arc::new(sources);
        let loadavg = Kept::open(root, "/proc/loadavg");
        let counts_accepted = release_counts_accepted(root);
        let sampler = Sampler::start(Arc::clone(&sources), loadavg, cores, counts_accepted)?;
        Ok(Self {
            sampler,
            machine: Machine::open(root),
            buffer: Buffer::default(),
            siblings: Siblings::of_path(root, path),
            shape: PathShape::of(path),
            cores: cores.to_vec(),
            ticks_per_s: rustix::param::clock_ticks_per_second() as f64,
            lost,
            counts_accepted,
            begun: None,
            troubles: Troubles::default(),
            silence: Silence::default(),
            course: Vec::new(),
            cost: FollowCost::default(),
            sources,
        })
    }

    /// Names of the followed layers, top first: [`CoursePoint::layer`] counts in this list.
    pub fn layers(&self) -> impl Iterator<Item = &str> {
        self.sources.iter().map(|s| s.name.as_str())
    }

    /// The counters of the last window about every 100 ms.
    pub fn course(&self) -> &[CoursePoint] {
        &self.course
    }

    /// What following cost so far.
    pub fn cost(&self) -> FollowCost {
        self.cost
    }

    fn end_point(&mut self) -> End {
        let buffer = &mut self.buffer;
        let layers = self.sources.iter().map(|s| window::LayerEnd::read(s, buffer)).collect();
        End { layers, moment: self.machine.moment(buffer) }
    }
}

impl Follow for PathFollower {
    fn load_on(&mut self) {
        self.silence.changes.clear();
        self.troubles.load_on(&self.sources, &mut self.buffer);
    }

    fn troubles(&mut self) -> Vec<Trouble> {
        self.troubles.look(&self.sources, &self.silence.changes, &mut self.buffer)
    }

    fn begin(&mut self) {
        self.siblings.begin();
        let end = self.end_point();
        let unscheduled = end.layers.iter().map(|l| l.unscheduled).collect();
        self.sampler.begin(Instant::now(), unscheduled);
        self.begun = Some(end);
    }

    fn end(&mut self, window: &Window) -> Followed {
        let gathered = self.sampler.end();
        let Some(before) = self.begun.take() else { return Followed::default() };
        let after = self.end_point();
        let length_s = (after.moment.at - before.moment.at).as_secs_f64();
        self.siblings.end();
        self.cost.rounds += gathered.rounds;
        self.cost.windows_s += length_s;
        self.cost.cpu_s += gathered.cpu_s;
        self.counts_accepted |= readings_count_accepted(&self.sources, &gathered);
        self.silence.look(&self.sources, &before, &after, &gathered, window.outstanding_mean);
        let mut followed = window::Closed {
            sources: &self.sources,
            shape: &self.shape,
            cores: &self.cores,
            ticks_per_s: self.ticks_per_s,
            lost: &self.lost,
            before: &before,
            after: &after,
            gathered: &gathered,
            counts_accepted: self.counts_accepted,
            window,
        }
        .followed();
        for layer in &mut followed.layers {
            layer.tag_sharing = self.siblings.sharing(&layer.name);
        }
        self.course = gathered.course;
        followed
    }
}

/// Whether this kernel's release says that the in-flight field of `stat` counts all that is accepted: since 6.16
/// (the series of May 2025 that made `diskstats` sum its own counters and left the driver's tags to `inflight`).
pub(crate) fn release_counts_accepted(root: &Root) -> bool {
    let release = root.text("/proc/sys/kernel/osrelease").unwrap_or_default();
    let mut numbers = release.split(|c: char| !c.is_ascii_digit()).map(str::parse::<u32>);
    let mut next = || numbers.next()?.ok();
    next().zip(next()).is_some_and(|version| version >= (6, 16))
}

/// Whether the readings themselves say so (distributions carry changes back): both files read alike on kernels
/// where they count the same, whatever waits.
pub(crate) fn readings_count_accepted(sources: &[Source], gathered: &Gathered) -> bool {
    sources.iter().zip(&gathered.layers).any(|(source, seen)| {
        let plain = source.kind == QueueKind::RequestBased && source.busy.is_none();
        let gap = seen.pair.gap_mean();
        plain && seen.pair.count >= 20 && gap > 0.5 && gap > 0.2 * seen.pair.x_mean()
    })
}
