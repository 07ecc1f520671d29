//! Which devices the kernel's programs sum up, and where: device numbers to places in the arrays of sums.

use super::layout::{SLOT_ROWS, SLOT_WAYS, split};
use aya::maps::{Array, MapData, MapError};
use std::collections::{HashMap as Memory, VecDeque};

type Row = [u64; SLOT_WAYS];

pub(super) struct SlotsMap {
    map: Array<MapData, Row>,
    /// Slots not in use. The one that was given back last is taken last: what still stands of its device may end.
    free: VecDeque<u32>,
    of: Memory<u32, u32>,
}

impl SlotsMap {
    pub(super) fn new(map: Array<MapData, Row>, slots: u32) -> Self {
        Self { map, free: (0..slots).collect(), of: Memory::new() }
    }

    /// The slot of a followed device.
    pub(super) fn of(&self, device: u32) -> Option<u32> {
        self.of.get(&device).copied()
    }

    /// A slot to be prepared; it counts from [`SlotsMap::follow`] on. `None` where all are taken.
    pub(super) fn next(&self) -> Option<u32> {
        self.free.front().copied()
    }

    /// Lets the programs find a device at the slot that was prepared. `false` where there is no room for it.
    pub(super) fn follow(&mut self, device: u32) -> Result<bool, MapError> {
        let mut row = self.map.get(&row_of(device), 0)?;
        let Some(way) = row.iter().position(|word| *word == 0) else { return Ok(false) };
        let Some(slot) = self.free.pop_front() else { return Ok(false) };
        row[way] = word(device, slot);
        self.of.insert(device, slot);
        self.map.set(row_of(device), row, 0)?;
        Ok(true)
    }

    /// Gives the slot of a device back.
    pub(super) fn forget(&mut self, device: u32) {
        let Some(slot) = self.of.remove(&device) else { return };
        self.free.push_back(slot);
        let Ok(mut row) = self.map.get(&row_of(device), 0) else { return };
        row.iter_mut().filter(|word| split(**word).0 == device).for_each(|word| *word = 0);
        // Where this fails the device is gone all the same, and nothing asks for its slot.
        let _ = self.map.set(row_of(device), row, 0);
    }
}

/// As the program computes it.
fn row_of(device: u32) -> u32 {
    (device.wrapping_mul(0x9E37_79B1) >> 20) & (SLOT_ROWS - 1)
}

fn word(device: u32, slot: u32) -> u64 {
    let [a, b, c, d] = device.to_ne_bytes();
    let [e, f, g, h] = slot.to_ne_bytes();
    u64::from_ne_bytes([a, b, c, d, e, f, g, h])
}

#[cfg(test)]
mod test {
    use super::*;

    #[test]
    fn thousands_of_disks_find_a_row() {
        let mut rows = vec![0; SLOT_ROWS as usize];
        // More than the memory for sums has room for. sda, sdb ...: sixteen minors each, sixteen disks a major; then those of dm.
        let disks = (0..2000_u32).map(|n| ((8 + n / 16) << 20) | (n % 16 * 16));
        for device in disks.chain((0..2000).map(|n| (253 << 20) | n)) {
            rows[row_of(device) as usize] += 1;
        }
        assert!(rows.iter().all(|n| *n <= SLOT_WAYS), "{:?}", rows.iter().max());
    }

    #[test]
    fn a_word_is_a_device_and_its_slot() {
        assert_eq!(split(word((8 << 20) | 16, 7)), ((8 << 20) | 16, 7));
    }
}
