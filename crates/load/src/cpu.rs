//! Processor time of the load: each worker thread, and the kernel threads that carry its punted requests.
#![allow(unsafe_code, reason = "getrusage(RUSAGE_THREAD) has no safe wrapper among our libraries")]

use crate::clock::now_ns;
use host::Root;
use std::fs::File;
use std::os::unix::fs::FileExt;

/// Processor time of one thread up to now.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ThreadTime {
    /// When it was read.
    pub at_ns: u64,
    /// User time. The kernel splits exact run time by ticks, so the share is rough over less than a second.
    pub user_ns: u64,
    /// System time.
    pub sys_ns: u64,
    /// Time ready to run without a core, where the kernel keeps it (schedstat).
    pub run_delay_ns: Option<u64>,
}

/// Reads the times of the thread it was made in; keeps its file open so that reading allocates nothing.
#[derive(Debug)]
pub struct ThreadProbe {
    schedstat: Option<File>,
}

impl ThreadProbe {
    /// For the calling thread.
    pub fn new() -> Self {
        Self { schedstat: File::open("/proc/thread-self/schedstat").ok() }
    }

    /// The times now.
    pub fn read(&self) -> ThreadTime {
        let usage = thread_usage();
        let ns = |t: libc::timeval| t.tv_sec as u64 * 1_000_000_000 + t.tv_usec as u64 * 1000;
        ThreadTime {
            at_ns: now_ns(),
            user_ns: ns(usage.ru_utime),
            sys_ns: ns(usage.ru_stime),
            run_delay_ns: self.run_delay_ns(),
        }
    }

    fn run_delay_ns(&self) -> Option<u64> {
        let mut text = [0u8; 96];
        let length = self.schedstat.as_ref()?.read_at(&mut text, 0).ok()?;
        std::str::from_utf8(&text[..length]).ok()?.split_ascii_whitespace().nth(1)?.parse().ok()
    }
}

/// What the calling thread used.
fn thread_usage() -> libc::rusage {
    let mut usage = std::mem::MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: the kernel fills the one rusage it is given; zeroed is a valid rusage should it not.
    unsafe {
        libc::getrusage(libc::RUSAGE_THREAD, usage.as_mut_ptr());
        usage.assume_init()
    }
}

/// How often the calling thread gave its core up to wait for something.
pub fn voluntary_switches() -> i64 {
    thread_usage().ru_nvcsw
}

impl Default for ThreadProbe {
    fn default() -> Self {
        Self::new()
    }
}

impl ThreadTime {
    /// What passed since `earlier`.
    pub fn since(&self, earlier: &Self) -> Self {
        Self {
            at_ns: self.at_ns.saturating_sub(earlier.at_ns),
            user_ns: self.user_ns.saturating_sub(earlier.user_ns),
            sys_ns: self.sys_ns.saturating_sub(earlier.sys_ns),
            run_delay_ns: self
                .run_delay_ns
                .zip(earlier.run_delay_ns)
                .map(|(now, then)| now.saturating_sub(then)),
        }
    }
}

/// Kernel threads of this process that carry io_uring requests which could not be started without blocking (io-wq).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct KernelWorkers {
    /// Thread id and processor time (user and system) in nanoseconds.
    threads: Vec<(u32, u64)>,
}

/// Nanoseconds per tick of /proc/PID/stat: USER_HZ is 100 on every Linux port in use.
const TICK_NS: u64 = 10_000_000;

impl KernelWorkers {
    /// Reads them. Each thread's processor time comes from schedstat (exact) or else from stat (10 ms ticks).
    pub fn read(root: &Root) -> Self {
        let threads = root
            .names("/proc/self/task")
            .into_iter()
            .filter_map(|name| {
                let folder = format!("/proc/self/task/{name}");
                let comm = root.text(format!("{folder}/comm")).ok()?;
                if !comm.starts_with("iou-wrk-") {
                    return None;
                }
                let exact = || {
                    let text = root.text(format!("{folder}/schedstat")).ok()?;
                    text.split_ascii_whitespace().next()?.parse::<u64>().ok()
                };
                let ticks = || {
                    let text = root.text(format!("{folder}/stat")).ok()?;
                    let (_, after) = text.rsplit_once(')')?;
                    let mut fields = after.split_ascii_whitespace().skip(11);
                    let user: u64 = fields.next()?.parse().ok()?;
                    let sys: u64 = fields.next()?.parse().ok()?;
                    Some((user + sys) * TICK_NS)
                };
                Some((name.parse().ok()?, exact().or_else(ticks)?))
            })
            .collect();
        Self { threads }
    }

    /// Number of threads.
    pub fn count(&self) -> usize {
        self.threads.len()
    }

    /// Processor time used since `earlier`. Threads that ended in between are missed: io-wq ends idle threads after
    /// five seconds, so a thread that worked in a window is still there at its end.
    pub fn busy_ns_since(&self, earlier: &Self) -> u64 {
        let before = |id: u32| earlier.threads.iter().find(|(i, _)| *i == id).map_or(0, |(_, ns)| *ns);
        self.threads.iter().map(|&(id, ns)| ns.saturating_sub(before(id))).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_busy_thread_is_charged_and_a_sleeping_one_is_not() {
        let probe = ThreadProbe::new();
        let start = probe.read();
        let mut x = 0u64;
        while probe.read().since(&start).at_ns < 100_000_000 {
            x = std::hint::black_box(x + 1);
        }
        let busy = probe.read();
        std::thread::sleep(std::time::Duration::from_millis(100));
        let slept = probe.read();
        let charged = |t: ThreadTime| t.user_ns + t.sys_ns;
        // A hundred milliseconds of wall time, of which neighbours may take a part.
        assert!(charged(busy.since(&start)) > 10_000_000, "{:?}", busy.since(&start));
        assert!(charged(slept.since(&busy)) < 20_000_000, "{:?}", slept.since(&busy));
    }

    #[test]
    fn kernel_workers_are_told_from_other_threads() {
        let folder = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = folder.path().join("proc/self/task").join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        write("10/comm", "plimsoll\n");
        write("10/schedstat", "999 0 1\n");
        write("11/comm", "iou-wrk-10\n");
        write("11/schedstat", "5000000 70 3\n");
        write("12/comm", "iou-wrk-10\n");
        write("12/stat", "12 (iou-wrk-10) S 1 1 1 0 -1 4 0 0 0 0 2 3 0 0 20 0 1 0 5 0 0\n");
        let root = Root::at(folder.path());
        let before = KernelWorkers::read(&root);
        assert_eq!(before, KernelWorkers { threads: vec![(11, 5_000_000), (12, 50_000_000)] });
        write("11/schedstat", "8000000 70 3\n");
        assert_eq!(KernelWorkers::read(&root).busy_ns_since(&before), 3_000_000);
    }
}
