//! Loads beside the probe: further probes at a fixed depth, or a single read now and then.

use super::super::Trouble;
use super::super::command::{self, Running};
use super::super::devices::Devices;
use crate::rig::Beside;
use rustix::fs::OFlags;
use std::fs::OpenOptions;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

/// Between starting one load and the next, so that their windows, and the gaps between those, do not coincide.
const APART: Duration = Duration::from_millis(700);
/// How long the loads run before the probe begins.
const AHEAD: Duration = Duration::from_secs(1);
/// Longer than any probe.
const BUDGET: &str = "3600s";
/// Size and alignment of the single reads.
const BLOCK: usize = 4096;

/// What is running.
#[derive(Debug, Default)]
pub struct Loads {
    probes: Vec<(String, Running)>,
    reader: Vec<JoinHandle<Trouble<()>>>,
    stop: Arc<AtomicBool>,
}

/// Starts all; complaints about those that did not start.
pub fn start(beside: &[Beside], devices: &Devices) -> (Loads, Vec<String>) {
    let mut loads = Loads::default();
    let mut complaints = Vec::new();
    for load in beside {
        let node = match devices.node(&load.probe) {
            Ok(node) => node,
            Err(why) => {
                complaints.push(why);
                continue;
            }
        };
        if let Some(every) = load.every_ms {
            let stop = Arc::clone(&loads.stop);
            let every = Duration::from_millis(every.into());
            let reads = load.reads;
            loads.reader.push(std::thread::spawn(move || read_now_and_then(&node, every, reads, &stop)));
            continue;
        }
        let depth = load.concurrency.to_string();
        let words = ["plimsoll", "probe", &node, "--json", "--quiet", "--block", "4k", "--depths", &depth];
        let words: Vec<String> = words.into_iter().chain(["--budget", BUDGET]).map(str::to_owned).collect();
        match command::start(&words, None) {
            Ok(running) => {
                loads.probes.push((load.probe.clone(), running));
                std::thread::sleep(APART);
            }
            Err(why) => complaints.push(format!("beside {}: {why}", load.probe)),
        }
    }
    if !beside.is_empty() {
        std::thread::sleep(AHEAD);
    }
    (loads, complaints)
}

impl Loads {
    /// Ends all; complaints about those that had ended before.
    pub fn end(mut self) -> Vec<String> {
        self.stop.store(true, Ordering::Relaxed);
        let mut complaints = Vec::new();
        for (device, mut running) in self.probes.drain(..) {
            if let Some(exit) = running.ended() {
                let done = running.end();
                complaints.push(format!(
                    "the load beside on {device} ended early ({exit}): {}",
                    done.stderr.trim()
                ));
            } else {
                running.end();
            }
        }
        for reader in self.reader.drain(..) {
            match reader.join() {
                Ok(Ok(())) => {}
                Ok(Err(why)) => complaints.push(why),
                Err(_) => complaints.push("the reader beside failed".into()),
            }
        }
        complaints
    }
}

fn read_now_and_then(node: &str, every: Duration, reads: Option<u32>, stop: &AtomicBool) -> Trouble<()> {
    let direct = i32::try_from(OFlags::DIRECT.bits()).map_err(|e| e.to_string())?;
    let file =
        OpenOptions::new().read(true).custom_flags(direct).open(node).map_err(|e| format!("{node}: {e}"))?;
    let mut room = vec![0u8; 2 * BLOCK];
    let from = room.as_ptr().align_offset(BLOCK);
    let block = &mut room[from..from + BLOCK];
    let mut done = 0;
    while !stop.load(Ordering::Relaxed) && reads.is_none_or(|r| done < r) {
        done += 1;
        file.read_exact_at(block, 0).map_err(|e| format!("read {node}: {e}"))?;
        std::thread::sleep(every);
    }
    Ok(())
}
