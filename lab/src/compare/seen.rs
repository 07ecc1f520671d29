//! The fields of `plimsoll probe --json` that are compared. Absent is null.

use crate::outcome::JobOutcome;
use serde::Deserialize;

/// The document.
#[derive(Clone, Debug, Deserialize)]
pub struct Probe {
    /// The first line.
    #[serde(default)]
    pub verdict: Option<String>,
    /// The knee.
    #[serde(default)]
    pub knee: Option<Knee>,
    /// The verdict.
    pub bound_by: Bound,
    /// One per concurrency.
    pub steps: Vec<Step>,
    /// Warnings.
    #[serde(default)]
    pub warnings: Vec<Warning>,
}

/// The knee.
#[derive(Clone, Debug, Deserialize)]
pub struct Knee {
    /// Where.
    pub concurrency: Option<f64>,
}

/// The verdict.
#[derive(Clone, Debug, Deserialize)]
pub struct Bound {
    /// Its word.
    pub layer: String,
    /// One sentence.
    #[serde(default)]
    pub headline: String,
    /// Numbers, one sentence each.
    #[serde(default)]
    pub evidence: Vec<String>,
    /// What to try.
    #[serde(default)]
    pub advice: Vec<Advice>,
}

/// Something to try.
#[derive(Clone, Debug, Deserialize)]
pub struct Advice {
    /// The file.
    pub file: Option<String>,
    /// The value.
    pub try_value: Option<String>,
    /// The rate expected.
    pub expected_iops: Option<f64>,
    /// At this concurrency.
    pub expected_concurrency: Option<f64>,
}

/// One concurrency.
#[derive(Clone, Debug, Deserialize)]
pub struct Step {
    /// I/Os outstanding.
    pub concurrency: u32,
    /// Rate.
    pub iops: Option<f64>,
    /// Response times.
    pub response_us: Option<Response>,
    /// Standing above.
    pub above: Option<f64>,
    /// Standing in the host.
    pub host_queue: Option<f64>,
    /// Standing at the device.
    pub device_queue: Option<f64>,
}

/// Response times.
#[derive(Clone, Debug, Deserialize)]
pub struct Response {
    /// Mean.
    pub mean: Option<f64>,
}

/// A warning.
#[derive(Clone, Debug, Deserialize)]
pub struct Warning {
    /// Its words.
    pub text: String,
}

impl Probe {
    /// The document of a job; the error says what is wrong with it.
    pub fn read(done: &JobOutcome) -> Result<Self, String> {
        let Some(value) = &done.probe else {
            let stderr = done.stderr.lines().last().unwrap_or("nothing on standard error");
            return Err(format!("no document; {stderr}"));
        };
        Self::deserialize(value).map_err(|e| format!("not readable: {e}"))
    }

    /// The largest concurrency measured.
    pub fn most(&self) -> Option<u32> {
        self.steps.iter().map(|s| s.concurrency).max()
    }

    /// Throughput at a concurrency, on the straight line between its neighbours; absent outside what was measured.
    pub fn iops_at(&self, concurrency: f64) -> Option<f64> {
        let mut points: Vec<(f64, f64)> =
            self.steps.iter().filter_map(|s| Some((f64::from(s.concurrency), s.iops?))).collect();
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        let below = points.iter().rev().find(|p| p.0 <= concurrency)?;
        let above = points.iter().find(|p| p.0 >= concurrency)?;
        let way = if above.0 > below.0 { (concurrency - below.0) / (above.0 - below.0) } else { 0.0 };
        Some(below.1 + way * (above.1 - below.1))
    }
}
