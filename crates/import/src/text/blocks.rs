//! A stream as blocks of whole lines, so that memory does not grow with it.

use memchr::{memchr, memrchr};
use std::borrow::Cow;
use std::io::{Error, ErrorKind, Read};

/// Bytes of a block. Fits the caches of one core.
const BLOCK_BYTES: usize = 256 << 10;
/// A single line may be this long (one row of `esxtop -b` has 50,000 columns); what goes beyond is cut off.
const LINE_MAX_BYTES: usize = 16 << 20;

/// Reads blocks.
pub struct Blocks<R> {
    from: R,
    buffer: Vec<u8>,
    /// Bytes of the buffer that are filled, and those of them that were given out already.
    filled: usize,
    given: usize,
    ended: bool,
    /// What reading failed with; told when all that was read before has been given out.
    error: Option<Error>,
    /// Within a line whose beginning was given out and whose rest does not fit.
    skipping: bool,
    /// Lines that were cut off.
    cut: u64,
}

impl<R: Read> Blocks<R> {
    /// Over a stream.
    pub fn new(from: R) -> Self {
        let buffer = vec![0; BLOCK_BYTES];
        Self { from, buffer, filled: 0, given: 0, ended: false, error: None, skipping: false, cut: 0 }
    }

    /// Lines that were longer than 16 MiB and were cut off there.
    pub fn cut(&self) -> u64 {
        self.cut
    }

    /// The next block: whole lines, except that the last one of the stream may lack its end. Bytes that are no UTF-8 are
    /// replaced. `None` at the end. After an error nothing follows.
    pub fn next_block(&mut self) -> Result<Option<Cow<'_, str>>, Error> {
        loop {
            self.buffer.copy_within(self.given..self.filled, 0);
            self.filled -= self.given;
            self.given = 0;
            self.fill();
            let filled = &self.buffer[..self.filled];
            if filled.is_empty() {
                return self.error.take().map_or(Ok(None), Err);
            }
            if self.skipping {
                let end = memchr(b'\n', filled);
                self.given = end.map_or(self.filled, |end| end + 1);
                self.skipping = end.is_none();
                continue;
            }
            if let Some(end) = memrchr(b'\n', filled) {
                self.given = end + 1;
            } else if self.ended {
                self.given = self.filled;
            } else if self.buffer.len() >= LINE_MAX_BYTES {
                self.cut += 1;
                self.skipping = true;
                self.given = self.filled;
            } else {
                self.buffer.resize((self.buffer.len() * 2).min(LINE_MAX_BYTES), 0);
                continue;
            }
            let block = &self.buffer[..self.given];
            // Checking whole words at a time is many times faster than looking for what must be replaced.
            return Ok(Some(match std::str::from_utf8(block) {
                Ok(text) => Cow::Borrowed(text),
                Err(_) => String::from_utf8_lossy(block),
            }));
        }
    }

    fn fill(&mut self) {
        while !self.ended && self.filled < self.buffer.len() {
            match self.from.read(&mut self.buffer[self.filled..]) {
                Ok(0) => self.ended = true,
                Ok(n) => self.filled += n,
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(e) => {
                    self.error = Some(e);
                    self.ended = true;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(text: &[u8]) -> (Vec<String>, u64) {
        let mut blocks = Blocks::new(text);
        let mut got = Vec::new();
        while let Some(block) = blocks.next_block().unwrap() {
            got.push(block.into_owned());
        }
        (got, blocks.cut())
    }

    #[test]
    fn blocks_end_with_lines() {
        let text = "a line of text\n".repeat(40_000) + "and no end";
        let (blocks, cut) = all(text.as_bytes());
        assert!(blocks.len() > 2 && cut == 0);
        assert_eq!(blocks.concat(), text);
        assert!(blocks[..blocks.len() - 1].iter().all(|b| b.ends_with('\n')));
    }

    #[test]
    fn a_line_of_many_megabytes_is_whole_and_one_of_more_is_cut() {
        let long = "x".repeat(3 << 20) + "\nshort\n";
        assert_eq!(all(long.as_bytes()).0.concat(), long);
        let longer = "x".repeat(LINE_MAX_BYTES + 1000) + "\nshort\n";
        let (blocks, cut) = all(longer.as_bytes());
        assert_eq!((blocks.last().unwrap().as_str(), cut), ("short\n", 1));
    }

    #[test]
    fn what_was_read_before_an_error_is_given_out() {
        struct Torn(bool);
        impl Read for Torn {
            fn read(&mut self, into: &mut [u8]) -> Result<usize, Error> {
                if std::mem::replace(&mut self.0, true) {
                    return Err(Error::other("torn"));
                }
                into[..4].copy_from_slice(b"a\nb\n");
                Ok(4)
            }
        }
        let mut blocks = Blocks::new(Torn(false));
        assert_eq!(blocks.next_block().unwrap().unwrap(), "a\nb\n");
        assert_eq!(blocks.next_block().unwrap_err().to_string(), "torn");
        assert_eq!(blocks.next_block().unwrap(), None);
    }
}
