//! What tests of rules share: texts through their readers.
#![allow(dead_code, clippy::unwrap_used, reason = "each test file uses its part; a panic is a failed test")]

use analyze::Finding;
use analyze::reading::{Digest, findings};
use std::fmt::Write;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Reads texts, each with its path. Several are read as files of one folder, as a person would give them.
pub fn digest(texts: &[(&str, &str)]) -> Digest {
    let mut digest = Digest::default();
    if let [(path, text)] = texts {
        let reading = import::read_stream(path, &mut text.as_bytes(), &mut digest);
        assert_eq!(reading.refused, [], "{path}");
        return digest;
    }
    static FOLDERS: AtomicUsize = AtomicUsize::new(0);
    let number = FOLDERS.fetch_add(1, Ordering::Relaxed);
    let folder =
        Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("reading-{}-{number}", std::process::id()));
    for (path, text) in texts {
        let file = folder.join(path);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, text).unwrap();
    }
    let reading = import::read(&[&folder], &mut digest);
    assert_eq!(reading.refused, []);
    std::fs::remove_dir_all(&folder).unwrap();
    digest
}

/// What one rule finds in a text.
pub fn found(id: &str, text: &str) -> Vec<Finding> {
    findings(&digest(&[("case/text", text)])).into_iter().filter(|f| f.id == id).collect()
}

/// All evidence of a finding, in one text.
pub fn told(finding: &Finding) -> String {
    finding.evidence.iter().fold(String::new(), |all, e| all + &e.text + "\n")
}

/// The header of `iostat -xm` of sysstat 9 and 10.
pub const IOSTAT_XM: &str = "Device:         rrqm/s   wrqm/s     r/s     w/s    rMB/s    wMB/s avgrq-sz avgqu-sz   await r_await w_await  svctm  %util\n";

/// A row below it: r/s, w/s, rMB/s, wMB/s, avgrq-sz, avgqu-sz, await, r_await, w_await, svctm, %util.
pub fn iostat_xm_row(device: &str, values: [f64; 11]) -> String {
    let mut row = format!("{device:<18} 0.00     0.00");
    for value in values {
        write!(row, " {value:8.2}").unwrap();
    }
    row + "\n"
}

/// A row where reads are all there is: their number, size in KiB, response in ms, and busy share. The queue follows.
pub fn reads(device: &str, per_s: f64, kib: f64, response_ms: f64, busy: f64) -> String {
    let queue = per_s * response_ms / 1e3;
    let mib = per_s * kib / 1024.0;
    iostat_xm_row(device, [per_s, 0.0, mib, 0.0, kib * 2.0, queue, response_ms, response_ms, 0.0, 0.0, busy])
}
