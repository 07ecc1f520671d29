//! What stood set when a job began.

use crate::outcome::Outcome;
use crate::rig::Rig;
use std::collections::BTreeMap;

/// Values by the rig's names (`lun0.queue_depth`). What the guest read right before the job counts more than what was
/// asked for: a kernel may clip or refuse a value.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    asked: BTreeMap<String, String>,
    read: BTreeMap<String, String>,
}

impl Settings {
    /// As they stood before a job.
    pub fn before(rig: &Rig, job_index: usize, outcome: &Outcome) -> Self {
        let mut asked = rig.set.clone();
        for (index, job) in rig.job.iter().enumerate().take(job_index) {
            asked.extend(job.set.clone().unwrap_or_default());
            let done = outcome.jobs.get(index).and_then(|o| o.applied.as_ref());
            if let Some((key, applied)) = done.and_then(|a| Some((key_of(&a.file, outcome)?, a))) {
                asked.insert(key, applied.after.clone());
            }
        }
        let read = outcome.jobs.get(job_index).map(|o| o.settings_before.clone()).unwrap_or_default();
        Self { asked, read }
    }

    /// A value as text. A file of choices shows the present one in brackets.
    pub fn text(&self, device: &str, knob: &str) -> Option<String> {
        let key = format!("{device}.{knob}");
        let text = self.read.get(&key).or_else(|| self.asked.get(&key))?.trim();
        let chosen = text.split_once('[').and_then(|(_, rest)| rest.split_once(']')).map(|(word, _)| word);
        Some(chosen.unwrap_or(text).to_owned())
    }

    /// A value as a number.
    pub fn number(&self, device: &str, knob: &str) -> Option<u32> {
        self.text(device, knob)?.parse().ok()
    }

    /// Files set by their full names, with their values.
    pub fn files(&self) -> impl Iterator<Item = (&str, &str)> {
        self.asked.iter().filter(|(k, _)| k.starts_with('/')).map(|(k, v)| (k.as_str(), v.as_str()))
    }

    /// Values that read otherwise than they were asked for.
    pub fn departures(&self) -> Vec<String> {
        let other = |(key, asked): (&String, &String)| {
            let read = self.read.get(key)?;
            let (device, knob) = key.split_once('.')?;
            (self.text(device, knob)? != asked.trim())
                .then(|| format!("{key} was set to {asked} and reads {}", read.trim()))
        };
        self.asked.iter().filter_map(other).collect()
    }
}

/// The rig's name of a file below `/sys/block`.
fn key_of(file: &str, outcome: &Outcome) -> Option<String> {
    let knob = file.rsplit('/').next()?;
    let (name, _) = outcome.devices.iter().find(|(_, kernel)| file.split('/').any(|part| part == *kernel))?;
    Some(format!("{name}.{knob}"))
}
