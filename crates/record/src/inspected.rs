//! What one process, or a process and its children, was seen to do with its files: the matter of `plimsoll inspect`.
//!
//! Counts named `seen` are readings: a thread was met in that call when it was looked at. Absent is null, never 0.

use serde::Serialize;
use std::collections::BTreeMap;

/// One inspection.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Inspected {
    /// The process that was named.
    pub pid: u32,
    /// Whether its children and theirs were looked at too.
    pub tree: bool,
    /// End, seconds since 1970.
    pub at_s: f64,
    /// From the first reading to the last one.
    pub length_s: f64,
    /// How often every thread was looked at.
    pub samples: u64,
    /// Processes, the named one first.
    pub processes: Vec<InspectedProcess>,
    /// Files on storage that they hold open, those met in calls first.
    pub files: Vec<InspectedFile>,
    /// Open files that were left out of the list to keep it short.
    pub files_not_listed: u64,
    /// What the processes asked of each device; absent without the tracer.
    pub devices: Option<Vec<AskedDevice>>,
    /// What cannot be told here, and why.
    pub unseen: Vec<String>,
}

/// One process.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct InspectedProcess {
    /// Its number.
    pub pid: u32,
    /// Its parent's; absent when its `stat` could not be read.
    pub parent: Option<u32>,
    /// Name of the program (15 characters).
    pub name: String,
    /// Title or command line, shortened; absent when it has none.
    pub command: Option<String>,
    /// Threads at the last look.
    pub threads: u64,
    /// Of these, workers of io_uring: kernel threads that do what cannot be done without waiting.
    pub uring_workers: u64,
    /// Readings of its threads, all samples together.
    pub readings: u64,
    /// Of `readings`, those that met the thread on a processor: nothing more is told of these.
    pub running: u64,
    /// Of `readings`, those that were refused.
    pub refused: u64,
    /// Calls that threads were met in, most often met first. Waiting for clients and the like is not listed.
    pub calls: Vec<SeenCall>,
    /// Kernel functions that threads slept in, where calls are refused.
    pub waits: BTreeMap<String, u64>,
    /// Counters of the process, growth within the inspection; absent when refused.
    pub io: Option<ProcessIo>,
    /// Its io_uring rings.
    pub rings: Vec<UringSeen>,
    /// Its libaio contexts.
    pub contexts: Vec<AioSeen>,
    /// Open files on storage with O_DIRECT.
    pub direct_files: u64,
    /// Open files on storage without.
    pub buffered_files: u64,
}

/// Growth of `/proc/PID/io`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ProcessIo {
    /// Synchronous calls that read, of files, pipes and terminals alike.
    pub read_calls: u64,
    /// Bytes these read, from the page cache or not.
    pub read_call_bytes: u64,
    /// Synchronous calls that write.
    pub write_calls: u64,
    /// Bytes these wrote.
    pub write_call_bytes: u64,
    /// Bytes fetched from storage, whatever the way.
    pub read_bytes: u64,
    /// Bytes sent, or to be sent, to storage.
    pub write_bytes: u64,
}

/// A ring of io_uring.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct UringSeen {
    /// Its descriptor.
    pub fd: u32,
    /// Most submissions it holds before they are taken.
    pub entries: Option<u64>,
    /// Requests that completed within the inspection; absent where the kernel does not tell (before 5.18).
    pub completed: Option<u64>,
    /// Mean number submitted and not completed.
    pub outstanding: Option<f64>,
    /// Largest number met.
    pub outstanding_peak: Option<u64>,
    /// Whether a kernel thread fetches submissions (SQPOLL), so that no call is seen.
    pub polled: bool,
}

/// A context of libaio.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct AioSeen {
    /// Most I/Os it may hold.
    pub limit: u64,
    /// Readings of its ring of completions, after the first one.
    pub readings: u64,
    /// Of these, in how many completions had come since the one before.
    pub moved: u64,
}

/// What a call does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum CallKind {
    /// Reads and waits for it.
    Read,
    /// Writes and waits for it.
    Write,
    /// Waits until data are on stable storage.
    Flush,
    /// libaio.
    Libaio,
    /// io_uring.
    IoUring,
}

/// A call that threads were met in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SeenCall {
    /// Name of the system call.
    pub call: &'static str,
    /// What it does.
    pub kind: CallKind,
    /// Readings that met a thread in it.
    pub seen: u64,
    /// How often each size was asked for, by bytes; empty where the call does not tell.
    pub sizes: BTreeMap<u64, u64>,
}

/// How a file makes writes durable by its flags.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum SyncFlag {
    /// Not by flags.
    #[default]
    None,
    /// O_DSYNC.
    Dsync,
    /// O_SYNC.
    Sync,
}

/// A file as it is held open.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct InspectedFile {
    /// Path as the process sees it.
    pub path: String,
    /// Kernel name of the device; absent for network and stacked filesystems.
    pub device: Option<String>,
    /// Kind of the filesystem; absent for a device itself.
    pub filesystem: Option<String>,
    /// O_DIRECT: past the page cache.
    pub direct: bool,
    /// O_SYNC, O_DSYNC.
    pub sync: SyncFlag,
    /// Whether it is open for writing.
    pub writable: bool,
    /// Processes that hold it open so.
    pub processes: u64,
    /// Synchronous calls that met it.
    pub calls: Vec<SeenCall>,
    /// Mean number of threads met waiting in reads and writes of it: at least that many I/Os were outstanding, since a
    /// thread that is about to sleep or was just woken counts as running.
    pub waiting: Option<f64>,
}

impl InspectedFile {
    /// Readings of all its calls.
    pub fn seen(&self) -> u64 {
        self.calls.iter().map(|c| c.seen).sum()
    }
}

/// What the processes asked of one device, by the tracer.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct AskedDevice {
    /// Kernel name.
    pub device: String,
    /// I/Os that read.
    pub reads: u64,
    /// I/Os that write.
    pub writes: u64,
    /// Discards, flushes.
    pub others: u64,
    /// Reads and writes per second.
    pub iops: Option<f64>,
    /// MiB (2^20) per second.
    pub mib_per_s: Option<f64>,
    /// Mean size of a read as the device got it.
    pub read_size_bytes: Option<f64>,
    /// Mean size of a write.
    pub write_size_bytes: Option<f64>,
    /// Share of all reads and writes of the device that these processes asked for.
    pub share: Option<f64>,
    /// Mean number in host queue and device queue, whoever asked.
    pub inside: Option<f64>,
    /// Of `inside`, what is theirs by their share.
    pub outstanding: Option<f64>,
}
