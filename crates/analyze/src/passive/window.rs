//! From intervals to windows with enough I/Os to have a mean.

/// I/Os below which a mean over a window says little.
pub(crate) const IOS_MIN: f64 = 50.0;
/// A window with fewer is closed after this time, and counts as quiet.
const LENGTH_MAX_S: f64 = 10.0;
/// Shorter windows would catch single bursts.
const LENGTH_MIN_S: f64 = 0.95;

/// What one device did in one interval. Absent where it was not known.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Interval {
    /// End, seconds since 1970.
    pub at_s: f64,
    /// Length in seconds.
    pub length_s: f64,
    /// Requests that completed.
    pub requests: f64,
    /// Reads among them.
    pub reads: f64,
    /// Bytes of those.
    pub bytes: f64,
    /// Mean I/Os inside.
    pub inside: Option<f64>,
    /// Mean I/Os in the host queue.
    pub host_queue: Option<f64>,
    /// Mean I/Os at the device.
    pub device_queue: Option<f64>,
    /// Largest number at the device at one instant.
    pub device_queue_peak: Option<f64>,
}

/// Sums over some intervals, divided only when they are read.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Sums {
    /// Time.
    pub seconds: f64,
    pub requests: f64,
    pub reads: f64,
    pub bytes: f64,
    /// I/Os inside, times seconds.
    pub inside: f64,
    /// Of those, I/Os in the host queue where that is known, and the I/Os inside there.
    pub host: f64,
    pub split_inside: f64,
    /// End of the last interval.
    pub at_s: f64,
    /// Largest number at the device at one instant.
    pub peak: f64,
}

impl Sums {
    pub fn add(&mut self, i: &Interval) {
        let inside = i.inside.unwrap_or(0.0) * i.length_s;
        self.seconds += i.length_s;
        self.requests += i.requests;
        self.reads += i.reads;
        self.bytes += i.bytes;
        self.inside += inside;
        if let (Some(host), Some(_)) = (i.host_queue, i.device_queue) {
            self.host += host * i.length_s;
            self.split_inside += inside;
        }
        self.at_s = i.at_s;
        self.peak = self.peak.max(i.device_queue_peak.unwrap_or(0.0));
    }

    pub fn merge(&mut self, other: &Self) {
        self.seconds += other.seconds;
        self.requests += other.requests;
        self.reads += other.reads;
        self.bytes += other.bytes;
        self.inside += other.inside;
        self.host += other.host;
        self.split_inside += other.split_inside;
        self.at_s = self.at_s.max(other.at_s);
        self.peak = self.peak.max(other.peak);
    }

    pub fn iops(&self) -> f64 {
        self.requests / self.seconds.max(1e-9)
    }

    pub fn standing(&self) -> f64 {
        self.inside / self.seconds.max(1e-9)
    }

    /// By Little's law.
    pub fn response_s(&self) -> f64 {
        self.inside / self.requests.max(1e-9)
    }

    /// Share of the I/Os inside that stood in the host queue; absent where nobody could tell.
    pub fn host_share(&self) -> Option<f64> {
        (self.split_inside > 0.0).then(|| (self.host / self.split_inside).clamp(0.0, 1.0))
    }

    pub fn request_bytes(&self) -> f64 {
        self.bytes / self.requests.max(1e-9)
    }

    pub fn read_share(&self) -> f64 {
        self.reads / self.requests.max(1e-9)
    }
}

/// Gathers intervals of one device.
#[derive(Clone, Debug, Default)]
pub(crate) struct Gatherer {
    open: Sums,
}

impl Gatherer {
    /// Adds an interval; a window when that completes one.
    pub fn add(&mut self, interval: &Interval) -> Option<Sums> {
        // A pause of the recording, or an interval without a number inside, must not be averaged over.
        let gap = self.open.seconds > 0.0
            && interval.at_s - interval.length_s - self.open.at_s > interval.length_s + 1.0;
        if gap || (interval.inside.is_none() && interval.requests > 0.0) {
            self.open = Sums::default();
        }
        if interval.inside.is_none() && interval.requests > 0.0 {
            return None;
        }
        self.open.add(interval);
        let enough = self.open.requests >= IOS_MIN && self.open.seconds >= LENGTH_MIN_S;
        (enough || self.open.seconds >= LENGTH_MAX_S).then(|| std::mem::take(&mut self.open))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn second(at_s: f64, requests: f64) -> Interval {
        Interval { at_s, length_s: 1.0, requests, inside: Some(requests / 1000.0), ..Interval::default() }
    }

    #[test]
    fn slow_devices_get_longer_windows() {
        let mut gatherer = Gatherer::default();
        assert!(gatherer.add(&second(1.0, 200.0)).is_some());
        let windows: Vec<Sums> =
            (2..22).filter_map(|at| gatherer.add(&second(f64::from(at), 10.0))).collect();
        assert_eq!(windows.len(), 4);
        assert!(windows.iter().all(|w| w.requests == 50.0 && (w.iops() - 10.0).abs() < 1e-9));
        assert!((windows[0].response_s() - 0.001).abs() < 1e-12);
    }

    #[test]
    fn nothing_is_averaged_over_a_pause() {
        let mut gatherer = Gatherer::default();
        assert_eq!(gatherer.add(&second(1.0, 30.0)), None);
        assert_eq!(gatherer.add(&second(500.0, 30.0)), None);
        assert_eq!(gatherer.add(&second(501.0, 30.0)).unwrap().requests, 60.0);
    }
}
