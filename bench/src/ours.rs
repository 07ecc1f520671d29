//! Plimsoll as a contender: run the command, read its JSON.

use crate::Outcome;
use crate::contender::{Contender, CpuPerIo, Setup};
use serde_json::Value;
use std::path::Path;
use std::process::Command;

/// Runs `plimsoll` and returns its document, whatever the exit code says of the answer.
pub fn document(binary: &Path, arguments: &[String]) -> Outcome<Value> {
    let output = Command::new(binary)
        .args(arguments)
        .arg("--json")
        .arg("--quiet")
        .output()
        .map_err(|e| format!("cannot run {} ({e}); `make build` makes it", binary.display()))?;
    serde_json::from_slice(&output.stdout).map_err(|e| {
        format!(
            "{} {}: {e}: {}",
            binary.display(),
            arguments.join(" "),
            String::from_utf8_lossy(&output.stderr)
        )
        .into()
    })
}

/// A contender: 4 KiB random reads on one core.
pub fn contender(setup: &Setup, name: &str, engine: &'static str, depth: u32, direct: bool) -> Contender {
    let binary = setup.plimsoll.clone();
    Contender {
        name: name.to_owned(),
        run: Box::new(move |file, seconds| {
            let mut arguments: Vec<String> =
                ["probe", "--block", "4k", "--pattern", "random", "--cores", "0"].map(str::to_owned).to_vec();
            arguments.extend(["--engine".into(), engine.into(), "--depths".into(), depth.to_string()]);
            arguments.extend(["--budget".into(), format!("{seconds}s")]);
            if !direct {
                arguments.push("--buffered".into());
            }
            arguments.push(file.display().to_string());
            cpu_per_io(&document(&binary, &arguments)?)
        }),
    }
}

/// Processor time per I/O of the only step, interrupts left out as peers leave them out.
fn cpu_per_io(document: &Value) -> Outcome<CpuPerIo> {
    let step = &document["steps"][0];
    let number = |name: &str| step[name].as_f64().ok_or_else(|| format!("no steps[0].{name} in {document}"));
    Ok(CpuPerIo {
        user_us: number("cpu_user_us_per_io")?,
        sys_us: number("cpu_sys_us_per_io")?,
        iops: number("iops")?,
        load_s: document["spent_s"].as_f64().ok_or("no spent_s")?,
    })
}
