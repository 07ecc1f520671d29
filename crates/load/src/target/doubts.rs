//! What about a target gives cause to doubt a measurement, before any load.

use super::extents;
use super::fill::Aligned;
use crate::workload::size::show_size;
use host::Root;
use record::{Doubt, DoubtId, Weight};
use std::fs::File;

/// Share of a region without written extents from which on the answer says nothing of the device.
const UNWRITTEN_SPOILS: f64 = 0.20;
/// Share from which on it shows in the answer.
const UNWRITTEN_CAUTION: f64 = 0.01;
/// Blocks looked at for zeros, evenly over the region.
const ZERO_SAMPLES: u64 = 64;
/// Size of each.
const SAMPLE_BYTES: usize = 4096;
/// Share of zero blocks from which on it is worth a word.
const ZEROS_CAUTION: f64 = 0.5;

/// A region that fits into a cache: this host's page cache when buffered, one below or in the array when direct.
pub fn of_region(root: &Root, bytes: u64, buffered: bool) -> Vec<Doubt> {
    let Some(memory_bytes) = memory_bytes(root) else { return Vec::new() };
    if bytes >= memory_bytes {
        return Vec::new();
    }
    let sizes = format!("the region of {} is smaller than this host's memory", show_size(bytes));
    let doubt = if buffered {
        Doubt {
            id: DoubtId::PageCacheHits,
            weight: Weight::Caution,
            text: format!(
                "{sizes} ({}): with --buffered, reads come out of the page cache",
                show_size(memory_bytes)
            ),
        }
    } else {
        Doubt {
            id: DoubtId::CacheSuspected,
            weight: Weight::Note,
            text: format!(
                "{sizes} ({}); a cache of the hypervisor or of the array may hold it: --size with more than those caches \
                 shows the media",
                show_size(memory_bytes)
            ),
        }
    };
    vec![doubt]
}

fn memory_bytes(root: &Root) -> Option<u64> {
    let text = root.text("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|l| l.strip_prefix("MemTotal:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1024)
}

/// Holes and extents that were allocated but never written: the filesystem answers reads there without the device.
pub fn of_extents(file: &File, bytes: u64) -> Option<Doubt> {
    let written_bytes = extents::written_bytes(file, bytes)?;
    let share = 1.0 - written_bytes as f64 / bytes as f64;
    if share <= 0.0 {
        return None;
    }
    let weight = match share {
        s if s >= UNWRITTEN_SPOILS => Weight::Spoils,
        s if s >= UNWRITTEN_CAUTION => Weight::Caution,
        _ => Weight::Note,
    };
    Some(Doubt {
        id: DoubtId::UnwrittenExtents,
        weight,
        text: format!(
            "{:.1} % of the file is holes or was never written; reads there do not touch the device (copy the file, or \
             measure its directory)",
            share * 100.0
        ),
    })
}

/// Blocks full of zeros: thin, compressing or deduplicating storage answers them without touching its media.
pub fn of_zeros(file: &File, bytes: u64) -> Option<Doubt> {
    let mut memory = Aligned::new(SAMPLE_BYTES);
    let step = (bytes / ZERO_SAMPLES).max(SAMPLE_BYTES as u64) / SAMPLE_BYTES as u64 * SAMPLE_BYTES as u64;
    let mut samples = 0u32;
    let mut zeros = 0u32;
    for place in (0..bytes.saturating_sub(SAMPLE_BYTES as u64)).step_by(step as usize) {
        if rustix::io::pread(file, memory.bytes(), place).ok()? < SAMPLE_BYTES {
            break;
        }
        samples += 1;
        zeros += u32::from(memory.bytes().iter().all(|&b| b == 0));
    }
    let share = f64::from(zeros) / f64::from(samples.max(1));
    (share >= ZEROS_CAUTION).then(|| Doubt {
        id: DoubtId::UnwrittenExtents,
        weight: Weight::Caution,
        text: format!(
            "{zeros} of {samples} sampled blocks hold only zeros; thin, compressing or deduplicating storage answers \
             those without touching its media"
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn root(meminfo: &str) -> (tempfile::TempDir, Root) {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("proc")).unwrap();
        std::fs::write(folder.path().join("proc/meminfo"), meminfo).unwrap();
        let root = Root::at(folder.path());
        (folder, root)
    }

    #[test]
    fn a_region_beyond_memory_gives_no_doubt() {
        let (_folder, root) = root("MemTotal:       1048576 kB\nMemFree: 1 kB\n");
        assert_eq!(of_region(&root, 2 << 30, false), []);
        assert_eq!(of_region(&root, 1 << 29, false)[0].id, DoubtId::CacheSuspected);
        assert_eq!(of_region(&root, 1 << 29, true)[0].id, DoubtId::PageCacheHits);
    }

    #[test]
    fn unreadable_memory_gives_no_doubt() {
        let (_folder, root) = root("nonsense\n");
        assert_eq!(of_region(&root, 1, false), []);
    }

    #[test]
    fn a_file_of_zeros_is_noticed_and_one_of_data_is_not() {
        let file = tempfile::tempfile().unwrap();
        file.set_len(1 << 20).unwrap();
        assert!(of_zeros(&file, 1 << 20).unwrap().text.contains("zeros"));
        let mut data = vec![0u8; 1 << 20];
        crate::rng::Rng::new(1).fill(&mut data);
        std::os::unix::fs::FileExt::write_all_at(&file, &data, 0).unwrap();
        assert_eq!(of_zeros(&file, 1 << 20), None);
    }
}
