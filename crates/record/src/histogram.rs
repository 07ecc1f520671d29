//! Latency histograms: HdrHistogram in nanoseconds, mergeable without loss.

use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};

/// Smallest latency told apart from its neighbours. A page-cache read completes in several hundred nanoseconds, and two
/// significant digits of that need steps of a few.
pub const LOWEST_NS: u64 = 1;
/// Largest latency kept; anything longer counts as this much. An I/O older than two minutes is a hang, not a latency.
pub const HIGHEST_NS: u64 = 120_000_000_000;
/// Two significant digits: every value is kept to within 1 %.
pub const SIGNIFICANT_DIGITS: u8 = 2;

/// A histogram of latencies in nanoseconds, with the exact sum beside it so that means carry no bucket error.
#[derive(Clone, Debug, PartialEq)]
pub struct LatencyHistogram {
    counts: Histogram<u64>,
    sum_ns: u64,
}

impl Default for LatencyHistogram {
    fn default() -> Self {
        Self::new()
    }
}

impl LatencyHistogram {
    /// An empty histogram over the house's fixed range, so that any two merge.
    pub fn new() -> Self {
        let counts = Histogram::new_with_bounds(LOWEST_NS, HIGHEST_NS, SIGNIFICANT_DIGITS)
            .expect("the bounds are constants that HdrHistogram accepts");
        Self { counts, sum_ns: 0 }
    }

    /// Counts one I/O. Allocates nothing; values beyond the range count as the largest.
    #[inline]
    pub fn record_ns(&mut self, latency_ns: u64) {
        self.counts.saturating_record(latency_ns);
        self.sum_ns = self.sum_ns.saturating_add(latency_ns);
    }

    /// Counts `count` I/Os of one latency.
    #[inline]
    pub fn record_many_ns(&mut self, latency_ns: u64, count: u64) {
        self.counts.saturating_record_n(latency_ns, count);
        self.sum_ns = self.sum_ns.saturating_add(latency_ns.saturating_mul(count));
    }

    /// Counts the I/Os of another histogram's buckets, given as (a latency of the bucket, count), whose exact latencies
    /// add up to `sum_ns`: the mean stays exact where the buckets alone would shift it.
    pub fn record_buckets_ns(&mut self, buckets: impl IntoIterator<Item = (u64, u64)>, sum_ns: u64) {
        for (latency_ns, count) in buckets {
            self.counts.saturating_record_n(latency_ns, count);
        }
        self.sum_ns = self.sum_ns.saturating_add(sum_ns);
    }

    /// Adds all of `other`; exact, and the order of merging does not matter.
    pub fn merge(&mut self, other: &Self) {
        self.counts.add(&other.counts).expect("all histograms of the house share one range");
        self.sum_ns = self.sum_ns.saturating_add(other.sum_ns);
    }

    /// Forgets all I/Os and keeps the memory.
    pub fn clear(&mut self) {
        self.counts.reset();
        self.sum_ns = 0;
    }

    /// Number of I/Os.
    pub fn count(&self) -> u64 {
        self.counts.len()
    }

    /// True when nothing was recorded.
    pub fn is_empty(&self) -> bool {
        self.counts.is_empty()
    }

    /// Exact sum of all latencies.
    pub fn sum_ns(&self) -> u64 {
        self.sum_ns
    }

    /// Exact mean, absent when empty.
    pub fn mean_ns(&self) -> Option<f64> {
        (!self.is_empty()).then(|| self.sum_ns as f64 / self.count() as f64)
    }

    /// The latency that a share `quantile` (0 to 1) of the I/Os did not exceed, to within 1 %; absent when empty.
    pub fn quantile_ns(&self, quantile: f64) -> Option<u64> {
        (!self.is_empty()).then(|| self.counts.value_at_quantile(quantile))
    }

    /// Largest latency, to within 1 %; absent when empty.
    pub fn max_ns(&self) -> Option<u64> {
        (!self.is_empty()).then(|| self.counts.max())
    }

    /// Smallest latency, to within 1 %; absent when empty.
    pub fn min_ns(&self) -> Option<u64> {
        (!self.is_empty()).then(|| self.counts.min())
    }

    /// I/Os that took longer than `limit_ns`. The bucket that holds the limit counts as within it (at most 1 % off).
    pub fn count_above_ns(&self, limit_ns: u64) -> u64 {
        self.count() - self.counts.count_between(0, limit_ns)
    }

    /// Non-empty buckets as (largest latency of the bucket in ns, count), ascending.
    pub fn buckets(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.counts.iter_recorded().map(|b| (b.value_iterated_to(), b.count_since_last_iteration()))
    }

    /// The standard HdrHistogram V2 encoding, which other tools read.
    pub fn to_v2_bytes(&self) -> Vec<u8> {
        use hdrhistogram::serialization::{Serializer, V2Serializer};
        let mut bytes = Vec::new();
        V2Serializer::new().serialize(&self.counts, &mut bytes).expect("writing to memory cannot fail");
        bytes
    }

    /// Reads [`Self::to_v2_bytes`] back; the exact sum is stored beside it by whoever keeps both.
    pub fn from_v2_bytes(bytes: &[u8], sum_ns: u64) -> Result<Self, String> {
        let read: Histogram<u64> = hdrhistogram::serialization::Deserializer::new()
            .deserialize(&mut &bytes[..])
            .map_err(|e| format!("not an HdrHistogram V2 record: {e:?}"))?;
        let mut whole = Self::new();
        whole.counts.add(&read).map_err(|e| format!("histogram beyond the range of this house: {e:?}"))?;
        whole.sum_ns = sum_ns;
        Ok(whole)
    }
}

/// JSON form: exact sum and the non-empty buckets.
#[derive(Serialize, Deserialize)]
struct Stored {
    sum_ns: u64,
    buckets_ns: Vec<(u64, u64)>,
}

impl Serialize for LatencyHistogram {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Stored { sum_ns: self.sum_ns, buckets_ns: self.buckets().collect() }.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for LatencyHistogram {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let stored = Stored::deserialize(deserializer)?;
        let mut whole = Self::new();
        for (value_ns, count) in stored.buckets_ns {
            whole.counts.saturating_record_n(value_ns, count);
        }
        whole.sum_ns = stored.sum_ns;
        Ok(whole)
    }
}
