//! Changes made while a probe runs.

use super::super::command;
use super::super::devices::Devices;
use super::super::settings;
use super::filled;
use crate::rig::During;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

const RUN_LIMIT: Duration = Duration::from_secs(30);

/// Threads that wait for their time.
#[derive(Debug)]
pub struct Changes {
    threads: Vec<(Sender<()>, JoinHandle<Vec<String>>)>,
}

/// Begins to wait for the times of all changes.
pub fn start(changes: &[During], devices: &Devices) -> Changes {
    let begin = |change: &During| {
        let (stop, stopped) = channel();
        let (change, devices) = (change.clone(), devices.clone());
        (stop, std::thread::spawn(move || wait_and_do(&change, &devices, &stopped)))
    };
    Changes { threads: changes.iter().map(begin).collect() }
}

impl Changes {
    /// Stops waiting; complaints about changes that failed or whose time never came.
    pub fn end(self) -> Vec<String> {
        let mut complaints = Vec::new();
        for (stop, thread) in self.threads {
            drop(stop);
            complaints
                .extend(thread.join().unwrap_or_else(|_| vec!["a change during the probe failed".into()]));
        }
        complaints
    }
}

fn wait_and_do(change: &During, devices: &Devices, stopped: &Receiver<()>) -> Vec<String> {
    let mut complaints = Vec::new();
    // The channel closes when the probe has ended; until then waiting runs into its time.
    let waited = |seconds: f64| {
        let wait = Duration::from_secs_f64(seconds);
        stopped.recv_timeout(wait) == Err(std::sync::mpsc::RecvTimeoutError::Timeout)
    };
    if !waited(change.at_s) {
        return vec![format!("the probe had ended before {} s, when something was to change", change.at_s)];
    }
    loop {
        complaints.extend(settings::set_all(&change.set, devices));
        if let Some(words) = &change.run {
            match command::run(&filled(words, devices), RUN_LIMIT) {
                Ok(done) if done.exit == Some(0) => {}
                Ok(done) => complaints.push(format!(
                    "{}: exit {:?}: {}",
                    words.join(" "),
                    done.exit,
                    done.stderr.trim()
                )),
                Err(why) => complaints.push(why),
            }
        }
        match change.every_s {
            Some(every) if complaints.is_empty() && waited(every) => {}
            _ => return complaints,
        }
    }
}
