//! The jobs of a rig, one after another.

mod advice;
mod beside;
mod during;
mod probe;
mod watch;

use super::command;
use super::devices::{Devices, read};
use super::settings;
use super::share::Share;
use crate::outcome::{JobOutcome, Outcome};
use crate::plan::Plan;
use crate::rig::Job;
use crate::rig::setting;
use std::time::Duration;

/// Guest time any other command may take.
const RUN_LIMIT: Duration = Duration::from_secs(120);

/// Does all jobs; the outcome is brought out after each, so that a later hang costs only what comes after.
pub fn all(
    plan: &Plan,
    devices: &Devices,
    cgroup: Option<&str>,
    outcome: &mut Outcome,
    share: Option<&Share>,
) {
    for job in &plan.rig.job {
        println!("lab: job {}", job.name);
        std::thread::sleep(Duration::from_secs_f64(job.settle_s));
        let mut done = JobOutcome {
            name: job.name.clone(),
            settings_before: settings::watched(devices),
            from_s: uptime(),
            ..JobOutcome::default()
        };
        let complaints = one(job, devices, cgroup, outcome, &mut done);
        done.to_s = uptime();
        done.settings_after = settings::watched(devices);
        outcome.jobs.push(done);
        outcome.complaints.extend(complaints.into_iter().map(|why| format!("job {}: {why}", job.name)));
        if let Some(share) = share
            && let Err(trouble) = share.write(outcome)
        {
            outcome.complaints.push(trouble);
        }
    }
}

fn one(
    job: &Job,
    devices: &Devices,
    cgroup: Option<&str>,
    before: &Outcome,
    done: &mut JobOutcome,
) -> Vec<String> {
    if let Some(device) = &job.probe {
        return probe::run(job, device, devices, cgroup, done);
    }
    if let Some(device) = &job.watch {
        return watch::run(job, device, devices, cgroup, done);
    }
    if let Some(set) = &job.set {
        return settings::set_all(set, devices);
    }
    if let Some(of) = &job.apply_advice_of {
        return match advice::apply(of, before) {
            Ok(applied) => {
                done.applied = Some(applied);
                Vec::new()
            }
            Err(why) => vec![why],
        };
    }
    let Some(words) = &job.run else { return vec!["nothing to do".into()] };
    match command::run(&filled(words, devices), RUN_LIMIT) {
        Ok(ran) => {
            done.exit = ran.exit;
            done.stdout = ran.stdout;
            done.stderr = ran.stderr;
            Vec::new()
        }
        Err(why) => vec![why],
    }
}

/// Words of a command with `{lun0}` and the like replaced; other braces are the command's own.
pub fn filled(words: &[String], devices: &Devices) -> Vec<String> {
    let lookup = |device: &str, what: &str| {
        let own = if what == "name" { format!("{{{device}}}") } else { format!("{{{device}:{what}}}") };
        Ok(devices.place(device, what).unwrap_or(own))
    };
    words.iter().map(|word| setting::fill(word, &lookup).unwrap_or_else(|_| word.clone())).collect()
}

/// Seconds since the guest's start.
fn uptime() -> f64 {
    let text = read("/proc/uptime").unwrap_or_default();
    text.split_whitespace().next().and_then(|word| word.parse().ok()).unwrap_or_default()
}
