//! The part of the target that a worker touches.

/// A range of whole blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Region {
    /// First byte in the target; a multiple of the block size after the target's own start.
    pub start_bytes: u64,
    /// Number of blocks.
    pub blocks: u64,
}

impl Region {
    /// All whole blocks of `bytes` bytes from `start_bytes` on.
    pub fn whole(start_bytes: u64, bytes: u64, block_bytes: u64) -> Self {
        Self { start_bytes, blocks: bytes / block_bytes }
    }
}

/// Part `part` of `parts`: parts are disjoint, cover the whole, and differ by at most one block.
///
/// Panics when `part` is not below `parts`.
pub fn split(whole: Region, block_bytes: u64, parts: u64, part: u64) -> Region {
    assert!(part < parts, "part {part} of {parts}");
    let share = whole.blocks / parts;
    let extra = whole.blocks % parts;
    let before = part * share + part.min(extra);
    Region { start_bytes: whole.start_bytes + before * block_bytes, blocks: share + u64::from(part < extra) }
}

/// Share `part` of `total` things over `parts` holders: shares differ by at most one and add up to `total`.
pub fn share(total: u32, parts: u32, part: u32) -> u32 {
    total / parts + u32::from(part < total % parts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn parts_are_disjoint_and_cover_the_whole(
            blocks in 0..1u64 << 40, block in prop::sample::select(vec![512u64, 4096, 8192, 1 << 20]),
            start in 0..1u64 << 30, parts in 1..600u64
        ) {
            let whole = Region { start_bytes: start * 512, blocks };
            let mut next = whole.start_bytes;
            let mut total = 0;
            for part in 0..parts {
                let region = split(whole, block, parts, part);
                prop_assert_eq!(region.start_bytes, next);
                prop_assert!(region.blocks.abs_diff(blocks / parts) <= 1);
                next += region.blocks * block;
                total += region.blocks;
            }
            prop_assert_eq!(total, blocks);
        }

        #[test]
        fn shares_add_up_and_differ_by_at_most_one(total in 0..5000u32, parts in 1..600u32) {
            let shares: Vec<u32> = (0..parts).map(|p| share(total, parts, p)).collect();
            prop_assert_eq!(shares.iter().sum::<u32>(), total);
            prop_assert!(shares.iter().max().unwrap() - shares.iter().min().unwrap() <= 1);
        }
    }

    #[test]
    fn a_partial_last_block_is_left_out() {
        assert_eq!(Region::whole(0, 8192 * 3 + 100, 8192).blocks, 3);
    }
}
