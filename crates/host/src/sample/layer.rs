//! From readings of one layer to [`LayerSeen`]: pure arithmetic, by the rules in the head of [`super`].

use super::sampler::Instants;
use super::sources::QueueKind;
use super::stat::{BlockStat, StatDelta};
use record::{Doubt, DoubtId, How, LayerSeen, ScsiSeen, Standing, Weight};

/// Fewest readings that make a mean.
const SAMPLES_MIN: u64 = 5;

/// Two independent means of one number may differ by this share before it is said (design: above 5 %).
const DISAGREE_SHARE: f64 = 0.05;

/// Below half an I/O a relative difference means nothing.
const DISAGREE_INSIDE_MIN: f64 = 0.5;

/// Longest jiffy in use (HZ=100). Devices that pass bios on time them in jiffies.
const JIFFY_S: f64 = 0.01;

/// Share of readings at the limit from which submitters must have waited for a free request.
const EXHAUSTED_SHARE: f64 = 0.05;

/// Everything known of one layer in one window.
#[derive(Clone, Debug)]
pub(crate) struct Observation<'a> {
    pub name: &'a str,
    pub kind: QueueKind,
    pub stat_file: &'a str,
    pub sent_file: String,
    /// Own clock between the two readings of `stat`.
    pub length_s: f64,
    pub before: BlockStat,
    pub after: BlockStat,
    pub scsi: Option<(ScsiSeen, ScsiSeen)>,
    pub instants: &'a Instants,
    /// Whether the driver is reached without a scheduler.
    pub unscheduled: bool,
    /// I/Os the generator had outstanding beyond what stands inside this layer; absent where this layer is one of
    /// several side by side.
    pub outstanding: Option<f64>,
}

/// What one layer tells.
pub(crate) struct Seen {
    pub layer: LayerSeen,
    pub delta: StatDelta,
    pub doubts: Vec<Doubt>,
}

impl Observation<'_> {
    /// `None` when the counters were reset in the window.
    pub fn seen(&self) -> Option<Seen> {
        let delta = StatDelta::between(&self.before, &self.after, self.length_s)?;
        let length_s = self.length_s.max(1e-9);
        let response_s = (delta.ios > 0).then(|| delta.io_s / delta.ios as f64);
        let inside = self.inside(&delta, response_s);
        let device_queue = self.device_queue(&inside, response_s);
        let mut doubts = Vec::new();
        let host_queue = self.host_queue(&inside, &device_queue, &mut doubts);
        let little_error = self.little_error(&inside, response_s, &mut doubts);
        let per_request_us = |standing: &Standing| {
            let mean = standing.mean.filter(|_| delta.requests > 0)?;
            Some(mean * length_s / delta.requests as f64 * 1e6)
        };
        let limit = &self.instants.device_limit;
        let layer = LayerSeen {
            name: self.name.to_owned(),
            requests_per_s: delta.ios as f64 / length_s,
            mib_per_s: delta.bytes as f64 / f64::from(1 << 20) / length_s,
            request_bytes_mean: (delta.ios > 0).then(|| delta.bytes as f64 / delta.ios as f64),
            merges_per_s: delta.merges as f64 / length_s,
            host_wait_us: per_request_us(&host_queue),
            service_us: per_request_us(&device_queue),
            response_us: response_s.map(|s| s * 1e6),
            device_queue_peak: self.sent().filter(|m| m.count > 0).map(|m| m.max),
            device_queue_limit: (limit.count > 0).then_some(self.instants.bounds.device).flatten(),
            device_queue_limit_range: (limit.count > 0).then_some((limit.min, limit.max)),
            little_error,
            scsi: self.scsi.map(|(before, after)| scsi_between(&before, &after)),
            inside,
            host_queue,
            device_queue,
        };
        Some(Seen { layer, delta, doubts })
    }

    /// X times the mean residence of what completed in the window, and how far the edges may move it.
    fn inside(&self, delta: &StatDelta, response_s: Option<f64>) -> Standing {
        let length_s = self.length_s.max(1e-9);
        let mean = delta.all_s / length_s;
        let edge = self.edge_error(response_s);
        let grain = match self.kind {
            QueueKind::BioBased => 2.0 * self.jiffy_error(mean),
            // Each of the four sums is cut to a whole millisecond at both ends.
            _ => 4e-3 / length_s,
        };
        let how = How::Counter { file: self.stat_file.to_owned() };
        Standing { mean: Some(mean), low: (mean - edge - grain).max(0.0), high: mean + edge + grain, how }
    }

    /// Requests in flight at an end of the window are counted whole where they complete. Each such end adds or
    /// hides at most its number times the response time.
    fn edge_error(&self, response_s: Option<f64>) -> f64 {
        let ends = self.before.in_flight.max(self.after.in_flight) as f64;
        ends * response_s.unwrap_or(0.0) / self.length_s.max(1e-9)
    }

    /// Standard error of durations counted in whole jiffies: an I/O of length r < J shows as J with probability r/J,
    /// so the sum over n of them has variance n r J at most.
    fn jiffy_error(&self, inside: f64) -> f64 {
        (inside * JIFFY_S / self.length_s.max(1e-9)).sqrt()
    }

    /// Readings of what was sent to the driver.
    fn sent(&self) -> Option<&super::moments::Moments> {
        let seen = self.instants;
        [&seen.busy, &seen.sent].into_iter().find(|m| m.count > 0)
    }

    fn device_queue(&self, inside: &Standing, response_s: Option<f64>) -> Standing {
        if self.kind != QueueKind::RequestBased {
            let rule = match self.kind {
                QueueKind::Partition => {
                    "a partition has no queue of its own: all of its requests are its disk's"
                }
                _ => "bio-based: what it accepts it passes on at once",
            };
            return Standing { how: How::Derived { rule: rule.to_owned() }, ..inside.clone() };
        }
        let most = self.instants.bounds.device.map_or(inside.high, |limit| limit.min(inside.high));
        let Some(sent) = self.sent().filter(|m| m.count >= SAMPLES_MIN) else {
            return Standing::between(0.0, most.max(0.0), "too few readings of the requests in flight");
        };
        let doubled = 2.0 * sent.standard_error(self.period_s(sent.count), response_s.unwrap_or(0.0));
        Standing {
            mean: Some(sent.mean),
            low: (sent.mean - doubled).max(0.0),
            high: sent.mean + doubled,
            how: How::Sampled { file: self.sent_file.clone(), samples: sent.count },
        }
    }

    fn period_s(&self, count: u64) -> f64 {
        self.length_s / count.max(1) as f64
    }

    fn host_queue(&self, inside: &Standing, device: &Standing, doubts: &mut Vec<Doubt>) -> Standing {
        if self.kind != QueueKind::RequestBased {
            let rule = "no queue of its own".to_owned();
            return Standing::known(0.0, How::Derived { rule });
        }
        let low = (inside.low - device.high).max(0.0);
        let high = (inside.high - device.low).max(0.0);
        let mean = match (inside.mean, device.mean) {
            (Some(inside), Some(device)) => Some((inside - device).max(0.0)),
            _ => None,
        };
        let waiters = self.waiters(inside);
        if let Some((waiters, why)) = waiters {
            doubts.push(Doubt { id: DoubtId::SplitUnknown, weight: Weight::Note, text: why.clone() });
            return Standing { mean: None, low, high: high + waiters, how: How::Bounded { why } };
        }
        let Some(mean) = mean else {
            return Standing::between(low, high, "the number at the device is not known");
        };
        let rule = "accepted (stat) minus sent (in flight), not below 0".to_owned();
        Standing { mean: Some(mean), low: low.min(mean), high: high.max(mean), how: How::Derived { rule } }
    }

    /// When all requests that may be allocated were taken at times, submitters waited for a free one. No counter
    /// looks there: they are among the I/Os outstanding above this layer.
    fn waiters(&self, inside: &Standing) -> Option<(f64, String)> {
        let accepted = self.instants.bounds.accepted?;
        let share = self.instants.at_accepted as f64 / self.instants.inside.count.max(1) as f64;
        let above = self.outstanding? - inside.mean?;
        if share < EXHAUSTED_SHARE || above < 0.5 {
            return None;
        }
        let what =
            if self.unscheduled { "driver tags (no scheduler)" } else { "scheduler tags (nr_requests)" };
        let text = format!(
            "{}: all {accepted:.0} {what} were taken in {:.0} % of the readings; waiters for a tag stand above the \
             counters: up to {above:.1} I/Os more may stand in the host queue than it shows",
            self.name,
            100.0 * share
        );
        Some((above, text))
    }

    /// Compares the two independent means of what is inside: by durations and by readings.
    ///
    /// Before 6.16 the in-flight field of a request-based device counts only what was sent to the driver. Where the
    /// readings of both files agree with each other and stay below the durations, that may be the cause (or nothing
    /// waits), so no claim is made.
    fn little_error(
        &self,
        inside: &Standing,
        response_s: Option<f64>,
        doubts: &mut Vec<Doubt>,
    ) -> Option<f64> {
        let counted = inside.mean?;
        let read = &self.instants.inside;
        if read.count < SAMPLES_MIN || counted.max(read.mean) < DISAGREE_INSIDE_MIN {
            return None;
        }
        let error = read.standard_error(self.period_s(read.count), response_s.unwrap_or(0.0));
        let started_only =
            self.kind != QueueKind::BioBased && (read.mean - self.instants.sent.mean).abs() <= 3.0 * error;
        if started_only && read.mean < counted && !self.unscheduled {
            return None;
        }
        let difference = (counted - read.mean).abs();
        let share = difference / counted.max(read.mean);
        let grain = if self.kind == QueueKind::BioBased { self.jiffy_error(counted) } else { 0.0 };
        let allowed = 3.0 * error.hypot(grain) + self.edge_error(response_s);
        // Requests held back in a plug are inside and not sent; on older kernels that is all the difference there is.
        let plugged = started_only && read.mean < counted;
        if share > DISAGREE_SHARE && difference > allowed && !plugged {
            doubts.push(Doubt {
                id: DoubtId::CountersDisagree,
                weight: Weight::Caution,
                text: format!(
                    "{}: {counted:.2} I/Os inside by their durations, {:.2} by {} readings (standard error {error:.2}): \
                     the counters disagree by {:.0} %",
                    self.name,
                    read.mean,
                    read.count,
                    100.0 * share
                ),
            });
        }
        Some(share)
    }
}

/// SCSI's counters are 32 bits wide and wrap.
fn scsi_between(before: &ScsiSeen, after: &ScsiSeen) -> ScsiSeen {
    let delta = |before: u64, after: u64| u64::from((after as u32).wrapping_sub(before as u32));
    ScsiSeen {
        requested: delta(before.requested, after.requested),
        done: delta(before.done, after.done),
        errors: delta(before.errors, after.errors),
        timeouts: before.timeouts.zip(after.timeouts).map(|(b, a)| delta(b, a)),
    }
}
