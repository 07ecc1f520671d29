//! One bank of slots with a fixed service time, behind limits of the host.

use super::range::{Range, Row};
use super::rate::{Cap, Waits};

/// At most `sent` I/Os are sent at once; at most `slots` of those, and of `others`, are served at once.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Station {
    /// Time one I/O is served, us.
    pub service_us: f64,
    /// I/Os the host sends at once.
    pub sent: u32,
    /// I/Os served at once beyond the host's sight: an array port's slots.
    pub slots: u32,
    /// I/Os that other hosts keep at the same slots.
    pub others: u32,
    /// A cap on rate.
    pub cap: Option<Cap>,
}

impl Station {
    /// What N outstanding I/Os give.
    pub fn at(&self, n: u32) -> Row {
        match self.cap {
            Some(cap) if cap.iops < self.uncapped_iops(n) => self.capped(n, cap),
            _ => self.uncapped(n),
        }
    }

    /// All commands at the slots wait alike, so each host's share of the throughput is its share of what stands there
    /// (Little's law with one and the same time at the target).
    fn uncapped_iops(&self, n: u32) -> f64 {
        let own = f64::from(n.min(self.sent));
        let there = own + f64::from(self.others);
        let served = own * (f64::from(self.slots) / there).min(1.0);
        served / self.service_us * 1e6
    }

    fn uncapped(&self, n: u32) -> Row {
        let iops = self.uncapped_iops(n);
        let at_device = f64::from(n.min(self.sent));
        Row {
            n,
            iops: Range::of(iops),
            response_us: Range::of(f64::from(n) / iops * 1e6),
            above: Range::of(0.0),
            host_queue: Range::of(f64::from(n) - at_device),
            device_queue: Range::of(at_device),
        }
    }

    /// At a cap X is the cap, so X S stand at the device, and what is left waits where the cap holds it.
    fn capped(&self, n: u32, cap: Cap) -> Row {
        let at_device = cap.iops * self.service_us / 1e6;
        let waiting = f64::from(n) - at_device;
        let (above, host_queue) = match cap.waits {
            Waits::Above => (waiting, 0.0),
            Waits::HostQueue => (0.0, waiting),
        };
        Row {
            n,
            iops: Range::of(cap.iops),
            response_us: Range::of(f64::from(n) / cap.iops * 1e6),
            above: Range::of(above),
            host_queue: Range::of(host_queue),
            device_queue: Range::of(at_device),
        }
    }

    /// I/Os served at once when there is no lack of them, other hosts left aside.
    fn at_once(&self) -> f64 {
        f64::from(self.sent.min(self.slots))
    }

    /// The cap, if it is below what the slots can do.
    pub fn binding_cap(&self) -> Option<Cap> {
        self.cap.filter(|cap| cap.iops < self.uncapped_iops(u32::MAX))
    }

    /// More stand at the slots than they serve, once this host sends all it may of `n`.
    pub fn target_is_full(&self, n: u32) -> bool {
        n.min(self.sent).saturating_add(self.others) > self.slots
    }

    /// See [`super::Model::knee`]. Beside other hosts on full slots the curve bends without a knee.
    pub fn knee(&self) -> Option<f64> {
        (self.others == 0 || !self.target_is_full(self.sent)).then(|| self.full_at())
    }

    /// See [`super::Model::full_at`].
    pub fn full_at(&self) -> f64 {
        match self.binding_cap() {
            Some(cap) => cap.iops * self.service_us / 1e6,
            // Slots that others have filled are full at any concurrency.
            None if self.others >= self.slots => 0.0,
            None if self.target_is_full(self.sent) => f64::from(self.slots - self.others),
            None => self.at_once(),
        }
    }

    /// See [`super::Model::depth`].
    pub fn depth(&self) -> Option<f64> {
        self.binding_cap().is_none().then(|| self.at_once())
    }
}
