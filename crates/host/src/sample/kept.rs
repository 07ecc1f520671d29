//! Kernel files kept open and read again and again from their start.
//!
//! Opening costs several times what reading does; the kernel makes the text anew at each read from offset 0.

use crate::root::Root;
use std::fs::File;
use std::os::unix::fs::FileExt;

/// Longest text read from one file in one go. `/proc/stat` is read only as far as its lines of cores go.
const BUFFER_BYTES: usize = 1 << 16;

/// An open kernel file.
#[derive(Debug)]
pub(crate) struct Kept {
    file: File,
    pub path: String,
}

impl Kept {
    /// `None` when it is absent or may not be read.
    pub fn open(root: &Root, path: impl Into<String>) -> Option<Self> {
        let path = path.into();
        let place = root.place(&path);
        let metadata = std::fs::metadata(&place).ok()?;
        metadata.is_file().then_some(())?;
        Some(Self { file: File::open(place).ok()?, path })
    }

    /// The present text, in `buffer`. `None` when the device went away or the bytes are no text.
    pub fn text<'b>(&self, buffer: &'b mut Buffer) -> Option<&'b str> {
        let length = self.file.read_at(&mut buffer.0, 0).ok()?;
        std::str::from_utf8(&buffer.0[..length]).ok()
    }

    /// The present value of a file that holds one decimal number.
    pub fn number(&self, buffer: &mut Buffer) -> Option<u64> {
        self.text(buffer)?.trim().parse().ok()
    }

    /// The present value of a file that holds one number such as `0x1f`.
    pub fn hex(&self, buffer: &mut Buffer) -> Option<u64> {
        let text = self.text(buffer)?.trim();
        u64::from_str_radix(text.strip_prefix("0x")?, 16).ok()
    }

    /// The sum of the numbers in a file (`inflight` holds reads and writes).
    pub fn sum(&self, buffer: &mut Buffer) -> Option<u64> {
        let mut numbers = self.text(buffer)?.split_ascii_whitespace().map(str::parse::<u64>);
        let first = numbers.next()?.ok()?;
        numbers.try_fold(first, |sum, n| sum.checked_add(n.ok()?))
    }
}

/// A place to read into.
#[derive(Debug)]
pub(crate) struct Buffer(Box<[u8]>);

impl Default for Buffer {
    fn default() -> Self {
        Self(vec![0; BUFFER_BYTES].into_boxed_slice())
    }
}
