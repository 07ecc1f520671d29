//! `/proc/diskstats` (kernel documentation, admin-guide/iostats), read again and again and parsed where it lies.
//!
//! The file stays open; the text of the reading before is kept, so that a row that did not change is told by comparing
//! bytes and never parsed again. Nothing is allocated once the two buffers have grown to the size of the file.

use crate::root::Root;
use crate::sample::BlockStat;
use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt;

/// First size of a buffer: about 500 rows.
const BUFFER_BYTES: usize = 64 << 10;

/// A host with more than this has a broken `/proc`: 10,000 devices take 1.3 MiB.
const TEXT_MAX_BYTES: usize = 64 << 20;

/// Numbers of a row since kernel 5.5.
const FIELDS: usize = 17;

/// The counters of one row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counters {
    numbers: [u64; FIELDS],
    /// How many of them the kernel gave: 11, 15 since 4.18, 17 since 5.5.
    count: u8,
}

impl Counters {
    pub fn read(&self) -> [u64; 4] {
        self.four(0)
    }

    pub fn write(&self) -> [u64; 4] {
        self.four(4)
    }

    /// Count, merges, sectors, milliseconds.
    pub fn discard(&self) -> Option<[u64; 4]> {
        (self.count >= 15).then(|| self.four(11))
    }

    /// Flushes have neither merges nor sectors.
    pub fn flush(&self) -> Option<[u64; 4]> {
        (self.count >= 17).then(|| [self.numbers[15], 0, 0, self.numbers[16]])
    }

    pub fn in_flight(&self) -> u64 {
        self.numbers[8]
    }

    /// Milliseconds with anything outstanding.
    pub fn busy_ms(&self) -> u64 {
        self.numbers[9]
    }

    /// Requests completed since the device was set up.
    pub fn completed(&self) -> u64 {
        let n = &self.numbers;
        n[0].saturating_add(n[4]).saturating_add(n[11]).saturating_add(n[15])
    }

    fn four(&self, from: usize) -> [u64; 4] {
        let n = &self.numbers;
        [n[from], n[from + 1], n[from + 2], n[from + 3]]
    }

    /// The same numbers as `/sys/block/X/stat` gives.
    pub fn block_stat(&self) -> BlockStat {
        let n = &self.numbers;
        BlockStat {
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
        }
    }
}

/// One row: where its name lies in the text, and its counters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Row {
    pub major: u32,
    pub minor: u32,
    pub name: Range<usize>,
    pub counters: Counters,
}

impl Row {
    /// Parses `text[at]`, one row without its newline. `None` when it is torn or no row.
    pub fn parse(text: &[u8], at: Range<usize>) -> Option<Self> {
        let line = &text[at.clone()];
        let mut place = 0;
        let major = u32::try_from(number(line, &mut place)?).ok()?;
        let minor = u32::try_from(number(line, &mut place)?).ok()?;
        skip_blanks(line, &mut place);
        let start = place;
        while line.get(place).is_some_and(|b| *b != b' ') {
            place += 1;
        }
        let name = at.start + start..at.start + place;
        let mut counters = Counters::default();
        for slot in &mut counters.numbers {
            match number(line, &mut place) {
                Some(value) => *slot = value,
                None => break,
            }
            counters.count += 1;
        }
        let whole = counters.count >= 11 && start < name.end - at.start;
        // Later kernels may add numbers at the end; anything else there is not a row that we understand.
        let rest = line.get(place..).unwrap_or_default();
        let ends_well = rest.iter().all(|b| b.is_ascii_digit() || b.is_ascii_whitespace());
        (whole && ends_well).then_some(Self { major, minor, name, counters })
    }
}

fn skip_blanks(line: &[u8], place: &mut usize) {
    while line.get(*place) == Some(&b' ') {
        *place += 1;
    }
}

/// The next decimal number; `None` when there is none. More digits than 64 bits hold wrap, as the counters do.
fn number(line: &[u8], place: &mut usize) -> Option<u64> {
    skip_blanks(line, place);
    let start = *place;
    let mut value = 0_u64;
    while let Some(digit) = line.get(*place).map(|b| b.wrapping_sub(b'0')).filter(|d| *d < 10) {
        value = value.wrapping_mul(10).wrapping_add(u64::from(digit));
        *place += 1;
    }
    // A number ends at a blank or at the end of the row.
    let ended = line.get(*place).is_none_or(u8::is_ascii_whitespace);
    (*place > start && ended).then_some(value)
}

/// The file with its present and its former text.
#[derive(Debug)]
pub(crate) struct Diskstats {
    file: File,
    now: Vec<u8>,
    now_length: usize,
    before: Vec<u8>,
    before_length: usize,
}

impl Diskstats {
    /// Errors: the file cannot be opened.
    pub fn open(root: &Root) -> io::Result<Self> {
        let file = File::open(root.place("/proc/diskstats"))?;
        let buffer = || vec![0; BUFFER_BYTES];
        Ok(Self { file, now: buffer(), now_length: 0, before: buffer(), before_length: 0 })
    }

    /// Reads the whole file; what was read last becomes the text before.
    pub fn read(&mut self) -> io::Result<()> {
        std::mem::swap(&mut self.now, &mut self.before);
        self.before_length = self.now_length;
        self.now_length = 0;
        loop {
            if self.now_length == self.now.len() {
                if self.now.len() >= TEXT_MAX_BYTES {
                    return Err(io::Error::other("/proc/diskstats does not end"));
                }
                self.now.resize(self.now.len() * 2, 0);
            }
            match self.file.read_at(&mut self.now[self.now_length..], self.now_length as u64) {
                Ok(0) => return Ok(()),
                Ok(bytes) => self.now_length += bytes,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(e),
            }
        }
    }

    /// The present text.
    pub fn text(&self) -> &[u8] {
        &self.now[..self.now_length]
    }

    /// The text before it.
    pub fn text_before(&self) -> &[u8] {
        &self.before[..self.before_length]
    }
}

/// The next row of `text` from `at` on, without its newline; moves `at` behind it.
pub(crate) fn next_line(text: &[u8], at: &mut usize) -> Option<Range<usize>> {
    let rest = text.get(*at..).filter(|r| !r.is_empty())?;
    let length = rest.iter().position(|b| *b == b'\n').unwrap_or(rest.len());
    let line = *at..*at + length;
    *at += length + 1;
    Some(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(text: &str) -> Option<Row> {
        Row::parse(text.as_bytes(), 0..text.len())
    }

    #[test]
    fn rows_of_each_kernel_generation_are_read() {
        let text = "   8       0 sda 1 2 3 4 5 6 7 8 9 10 11";
        let old = row(text).unwrap();
        assert_eq!((old.major, old.minor, &text[old.name.clone()]), (8, 0, "sda"));
        assert_eq!((old.counters.read(), old.counters.write()), ([1, 2, 3, 4], [5, 6, 7, 8]));
        assert_eq!((old.counters.in_flight(), old.counters.busy_ms()), (9, 10));
        assert_eq!((old.counters.discard(), old.counters.flush()), (None, None));
        let new = row(" 259 0 nvme0n1 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17").unwrap().counters;
        assert_eq!((new.discard(), new.flush()), (Some([12, 13, 14, 15]), Some([16, 0, 0, 17])));
        let future = row(" 259 0 nvme0n1 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19").unwrap().counters;
        assert_eq!(future, new);
    }

    #[test]
    fn torn_rows_are_refused() {
        for text in [
            "",
            " ",
            "8 0",
            "8 0 sda",
            "8 0 sda 1 2 3",
            "8 0 sda 1 2 3 4 5 6 7 8 9 10 x",
            "8 0 sda 1 2 3 4 5 6 7 8 9 10 11 12 z",
            "x 0 sda 1 2 3 4 5 6 7 8 9 10 11",
            "8 -1 sda 1 2 3 4 5 6 7 8 9 10 11",
            "99999999999 0 sda 1 2 3 4 5 6 7 8 9 10 11",
        ] {
            assert_eq!(row(text), None, "{text}");
        }
    }

    #[test]
    fn lines_end_at_newlines_and_at_the_end() {
        let text = b"ab\n\ncd";
        let mut at = 0;
        let mut seen = Vec::new();
        while let Some(line) = next_line(text, &mut at) {
            seen.push(std::str::from_utf8(&text[line]).unwrap().to_owned());
        }
        assert_eq!(seen, ["ab", "", "cd"]);
    }

    #[test]
    fn a_file_longer_than_the_buffer_is_read_whole() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("proc")).unwrap();
        let text: String = (0..4000).map(|n| format!("8 {n} sd{n} 1 2 3 4 5 6 7 8 9 10 11\n")).collect();
        assert!(text.len() > 2 * BUFFER_BYTES);
        std::fs::write(folder.path().join("proc/diskstats"), &text).unwrap();
        let mut file = Diskstats::open(&Root::at(folder.path())).unwrap();
        file.read().unwrap();
        assert_eq!(file.text(), text.as_bytes());
        file.read().unwrap();
        assert_eq!((file.text(), file.text_before()), (text.as_bytes(), text.as_bytes()));
    }
}
