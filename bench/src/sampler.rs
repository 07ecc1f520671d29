//! Processor time of one sample of all devices, against iostat and against the bare limit.
//!
//! Invented counters are mounted over /proc/diskstats in a mount namespace of our own and rewritten before each sample, so
//! that every row of every sample is new. What the kernel needs to format the real file is therefore not in any of
//! the figures: it is the same for all. Processor time is that of all threads (schedstat, nanoseconds), from the second
//! sample on: start-up is left out for all alike.

use crate::Outcome;
use crate::contender::Setup;
use crate::rounds::median;
use host::Root;
use host::survey::{Survey, SurveyOptions};
use std::fmt::Write as _;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// The word that runs one of our own loops in the namespace.
const LOOP: &str = "sampler-loop";

/// Who samples.
const CONTENDERS: [&str; 5] = [
    "limit: read and parse",
    "plimsoll survey",
    "plimsoll watch --no-trace (lines)",
    "plimsoll watch (lines)",
    "iostat -dx -p ALL 1",
];

/// Compares at 1,000 and 10,000 devices.
pub fn compare(setup: &Setup) -> Outcome<()> {
    let able = Command::new("unshare").args(["-m", "true"]).status().is_ok_and(|s| s.success());
    if !able {
        println!("\nsampler: left out: a mount namespace of one's own needs root");
        return Ok(());
    }
    let sizes: &[usize] = if setup.tiny { &[100] } else { &[1000, 10_000] };
    let samples = if setup.tiny { 2 } else { 5 };
    println!(
        "\nOne sample of all devices, processor time (goals: at most 0.03 of iostat, at most 2 of the limit, linear)\n"
    );
    println!(
        "| devices | contender | ms per sample, median [min..max] | survey / it | lines / it | samples in {samples} s |"
    );
    println!("| --- | --- | --- | --- | --- | --- |");
    let mut own = Vec::new();
    for devices in sizes {
        let mut seen: Vec<Vec<Taken>> = vec![Vec::new(); CONTENDERS.len()];
        for round in 0..setup.rounds {
            for (place, name) in CONTENDERS.iter().enumerate() {
                eprintln!("  {devices} devices, round {} of {}: {name}", round + 1, setup.rounds);
                seen[place].push(one(setup, place, *devices, samples)?);
            }
        }
        let middle = |place: usize| median(seen[place].iter().map(|t| t.ms).collect());
        own.push(middle(1));
        for (place, name) in CONTENDERS.iter().enumerate() {
            let (low, high) =
                seen[place].iter().fold((f64::INFINITY, 0.0_f64), |(l, h), t| (l.min(t.ms), h.max(t.ms)));
            let ratio = |ours: usize| format!("{:.3}", middle(ours) / middle(place));
            let updates = median(seen[place].iter().map(|t| t.updates).collect());
            println!(
                "| {devices} | {name} | {:.3} [{low:.3}..{high:.3}] | {} | {} | {updates:.1} |",
                middle(place),
                ratio(1),
                ratio(2)
            );
        }
    }
    if let [thousand, ten] = own.as_slice() {
        println!("\nsurvey: {:.1} times the time for ten times the devices", ten / thousand);
    }
    Ok(())
}

#[derive(Clone, Copy)]
struct Taken {
    /// Processor time per sample.
    ms: f64,
    /// Samples it managed in the time.
    updates: f64,
}

/// Runs one contender beside the writer of the counters.
fn one(setup: &Setup, place: usize, devices: usize, samples: usize) -> Outcome<Taken> {
    let folder = setup.folder.join(format!("sampler-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let file = folder.join("diskstats");
    let mut counters = Counters::new(&file, devices)?;
    counters.step()?;
    let child = start(setup, place, &folder, &file)?;
    let done = watch(&child, &mut counters, samples);
    let mut child = child;
    child.kill()?;
    child.wait()?;
    std::fs::remove_dir_all(&folder)?;
    done
}

/// Starts it in the namespace; its output goes to a file whose growth tells its samples.
fn start(setup: &Setup, place: usize, folder: &Path, file: &Path) -> Outcome<Child> {
    let own = std::env::current_exe()?;
    let mount =
        format!("mount --make-rprivate / && mount --bind {} /proc/diskstats && exec \"$@\"", file.display());
    let words = ["watch", "--plain", "--quiet"];
    let watch = || [setup.plimsoll.display().to_string()].into_iter().chain(words.map(str::to_owned));
    let inner: Vec<String> = match place {
        0 => vec![own.display().to_string(), LOOP.into(), "limit".into()],
        1 => vec![own.display().to_string(), LOOP.into(), "survey".into()],
        2 => watch().chain(["--no-trace".to_owned()]).collect(),
        3 => watch().collect(),
        // Without -p ALL it leaves out devices that are not in sysfs, as these are not.
        _ => ["iostat", "-dx", "-p", "ALL", "1"].map(str::to_owned).to_vec(),
    };
    let output = File::create(folder.join("output"))?;
    Ok(Command::new("unshare")
        .args(["-m", "sh", "-c", &mount, "sh"])
        .args(inner)
        .env("LC_ALL", "C")
        .stdin(Stdio::null())
        .stdout(output)
        .stderr(Stdio::null())
        .spawn()?)
}

/// Rewrites the counters each half second; the processor time between the second and the last sample.
fn watch(child: &Child, counters: &mut Counters, samples: usize) -> Outcome<Taken> {
    let output = counters.file.with_file_name("output");
    let turn = |counters: &mut Counters, seconds: f64| -> Outcome<()> {
        let end = Instant::now() + Duration::from_secs_f64(seconds);
        while Instant::now() < end {
            std::thread::sleep(Duration::from_millis(500).min(end - Instant::now()));
            counters.step()?;
        }
        Ok(())
    };
    turn(counters, 2.5)?;
    let (before, printed) = (cpu_ns(child.id())?, updates(&output)?);
    turn(counters, samples as f64)?;
    let (after, printed_after) = (cpu_ns(child.id())?, updates(&output)?);
    let updates = (printed_after - printed) as f64;
    if updates < 1.0 {
        return Err(format!(
            "no sample within {samples} s: {}",
            std::fs::read_to_string(&output)?.chars().take(200).collect::<String>()
        )
        .into());
    }
    Ok(Taken { ms: (after - before) as f64 / 1e6 / updates, updates })
}

/// Headings and ticks printed so far: one per sample.
fn updates(output: &Path) -> Outcome<usize> {
    let text = std::fs::read_to_string(output)?;
    Ok(text
        .lines()
        .filter(|l| l.starts_with("device  ") || l.starts_with("Device  ") || *l == "tick")
        .count())
}

/// Time on a core of all threads, nanoseconds.
fn cpu_ns(pid: u32) -> Outcome<u64> {
    let mut sum = 0;
    for task in std::fs::read_dir(format!("/proc/{pid}/task"))? {
        let text = std::fs::read_to_string(task?.path().join("schedstat"))?;
        sum += text.split_whitespace().next().ok_or("empty schedstat")?.parse::<u64>()?;
    }
    Ok(sum)
}

/// The invented counters.
struct Counters {
    file: PathBuf,
    open: File,
    devices: usize,
    step: u64,
}

impl Counters {
    fn new(file: &Path, devices: usize) -> Outcome<Self> {
        Ok(Self { file: file.to_owned(), open: File::create(file)?, devices, step: 0 })
    }

    /// Every device did some I/O. The file keeps its length, so that no reader sees a torn one.
    fn step(&mut self) -> Outcome<()> {
        self.step += 1;
        let mut text = String::with_capacity(self.devices * 140);
        for device in 0..self.devices {
            let ios = 1_000_000_000 + self.step * (100 + device as u64 % 900);
            let ms = 100_000_000 + self.step * 77;
            writeln!(
                text,
                "{:4} {:7} sd{} {ios} 1234567 {} {ms} {ios} 7654321 {} {ms} 3 {ms} {} 0 0 0 0 12345 23456",
                65 + device / 256,
                device % 256,
                letters(device),
                ios + 9_000_000_000,
                ios + 8_000_000_000,
                2 * ms,
            )?;
        }
        self.open.write_all_at(text.as_bytes(), 0)?;
        Ok(())
    }
}

/// Four letters.
fn letters(mut number: usize) -> String {
    let mut name = [b'a'; 4];
    for letter in name.iter_mut().rev() {
        *letter = b'a' + (number % 26) as u8;
        number /= 26;
    }
    String::from_utf8_lossy(&name).into_owned()
}

/// The loops that run in the namespace: a sample a second, a line each.
pub fn run_loop(survey: bool) -> Outcome<()> {
    let second = Duration::from_secs(1);
    match survey {
        false => {
            let mut limit = Limit::new()?;
            loop {
                std::thread::sleep(second);
                std::hint::black_box(limit.sample()?);
                println!("tick");
            }
        }
        true => {
            let mut survey = Survey::open(&Root::system(), SurveyOptions::default())?;
            loop {
                std::thread::sleep(second);
                std::hint::black_box(survey.next()?);
                println!("tick");
            }
        }
    }
}

/// The least that can be done: read the file, parse 17 numbers of each row, take differences.
struct Limit {
    file: File,
    buffer: Vec<u8>,
    before: Vec<[u64; 17]>,
}

impl Limit {
    fn new() -> Outcome<Self> {
        Ok(Self {
            file: File::open("/proc/diskstats")?,
            buffer: vec![0; 4 << 20],
            before: vec![[0; 17]; 16_384],
        })
    }

    fn sample(&mut self) -> Outcome<u64> {
        let mut length = 0;
        loop {
            let read = self.file.read_at(&mut self.buffer[length..], length as u64)?;
            if read == 0 {
                break;
            }
            length += read;
        }
        let mut sum = 0_u64;
        for (line, before) in self.buffer[..length].split(|b| *b == b'\n').zip(&mut self.before) {
            let mut numbers = [0_u64; 17];
            let words = line.split(|b| *b == b' ').filter(|w| !w.is_empty());
            for (word, slot) in words.skip(3).zip(&mut numbers) {
                *slot = word.iter().fold(0, |value, b| value * 10 + u64::from(b - b'0'));
            }
            for (now, then) in numbers.iter().zip(before.iter()) {
                sum = sum.wrapping_add(now.wrapping_sub(*then));
            }
            *before = numbers;
        }
        Ok(sum)
    }
}
