//! Which layer stops the path: the answer's types.

use crate::outlook::Outlook;
use serde::{Deserialize, Serialize};

/// The layer where added I/Os stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BoundLayer {
    /// Too little load to fill the path.
    Concurrency,
    /// Processor time of the load threads or the interrupts.
    Cpu,
    /// Above the block layer: locks, page cache, device mapper.
    Above,
    /// A cap on rate: cgroup, cloud volume.
    Throttle,
    /// The host queue: nr_requests, host tags, scheduler.
    HostQueue,
    /// The LUN queue depth.
    DeviceQueueLimit,
    /// Multipath, HBA, link.
    Path,
    /// Device, port or array, its invisible slots included.
    Device,
    /// Cannot tell.
    Unknown,
}

impl BoundLayer {
    /// The word used in JSON and text.
    pub fn word(self) -> &'static str {
        match self {
            Self::Concurrency => "concurrency",
            Self::Cpu => "cpu",
            Self::Above => "above",
            Self::Throttle => "throttle",
            Self::HostQueue => "host-queue",
            Self::DeviceQueueLimit => "device-queue-limit",
            Self::Path => "path",
            Self::Device => "device",
            Self::Unknown => "unknown",
        }
    }
}

/// The verdict.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BoundBy {
    /// Where added I/Os stand.
    pub layer: BoundLayer,
    /// One sentence for the first line of the report.
    pub headline: String,
    /// The numbers it rests on, one sentence each.
    pub evidence: Vec<String>,
    /// The counter or experiment that would prove it wrong.
    pub refuted_by: String,
    /// The next most likely layer and what speaks for it.
    pub runner_up: Option<(BoundLayer, String)>,
    /// What to try, best first.
    pub advice: Vec<Advice>,
}

/// Something to try.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Advice {
    /// What to do, one sentence.
    pub text: String,
    /// The file to change, when it is one file.
    pub file: Option<String>,
    /// Its present value.
    pub now: Option<String>,
    /// The value to try, as the file takes it.
    pub try_value: Option<String>,
    /// What it should give, with the model's words.
    pub expected: Option<String>,
    /// Throughput once this change and those listed before it are made, by the model; absent where the model does not
    /// hold.
    #[serde(default)]
    pub expected_iops: Option<f64>,
    /// The concurrency at which that throughput is expected.
    #[serde(default)]
    pub expected_concurrency: Option<u32>,
}

impl Advice {
    /// Something to do that is no write to a file.
    pub fn words(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }

    /// A value to write to a file.
    pub fn change(
        text: impl Into<String>,
        file: &str,
        now: impl Into<String>,
        try_value: impl Into<String>,
    ) -> Self {
        Self {
            text: text.into(),
            file: Some(file.to_owned()),
            now: Some(now.into()),
            try_value: Some(try_value.into()),
            ..Self::default()
        }
    }

    /// With what the model says of it, if it says something.
    pub fn expecting(mut self, outlook: &Outlook) -> Self {
        self.expected = Some(outlook.words.clone());
        self.expected_iops = outlook.iops;
        self.expected_concurrency = outlook.iops.map(|_| outlook.concurrency);
        self
    }
}
