//! The stream of a document, with the line that has been reached.

use std::cell::Cell;
use std::io::{ErrorKind, Read};
use std::rc::Rc;

/// What a [`crate::DocumentFormat`] reads from. It counts lines, so that a complaint has one; a reader that looks ahead
/// sees the count of what it has taken, which is a bound.
pub struct DocumentInput<'s> {
    stream: &'s mut dyn Read,
    /// Bytes read ahead and given back.
    back: Vec<u8>,
    line: Rc<Cell<u64>>,
}

impl<'s> DocumentInput<'s> {
    /// Over a stream.
    pub fn new(stream: &'s mut dyn Read) -> Self {
        Self { stream, back: Vec::new(), line: Rc::new(Cell::new(1)) }
    }

    /// The line that has been reached, from 1. The counter may be kept while the input is borrowed.
    pub fn line(&self) -> Rc<Cell<u64>> {
        Rc::clone(&self.line)
    }

    /// Skips to the first of these bytes, which is read next; what was skipped (at most 64 KiB of it), or `None` when the
    /// stream ends before.
    pub fn skip_to(&mut self, wanted: &[u8]) -> std::io::Result<Option<String>> {
        let mut skipped = Vec::new();
        let mut chunk = [0; 4096];
        loop {
            let n = self.read(&mut chunk)?;
            if n == 0 {
                return Ok(None);
            }
            let found = chunk[..n].iter().position(|b| wanted.contains(b));
            let before = found.unwrap_or(n);
            if skipped.len() < 64 << 10 {
                skipped.extend_from_slice(&chunk[..before]);
            }
            if let Some(found) = found {
                let rest = &chunk[found..n];
                self.line.set(self.line.get() - lines_in(rest));
                let mut back = rest.to_vec();
                back.extend_from_slice(&self.back);
                self.back = back;
                return Ok(Some(String::from_utf8_lossy(&skipped).into_owned()));
            }
        }
    }

    /// All of it, when it is no longer than `limit_bytes`; else as much as fits, and `false`. Bytes that are no UTF-8 are
    /// replaced. An error ends the text.
    pub fn text(&mut self, limit_bytes: usize) -> (String, bool) {
        let mut bytes = Vec::new();
        let whole = match self.take(limit_bytes as u64 + 1).read_to_end(&mut bytes) {
            Ok(_) => bytes.len() <= limit_bytes,
            Err(_) => false,
        };
        bytes.truncate(limit_bytes);
        (String::from_utf8_lossy(&bytes).into_owned(), whole)
    }
}

impl Read for DocumentInput<'_> {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        let n = if self.back.is_empty() {
            loop {
                match self.stream.read(into) {
                    Err(e) if e.kind() == ErrorKind::Interrupted => {}
                    other => break other?,
                }
            }
        } else {
            let n = self.back.len().min(into.len());
            into[..n].copy_from_slice(&self.back[..n]);
            self.back.drain(..n);
            n
        };
        self.line.set(self.line.get() + lines_in(&into[..n]));
        Ok(n)
    }
}

fn lines_in(bytes: &[u8]) -> u64 {
    memchr::memchr_iter(b'\n', bytes).count() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_before_the_document_is_skipped_and_lines_are_counted() {
        let mut text = b"fio: note\nanother\n{\"a\":\n1}".as_slice();
        let mut input = DocumentInput::new(&mut text);
        assert_eq!(input.skip_to(b"{").unwrap().unwrap(), "fio: note\nanother\n");
        assert_eq!(input.line().get(), 3);
        assert_eq!(input.text(100), ("{\"a\":\n1}".to_owned(), true));
        assert_eq!(input.line().get(), 4);
        let mut text = b"nothing".as_slice();
        assert_eq!(DocumentInput::new(&mut text).skip_to(b"{").unwrap(), None);
        let mut text = b"nothing".as_slice();
        assert_eq!(DocumentInput::new(&mut text).text(3), ("not".to_owned(), false));
    }
}
