//! Files made for a benchmark, and removed after it.

use crate::Outcome;
use std::fs::File;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

/// A fully written file of incompressible bytes; removed when dropped.
pub struct Scratch {
    path: PathBuf,
}

impl Scratch {
    /// Writes it in pieces of 1 MiB and makes it durable. Small pieces would leave the page cache in small folios, and the
    /// kernel's search for them would hide what the contenders themselves cost.
    pub fn new(folder: &Path, name: &str, bytes: u64) -> Outcome<Self> {
        let path = folder.join(name);
        let mut file = File::create(&path)?;
        let scratch = Self { path };
        let mut random = File::open("/dev/urandom")?;
        let mut piece = vec![0; 1 << 20];
        for _ in 0..bytes.div_ceil(1 << 20) {
            random.read_exact(&mut piece)?;
            file.write_all(&piece)?;
        }
        file.sync_data()?;
        Ok(scratch)
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Lets the page cache forget it and reads all of it again: whole, and in large folios. Some kernels (DAMON) take
    /// cached pages back within minutes, and random reads bring them in again one by one, so this comes before every run.
    pub fn warm(&self) -> Outcome<()> {
        let mut file = File::open(&self.path)?;
        rustix::fs::fadvise(&file, 0, None, rustix::fs::Advice::DontNeed)?;
        let mut buffer = vec![0; 1 << 20];
        while file.read(&mut buffer)? > 0 {}
        Ok(())
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // Nothing more can be done about a file that does not go away; the folder is the bench's own.
        let _ = std::fs::remove_file(&self.path);
    }
}
