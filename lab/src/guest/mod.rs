//! The lab inside the machine: process 1. It builds the rig, does the jobs, writes the outcome, and powers off.
//!
//! Whatever fails becomes a complaint in the outcome. A panic ends process 1, which ends the machine.

mod build;
mod command;
mod devices;
mod job;
mod modules;
mod mounts;
mod payload;
mod settings;
mod share;

use crate::outcome::Outcome;
use crate::plan::{self, Plan, Then};
use devices::Devices;
use rustix::system::{RebootCommand, reboot};
use share::Share;
use std::time::Duration;

/// What goes wrong in the guest, in words.
pub type Trouble<T> = Result<T, String>;

/// Everything, from the first mount to the end of power.
pub fn main() {
    let mut outcome = Outcome { kernel_release: release(), ..Outcome::default() };
    for trouble in mounts::all() {
        outcome.complaints.push(trouble);
    }
    match read_plan() {
        Ok(plan) => {
            outcome.rig.clone_from(&plan.name);
            with_plan(&plan, &mut outcome);
        }
        Err(trouble) => outcome.complaints.push(trouble),
    }
    for complaint in &outcome.complaints {
        println!("lab: {complaint}");
    }
    println!("lab: the end");
    rustix::fs::sync();
    if let Err(error) = reboot(RebootCommand::PowerOff) {
        println!("lab: cannot power off: {error}");
    }
    // Ends process 1, so the kernel panics, restarts, and QEMU ends.
}

fn release() -> String {
    rustix::system::uname().release().to_string_lossy().into_owned()
}

fn read_plan() -> Trouble<Plan> {
    let bytes = std::fs::read(plan::PLAN).map_err(|e| format!("{}: {e}", plan::PLAN))?;
    serde_json::from_slice(&bytes).map_err(|e| format!("{}: {e}", plan::PLAN))
}

fn with_plan(plan: &Plan, outcome: &mut Outcome) {
    outcome.complaints.extend(modules::load(&plan.modules));
    let share = Share::mount();
    let built = build::build(&plan.rig);
    outcome.complaints.extend(built.complaints);
    let devices = built.devices;
    outcome.devices = devices.named();
    for (name, kernel_name) in &outcome.devices {
        println!("lab: {name} is {kernel_name}");
    }
    outcome.complaints.extend(settings::set_all(&plan.rig.set, &devices));
    match &plan.then {
        Then::Jobs => {
            if outcome.complaints.is_empty() {
                job::all(plan, &devices, built.cgroup.as_deref(), outcome, share.as_ref().ok());
            }
        }
        Then::Payload { arguments, limit_s } => {
            let done = payload::run(arguments, Duration::from_secs_f64(*limit_s), &devices);
            outcome.jobs.push(done);
        }
        Then::Shell => shell(outcome, &devices),
    }
    outcome.finished = true;
    match share {
        Ok(share) => {
            if let Err(trouble) = share.write(outcome) {
                outcome.complaints.push(trouble);
            }
        }
        Err(trouble) => outcome.complaints.push(trouble),
    }
}

/// Leaves the console to a shell until it ends.
fn shell(outcome: &mut Outcome, devices: &Devices) {
    for complaint in outcome.complaints.drain(..) {
        println!("lab: {complaint}");
    }
    println!("\nThe rig stands. plimsoll and busybox are here; exit ends the machine.");
    println!("Idle time is skipped on the virtual clock: `sleep 60` takes no time.");
    let devices: Vec<String> =
        devices.named().into_iter().map(|(name, disk)| format!("{name}=/dev/{disk}")).collect();
    println!("{}\n", devices.join("  "));
    // A terminal of its own, so that Ctrl-C reaches what the shell runs.
    let line = "exec busybox setsid -c busybox sh -i < /dev/ttyS0 > /dev/ttyS0 2>&1";
    if let Err(error) = std::process::Command::new("/bin/busybox").args(["sh", "-c", line]).status() {
        println!("lab: no shell: {error}");
    }
}
