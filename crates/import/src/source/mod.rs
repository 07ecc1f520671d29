//! Where text comes from: files, folders, archives, compressed streams, standard input.

mod document;
mod walk;

pub use document::DocumentInput;
pub(crate) use walk::walk;

use std::io::{ErrorKind, Read};

/// The first bytes of a stream, and what went wrong after them.
pub(crate) fn head(stream: &mut dyn Read, bytes: usize) -> (Vec<u8>, Option<std::io::Error>) {
    let mut head = vec![0; bytes];
    let mut filled = 0;
    let mut error = None;
    while filled < bytes {
        match stream.read(&mut head[filled..]) {
            Ok(0) => break,
            Ok(n) => filled += n,
            Err(e) if e.kind() == ErrorKind::Interrupted => {}
            Err(e) => {
                error = Some(e);
                break;
            }
        }
    }
    head.truncate(filled);
    (head, error)
}

/// Text saved by a program that writes UTF-16 becomes UTF-8 where it is short enough to be all of it; anything else stays.
pub(crate) fn as_text(head: Vec<u8>) -> Vec<u8> {
    let decode: fn([u8; 2]) -> u16 = match head.get(..2) {
        Some([0xff, 0xfe]) => u16::from_le_bytes,
        Some([0xfe, 0xff]) => u16::from_be_bytes,
        _ => return head,
    };
    let units = head[2..].chunks_exact(2).map(|pair| decode([pair[0], pair[1]]));
    char::decode_utf16(units)
        .map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER))
        .collect::<String>()
        .into_bytes()
}
