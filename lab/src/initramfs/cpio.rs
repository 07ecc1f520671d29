//! A writer of the newc cpio format, which the kernel unpacks as its first file system.

use std::io::{self, Write};

const FOLDER: u32 = 0o040_755;
const FILE: u32 = 0o100_000;
const CHARACTER_DEVICE: u32 = 0o020_600;

/// Writes entries in order; parents must come before what they hold.
#[derive(Debug)]
pub struct Cpio<W: Write> {
    out: W,
    inode: u32,
    at: u64,
}

impl<W: Write> Cpio<W> {
    /// An empty archive.
    pub fn new(out: W) -> Self {
        Self { out, inode: 0, at: 0 }
    }

    /// A folder.
    pub fn folder(&mut self, path: &str) -> io::Result<()> {
        self.entry(path, FOLDER, (0, 0), &[])
    }

    /// A file with these permissions.
    pub fn file(&mut self, path: &str, permissions: u32, bytes: &[u8]) -> io::Result<()> {
        self.entry(path, FILE | permissions, (0, 0), bytes)
    }

    /// A character device: the console must exist before anything is mounted.
    pub fn character_device(&mut self, path: &str, major: u32, minor: u32) -> io::Result<()> {
        self.entry(path, CHARACTER_DEVICE, (major, minor), &[])
    }

    /// The end mark; gives back what was written to.
    pub fn finish(mut self) -> io::Result<W> {
        self.inode = 0;
        self.entry("TRAILER!!!", 0, (0, 0), &[])?;
        self.out.flush()?;
        Ok(self.out)
    }

    fn entry(&mut self, path: &str, mode: u32, device: (u32, u32), bytes: &[u8]) -> io::Result<()> {
        let size = u32::try_from(bytes.len()).map_err(|_| {
            io::Error::new(io::ErrorKind::InvalidInput, format!("{path} is larger than 4 GiB"))
        })?;
        let name = path.trim_start_matches('/');
        let links = if mode & 0o170_000 == 0o040_000 { 2 } else { 1 };
        self.inode += 1;
        let fields = [
            self.inode,
            mode,
            0, // owner
            0, // group
            links,
            0, // time
            size,
            0,
            0, // device of the file system
            device.0,
            device.1,
            name.len() as u32 + 1,
            0, // no checksum in this format
        ];
        let mut header = String::from("070701");
        for field in fields {
            header.push_str(&format!("{field:08X}"));
        }
        self.write(header.as_bytes())?;
        self.write(name.as_bytes())?;
        self.write(&[0])?;
        self.pad()?;
        self.write(bytes)?;
        self.pad()
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.at += bytes.len() as u64;
        self.out.write_all(bytes)
    }

    /// Names and contents begin at multiples of four.
    fn pad(&mut self) -> io::Result<()> {
        let short = (4 - self.at % 4) % 4;
        self.write(&[0; 3][..short as usize])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bytes_are_those_of_the_format() {
        let mut cpio = Cpio::new(Vec::new());
        cpio.file("/a", 0o644, b"hello").unwrap();
        let bytes = cpio.finish().unwrap();
        let header = "070701000000010000 81A4".replace(' ', "");
        assert!(bytes.starts_with(header.as_bytes()), "{}", String::from_utf8_lossy(&bytes[..30]));
        assert_eq!(&bytes[54..62], b"00000005", "the size");
        // The header has 110 bytes, the name two with its zero: 112 is a multiple of four already.
        assert_eq!(&bytes[110..112], b"a\0");
        assert_eq!(&bytes[112..117], b"hello");
        assert_eq!(&bytes[117..120], &[0, 0, 0]);
        assert!(bytes.windows(10).any(|w| w == b"TRAILER!!!"));
        assert_eq!(bytes.len() % 4, 0);
    }

    #[test]
    fn busybox_reads_what_was_written() {
        let Some(busybox) = crate::tool::find("busybox") else {
            println!("skipped: busybox is not installed");
            return;
        };
        let folder = tempfile::tempdir().unwrap();
        let mut cpio = Cpio::new(Vec::new());
        cpio.folder("d").unwrap();
        cpio.file("d/odd", 0o755, b"1234567").unwrap();
        let archive = folder.path().join("archive");
        std::fs::write(&archive, cpio.finish().unwrap()).unwrap();
        let done = std::process::Command::new(busybox)
            .args(["cpio", "-i", "-F"])
            .arg(&archive)
            .current_dir(folder.path())
            .output()
            .unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        assert_eq!(std::fs::read(folder.path().join("d/odd")).unwrap(), b"1234567");
    }
}
