//! Who asked: processes by device. Each processor counts in cells of its own, as many as it has; who finds none there is
//! counted in one table of all processors, which is cleared of idle ones before it is full.

use super::layout::{ASKED_WORDS, CELL_HEAD_WORDS, CELL_WORDS, CELLS_WORDS, split};
use aya::maps::{Array, HashMap, MapData, MapError};
use std::collections::HashMap as Memory;

type Key = [u32; 2];
type Value = [u64; ASKED_WORDS];
type Cells = [u64; CELLS_WORDS];

/// Entries of the kernel's table.
const ENTRIES: usize = 4096;
/// Idle askers are let go from here on. Before, they stay: taking one out at the moment it asks again would lose that.
const CROWDED: usize = ENTRIES / 4 * 3;

pub(super) struct AskersMap {
    map: HashMap<MapData, Key, Value>,
    last: Memory<Key, Value>,
    cells: Array<MapData, Cells>,
    /// What each cell held: whose it was, and what was asked.
    cells_last: Memory<(u32, usize), (u64, Value)>,
}

/// What one process asked of one device since the last read.
pub(super) struct Asked {
    pub pid: u32,
    pub device: u32,
    pub comm: String,
    pub cgroup_id: u64,
    /// Reads, writes, others, bytes read, bytes written.
    pub grown: [u64; 5],
    /// When it asked last, as far as it is known; then how often: who has the name of the last thread.
    named: (u64, u64),
}

impl Asked {
    fn new(pid: u32, device: u32, value: &Value, grown: [u64; 5], when: u64) -> Self {
        let named = (when, grown[..3].iter().sum());
        Self { pid, device, comm: comm(value), cgroup_id: value[5], grown, named }
    }

    fn add(&mut self, other: Self) {
        for (sum, more) in self.grown.iter_mut().zip(other.grown) {
            *sum += more;
        }
        if other.named > self.named {
            (self.comm, self.named) = (other.comm, other.named);
        }
    }
}

impl AskersMap {
    pub(super) fn new(map: HashMap<MapData, Key, Value>, cells: Array<MapData, Cells>) -> Self {
        Self { map, last: Memory::new(), cells, cells_last: Memory::new() }
    }

    /// Those who asked since the last call.
    pub(super) fn take(&mut self) -> Result<Vec<Asked>, MapError> {
        let mut all = Memory::new();
        self.take_cells(&mut all)?;
        self.take_table(&mut all)?;
        Ok(all.into_values().collect())
    }

    fn take_cells(&mut self, all: &mut Memory<Key, Asked>) -> Result<(), MapError> {
        for cpu in 0..self.cells.len() {
            let now = self.cells.get(&cpu, 0)?;
            for (place, cell) in now.chunks_exact(CELL_WORDS).enumerate() {
                // Taken over while it was copied: read next time, when it counts again from nothing.
                if cell[0] == 0 || cell[0] != cell[CELL_WORDS - 1] {
                    continue;
                }
                let (pid, _) = split(cell[0]);
                let (device, _) = split(cell[1]);
                let mut value = [0; ASKED_WORDS];
                value.copy_from_slice(&cell[CELL_HEAD_WORDS..CELL_HEAD_WORDS + ASKED_WORDS]);
                let before = match self.cells_last.insert((cpu, place), (cell[0], value)) {
                    Some((whose, before)) if whose == cell[0] => before,
                    _ => [0; ASKED_WORDS],
                };
                let one = Asked::new(pid, device, &value, grown(&value, &before), cell[2]);
                put(all, one);
            }
        }
        Ok(())
    }

    fn take_table(&mut self, all: &mut Memory<Key, Asked>) -> Result<(), MapError> {
        let now: Vec<(Key, Value)> = self.map.iter().collect::<Result<_, _>>()?;
        let crowded = now.len() >= CROWDED;
        for (key, value) in now {
            let before = self.last.insert(key, value).unwrap_or([0; ASKED_WORDS]);
            let one = Asked::new(key[0], key[1], &value, grown(&value, &before), 0);
            if one.named.1 == 0 && crowded {
                self.last.remove(&key);
                self.map.remove(&key)?;
            }
            put(all, one);
        }
        Ok(())
    }
}

fn put(all: &mut Memory<Key, Asked>, one: Asked) {
    if one.grown.iter().all(|g| *g == 0) {
        return;
    }
    match all.entry([one.pid, one.device]) {
        std::collections::hash_map::Entry::Occupied(mut there) => there.get_mut().add(one),
        std::collections::hash_map::Entry::Vacant(free) => {
            free.insert(one);
        }
    }
}

fn grown(now: &Value, before: &Value) -> [u64; 5] {
    std::array::from_fn(|i| now[i].saturating_sub(before[i]))
}

fn comm(value: &Value) -> String {
    let bytes: Vec<u8> = value[6..].iter().flat_map(|w| w.to_ne_bytes()).take_while(|b| *b != 0).collect();
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod test {
    use super::*;

    fn value(reads: u64, name: &[u8; 8]) -> Value {
        [reads, 0, 0, reads * 512, 0, 1, u64::from_ne_bytes(*name), 0]
    }

    #[test]
    fn names_end_at_the_first_zero() {
        let mut value = [0; ASKED_WORDS];
        value[6] = u64::from_ne_bytes(*b"postgres");
        value[7] = u64::from_ne_bytes(*b": ckpt\0x");
        assert_eq!(comm(&value), "postgres: ckpt");
    }

    #[test]
    fn one_asker_on_two_processors_has_the_name_of_the_last() {
        let mut all = Memory::new();
        let (parent, child) = (value(3, b"sh\0\0\0\0\0\0"), value(501, b"dd\0\0\0\0\0\0"));
        put(&mut all, Asked::new(7, 8, &child, grown(&child, &[0; ASKED_WORDS]), 100));
        put(&mut all, Asked::new(7, 8, &parent, grown(&parent, &[0; ASKED_WORDS]), 99));
        put(&mut all, Asked::new(7, 8, &parent, grown(&parent, &parent), 101)); // nothing new
        let one = &all[&[7, 8]];
        assert_eq!((one.comm.as_str(), one.grown[0]), ("dd", 504));
    }
}
