//! The same I/O seen by the kernel's own event buffer: a tracefs instance of our own, removed in every case.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A tracefs instance that records block events of one device.
pub struct Events {
    instance: PathBuf,
    mounted: Option<tempfile::TempDir>,
}

/// What the events of one run add up to.
#[derive(Debug, Default)]
pub struct Split {
    pub ios: u64,
    pub bytes: u64,
    pub host_wait_s: f64,
    pub service_s: f64,
}

impl Events {
    /// `None` with a printed reason where there is no tracefs.
    pub fn start(device_number: (u32, u32)) -> Option<Self> {
        let (tracefs, mounted) = tracefs()?;
        let instance = tracefs.join("instances").join(format!("plimsoll-test-{}", std::process::id()));
        std::fs::create_dir(&instance).unwrap();
        let made = Self { instance, mounted };
        // The clock of the tracer.
        made.write("trace_clock", "mono");
        made.write("buffer_size_kb", "16384");
        let (major, minor) = device_number;
        for event in ["block_io_start", "block_rq_insert", "block_rq_issue", "block_rq_complete"] {
            let folder = format!("events/block/{event}");
            if made.instance.join(&folder).exists() {
                made.write(&format!("{folder}/filter"), &format!("dev == {}", major << 20 | minor));
                made.write(&format!("{folder}/enable"), "1");
            }
        }
        Some(made)
    }

    fn write(&self, file: &str, value: &str) {
        let path = self.instance.join(file);
        std::fs::write(&path, value).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    }

    /// Stops recording and adds up: host wait from the first event of a request to its dispatch, service from there
    /// to completion.
    pub fn split(&self) -> Split {
        self.write("tracing_on", "0");
        for cpu in std::fs::read_dir(self.instance.join("per_cpu")).unwrap() {
            let stats = std::fs::read_to_string(cpu.unwrap().path().join("stats")).unwrap();
            let lost = stats.lines().find_map(|l| l.strip_prefix("overrun: ")).unwrap();
            assert_eq!(lost.trim(), "0", "the event buffer was too small");
        }
        let text = std::fs::read_to_string(self.instance.join("trace")).unwrap();
        let mut open: HashMap<String, (f64, Option<f64>)> = HashMap::new();
        let mut split = Split::default();
        for line in text.lines().filter(|l| !l.starts_with('#')) {
            let Some(event) = Event::of(line) else { continue };
            match event.what {
                "block_io_start" | "block_rq_insert" => {
                    open.entry(event.key).or_insert((event.at_s, None));
                }
                "block_rq_issue" => open.entry(event.key).or_insert((event.at_s, None)).1 = Some(event.at_s),
                "block_rq_complete" => {
                    if let Some((start, Some(issue))) = open.remove(&event.key) {
                        split.ios += 1;
                        split.bytes += event.sectors * 512;
                        split.host_wait_s += issue - start;
                        split.service_s += event.at_s - issue;
                    }
                }
                _ => {}
            }
        }
        split
    }
}

impl Drop for Events {
    fn drop(&mut self) {
        let _ = std::fs::write(self.instance.join("tracing_on"), "0");
        if let Err(e) = std::fs::remove_dir(&self.instance) {
            eprintln!("{}: could not be removed: {e}", self.instance.display());
        }
        if let Some(place) = &self.mounted {
            let _ = Command::new("umount").arg(place.path()).status();
        }
    }
}

/// Where tracefs is mounted, or a mount of our own.
fn tracefs() -> Option<(PathBuf, Option<tempfile::TempDir>)> {
    let usual = Path::new("/sys/kernel/tracing");
    if usual.join("instances").exists() {
        return Some((usual.to_owned(), None));
    }
    let place = tempfile::tempdir().unwrap();
    let mounted = Command::new("mount").args(["-t", "tracefs", "tracefs"]).arg(place.path()).status();
    if !mounted.is_ok_and(|s| s.success()) {
        eprintln!("skipped: tracefs cannot be mounted");
        return None;
    }
    Some((place.path().to_owned(), Some(place)))
}

struct Event<'a> {
    what: &'a str,
    at_s: f64,
    /// Operation and first sector: no two requests in flight share them in these tests.
    key: String,
    sectors: u64,
}

impl<'a> Event<'a> {
    /// `fio-12 [000] ..... 12.345678: block_rq_issue: 7,0 R 4096 () 1234 + 8 none,0,0 [fio]`
    fn of(line: &'a str) -> Option<Self> {
        let (head, rest) = line.split_once(": block_")?;
        let at_s = head.rsplit(' ').next()?.parse().ok()?;
        let what_length = rest.find(':')?;
        let what = &line[head.len() + 2..head.len() + 2 + "block_".len() + what_length];
        let mut words = rest[what_length + 1..].split_ascii_whitespace();
        let operation = words.nth(1)?;
        let mut words = words.skip_while(|w| !w.ends_with(')'));
        words.next()?;
        let sector = words.next()?;
        let sectors = words.nth(1)?.parse().ok()?;
        Some(Self { what, at_s, key: format!("{operation} {sector}"), sectors })
    }
}
