//! Paths that fall silent: of several lowest devices that shared the load, one carries nothing any more.
//!
//! A path that device mapper took out of use keeps its state `running` in SCSI, and who is not root cannot ask device
//! mapper. But the same random workload that went over all paths at a concurrency that fills them does not leave one of
//! them out by chance.

use super::sampler::Gathered;
use super::sources::Source;
use super::window::End;
use std::collections::BTreeMap;

/// Requests per lowest device that make a silence no accident.
const REQUESTS_LEAST: u64 = 50;
/// I/Os outstanding per lowest device below which a path selector may keep to one path.
const OUTSTANDING_LEAST: f64 = 2.0;
/// Share of an even share that a path must have carried to count as one that carries.
const CARRIES: f64 = 0.1;

/// What each of several lowest devices did so far.
#[derive(Debug, Default)]
pub(crate) struct Silence {
    /// By place among the followed layers: whether it carried I/O when last asked.
    carries: BTreeMap<usize, bool>,
    /// What changed in the latest window, by place.
    pub changes: BTreeMap<usize, &'static str>,
}

impl Silence {
    /// Looks at a closed window.
    pub fn look(
        &mut self,
        sources: &[Source],
        before: &End,
        after: &End,
        gathered: &Gathered,
        outstanding: f64,
    ) {
        self.changes.clear();
        let leaves: Vec<usize> = (0..sources.len()).filter(|p| sources[*p].leaf).collect();
        if leaves.len() < 2 || outstanding < OUTSTANDING_LEAST * leaves.len() as f64 {
            return;
        }
        let whole: Vec<u64> = leaves.iter().map(|p| before.requests_until(after, *p).unwrap_or(0)).collect();
        // The window as a whole, then its end alone: a path that failed in mid-window carried in its first part.
        self.compare(&leaves, &whole);
        if let Some(end) = end_of(&leaves, gathered) {
            self.compare(&leaves, &end);
        }
    }

    fn compare(&mut self, leaves: &[usize], requests: &[u64]) {
        let total: u64 = requests.iter().sum();
        let even = total as f64 / leaves.len() as f64;
        if even < REQUESTS_LEAST as f64 {
            return;
        }
        for (place, requests) in leaves.iter().zip(requests) {
            let carries = match requests {
                0 => false,
                n if *n as f64 >= CARRIES * even => true,
                _ => continue,
            };
            if let Some(before) = self.carries.insert(*place, carries)
                && before != carries
            {
                let what = if carries {
                    "it carries I/O again"
                } else {
                    "it carries nothing any more, the load moved to the other paths"
                };
                self.changes.insert(*place, what);
            }
        }
    }
}

/// Requests of each lowest device in about the last 200 ms of a window.
fn end_of(leaves: &[usize], gathered: &Gathered) -> Option<Vec<u64>> {
    leaves
        .iter()
        .map(|place| {
            let mut points = gathered.course.iter().rev().filter(|p| p.layer == *place);
            let last = points.next()?.ios;
            Some(last.saturating_sub(points.nth(1)?.ios))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_that_falls_silent_and_comes_back_is_said_each_time_once() {
        let mut silence = Silence::default();
        let mut seen = |requests: [u64; 2]| {
            silence.changes.clear();
            silence.compare(&[1, 2], &requests);
            silence.changes.iter().map(|(place, what)| (*place, what.contains("again"))).collect::<Vec<_>>()
        };
        assert_eq!(seen([500, 480]), []);
        assert_eq!(seen([0, 1000]), [(1, false)]);
        assert_eq!(seen([0, 1000]), []);
        assert_eq!(seen([450, 500]), [(1, true)]);
    }

    #[test]
    fn few_requests_and_small_shares_say_nothing() {
        let mut silence = Silence::default();
        silence.compare(&[1, 2], &[500, 500]);
        silence.compare(&[1, 2], &[0, 60]);
        silence.compare(&[1, 2], &[3, 1000]);
        assert!(silence.changes.is_empty());
    }

    #[test]
    fn a_path_in_reserve_that_never_carried_is_no_change() {
        let mut silence = Silence::default();
        silence.compare(&[1, 2], &[1000, 0]);
        silence.compare(&[1, 2], &[1000, 0]);
        assert!(silence.changes.is_empty());
    }
}
