//! The sums and histograms in the kernel: an array with a part for each followed device, read as differences.

use super::layout::{RawSums, SUMS_WORDS, Sums};
use super::window::Class;
use aya::maps::{Array, MapData, MapError};
use std::collections::HashMap as Memory;

/// Kernel memory of one entry.
const ENTRY_BYTES: u64 = SUMS_WORDS as u64 * 8;
/// Two sets that take turns, so that a set stands still while it is read.
const SETS: u64 = 2;

pub(super) struct SumsMap {
    map: Array<MapData, RawSums>,
    shards: u32,
    last: Memory<u32, Box<RawSums>>,
}

/// Copies of each sum: one for each processor while memory allows, else processors share. At least one.
pub(super) fn shards(processors: u32, devices: u64, memory_max_bytes: u64) -> u32 {
    let mut shards = processors.max(1).next_power_of_two().min(1 << 12);
    while shards > 1 && devices * entries_each(shards) * ENTRY_BYTES > memory_max_bytes {
        shards /= 2;
    }
    shards
}

/// Entries that a device needs.
pub(super) fn entries_each(shards: u32) -> u64 {
    Class::ALL.len() as u64 * u64::from(shards) * SETS
}

/// Devices that have room within the memory allowed, at most so many. At least one.
pub(super) fn slots(devices: u64, shards: u32, memory_max_bytes: u64) -> u32 {
    let most = memory_max_bytes / (entries_each(shards) * ENTRY_BYTES);
    u32::try_from(devices.min(most)).unwrap_or(u32::MAX).max(1)
}

impl SumsMap {
    pub(super) fn new(map: Array<MapData, RawSums>, shards: u32) -> Self {
        Self { map, shards, last: Memory::new() }
    }

    fn places(&self, slot: u32, class: Class, set: u64) -> impl Iterator<Item = u32> + use<> {
        let (shards, set) = (self.shards, set as u32);
        let head = (slot * Class::ALL.len() as u32 + class.number()) * shards;
        (0..shards).map(move |shard| (head + shard) * 2 + set)
    }

    /// Prepares a slot for a device that comes: what another left there is no part of it.
    pub(super) fn prepare(&mut self, slot: u32) -> Result<(), MapError> {
        for class in Class::ALL {
            for set in 0..SETS {
                for place in self.places(slot, class, set) {
                    let now = self.map.get(&place, 0)?;
                    match now.iter().all(|w| *w == 0) {
                        true => self.last.remove(&place),
                        false => self.last.insert(place, Box::new(now)),
                    };
                }
            }
        }
        Ok(())
    }

    /// What was added to one set since it was last taken.
    pub(super) fn take(&mut self, slot: u32, class: Class, set: u64) -> Result<Sums, MapError> {
        let mut sums = Sums::empty();
        for place in self.places(slot, class, set) {
            let now = self.map.get(&place, 0)?;
            match self.last.get_mut(&place) {
                Some(before) => {
                    if **before != now {
                        sums.add(&now, before);
                        **before = now;
                    }
                }
                None if now.iter().all(|w| *w == 0) => {}
                None => {
                    sums.add(&now, &[0; SUMS_WORDS]);
                    self.last.insert(place, Box::new(now));
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
        assert!(devices * entries_each(few) * ENTRY_BYTES <= memory);
        assert_eq!(slots(devices, few, memory), 1000);
        assert_eq!(shards(64, 100_000, 1 << 20), 1, "one copy is the least");
        assert!(u64::from(slots(100_000, 1, 1 << 20)) * entries_each(1) * ENTRY_BYTES <= 1 << 20);
    }
}
