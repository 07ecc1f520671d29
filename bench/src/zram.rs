//! The same on zram with incompressible contents: a block device without a disk.

use crate::Outcome;
use crate::contender::{Contender, Setup};
use crate::generator::{FIXED, t_contender, t_io_uring};
use crate::{fio, ours, rounds};
use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::Path;

const DEVICE: &str = "/dev/zram0";
const SYSFS: &str = "/sys/block/zram0";

/// Compares on an unused zram0; says why when it cannot.
pub fn compare(setup: &Setup) -> Outcome<()> {
    let Some(device) = Zram::new(if setup.tiny { 16 << 20 } else { 1 << 30 })? else { return Ok(()) };
    let mut contenders = vec![
        ours::contender(setup, "plimsoll io_uring", "io_uring", 64, true),
        fio::contender("fio io_uring", "io_uring", 64, true, &[]),
        fio::contender("fio io_uring fixed, batches of 16", "io_uring", 64, true, FIXED),
    ];
    contenders.extend(t_io_uring().map(|binary| t_contender(binary, true)));
    // zram cannot be read without blocking, so io_uring hands every read to a kernel thread; fio does not count those.
    let contenders: Vec<_> = contenders.into_iter().map(Contender::whole_process).collect();
    let results = rounds::interleave(&contenders, Path::new(DEVICE), setup.rounds, setup.seconds, || Ok(()))?;
    rounds::print(
        "4 KiB random reads, one thread, depth 64, zram with incompressible contents, whole processes",
        &results,
        "plimsoll io_uring",
    );
    drop(device);
    Ok(())
}

/// zram0 while we use it; reset when dropped, which is the state it was found in.
struct Zram;

impl Zram {
    fn new(bytes: u64) -> Outcome<Option<Self>> {
        let size = fs::read_to_string(format!("{SYSFS}/disksize")).unwrap_or_default();
        if size.trim() != "0" {
            eprintln!(
                "  zram left out: {}",
                if size.is_empty() { "there is no zram0" } else { "zram0 is in use" }
            );
            return Ok(None);
        }
        if let Err(error) = fs::write(format!("{SYSFS}/disksize"), bytes.to_string()) {
            eprintln!("  zram left out: cannot set its size: {error}");
            return Ok(None);
        }
        let device = Self;
        let mut random = File::open("/dev/urandom")?.take(bytes);
        let mut file = File::options().write(true).open(DEVICE)?;
        std::io::copy(&mut random, &mut file)?;
        file.flush()?;
        Ok(Some(device))
    }
}

impl Drop for Zram {
    fn drop(&mut self) {
        // A ring that was just closed lets go of its device some moments later.
        for _ in 0..50 {
            if fs::write(format!("{SYSFS}/reset"), "1").is_ok() {
                return;
            }
            std::thread::sleep(std::time::Duration::from_millis(100));
        }
        eprintln!("warning: could not reset zram0; `echo 1 > {SYSFS}/reset` does it");
    }
}
