//! Lines for pipes, logs and programs.

use super::Beat;
use super::notice::{Notice, Notices};
use super::source::Observed;
use crate::args::watch::WatchArgs;
use crate::exit::{Exit, Failure};
use crate::voice::Voice;
use ::report::watch::{self, TextOptions, View};
use analyze::Happenings;
use std::io::{ErrorKind, Write};
use std::time::Duration;

/// Prints an interval after the other.
pub fn run(args: &WatchArgs, voice: &Voice, view: &View, mut observed: Observed) -> Result<Exit, Failure> {
    let notices = Notices::listen(false)?;
    let interval = Duration::from_secs_f64(args.interval);
    let count = if args.once { Some(1) } else { args.count };
    let mut happenings = Happenings::default();
    // What stood there before the first interval is not news.
    happenings.look(observed.sample());
    let mut beat = Beat::new(interval);
    let mut done = 0;
    // What the source cannot see is said once, and when it changes.
    let mut told = Vec::new();
    loop {
        while !beat.left().is_zero() {
            if notices.wait(beat.left()) == Some(Notice::Stop) {
                return Ok(Exit::Interrupted);
            }
        }
        beat.next(interval);
        let sample = observed.next()?;
        let happened = happenings.look(sample);
        let text = if voice.json {
            watch::line(sample, &happened, view)
        } else {
            let options = TextOptions {
                classes: args.classes,
                percentiles: args.percentiles,
                processes: args.processes,
                unseen: told != sample.unseen,
            };
            told.clone_from(&sample.unseen);
            watch::block(sample, &happened, view, options, voice.style())
        };
        let mut out = std::io::stdout().lock();
        match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
            Ok(()) => {}
            // The reader has seen enough (`| head`).
            Err(e) if e.kind() == ErrorKind::BrokenPipe => return Ok(Exit::Done),
            Err(e) => return Err(Failure::new(Exit::Environment, format!("writing the lines: {e}"))),
        }
        drop(out);
        done += 1;
        if count.is_some_and(|c| done >= c) {
            return Ok(Exit::Done);
        }
    }
}
