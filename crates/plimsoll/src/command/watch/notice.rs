//! Signals as messages, so that a wait for the next interval costs nothing and still ends at once.

use crate::exit::{Exit, Failure};
use signal_hook::consts::{SIGCONT, SIGHUP, SIGINT, SIGTERM, SIGTSTP};
use signal_hook::iterator::Signals;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// What somebody wants of the process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Notice {
    /// End.
    Stop,
    /// Be suspended (the screen must be put away first).
    Suspend,
    /// Go on after having been suspended.
    Resume,
}

/// One that asks again this much later does not want to wait for a reader that hangs.
const AGAIN: Duration = Duration::from_secs(1);

/// Where notices arrive.
pub struct Notices(Receiver<Notice>);

impl Notices {
    /// Listens for signals; `screen`: for those that suspend, too.
    pub fn listen(screen: bool) -> Result<Self, Failure> {
        let wrong =
            |cause: std::io::Error| Failure::new(Exit::Environment, format!("handling signals: {cause}"));
        let (sender, receiver) = channel();
        let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP]).map_err(wrong)?;
        if screen {
            signals.add_signal(SIGTSTP).map_err(wrong)?;
            signals.add_signal(SIGCONT).map_err(wrong)?;
        }
        let listen = move || {
            let mut first: Option<Instant> = None;
            for signal in signals.forever() {
                let notice = match signal {
                    SIGTSTP => Notice::Suspend,
                    SIGCONT => Notice::Resume,
                    _ => Notice::Stop,
                };
                if notice == Notice::Stop {
                    if first.is_some_and(|at| at.elapsed() >= AGAIN) {
                        std::process::exit(130);
                    }
                    first.get_or_insert_with(Instant::now);
                }
                if sender.send(notice).is_err() {
                    return;
                }
            }
        };
        std::thread::Builder::new().name("signals".to_owned()).spawn(listen).map_err(wrong)?;
        Ok(Self(receiver))
    }

    /// The next notice, at most after `limit`.
    pub fn wait(&self, limit: Duration) -> Option<Notice> {
        match self.0.recv_timeout(limit) {
            Ok(notice) => Some(notice),
            Err(RecvTimeoutError::Timeout) => None,
            // The listener never ends before us.
            Err(RecvTimeoutError::Disconnected) => {
                std::thread::sleep(limit);
                None
            }
        }
    }

    /// A notice that is already there.
    pub fn poll(&self) -> Option<Notice> {
        self.0.try_recv().ok()
    }
}
