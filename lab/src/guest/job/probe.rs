//! A probe: `plimsoll probe --json` on a device, with whatever runs beside it.

use super::super::command;
use super::super::devices::Devices;
use super::{beside, during};
use crate::outcome::JobOutcome;
use crate::rig::Job;
use std::time::Duration;

/// What is asked when the rig does not say.
const BLOCK: &str = "4k";

/// The words of the command.
fn words(job: &Job, node: &str) -> Vec<String> {
    let mut words: Vec<String> = ["plimsoll", "probe", node, "--json", "--quiet"].map(str::to_owned).to_vec();
    let mut add = |option: &str, value: String| words.extend([option.to_owned(), value]);
    add("--block", job.block.clone().unwrap_or_else(|| BLOCK.to_owned()));
    add("--budget", format!("{}s", job.budget_s));
    if !job.depths.is_empty() {
        let depths: Vec<String> = job.depths.iter().map(u32::to_string).collect();
        add("--depths", depths.join(","));
    }
    if let Some(limit) = &job.limit {
        add("--limit", limit.clone());
    }
    words.extend(job.args.iter().cloned());
    words
}

/// Guest time it may take: preparation and ramps come on top of its budget.
fn limit(job: &Job) -> Duration {
    Duration::from_secs_f64(60.0 + 4.0 * job.budget_s)
}

/// Runs the probe; complaints about what stood around it.
pub fn run(
    job: &Job,
    device: &str,
    devices: &Devices,
    cgroup: Option<&str>,
    done: &mut JobOutcome,
) -> Vec<String> {
    let mut complaints = Vec::new();
    let node = match devices.node(device) {
        Ok(node) => node,
        Err(why) => return vec![why],
    };
    let (loads, troubles) = beside::start(&job.beside, devices);
    complaints.extend(troubles);
    match command::start(&words(job, &node), cgroup) {
        Ok(running) => {
            let changes = during::start(&job.during, devices);
            let ran = running.finish(limit(job));
            complaints.extend(changes.end());
            match ran {
                Ok(ran) => {
                    done.exit = ran.exit;
                    match serde_json::from_str(&ran.stdout) {
                        Ok(answer) => done.probe = Some(answer),
                        Err(_) => done.stdout = ran.stdout,
                    }
                    done.stderr = ran.stderr;
                }
                Err(why) => complaints.push(why),
            }
        }
        Err(why) => complaints.push(why),
    }
    complaints.extend(loads.end());
    complaints
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_says_what_the_job_says() {
        let job: Job = toml::from_str(
            "name = \"p\"\nprobe = \"lun0\"\ndepths = [1, 8]\nbudget_s = 2.5\nlimit = \"p99<5ms\"\nargs = [\"--sweep\"]",
        )
        .unwrap();
        assert_eq!(
            words(&job, "/dev/sda").join(" "),
            "plimsoll probe /dev/sda --json --quiet --block 4k --budget 2.5s --depths 1,8 --limit p99<5ms --sweep"
        );
    }
}
