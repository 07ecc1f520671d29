//! A watch: one interval of `plimsoll watch --json` on a device, with loads beside it.

use super::super::command;
use super::super::devices::Devices;
use super::{beside, during};
use crate::outcome::JobOutcome;
use crate::rig::{Beside, Job};
use std::time::Duration;

/// How long after its start the watch has certainly begun its interval, and may be loaded with a counted number of
/// reads: loading the tracer is millions of instructions.
const BEGUN: Duration = Duration::from_secs(3);

/// The words of the command.
fn words(job: &Job, node: &str) -> Vec<String> {
    let interval = format!("{}s", job.interval_s);
    let words = ["plimsoll", "watch", node, "--once", "--json", "--interval", &interval];
    words.into_iter().map(str::to_owned).chain(job.args.iter().cloned()).collect()
}

/// Runs the watch; complaints about what stood around it.
pub fn run(
    job: &Job,
    device: &str,
    devices: &Devices,
    cgroup: Option<&str>,
    done: &mut JobOutcome,
) -> Vec<String> {
    let node = match devices.node(device) {
        Ok(node) => node,
        Err(why) => return vec![why],
    };
    let (counted, steady): (Vec<Beside>, Vec<Beside>) =
        job.beside.iter().cloned().partition(|b| b.reads.is_some());
    let (loads, mut complaints) = beside::start(&steady, devices);
    match command::start(&words(job, &node), cgroup) {
        Ok(running) => {
            let changes = during::start(&job.during, devices);
            let counted = (!counted.is_empty()).then(|| {
                std::thread::sleep(BEGUN);
                beside::start(&counted, devices)
            });
            let ran = running.finish(Duration::from_secs_f64(60.0 + 4.0 * job.interval_s));
            complaints.extend(changes.end());
            if let Some((counted, troubles)) = counted {
                complaints.extend(troubles);
                complaints.extend(counted.end());
            }
            match ran {
                Ok(ran) => {
                    done.exit = ran.exit;
                    match serde_json::from_str(&ran.stdout) {
                        Ok(document) => done.watch = Some(document),
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
            "name = \"w\"\nwatch = \"lun0\"\ninterval_s = 2.5\nargs = [\"--no-trace\"]\nbeside = [{ probe = \"lun0\", concurrency = 8 }]",
        )
        .unwrap();
        assert_eq!(
            words(&job, "/dev/sda").join(" "),
            "plimsoll watch /dev/sda --once --json --interval 2.5s --no-trace"
        );
    }
}
