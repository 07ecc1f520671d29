//! Processor time per I/O on a page-cached file: what the generator itself costs.

use crate::Outcome;
use crate::contender::{Contender, CpuPerIo, Setup, children_cpu_us};
use crate::{fio, ours, rounds, scratch};
use std::path::{Path, PathBuf};
use std::process::Command;

const OURS: &str = "plimsoll io_uring";

/// All engines, each against its peer.
pub fn cached_file(setup: &Setup) -> Outcome<()> {
    let bytes = if setup.tiny { 16 << 20 } else { 1 << 30 };
    let file = scratch::Scratch::new(&setup.folder, "cached.data", bytes)?;
    let warm = || file.warm();
    let results = rounds::interleave(&io_uring(setup), file.path(), setup.rounds, setup.seconds, warm)?;
    rounds::print("4 KiB random reads, one thread, depth 64, page-cached file", &results, OURS);
    println!(
        "\ngoals: at most 0.55 of fio, 0.92 of fio fixed, 1.08 of t/io_uring; our user time at most 0.06 us"
    );
    for (ours_name, contenders) in [
        (
            "plimsoll sync",
            vec![
                ours::contender(setup, "plimsoll sync", "sync", 1, false),
                fio::contender("fio psync", "psync", 1, false, &[]),
            ],
        ),
        (
            "plimsoll libaio",
            vec![
                ours::contender(setup, "plimsoll libaio", "libaio", 64, false),
                fio::contender("fio libaio", "libaio", 64, false, &[]),
            ],
        ),
    ] {
        let results = rounds::interleave(&contenders, file.path(), setup.rounds, setup.seconds, warm)?;
        rounds::print(&format!("{ours_name}, page-cached file (goal: at most 0.8)"), &results, ours_name);
    }
    Ok(())
}

fn io_uring(setup: &Setup) -> Vec<Contender> {
    let mut list = vec![
        ours::contender(setup, OURS, "io_uring", 64, false),
        fio::contender("fio io_uring", "io_uring", 64, false, &[]),
        fio::contender("fio io_uring fixed, batches of 16", "io_uring", 64, false, FIXED),
    ];
    match t_io_uring() {
        Some(binary) => list.push(t_contender(binary, false)),
        None => eprintln!("  t/io_uring is not on this machine (set T_IO_URING to its path): left out"),
    }
    list
}

/// fio at its leanest that still counts latencies.
pub const FIXED: &[&str] = &[
    "--fixedbufs=1",
    "--registerfiles=1",
    "--iodepth_batch_submit=16",
    "--iodepth_batch_complete_min=16",
    "--iodepth_batch_complete_max=16",
];

/// fio's example engine, if somebody built it here.
pub fn t_io_uring() -> Option<PathBuf> {
    let path = PathBuf::from(std::env::var_os("T_IO_URING")?);
    path.exists().then_some(path)
}

/// Depth 64, batches of 32, registered file and buffers, no latencies: close to the kernel's own cost.
pub fn t_contender(binary: PathBuf, direct: bool) -> Contender {
    Contender {
        name: "t/io_uring, batches of 32".to_owned(),
        run: Box::new(move |file: &Path, seconds| {
            let before = children_cpu_us()?;
            let output = Command::new("taskset")
                .args(["-c", "0"])
                .arg(&binary)
                .args(["-d64", "-s32", "-c32", "-b4096", "-p0", "-F1", "-B1", "-n1"])
                .arg(format!("-O{}", u8::from(direct)))
                .arg(format!("-r{seconds}"))
                .arg(file)
                .output()?;
            let after = children_cpu_us()?;
            let iops = mean_iops(&String::from_utf8_lossy(&output.stdout))?;
            let ios = iops * f64::from(seconds);
            Ok(CpuPerIo {
                user_us: (after.0 - before.0) / ios,
                sys_us: (after.1 - before.1) / ios,
                iops,
                load_s: f64::from(seconds),
            })
        }),
    }
}

/// It prints `IOPS=1.05M, BW=...` once a second.
fn mean_iops(text: &str) -> Outcome<f64> {
    let values: Vec<f64> = text
        .lines()
        .filter_map(|line| {
            let figure = line.strip_prefix("IOPS=")?.split(',').next()?;
            let (number, factor) = match figure.chars().last()? {
                'M' => (&figure[..figure.len() - 1], 1e6),
                'K' => (&figure[..figure.len() - 1], 1e3),
                _ => (figure, 1.0),
            };
            Some(number.parse::<f64>().ok()? * factor)
        })
        .collect();
    if values.is_empty() {
        return Err(format!("t/io_uring printed no IOPS: {text}").into());
    }
    Ok(values.iter().sum::<f64>() / values.len() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_engines_lines_are_read() {
        let text =
            "submitter=0, tid=1\nIOPS=1.05M, BW=4.1GiB/s, IOS/call=32/31\nIOPS=950K, BW=3.7GiB/s\nExiting\n";
        assert!((mean_iops(text).expect("two lines") - 1_000_000.0).abs() < 1.0);
        assert!(mean_iops("nothing").is_err());
    }
}
