//! What tracing costs: run time of the kernel's programs per I/O, and processor time of the load, against an equal
//! bpftrace script and against no tracing.
//!
//! Equal means: both split every I/O into host wait and service time as histograms by device and direction, sum sizes,
//! and count who asked. Ours does more besides (a table of what is in flight, merges, requeues). Run times are the
//! kernel's own (kernel.bpf_stats_enabled, which is put back), read from /proc/PID/fdinfo of the observer; I/Os are those
//! the device counted meanwhile. The load's processor time is measured with these statistics off, since they cost too.

use crate::Outcome;
use crate::contender::Setup;
use crate::fio;
use crate::rounds::median;
use crate::scratch::Scratch;
use std::collections::HashMap;
use std::os::linux::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const STATISTICS: &str = "/proc/sys/kernel/bpf_stats_enabled";

/// The table of in-flight requests of bpftrace must not overflow: what finds no place costs less, and is wrong.
const SCRIPT: &str = "\
tracepoint:block:block_rq_insert { @inserted[args->dev, args->sector] = nsecs; }
tracepoint:block:block_rq_issue {
  $began = @inserted[args->dev, args->sector];
  if ($began) { @wait[args->dev, args->rwbs] = hist(nsecs - $began); delete(@inserted[args->dev, args->sector]); }
  @issued[args->dev, args->sector] = nsecs;
  @size[args->dev, args->rwbs] = hist(args->bytes);
}
tracepoint:block:block_rq_complete {
  $began = @issued[args->dev, args->sector];
  if ($began) { @service[args->dev, args->rwbs] = hist(nsecs - $began); delete(@issued[args->dev, args->sector]); }
}
";
const ASKERS: &str = "\
tracepoint:block:block_bio_queue {
  @asked[pid, comm, args->dev] = count();
  @bytes[pid, comm, args->dev] = sum(args->nr_sector * 512);
}
";

const CONTENDERS: [&str; 4] =
    ["no tracing", "plimsoll watch", "bpftrace, queues", "bpftrace, queues and askers"];

/// Compares on a file of the folder, read directly.
pub fn compare(setup: &Setup) -> Outcome<()> {
    let able = std::fs::read_to_string(STATISTICS).is_ok()
        && rustix::process::geteuid().is_root()
        && Command::new("bpftrace").arg("--version").output().is_ok_and(|o| o.status.success());
    if !able {
        println!("\ntracer: left out: it needs root, kernel.bpf_stats_enabled and bpftrace");
        return Ok(());
    }
    let file = Scratch::new(&setup.folder, "traced", if setup.tiny { 16 << 20 } else { 512 << 20 })?;
    let device = device_of(file.path())?;
    let mut seen: Vec<Vec<Taken>> = vec![Vec::new(); CONTENDERS.len()];
    for round in 0..setup.rounds {
        for (place, name) in CONTENDERS.iter().enumerate() {
            eprintln!("  round {} of {}: {name}", round + 1, setup.rounds);
            seen[place].push(one(setup, place, file.path(), &device)?);
        }
    }
    println!(
        "\nTracing of direct 8 KiB reads at depth 32 (goals: at most 0.25 of bpftrace per I/O, at most 1.05 of the load's processor time)\n"
    );
    println!(
        "| observer | ns per I/O of its programs, median [min..max] | ours / it | load, us of processor per I/O | of no tracing | kIOPS |"
    );
    println!("| --- | --- | --- | --- | --- | --- |");
    let middle = |place: usize, of: fn(&Taken) -> f64| median(seen[place].iter().map(of).collect());
    for (place, name) in CONTENDERS.iter().enumerate() {
        let ns = |t: &Taken| t.program_ns;
        let (low, high) =
            seen[place].iter().map(ns).fold((f64::INFINITY, 0.0_f64), |(l, h), v| (l.min(v), h.max(v)));
        let ratio =
            if place == 0 { "-".to_owned() } else { format!("{:.2}", middle(1, ns) / middle(place, ns)) };
        println!(
            "| {name} | {:.0} [{low:.0}..{high:.0}] | {ratio} | {:.2} | {:.3} | {:.0} |",
            middle(place, ns),
            middle(place, |t| t.load_us),
            middle(place, |t| t.load_us) / middle(0, |t| t.load_us),
            middle(place, |t| t.kiops),
        );
    }
    Ok(())
}

#[derive(Clone, Copy)]
struct Taken {
    program_ns: f64,
    load_us: f64,
    kiops: f64,
}

fn one(setup: &Setup, place: usize, file: &Path, device: &Path) -> Outcome<Taken> {
    let observer = Observer::start(setup, place)?;
    let load = |seconds: u32| {
        let mut words: Vec<String> =
            ["--ioengine=libaio", "--iodepth=32", "--direct=1", "--rw=randread", "--bs=8k", "--time_based"]
                .map(str::to_owned)
                .to_vec();
        words.extend([format!("--filename={}", file.display()), format!("--runtime={seconds}")]);
        fio::cpu_per_io(&fio::job(&words)?)
    };
    load(1)?;
    let bare = load(setup.seconds)?;
    let mut program_ns = 0.0;
    if let Some(pid) = observer.pid() {
        let _on = Statistics::on()?;
        let (before, ios) = (programs(pid)?, completed(device)?);
        load(setup.seconds)?;
        let (after, ios_after) = (programs(pid)?, completed(device)?);
        let grown: u64 = after.iter().map(|(id, ns)| ns - before.get(id).copied().unwrap_or(0)).sum();
        if after.is_empty() || grown == 0 {
            return Err(format!("{} runs no program", CONTENDERS[place]).into());
        }
        program_ns = grown as f64 / (ios_after - ios).max(1) as f64;
    }
    Ok(Taken { program_ns, load_us: bare.total_us(), kiops: bare.iops / 1e3 })
}

/// Who observes; ended when dropped.
struct Observer(Option<Child>);

impl Observer {
    fn start(setup: &Setup, place: usize) -> Outcome<Self> {
        let mut command = match place {
            0 => return Ok(Self(None)),
            1 => {
                let mut command = Command::new(&setup.plimsoll);
                command.args(["watch", "--json"]);
                command
            }
            _ => {
                let script = if place == 2 { SCRIPT.to_owned() } else { format!("{SCRIPT}{ASKERS}") };
                // bpftrace looks tracepoints up in tracefs: mounted for it alone where it is not.
                let mount = "[ -d /sys/kernel/tracing/events ] || mount -t tracefs none /sys/kernel/tracing; exec \"$@\"";
                let mut command = Command::new("unshare");
                command.args(["-m", "sh", "-c", mount, "sh", "bpftrace", "-e", &script]);
                command.env("BPFTRACE_MAP_KEYS_MAX", "65536");
                command
            }
        };
        let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
        let observer = Self(Some(child));
        let pid = observer.pid().unwrap_or_default();
        let deadline = Instant::now() + Duration::from_secs(20);
        while programs(pid)?.len() < 3 {
            if Instant::now() > deadline {
                return Err(format!("{} did not begin", CONTENDERS[place]).into());
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        // All of them attached.
        std::thread::sleep(Duration::from_secs(1));
        Ok(observer)
    }

    fn pid(&self) -> Option<u32> {
        self.0.as_ref().map(Child::id)
    }
}

impl Drop for Observer {
    fn drop(&mut self) {
        if let Some(child) = &mut self.0 {
            // It is ours; when it has ended already there is nothing to end.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Run times of a process's programs by their number, ns.
fn programs(pid: u32) -> Outcome<HashMap<u32, u64>> {
    let mut all = HashMap::new();
    for entry in std::fs::read_dir(format!("/proc/{pid}/fdinfo"))? {
        // Descriptors come and go meanwhile.
        let Ok(text) = std::fs::read_to_string(entry?.path()) else { continue };
        let value = |key: &str| text.lines().find_map(|l| l.strip_prefix(key)?.trim().parse::<u64>().ok());
        if let (Some(id), Some(ns)) = (value("prog_id:"), value("run_time_ns:")) {
            all.insert(u32::try_from(id)?, ns);
        }
    }
    Ok(all)
}

/// The kernel's statistics of programs, while this lives.
struct Statistics(String);

impl Statistics {
    fn on() -> Outcome<Self> {
        let before = std::fs::read_to_string(STATISTICS)?;
        std::fs::write(STATISTICS, "1")?;
        Ok(Self(before.trim().to_owned()))
    }
}

impl Drop for Statistics {
    fn drop(&mut self) {
        if let Err(error) = std::fs::write(STATISTICS, &self.0) {
            eprintln!("{STATISTICS} could not be set back to {}: {error}", self.0);
        }
    }
}

/// The folder in sysfs of the disk that holds a file.
fn device_of(file: &Path) -> Outcome<PathBuf> {
    let number = std::fs::metadata(file)?.st_dev();
    let (major, minor) = (rustix::fs::major(number), rustix::fs::minor(number));
    let folder = std::fs::canonicalize(format!("/sys/dev/block/{major}:{minor}"))
        .map_err(|e| format!("{} is on no block device: {e}", file.display()))?;
    let whole = folder.join("partition").exists();
    Ok(if whole { folder.parent().unwrap_or(&folder).to_owned() } else { folder })
}

/// Requests a device completed.
fn completed(device: &Path) -> Outcome<u64> {
    let text = std::fs::read_to_string(device.join("stat"))?;
    let numbers: Vec<u64> = text.split_whitespace().filter_map(|n| n.parse().ok()).collect();
    Ok([0, 4, 11, 15].iter().filter_map(|place| numbers.get(*place)).sum())
}
