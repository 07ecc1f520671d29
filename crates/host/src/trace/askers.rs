//! Who asked: processes by device, a bounded table in the kernel that is cleared of idle ones before it is full.

use super::layout::ASKED_WORDS;
use aya::maps::{HashMap, MapData, MapError};
use std::collections::HashMap as Memory;

type Key = [u32; 2];
type Value = [u64; ASKED_WORDS];

/// Entries of the kernel's table.
const ENTRIES: usize = 4096;
/// Idle askers are let go from here on. Before, they stay: taking one out at the moment it asks again would lose that.
const CROWDED: usize = ENTRIES / 4 * 3;

pub(super) struct AskersMap {
    map: HashMap<MapData, Key, Value>,
    last: Memory<Key, Value>,
}

/// What one process asked of one device since the last read.
pub(super) struct Asked {
    pub pid: u32,
    pub device: u32,
    pub comm: String,
    pub cgroup_id: u64,
    /// Reads, writes, others, bytes read, bytes written.
    pub grown: [u64; 5],
}

impl AskersMap {
    pub(super) fn new(map: HashMap<MapData, Key, Value>) -> Self {
        Self { map, last: Memory::new() }
    }

    /// Those who asked since the last call.
    pub(super) fn take(&mut self) -> Result<Vec<Asked>, MapError> {
        let now: Vec<(Key, Value)> = self.map.iter().collect::<Result<_, _>>()?;
        let crowded = now.len() >= CROWDED;
        let mut all = Vec::new();
        for (key, value) in now {
            let before = self.last.insert(key, value).unwrap_or([0; ASKED_WORDS]);
            let grown: [u64; 5] = std::array::from_fn(|i| value[i].wrapping_sub(before[i]));
            if grown.iter().any(|g| *g > 0) {
                let [pid, device] = key;
                all.push(Asked { pid, device, comm: comm(&value), cgroup_id: value[5], grown });
            } else if crowded {
                self.last.remove(&key);
                self.map.remove(&key)?;
            }
        }
        Ok(all)
    }
}

fn comm(value: &Value) -> String {
    let bytes: Vec<u8> = value[6..].iter().flat_map(|w| w.to_ne_bytes()).take_while(|b| *b != 0).collect();
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod test {
    use super::*;

    #[test]
    fn names_end_at_the_first_zero() {
        let mut value = [0; ASKED_WORDS];
        value[6] = u64::from_ne_bytes(*b"postgres");
        value[7] = u64::from_ne_bytes(*b": ckpt\0x");
        assert_eq!(comm(&value), "postgres: ckpt");
    }
}
