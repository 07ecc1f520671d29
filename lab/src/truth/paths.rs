//! Several paths of one LUN.
//!
//! What a selector does with paths of unequal depth follows from how it chooses, where it chooses once for good
//! (bio-based): round-robin gives each path the same share, so the shallow one binds them all; queue-length and
//! service-time keep the same number on each path. Request-based, a path that refuses is chosen again, and only bounds
//! are certain: no more than all depths together, no less than the shallow path alone.
//! (Documentation/admin-guide/device-mapper/dm-queue-length.rst, dm-service-time.rst.)

use super::range::{Range, Row};

/// `path_selector`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Selector {
    /// One after another.
    RoundRobin,
    /// The path with the fewest I/Os (queue-length), or the fewest bytes (service-time): the same at one block size.
    Shortest,
}

/// `queue_mode`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Request-based.
    Request,
    /// Bio-based.
    Bio,
}

/// All paths, with one service time.
#[derive(Clone, Debug, PartialEq)]
pub struct Paths {
    /// Time one I/O is served, us.
    pub service_us: f64,
    /// I/Os each path takes at once.
    pub depths: Vec<u32>,
    /// Requests the multipath device itself lets in (request-based); `u32::MAX` where it has no queue of its own.
    pub gate: u32,
    /// Selector.
    pub selector: Selector,
    /// Mode.
    pub mode: Mode,
}

impl Paths {
    /// What N outstanding I/Os give.
    pub fn at(&self, n: u32) -> Row {
        Row::waiting_in_host(n, self.busy(f64::from(n.min(self.gate))), self.service_us)
    }

    fn count(&self) -> f64 {
        self.depths.len() as f64
    }

    fn shallowest(&self) -> f64 {
        f64::from(self.depths.iter().copied().min().unwrap_or(0))
    }

    fn sum(&self) -> f64 {
        self.depths.iter().copied().map(f64::from).sum()
    }

    /// All paths have the same depth.
    pub fn even(&self) -> bool {
        self.depths.iter().all(|d| *d == self.depths[0])
    }

    /// I/Os in service with `n` let in. Any selector here keeps equal paths equally full but for one I/O each.
    fn busy(&self, n: f64) -> Range {
        let (k, shallow, sum) = (self.count(), self.shallowest(), self.sum());
        let most = n.min(sum);
        if n <= k * (shallow - 1.0) || k <= 1.0 {
            return Range::of(most);
        }
        let all_but_one_each = |whole: f64| Range { low: (whole - (k - 1.0)).max(1.0), high: whole };
        match (self.even(), self.mode, self.selector) {
            (true, ..) if n >= sum + k - 1.0 => Range::of(sum),
            (true, ..) => all_but_one_each(most),
            (false, Mode::Bio, Selector::RoundRobin) if n >= 2.0 * k * shallow => Range::of(k * shallow),
            (false, Mode::Bio, Selector::RoundRobin) => {
                Range { low: shallow.min(n), high: n.min(k * shallow) }
            }
            (false, Mode::Bio, Selector::Shortest) => {
                let each = n / k;
                let whole: f64 = self.depths.iter().map(|d| each.min(f64::from(*d))).sum();
                if each >= f64::from(self.depths.iter().copied().max().unwrap_or(0)) + 1.0 {
                    Range::of(whole)
                } else {
                    all_but_one_each(whole)
                }
            }
            (false, Mode::Request, _) => Range { low: shallow.min(n), high: most },
        }
    }

    /// The multipath device's own requests are fewer than its paths take.
    pub fn gate_binds(&self) -> bool {
        f64::from(self.gate) < self.sum()
    }

    /// See [`super::Model::knee`].
    pub fn knee(&self) -> Option<f64> {
        self.even().then(|| self.full_at())
    }

    /// See [`super::Model::full_at`].
    pub fn full_at(&self) -> f64 {
        let all = if self.mode == Mode::Bio && self.selector == Selector::RoundRobin {
            self.count() * self.shallowest()
        } else {
            self.sum()
        };
        all.min(f64::from(self.gate))
    }

    /// A path waits full while another has room. Request-based round-robin and bio-based shortest-queue fill them all.
    pub fn wastes(&self) -> bool {
        !self.even()
            && !self.gate_binds()
            && matches!(
                (self.mode, self.selector),
                (Mode::Bio, Selector::RoundRobin) | (Mode::Request, Selector::Shortest)
            )
    }

    /// The rate of all paths together, I/Os per second.
    pub fn whole_iops(&self) -> f64 {
        self.sum() / self.service_us * 1e6
    }
}
