//! Reading other tools' text: bytes per processor second into the full model, against the bare limit of one pass over all
//! figures, and against what people use (Python, mawk, pandas' successor polars).
//!
//! Each contender is a process of its own that reports the processor time of all its threads and its peak memory. Slow
//! peers get a cut of the same text, so that a round ends; the measure is MB (10^6 bytes) per processor second.

use crate::Outcome;
use crate::contender::Setup;
use crate::rounds::median;
use record::imported::{
    Complaint, Distribution, Event, Fact, Host, HostId, Place, PlaceId, Rows, Sink, Source, SourceId,
};
use std::fmt::Write as _;
use std::io::{BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The word that runs one of our own loops.
const LOOP: &str = "import-loop";
/// Slow peers read this much.
const CUT_BYTES: u64 = 20_000_000;
const DEVICES: usize = 24;

const PYTHON_SPLIT: &str = "
import sys, time
rows = 0; total = {}
for line in open(sys.argv[1]):
    cells = line.split()
    if len(cells) == 23 and cells[0] != 'Device':
        numbers = [float(c) for c in cells[1:]]
        sums = total.setdefault(cells[0], [0.0] * 22)
        for n in range(22): sums[n] += numbers[n]
        rows += 1
print(time.process_time(), rows)
";
const PYTHON_CSV: &str = "
import csv, sys, time
rows = 0; total = {}
for cells in csv.reader(open(sys.argv[1]), delimiter=';'):
    if cells[0][0] == '#': continue
    numbers = [float(c) for c in cells[4:]]
    sums = total.setdefault(cells[3], [0.0] * 9)
    for n in range(len(numbers)): sums[n] += numbers[n]
    rows += 1
print(time.process_time(), rows)
";
const POLARS: &str = "
import sys, time
import polars
table = polars.read_csv(sys.argv[1], separator=';', comment_prefix=None)
grouped = table.group_by('DEV').agg(polars.col(polars.Float64).mean())
print(time.process_time(), table.height)
";
const MAWK: &str =
    "NF == 23 && $1 != \"Device\" { for (n = 2; n <= 23; n++) sum[$1, n] += $n; rows++ } END { print rows }";

/// What one run took.
#[derive(Clone, Copy)]
struct Taken {
    mb_per_s: f64,
    memory_mib: f64,
}

/// A contender: its name, and how it is started on a file.
type Contender<'c> = (&'c str, Vec<String>, &'c Path);

/// Compares on generated text of iostat and of sadf.
pub fn compare(setup: &Setup) -> Outcome<()> {
    let (iostat_bytes, sadf_bytes) =
        if setup.tiny { (2_000_000, 1_000_000) } else { (500_000_000, 200_000_000) };
    let own = std::env::current_exe()?.display().to_string();
    let ours = |what: &str| vec![own.clone(), LOOP.to_owned(), what.to_owned()];
    let python = |code: &str| ["python3", "-c", code].map(str::to_owned).to_vec();

    let iostat = Text::write(setup, "iostat.txt", iostat_bytes, iostat_interval)?;
    let cut = Text::write(setup, "iostat-cut.txt", iostat_bytes.min(CUT_BYTES), iostat_interval)?;
    let contenders: Vec<Contender<'_>> = vec![
        ("limit: all figures, one pass", ours("limit"), &iostat.0),
        ("plimsoll, full model", ours("model"), &iostat.0),
        ("plimsoll read, findings included", ours("findings"), &iostat.0),
        ("python split and float", python(PYTHON_SPLIT), &cut.0),
        ("mawk sums", ["mawk", MAWK].map(str::to_owned).to_vec(), &cut.0),
    ];
    println!(
        "\niostat -xt of {DEVICES} devices (goals: at least 0.5 of the limit, at least 12 times Python)\n"
    );
    table(setup, &contenders, 1)?;

    let sadf = Text::write(setup, "sadf.csv", sadf_bytes, sadf_interval)?;
    let cut = Text::write(setup, "sadf-cut.csv", sadf_bytes.min(CUT_BYTES), sadf_interval)?;
    let mut contenders: Vec<Contender<'_>> = vec![
        ("limit: all figures, one pass", ours("limit"), &sadf.0),
        ("plimsoll, full model", ours("model"), &sadf.0),
        ("plimsoll read, findings included", ours("findings"), &sadf.0),
        ("python csv and float", python(PYTHON_CSV), &cut.0),
    ];
    match polars(setup) {
        Ok(interpreter) => contenders.push((
            "polars, all threads",
            vec![interpreter.display().to_string(), "-c".to_owned(), POLARS.to_owned()],
            &sadf.0,
        )),
        Err(error) => eprintln!("  polars left out: {error}"),
    }
    println!("\nsadf -d of {DEVICES} devices (goal: at least 3 times polars)\n");
    table(setup, &contenders, 1)
}

/// Runs all in turn and prints MB per processor second; ratios are those of the contender in row `ours`.
fn table(setup: &Setup, contenders: &[Contender<'_>], ours: usize) -> Outcome<()> {
    let mut seen: Vec<Vec<Taken>> = vec![Vec::new(); contenders.len()];
    for round in 0..setup.rounds {
        for ((name, command, file), seen) in contenders.iter().zip(&mut seen) {
            eprintln!("  round {} of {}: {name}", round + 1, setup.rounds);
            seen.push(one(command, file)?);
        }
    }
    let speed = |place: usize| median(seen[place].iter().map(|t| t.mb_per_s).collect());
    println!("| contender | MB per processor second, median [min..max] | ours / it | peak memory, MiB |");
    println!("| --- | --- | --- | --- |");
    for (place, (name, _, _)) in contenders.iter().enumerate() {
        let (low, high) = seen[place]
            .iter()
            .fold((f64::INFINITY, 0.0_f64), |(l, h), t| (l.min(t.mb_per_s), h.max(t.mb_per_s)));
        println!(
            "| {name} | {:.0} [{low:.0}..{high:.0}] | {:.2} | {:.1} |",
            speed(place),
            speed(ours) / speed(place),
            median(seen[place].iter().map(|t| t.memory_mib).collect())
        );
    }
    Ok(())
}

/// Starts a contender on a file that is in the page cache, and takes processor time and memory when it has ended.
fn one(command: &[String], file: &Path) -> Outcome<Taken> {
    let bytes = std::io::copy(&mut std::fs::File::open(file)?, &mut std::io::sink())?;
    let before = children();
    let output = Command::new(&command[0]).args(&command[1..]).arg(file).output()?;
    if !output.status.success() {
        return Err(format!("{}: {}", command[0], String::from_utf8_lossy(&output.stderr)).into());
    }
    let seconds = children() - before;
    let text = String::from_utf8_lossy(&output.stdout);
    let memory_mib = text.split_ascii_whitespace().nth(2).and_then(|m| m.parse().ok()).unwrap_or(f64::NAN);
    Ok(Taken { mb_per_s: bytes as f64 / 1e6 / seconds, memory_mib })
}

/// Processor time of all children that have ended, seconds.
fn children() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or("").split_ascii_whitespace().collect();
    // Fields 16 and 17 of proc(5), in ticks; state is the first after the name.
    let ticks: f64 = fields.get(13..15).into_iter().flatten().filter_map(|t| t.parse::<f64>().ok()).sum();
    ticks / rustix::param::clock_ticks_per_second() as f64
}

/// polars in a Python environment of its own.
fn polars(setup: &Setup) -> Outcome<PathBuf> {
    let tools = setup.folder.join("venv");
    let interpreter = tools.join("bin/python3");
    let has =
        |i: &Path| Command::new(i).args(["-c", "import polars"]).output().is_ok_and(|o| o.status.success());
    if !has(&interpreter) {
        Command::new("python3").args(["-m", "venv"]).arg(&tools).output()?;
        Command::new(tools.join("bin/pip")).args(["install", "--quiet", "polars"]).output()?;
    }
    if has(&interpreter) { Ok(interpreter) } else { Err("it cannot be installed here".into()) }
}

/// Generated text; removed at the end.
struct Text(PathBuf);

impl Text {
    fn write(setup: &Setup, name: &str, bytes: u64, interval: fn(&mut String, u64)) -> Outcome<Self> {
        let path = setup.folder.join(name);
        let mut file = BufWriter::new(std::fs::File::create(&path)?);
        let (mut written, mut number, mut text) = (0, 0, String::new());
        while written < bytes {
            text.clear();
            interval(&mut text, number);
            file.write_all(text.as_bytes())?;
            written += text.len() as u64;
            number += 1;
        }
        file.flush()?;
        Ok(Self(path))
    }
}

impl Drop for Text {
    fn drop(&mut self) {
        // What cannot be removed stays in the folder of benchmarks.
        let _ = std::fs::remove_file(&self.0);
    }
}

/// Figures that vary, the same in every run.
fn figure(seed: u64, below: u64) -> f64 {
    let mixed = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(31).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    (mixed >> 11) as f64 / (1u64 << 53) as f64 * below as f64
}

fn iostat_interval(out: &mut String, number: u64) {
    if number == 0 {
        out.push_str("Linux 6.1.0-18-amd64 (db1) \t02/10/2024 \t_x86_64_\t(8 CPU)\n\n");
    }
    let (day, second) = (number / 86_400 % 28 + 1, number % 86_400);
    let _ = writeln!(
        out,
        "02/{day:02}/2024 {:02}:{:02}:{:02}\navg-cpu:  %user   %nice %system %iowait  %steal   %idle\n           6.00    0.00    6.17    6.54    0.00   81.29\n",
        second / 3600,
        second / 60 % 60,
        second % 60
    );
    out.push_str("Device            r/s     rkB/s   rrqm/s  %rrqm r_await rareq-sz     w/s     wkB/s   wrqm/s  %wrqm w_await wareq-sz     d/s     dkB/s   drqm/s  %drqm d_await dareq-sz     f/s f_await  aqu-sz  %util\n");
    for device in 0..DEVICES as u64 {
        let seed = number * 1000 + device * 10;
        let (reads, writes) = (figure(seed, 5000), figure(seed + 1, 2000));
        let (read_ms, write_ms) = (figure(seed + 2, 20), figure(seed + 3, 10));
        let queue = (reads * read_ms + writes * write_ms) / 1000.0;
        let _ = writeln!(
            out,
            "nvme{device}n1      {reads:9.2} {:9.2}     0.00   0.00 {read_ms:7.2}     8.00 {writes:9.2} {:9.2}     1.00   0.05 {write_ms:7.2}    16.00    0.00      0.00     0.00   0.00    0.00     0.00    2.00    0.50 {queue:7.2}  99.80",
            reads * 8.0,
            writes * 16.0
        );
    }
    out.push('\n');
}

fn sadf_interval(out: &mut String, number: u64) {
    if number == 0 {
        out.push_str("# hostname;interval;timestamp;DEV;tps;rkB/s;wkB/s;dkB/s;areq-sz;aqu-sz;await;%util\n");
    }
    let second = number % 86_400;
    for device in 0..DEVICES as u64 {
        let seed = number * 1000 + device * 10;
        let (tps, ms) = (figure(seed, 7000), figure(seed + 2, 20));
        let _ = writeln!(
            out,
            "db1;1;2024-02-{:02} {:02}:{:02}:{:02} UTC;nvme{device}n1;{tps:.2};{:.2};{:.2};0.00;9.60;{:.2};{ms:.2};99.80",
            number / 86_400 % 28 + 1,
            second / 3600,
            second / 60 % 60,
            second % 60,
            tps * 5.0,
            tps * 4.6,
            tps * ms / 1000.0
        );
    }
}

/// One of our own loops on a file: prints processor time, rows and peak memory.
pub fn run_loop(what: &str, file: &Path) -> Outcome<()> {
    let rows = match what {
        "limit" => limit(file)?,
        "model" => {
            let mut sums = Sums::default();
            import::read(&[file], &mut sums);
            std::hint::black_box(&sums.total);
            sums.rows
        }
        _ => {
            let mut digest = analyze::reading::Digest::default();
            import::read(&[file], &mut digest);
            std::hint::black_box(analyze::reading::findings(&digest));
            digest.sources.iter().map(|s| s.samples).sum()
        }
    };
    let status = std::fs::read_to_string("/proc/self/status")?;
    let peak = status.lines().find_map(|l| l.strip_prefix("VmHWM:")).unwrap_or("").replace("kB", "");
    println!("0 {rows} {}", peak.trim().parse::<f64>().unwrap_or(f64::NAN) / 1024.0);
    Ok(())
}

/// Takes every figure of the model.
#[derive(Default)]
struct Sums {
    rows: u64,
    total: Vec<f64>,
}

impl Sink for Sums {
    fn source(&mut self, _: SourceId, _: &Source) {}
    fn host(&mut self, _: HostId, _: &Host) {}
    fn place(&mut self, _: PlaceId, _: &Place) {}
    fn rows(&mut self, rows: &Rows, _: &str) {
        self.rows += rows.len() as u64;
        self.total.resize(self.total.len().max(rows.quantities().len()), 0.0);
        for row in 0..rows.len() {
            for (sum, value) in self.total.iter_mut().zip(rows.row(row)) {
                *sum += value;
            }
        }
    }
    fn fact(&mut self, _: &Fact, _: &str) {}
    fn event(&mut self, _: &Event, _: &str) {}
    fn distribution(&mut self, _: &Distribution) {}
    fn complaint(&mut self, _: SourceId, _: &Complaint) {}
    fn remark(&mut self, _: SourceId, _: &str) {}
    fn end(&mut self, _: SourceId) {}
}

/// Adds up every decimal figure of a text as fixed point, by device: the least that reading it can take in one simple pass.
fn limit(file: &Path) -> Outcome<u64> {
    let mut from = std::fs::File::open(file)?;
    let (mut buffer, mut filled, mut rows) = (vec![0u8; 1 << 20], 0usize, 0u64);
    let mut sums = std::collections::HashMap::<Vec<u8>, [i64; 24]>::new();
    loop {
        let read = from.read(&mut buffer[filled..])?;
        filled += read;
        let Some(end) = buffer[..filled].iter().rposition(|b| *b == b'\n') else { break };
        for line in buffer[..=end].split(|b| *b == b'\n') {
            rows += u64::from(line_sum(line, &mut sums));
        }
        buffer.copy_within(end + 1..filled, 0);
        filled -= end + 1;
        if read == 0 {
            break;
        }
    }
    std::hint::black_box(&sums);
    Ok(rows)
}

fn line_sum(line: &[u8], sums: &mut std::collections::HashMap<Vec<u8>, [i64; 24]>) -> bool {
    let is_cell_end = |b: &u8| matches!(b, b' ' | b';');
    let csv = line.contains(&b';');
    let name = if csv { line.split(|b| *b == b';').nth(3) } else { line.split(|b| *b == b' ').next() };
    let Some(name) = name.filter(|n| n.starts_with(b"nvme")) else { return false };
    let after = name.as_ptr() as usize - line.as_ptr() as usize + name.len();
    if !sums.contains_key(name) {
        sums.insert(name.to_vec(), [0; 24]);
    }
    let Some(sum) = sums.get_mut(name) else { return false };
    let (mut place, mut value, mut inside) = (0, 0i64, false);
    for byte in &line[after..] {
        if byte.is_ascii_digit() {
            value = value * 10 + i64::from(byte - b'0');
            inside = true;
        } else if is_cell_end(byte) && inside {
            sum[place] += value;
            place = (place + 1).min(23);
            (value, inside) = (0, false);
        }
    }
    sum[place] += value;
    true
}
