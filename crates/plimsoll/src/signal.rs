//! Signals that end a run: the first asks for a clean end, one that comes later again ends at once.

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Signals this soon after the first are its echo. `timeout` signals its child and then the whole group; a terminal
/// signals the group that a script signals again. Nobody is impatient after less than this.
const ECHO: Duration = Duration::from_secs(1);

/// A flag that the first SIGINT, SIGTERM or SIGHUP sets.
///
/// A clean end takes as long as the I/Os in flight take. Who does not want to wait for a hanging device repeats the
/// signal: the process ends with 130, and the next start in that directory removes the file it left.
///
/// Errors: the system refuses a handler or a thread.
pub fn interrupt_flag() -> std::io::Result<Arc<AtomicBool>> {
    let asked = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&asked);
    let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP])?;
    std::thread::Builder::new().name("signals".to_owned()).spawn(move || {
        let mut first: Option<Instant> = None;
        for _ in signals.forever() {
            match first {
                None => {
                    first = Some(Instant::now());
                    flag.store(true, Ordering::Relaxed);
                }
                Some(at) if at.elapsed() < ECHO => {}
                Some(_) => std::process::exit(130),
            }
        }
    })?;
    Ok(asked)
}
