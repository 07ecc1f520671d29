//! Signals that end a run: the first asks for a clean end, the second ends at once.

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// A flag that the first SIGINT, SIGTERM or SIGHUP sets.
///
/// A clean end takes as long as the I/Os in flight take. Who does not want to wait for a hanging device repeats the
/// signal: the process ends with 130, and the next start in that directory removes the file it left.
///
/// Errors: the system refuses a handler.
pub fn interrupt_flag() -> std::io::Result<Arc<AtomicBool>> {
    let asked = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        // The order matters: at the first signal the flag is still unset when the shutdown looks at it.
        signal_hook::flag::register_conditional_shutdown(signal, 130, Arc::clone(&asked))?;
        signal_hook::flag::register(signal, Arc::clone(&asked))?;
    }
    Ok(asked)
}
