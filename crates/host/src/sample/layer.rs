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

/// The instant of a reading hangs together with what the cores are doing within about this time: a completion or a
/// wake-up. Sampled means are off by up to X times this; at 6.18 on two busy cores half of it was seen.
const UNFAIR_S: f64 = 50e-6;

/// Sampled means whose unfairness may exceed this share of what is inside are not taken for values.
const UNFAIR_SHARE: f64 = 0.25;

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
    /// Whether the in-flight field of `stat` is known to count what is accepted, not only what was sent.
    pub counts_accepted: bool,
    /// Whether a LUN queue depth can hold requests back behind the scheduler.
    pub lun: bool,
    /// I/Os at this layer or waiting for it, at most; absent where that cannot be told.
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
        let device_queue = self.device_queue(&inside, &delta, response_s);
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
            device_queue_peak: (self.instants.sent.count > 0).then_some(self.instants.sent.max),
            device_queue_limit: (limit.count > 0).then_some(self.instants.bounds.device).flatten(),
            device_queue_limit_range: (limit.count > 0).then_some((limit.min, limit.max)),
            little_error,
            scsi: self.scsi.map(|(before, after)| scsi_between(&before, &after)),
            tag_sharing: None,
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

    fn device_queue(&self, inside: &Standing, delta: &StatDelta, response_s: Option<f64>) -> Standing {
        if self.kind != QueueKind::RequestBased {
            let rule = match self.kind {
                QueueKind::Partition => {
                    "a partition has no queue of its own: all of its requests are its disk's"
                }
                _ => "bio-based: what it accepts it passes on at once",
            };
            return Standing { how: How::Derived { rule: rule.to_owned() }, ..inside.clone() };
        }
        let most = self.instants.bounds.device.map_or(inside.high, |limit| limit.min(inside.high)).max(0.0);
        let seen = self.instants;
        if seen.sent.count < SAMPLES_MIN {
            return Standing::between(0.0, most, "too few readings of the requests in flight");
        }
        let how = How::Sampled { file: self.sent_file.clone(), samples: seen.sent.count };
        if self.counts_accepted {
            return self.share_sent(inside, response_s, how);
        }
        let doubled =
            2.0 * seen.sent.standard_error(self.period_s(seen.sent.count), response_s.unwrap_or(0.0));
        let unfair = delta.requests as f64 / self.length_s.max(1e-9) * UNFAIR_S;
        let (low, high) = (seen.sent.mean - doubled - unfair, seen.sent.mean + doubled + unfair);
        if unfair <= UNFAIR_SHARE * inside.high.max(DISAGREE_INSIDE_MIN) {
            return Standing { mean: Some(seen.sent.mean), low: low.max(0.0), high, how };
        }
        if self.unscheduled && !self.lun {
            // Nothing can hold a request back between its driver tag and the driver, but a full plug or ring.
            let rule = "no scheduler: what is accepted has a driver tag and is sent at once".to_owned();
            return Standing { how: How::Derived { rule }, ..inside.clone() };
        }
        let why = "requests are too short to be met at fair instants, and this kernel has no second count";
        Standing::between(low.clamp(0.0, most), most, why)
    }

    /// The share of what is inside that was sent, from pairs of readings, times what is inside by its durations.
    fn share_sent(&self, inside: &Standing, response_s: Option<f64>, how: How) -> Standing {
        let whole = inside.mean.unwrap_or(0.0);
        let pair = &self.instants.pair;
        match pair.ratio(self.period_s(pair.count), response_s.unwrap_or(0.0)) {
            Some((share, error)) => Standing {
                mean: Some(whole * share.min(1.0)),
                low: (inside.low * (share - 2.0 * error)).max(0.0),
                high: inside.high * (share + 2.0 * error).min(1.0),
                how,
            },
            // Never anything in flight at any reading: what was inside came and went between them.
            None => Standing { mean: None, low: 0.0, high: inside.high, how },
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

    /// Compares two independent means of what is inside: by durations and by readings of the in-flight field.
    ///
    /// That field must count what is accepted: it does on bio-based devices, and on others since 6.16; before that
    /// it does where nothing can be held back (no scheduler, no LUN). And readings must be fair to 5 %: requests of
    /// at least [`UNFAIR_S`] / 5 %, 1 ms.
    fn little_error(
        &self,
        inside: &Standing,
        response_s: Option<f64>,
        doubts: &mut Vec<Doubt>,
    ) -> Option<f64> {
        let counted = inside.mean?;
        let response_s = response_s?;
        let read = &self.instants.inside;
        let held_back = self.kind != QueueKind::BioBased && (self.lun || !self.unscheduled);
        let independent = self.counts_accepted || !held_back;
        let fair = response_s * DISAGREE_SHARE >= UNFAIR_S;
        if read.count < SAMPLES_MIN || !independent || !fair || counted.max(read.mean) < DISAGREE_INSIDE_MIN {
            return None;
        }
        let error = read.standard_error(self.period_s(read.count), response_s);
        let difference = (counted - read.mean).abs();
        let share = difference / counted.max(read.mean);
        let grain = if self.kind == QueueKind::BioBased { self.jiffy_error(counted) } else { 0.0 };
        let allowed = 3.0 * error.hypot(grain) + self.edge_error(Some(response_s));
        if share > DISAGREE_SHARE && difference > allowed {
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
pub(crate) fn scsi_between(before: &ScsiSeen, after: &ScsiSeen) -> ScsiSeen {
    let delta = |before: u64, after: u64| u64::from((after as u32).wrapping_sub(before as u32));
    ScsiSeen {
        requested: delta(before.requested, after.requested),
        done: delta(before.done, after.done),
        errors: delta(before.errors, after.errors),
        timeouts: before.timeouts.zip(after.timeouts).map(|(b, a)| delta(b, a)),
    }
}
