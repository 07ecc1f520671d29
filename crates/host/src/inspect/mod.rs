//! What one process does with its files: asynchronous or synchronous, past the page cache or through it, with which
//! sizes and how many outstanding. Everything is read in `/proc/PID`, which the owner of the process may do; nothing
//! is attached to the process and it is not stopped.
//!
//! Sources: `fd` and `fdinfo` (flags, io_uring rings with their counters), `maps` (libaio contexts) and
//! 20 bytes of `mem` (whether completions came), `io` (counters), and `task/*/syscall`, read some hundred times: a thread that waits for a disk stands in the call that waits. A thread on a
//! processor tells nothing, so calls that the page cache answers at once are mostly missed; `io` counts these.

mod call;
mod fdinfo;
mod files;
mod tree;
mod watched;

use crate::observer::Observer;
use crate::root::Root;
use files::Files;
use record::{AskedDevice, Inspected};
use std::collections::HashSet;
use std::io::{self, ErrorKind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use watched::Watched;

/// Between two looks for new processes and files.
const LOOK: Duration = Duration::from_millis(500);

/// Files listed at most.
const FILES: usize = 500;

/// Whom to inspect, and how.
#[derive(Clone, Copy, Debug)]
pub struct InspectOptions {
    /// The process.
    pub pid: u32,
    /// Its children and theirs too.
    pub tree: bool,
    /// How long to look.
    pub length: Duration,
    /// Mean time between two samples.
    pub interval: Duration,
}

/// Why nothing can be told.
#[derive(Debug, thiserror::Error)]
pub enum InspectError {
    /// There is no such process.
    #[error("there is no process {0}")]
    NoSuchProcess(u32),
    /// It belongs to somebody else.
    #[error("the files of process {0} may not be read: it belongs to another user, or is protected")]
    NotPermitted(u32),
}

/// Looks at the process until the time is up, it ends, or `stop` is set.
///
/// The observer, where one is given, adds what the tracer saw of each device meanwhile.
pub fn inspect(
    root: &Root,
    options: InspectOptions,
    mut observer: Option<&mut Observer>,
    stop: &AtomicBool,
) -> Result<Inspected, InspectError> {
    let mut inspector = Inspector::open(root, options)?;
    if let Some(observer) = observer.as_mut() {
        // The interval of the tracer begins with the first sample.
        let _ = observer.next();
    }
    let began = Instant::now();
    let mut looked = began;
    loop {
        let sampled = Instant::now();
        inspector.sample();
        if looked.elapsed() >= LOOK {
            inspector.look();
            looked = Instant::now();
        }
        let gone = !root.exists(format!("/proc/{}", options.pid));
        if gone || began.elapsed() >= options.length || stop.load(Ordering::Relaxed) {
            break;
        }
        // Thousands of threads take longer than an interval to read: then half the time is spent on reading, at most.
        let cost = sampled.elapsed();
        let pause = inspector.jittered(options.interval).saturating_sub(cost).max(cost);
        std::thread::sleep(pause.min(options.length.saturating_sub(began.elapsed())));
    }
    inspector.look();
    let length_s = began.elapsed().as_secs_f64();
    let pids: HashSet<u32> = inspector.processes.iter().map(|p| p.pid()).collect();
    let mut seen = inspector.finish(length_s);
    if let Some(observer) = observer {
        trace(&mut seen, observer, &pids);
    }
    Ok(seen)
}

struct Inspector {
    root: Root,
    options: InspectOptions,
    files: Files,
    processes: Vec<Watched>,
    samples: u64,
    refused_files: u64,
    /// State of the generator of pauses.
    random: u64,
}

impl Inspector {
    fn open(root: &Root, options: InspectOptions) -> Result<Self, InspectError> {
        let pid = options.pid;
        if !root.exists(format!("/proc/{pid}")) {
            return Err(InspectError::NoSuchProcess(pid));
        }
        let mut files = Files::new(root);
        match files.look(pid) {
            Err(e) if e.kind() == ErrorKind::PermissionDenied => return Err(InspectError::NotPermitted(pid)),
            Err(e) if e.kind() == ErrorKind::NotFound => return Err(InspectError::NoSuchProcess(pid)),
            _ => {}
        }
        let mut inspector = Self {
            root: root.clone(),
            options,
            files,
            processes: Vec::new(),
            samples: 0,
            refused_files: 0,
            random: 0x9E37_79B9_7F4A_7C15,
        };
        inspector.look();
        Ok(inspector)
    }

    /// Finds new processes, files and rings, and reads counters.
    fn look(&mut self) {
        for pid in tree::members(&self.root, self.options.pid, self.options.tree) {
            if !self.processes.iter().any(|p| p.pid() == pid) {
                self.processes.extend(Watched::new(&self.root, pid));
            }
        }
        self.refused_files = 0;
        for process in &mut self.processes {
            if let Err(e) = process.look(&self.root, &mut self.files)
                && e.kind() == ErrorKind::PermissionDenied
            {
                self.refused_files += 1;
            }
        }
    }

    fn sample(&mut self) {
        self.samples += 1;
        for process in &mut self.processes {
            process.sample(&self.root, &mut self.files);
        }
    }

    /// Between half and one and a half of the interval: a fixed beat could run in step with the process.
    fn jittered(&mut self, interval: Duration) -> Duration {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        interval.mul_f64(0.5 + (self.random >> 11) as f64 / (1_u64 << 53) as f64)
    }

    fn finish(self, length_s: f64) -> Inspected {
        let samples = self.samples;
        let (files, files_not_listed) = self.files.list(samples, FILES);
        let processes: Vec<_> = self.processes.into_iter().map(Watched::finish).collect();
        let mut unseen = Vec::new();
        let refused: u64 = processes.iter().map(|p| p.refused).sum();
        if refused > 0 {
            let guard = self.root.number::<u32>("/proc/sys/kernel/yama/ptrace_scope").filter(|n| *n > 0);
            let why = guard.map_or_else(String::new, |n| format!(" (kernel.yama.ptrace_scope is {n})"));
            unseen.push(format!(
                "system calls of {refused} readings were refused{why}: calls, sizes and outstanding synchronous I/Os are \
                 not known for these; run it as root"
            ));
        }
        if self.refused_files > 0 {
            unseen
                .push(format!("open files of {} processes were refused; run it as root", self.refused_files));
        }
        if processes.iter().flat_map(|p| &p.rings).any(|r| r.outstanding.is_none()) {
            unseen.push("a ring of io_uring does not tell how many I/Os are outstanding (kernels before 5.18, or it was busy)".into());
        }
        let at_s = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |d| d.as_secs_f64());
        Inspected {
            pid: self.options.pid,
            tree: self.options.tree,
            at_s,
            length_s,
            samples,
            processes,
            files,
            files_not_listed,
            devices: None,
            unseen,
        }
    }
}

/// Adds what the tracer saw; where it saw nothing, why.
fn trace(seen: &mut Inspected, observer: &mut Observer, pids: &HashSet<u32>) {
    let sample = match observer.next() {
        Ok(sample) => sample,
        Err(e) => return seen.unseen.push(format!("devices cannot be read: {e}")),
    };
    let Some(askers) = sample.traced.as_ref().and_then(|t| t.askers.as_ref()) else {
        let why = sample.unseen.first().map_or("the tracer does not run", String::as_str);
        return seen.unseen.push(format!("sizes and outstanding I/Os at the devices: {why}"));
    };
    let mut devices: Vec<AskedDevice> = Vec::new();
    let mut bytes: Vec<[u64; 2]> = Vec::new();
    for asker in askers.iter().filter(|a| pids.contains(&a.pid)) {
        let place = devices.iter().position(|d| d.device == asker.device).unwrap_or_else(|| {
            devices.push(AskedDevice { device: asker.device.clone(), ..AskedDevice::default() });
            bytes.push([0; 2]);
            devices.len() - 1
        });
        let device = &mut devices[place];
        device.reads += asker.reads;
        device.writes += asker.writes;
        device.others += asker.others;
        bytes[place][0] += asker.read_bytes;
        bytes[place][1] += asker.write_bytes;
    }
    for (device, [read, written]) in devices.iter_mut().zip(bytes) {
        let ours = device.reads + device.writes;
        let whole =
            askers.iter().filter(|a| a.device == device.device).map(|a| a.reads + a.writes).sum::<u64>();
        let mean = |bytes: u64, ios: u64| (ios > 0).then(|| bytes as f64 / ios as f64);
        let rate = |number: f64| (sample.length_s > 0.0).then(|| number / sample.length_s);
        device.iops = rate(ours as f64);
        device.mib_per_s = rate((read + written) as f64 / f64::from(1 << 20));
        device.read_size_bytes = mean(read, device.reads);
        device.write_size_bytes = mean(written, device.writes);
        device.share = mean(ours, whole);
        let counted = sample.devices.iter().find(|d| d.facts.name == device.device);
        device.inside = counted.and_then(|d| d.inside.mean);
        device.outstanding = device.share.zip(device.inside).map(|(share, inside)| share * inside);
    }
    devices.sort_by_key(|d| std::cmp::Reverse(d.reads + d.writes));
    seen.devices = Some(devices);
}

/// Reads a small file of a process; absent where it has gone.
fn text(root: &Root, path: String) -> io::Result<Option<String>> {
    match root.text(path) {
        Ok(text) => Ok(Some(text)),
        Err(e) if e.kind() == ErrorKind::PermissionDenied => Err(e),
        Err(_) => Ok(None),
    }
}
