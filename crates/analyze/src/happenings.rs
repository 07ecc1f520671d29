//! What happened on a watched host that a person should hear about: failed commands, a LUN queue depth that moved,
//! a device that no longer answers.

use record::{Counted, DeviceSample, HostSample, ScsiAnswers};
use std::collections::{HashMap, HashSet};

/// What kind of thing happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HappeningKind {
    /// Commands ended in anything but success.
    Failed,
    /// Commands timed out.
    TimedOut,
    /// TASK SET FULL was answered (seen by a tracer).
    TaskSetFull,
    /// BUSY was answered (seen by a tracer).
    Busy,
    /// The LUN queue depth fell.
    DepthFell,
    /// The LUN queue depth rose.
    DepthRose,
    /// I/Os are in flight and none completes.
    Hangs,
    /// A device that hung answers again.
    Answers,
    /// The device was set up anew.
    Reset,
    /// Its accounting is switched off.
    CountersOff,
}

impl HappeningKind {
    /// The word in JSON.
    pub fn word(self) -> &'static str {
        match self {
            Self::Failed => "failed",
            Self::TimedOut => "timed-out",
            Self::TaskSetFull => "task-set-full",
            Self::Busy => "busy",
            Self::DepthFell => "queue-depth-fell",
            Self::DepthRose => "queue-depth-rose",
            Self::Hangs => "hangs",
            Self::Answers => "answers-again",
            Self::Reset => "reset",
            Self::CountersOff => "counters-off",
        }
    }
}

/// One thing that happened.
#[derive(Clone, Debug, PartialEq)]
pub struct Happening {
    /// End of the interval in which it was seen, seconds since 1970.
    pub at_s: f64,
    /// Kernel name of the device.
    pub device: String,
    /// What kind.
    pub kind: HappeningKind,
    /// In words.
    pub text: String,
}

/// An interval without completions that is shorter says nothing: a slow disk under a fast watch.
const HANG_MIN_S: f64 = 2.0;

/// Tells what is new from one sample to the next.
#[derive(Clone, Debug, Default)]
pub struct Happenings {
    depths: HashMap<String, f64>,
    /// Seconds without a completion while I/Os are in flight.
    silent_s: HashMap<String, f64>,
    off: HashSet<String>,
}

impl Happenings {
    /// What is new in this sample.
    pub fn look(&mut self, sample: &HostSample) -> Vec<Happening> {
        let mut found = Vec::new();
        for device in sample.devices.iter().filter(|d| d.facts.disk.is_none()) {
            let mut tell = |kind, text: String| {
                let device = device.facts.name.clone();
                found.push(Happening { at_s: sample.at_s, device, kind, text });
            };
            self.failures(device, &mut tell);
            self.depth(device, &mut tell);
            self.silence(device, &mut tell);
            self.state(device, &mut tell);
        }
        found
    }

    fn failures(&self, device: &DeviceSample, tell: &mut impl FnMut(HappeningKind, String)) {
        if let Some(count) = device.task_set_full.filter(|c| *c > 0) {
            tell(HappeningKind::TaskSetFull, format!("{} answered with TASK SET FULL", commands(count)));
        }
        match device.traced.as_ref().and_then(|t| t.scsi) {
            Some(answers) => answered(&answers, tell),
            None => {
                if let Some(count) = device.failed.filter(|c| *c > 0 && device.task_set_full.is_none()) {
                    let text = format!("{} did not succeed: QUEUE FULL, BUSY or an error", commands(count));
                    tell(HappeningKind::Failed, text);
                }
            }
        }
        if let Some(count) = device.timed_out.filter(|c| *c > 0) {
            tell(HappeningKind::TimedOut, format!("{} timed out", commands(count)));
        }
    }

    fn depth(&mut self, device: &DeviceSample, tell: &mut impl FnMut(HappeningKind, String)) {
        let Some(now) = device.limits.queue_depth else { return };
        let name = device.facts.name.as_str();
        let Some(known) = self.depths.get_mut(name) else {
            self.depths.insert(name.to_owned(), now);
            return;
        };
        let before = std::mem::replace(known, now);
        if now < before {
            let text = format!(
                "queue depth fell from {before} to {now}: the array answered QUEUE FULL, or somebody set it"
            );
            tell(HappeningKind::DepthFell, text);
        } else if now > before {
            tell(HappeningKind::DepthRose, format!("queue depth rose from {before} to {now}"));
        }
    }

    fn silence(&mut self, device: &DeviceSample, tell: &mut impl FnMut(HappeningKind, String)) {
        let name = device.facts.name.as_str();
        let hangs = device.is_counted() && device.requests() == 0 && device.inside.low >= 1.0;
        if !hangs {
            if self.silent_s.remove(name).is_some_and(|s| s >= HANG_MIN_S) {
                tell(HappeningKind::Answers, "I/Os complete again".to_owned());
            }
            return;
        }
        let silent_s = self.silent_s.entry(name.to_owned()).or_default();
        let before = *silent_s;
        *silent_s += device.length_s;
        if before < HANG_MIN_S && *silent_s >= HANG_MIN_S {
            let text =
                format!("no I/O completed for {silent_s:.0} s while {} are in flight", device.in_flight);
            tell(HappeningKind::Hangs, text);
        }
    }

    fn state(&mut self, device: &DeviceSample, tell: &mut impl FnMut(HappeningKind, String)) {
        let name = device.facts.name.as_str();
        if device.counted == Counted::Reset {
            tell(HappeningKind::Reset, "its counters went back: it was set up anew".to_owned());
        }
        if device.counted != Counted::Off {
            self.off.remove(name);
        } else if self.off.insert(name.to_owned()) {
            let text = "I/O accounting is off: write 1 to its queue/iostats to watch it".to_owned();
            tell(HappeningKind::CountersOff, text);
        }
    }
}

/// What a tracer tells apart, TASK SET FULL and timeouts aside.
fn answered(answers: &ScsiAnswers, tell: &mut impl FnMut(HappeningKind, String)) {
    if answers.busy > 0 {
        tell(HappeningKind::Busy, format!("{} answered with BUSY", commands(answers.busy)));
    }
    for (count, how) in [
        (answers.check_condition, "answered with CHECK CONDITION"),
        (answers.other_status, "answered with a reservation conflict or another status"),
        (answers.host_error, "failed by the host adapter or its driver"),
    ] {
        if count > 0 {
            tell(HappeningKind::Failed, format!("{} {how}", commands(count)));
        }
    }
}

fn commands(count: u64) -> String {
    if count == 1 { "1 command".to_owned() } else { format!("{count} commands") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::{DeviceFacts, LayerKind, QueueSample, TracedDevice};
    use std::sync::Arc;

    fn sample(change: impl FnOnce(&mut DeviceSample)) -> HostSample {
        let facts = DeviceFacts {
            name: "sda".to_owned(),
            kind: LayerKind::Scsi,
            label: None,
            disk: None,
            below: Vec::new(),
            above: Vec::new(),
            scheduler: None,
        };
        let mut device = DeviceSample::empty(Arc::new(facts));
        device.counted = Counted::Yes;
        device.length_s = 1.0;
        change(&mut device);
        HostSample { at_s: 5.0, length_s: 1.0, devices: vec![device], ..HostSample::default() }
    }

    fn kinds(found: &[Happening]) -> Vec<HappeningKind> {
        found.iter().map(|h| h.kind).collect()
    }

    #[test]
    fn a_queue_depth_is_told_when_it_moves_not_while_it_stands() {
        let depth = |depth| sample(|d| d.limits.queue_depth = Some(depth));
        let mut happenings = Happenings::default();
        assert_eq!(happenings.look(&depth(32.0)), []);
        let found = happenings.look(&depth(16.0));
        assert_eq!(kinds(&found), [HappeningKind::DepthFell]);
        assert!(found[0].text.contains("from 32 to 16"), "{}", found[0].text);
        assert_eq!(happenings.look(&depth(16.0)), []);
        assert_eq!(kinds(&happenings.look(&depth(17.0))), [HappeningKind::DepthRose]);
    }

    #[test]
    fn a_device_hangs_after_two_silent_seconds_and_is_told_once() {
        let silent = || {
            sample(|d| {
                d.in_flight = 4;
                d.inside = QueueSample::known(4.0);
            })
        };
        let mut happenings = Happenings::default();
        assert_eq!(happenings.look(&silent()), []);
        assert_eq!(kinds(&happenings.look(&silent())), [HappeningKind::Hangs]);
        assert_eq!(happenings.look(&silent()), []);
        let answers = sample(|d| d.read.count = 1);
        assert_eq!(kinds(&happenings.look(&answers)), [HappeningKind::Answers]);
        assert_eq!(happenings.look(&answers), []);
    }

    #[test]
    fn failures_are_told_each_time_and_named_when_a_tracer_knows_them() {
        let mut happenings = Happenings::default();
        let failed = sample(|d| d.failed = Some(3));
        assert_eq!(kinds(&happenings.look(&failed)), [HappeningKind::Failed]);
        assert_eq!(kinds(&happenings.look(&failed)), [HappeningKind::Failed]);
        let traced = sample(|d| (d.failed, d.task_set_full) = (Some(3), Some(3)));
        assert_eq!(kinds(&happenings.look(&traced)), [HappeningKind::TaskSetFull]);
        assert_eq!(happenings.look(&sample(|d| d.failed = Some(0))), []);
        let scsi = ScsiAnswers { task_set_full: 3, busy: 1, check_condition: 2, ..ScsiAnswers::default() };
        let told = happenings.look(&sample(|d| {
            (d.failed, d.task_set_full) = (Some(6), Some(3));
            d.traced = Some(Arc::new(TracedDevice { scsi: Some(scsi), ..TracedDevice::default() }));
        }));
        assert_eq!(kinds(&told), [HappeningKind::TaskSetFull, HappeningKind::Busy, HappeningKind::Failed]);
        assert_eq!(told[2].text, "2 commands answered with CHECK CONDITION");
    }
}
