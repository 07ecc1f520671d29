//! fio as a peer: run it, read its JSON.

use crate::Outcome;
use crate::contender::{Contender, CpuPerIo};
use serde_json::Value;
use std::path::Path;
use std::process::Command;

/// Runs fio with JSON output and returns the first job.
pub fn job(arguments: &[String]) -> Outcome<Value> {
    let output = Command::new("fio")
        .args(["--name=bench", "--output-format=json", "--readonly", "--group_reporting"])
        .args(arguments)
        .output()
        .map_err(|e| format!("cannot run fio ({e}); `scripts/setup bench` installs it"))?;
    let text = String::from_utf8_lossy(&output.stdout);
    // Warnings may stand before the document.
    let start = text.find('{').ok_or_else(|| {
        format!("fio {} printed no JSON: {}", arguments.join(" "), String::from_utf8_lossy(&output.stderr))
    })?;
    let document: Value = serde_json::from_str(&text[start..])?;
    Ok(document["jobs"][0].clone())
}

/// Processor time per I/O of a read job.
pub fn cpu_per_io(job: &Value) -> Outcome<CpuPerIo> {
    let number =
        |value: &Value, name: &str| value.as_f64().ok_or_else(|| format!("fio's JSON has no {name}"));
    let ios = number(&job["read"]["total_ios"], "read.total_ios")?;
    let run_us = number(&job["job_runtime"], "job_runtime")? * 1e3;
    let share = |name: &str| number(&job[name], name).map(|percent| percent / 100.0 * run_us / ios);
    Ok(CpuPerIo {
        user_us: share("usr_cpu")?,
        sys_us: share("sys_cpu")?,
        iops: number(&job["read"]["iops"], "read.iops")?,
        load_s: run_us / 1e6,
    })
}

/// A contender: 4 KiB random reads on one core.
pub fn contender(name: &str, engine: &str, depth: u32, direct: bool, more: &[&str]) -> Contender {
    let fixed: Vec<String> = [
        format!("--ioengine={engine}"),
        format!("--iodepth={depth}"),
        format!("--direct={}", u8::from(direct)),
        "--rw=randread".into(),
        "--bs=4k".into(),
        "--time_based".into(),
        "--cpus_allowed=0".into(),
        // fio drops the file from the page cache otherwise, for itself and for whoever comes after it.
        "--invalidate=0".into(),
    ]
    .into_iter()
    .chain(more.iter().map(|s| (*s).to_owned()))
    .collect();
    Contender {
        name: name.to_owned(),
        run: Box::new(move |file: &Path, seconds| {
            let mut arguments = fixed.clone();
            arguments.push(format!("--filename={}", file.display()));
            arguments.push(format!("--runtime={seconds}"));
            cpu_per_io(&job(&arguments)?)
        }),
    }
}
