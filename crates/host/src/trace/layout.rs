//! The values of the maps, word by word as the C source lays them out. A test compares the sizes with the object.

use record::LatencyHistogram;

pub(super) const OCTAVE_MIN: u32 = 10;
const OCTAVE_MAX: u32 = 36;
pub(super) const BUCKETS: usize = 1 + (OCTAVE_MAX - OCTAVE_MIN + 1) as usize * 16 + 1;
pub(super) const SIZES: usize = 16;
const HEAD_WORDS: usize = 9;
const HALVES: usize = BUCKETS * 2 + SIZES * 2;
/// Words of `struct sums`.
pub(super) const SUMS_WORDS: usize = HEAD_WORDS + HALVES / 2;
/// Words of `struct counts`.
pub(super) const COUNTS_WORDS: usize = 5;
/// Words of `struct row`.
pub(super) const ROW_WORDS: usize = COLUMNS * PLACE_WORDS;
pub(super) const ROWS: u32 = 256;
const COLUMNS: usize = 128;
pub(super) const PLACE_WORDS: usize = 4;
/// Words of `struct asked`.
pub(super) const ASKED_WORDS: usize = 8;
/// Words of `struct cell`: its head, what was asked, its end.
pub(super) const CELL_WORDS: usize = CELL_HEAD_WORDS + ASKED_WORDS + 1;
pub(super) const CELL_HEAD_WORDS: usize = 3;
/// Words of `struct cells`.
pub(super) const CELLS_WORDS: usize = 64 * CELL_WORDS;
/// Words of `struct slot_row`; a word is a slot.
pub(super) const SLOT_WAYS: usize = 8;
pub(super) const SLOT_ROWS: u32 = 4096;
/// Words of `struct window`.
pub(super) const WINDOW_WORDS: usize = 2;
/// Words of `struct lost_counts`.
pub(super) const LOST_WORDS: usize = 8;
/// Words of `struct scsi_counts`.
pub(super) const SCSI_WORDS: usize = 9;

pub(super) type RawSums = [u64; SUMS_WORDS];

/// One class of one device, added up over processors.
#[derive(Clone)]
pub(super) struct Sums {
    pub bytes: u64,
    pub host_wait_ns: u64,
    pub service_ns: u64,
    pub host_wait_before_ns: u64,
    pub service_before_ns: u64,
    pub errors: u64,
    pub untimed: u64,
    halves: Vec<u64>,
}

impl Sums {
    pub(super) fn empty() -> Self {
        Self {
            bytes: 0,
            host_wait_ns: 0,
            service_ns: 0,
            host_wait_before_ns: 0,
            service_before_ns: 0,
            errors: 0,
            untimed: 0,
            halves: vec![0; HALVES],
        }
    }

    /// Adds what happened between two readings of one copy. Buckets are 32 bits wide and may wrap between readings.
    pub(super) fn add(&mut self, now: &RawSums, before: &RawSums) {
        let grown = |word: usize| now[word].wrapping_sub(before[word]);
        self.bytes += grown(0) + grown(8);
        self.host_wait_ns += grown(1);
        self.service_ns += grown(2);
        self.host_wait_before_ns += grown(3);
        self.service_before_ns += grown(4);
        self.errors += grown(5);
        self.untimed += grown(6);
        for (place, sum) in self.halves.iter_mut().enumerate() {
            *sum += u64::from(half(now, place).wrapping_sub(half(before, place)));
        }
        // Completions that were not seen are counted apart in the kernel; here they are requests without times.
        let (sizes, unseen) = self.halves[2 * BUCKETS..].split_at_mut(SIZES);
        for (size, unseen) in sizes.iter_mut().zip(unseen) {
            self.untimed += *unseen;
            *size += std::mem::take(unseen);
        }
    }

    pub(super) fn host_wait(&self) -> &[u64] {
        &self.halves[..BUCKETS]
    }

    pub(super) fn service(&self) -> &[u64] {
        &self.halves[BUCKETS..2 * BUCKETS]
    }

    pub(super) fn sizes(&self) -> &[u64] {
        &self.halves[2 * BUCKETS..2 * BUCKETS + SIZES]
    }
}

/// The 32-bit counter at a place behind the head, as it stands in memory.
fn half(raw: &RawSums, place: usize) -> u32 {
    let bytes = raw[HEAD_WORDS + place / 2].to_ne_bytes();
    let at = place % 2 * 4;
    u32::from_ne_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

/// The two 32-bit fields in one word, in the order of memory.
pub(super) fn split(word: u64) -> (u32, u32) {
    let bytes = word.to_ne_bytes();
    let at = |i: usize| u32::from_ne_bytes([bytes[i], bytes[i + 1], bytes[i + 2], bytes[i + 3]]);
    (at(0), at(4))
}

/// The middle of a bucket in ns.
fn middle_ns(bucket: usize) -> u64 {
    if bucket == 0 {
        return 1 << (OCTAVE_MIN - 1);
    }
    if bucket >= BUCKETS - 1 {
        return 1 << (OCTAVE_MAX + 1);
    }
    let place = bucket as u64 - 1;
    let octave = u64::from(OCTAVE_MIN) + place / 16;
    let step = 1u64 << (octave - 4);
    (1 << octave) + place % 16 * step + step / 2
}

/// The house's histogram of a log-linear one: each value within 3.2 %, the mean exact.
pub(super) fn latency(buckets: &[u64], sum_ns: u64) -> LatencyHistogram {
    let mut all = LatencyHistogram::new();
    let some = buckets.iter().enumerate().filter(|(_, count)| **count > 0);
    all.record_buckets_ns(some.map(|(bucket, count)| (middle_ns(bucket), *count)), sum_ns);
    all
}

#[cfg(test)]
mod test {
    use super::*;

    #[test]
    fn middles_rise_and_stay_within_their_octave() {
        for bucket in 1..BUCKETS {
            assert!(middle_ns(bucket) > middle_ns(bucket - 1), "bucket {bucket}");
        }
        assert_eq!(middle_ns(1), 1024 + 32);
        assert_eq!(middle_ns(16), 2048 - 32);
        assert_eq!(middle_ns(17), 2048 + 64);
        assert_eq!(middle_ns(BUCKETS - 1), 1 << 37);
    }

    #[test]
    fn counters_may_wrap_between_readings() {
        let (mut before, mut now) = ([0; SUMS_WORDS], [0; SUMS_WORDS]);
        before[HEAD_WORDS] = u64::from_ne_bytes([0xfe, 0xff, 0xff, 0xff, 7, 0, 0, 0].map(|b: u8| b));
        now[HEAD_WORDS] = u64::from_ne_bytes([3, 0, 0, 0, 9, 0, 0, 0]);
        if cfg!(target_endian = "big") {
            return; // the bytes above are written for the other order
        }
        let mut sums = Sums::empty();
        sums.add(&now, &before);
        assert_eq!(&sums.host_wait()[..3], &[5, 2, 0]);
    }

    #[test]
    fn a_histogram_keeps_count_and_mean() {
        let mut buckets = vec![0; BUCKETS];
        buckets[0] = 3;
        buckets[100] = 4;
        let all = latency(&buckets, 12_345);
        assert_eq!((all.count(), all.sum_ns()), (7, 12_345));
    }
}
