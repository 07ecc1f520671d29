//! What happened to a load beside its slices: answers other than success, I/Os that failed or came very late.
//!
//! All of it counts from putting the load on until its last I/O came back, settling and draining included: a device
//! that answers QUEUE FULL does so when the load arrives, not when somebody measures.

use crate::doubt::DoubtId;
use crate::step::IoClass;
use serde::{Deserialize, Serialize};

/// What happened during one load.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Incidents {
    /// Devices that answered something other than success, or whose limits or state changed.
    pub troubles: Vec<Trouble>,
    /// I/Os that came back failed.
    pub failed: Option<FailedIos>,
    /// The longest any I/O took, in microseconds.
    pub slowest_us: Option<f64>,
}

/// What one device answered instead of success.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Trouble {
    /// Kernel name.
    pub device: String,
    /// SCSI commands that completed, each attempt counted.
    pub done: u64,
    /// Of those, commands that ended in anything but success (`ioerr_cnt`).
    pub unsuccessful: u64,
    /// Completions beyond the requests that the block layer saw completed: commands that were sent again.
    pub sent_again: u64,
    /// Commands that timed out (`iotmo_cnt`).
    pub timed_out: u64,
    /// Answers counted one by one; absent where that needs rights this process does not have.
    pub counted: Option<Answers>,
    /// The LUN queue depth when the load was put on and when it was off again, with the lowest and highest between.
    pub queue_depth: Option<DepthSeen>,
    /// SCSI device state (`running`, `offline` ...) before and after, when it changed.
    pub state: Option<[String; 2]>,
    /// A path of a multipath device that carried I/O before and carries none, or the other way round, in words.
    pub path: Option<String>,
}

/// SCSI answers counted at the kernel's trace points.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answers {
    /// TASK SET FULL (0x28): the queue of the port or LUN is full.
    pub task_set_full: u64,
    /// BUSY (0x08).
    pub busy: u64,
    /// Commands that the host adapter's driver did not take.
    pub host_busy: u64,
}

/// A queue depth over one load.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DepthSeen {
    /// When the load was put on.
    pub first: u32,
    /// Lowest.
    pub low: u32,
    /// Highest.
    pub high: u32,
    /// When the load was off.
    pub last: u32,
}

/// I/Os that failed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FailedIos {
    /// How many.
    pub count: u64,
    /// What the first one was.
    pub class: IoClass,
    /// Lowest and highest offset in bytes that failed.
    pub offset_bytes: [u64; 2],
    /// What the system said of the first one.
    pub cause: String,
}

/// So few refused commands are an accident of the moment (a device just reset, another host's burst).
const REFUSED_FEW: u64 = 2;
/// More than this share of refused commands is no accident.
const REFUSED_SHARE: f64 = 0.001;

impl std::fmt::Display for FailedIos {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let class = match self.class {
            IoClass::Read => "read",
            IoClass::Write => "write",
            IoClass::Flush => "flush",
        };
        let [low, high] = self.offset_bytes;
        write!(f, "{} I/Os failed, first a {class}: {}; ", self.count, self.cause)?;
        if low == high { write!(f, "at byte {low}") } else { write!(f, "between bytes {low} and {high}") }
    }
}

impl DepthSeen {
    /// Whether it moved at all.
    pub fn moved(&self) -> bool {
        self.low != self.high || self.first != self.last
    }
}

impl Trouble {
    /// Commands answered TASK SET FULL or BUSY: counted one by one, or the commands that neither succeeded nor failed
    /// the I/O but were sent again.
    pub fn refused(&self) -> u64 {
        self.counted.map_or(self.unsuccessful.min(self.sent_again), |c| c.task_set_full + c.busy)
    }

    /// Whether the device pushes back: it refuses more than by accident, or the kernel lowered its depth for it.
    pub fn pushes_back(&self) -> bool {
        let refused = self.refused();
        let many = refused > REFUSED_FEW && refused as f64 > REFUSED_SHARE * self.done as f64;
        many || (refused > 0 && self.queue_depth.is_some_and(|d| d.last < d.first))
    }

    /// Nothing to tell.
    pub fn is_quiet(&self) -> bool {
        self.unsuccessful == 0
            && self.timed_out == 0
            && self.counted.unwrap_or_default() == Answers::default()
            && !self.queue_depth.is_some_and(|d| d.moved())
            && self.state.is_none()
            && self.path.is_none()
    }

    /// Whether the set of usable paths changed.
    pub fn changes_paths(&self) -> bool {
        self.state.is_some() || self.path.is_some()
    }
}

impl Trouble {
    /// What happened, one short sentence each, with the kind of doubt it gives cause to.
    pub fn events(&self) -> Vec<(DoubtId, String)> {
        let device = &self.device;
        let mut events = Vec::new();
        let refused = self.refused();
        if refused > 0 {
            let what = self.counted.map_or_else(
                || {
                    format!(
                        "{refused} of {} commands were answered TASK SET FULL or BUSY and sent again",
                        self.done
                    )
                },
                |c| {
                    format!(
                        "{} of {} commands were answered TASK SET FULL, {} BUSY",
                        c.task_set_full, self.done, c.busy
                    )
                },
            );
            events.push((DoubtId::QueueFull, format!("{device}: {what}")));
        }
        if let Some(busy) = self.counted.map(|c| c.host_busy).filter(|n| *n > 0) {
            let text = format!("{device}: the host adapter's driver did not take {busy} commands");
            events.push((DoubtId::QueueFull, text));
        }
        if self.timed_out > 0 {
            events.push((DoubtId::Timeouts, format!("{device}: {} commands timed out", self.timed_out)));
        }
        let other = self.unsuccessful.saturating_sub(refused);
        if other > 0 {
            let text = format!("{device}: {other} of {} commands ended in other than success", self.done);
            events.push((DoubtId::RecoveredErrors, text));
        }
        if let Some(d) = self.queue_depth.filter(DepthSeen::moved) {
            let text =
                format!("{device}: queue_depth went {} -> {} ({} to {})", d.first, d.last, d.low, d.high);
            events.push((DoubtId::QueueDepthChanged, text));
        }
        if let Some([before, after]) = &self.state {
            events.push((DoubtId::PathsChanged, format!("{device}: state went {before} -> {after}")));
        }
        events.extend(self.path.iter().map(|what| (DoubtId::PathsChanged, format!("{device}: {what}"))));
        events
    }
}

impl Incidents {
    /// Whether a device pushes back (see [`Trouble::pushes_back`]).
    pub fn pushed_back(&self) -> bool {
        self.troubles.iter().any(Trouble::pushes_back)
    }

    /// Commands that timed out.
    pub fn timed_out(&self) -> u64 {
        self.troubles.iter().map(|t| t.timed_out).sum()
    }

    /// Commands refused by all devices.
    pub fn refused(&self) -> u64 {
        self.troubles.iter().map(Trouble::refused).sum()
    }

    /// Whether a path came or went.
    pub fn paths_changed(&self) -> bool {
        self.troubles.iter().any(Trouble::changes_paths)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trouble(done: u64, unsuccessful: u64, sent_again: u64) -> Trouble {
        Trouble { device: "sda".to_owned(), done, unsuccessful, sent_again, ..Trouble::default() }
    }

    #[test]
    fn recovered_errors_are_no_push_back() {
        let recovered = trouble(10_000, 100, 0);
        assert_eq!((recovered.refused(), recovered.pushes_back(), recovered.is_quiet()), (0, false, false));
    }

    #[test]
    fn a_few_refusals_are_an_accident_unless_the_kernel_lowered_the_depth() {
        assert!(!trouble(500, 2, 2).pushes_back());
        assert!(!trouble(100_000, 50, 50).pushes_back());
        assert!(trouble(500, 3, 3).pushes_back());
        let queue_depth = Some(DepthSeen { first: 32, low: 31, high: 32, last: 31 });
        assert!(Trouble { queue_depth, ..trouble(500, 1, 1) }.pushes_back());
        assert!(!Trouble { queue_depth, ..trouble(500, 0, 0) }.pushes_back(), "somebody set it");
    }

    #[test]
    fn answers_counted_one_by_one_win_over_what_counters_suggest() {
        let counted = Some(Answers { task_set_full: 7, busy: 1, host_busy: 5 });
        assert_eq!(Trouble { counted, ..trouble(10, 4, 4) }.refused(), 8);
    }
}
