//! The sums and histograms in the kernel: made beforehand for each followed device, read as differences.

use super::layout::{RawSums, SUMS_WORDS, Sums};
use super::window::Class;
use aya::maps::{HashMap, MapData, MapError};
use std::collections::HashMap as Memory;

/// Make the entry only if it is not there.
const NO_EXIST: u64 = 1;
/// Kernel memory of one entry: the value, its key and the kernel's own words.
const ENTRY_BYTES: u64 = SUMS_WORDS as u64 * 8 + 64;
/// Two sets that take turns, so that a set stands still while it is read.
const SETS: u64 = 2;

pub(super) struct SumsMap {
    map: HashMap<MapData, u64, RawSums>,
    shards: u32,
    last: Memory<u64, Box<RawSums>>,
}

/// Copies of each sum: one for each processor while memory allows, else processors share. At least one.
pub(super) fn shards(processors: u32, devices: u64, memory_max_bytes: u64) -> u32 {
    let mut shards = processors.max(1).next_power_of_two().min(1 << 12);
    while shards > 1 && entries(devices, shards) * ENTRY_BYTES > memory_max_bytes {
        shards /= 2;
    }
    shards
}

/// Entries that so many devices need.
pub(super) fn entries(devices: u64, shards: u32) -> u64 {
    devices * Class::ALL.len() as u64 * u64::from(shards) * SETS
}

/// The largest number of entries within the memory allowed.
pub(super) fn entries_max(memory_max_bytes: u64) -> u32 {
    u32::try_from(memory_max_bytes / ENTRY_BYTES).unwrap_or(u32::MAX).max(1)
}

impl SumsMap {
    pub(super) fn new(map: HashMap<MapData, u64, RawSums>, shards: u32) -> Self {
        Self { map, shards, last: Memory::new() }
    }

    fn keys(&self, device: u32, class: Class, set: u64) -> impl Iterator<Item = u64> + use<> {
        let head = u64::from(device) << 32 | u64::from(class.number()) << 16 | set;
        (0..u64::from(self.shards)).map(move |shard| head | shard << 1)
    }

    fn all_keys(&self, device: u32) -> Vec<u64> {
        let classes = Class::ALL.into_iter();
        classes.flat_map(|class| (0..SETS).flat_map(move |set| self.keys(device, class, set))).collect()
    }

    /// Makes room for a device; an error when there is none left, and then nothing of it is kept.
    pub(super) fn follow(&mut self, device: u32) -> Result<(), MapError> {
        for key in self.all_keys(device) {
            if let Err(error) = self.map.insert(key, [0; SUMS_WORDS], NO_EXIST) {
                self.forget(device);
                return Err(error);
            }
        }
        Ok(())
    }

    /// Gives the room of a device back.
    pub(super) fn forget(&mut self, device: u32) {
        for key in self.all_keys(device) {
            self.last.remove(&key);
            // An entry that was not made cannot be removed, and need not be.
            let _ = self.map.remove(&key);
        }
    }

    /// What was added to one set since it was last taken.
    pub(super) fn take(&mut self, device: u32, class: Class, set: u64) -> Result<Sums, MapError> {
        let mut sums = Sums::empty();
        for key in self.keys(device, class, set) {
            let now = self.map.get(&key, 0)?;
            match self.last.get_mut(&key) {
                Some(before) => {
                    if **before != now {
                        sums.add(&now, before);
                        **before = now;
                    }
                }
                None if now.iter().all(|w| *w == 0) => {}
                None => {
                    sums.add(&now, &[0; SUMS_WORDS]);
                    self.last.insert(key, Box::new(now));
                }
            }
        }
        Ok(sums)
    }
}

#[cfg(test)]
mod test {
    use super::*;

    #[test]
    fn processors_share_where_devices_are_many() {
        assert_eq!(shards(2, 10, 64 << 20), 2);
        assert_eq!(shards(6, 10, 64 << 20), 8);
        let (processors, devices, memory) = (128, 1000, 64 << 20);
        let few = shards(processors, devices, memory);
        assert_eq!(few, 1);
        assert!(entries(devices, few) * ENTRY_BYTES <= memory);
        assert_eq!(shards(64, 100_000, 1 << 20), 1, "one copy is the least");
    }
}
