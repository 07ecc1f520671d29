//! Takes the uncompressed kernel out of a bzImage.

use crate::error::{Error, Result};
use crate::tool;
use std::fs::{self, File};
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

/// Offsets of the x86 boot protocol: where the compressed kernel begins and how long it is.
const SETUP_SECTORS: usize = 0x1f1;
const MAGIC: usize = 0x202;
const PAYLOAD_OFFSET: usize = 0x248;
const PAYLOAD_LENGTH: usize = 0x24c;
/// The kernel build appends the uncompressed size, which is no part of the compressed stream.
const SIZE_APPENDED: usize = 4;

/// Writes the ELF image inside `compressed` to `into`.
pub fn extract(compressed: &Path, into: &Path) -> Result<()> {
    let image = fs::read(compressed).map_err(|e| Error::file("read", compressed, e))?;
    let odd = |why: &str| Error::Environment(format!("{}: {why}", compressed.display()));
    let payload = payload(&image).ok_or_else(|| odd("not an x86 kernel image"))?;
    let tool = unpacker(payload).ok_or_else(|| odd("compressed neither by xz nor by zstd"))?;
    let file = File::create(into).map_err(|e| Error::file("write", into, e))?;
    let mut child = Command::new(tool::need(tool)?)
        .arg("-dc")
        .stdin(Stdio::piped())
        .stdout(file)
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|e| Error::Environment(format!("cannot start {tool}: {e}")))?;
    if let Some(mut input) = child.stdin.take() {
        // A decompressor that ends early says so by its exit code.
        let _ = input.write_all(payload);
    }
    let done = child.wait_with_output().map_err(|e| odd(&e.to_string()))?;
    if !done.status.success() {
        return Err(odd(&format!("{tool} failed: {}", String::from_utf8_lossy(&done.stderr).trim())));
    }
    let begin = fs::read(into).map_err(|e| Error::file("read", into, e))?;
    if begin.starts_with(b"\x7fELF") { Ok(()) } else { Err(odd("holds no ELF image")) }
}

/// The compressed stream inside a bzImage.
fn payload(image: &[u8]) -> Option<&[u8]> {
    if image.get(MAGIC..MAGIC + 4)? != b"HdrS" {
        return None;
    }
    let number = |at: usize| Some(u32::from_le_bytes(image.get(at..at + 4)?.try_into().ok()?) as usize);
    let setup = match usize::from(*image.get(SETUP_SECTORS)?) {
        0 => 4,
        sectors => sectors,
    };
    let begin = (setup + 1) * 512 + number(PAYLOAD_OFFSET)?;
    let length = number(PAYLOAD_LENGTH)?.checked_sub(SIZE_APPENDED)?;
    image.get(begin..begin + length)
}

/// The tool for a stream, by its first bytes.
fn unpacker(stream: &[u8]) -> Option<&'static str> {
    if stream.starts_with(b"\xfd7zXZ\0") {
        Some("xz")
    } else if stream.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]) {
        Some("zstd")
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_payload_is_found_by_the_header() {
        let mut image = vec![0u8; 4096];
        image[SETUP_SECTORS] = 1;
        image[MAGIC..MAGIC + 4].copy_from_slice(b"HdrS");
        image[PAYLOAD_OFFSET..PAYLOAD_OFFSET + 4].copy_from_slice(&100u32.to_le_bytes());
        image[PAYLOAD_LENGTH..PAYLOAD_LENGTH + 4].copy_from_slice(&14u32.to_le_bytes());
        image[1124..1134].copy_from_slice(b"\xfd7zXZ\0abcd");
        let found = payload(&image).unwrap();
        assert_eq!(found, b"\xfd7zXZ\0abcd");
        assert_eq!(unpacker(found), Some("xz"));
        image[MAGIC] = b'x';
        assert!(payload(&image).is_none());
    }

    #[test]
    fn a_stream_of_an_unknown_kind_has_no_tool() {
        assert_eq!(unpacker(&[0x28, 0xb5, 0x2f, 0xfd, 0]), Some("zstd"));
        assert_eq!(unpacker(b"\x1f\x8b"), None);
    }
}
