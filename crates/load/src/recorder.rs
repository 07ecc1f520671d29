//! The histogram of the hot path: a flat log-linear array, one addition per I/O.
//!
//! Values below 256 ns have a bucket each; above, every power of two is cut into 128 equal buckets, so a bucket is
//! never wider than 1/128 = 0.8 % of its values. The buckets are those of the house's [`LatencyHistogram`] (its
//! width at value v in [2^m, 2^(m+1)) is max(1, 2^(m-7))), therefore
//! [`Recorder::pour_into`] is exact: the same counts as if each value had been recorded there. It costs 16 KiB and
//! 3-4 ns per I/O where `hdrhistogram` needs 10-15 ns.

use record::LatencyHistogram;
use record::histogram::HIGHEST_NS;

/// log2 of the buckets per power of two.
const SUB_BITS: u32 = 7;
/// Buckets: values up to HIGHEST_NS < 2^37 shift by at most 29, so the largest index is 29 * 128 + 255 = 3967.
const BUCKETS: usize = 4096;
const _: () = assert!(HIGHEST_NS < 1 << 37);
const _: () = assert!(29 * 128 + 255 < BUCKETS);

/// Counts of latencies in nanoseconds, and their exact sum.
#[derive(Clone, Debug)]
pub struct Recorder {
    counts: Box<[u32; BUCKETS]>,
    sum_ns: u64,
    count: u64,
    /// Bit s: some value with shift s was counted; pouring and clearing look at those 128 buckets only.
    shifts: u32,
}

impl Default for Recorder {
    fn default() -> Self {
        Self { counts: Box::new([0; BUCKETS]), sum_ns: 0, count: 0, shifts: 0 }
    }
}

/// Bucket of a value and the shift it belongs to.
#[inline]
fn bucket(value_ns: u64) -> (usize, u32) {
    let value = value_ns.min(HIGHEST_NS);
    let shift = (u64::BITS - (value | 0xFF).leading_zeros()) - (SUB_BITS + 1);
    (((shift << SUB_BITS) as usize) + (value >> shift) as usize, shift)
}

/// Smallest value of a bucket.
fn bucket_low_ns(index: usize) -> u64 {
    let shift = (index >> SUB_BITS).saturating_sub(1) as u64;
    (index as u64 - (shift << SUB_BITS)) << shift
}

impl Recorder {
    /// Counts one latency. No allocation, no branch that depends on the value.
    #[inline]
    pub fn record(&mut self, latency_ns: u64) {
        let (index, shift) = bucket(latency_ns);
        // The mask never changes the index (see BUCKETS); it spares the bounds check.
        self.counts[index & (BUCKETS - 1)] += 1;
        self.sum_ns += latency_ns;
        self.count += 1;
        self.shifts |= 1 << shift;
    }

    /// Values counted.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Exact sum.
    pub fn sum_ns(&self) -> u64 {
        self.sum_ns
    }

    /// Non-empty buckets as (smallest value of the bucket, count), ascending.
    pub fn buckets(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        (0..u32::BITS).filter(|s| self.shifts >> s & 1 == 1).flat_map(move |shift| {
            Self::span(shift).filter_map(move |i| {
                let count = u64::from(self.counts[i]);
                (count > 0).then(|| (bucket_low_ns(i), count))
            })
        })
    }

    /// The value below which a share `quantile` of the counted values lies, to within 0.8 %; absent when empty.
    pub fn quantile_ns(&self, quantile: f64) -> Option<u64> {
        let rank = ((self.count as f64 * quantile).ceil() as u64).max(1);
        let mut seen = 0;
        self.buckets().find_map(|(value, count)| {
            seen += count;
            (seen >= rank).then_some(value)
        })
    }

    /// Adds all counts to a histogram of the house, exactly, and the exact sum.
    pub fn pour_into(&self, histogram: &mut LatencyHistogram) {
        histogram.record_buckets_ns(self.buckets(), self.sum_ns);
    }

    /// Adds all counts of `other`.
    pub fn merge(&mut self, other: &Self) {
        for shift in (0..u32::BITS).filter(|s| other.shifts >> s & 1 == 1) {
            for i in Self::span(shift) {
                self.counts[i] += other.counts[i];
            }
        }
        self.sum_ns += other.sum_ns;
        self.count += other.count;
        self.shifts |= other.shifts;
    }

    /// Forgets everything, keeps the memory.
    pub fn clear(&mut self) {
        for shift in (0..u32::BITS).filter(|s| self.shifts >> s & 1 == 1) {
            self.counts[Self::span(shift)].fill(0);
        }
        (self.sum_ns, self.count, self.shifts) = (0, 0, 0);
    }

    /// Buckets that values of one shift fall into.
    fn span(shift: u32) -> std::ops::Range<usize> {
        let start = if shift == 0 { 0 } else { (shift as usize + 1) << SUB_BITS };
        start..(shift as usize + 2) << SUB_BITS
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn poured(values: &[u64]) -> (LatencyHistogram, LatencyHistogram) {
        let mut recorder = Recorder::default();
        let mut direct = LatencyHistogram::new();
        for &value in values {
            recorder.record(value);
            direct.record_ns(value);
        }
        let mut converted = LatencyHistogram::new();
        recorder.pour_into(&mut converted);
        (converted, direct)
    }

    proptest! {
        #[test]
        fn pouring_gives_the_histogram_that_direct_recording_gives(
            values in prop::collection::vec(prop_oneof![0..600u64, 200..40_000u64, 1..=HIGHEST_NS + 5], 1..400)
        ) {
            let (converted, direct) = poured(&values);
            prop_assert_eq!(converted, direct);
        }

        #[test]
        fn a_bucket_is_at_most_one_percent_wide(value in 1..=HIGHEST_NS) {
            let low = bucket_low_ns(bucket(value).0);
            prop_assert!(low <= value);
            prop_assert!((value - low) as f64 <= 0.01 * value as f64);
        }

        #[test]
        fn merging_is_recording_in_one(a in prop::collection::vec(0..1u64 << 36, 0..50), b in prop::collection::vec(0..1u64 << 36, 0..50)) {
            let record = |values: &[u64]| { let mut r = Recorder::default(); values.iter().for_each(|&v| r.record(v)); r };
            let mut merged = record(&a);
            merged.merge(&record(&b));
            let whole = record(&[a, b].concat());
            prop_assert_eq!(merged.buckets().collect::<Vec<_>>(), whole.buckets().collect::<Vec<_>>());
            prop_assert_eq!((merged.sum_ns(), merged.count()), (whole.sum_ns(), whole.count()));
        }
    }

    #[test]
    fn clearing_leaves_nothing() {
        let mut recorder = Recorder::default();
        for exponent in 0..40 {
            recorder.record(1 << exponent);
        }
        recorder.clear();
        assert_eq!(recorder.buckets().count(), 0);
        assert!(recorder.counts.iter().all(|&c| c == 0));
    }

    #[test]
    fn quantiles_stand_at_the_right_rank() {
        let mut recorder = Recorder::default();
        (1..=100).for_each(|v| recorder.record(v));
        assert_eq!(recorder.quantile_ns(0.5), Some(50));
        assert_eq!(recorder.quantile_ns(0.99), Some(99));
        assert_eq!(recorder.quantile_ns(1.0), Some(100));
        assert_eq!(Recorder::default().quantile_ns(0.5), None);
    }
}
