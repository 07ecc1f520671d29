//! `/sys/block/X/stat` (kernel documentation, block/stat and admin-guide/iostats).
//!
//! Times are kept by the kernel in nanoseconds per request (5.0 and newer) or in jiffies (older kernels, and bios of
//! devices without requests), summed, and printed as whole milliseconds cut to 32 bits: they wrap after 2^32 ms of
//! I/O time, which 100 outstanding I/Os reach in half a day.

/// The counters of one block device or partition.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BlockStat {
    /// Reads completed.
    pub reads: u64,
    /// Reads merged into others.
    pub read_merges: u64,
    /// 512-byte sectors read.
    pub read_sectors: u64,
    /// Milliseconds spent by reads.
    pub read_ms: u64,
    /// Writes completed.
    pub writes: u64,
    /// Writes merged.
    pub write_merges: u64,
    /// 512-byte sectors written.
    pub write_sectors: u64,
    /// Milliseconds spent by writes.
    pub write_ms: u64,
    /// In flight now. Since 6.16 everything accepted and not completed; before that, on request-based devices, only
    /// what was sent to the driver.
    pub in_flight: u64,
    /// Discards completed (4.18 and newer).
    pub discards: u64,
    /// Milliseconds spent by discards.
    pub discard_ms: u64,
    /// Flushes completed (5.5 and newer).
    pub flushes: u64,
    /// Milliseconds spent by flushes.
    pub flush_ms: u64,
}

impl BlockStat {
    /// From the text of the file: 11 numbers, 15 since 4.18, 17 since 5.5. `None` for anything else.
    pub fn parse(text: &str) -> Option<Self> {
        let mut numbers = [0_u64; 17];
        let mut count = 0;
        for word in text.split_ascii_whitespace() {
            let value = word.parse().ok()?;
            if let Some(place) = numbers.get_mut(count) {
                *place = value;
            }
            count += 1;
        }
        let n = numbers;
        (count >= 11).then_some(Self {
            reads: n[0],
            read_merges: n[1],
            read_sectors: n[2],
            read_ms: n[3],
            writes: n[4],
            write_merges: n[5],
            write_sectors: n[6],
            write_ms: n[7],
            in_flight: n[8],
            discards: n[11],
            discard_ms: n[14],
            flushes: n[15],
            flush_ms: n[16],
        })
    }
}

/// What happened between two readings.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct StatDelta {
    /// Reads and writes completed.
    pub ios: u64,
    /// Reads, writes, discards and flushes completed.
    pub requests: u64,
    /// Merges of reads and writes.
    pub merges: u64,
    /// Bytes read and written.
    pub bytes: u64,
    /// Seconds spent by reads and writes, summed over them.
    pub io_s: f64,
    /// Seconds spent by all requests.
    pub all_s: f64,
}

/// Most I/Os that can honestly be outstanding on one device: a bound against counters that were reset.
const OUTSTANDING_MAX: f64 = 1e6;

/// Most I/Os per second that one device can honestly complete.
const IOPS_MAX: f64 = 1e9;

impl StatDelta {
    /// The difference over `length_s` seconds, wrapped counters unwrapped. `None` when a counter went back in a way
    /// that no wrap explains: the device was set up anew in between.
    pub fn between(before: &BlockStat, after: &BlockStat, length_s: f64) -> Option<Self> {
        let ms_max = (length_s + 1.0) * 1e3 * OUTSTANDING_MAX;
        let count_max = (length_s + 1.0) * IOPS_MAX;
        let count = |a: u64, b: u64| wrapping_delta(a, b, count_max);
        let ms = |a: u64, b: u64| wrapping_delta(a, b, ms_max).map(|ms| ms as f64 / 1e3);
        let reads = count(before.reads, after.reads)?;
        let writes = count(before.writes, after.writes)?;
        let sectors = wrapping_delta(before.read_sectors, after.read_sectors, count_max * 1e3)?
            + wrapping_delta(before.write_sectors, after.write_sectors, count_max * 1e3)?;
        let io_s = ms(before.read_ms, after.read_ms)? + ms(before.write_ms, after.write_ms)?;
        let others = count(before.discards, after.discards)? + count(before.flushes, after.flushes)?;
        Some(Self {
            ios: reads + writes,
            requests: reads + writes + others,
            merges: count(before.read_merges, after.read_merges)?
                + count(before.write_merges, after.write_merges)?,
            bytes: sectors * 512,
            io_s,
            all_s: io_s + ms(before.discard_ms, after.discard_ms)? + ms(before.flush_ms, after.flush_ms)?,
        })
    }
}

/// `after - before` of a counter that may have wrapped at 32 bits; `None` when the result is above `most`.
///
/// A 64-bit counter cannot wrap in practice, so one that fell from above 2^32 was reset.
pub(crate) fn wrapping_delta(before: u64, after: u64, most: f64) -> Option<u64> {
    const WRAP: u64 = 1 << 32;
    let delta = match after.checked_sub(before) {
        Some(delta) => delta,
        None if before < WRAP => after + WRAP - before,
        None => return None,
    };
    (delta as f64 <= most).then_some(delta)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_each_kernel_generation_is_read() {
        let old = BlockStat::parse("1 2 3 4 5 6 7 8 9 10 11").unwrap();
        assert_eq!((old.reads, old.write_ms, old.in_flight, old.flushes), (1, 8, 9, 0));
        let new = BlockStat::parse("1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17").unwrap();
        assert_eq!((new.discards, new.discard_ms, new.flushes, new.flush_ms), (12, 15, 16, 17));
        let future = BlockStat::parse("1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18").unwrap();
        assert_eq!(future, new);
    }

    #[test]
    fn a_torn_line_is_refused() {
        for text in ["", "1 2 3", "1 2 3 4 5 6 7 8 9 10 x", "-1 2 3 4 5 6 7 8 9 10 11"] {
            assert_eq!(BlockStat::parse(text), None, "{text}");
        }
    }

    #[test]
    fn milliseconds_that_wrap_at_32_bits_go_on_counting() {
        let before = BlockStat { read_ms: u64::from(u32::MAX) - 99, ..BlockStat::default() };
        let after = BlockStat { read_ms: 900, ..BlockStat::default() };
        assert_eq!(StatDelta::between(&before, &after, 1.0).unwrap().io_s, 1.0);
    }

    #[test]
    fn counters_that_were_reset_give_no_numbers() {
        let before = BlockStat { reads: 1 << 40, ..BlockStat::default() };
        assert_eq!(StatDelta::between(&before, &BlockStat::default(), 1.0), None);
        let before = BlockStat { reads: 1000, ..BlockStat::default() };
        assert_eq!(StatDelta::between(&before, &BlockStat::default(), 1.0), None);
    }

    #[test]
    fn flushes_and_discards_are_requests_but_not_ios() {
        let after = BlockStat {
            reads: 10,
            read_ms: 20,
            discards: 1,
            discard_ms: 4,
            flushes: 2,
            flush_ms: 6,
            ..BlockStat::default()
        };
        let delta = StatDelta::between(&BlockStat::default(), &after, 1.0).unwrap();
        assert_eq!((delta.ios, delta.requests), (10, 13));
        assert_eq!((delta.io_s, delta.all_s), (0.020, 0.030));
    }
}
