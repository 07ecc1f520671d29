//! I/Os spread over several stations by address: dm-linear and dm-striped under a random load.
//!
//! A closed network: N I/Os, each new one goes to station i with probability p_i. Certain are the asymptotic bounds
//! X <= N / S and X <= c_i / (p_i S) (Denning & Buzen 1978): the hot station binds. Chance keeps X below them near the
//! bend. How far is known exactly for exponential service times (Buzen, "Computational Algorithms for Closed Queueing
//! Networks with Exponential Servers", CACM 16(9), 1973); a constant service time varies less, so its queues are
//! shorter and its throughput is no smaller. The two are the ends of the range.

use super::range::{Range, Row};

/// One station.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Part {
    /// Share of the I/Os that go there.
    pub share: f64,
    /// I/Os it serves at once.
    pub slots: u32,
}

/// All stations, with one service time.
#[derive(Clone, Debug, PartialEq)]
pub struct Spread {
    /// Time one I/O is served, us.
    pub service_us: f64,
    /// Stations.
    pub parts: Vec<Part>,
}

impl Spread {
    /// What N outstanding I/Os give.
    pub fn at(&self, n: u32) -> Row {
        let most = f64::from(n).min(self.full_at());
        let least = self.exponential_busy(n).min(most);
        Row::waiting_in_host(n, Range { low: least, high: most }, self.service_us)
    }

    /// I/Os in service when the hottest station is full: the smallest c_i / p_i.
    pub fn full_at(&self) -> f64 {
        self.parts.iter().map(|p| f64::from(p.slots) / p.share).fold(f64::INFINITY, f64::min)
    }

    /// Index of the hottest station; absent when several are equally hot.
    pub fn hottest(&self) -> Option<usize> {
        let full_at = self.full_at();
        let hot = |p: &Part| f64::from(p.slots) / p.share < 1.001 * full_at;
        let mut found = self.parts.iter().enumerate().filter(|(_, p)| hot(p));
        let first = found.next()?.0;
        found.next().is_none().then_some(first)
    }

    /// Mean number in service with exponential service times: G(N-1) / G(N) in units of the service time. Loads are
    /// scaled by the hottest station's so that G stays in range.
    fn exponential_busy(&self, n: u32) -> f64 {
        let n = n as usize;
        let unit = 1.0 / self.full_at();
        let mut normal = vec![0.0; n + 1];
        normal[0] = 1.0;
        for part in &self.parts {
            let mut weight = vec![1.0; n + 1];
            for k in 1..=n {
                weight[k] = weight[k - 1] * part.share / (k as f64).min(f64::from(part.slots)) / unit;
            }
            normal = (0..=n).map(|m| (0..=m).map(|k| weight[k] * normal[m - k]).sum()).collect();
        }
        if n == 0 { 0.0 } else { normal[n - 1] / normal[n] / unit }
    }
}
