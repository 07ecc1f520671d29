//! A recording beside an earlier probe of the same path.

use super::device::Moment;
use serde::Serialize;

/// Mean sizes of requests further apart than this cannot be compared by their number.
const SIZE_FACTOR: f64 = 1.5;
/// Shares of reads further apart than this deserve a word.
const READ_SHARE_APART: f64 = 0.2;

/// What a probe found, as one device of its path saw it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ProbeLine {
    /// Requests per second at the device when the path stood at its load line.
    pub iops: f64,
    /// Its 95 % interval.
    pub ci95: [f64; 2],
    /// Mean size of a request there, bytes.
    pub request_bytes: Option<f64>,
    /// Share of reads in the probe's load.
    pub read_share: f64,
    /// The limit that the load line holds.
    pub limit: String,
}

/// How far the recorded load came.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ProbeShare {
    /// Busiest ten seconds of the last day over the load line.
    pub share: f64,
    /// Its 95 % interval, from that of the load line.
    pub ci95: [f64; 2],
    /// The probe's side.
    pub probe: ProbeLine,
    /// What to keep in mind.
    pub caution: Option<String>,
}

/// The share; or why the two cannot be compared.
pub fn compare(peak: &Moment, probe: &ProbeLine) -> Result<ProbeShare, String> {
    if probe.iops <= 0.0 || !probe.iops.is_finite() {
        return Err("the probe found no load line for this device".to_owned());
    }
    if let Some(probed) = probe.request_bytes {
        let factor = peak.request_bytes / probed;
        if !(1.0 / SIZE_FACTOR..=SIZE_FACTOR).contains(&factor) {
            return Err(format!(
                "the recorded requests are of {:.1} KiB, those of the probe were of {:.1} KiB: their numbers cannot be \
                 compared; probe with --block {:.0}k",
                peak.request_bytes / 1024.0,
                probed / 1024.0,
                (peak.request_bytes / 1024.0).round().max(1.0)
            ));
        }
    }
    let apart = (peak.read_share - probe.read_share).abs() > READ_SHARE_APART;
    let caution = apart.then(|| {
        format!(
            "{:.0} % of the recorded requests are reads, of the probe's {:.0} %: writes may cost more or less",
            100.0 * peak.read_share,
            100.0 * probe.read_share
        )
    });
    let [low, high] = probe.ci95.map(|end| peak.iops / end.max(1e-9));
    Ok(ProbeShare { share: peak.iops / probe.iops, ci95: [high, low], probe: probe.clone(), caution })
}
