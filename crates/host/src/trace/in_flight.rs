//! Requests in flight at the end of a window: what the sums of completed requests cannot know.

use super::layout::{PLACE_WORDS, ROW_WORDS, ROWS, split};
use super::window::Class;
use aya::maps::{Array, MapData, MapError};

/// A request older than this is believed only if the kernel counts something in flight on its device: a request that
/// vanished without completion would otherwise stand in the table until its memory is used again.
const BELIEVED_NS: u64 = 100_000_000;

pub(super) struct InFlightMap {
    map: Array<MapData, [u64; ROW_WORDS]>,
}

/// One request in flight.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Standing {
    pub device: u32,
    pub class: Class,
    pub start_ns: u64,
    /// Absent while it waits in the host queue.
    pub issue_ns: Option<u64>,
}

/// What requests in flight have spent since their acceptance.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Spent {
    pub host_ns: u64,
    pub device_ns: u64,
    pub in_host: u64,
    pub at_device: u64,
    pub oldest_ns: Option<u64>,
}

impl InFlightMap {
    pub(super) fn new(map: Array<MapData, [u64; ROW_WORDS]>) -> Self {
        Self { map }
    }

    /// All requests in flight that began before `end_ns`.
    pub(super) fn standing(&self, end_ns: u64) -> Result<Vec<Standing>, MapError> {
        let mut all = Vec::new();
        for row in 0..ROWS {
            let places = self.map.get(&row, 0)?;
            for place in places.chunks_exact(PLACE_WORDS).filter(|p| p[0] != 0) {
                let (device, class_and_bytes) = split(place[1]);
                let (start_ns, issue_ns) = (place[2], place[3]);
                if start_ns < end_ns {
                    let issue_ns = (issue_ns != 0 && issue_ns <= end_ns).then_some(issue_ns);
                    all.push(Standing { device, class: Class::of(class_and_bytes & 7), start_ns, issue_ns });
                }
            }
        }
        Ok(all)
    }
}

impl Standing {
    /// Whether it needs a second witness.
    pub(super) fn is_old(&self, end_ns: u64) -> bool {
        end_ns - self.issue_ns.unwrap_or(self.start_ns) > BELIEVED_NS
    }
}

impl Spent {
    /// Adds one request, as it stands at `end_ns`.
    pub(super) fn add(&mut self, one: &Standing, end_ns: u64) {
        let issue_ns = one.issue_ns.unwrap_or(end_ns);
        self.host_ns += issue_ns.saturating_sub(one.start_ns);
        self.device_ns += end_ns.saturating_sub(issue_ns);
        match one.issue_ns {
            Some(_) => self.at_device += 1,
            None => self.in_host += 1,
        }
        let age = end_ns.saturating_sub(one.start_ns);
        self.oldest_ns = Some(self.oldest_ns.map_or(age, |o| o.max(age)));
    }
}

#[cfg(test)]
mod test {
    use super::*;

    #[test]
    fn times_go_to_the_queue_where_they_were_spent() {
        let mut spent = Spent::default();
        let one = |start_ns, issue_ns| Standing { device: 1, class: Class::Read, start_ns, issue_ns };
        spent.add(&one(90, Some(130)), 200); // 40 in the host, 70 at the device
        spent.add(&one(150, None), 200); // 50 in the host
        let truth = Spent { host_ns: 90, device_ns: 70, in_host: 1, at_device: 1, oldest_ns: Some(110) };
        assert_eq!(spent, truth);
    }

    #[test]
    fn only_an_old_request_needs_a_witness() {
        let one = Standing { device: 1, class: Class::Read, start_ns: 0, issue_ns: Some(5_000_000_000) };
        assert!(!one.is_old(5_090_000_000));
        assert!(one.is_old(5_110_000_000));
    }
}
