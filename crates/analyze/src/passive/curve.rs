//! The curve, where the recording suffices for one.

use super::cells::{Cells, PARTS, seen};
use super::window::Sums;
use serde::Serialize;
use stats::station::{Fit, Station, fit};
use stats::student_t_quantile;

/// Windows' time below which nothing is concluded.
const SECONDS_MIN: f64 = 60.0;
/// The response time must have risen by this factor over the unloaded one, or the bend was not visited.
const RISE_MIN: f64 = 1.4;
/// The largest throughput seen must reach this share of the fitted largest one: nothing is claimed far beyond what was
/// seen.
const REACH_MIN: f64 = 0.75;
/// The smallest throughput must be this far below the largest, or the flat part was not visited.
const SPAN_MIN: f64 = 2.0;
/// Relative half width of the interval up to which the limit is told.
const WIDE: f64 = 0.15;
/// Distance from the curve, in logarithms, beyond which no curve describes the recording.
const RESIDUAL_MAX: f64 = 0.25;
/// Response times of the first and the second half may differ by this factor at the same throughput.
const DRIFT_MAX: f64 = 1.4;
/// Share of the time at the highest throughputs that is not taken for the largest one seen.
const TOP_SHARE: f64 = 0.002;

/// What a device carries, read from production load.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Curve {
    /// Throughput that it never exceeds, requests per second.
    pub iops_max: f64,
    /// Its 95 % interval: parts of the recording left out in turn, and the forms of curve that fit about as well.
    pub iops_max_ci95: [f64; 2],
    /// Response time without waiting, microseconds.
    pub response_unloaded_us: f64,
    /// Concurrency at which more buys waiting, not throughput: response unloaded times largest throughput.
    pub knee: f64,
    /// Typical distance of what was seen from the curve: 0.1 is some 10 %.
    pub residual: f64,
    #[serde(skip)]
    pub(crate) station: Station,
}

impl Curve {
    /// Throughput at which the mean response time reaches this; absent where even an unloaded one takes longer.
    pub fn iops_at(&self, response_us: f64) -> Option<f64> {
        self.station.throughput_at(response_us / 1e6)
    }

    /// Mean response time at a throughput, microseconds; absent at and beyond the largest one.
    pub fn response_us_at(&self, iops: f64) -> Option<f64> {
        let response_s = self.station.response_s(iops / self.station.throughput_max);
        response_s.is_finite().then_some(response_s * 1e6)
    }
}

/// Why no limit can be told, and what is sure all the same.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CannotTell {
    /// A word for programs: `too-short`, `flat`, `one-load`, `never-idle`, `far-from-limit`, `not-one-curve`, `changed`, `wide`.
    pub why: &'static str,
    /// In words.
    pub reason: String,
    /// It carried this much for some time, so it carries at least this, requests per second.
    pub iops_at_least: f64,
}

/// Largest throughput that was held for more than a moment.
pub(crate) fn top(cells: &[Sums]) -> f64 {
    let seconds: f64 = cells.iter().map(|c| c.seconds).sum();
    let mut left = (TOP_SHARE * seconds).min(5.0);
    let mut ordered: Vec<&Sums> = cells.iter().collect();
    ordered.sort_by(|a, b| b.iops().total_cmp(&a.iops()));
    for cell in &ordered {
        left -= cell.seconds;
        if left < 0.0 {
            return cell.iops();
        }
    }
    ordered.first().map_or(0.0, |c| c.iops())
}

/// Fits a curve and judges it.
pub(crate) fn curve(cells: &Cells) -> Result<Curve, CannotTell> {
    let all = cells.sums(|_| true);
    let iops_at_least = top(&all);
    let refuse = |why, reason: String| Err(CannotTell { why, reason, iops_at_least });
    let seconds: f64 = all.iter().map(|c| c.seconds).sum();
    if seconds < SECONDS_MIN {
        return refuse(
            "too-short",
            format!("it did I/O for {seconds:.0} s only; a minute of load is the least that says anything"),
        );
    }
    let lowest = all.iter().map(Sums::iops).fold(f64::INFINITY, f64::min);
    let Some(fitted) = fit(&seen(&all), None) else {
        return refuse("one-load", "all of its load was of one throughput".to_owned());
    };
    if let Some((why, reason)) =
        doubtful(&all, &fitted, iops_at_least, lowest).or_else(|| changed(cells, &fitted))
    {
        return refuse(why, reason);
    }
    let station = fitted.station;
    let ci95 = interval(cells, &fitted);
    let half = (ci95[1] / ci95[0]).ln() / 2.0;
    if half > WIDE || ci95[0] < 0.5 * iops_at_least {
        return refuse(
            "wide",
            format!(
                "the load says only that the limit lies between {:.0} and {:.0} requests per second",
                ci95[0].max(iops_at_least),
                ci95[1]
            ),
        );
    }
    Ok(Curve {
        iops_max: station.throughput_max,
        iops_max_ci95: ci95,
        response_unloaded_us: station.response_unloaded_s * 1e6,
        knee: station.servers(),
        residual: fitted.residual,
        station,
    })
}

fn doubtful(all: &[Sums], fitted: &Fit, highest: f64, lowest: f64) -> Option<(&'static str, String)> {
    let station = &fitted.station;
    let unloaded_s = station.response_unloaded_s;
    let busiest: Vec<&Sums> = all.iter().filter(|c| c.iops() >= 0.9 * highest).collect();
    let seconds: f64 = busiest.iter().map(|c| c.seconds).sum();
    let response_s = busiest.iter().map(|c| c.response_s() * c.seconds).sum::<f64>() / seconds.max(1e-9);
    if fitted.residual > RESIDUAL_MAX {
        let bursts = bursts(all);
        let cause = match bursts {
            Some(words) => words,
            None => "the kind of I/O or the neighbours changed, or something else than throughput decides"
                .to_owned(),
        };
        return Some((
            "not-one-curve",
            format!(
                "at one throughput the response times differ by a factor of {:.1}: {cause}",
                (2.0 * fitted.residual).exp()
            ),
        ));
    }
    if highest / lowest < SPAN_MIN {
        return Some((
            "one-load",
            format!(
                "its throughput only varied between {lowest:.0} and {highest:.0} requests per second: without quieter hours \
                 or busier ones there is no curve"
            ),
        ));
    }
    if response_s < RISE_MIN * unloaded_s {
        return Some((
            "flat",
            format!(
                "response times were nearly the same at the lowest load and the highest ({:.2} and {:.2} ms), so the \
                 load never came near a limit",
                unloaded_s * 1e3,
                response_s * 1e3
            ),
        ));
    }
    if highest < REACH_MIN * station.throughput_max {
        return Some((
            "far-from-limit",
            format!(
                "the highest load was {highest:.0} requests per second; the curve points to some {:.0}, which is too far \
                 beyond what was seen to rely on",
                station.throughput_max
            ),
        ));
    }
    let shortest = all.iter().map(|c| c.iops() / station.throughput_max).fold(f64::INFINITY, f64::min);
    (station.response_s(shortest) > 2.0 * unloaded_s).then(|| {
        (
            "never-idle",
            "it was under heavy load all the time, so its unloaded response time was never seen".to_owned(),
        )
    })
}

/// Whether the number at the device peaks far above its mean: bursts shorter than an interval.
fn bursts(all: &[Sums]) -> Option<String> {
    let (mut bursty, mut known) = (0.0, 0.0);
    for cell in all.iter().filter(|c| c.peak > 0.0) {
        known += cell.seconds;
        if cell.peak > 8.0 * cell.standing().max(1.0) {
            bursty += cell.seconds;
        }
    }
    (known > 0.0 && bursty > 0.5 * known).then(|| {
        "I/Os come in bursts that are shorter than an interval (the device queue peaks at more than eight times its mean); \
         record with a shorter --interval"
            .to_owned()
    })
}

/// Whether the first and the second half of the recording lie on different curves.
fn changed(cells: &Cells, fitted: &Fit) -> Option<(&'static str, String)> {
    let middle = cells.parts().len() / 2;
    let level = |sums: &[Sums]| {
        let (mut above, mut weight) = (0.0, 0.0);
        for cell in sums {
            let share = cell.iops() / fitted.station.throughput_max;
            // Near the wall response times say nothing about the curve.
            if share < 0.8 {
                let w = cell.seconds.sqrt();
                above += w * (cell.response_s() / fitted.station.response_s(share)).ln();
                weight += w;
            }
        }
        (weight > 0.0).then(|| above / weight)
    };
    let first = level(&cells.sums(|part| part < middle))?;
    let second = level(&cells.sums(|part| part >= middle))?;
    let factor = (second - first).abs().exp();
    (factor > DRIFT_MAX).then(|| {
        let word = if second > first { "slower" } else { "faster" };
        (
            "changed",
            format!(
                "at the same throughput the second half of the recording was {factor:.1} times {word} than the first: \
                 something changed, look at the two apart"
            ),
        )
    })
}

/// Delete-a-part jackknife of ln X_max (Quenouille, Tukey): parts are hours rather than seconds, so that noise which
/// hangs together is seen as such. Widened by the forms that fit about as well.
fn interval(cells: &Cells, fitted: &Fit) -> [f64; 2] {
    let groups = cells.parts().len().min(PARTS);
    let group = |part: usize| part * groups / cells.parts().len().max(1);
    let logs: Vec<f64> = (0..groups)
        .filter_map(|left_out| fit(&seen(&cells.sums(|part| group(part) != left_out)), Some(fitted.station)))
        .map(|f| f.station.throughput_max.ln())
        .collect();
    let n = logs.len() as f64;
    let [low, high] = fitted.throughput_max_range;
    if n < 4.0 {
        return [0.0, f64::INFINITY];
    }
    let mean = logs.iter().sum::<f64>() / n;
    let variance = (n - 1.0) / n * logs.iter().map(|l| (l - mean).powi(2)).sum::<f64>();
    let half = student_t_quantile(0.975, n - 1.0) * variance.sqrt();
    [low * (-half).exp(), high * half.exp()]
}
