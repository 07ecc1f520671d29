//! Chooses the next I/O of one worker.

use super::{Pattern, Region, Workload};
use crate::rng::Rng;
use record::IoClass;

/// The next I/O: what, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Next {
    /// Read or write.
    pub class: IoClass,
    /// First byte in the target.
    pub offset: u64,
}

/// Chooses I/Os inside one region. One multiplication per choice, two where reads and writes mix.
#[derive(Clone, Debug)]
pub struct Picker {
    rng: Rng,
    region: Region,
    block_bytes: u64,
    /// Writes are the draws below this share of 2^64.
    write_below: u64,
    mix: Mix,
    /// Next block of a sequential stream; absent for random order.
    cursor: Option<u64>,
}

#[derive(Clone, Copy, Debug)]
enum Mix {
    Reads,
    Writes,
    Both,
}

impl Picker {
    /// A picker for `region`, which holds at least one block. Sequential streams start at a place that `seed` chooses.
    pub fn new(workload: &Workload, region: Region, seed: u64) -> Self {
        assert!(region.blocks > 0, "the caller checks that each worker's region holds a block");
        let mut rng = Rng::new(seed);
        let cursor = (workload.pattern == Pattern::Sequential).then(|| rng.below(region.blocks));
        let mix = match (workload.reads(), workload.writes()) {
            (true, true) => Mix::Both,
            (false, true) => Mix::Writes,
            _ => Mix::Reads,
        };
        let write_below = (workload.write_percent / 100.0 * 2f64.powi(64)) as u64;
        Self { rng, region, block_bytes: workload.block_bytes, write_below, mix, cursor }
    }

    /// The next I/O.
    #[inline]
    pub fn next_io(&mut self) -> Next {
        let class = match self.mix {
            Mix::Reads => IoClass::Read,
            Mix::Writes => IoClass::Write,
            Mix::Both if self.rng.next_u64() < self.write_below => IoClass::Write,
            Mix::Both => IoClass::Read,
        };
        let block = match &mut self.cursor {
            None => self.rng.below(self.region.blocks),
            Some(cursor) => {
                let block = *cursor;
                *cursor = if block + 1 == self.region.blocks { 0 } else { block + 1 };
                block
            }
        };
        Next { class, offset: self.region.start_bytes + block * self.block_bytes }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::Overrides;
    use proptest::prelude::*;

    fn workload(pattern: Pattern, write_percent: f64) -> Workload {
        let overrides =
            Overrides { pattern: Some(pattern), write_percent: Some(write_percent), ..Overrides::default() };
        Workload::named("oltp").unwrap().with(&overrides).unwrap()
    }

    proptest! {
        #[test]
        fn every_io_is_a_whole_block_inside_the_region(
            blocks in 1..1000u64, start in 0..1000u64, seed: u64, sequential: bool
        ) {
            let pattern = if sequential { Pattern::Sequential } else { Pattern::Random };
            let region = Region { start_bytes: start * 8192, blocks };
            let mut picker = Picker::new(&workload(pattern, 30.0), region, seed);
            for _ in 0..200 {
                let next = picker.next_io();
                prop_assert!(next.offset >= region.start_bytes);
                prop_assert!(next.offset + 8192 <= region.start_bytes + blocks * 8192);
                prop_assert!((next.offset - region.start_bytes).is_multiple_of(8192));
            }
        }
    }

    #[test]
    fn a_sequential_stream_visits_each_block_once_and_wraps() {
        let region = Region { start_bytes: 0, blocks: 100 };
        let mut picker = Picker::new(&workload(Pattern::Sequential, 0.0), region, 5);
        let offsets: Vec<u64> = (0..101).map(|_| picker.next_io().offset).collect();
        let mut sorted = offsets[..100].to_vec();
        sorted.sort_unstable();
        sorted.dedup();
        assert_eq!(sorted.len(), 100);
        assert_eq!(offsets[0], offsets[100]);
        assert!(offsets.windows(2).filter(|w| w[1] != w[0] + 8192).count() == 1);
    }

    #[test]
    fn repeats_of_a_sequential_stream_start_elsewhere() {
        let region = Region { start_bytes: 0, blocks: 1 << 30 };
        let first = |seed| Picker::new(&workload(Pattern::Sequential, 0.0), region, seed).next_io().offset;
        assert_ne!(first(1), first(2));
    }

    #[test]
    fn the_mix_is_the_one_asked_for() {
        for percent in [0.0, 15.0, 50.0, 100.0] {
            let region = Region { start_bytes: 0, blocks: 1000 };
            let mut picker = Picker::new(&workload(Pattern::Random, percent), region, 9);
            let writes = (0..100_000).filter(|_| picker.next_io().class == IoClass::Write).count();
            // Three standard deviations of a binomial share are below 0.5 percentage points here.
            assert!((writes as f64 / 1000.0 - percent).abs() < 0.5, "{percent}: {writes}");
        }
    }

    #[test]
    fn random_order_reaches_all_of_the_region() {
        let region = Region { start_bytes: 0, blocks: 64 };
        let mut picker = Picker::new(&workload(Pattern::Random, 0.0), region, 3);
        let mut seen = [false; 64];
        (0..2000).for_each(|_| seen[(picker.next_io().offset / 8192) as usize] = true);
        assert!(seen.iter().all(|&s| s));
    }
}
