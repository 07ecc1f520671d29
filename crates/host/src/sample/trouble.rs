//! What devices answer besides success while a load is on: SCSI's own counters, read now and then.
//!
//! `ioerr_cnt` counts every command that ended in anything but success, `iodone_cnt` every completed attempt. A command
//! answered TASK SET FULL or BUSY is sent again by the kernel, so completions run ahead of the requests that the block
//! layer saw completed; a recovered error does not. What is both unsuccessful and sent again was refused. A check
//! condition that the kernel retries (a unit attention after a reset) looks the same; only counting the answers one by
//! one can tell, and that takes rights.

use super::kept::Buffer;
use super::sources::Source;
use record::{DepthSeen, ScsiSeen, Trouble};
use std::collections::BTreeMap;

/// One SCSI device at one moment.
#[derive(Clone, Debug, Default)]
struct Moment {
    scsi: Option<ScsiSeen>,
    /// Requests completed, whatever they were.
    requests: Option<u64>,
    depth: Option<u32>,
    state: Option<String>,
}

impl Moment {
    fn read(source: &Source, buffer: &mut Buffer) -> Self {
        // The order matters: a command completes in SCSI's count before it does in the block layer's, so reading that
        // one last never shows a completion too many.
        let scsi = source.scsi(buffer);
        let requests = source
            .stat(buffer)
            .filter(|_| source.counts_io(buffer))
            .map(|s| s.reads + s.writes + s.discards + s.flushes);
        let depth = source.lun_depth.as_ref().and_then(|f| f.number(buffer)).and_then(|n| n.try_into().ok());
        let state = source.state.as_ref().and_then(|f| f.text(buffer)).map(|t| t.trim().to_owned());
        Self { scsi, requests, depth, state }
    }
}

/// One device since the load was put on.
#[derive(Clone, Debug)]
struct Watched {
    place: usize,
    first: Moment,
    low: u32,
    high: u32,
}

/// Watches the SCSI devices of a path.
#[derive(Debug, Default)]
pub(crate) struct Troubles {
    watched: Vec<Watched>,
}

impl Troubles {
    /// The load is put on now.
    pub fn load_on(&mut self, sources: &[Source], buffer: &mut Buffer) {
        self.watched.clear();
        for (place, source) in sources.iter().enumerate().filter(|(_, s)| s.is_scsi()) {
            let first = Moment::read(source, buffer);
            let depth = first.depth.unwrap_or(0);
            self.watched.push(Watched { place, first, low: depth, high: depth });
        }
    }

    /// What was answered since then by each device that has something to tell.
    /// `paths` are changes of paths, by place.
    pub fn look(
        &mut self,
        sources: &[Source],
        paths: &BTreeMap<usize, &'static str>,
        buffer: &mut Buffer,
    ) -> Vec<Trouble> {
        let troubles = self.watched.iter_mut().map(|w| {
            let now = Moment::read(&sources[w.place], buffer);
            if let Some(depth) = now.depth {
                (w.low, w.high) = (w.low.min(depth), w.high.max(depth));
            }
            let path = paths.get(&w.place).map(|what| (*what).to_owned());
            Trouble { path, ..w.since(&sources[w.place].name, now) }
        });
        troubles.filter(|t| !t.is_quiet()).collect()
    }
}

impl Watched {
    fn since(&self, device: &str, now: Moment) -> Trouble {
        let mut trouble = Trouble { device: device.to_owned(), ..Trouble::default() };
        if let (Some(before), Some(after)) = (self.first.scsi, now.scsi) {
            let seen = super::layer::scsi_between(&before, &after);
            trouble.done = seen.done;
            trouble.unsuccessful = seen.errors;
            trouble.timed_out = seen.timeouts.unwrap_or(0);
            let requests = self.first.requests.zip(now.requests).map(|(b, a)| a.saturating_sub(b));
            // Without the block layer's count, every command that did not succeed may have been sent again.
            trouble.sent_again = requests.map_or(seen.errors, |r| seen.done.saturating_sub(r));
        }
        if let (Some(first), Some(last)) = (self.first.depth, now.depth) {
            trouble.queue_depth = Some(DepthSeen { first, low: self.low, high: self.high, last });
        }
        trouble.state = match (&self.first.state, now.state) {
            (Some(before), Some(after)) if *before != after => Some([before.clone(), after]),
            // A device that went away has no state to read.
            (Some(before), None) => Some([before.clone(), "gone".to_owned()]),
            _ => None,
        };
        trouble
    }
}
