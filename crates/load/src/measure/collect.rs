//! Puts the workers' slices together: the same 100 ms of all workers become one slice of the step.

use crate::clock::ns_to_seconds;
use crate::drive::meter::SliceCounts;
use crate::recorder::Recorder;
use record::{ClassSeen, LatencyHistogram, Slice};
use std::collections::VecDeque;

#[derive(Default)]
struct Pending {
    from: usize,
    length_ns: u64,
    recorders: [Recorder; 3],
    errors: [u64; 3],
    outstanding_ns: u128,
}

impl Pending {
    fn clear(&mut self) {
        self.recorders.iter_mut().for_each(Recorder::clear);
        (self.from, self.errors, self.outstanding_ns) = (0, [0; 3], 0);
    }

    fn add(&mut self, counts: &SliceCounts) {
        for (class, counts) in counts.classes.iter().enumerate() {
            self.recorders[class].merge(&counts.recorder);
            self.errors[class] += counts.errors;
        }
        self.from += 1;
        self.length_ns = counts.length_ns;
        self.outstanding_ns += counts.outstanding_ns;
    }
}

/// Collects slices of `workers` workers. Each worker delivers its slices in order.
pub struct Collector {
    workers: usize,
    block_bytes: u64,
    waiting: VecDeque<Pending>,
    spare: Vec<Pending>,
    /// Number of the first slice in `waiting`.
    first: u32,
    start_ns: u64,
}

impl Collector {
    /// For one window.
    pub fn new(workers: usize, block_bytes: u64) -> Self {
        Self { workers, block_bytes, waiting: VecDeque::new(), spare: Vec::new(), first: 0, start_ns: 0 }
    }

    /// Adds one worker's slice; answers with the step's slice once all workers have delivered theirs.
    pub fn add(&mut self, counts: &SliceCounts) -> Option<Slice> {
        let place = (counts.index - self.first) as usize;
        while self.waiting.len() <= place {
            let pending = self.spare.pop().unwrap_or_default();
            self.waiting.push_back(pending);
        }
        self.waiting[place].add(counts);
        if self.waiting.front().is_none_or(|p| p.from < self.workers) {
            return None;
        }
        let mut whole = self.waiting.pop_front()?;
        self.first += 1;
        let slice = self.convert(&whole);
        self.start_ns += whole.length_ns;
        whole.clear();
        self.spare.push(whole);
        Some(slice)
    }

    fn convert(&self, whole: &Pending) -> Slice {
        let class = |i: usize, block_bytes: u64| {
            let recorder = &whole.recorders[i];
            let latency = (recorder.count() > 0).then(|| {
                let mut histogram = LatencyHistogram::new();
                recorder.pour_into(&mut histogram);
                histogram
            });
            ClassSeen { latency, bytes: recorder.count() * block_bytes, errors: whole.errors[i] }
        };
        Slice {
            start_s: ns_to_seconds(self.start_ns),
            length_s: ns_to_seconds(whole.length_ns),
            read: class(0, self.block_bytes),
            write: class(1, self.block_bytes),
            flush: class(2, 0),
            outstanding_mean: whole.outstanding_ns as f64 / whole.length_ns.max(1) as f64,
        }
    }
}

const _: () = {
    assert!(record::IoClass::Read as usize == 0);
    assert!(record::IoClass::Write as usize == 1);
    assert!(record::IoClass::Flush as usize == 2);
};

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(index: u32, latencies: &[u64], outstanding: u64) -> SliceCounts {
        let mut counts = SliceCounts { index, length_ns: 100_000_000, ..SliceCounts::default() };
        latencies.iter().for_each(|&l| counts.classes[0].recorder.record(l));
        counts.outstanding_ns = u128::from(outstanding * 100_000_000);
        counts
    }

    #[test]
    fn a_slice_is_whole_when_every_worker_delivered_it() {
        let mut collector = Collector::new(2, 4096);
        assert!(collector.add(&counts(0, &[1000, 2000], 3)).is_none());
        assert!(collector.add(&counts(1, &[500], 3)).is_none());
        let first = collector.add(&counts(0, &[3000], 4)).unwrap();
        assert_eq!((first.ios(), first.bytes()), (3, 3 * 4096));
        assert_eq!(first.read.latency.as_ref().unwrap().sum_ns(), 6000);
        assert!((first.outstanding_mean - 7.0).abs() < 1e-9);
        assert!(first.write.latency.is_none());
        let second = collector.add(&counts(1, &[], 4)).unwrap();
        assert_eq!(second.ios(), 1);
        assert!((second.start_s - 0.1).abs() < 1e-9);
    }
}
