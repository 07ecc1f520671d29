//! One process while it is looked at.

use super::call::{self, Doing};
use super::fdinfo;
use super::files::{Calls, Files, Held};
use super::{text, tree};
use crate::root::Root;
use record::{AioSeen, InspectedProcess, ProcessIo, UringSeen};
use std::collections::BTreeMap;
use std::io;
use std::os::unix::fs::FileExt;

/// Letters kept of a command line.
const COMMAND_CHARS: usize = 100;

/// Kernel functions told apart.
const WAITS: usize = 50;

/// A ring and the sums over its readings.
#[derive(Debug, Default)]
struct Ring {
    seen: UringSeen,
    posted: Option<u32>,
    sum: u64,
    readings: u64,
}

/// A libaio context and where its ring stood.
#[derive(Debug, Default)]
struct Context {
    seen: AioSeen,
    tail: Option<u32>,
}

#[derive(Debug)]
pub(super) struct Watched {
    seen: InspectedProcess,
    calls: Calls,
    rings: BTreeMap<u32, Ring>,
    /// By the address of the ring.
    contexts: BTreeMap<u64, Context>,
    first_io: Option<ProcessIo>,
}

impl Watched {
    /// Begins; nothing when the process has gone.
    pub fn new(root: &Root, pid: u32) -> Option<Self> {
        let stat = root.text(format!("/proc/{pid}/stat")).ok();
        let name = root.text(format!("/proc/{pid}/comm")).ok()?;
        let command = root.bytes(format!("/proc/{pid}/cmdline")).ok().map(|bytes| {
            let line = String::from_utf8_lossy(&bytes).replace('\0', " ");
            line.trim().chars().take(COMMAND_CHARS).collect::<String>()
        });
        let seen = InspectedProcess {
            pid,
            parent: stat.and_then(|s| tree::parent(&s)),
            name,
            command: command.filter(|c| !c.is_empty()),
            ..InspectedProcess::default()
        };
        let first_io = root.text(format!("/proc/{pid}/io")).ok().and_then(|t| parse_io(&t));
        Some(Self {
            seen,
            calls: Calls::default(),
            rings: BTreeMap::new(),
            contexts: BTreeMap::new(),
            first_io,
        })
    }

    pub fn pid(&self) -> u32 {
        self.seen.pid
    }

    /// Files, rings, contexts, counters. What a process had stays told after it has gone.
    ///
    /// Errors: its files are refused.
    pub fn look(&mut self, root: &Root, files: &mut Files) -> io::Result<()> {
        let pid = self.seen.pid;
        let Held { rings, direct, buffered } = match files.look(pid) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(()),
            other => other?,
        };
        if let Some(now) = root.text(format!("/proc/{pid}/io")).ok().and_then(|t| parse_io(&t))
            && let Some(first) = self.first_io
        {
            self.seen.io = grown(first, now);
        }
        if let Ok(maps) = root.text(format!("/proc/{pid}/maps")) {
            for (start, limit) in maps.lines().filter_map(fdinfo::aio_context) {
                self.contexts.entry(start).or_default().seen.limit = limit;
            }
        }
        for fd in rings {
            self.rings.entry(fd).or_default().seen.fd = fd;
        }
        let threads = tree::threads(root, pid);
        if !threads.is_empty() {
            let worker = |tid: &&u32| {
                root.text(format!("/proc/{pid}/task/{tid}/comm"))
                    .is_ok_and(|name| name.starts_with("iou-wrk-"))
            };
            self.seen.uring_workers = threads.iter().filter(worker).count() as u64;
            self.seen.threads = threads.len() as u64;
            self.seen.direct_files = self.seen.direct_files.max(direct);
            self.seen.buffered_files = self.seen.buffered_files.max(buffered);
        }
        Ok(())
    }

    /// Looks at every thread and every ring once.
    pub fn sample(&mut self, root: &Root, files: &mut Files) {
        let pid = self.seen.pid;
        for (fd, ring) in &mut self.rings {
            if let Ok(text) = root.text(format!("/proc/{pid}/fdinfo/{fd}")) {
                ring.meet(&text);
            }
        }
        self.contexts(root);
        for tid in tree::threads(root, pid) {
            let line = match text(root, format!("/proc/{pid}/task/{tid}/syscall")) {
                Ok(Some(line)) => line,
                Ok(None) => continue,
                Err(_) => {
                    self.refused(root, tid);
                    continue;
                }
            };
            let Some(doing) = call::parse(&line) else { continue };
            self.seen.readings += 1;
            match doing {
                Doing::Running => self.seen.running += 1,
                Doing::Io(call) => match call.fd {
                    Some(fd) if !files.meet(pid, fd, call) => {}
                    _ => self.calls.meet(call),
                },
                Doing::Other => {}
            }
        }
    }

    /// Whether completions came. A program that polls its ring is never met in a call.
    fn contexts(&mut self, root: &Root) {
        if self.contexts.is_empty() {
            return;
        }
        let Ok(memory) = std::fs::File::open(root.place(format!("/proc/{}/mem", self.seen.pid))) else {
            return;
        };
        for (start, context) in &mut self.contexts {
            let mut head = [0; fdinfo::AIO_HEAD_BYTES];
            let Ok(()) = memory.read_exact_at(&mut head, *start) else { continue };
            let Some(tail) = fdinfo::aio_tail(head) else { continue };
            if let Some(before) = context.tail.replace(tail) {
                context.seen.readings += 1;
                context.seen.moved += u64::from(before != tail);
            }
        }
    }

    /// Where the call is refused, the function that a thread sleeps in may still be told.
    fn refused(&mut self, root: &Root, tid: u32) {
        self.seen.readings += 1;
        self.seen.refused += 1;
        let wait = root.text(format!("/proc/{}/task/{tid}/wchan", self.seen.pid)).unwrap_or_default();
        let known = self.seen.waits.contains_key(&wait) || self.seen.waits.len() < WAITS;
        if known && !wait.is_empty() && wait != "0" {
            *self.seen.waits.entry(wait).or_default() += 1;
        }
    }

    pub fn finish(self) -> InspectedProcess {
        let Self { mut seen, calls, rings, contexts, .. } = self;
        seen.contexts = contexts.into_values().map(|c| c.seen).collect();
        seen.calls = calls.list();
        seen.rings = rings.into_values().map(Ring::finish).collect();
        seen
    }
}

impl Ring {
    fn meet(&mut self, text: &str) {
        let now = fdinfo::ring(text);
        self.seen.entries = now.entries.or(self.seen.entries);
        self.seen.polled |= now.polled;
        if let Some(posted) = now.posted {
            let grown = self.posted.map_or(0, |before| posted.wrapping_sub(before));
            *self.seen.completed.get_or_insert(0) += u64::from(grown);
            self.posted = Some(posted);
        }
        if let Some(outstanding) = now.outstanding() {
            self.sum += outstanding;
            self.readings += 1;
            self.seen.outstanding_peak = self.seen.outstanding_peak.max(Some(outstanding));
        }
    }

    fn finish(mut self) -> UringSeen {
        self.seen.outstanding = (self.readings > 0).then(|| self.sum as f64 / self.readings as f64);
        self.seen
    }
}

/// `/proc/PID/io`.
fn parse_io(text: &str) -> Option<ProcessIo> {
    let value = |name: &str| {
        let line = text.lines().find_map(|l| l.strip_prefix(name)?.strip_prefix(':'))?;
        line.trim().parse::<u64>().ok()
    };
    Some(ProcessIo {
        read_calls: value("syscr")?,
        read_call_bytes: value("rchar")?,
        write_calls: value("syscw")?,
        write_call_bytes: value("wchar")?,
        read_bytes: value("read_bytes")?,
        write_bytes: value("write_bytes")?,
    })
}

/// Growth; absent when a counter went back.
fn grown(first: ProcessIo, now: ProcessIo) -> Option<ProcessIo> {
    Some(ProcessIo {
        read_calls: now.read_calls.checked_sub(first.read_calls)?,
        read_call_bytes: now.read_call_bytes.checked_sub(first.read_call_bytes)?,
        write_calls: now.write_calls.checked_sub(first.write_calls)?,
        write_call_bytes: now.write_call_bytes.checked_sub(first.write_call_bytes)?,
        read_bytes: now.read_bytes.checked_sub(first.read_bytes)?,
        write_bytes: now.write_bytes.checked_sub(first.write_bytes)?,
    })
}
