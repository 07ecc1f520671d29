//! The files that are followed for each layer of a path.

use super::kept::{Buffer, Kept};
use super::stat::BlockStat;
use crate::root::Root;
use record::{IoPath, Layer, LayerKind, LimitKind, ScsiSeen};

/// How a layer holds its I/Os.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum QueueKind {
    /// It allocates requests (blk-mq): there is a host queue between acceptance and the driver.
    RequestBased,
    /// It passes bios on: no queue of its own.
    BioBased,
    /// A partition: its requests stand in the queue of its disk.
    Partition,
}

/// Descriptors of one layer.
#[derive(Debug)]
pub(crate) struct Source {
    pub name: String,
    pub kind: QueueKind,
    /// Names of the layers below, to tell the lowest ones.
    pub leaf: bool,
    pub stat: Kept,
    pub inflight: Option<Kept>,
    /// Commands at the LUN now (SCSI).
    pub busy: Option<Kept>,
    /// Limit at the LUN now (SCSI).
    pub lun_depth: Option<Kept>,
    pub nr_requests: Option<Kept>,
    pub scheduler: Option<Kept>,
    pub iostats: Option<Kept>,
    /// SCSI device state: `running`, `offline`, `transport-offline` ...
    pub state: Option<Kept>,
    counts: Option<ScsiCounts>,
    /// Driver tags per hardware queue, fixed while the device lives.
    pub tags_per_queue: Option<f64>,
    /// Hardware queues that the cores of the load map to.
    pub queues: f64,
}

#[derive(Debug)]
struct ScsiCounts {
    requested: Kept,
    done: Kept,
    errors: Kept,
    timeouts: Option<Kept>,
}

/// What may be outstanding, read now.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Bounds {
    /// Sent to the driver at most.
    pub device: Option<f64>,
    /// Accepted at most: beyond it submitters wait where no counter looks.
    pub accepted: Option<f64>,
}

impl Source {
    /// All layers with counters, top first, and what could not be opened.
    pub fn of_path(root: &Root, path: &IoPath, cores: &[u32]) -> (Vec<Self>, Vec<String>) {
        let mut sources = Vec::new();
        let mut lost = Vec::new();
        for layer in path.counted() {
            match Self::open(root, path, layer, cores) {
                Some(source) => sources.push(source),
                None => lost.push(layer.name.clone()),
            }
        }
        (sources, lost)
    }

    fn open(root: &Root, path: &IoPath, layer: &Layer, cores: &[u32]) -> Option<Self> {
        let disk = match layer.kind {
            LayerKind::Partition => layer.below.first().cloned()?,
            _ => layer.name.clone(),
        };
        let folder = match layer.kind {
            LayerKind::Partition => format!("/sys/block/{disk}/{}", layer.name),
            _ => format!("/sys/block/{disk}"),
        };
        let queues = path.layer(&disk).and_then(|l| l.limit(LimitKind::HardwareQueues)).map(|l| l.value);
        let request_based = queues.is_some_and(|q| q > 0.0);
        let kind = match (layer.kind, request_based) {
            (LayerKind::Partition, _) => QueueKind::Partition,
            (_, true) => QueueKind::RequestBased,
            (_, false) => QueueKind::BioBased,
        };
        let whole = kind != QueueKind::Partition;
        let own = |file: &str| Kept::open(root, format!("{folder}/{file}"));
        let disks = |file: &str| whole.then(|| own(file)).flatten();
        Some(Self {
            name: layer.name.clone(),
            kind,
            leaf: layer.below.is_empty(),
            stat: own("stat")?,
            inflight: own("inflight"),
            busy: disks("device/device_busy"),
            lun_depth: disks("device/queue_depth"),
            nr_requests: disks("queue/nr_requests"),
            scheduler: disks("queue/scheduler"),
            iostats: Kept::open(root, format!("/sys/block/{disk}/queue/iostats")),
            // NVMe and virtio disks have a `state` of other meaning.
            state: own("device/queue_depth").and_then(|_| disks("device/state")),
            counts: disks("device/iorequest_cnt").and_then(|requested| {
                Some(ScsiCounts {
                    requested,
                    done: own("device/iodone_cnt")?,
                    errors: own("device/ioerr_cnt")?,
                    timeouts: own("device/iotmo_cnt"),
                })
            }),
            tags_per_queue: layer.limit(LimitKind::TagsPerQueue).map(|l| l.value),
            queues: queues_of_cores(root, &disk, cores).or(queues).unwrap_or(1.0),
        })
    }

    pub fn stat(&self, buffer: &mut Buffer) -> Option<BlockStat> {
        BlockStat::parse(self.stat.text(buffer)?)
    }

    /// Whether the device keeps I/O counts; a kernel without the switch always does.
    pub fn counts_io(&self, buffer: &mut Buffer) -> bool {
        self.iostats.as_ref().and_then(|f| f.number(buffer)) != Some(0)
    }

    /// Whether requests go to the driver without a scheduler.
    pub fn unscheduled(&self, buffer: &mut Buffer) -> bool {
        let Some(text) = self.scheduler.as_ref().and_then(|f| f.text(buffer)) else { return true };
        matches!(text.trim(), "none" | "") || text.contains("[none]")
    }

    /// The limits in force. `unscheduled` as read at the start of the window.
    ///
    /// Without a scheduler a request takes its driver tag at once, so `nr_requests` and the tags bound what is
    /// accepted and what is sent alike; `mq/0/nr_tags` stays as it was when `nr_requests` is lowered (seen on 6.18).
    /// With one, `nr_requests` bounds what is accepted and the tags what is sent. A LUN has its own depth below.
    pub fn bounds(&self, unscheduled: bool, buffer: &mut Buffer) -> Bounds {
        if self.kind != QueueKind::RequestBased {
            return Bounds::default();
        }
        let requests = self.nr_requests.as_ref().and_then(|f| f.number(buffer)).map(|n| n as f64);
        let tags = self.tags_per_queue;
        let lower = match (requests, tags) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (one, other) => one.or(other),
        };
        let accepted = if unscheduled { lower } else { requests }.map(|n| n * self.queues);
        let driver = if unscheduled { lower } else { tags.or(requests) }.map(|n| n * self.queues);
        let lun = self.lun_depth.as_ref().and_then(|f| f.number(buffer)).map(|n| n as f64);
        Bounds { device: lun.or(driver), accepted }
    }

    /// Whether it keeps SCSI's own counts.
    pub fn is_scsi(&self) -> bool {
        self.counts.is_some()
    }

    /// SCSI's own counts: requested, done, failed, timed out.
    pub fn scsi(&self, buffer: &mut Buffer) -> Option<ScsiSeen> {
        let counts = self.counts.as_ref()?;
        Some(ScsiSeen {
            requested: counts.requested.hex(buffer)?,
            done: counts.done.hex(buffer)?,
            errors: counts.errors.hex(buffer)?,
            timeouts: counts.timeouts.as_ref().and_then(|f| f.hex(buffer)),
        })
    }
}

/// How many hardware queues serve the given cores: each core sends to the queue that lists it in `mq/N/cpu_list`.
fn queues_of_cores(root: &Root, disk: &str, cores: &[u32]) -> Option<f64> {
    if cores.is_empty() {
        return None;
    }
    let folder = format!("/sys/block/{disk}/mq");
    let mut used = 0_u32;
    for queue in root.names(&folder) {
        let list = root.text(format!("{folder}/{queue}/cpu_list")).ok()?;
        let listed = crate::facts::parse_cpu_list(&list)?;
        used += u32::from(cores.iter().any(|c| listed.contains(c)));
    }
    // Each core sends ordinary I/O to one queue; a second one that lists it is for polling.
    let used = used.min(cores.len() as u32);
    (used > 0).then_some(f64::from(used))
}
