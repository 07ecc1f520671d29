//! Curves with a known truth, built window by window.
#![allow(dead_code, reason = "each test file uses its own part")]

use record::follow::How;
use record::{
    ClassSeen, CoreSeen, CpuSeen, Demand, Ended, HostSeen, IoPath, LatencyHistogram, Layer, LayerKind,
    LayerSeen, Limit, LimitKind, Load, Phase, Slice, Standing, Step, SubjectFacts, Tunable,
};

pub const BLOCK: u64 = 8192;

/// Where the I/Os of one window stand.
#[derive(Clone, Copy, Default)]
pub struct Stand {
    pub n: u32,
    pub iops: f64,
    pub host: f64,
    pub device: f64,
    /// Share of a core the load thread works.
    pub busy: f64,
}

pub fn known(mean: f64) -> Standing {
    Standing::known(mean, How::Counter { file: "/sys/block/sda/stat".into() })
}

pub fn layer_seen(name: &str, iops: f64, host: f64, device: f64, limit: Option<f64>) -> LayerSeen {
    LayerSeen {
        name: name.into(),
        requests_per_s: iops,
        mib_per_s: iops * BLOCK as f64 / (1 << 20) as f64,
        request_bytes_mean: Some(BLOCK as f64),
        merges_per_s: 0.0,
        inside: known(host + device),
        host_queue: known(host),
        device_queue: known(device),
        device_queue_peak: Some(device),
        response_us: Some((host + device) / iops * 1e6),
        host_wait_us: Some(host / iops * 1e6),
        service_us: Some(device / iops * 1e6),
        device_queue_limit: limit,
        device_queue_limit_range: limit.map(|l| (l, l)),
        little_error: None,
        scsi: None,
        tag_sharing: None,
    }
}

/// One second at concurrency `n`, response N/X, its layers as given.
pub fn step(n: u32, iops: f64, busy: f64, layers: Vec<LayerSeen>) -> Step {
    let response_ns = (f64::from(n) / iops * 1e9) as u64;
    let slice = |k: u32| {
        let mut latency = LatencyHistogram::new();
        latency.record_many_ns(response_ns, (iops / 10.0).round() as u64);
        let bytes = latency.count() * BLOCK;
        Slice {
            start_s: f64::from(k) * 0.1,
            length_s: 0.1,
            read: ClassSeen { latency: Some(latency), bytes, errors: 0 },
            outstanding_mean: f64::from(n),
            ..Slice::default()
        }
    };
    Step {
        load: Load { demand: Demand::Closed { concurrency: n }, measure_s: 1.0, phase: Phase::Rise },
        start_s: 0.0,
        settle_s: 0.2,
        measured_s: 1.0,
        slices: (0..10).map(slice).collect(),
        layers,
        cpu: Some(CpuSeen {
            user_us_per_io: 0.1 * busy / iops * 1e6,
            sys_us_per_io: 0.9 * busy / iops * 1e6,
            irq_us_per_io: None,
            busiest_worker: busy,
            iops_per_core: Some(iops / busy.max(1e-6)),
            cores: vec![CoreSeen { cpu: 0, system: busy, idle: 1.0 - busy, ..CoreSeen::default() }],
        }),
        host: Some(HostSeen::default()),
        doubts: Vec::new(),
        starved: record::Starved::default(),
        incidents: record::Incidents::default(),
        ended: Ended::Complete,
    }
}

pub fn limit(kind: LimitKind, value: f64, file: &str) -> Limit {
    Limit { kind, value, file: file.into(), live: true }
}

/// A block layer with the limits of a SCSI disk.
pub fn scsi(name: &str, queue_depth: f64, nr_requests: f64, scheduler: &str) -> Layer {
    Layer {
        kind: LayerKind::Scsi,
        name: name.into(),
        label: None,
        stable_id: None,
        dev: Some("8:0".into()),
        below: Vec::new(),
        has_counters: true,
        limits: vec![
            limit(LimitKind::LunQueueDepth, queue_depth, &format!("/sys/block/{name}/device/queue_depth")),
            limit(LimitKind::RequestsPerQueue, nr_requests, &format!("/sys/block/{name}/queue/nr_requests")),
            limit(LimitKind::HardwareQueues, 1.0, &format!("/sys/block/{name}/mq")),
            limit(LimitKind::HostCanQueue, 256.0, "/sys/class/scsi_host/host0/can_queue"),
        ],
        tunables: vec![Tunable {
            name: "scheduler".into(),
            value: scheduler.into(),
            allowed: vec!["none".into(), "mq-deadline".into()],
            file: format!("/sys/block/{name}/queue/scheduler"),
        }],
        facts: Vec::new(),
    }
}

pub fn other(kind: LayerKind, name: &str, below: &[&str], has_counters: bool) -> Layer {
    Layer {
        kind,
        name: name.into(),
        label: None,
        stable_id: None,
        dev: None,
        below: below.iter().map(|b| (*b).to_owned()).collect(),
        has_counters,
        limits: Vec::new(),
        tunables: Vec::new(),
        facts: Vec::new(),
    }
}

pub fn path(layers: Vec<Layer>) -> IoPath {
    IoPath { target: "/data".into(), layers, complaints: Vec::new() }
}

pub fn subject(path: IoPath) -> SubjectFacts {
    SubjectFacts {
        target: "/data".into(),
        kind: "simulated".into(),
        workload: "8 KiB random reads".into(),
        block_bytes: BLOCK,
        write_percent: 0.0,
        engine: "io_uring".into(),
        workers: 1,
        cores: vec![0],
        region_bytes: 1 << 40,
        direct: true,
        concurrency_max: 1024,
        open_loop: true,
        path: Some(path),
    }
}
