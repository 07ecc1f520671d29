//! From calls, flags and counters of a process to how it does I/O: the way, the page cache, how many at once.

use record::{CallKind, Inspected, InspectedFile, InspectedProcess, SyncFlag};
use serde::Serialize;

/// Synchronous calls per second from which a process does I/O that no sample met: the page cache answers at once.
const CALLS_PER_S: f64 = 50.0;

/// A way to hand I/Os to the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Way {
    /// Asynchronous, by io_uring.
    IoUring,
    /// Asynchronous, by libaio.
    Libaio,
    /// One at a time per thread: the call waits.
    Synchronous,
}

impl Way {
    /// Whether a thread can have several I/Os outstanding.
    pub fn is_asynchronous(self) -> bool {
        self != Self::Synchronous
    }
}

/// Past the page cache, or through it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Caching {
    /// O_DIRECT.
    Direct,
    /// Through the page cache.
    Buffered,
    /// Some files so, some so.
    Both,
}

/// One way in use.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WayInUse {
    /// Which.
    pub way: Way,
    /// Absent where no file it goes to is known.
    pub caching: Option<Caching>,
    /// Whether `caching` follows from files met in calls; else from the files that are open.
    pub caching_seen: bool,
    /// Mean number outstanding; absent where it cannot be told.
    pub outstanding: Option<f64>,
    /// Mean number of threads met waiting: no less was outstanding. Synchronous I/O only.
    pub outstanding_at_least: Option<f64>,
    /// Largest number met in one ring.
    pub outstanding_peak: Option<u64>,
    /// Most that may be outstanding; absent where nothing known limits it.
    pub outstanding_limit: Option<u64>,
    /// What it rests on.
    pub evidence: Vec<String>,
}

/// How a process does I/O.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct HowItDoesIo {
    /// Ways in use: asynchronous ones first.
    pub ways: Vec<WayInUse>,
    /// What a database administrator should know besides.
    pub notes: Vec<String>,
}

/// Concludes.
pub fn how(seen: &Inspected) -> HowItDoesIo {
    let mut ways: Vec<WayInUse> = [io_uring(seen), libaio(seen)].into_iter().flatten().collect();
    ways.extend(synchronous(seen, !ways.is_empty()));
    at_the_device(seen, &mut ways);
    let notes = notes(seen, &ways);
    HowItDoesIo { ways, notes }
}

/// libaio tells nobody how many are outstanding, and threads that wait are not always met; the tracer tells it where
/// all I/Os go one way and to one device.
fn at_the_device(seen: &Inspected, ways: &mut [WayInUse]) {
    let ([way], Some([device])) = (ways, seen.devices.as_deref()) else { return };
    // What the page cache sends is not what the process has outstanding.
    let its_own = way.way == Way::Libaio || way.caching == Some(Caching::Direct);
    if its_own && way.outstanding.is_none() {
        way.outstanding = device.outstanding;
        if device.outstanding.is_some() {
            way.evidence.push(format!("outstanding as traced at {}", device.device));
        }
    }
}

fn met(process: &InspectedProcess, kind: CallKind) -> u64 {
    process.calls.iter().filter(|c| c.kind == kind).map(|c| c.seen).sum()
}

fn asleep_in(process: &InspectedProcess, functions: &[&str]) -> u64 {
    process.waits.iter().filter(|(f, _)| functions.contains(&f.as_str())).map(|(_, n)| n).sum()
}

/// By the files that the processes hold open: a ring does not tell which it serves.
fn caching_of_open(processes: &[&InspectedProcess]) -> Option<Caching> {
    let direct = processes.iter().any(|p| p.direct_files > 0);
    let buffered = processes.iter().any(|p| p.direct_files == 0 && p.buffered_files > 0);
    match (direct, buffered) {
        (true, true) => Some(Caching::Both),
        (true, false) => Some(Caching::Direct),
        (false, true) => Some(Caching::Buffered),
        (false, false) => None,
    }
}

fn io_uring(seen: &Inspected) -> Option<WayInUse> {
    let users: Vec<&InspectedProcess> = seen
        .processes
        .iter()
        .filter(|p| {
            let works = p.rings.iter().any(|r| r.completed.unwrap_or(0) > 0 || r.outstanding_peak > Some(0));
            works || met(p, CallKind::IoUring) > 0 || asleep_in(p, &["io_cqring_wait"]) > 0
        })
        .collect();
    if users.is_empty() {
        return None;
    }
    let rings = || users.iter().flat_map(|p| &p.rings);
    // One ring that does not tell spoils the sum.
    let known = rings().next().is_some() && rings().all(|r| r.outstanding.is_some());
    let mut evidence = vec![format!("{} in {}", things(rings().count(), "ring"), processes(users.len()))];
    let completed: u64 = rings().filter_map(|r| r.completed).sum();
    if rings().any(|r| r.completed.is_some()) && seen.length_s > 0.0 {
        evidence.push(format!("{:.0} requests completed per second", completed as f64 / seen.length_s));
    }
    let calls: u64 = users.iter().map(|p| met(p, CallKind::IoUring)).sum();
    if calls > 0 {
        evidence.push(format!("met {calls} times in io_uring_enter"));
    }
    if rings().any(|r| r.polled) {
        evidence.push("a kernel thread fetches submissions (SQPOLL)".to_owned());
    }
    Some(WayInUse {
        way: Way::IoUring,
        caching: caching_of_open(&users),
        caching_seen: false,
        outstanding: known.then(|| rings().filter_map(|r| r.outstanding).sum()),
        outstanding_at_least: None,
        outstanding_peak: rings().filter_map(|r| r.outstanding_peak).max(),
        outstanding_limit: None,
        evidence,
    })
}

fn libaio(seen: &Inspected) -> Option<WayInUse> {
    let asleep = |p: &InspectedProcess| asleep_in(p, &["read_events"]);
    let users: Vec<&InspectedProcess> = seen
        .processes
        .iter()
        .filter(|p| met(p, CallKind::Libaio) > 0 || asleep(p) > 0 || moved(p) > 0 || moves_by_context(p))
        .collect();
    if users.is_empty() {
        return None;
    }
    let contexts: Vec<u64> = users.iter().flat_map(|p| p.contexts.iter().map(|c| c.limit)).collect();
    let mut evidence = vec![format!("{} in {}", things(contexts.len(), "context"), processes(users.len()))];
    for call in ["io_submit", "io_getevents", "io_pgetevents"] {
        let times: u64 = users.iter().flat_map(|p| &p.calls).filter(|c| c.call == call).map(|c| c.seen).sum();
        if times > 0 {
            evidence.push(format!("met {times} times in {call}"));
        }
    }
    let [movements, readings] = [moved, read].map(|of| users.iter().map(|p| of(p)).sum::<u64>());
    if movements > 0 {
        evidence.push(format!("completions had come in {movements} of {readings} looks at its ring"));
    } else if users.iter().all(|p| met(p, CallKind::Libaio) == 0 && asleep(p) == 0) {
        evidence.push("storage was read or written, and not by calls that wait".to_owned());
    }
    Some(WayInUse {
        way: Way::Libaio,
        caching: caching_of_open(&users),
        caching_seen: false,
        outstanding: None,
        outstanding_at_least: None,
        outstanding_peak: None,
        outstanding_limit: (!contexts.is_empty()).then(|| contexts.iter().sum()),
        evidence,
    })
}

fn moved(process: &InspectedProcess) -> u64 {
    process.contexts.iter().map(|c| c.moved).sum()
}

fn read(process: &InspectedProcess) -> u64 {
    process.contexts.iter().map(|c| c.readings).sum()
}

/// A context, no ring at work, and more bytes at the storage than calls that wait account for.
fn moves_by_context(process: &InspectedProcess) -> bool {
    let Some(io) = process.io else { return false };
    let at_work = process.rings.iter().any(|r| r.completed.unwrap_or(0) > 0);
    let by_calls = io.read_call_bytes + io.write_call_bytes;
    !process.contexts.is_empty() && !at_work && (io.read_bytes + io.write_bytes) / 2 > by_calls
}

fn synchronous(seen: &Inspected, besides: bool) -> Option<WayInUse> {
    let files: Vec<&InspectedFile> = seen.files.iter().filter(|f| f.seen() > 0).collect();
    if !files.is_empty() {
        let caching = match (files.iter().any(|f| f.direct), files.iter().any(|f| !f.direct)) {
            (true, true) => Caching::Both,
            (true, false) => Caching::Direct,
            _ => Caching::Buffered,
        };
        let mut calls: Vec<(&str, u64)> = Vec::new();
        for call in files.iter().flat_map(|f| &f.calls) {
            match calls.iter_mut().find(|(name, _)| *name == call.call) {
                Some((_, times)) => *times += call.seen,
                None => calls.push((call.call, call.seen)),
            }
        }
        calls.sort_by_key(|(_, times)| std::cmp::Reverse(*times));
        let waiting: f64 = files.iter().filter_map(|f| f.waiting).sum();
        return Some(WayInUse {
            way: Way::Synchronous,
            caching: Some(caching),
            caching_seen: true,
            outstanding: None,
            outstanding_at_least: Some(waiting),
            outstanding_peak: None,
            outstanding_limit: Some(seen.processes.iter().map(|p| p.threads).sum()),
            evidence: calls.iter().map(|(name, times)| format!("met {times} times in {name}")).collect(),
        });
    }
    // Beside an asynchronous way a few calls are those of pipes and clocks.
    let busy: Vec<&InspectedProcess> = seen
        .processes
        .iter()
        .filter(|p| p.buffered_files + p.direct_files > 0 && calls_per_s(p, seen.length_s) >= CALLS_PER_S)
        .collect();
    if busy.is_empty() || besides {
        return None;
    }
    let rate: f64 = busy.iter().map(|p| calls_per_s(p, seen.length_s)).sum();
    Some(WayInUse {
        way: Way::Synchronous,
        caching: caching_of_open(&busy),
        caching_seen: false,
        outstanding: None,
        outstanding_at_least: None,
        outstanding_peak: None,
        outstanding_limit: Some(busy.iter().map(|p| p.threads).sum()),
        evidence: vec![format!(
            "{rate:.0} reading and writing calls per second, too short to be met: the page cache answers them (pipes and \
             sockets count too)"
        )],
    })
}

fn calls_per_s(process: &InspectedProcess, length_s: f64) -> f64 {
    let calls = process.io.map_or(0, |io| io.read_calls + io.write_calls);
    if length_s > 0.0 { calls as f64 / length_s } else { 0.0 }
}

fn notes(seen: &Inspected, ways: &[WayInUse]) -> Vec<String> {
    let mut notes = Vec::new();
    let uses = |way| ways.iter().find(|w| w.way == way);
    if let Some(way) = uses(Way::Libaio)
        && way.caching != Some(Caching::Direct)
    {
        notes.push(
            "libaio is asynchronous only for files opened with O_DIRECT: for the others io_submit waits until each I/O is \
             done, so the depth asked for does not reach the device."
                .to_owned(),
        );
    }
    let workers: u64 = seen.processes.iter().map(|p| p.uring_workers).sum();
    if uses(Way::IoUring).is_some() && workers > 0 {
        notes.push(format!(
            "{} of io_uring: some requests could not be started without waiting and are done one by one by kernel threads.",
            things(workers as usize, "worker")
        ));
    }
    let synchronous_only = uses(Way::Synchronous).is_some() && ways.len() == 1;
    if synchronous_only && seen.processes.len() == 1 && seen.processes[0].threads == 1 {
        notes.push(
            "One thread and calls that wait: never more than one I/O outstanding (but for read-ahead and write-back of the \
             page cache). A deeper device queue cannot help this process; asynchronous I/O or more processes can."
                .to_owned(),
        );
    }
    for (flag, name) in [(SyncFlag::Dsync, "O_DSYNC"), (SyncFlag::Sync, "O_SYNC")] {
        let count = seen.files.iter().filter(|f| f.sync == flag && f.writable).count();
        if count > 0 {
            let (count, verb) = (things(count, "file"), if count == 1 { "is" } else { "are" });
            notes.push(format!(
                "{count} {verb} open for writing with {name}: each write waits for stable storage."
            ));
        }
    }
    if let Some(way) = ways.iter().find(|w| !w.caching_seen && w.way.is_asynchronous())
        && way.caching == Some(Caching::Direct)
        && seen.processes.iter().any(|p| p.buffered_files > 0)
    {
        notes.push(
            "Files without O_DIRECT are open besides; which files an asynchronous I/O goes to cannot be seen from outside."
                .to_owned(),
        );
    }
    notes
}

fn things(count: usize, word: &str) -> String {
    if count == 1 { format!("1 {word}") } else { format!("{count} {word}s") }
}

fn processes(count: usize) -> String {
    if count == 1 { "1 process".to_owned() } else { format!("{count} processes") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::{AioSeen, AskedDevice, ProcessIo, SeenCall, UringSeen};
    use std::collections::BTreeMap;

    fn call(call: &'static str, kind: CallKind, seen: u64) -> SeenCall {
        SeenCall { call, kind, seen, sizes: BTreeMap::new() }
    }

    fn inspected(process: InspectedProcess) -> Inspected {
        let process = InspectedProcess { threads: 1, ..process };
        Inspected { length_s: 2.0, samples: 200, processes: vec![process], ..Inspected::default() }
    }

    #[test]
    fn an_idle_process_does_nothing() {
        let process = InspectedProcess {
            direct_files: 3,
            contexts: vec![AioSeen { limit: 126, ..AioSeen::default() }],
            ..InspectedProcess::default()
        };
        assert_eq!(how(&inspected(process)).ways, []);
        let ring = UringSeen {
            completed: Some(0),
            outstanding: Some(0.0),
            outstanding_peak: Some(0),
            ..UringSeen::default()
        };
        let process = InspectedProcess { rings: vec![ring], ..InspectedProcess::default() };
        assert_eq!(how(&inspected(process)).ways, [], "a ring that does nothing is no I/O");
    }

    #[test]
    fn a_ring_at_work_is_io_uring_with_its_outstanding() {
        let ring = UringSeen {
            completed: Some(4000),
            outstanding: Some(7.5),
            outstanding_peak: Some(8),
            ..UringSeen::default()
        };
        let process = InspectedProcess {
            rings: vec![ring, ring],
            direct_files: 1,
            buffered_files: 2,
            ..InspectedProcess::default()
        };
        let answer = how(&inspected(process));
        let [way] = answer.ways.as_slice() else { panic!("{answer:?}") };
        assert_eq!((way.way, way.caching, way.caching_seen), (Way::IoUring, Some(Caching::Direct), false));
        assert_eq!((way.outstanding, way.outstanding_peak), (Some(15.0), Some(8)));
        assert!(answer.notes.iter().any(|n| n.contains("cannot be seen from outside")), "{:?}", answer.notes);
    }

    #[test]
    fn libaio_is_known_by_its_calls_or_by_bytes_that_no_call_accounts_for() {
        let by_calls = InspectedProcess {
            calls: vec![call("io_getevents", CallKind::Libaio, 9)],
            ..InspectedProcess::default()
        };
        let io =
            ProcessIo { read_bytes: 1 << 30, read_call_bytes: 100, read_calls: 1, ..ProcessIo::default() };
        let by_bytes = InspectedProcess { io: Some(io), ..InspectedProcess::default() };
        for process in [by_calls, by_bytes] {
            let process = InspectedProcess {
                contexts: vec![AioSeen { limit: 126, ..AioSeen::default() }],
                buffered_files: 1,
                ..process
            };
            let mut seen = inspected(process);
            seen.devices = Some(vec![AskedDevice { outstanding: Some(7.9), ..AskedDevice::default() }]);
            let answer = how(&seen);
            let [way] = answer.ways.as_slice() else { panic!("{answer:?}") };
            assert_eq!(
                (way.way, way.caching, way.outstanding_limit),
                (Way::Libaio, Some(Caching::Buffered), Some(126))
            );
            assert_eq!(way.outstanding, Some(7.9));
            assert!(answer.notes[0].contains("O_DIRECT"), "{:?}", answer.notes);
        }
        let io = ProcessIo { read_call_bytes: 1 << 30, read_calls: 131_072, ..io };
        let process = InspectedProcess {
            io: Some(io),
            contexts: vec![AioSeen { limit: 126, ..AioSeen::default() }],
            buffered_files: 1,
            ..InspectedProcess::default()
        };
        assert_eq!(
            how(&inspected(process)).ways[0].way,
            Way::Synchronous,
            "calls that wait account for all bytes"
        );
    }

    #[test]
    fn files_met_in_calls_are_synchronous_and_tell_the_caching() {
        let file = |direct, seen| InspectedFile {
            direct,
            calls: vec![call("pread64", CallKind::Read, seen)],
            waiting: Some(seen as f64 / 200.0),
            ..InspectedFile::default()
        };
        let mut seen = inspected(InspectedProcess::default());
        seen.files = vec![file(true, 150), file(false, 20)];
        let answer = how(&seen);
        let [way] = answer.ways.as_slice() else { panic!("{answer:?}") };
        assert_eq!((way.way, way.caching, way.caching_seen), (Way::Synchronous, Some(Caching::Both), true));
        assert!(way.outstanding.is_none() && (way.outstanding_at_least.unwrap_or(0.0) - 0.85).abs() < 1e-9);
        assert_eq!(way.evidence, ["met 170 times in pread64"]);
        assert!(answer.notes[0].contains("never more than one I/O"), "{:?}", answer.notes);
    }
}
