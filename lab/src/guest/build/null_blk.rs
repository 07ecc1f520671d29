//! `null_blk` devices by configfs, completed by timer.

use super::super::Trouble;
use super::super::devices::{read, wait_for, write};
use super::CONFIGFS;
use crate::rig::NullBlk;
use std::fs;
use std::path::Path;

/// `irqmode`: completion by a timer after `completion_nsec`.
const BY_TIMER: &str = "2";
/// `queue_mode`: multi-queue.
const MULTI_QUEUE: &str = "2";

/// Makes one and gives its kernel name.
pub fn make(name: &str, null: &NullBlk) -> Trouble<String> {
    let folder = format!("{CONFIGFS}/nullb/{name}");
    fs::create_dir(&folder).map_err(|e| format!("{folder}: {e}"))?;
    let service_ns = (u64::from(null.service_us) * 1000).to_string();
    for (file, value) in [
        ("size", null.size_mib.to_string().as_str()),
        ("blocksize", "512"),
        ("queue_mode", MULTI_QUEUE),
        ("irqmode", BY_TIMER),
        ("completion_nsec", service_ns.as_str()),
        ("submit_queues", "1"),
        ("hw_queue_depth", null.hw_queue_depth.to_string().as_str()),
    ] {
        write(&format!("{folder}/{file}"), value)?;
    }
    if null.mb_per_s > 0 {
        write(&format!("{folder}/mbps"), &null.mb_per_s.to_string())?;
    }
    write(&format!("{folder}/power"), "1")?;
    // Newer kernels name the disk after the folder, older ones after its index.
    let numbered = format!("nullb{}", read(&format!("{folder}/index"))?);
    wait_for(name, || {
        [name, &numbered]
            .into_iter()
            .find(|disk| Path::new("/sys/block").join(disk).exists())
            .map(str::to_owned)
    })
}
